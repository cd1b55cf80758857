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
/* Inline receive: what is granted, and that a short message reaches its receive when the completion is polled. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "embedded/device/qp.h"
#include "embedded/embedded.h"
#include "pair.h"

#define GRANTED 64

static void open_inlining(struct end *a, struct end *b, uint32_t asked) {
    end_open(a, &defaults);
    end_open(b, &defaults);
    uint32_t bytes = asked;
    CHECK_EQ(embedded_ext_set_inline_recv(b->qp, &bytes), 0);
    CHECK_EQ(bytes, asked < GRANTED ? asked : GRANTED);
    end_connect(a, b->qp->qp_num);
    end_connect(b, a->qp->qp_num);
}

/* Sends, and waits until the receiver has it: its end acknowledges after the completion was made. */
static void deliver(struct end *a, uint32_t length) {
    CHECK_EQ(post_send(a, 1, IBV_WR_SEND, 0, 0, length), 0);
    expect_wc(a->send_cq, 1, IBV_WC_SUCCESS);
}

static void a_short_message_is_placed_by_the_poll(void) {
    static const uint32_t lengths[] = { 0, 1, 63, 64, 65, 300 };
    struct end a, b;
    open_inlining(&a, &b, 1000);
    CHECK_EQ(embedded_ext_max_inline_recv(b.context), GRANTED);
    for (unsigned i = 0; i < 3 * sizeof(lengths) / sizeof(lengths[0]); i++) {
        uint32_t length = lengths[i % (sizeof(lengths) / sizeof(lengths[0]))];
        memset(a.buffer, (int) i + 1, length);
        memset(b.buffer, 0, 512);
        CHECK_EQ(post_recv(&b, i, 0, 512), 0);
        deliver(&a, length);
        CHECK_EQ(b.buffer[0], length > GRANTED ? (int) i + 1 : 0);
        struct ibv_wc wc = next_wc(b.recv_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.byte_len, length);
        CHECK_EQ(memcmp(a.buffer, b.buffer, length), 0);
        CHECK_EQ(b.buffer[length], 0);
    }
    pair_close(&a, &b);
}

/* Each of many messages that wait in the completion queue keeps its own data. */
static void messages_wait_in_their_completions(void) {
    struct end a, b;
    open_inlining(&a, &b, 8);
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 64; i++) {
            struct ibv_sge sge[2] = {
                { (uintptr_t) b.buffer + 16 * i, 3, b.mr->lkey }, { (uintptr_t) b.buffer + 16 * i + 8, 5, b.mr->lkey },
            };
            struct ibv_recv_wr wr = { .wr_id = i, .sg_list = sge, .num_sge = 2 }, *bad;
            CHECK_EQ(b.context->ops.post_recv(b.qp, &wr, &bad), 0);
        }
        for (uint64_t i = 0; i < 64; i++) {
            uint64_t value = (uint64_t) round << 32 | i;
            memcpy(a.buffer, &value, sizeof(value));
            deliver(&a, 8);
        }
        for (uint64_t i = 0; i < 64; i++) {
            uint64_t value;
            expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
            memcpy(&value, b.buffer + 16 * i, 3);
            memcpy((char *) &value + 3, b.buffer + 16 * i + 8, 5);
            CHECK_EQ(value, (uint64_t) round << 32 | i);
        }
    }
    pair_close(&a, &b);
}

static void the_receive_is_checked_when_the_message_comes(void) {
    struct end a, b;
    open_inlining(&a, &b, GRANTED);
    struct ibv_sge sge = { (uintptr_t) b.buffer, 64, b.mr->lkey ^ 0x5a5a00 };
    struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = &sge, .num_sge = 1 }, *bad;
    CHECK_EQ(b.context->ops.post_recv(b.qp, &wr, &bad), 0);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.recv_cq, 5, IBV_WC_LOC_PROT_ERR);
    expect_wc(a.send_cq, 1, IBV_WC_REM_OP_ERR);
    pair_close(&a, &b);
}

