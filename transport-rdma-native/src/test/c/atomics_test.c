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
/* Atomic operations at once by several queue pairs, threads, processes; their errors; how many may be outstanding. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

#define PAIRS 3
#define WINDOW 8u

/* Adds 1 to the first 8 bytes of the peer's buffer, `count` times, with several requests outstanding. */
static void add_ones(struct end *end, const struct address *to, uint32_t count) {
    for (uint32_t posted = 0, done = 0; done < count;) {
        while (posted < count && posted - done < WINDOW) {
            CHECK_EQ(post_atomic(end, posted, IBV_WR_ATOMIC_FETCH_AND_ADD, 64 + 8 * (posted % WINDOW), to, 0, 1, 0), 0);
            posted++;
        }
        expect_wc(end->send_cq, done++, IBV_WC_SUCCESS);
    }
}

struct adder {
    struct end *end;
    struct address to;
    uint32_t count;
};

static _Atomic int adding; /* threads that are not done */

static void *add_in_thread(void *argument) {
    const struct adder *adder = argument;
    add_ones(adder->end, &adder->to, adder->count);
    atomic_fetch_sub(&adding, 1);
    return NULL;
}

static _Atomic uint64_t *counter_of(const struct end *end) {
    return (_Atomic uint64_t *) (uintptr_t) end->buffer;
}

