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
/* What queue pairs and regions that are not used take of memory. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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
    CHECK(resident(place) <= page); /* the last one, whose being writable was checked */
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    munmap(guard, length + 2 * page);
    end_close(&end);
}

static bool is_untouched(const struct work_queue *queue) {
    for (size_t i = 0; i < (queue->mask + 1) * (size_t) queue->stride; i++) {
        if (queue->ring[i] != 0xa5) {
            return false;
        }
    }
    return true;
}

static void receives_without_memory_that_are_the_same_share_a_place(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct work_queue *rq = &qp_of(b.qp)->rq;
    memset(rq->ring, 0xa5, (rq->mask + 1) * (size_t) rq->stride);
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
        CHECK_EQ(((struct send_wqe *) sq->ring)->wr_id, i);
        CHECK_EQ(((struct receive_wqe *) rq->ring)->wr_id, i);
    }
    pair_close(&a, &b);
}

static void a_connection_with_few_messages_shares_one_page_in_each_direction(void) {
    size_t page = (size_t) sysconf(_SC_PAGESIZE), before = resident("rdma-arena");
    struct end a, b;
    pair_open(&a, &b, &defaults);
    CHECK_EVENTUALLY(hears_its_peer(qp_of(a.qp)) && hears_its_peer(qp_of(b.qp)));
    for (int i = 0; i < 8; i++) {
        pair_talk(&a, &b);
        pair_talk(&b, &a);
    }
    /* Each is mapped twice, as both ends are in this process. */
    CHECK(resident("rdma-arena") <= before + 4 * page);
    pair_close(&a, &b);
}

int main(void) {
    RUN(registered_memory_is_not_touched);
    RUN(receives_without_memory_that_are_the_same_share_a_place);
    RUN(a_request_to_an_empty_queue_is_at_its_first_place);
    RUN(a_connection_with_few_messages_shares_one_page_in_each_direction);
    return 0;
}