static void a_region_that_is_gone_at_the_poll_is_an_error_and_no_crash(void) {
    struct end a, b;
    open_inlining(&a, &b, GRANTED);
    CHECK_EQ(post_recv(&b, 5, 0, 64), 0);
    deliver(&a, 8);
    CHECK_EQ(ibv_dereg_mr(b.mr), 0);
    expect_wc(b.recv_cq, 5, IBV_WC_LOC_PROT_ERR);
    b.mr = ibv_reg_mr(b.pd, b.buffer, PAIR_BUFFER, defaults.access);
    CHECK(b.mr != NULL);
    pair_close(&a, &b);
}

static void it_is_asked_for_before_the_first_receive(void) {
    struct end a, b;
    uint32_t bytes = 32;
    pair_open(&a, &b, &defaults);
    CHECK_EQ(embedded_ext_set_inline_recv(b.qp, &bytes), EINVAL); /* in RTS */
    CHECK_EQ(bytes, 32);
    pair_close(&a, &b);
    end_open(&a, &defaults);
    end_to_init(&a);
    CHECK_EQ(embedded_ext_set_inline_recv(a.qp, &bytes), 0);
    bytes = 0; /* changed his mind */
    CHECK_EQ(embedded_ext_set_inline_recv(a.qp, &bytes), 0);
    CHECK_EQ(bytes, 0);
    CHECK_EQ(post_recv(&a, 1, 0, 8), 0);
    bytes = 32;
    CHECK_EQ(embedded_ext_set_inline_recv(a.qp, &bytes), EINVAL);
    end_close(&a);
}

static void with_a_shared_receive_queue_nothing_is_granted(void) {
    struct end owner, sharing;
    struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
    struct options options = defaults;
    end_open(&owner, &options);
    options.srq = ibv_create_srq(owner.pd, &init);
    CHECK(options.srq != NULL);
    end_open_on(&sharing, &owner, &options);
    uint32_t bytes = 32;
    CHECK_EQ(embedded_ext_set_inline_recv(sharing.qp, &bytes), 0);
    CHECK_EQ(bytes, 0);
    CHECK_EQ(ibv_destroy_qp(sharing.qp), 0);
    CHECK_EQ(ibv_destroy_srq(options.srq), 0);
    end_close(&owner);
}

/* ---- answers ---- */

static void await_completions(struct end *end, uint32_t count) {
    struct qp *qp = qp_of(end->qp);
    uint32_t done = 0;
    for (uint64_t limit = patience_end_ns(); done != count;) {
        CHECK(now_ns() < limit);
        qp_kick(qp, QP_WORK_ALL);
        qp_lock(qp);
        done = qp->sq.done;
        qp_unlock(qp);
    }
}

static void a_short_answer_is_placed_by_the_poll(void) {
    static const uint32_t lengths[] = { 1, 8, 63, 64, 65, 300 };
    struct end a, b;
    open_inlining(&b, &a, GRANTED);
    struct address from = end_address(&b);
    for (uint32_t i = 0; i < 30; i++) {
        uint32_t length = lengths[i % (sizeof(lengths) / sizeof(lengths[0]))];
        memset(b.buffer, (int) i + 1, length);
        memset(a.buffer, 0, 512);
        CHECK_EQ(post_rdma(&a, i, IBV_WR_RDMA_READ, 0, 0, length, &from, 0), 0);
        await_completions(&a, i + 1);
        CHECK_EQ(a.buffer[0], length > GRANTED ? (int) i + 1 : 0);
        struct ibv_wc wc = next_wc(a.send_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RDMA_READ);
        CHECK_EQ(wc.byte_len, length);
        CHECK_EQ(memcmp(a.buffer, b.buffer, length), 0);
        CHECK_EQ(a.buffer[length], 0);
    }
    pair_close(&a, &b);
}