/* The targets share their buffer, each with a completion queue of its own: nothing but the memory orders them. */
static void additions_through_several_queue_pairs_lose_nothing(void) {
    enum { COUNT = 2000 };
    struct end a[PAIRS], b[PAIRS];
    struct adder adders[PAIRS];
    pthread_t threads[PAIRS];
    struct ibv_device_attr device;
    for (int i = 0; i < PAIRS; i++) {
        pair_open(&a[i], &b[i], &defaults);
    }
    CHECK_EQ(ibv_query_device(b[0].context, &device), 0);
    CHECK(device.atomic_cap != IBV_ATOMIC_NONE);
    struct ibv_mr *mr[PAIRS];
    atomic_store(&adding, PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        mr[i] = ibv_reg_mr(b[i].pd, b[0].buffer, 4096, defaults.access);
        CHECK(mr[i] != NULL);
        adders[i] = (struct adder) { &a[i], { .rkey = mr[i]->rkey, .buffer = (uintptr_t) b[0].buffer }, COUNT };
        CHECK_EQ(pthread_create(&threads[i], NULL, add_in_thread, &adders[i]), 0);
    }
    uint64_t own = 0;
    if (device.atomic_cap == IBV_ATOMIC_GLOB) { /* atomic also against this processor */
        for (; atomic_load(&adding) > 0; own++) { /* until they are done, so that both add at once */
            atomic_fetch_add(counter_of(&b[0]), 1);
        }
    }
    for (int i = 0; i < PAIRS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    CHECK_EQ(atomic_load(counter_of(&b[0])), PAIRS * COUNT + own);
    for (int i = 0; i < PAIRS; i++) {
        CHECK_EQ(ibv_dereg_mr(mr[i]), 0);
        pair_close(&a[i], &b[i]);
    }
}

/* Each addition returns the value before it, so that no two of them return the same. */
static void every_result_is_seen_once(void) {
    enum { COUNT = 200 };
    static bool seen[2 * COUNT];
    struct end a[2], b[2];
    pair_open(&a[0], &b[0], &defaults);
    pair_open(&a[1], &b[1], &defaults);
    struct ibv_mr *mr = ibv_reg_mr(b[1].pd, b[0].buffer, 4096, defaults.access);
    CHECK(mr != NULL);
    struct address to[2] = { end_address(&b[0]), { .rkey = mr->rkey, .buffer = (uintptr_t) b[0].buffer } };
    for (uint64_t i = 0; i < COUNT; i++) {
        for (int k = 0; k < 2; k++) {
            CHECK_EQ(post_atomic(&a[k], i, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to[k], 0, 1, 0), 0);
        }
        for (int k = 0; k < 2; k++) {
            expect_wc(a[k].send_cq, i, IBV_WC_SUCCESS);
            uint64_t result = *(uint64_t *) a[k].buffer;
            CHECK(result < 2 * COUNT && !seen[result]);
            seen[result] = true;
        }
    }
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    pair_close(&a[0], &b[0]);
    pair_close(&a[1], &b[1]);
}

/* Compare and swap as a lock around a counter that is read and written in two steps. */
static void compare_and_swap_makes_a_lock(void) {
    enum { COUNT = 50, LOCK = 0, COUNTER = 8 };
    struct end a[2], b[2];
    pair_open(&a[0], &b[0], &defaults);
    pair_open(&a[1], &b[1], &defaults);
    struct ibv_mr *mr = ibv_reg_mr(b[1].pd, b[0].buffer, 4096, defaults.access);
    CHECK(mr != NULL);
    struct address to[2] = { end_address(&b[0]), { .rkey = mr->rkey, .buffer = (uintptr_t) b[0].buffer } };
    int done[2] = { 0 };
    bool holds[2] = { false };
    while (done[0] < COUNT || done[1] < COUNT) {
        for (int k = 0; k < 2; k++) {
            uint64_t *result = (uint64_t *) a[k].buffer;
            if (done[k] == COUNT) {
                continue;
            }
            if (!holds[k]) {
                CHECK_EQ(post_atomic(&a[k], 1, IBV_WR_ATOMIC_CMP_AND_SWP, 0, &to[k], LOCK, 0, (uint64_t) k + 1), 0);
                expect_wc(a[k].send_cq, 1, IBV_WC_SUCCESS);
                holds[k] = *result == 0;
                CHECK(!holds[0] || !holds[1]);
                CHECK(*result == 0 || *result == (uint64_t) (1 - k) + 1);
                continue;
            }
            CHECK_EQ(post_rdma(&a[k], 2, IBV_WR_RDMA_READ, 0, 16, 8, &to[k], COUNTER), 0);
            expect_wc(a[k].send_cq, 2, IBV_WC_SUCCESS);
            result[2]++;
            CHECK_EQ(post_rdma(&a[k], 3, IBV_WR_RDMA_WRITE, 0, 16, 8, &to[k], COUNTER), 0);
            CHECK_EQ(post_atomic(&a[k], 4, IBV_WR_ATOMIC_CMP_AND_SWP, 0, &to[k], LOCK, (uint64_t) k + 1, 0), 0);
            expect_wc(a[k].send_cq, 3, IBV_WC_SUCCESS);
            expect_wc(a[k].send_cq, 4, IBV_WC_SUCCESS);
            CHECK_EQ(*result, k + 1);
            holds[k] = false;
            done[k]++;
        }
    }
    CHECK_EQ(((uint64_t *) b[0].buffer)[1], 2 * COUNT);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    pair_close(&a[0], &b[0]);
    pair_close(&a[1], &b[1]);
}

/* ---- processes ---- */

#define CHILDREN 2
#define EACH 1000

static void add_from_child(int socket) {
    struct end end;
    struct address own, peer;
    char go;
    end_open(&end, &defaults);
    end_to_init(&end);
    own = end_address(&end);
    send_all(socket, &own, sizeof(own));
    receive_all(socket, &peer, sizeof(peer));
    CHECK_EQ(end_to_rtr(&end, peer.qpn), 0);
    CHECK_EQ(end_to_rts(&end), 0);
    receive_all(socket, &go, 1);
    add_ones(&end, &peer, EACH);
    send_all(socket, &go, 1);
    receive_all(socket, &go, 1); /* the parent has acknowledged all */
    end_close(&end);
}

static void processes_count_together(void) {
    struct end ends[CHILDREN];
    struct ibv_mr *mr[CHILDREN];
    int sockets[CHILDREN];
    pid_t children[CHILDREN];
    char go = 1;
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = spawn(add_from_child, &sockets[i]);
    }
    for (int i = 0; i < CHILDREN; i++) {
        struct address own, peer;
        end_open(&ends[i], &defaults);
        mr[i] = ibv_reg_mr(ends[i].pd, ends[0].buffer, 4096, defaults.access);
        CHECK(mr[i] != NULL);
        own = (struct address) { ends[i].qp->qp_num, mr[i]->rkey, (uintptr_t) ends[0].buffer };
        receive_all(sockets[i], &peer, sizeof(peer));
        end_connect(&ends[i], peer.qpn);
        send_all(sockets[i], &own, sizeof(own));
    }
    for (int i = 0; i < CHILDREN; i++) {
        send_all(sockets[i], &go, 1);
    }
    for (int i = 0; i < CHILDREN; i++) {
        receive_all(sockets[i], &go, 1);
    }
    CHECK_EQ(atomic_load(counter_of(&ends[0])), CHILDREN * EACH);
    for (int i = 0; i < CHILDREN; i++) {
        send_all(sockets[i], &go, 1);
        expect_exit(children[i], 0);
        close(sockets[i]);
        CHECK_EQ(ibv_dereg_mr(mr[i]), 0);
        end_close(&ends[i]);
    }
}

/* ---- errors ---- */

