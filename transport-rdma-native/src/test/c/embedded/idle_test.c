/*
 * Copyright 2026 The Netty Project
 *
 * The Netty Project licenses this file to you under the Apache License,
 * version 2.0 (the "License"); you may not use this file except in compliance
 * with the License. You may obtain a copy of the License at:
 *
 *   https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
 * License for the specific language governing permissions and limitations
 * under the License.
 */
/* Tests of the memory that unused queue pairs and regions take. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "check.h"
#include "embedded/device/qp.h"
#include "pair.h"
#include "qp_inside.h"

/* Bytes of memory in the mappings whose lines in /proc/self/smaps contain the text. */
static size_t resident(const char *text) {
    FILE *smaps = fopen("/proc/self/smaps", "r");
    CHECK(smaps != NULL);
    char line[512];
    bool wanted = false;
    size_t sum = 0, kib;
    unsigned long from, to;
    while (fgets(line, sizeof(line), smaps) != NULL) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
            wanted = strstr(line, text) != NULL;
        } else if (wanted && sscanf(line, "Rss: %zu kB", &kib) == 1) {
            sum += kib << 10;
        }
    }
    fclose(smaps);
    return sum;
}

/* Returns whether the kernel says what is mapped: PROCMAP_QUERY in linux/fs.h. */
static bool kernel_tells(void) {
    struct utsname name;
    int major = 0, minor = 0;
    CHECK_EQ(uname(&name), 0);
    CHECK_EQ(sscanf(name.release, "%d.%d", &major, &minor), 2);
    return major > 6 || (major == 6 && minor >= 11);
}

static void registered_memory_is_not_touched(void) {
    size_t page = (size_t) sysconf(_SC_PAGESIZE), length = 64 * page;
    struct end end;
    end_open(&end, &defaults);
    char *guard = mmap(NULL, length + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(guard != MAP_FAILED);
    char *memory = guard + page; /* between pages of others it is a mapping of its own */
    CHECK_EQ(mprotect(memory, length, PROT_READ | PROT_WRITE), 0);
    struct ibv_mr *mr = ibv_reg_mr(end.pd, memory, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    CHECK(mr != NULL);
    char place[64];
    snprintf(place, sizeof(place), "%lx-%lx ", (unsigned long) memory, (unsigned long) (memory + length));
    CHECK(resident(place) <= (kernel_tells() ? 0 : page)); /* the last one: whether it may be written */
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    munmap(guard, length + 2 * page);
    end_close(&end);
}

static bool is_untouched(const struct work_queue *queue) {
    for (size_t i = 0; i < queue->num_first * (size_t) queue->stride; i++) {
        if (queue->first[i] != 0xa5) {
            return false;
        }
    }
    return queue->ring == NULL;
}

static void receives_without_memory_that_are_the_same_share_a_place(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct work_queue *rq = &qp_of(b.qp)->rq;
    memset(rq->first, 0xa5, rq->num_first * (size_t) rq->stride);
    for (uint32_t i = 0; i < rq->limit; i++) {
        CHECK_EQ(post_recv(&b, 7, 0, 0), 0);
    }
    CHECK_EQ(post_recv(&b, 7, 0, 0), ENOMEM);
    for (uint32_t i = 0; i < 3 * rq->limit; i++) {
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 0), 0);
        expect_wc(b.recv_cq, 7, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
        CHECK_EQ(post_recv(&b, 7, 0, 0), 0);
    }
    CHECK(is_untouched(rq));
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 0), 0);
    expect_wc(b.recv_cq, 7, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(post_recv(&b, 8, 0, 0), 0);
    CHECK(!is_untouched(rq));
    pair_close(&a, &b);
}

static void a_request_to_an_empty_queue_is_at_its_first_place(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct work_queue *sq = &qp_of(a.qp)->sq, *rq = &qp_of(b.qp)->rq;
    for (uint64_t i = 1; i < 200; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
        CHECK_EQ(((struct send_wqe *) sq->first)->wr_id, i);
        CHECK_EQ(((struct receive_wqe *) rq->first)->wr_id, i);
    }
    pair_close(&a, &b);
}

static void a_large_queue_takes_memory_for_what_is_under_way_at_a_time(void) {
    struct options options = defaults;
    options.send_wr = options.recv_wr = 1024;
    options.cqe = 4096;
    struct end a, b;
    pair_open(&a, &b, &options);
    struct work_queue *sq = &qp_of(a.qp)->sq, *rq = &qp_of(b.qp)->rq;
    uint64_t next = 0, done = 0;
    for (uint32_t count = 1; count <= 1024; count *= 2) {
        bool fits = count <= rq->num_first;
        for (uint32_t i = 0; i < count; i++) {
            CHECK_EQ(post_recv(&b, next + i, 0, 8), 0);
        }
        CHECK((rq->ring == NULL) == fits);
        for (uint32_t i = 0; i < count; i++) {
            CHECK_EQ(post_send(&a, next + i, IBV_WR_SEND, 0, 0, 8), 0);
        }
        next += count;
        for (; done < next; done++) {
            expect_wc(b.recv_cq, done, IBV_WC_SUCCESS);
            expect_wc(a.send_cq, done, IBV_WC_SUCCESS);
        }
        CHECK(!fits || sq->ring == NULL);
    }
    pair_close(&a, &b);
}

static void silent_connections_take_less_than_a_page_of_what_they_share(void) {
    enum { PAIRS = 32 }; /* whose segments are in seven arenas, each of which is mapped by both ends */
    size_t page = (size_t) sysconf(_SC_PAGESIZE), before = resident("rdma-arena");
    static struct end pair[PAIRS][2];
    for (int i = 0; i < PAIRS; i++) {
        pair_open(&pair[i][0], &pair[i][1], &defaults);
        await_introductions(&pair[i][0], &pair[i][1]);
        expect_nothing(pair[i][0].recv_cq);
        expect_nothing(pair[i][1].recv_cq);
    }
    CHECK(resident("rdma-arena") <= before + PAIRS * page);
    for (int i = 0; i < PAIRS; i++) {
        pair_close(&pair[i][0], &pair[i][1]);
    }
}

static void a_connection_with_few_messages_shares_one_page_in_each_direction(void) {
    size_t page = (size_t) sysconf(_SC_PAGESIZE), before = resident("rdma-arena");
    struct end a, b;
    pair_open(&a, &b, &defaults);
    await_introductions(&a, &b);
    for (int i = 0; i < 8; i++) {
        pair_talk(&a, &b);
        pair_talk(&b, &a);
    }
    /* Each arena is mapped twice, as both ends are in this process. */
    CHECK(resident("rdma-arena") <= before + 4 * page);
    pair_close(&a, &b);
}

int main(void) {
    RUN(silent_connections_take_less_than_a_page_of_what_they_share); /* first: nobody has used the memory before */
    RUN(registered_memory_is_not_touched);
    RUN(receives_without_memory_that_are_the_same_share_a_place);
    RUN(a_request_to_an_empty_queue_is_at_its_first_place);
    RUN(a_large_queue_takes_memory_for_what_is_under_way_at_a_time);
    RUN(a_connection_with_few_messages_shares_one_page_in_each_direction);
    return 0;
}