/* Beside messages that were sent inline, which have their bytes in the same place. */
static void results_of_atomics_wait_in_their_completions(void) {
    enum { ATOMICS = 15 };
    struct end a, b;
    open_inlining(&b, &a, 8);
    struct address to = end_address(&b);
    for (uint64_t i = 0; i < ATOMICS; i++) {
        CHECK_EQ(post_atomic(&a, i, IBV_WR_ATOMIC_FETCH_AND_ADD, 8 * i, &to, 0, 1, 0), 0);
    }
    CHECK_EQ(post_recv(&b, 99, 4096, 64), 0);
    CHECK_EQ(post_send(&a, ATOMICS, IBV_WR_SEND, IBV_SEND_INLINE, 0, 64), 0);
    await_completions(&a, ATOMICS + 1);
    for (uint64_t i = 0; i < ATOMICS; i++) {
        uint64_t before;
        memcpy(&before, a.buffer + 8 * i, sizeof(before));
        CHECK_EQ(before, 0);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
        memcpy(&before, a.buffer + 8 * i, sizeof(before));
        CHECK_EQ(before, i);
    }
    expect_wc(a.send_cq, ATOMICS, IBV_WC_SUCCESS);
    expect_wc(b.recv_cq, 99, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void an_answer_of_a_request_without_a_completion_is_placed_at_once(void) {
    struct end a, b;
    struct options options = defaults;
    uint32_t bytes = GRANTED;
    options.sig_all = false;
    end_open(&a, &options);
    end_open(&b, &options);
    CHECK_EQ(embedded_ext_set_inline_recv(a.qp, &bytes), 0);
    end_connect(&a, b.qp->qp_num);
    end_connect(&b, a.qp->qp_num);
    struct address from = end_address(&b);
    memset(b.buffer, 7, 8);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_READ, 0, 0, 8, &from, 0), 0);
    await_completions(&a, 1);
    CHECK_EQ(memcmp(a.buffer, b.buffer, 8), 0);
    expect_nothing(a.send_cq);
    pair_close(&a, &b);
}

static void memory_that_is_no_sink_is_found_when_the_answer_comes(void) {
    struct end a, b;
    open_inlining(&b, &a, GRANTED);
    struct address from = end_address(&b);
    uint32_t lkey = a.mr->lkey;
    a.mr->lkey ^= 0x5a5a00;
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_READ, 0, 0, 8, &from, 0), 0);
    a.mr->lkey = lkey;
    expect_wc(a.send_cq, 1, IBV_WC_LOC_PROT_ERR);
    pair_close(&a, &b);
}

static void a_sink_that_is_gone_at_the_poll_is_an_error_and_no_crash(void) {
    struct end a, b;
    open_inlining(&b, &a, GRANTED);
    struct address from = end_address(&b);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_READ, 0, 0, 8, &from, 0), 0);
    await_completions(&a, 1);
    CHECK_EQ(ibv_dereg_mr(a.mr), 0);
    expect_wc(a.send_cq, 1, IBV_WC_LOC_PROT_ERR);
    a.mr = ibv_reg_mr(a.pd, a.buffer, PAIR_BUFFER, defaults.access);
    CHECK(a.mr != NULL);
    pair_close(&a, &b);
}

int main(void) {
    RUN(a_short_message_is_placed_by_the_poll);
    RUN(messages_wait_in_their_completions);
    RUN(the_receive_is_checked_when_the_message_comes);
    RUN(a_region_that_is_gone_at_the_poll_is_an_error_and_no_crash);
    RUN(it_is_asked_for_before_the_first_receive);
    RUN(with_a_shared_receive_queue_nothing_is_granted);
    RUN(a_short_answer_is_placed_by_the_poll);
    RUN(results_of_atomics_wait_in_their_completions);
    RUN(an_answer_of_a_request_without_a_completion_is_placed_at_once);
    RUN(memory_that_is_no_sink_is_found_when_the_answer_comes);
    RUN(a_sink_that_is_gone_at_the_poll_is_an_error_and_no_crash);
    return 0;
}