static void refused_operations_change_nothing(void) {
    static const struct {
        size_t offset;
        uint32_t rkey_change;
        int missing; /* right of the region */
    } cases[] = {
        { 4096, 0, 0 },
        { 0, 1, 0 },
        { 0, 0, IBV_ACCESS_REMOTE_ATOMIC },
    };
    static const enum ibv_wr_opcode opcodes[] = { IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP };
    for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct end a, b;
        pair_open(&a, &b, &defaults);
        struct ibv_mr *mr = ibv_reg_mr(b.pd, b.buffer, 4096, defaults.access & ~cases[i / 2].missing);
        CHECK(mr != NULL);
        struct address to = { .rkey = mr->rkey + cases[i / 2].rkey_change, .buffer = (uintptr_t) b.buffer };
        CHECK_EQ(post_atomic(&a, 1, opcodes[i % 2], 0, &to, cases[i / 2].offset, 0, 5), 0);
        CHECK_EQ(post_atomic(&a, 2, opcodes[i % 2], 0, &to, 8, 0, 5), 0);
        expect_wc(a.send_cq, 1, IBV_WC_REM_ACCESS_ERR);
        expect_wc(a.send_cq, 2, IBV_WC_WR_FLUSH_ERR);
        expect_state(b.qp, IBV_QPS_ERR);
        for (int k = 0; k < 8192; k++) {
            CHECK_EQ(b.buffer[k], 0);
        }
        CHECK_EQ(ibv_dereg_mr(mr), 0);
        pair_close(&a, &b);
    }
}

static void the_result_needs_a_region_that_may_be_written(void) {
    for (int i = 0; i < 2; i++) {
        struct end a, b;
        pair_open(&a, &b, &defaults);
        struct address to = end_address(&b);
        struct ibv_mr *constant = ibv_reg_mr(a.pd, a.buffer, 4096, IBV_ACCESS_REMOTE_READ), *usual = a.mr;
        struct ibv_mr unknown = { .lkey = usual->lkey ^ 0x5a5a00 };
        CHECK(constant != NULL);
        a.mr = i == 0 ? constant : &unknown;
        CHECK_EQ(post_atomic(&a, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to, 0, 1, 0), 0);
        a.mr = usual;
        enum ibv_wc_status soft = i == 0 ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_QP_OP_ERR;
        struct ibv_wc wc = next_wc(a.send_cq);
        CHECK(wc.status == IBV_WC_LOC_PROT_ERR || (is_soft_roce() && wc.status == soft));
        expect_state(a.qp, IBV_QPS_ERR);
        CHECK_EQ(ibv_dereg_mr(constant), 0);
        pair_close(&a, &b);
    }
}

static void the_result_may_be_scattered(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct ibv_sge sge[2] = {
        { (uintptr_t) a.buffer + 100, 3, a.mr->lkey },
        { (uintptr_t) a.buffer + 200, 5, a.mr->lkey },
    };
    struct ibv_send_wr wr = { .wr_id = 1, .sg_list = sge, .num_sge = 2, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD }, *bad;
    uint64_t before = UINT64_C(0x0102030405060708);
    memcpy(b.buffer, &before, sizeof(before));
    wr.wr.atomic.remote_addr = (uintptr_t) b.buffer;
    wr.wr.atomic.rkey = b.mr->rkey;
    wr.wr.atomic.compare_add = 1;
    CHECK_EQ(a.context->ops.post_send(a.qp, &wr, &bad), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(a.buffer + 100, &before, 3), 0);
    CHECK_EQ(memcmp(a.buffer + 200, (char *) &before + 3, 5), 0);
    pair_close(&a, &b);
}

/* Posts as many as the send queue takes; the device holds back those beyond max_rd_atomic. */
static void more_than_may_be_outstanding_wait_in_the_queue(void) {
    struct end a, b;
    struct options options = defaults;
    options.responder_resources = 1;
    options.initiator_depth = 1;
    pair_open(&a, &b, &options);
    struct address to = end_address(&b);
    for (uint64_t i = 0; i < 60; i++) {
        CHECK_EQ(post_atomic(&a, i, IBV_WR_ATOMIC_FETCH_AND_ADD, 64 + 8 * i, &to, 0, 1, 0), 0);
    }
    for (uint64_t i = 0; i < 60; i++) {
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    for (uint64_t i = 0; i < 60; i++) {
        CHECK_EQ(((uint64_t *) (a.buffer + 64))[i], i);
    }
    pair_close(&a, &b);
}

int main(void) {
    RUN(processes_count_together); /* first, as its children need a process that has not used the provider yet */
    RUN(additions_through_several_queue_pairs_lose_nothing);
    RUN(every_result_is_seen_once);
    RUN(compare_and_swap_makes_a_lock);
    RUN(refused_operations_change_nothing);
    RUN(the_result_needs_a_region_that_may_be_written);
    RUN(the_result_may_be_scattered);
    RUN(more_than_may_be_outstanding_wait_in_the_queue);
    return 0;
}
