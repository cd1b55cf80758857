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
/* @Tag("stalls") */
/*
 * Many queue pairs on one completion queue, threads at work on the same objects.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"
#include "pair.h"

/* ---- many ---- */

#ifdef __SANITIZE_THREAD__
#define MANY 300
#else
#define MANY 3000
#endif

static struct end ends[2][MANY];

static void open_many(int side, const struct options *options, int count) {
    end_open(&ends[side][0], options);
    for (int i = 1; i < count; i++) {
        end_open_on(&ends[side][i], &ends[side][0], options);
    }
}

static void close_many(int side, int count) {
    for (int i = 1; i < count; i++) {
        CHECK_EQ(ibv_destroy_qp(ends[side][i].qp), 0);
    }
    end_close(&ends[side][0]);
}

static void each_of_many_queue_pairs_is_heard(void) {
    struct options options = defaults;
    options.cqe = 4 * MANY;
    options.send_wr = options.recv_wr = 4;
    options.channel = true; /* the channel's descriptor goes along with each introduction */
    open_many(0, &options, MANY);
    open_many(1, &options, MANY);
    int before = open_fds();
    for (int i = 0; i < MANY; i++) {
        end_connect(&ends[0][i], ends[1][i].qp->qp_num);
        end_connect(&ends[1][i], ends[0][i].qp->qp_num);
    }
    static int heard[MANY];
    for (int round = 0; round < 3; round++) {
        memset(heard, 0, sizeof(heard));
        for (int i = 0; i < MANY; i++) {
            CHECK_EQ(post_recv(&ends[1][i], (uint64_t) i, 0, 64), 0);
        }
        for (int i = 0; i < MANY; i++) {
            CHECK_EQ(post_send(&ends[0][i], (uint64_t) i, IBV_WR_SEND, 0, 0, 8), 0);
        }
        for (int i = 0; i < MANY; i++) {
            struct ibv_wc wc = next_wc(ends[1][0].recv_cq);
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
            CHECK_EQ(heard[wc.wr_id]++, 0);
            wc = next_wc(ends[0][0].send_cq);
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        }
        expect_nothing(ends[1][0].recv_cq);
    }
    CHECK_EVENTUALLY(open_fds() - before <= 2 * MANY / 128 + 8); /* links, one for each block of numbers */
    close_many(0, MANY);
    close_many(1, MANY);
}

/* ---- threads ---- */

#define PAIRS 8
#define ROUNDS 400

/* A pair's sends and receives posted and not polled, at most: the queues hold 64, and a round posts 2 sends. */
#define AHEAD 30

static atomic_int moved; /* completions */
static atomic_int moved_by[PAIRS];
static atomic_bool stop;

/* Polls the two queues, which all pairs share, on all threads; whoever finds a completion counts it for its pair. */
static void poll_for_all(void) {
    struct ibv_wc wc[4];
    for (int side = 0; side < 2; side++) {
        struct ibv_cq *cq = side == 0 ? ends[0][0].send_cq : ends[1][0].recv_cq;
        int n = cq->context->ops.poll_cq(cq, 4, wc);
        for (int k = 0; k < n; k++) {
            CHECK_EQ(wc[k].status, IBV_WC_SUCCESS);
            atomic_fetch_add(&moved_by[wc[k].wr_id], 1);
        }
        atomic_fetch_add(&moved, n);
    }
}

static void *drive(void *argument) {
    int i = *(int *) argument;
    struct end *a = &ends[0][i], *b = &ends[1][i];
    struct address to = end_address(b);
    for (int round = 0; round < ROUNDS; round++) {
        int seen = atomic_load(&moved); /* before there is a completion of this round that others can take */
        CHECK_EQ(post_recv(b, (uint64_t) i, 0, 0), 0);
        CHECK_EQ(post_rdma(a, (uint64_t) i, IBV_WR_RDMA_WRITE, 0, (size_t) i * 4096, 1 + (uint32_t) round % 4096, &to,
                           (size_t) i * 4096), 0);
        CHECK_EQ(post_rdma(a, (uint64_t) i, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SIGNALED, 0, 0, &to, 0), 0);
        uint64_t end = patience_end_ns();
        while (atomic_load(&moved) < seen + 2 && atomic_load(&moved) < PAIRS * ROUNDS * 2) {
            poll_for_all();
            CHECK(now_ns() < end);
        }
        while (atomic_load(&moved_by[i]) < (round + 1) * 2 - AHEAD) {
            poll_for_all();
            CHECK(now_ns() < end);
        }
    }
    return NULL;
}

static void *churn(void *argument) {
    struct end *shared = argument;
    struct options options = shared->options;
    while (!atomic_load(&stop)) {
        struct end a, b;
        struct ibv_mr *mr = ibv_reg_mr(shared->pd, shared->buffer, PAIR_BUFFER, defaults.access);
        CHECK(mr != NULL);
        end_open_on(&a, shared, &options);
        end_open_on(&b, shared, &options);
        a.mr = b.mr = mr;
        end_connect(&a, b.qp->qp_num);
        end_connect(&b, a.qp->qp_num);
        struct address to = end_address(&b);
        CHECK_EQ(post_rdma(&a, 7, IBV_WR_RDMA_WRITE, 0, 1 << 20, 8192, &to, 2 << 20), 0);
        CHECK_EQ(ibv_destroy_qp(a.qp), 0); /* destroyed in whatever state the transfer is */
        CHECK_EQ(ibv_dereg_mr(mr), 0);
        CHECK_EQ(ibv_destroy_qp(b.qp), 0);
    }
    return NULL;
}

static void threads_share_queues_while_others_come_and_go(void) {
    struct options options = defaults;
    options.sig_all = false;
    options.cqe = 4096;
    open_many(0, &options, PAIRS);
    open_many(1, &options, PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        end_connect(&ends[0][i], ends[1][i].qp->qp_num);
        end_connect(&ends[1][i], ends[0][i].qp->qp_num);
    }
    atomic_store(&moved, 0);
    for (int i = 0; i < PAIRS; i++) {
        atomic_store(&moved_by[i], 0);
    }
    atomic_store(&stop, false);
    pthread_t threads[PAIRS], churner;
    int numbers[PAIRS];
    CHECK_EQ(pthread_create(&churner, NULL, churn, &ends[0][0]), 0);
    for (int i = 0; i < PAIRS; i++) {
        numbers[i] = i;
        CHECK_EQ(pthread_create(&threads[i], NULL, drive, &numbers[i]), 0);
    }
    for (int i = 0; i < PAIRS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    atomic_store(&stop, true);
    CHECK_EQ(pthread_join(churner, NULL), 0);
    close_many(0, PAIRS);
    close_many(1, PAIRS);
}

int main(void) {
    RUN(each_of_many_queue_pairs_is_heard);
    RUN(threads_share_queues_while_others_come_and_go);
    return 0;
}
