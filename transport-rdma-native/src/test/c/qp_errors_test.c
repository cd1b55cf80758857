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
/* Each error status, what happens to the rest of the queues, and the state machine. */
#include <stddef.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

static int to_error(struct end *end) {
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);
}

static int to_reset(struct end *end) {
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
    return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);
}

/*
 * The event of the end whose memory or queue was misused. "Affiliated asynchronous errors", InfiniBand specification
 * 11.6.3.2. Soft-RoCE has none of them.
 */
static void expect_misuse(const struct end *end, enum ibv_event_type type) {
    if (!is_soft_roce()) {
        expect_async(end->context, type);
    }
}

static void error_state_flushes_both_queues_in_order(void) {
    struct end a, b;
    struct options options = defaults;
    options.separate_cqs = true;
    options.sig_all = false;
    pair_open(&a, &b, &options);
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_EQ(post_recv(&a, i, 0, 64), 0);
        CHECK_EQ(post_send(&a, 100 + i, IBV_WR_SEND, 0, 0, 64), 0); /* no receive there: stays outstanding */
    }
    CHECK_EQ(to_error(&a), 0);
    for (uint64_t i = 0; i < 10; i++) {
        expect_wc(a.recv_cq, i, IBV_WC_WR_FLUSH_ERR);
        expect_wc(a.send_cq, 100 + i, IBV_WC_WR_FLUSH_ERR); /* unsignaled ones, too */
    }
    CHECK_EQ(post_send(&a, 50, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(a.send_cq, 50, IBV_WC_WR_FLUSH_ERR);
    CHECK_EQ(post_recv(&a, 51, 0, 64), 0);
    if (!is_soft_roce()) { /* soft-RoCE posts receives without a system call, so nobody looks at this one any more */
        expect_wc(a.recv_cq, 51, IBV_WC_WR_FLUSH_ERR);
    }
    expect_state(b.qp, IBV_QPS_RTS);
    pair_close(&a, &b);
}

/* Posts one request that must fail with `status`, between one that succeeds and one that is flushed. */
static void expect_refused(struct end *a, struct end *b, struct ibv_send_wr *bad, enum ibv_wc_status status) {
    struct address to = end_address(b);
    struct ibv_send_wr *failed;
    CHECK_EQ(post_rdma(a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
    bad->wr_id = 2;
    CHECK_EQ(a->context->ops.post_send(a->qp, bad, &failed), 0);
    CHECK_EQ(post_rdma(a, 3, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
    expect_wc(a->send_cq, 1, IBV_WC_SUCCESS);
    expect_wc(a->send_cq, 2, status);
    expect_wc(a->send_cq, 3, IBV_WC_WR_FLUSH_ERR);
    expect_state(a->qp, IBV_QPS_ERR);
}

struct access_case {
    enum ibv_wr_opcode opcode;
    ptrdiff_t offset;
    uint32_t length;
    uint32_t rkey_change;
};

static void access_outside_of_what_was_granted_is_refused(void) {
    static const struct access_case cases[] = {
        { IBV_WR_RDMA_WRITE, 0, 8, 1 },
        { IBV_WR_RDMA_READ, 0, 8, 1 },
        { IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, 1 },
        { IBV_WR_RDMA_WRITE, -1, 8, 0 },
        { IBV_WR_RDMA_WRITE, PAIR_BUFFER - 7, 8, 0 },
        { IBV_WR_RDMA_READ, PAIR_BUFFER - 7, 8, 0 },
        { IBV_WR_RDMA_WRITE, PAIR_BUFFER - 100000, 100001, 0 },
        { IBV_WR_RDMA_READ, PAIR_BUFFER - 100000, 100001, 0 },
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct end a, b;
        pair_open(&a, &b, &defaults);
        struct address to = end_address(&b);
        CHECK_EQ(post_recv(&b, 9, 0, 8), 0);
        struct ibv_sge sge = { (uintptr_t) a.buffer, cases[i].length, a.mr->lkey };
        struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = cases[i].opcode };
        wr.wr.rdma.remote_addr = to.buffer + (uint64_t) cases[i].offset;
        wr.wr.rdma.rkey = to.rkey + cases[i].rkey_change;
        expect_refused(&a, &b, &wr, IBV_WC_REM_ACCESS_ERR);
        expect_state(b.qp, IBV_QPS_ERR);
        expect_misuse(&b, IBV_EVENT_QP_ACCESS_ERR);
        /* Soft-RoCE has taken the receive for the immediate already. */
        bool taken = is_soft_roce() && cases[i].opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
        expect_wc(b.recv_cq, 9, taken ? IBV_WC_REM_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR);
        pair_close(&a, &b);
    }
}

/* An operation that the queue pair was not set up for is an invalid request: specification 9.9.3 and 11.6.2. */
static void queue_pair_access_flags_are_enforced(void) {
    static const enum ibv_wr_opcode opcodes[] = {
        IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP,
    };
    static const int access[] = { IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_ATOMIC,
                                  IBV_ACCESS_REMOTE_ATOMIC };
    for (unsigned i = 0; i < 4; i++) {
        struct end a, b;
        struct options options = defaults;
        options.access &= ~access[i];
        pair_open(&a, &b, &options);
        struct address to = end_address(&b);
        if (i < 2) {
            CHECK_EQ(post_rdma(&a, 1, opcodes[i], 0, 0, 8, &to, 0), 0);
        } else {
            CHECK_EQ(post_atomic(&a, 1, opcodes[i], 0, &to, 0, 1, 1), 0);
        }
        expect_wc(a.send_cq, 1, IBV_WC_REM_INV_REQ_ERR);
        expect_state(b.qp, IBV_QPS_ERR);
        expect_misuse(&b, IBV_EVENT_QP_REQ_ERR);
        pair_close(&a, &b);
    }
}

static void an_end_without_responder_resources_refuses_reads_and_atomics(void) {
    for (int atomic = 0; atomic <= 1; atomic++) {
        struct end a, b;
        struct options options = defaults;
        options.responder_resources = 0;
        pair_open(&a, &b, &options);
        struct address to = end_address(&b);
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
        CHECK_EQ(atomic ? post_atomic(&a, 2, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to, 0, 1, 0)
                        : post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, 0, 8, &to, 0), 0);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, 2, IBV_WC_REM_INV_REQ_ERR);
        expect_state(b.qp, IBV_QPS_ERR);
        expect_misuse(&b, IBV_EVENT_QP_REQ_ERR);
        pair_close(&a, &b);
    }
}

static void region_access_flags_and_protection_domain_are_enforced(void) {
    static const int access[] = { IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ, 0 };
    for (int i = 0; i < 4; i++) {
        struct end a, b;
        pair_open(&a, &b, &defaults);
        struct ibv_pd *other = ibv_alloc_pd(b.context);
        CHECK(other != NULL);
        struct ibv_mr *mr = ibv_reg_mr(i == 3 ? other : b.pd, b.buffer, 4096,
                                                i == 3 ? defaults.access : access[i]);
        CHECK(mr != NULL);
        struct address to = { b.qp->qp_num, mr->rkey, (uintptr_t) b.buffer };
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
        expect_wc(a.send_cq, 1, IBV_WC_REM_ACCESS_ERR);
        CHECK_EQ(ibv_dereg_mr(mr), 0);
        CHECK_EQ(ibv_dealloc_pd(other), 0);
        pair_close(&a, &b);
    }
}

static void a_key_dies_with_its_region(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct ibv_mr *mr = ibv_reg_mr(b.pd, b.buffer, 4096, defaults.access);
    CHECK(mr != NULL);
    struct address to = { b.qp->qp_num, mr->rkey, (uintptr_t) b.buffer };
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    mr = ibv_reg_mr(b.pd, b.buffer, 4096, defaults.access);
    CHECK(mr != NULL && mr->rkey != to.rkey);
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
    expect_wc(a.send_cq, 2, IBV_WC_REM_ACCESS_ERR);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    pair_close(&a, &b);
}

static void zero_length_access_needs_no_key(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct address nowhere = { b.qp->qp_num, 0, 0 };
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 0, &nowhere, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, 0, 0, &nowhere, 0), 0);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void bad_local_key_is_a_local_protection_error(void) {
    for (int length = 8; length <= 100000; length += 99992) {
        struct end a, b;
        pair_open(&a, &b, &defaults);
        struct address to = end_address(&b);
        struct ibv_sge sge = { (uintptr_t) a.buffer, (uint32_t) length, a.mr->lkey + 1 };
        struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE };
        wr.wr.rdma.remote_addr = to.buffer;
        wr.wr.rdma.rkey = to.rkey;
        expect_refused(&a, &b, &wr, DEVICE_OR_SOFT_ROCE(IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR));
        expect_state(b.qp, IBV_QPS_RTS);
        pair_close(&a, &b);
    }
}

static void bad_local_key_of_a_read_is_a_local_protection_error(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct address to = end_address(&b);
    struct ibv_mr *readable = ibv_reg_mr(a.pd, a.buffer, 4096, 0);
    CHECK(readable != NULL);
    struct ibv_sge sge = { (uintptr_t) a.buffer, 64, readable->lkey };
    struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ };
    wr.wr.rdma.remote_addr = to.buffer;
    wr.wr.rdma.rkey = to.rkey;
    expect_refused(&a, &b, &wr, IBV_WC_LOC_PROT_ERR);
    CHECK_EQ(ibv_dereg_mr(readable), 0);
    pair_close(&a, &b);
}

static void bad_local_key_of_a_receive_fails_both_ends(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct ibv_sge sge = { (uintptr_t) b.buffer, 64, b.mr->lkey + 1 };
    struct ibv_recv_wr wr = { .wr_id = 7, .sg_list = &sge, .num_sge = 1 }, *bad;
    CHECK_EQ(b.context->ops.post_recv(b.qp, &wr, &bad), 0);
    CHECK_EQ(post_recv(&b, 8, 0, 64), 0);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(b.recv_cq, 7, DEVICE_OR_SOFT_ROCE(IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR));
    expect_wc(b.recv_cq, 8, IBV_WC_WR_FLUSH_ERR);
    expect_wc(a.send_cq, 1, IBV_WC_REM_OP_ERR);
    pair_close(&a, &b);
}

static void a_message_longer_than_the_receive_fails_both_ends(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    CHECK_EQ(post_recv(&b, 7, 0, 99999), 0);
    CHECK_EQ(post_recv(&b, 8, 0, 200000), 0);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 100000), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.recv_cq, 7, DEVICE_OR_SOFT_ROCE(IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR));
    expect_wc(b.recv_cq, 8, IBV_WC_WR_FLUSH_ERR);
    expect_wc(a.send_cq, 1, DEVICE_OR_SOFT_ROCE(IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR));
    expect_wc(a.send_cq, 2, IBV_WC_WR_FLUSH_ERR);
    pair_close(&a, &b);
}

static void misaligned_atomic_is_an_invalid_request(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct address to = end_address(&b);
    if (is_soft_roce()) { /* soft-RoCE's library looks at the address */
        CHECK_EQ(post_atomic(&a, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to, 4, 1, 0), EINVAL);
    } else {
        CHECK_EQ(post_atomic(&a, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to, 4, 1, 0), 0);
        expect_wc(a.send_cq, 1, IBV_WC_REM_INV_REQ_ERR);
        expect_misuse(&b, IBV_EVENT_QP_REQ_ERR);
    }
    pair_close(&a, &b);
}

static void missing_receive_waits_or_fails_as_rnr_retry_says(void) {
    for (int retry = 0; retry <= 7; retry += retry == 0 ? 2 : 5) {
        struct end a, b;
        struct options options = defaults;
        options.rnr_retry = retry;
        options.min_rnr_timer = 14; /* 1 ms */
        pair_open(&a, &b, &options);
        uint64_t start = now_ns();
        CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
        CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
        if (retry < 7) {
            expect_wc(a.send_cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
            expect_wc(a.send_cq, 2, IBV_WC_WR_FLUSH_ERR);
            CHECK(now_ns() - start >= (uint64_t) retry * 1000000); /* not before the timer, however long after */
            CHECK_EQ(post_recv(&b, 9, 0, 8), 0);
            expect_nothing(b.recv_cq); /* the failed message does not arrive late */
        } else {
            while (now_ns() - start < 20000000) {
                expect_nothing(a.send_cq);
            }
            CHECK_EQ(post_recv(&b, 9, 0, 8), 0);
            CHECK_EQ(post_recv(&b, 10, 0, 8), 0);
            expect_wc(b.recv_cq, 9, IBV_WC_SUCCESS);
            expect_wc(b.recv_cq, 10, IBV_WC_SUCCESS);
            expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
            expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
        }
        expect_state(b.qp, IBV_QPS_RTS);
        pair_close(&a, &b);
    }
}

static void each_message_has_its_own_rnr_retries(void) {
    struct end a, b;
    struct options options = defaults;
    options.rnr_retry = 6;
    options.min_rnr_timer = 0; /* 655 ms: six are longer than one message waits here, shorter than all */
    pair_open(&a, &b, &options);
    uint64_t start = now_ns();
    for (uint64_t i = 0; i < 8; i++) {
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
    }
    for (uint64_t i = 0; i < 8; i++) {
        while (now_ns() - start < (i + 1) * 550000000) {
            expect_nothing(a.send_cq);
        }
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    pair_close(&a, &b);
}

static void a_peer_that_never_attaches_times_out(void) {
    struct end a, b;
    struct options options = defaults;
    options.timeout = 10; /* 4.2 ms */
    options.retry_cnt = 1;
    options.separate_cqs = true; /* between the two queues there is no order */
    end_open(&a, &options);
    end_open(&b, &options);
    end_connect(&a, b.qp->qp_num);
    CHECK_EQ(post_recv(&a, 1, 0, 8), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    CHECK_EQ(post_send(&a, 3, IBV_WR_SEND, 0, 0, 8), 0);
    struct ibv_wc first = next_wc(a.send_cq);
    CHECK_EQ(first.wr_id, 2);
    CHECK_EQ(first.status, IBV_WC_RETRY_EXC_ERR);
    expect_wc(a.send_cq, 3, IBV_WC_WR_FLUSH_ERR);
    expect_wc(a.recv_cq, 1, IBV_WC_WR_FLUSH_ERR);
    pair_close(&a, &b);
}

static void a_number_that_nobody_has_times_out(void) {
    struct end a;
    struct options options = defaults;
    options.timeout = 10;
    options.retry_cnt = 1;
    end_open(&a, &options);
    end_connect(&a, 0xfffffe); /* a block that no process claims */
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 2, IBV_WC_RETRY_EXC_ERR);
    end_close(&a);
}

static void a_peer_in_error_times_out(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    CHECK_EQ(post_recv(&b, 5, 0, 8), 0);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    /* Only what follows may time out. */
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .timeout = 10, .retry_cnt = 1 };
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
    expect_state(a.qp, IBV_QPS_SQD);
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT), 0);
    attr.qp_state = IBV_QPS_RTS;
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
    CHECK_EQ(to_error(&b), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 2, IBV_WC_RETRY_EXC_ERR);
    pair_close(&a, &b);
}

static void requests_posted_before_the_peer_is_ready_wait_for_it(void) {
    struct end a, b;
    end_open(&a, &defaults);
    end_open(&b, &defaults);
    end_connect(&a, b.qp->qp_num);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 100000), 0);
    end_to_init(&b);
    CHECK_EQ(post_recv(&b, 2, 0, 100000), 0);
    CHECK_EQ(end_to_rtr(&b, a.qp->qp_num), 0);
    expect_wc(b.recv_cq, 2, IBV_WC_SUCCESS); /* a queue pair may receive, and answer, before it may send */
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    expect_misuse(&b, IBV_EVENT_COMM_EST);
    CHECK_EQ(post_send(&b, 3, IBV_WR_SEND, 0, 0, 8), EINVAL);
    CHECK_EQ(end_to_rts(&b), 0);
    pair_close(&a, &b);
}

static void overflow_of_a_completion_queue_is_an_event_and_fails_its_queue_pairs(void) {
    struct end a, b;
    struct options options = defaults;
    options.cqe = 4;
    pair_open(&a, &b, &options);
    struct address to = end_address(&b);
    int room = a.send_cq->cqe;
    CHECK(is_embedded() ? room == options.cqe : room >= options.cqe && room < 60);
    for (int i = 0; i < room + 2; i++) {
        CHECK_EQ(post_rdma(&a, (uint64_t) i, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
        /* b executes; a takes the acknowledgement with its next post. */
        expect_nothing(b.recv_cq);
    }
    expect_async(a.context, IBV_EVENT_CQ_ERR);
    if (!is_soft_roce()) {
        expect_state(a.qp, IBV_QPS_ERR);
    }
    for (int i = 0; i < room; i++) {
        expect_wc(a.send_cq, (uint64_t) i, IBV_WC_SUCCESS);
    }
    expect_nothing(a.send_cq);
    pair_close(&a, &b);
}

static void a_reset_queue_pair_connects_again(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    for (uint64_t round = 0; round < 20; round++) {
        CHECK_EQ(post_recv(&b, round, 0, 64), 0);
        CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 64), 0);
        expect_wc(b.recv_cq, round, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        CHECK_EQ(post_recv(&b, 1000, 0, 64), 0);
        CHECK_EQ(to_reset(&a), 0);
        CHECK_EQ(to_reset(&b), 0);
        expect_nothing(b.recv_cq);
        CHECK_EQ(post_recv(&b, 1000, 0, 64), EINVAL);
        end_connect(&a, b.qp->qp_num);
        end_connect(&b, a.qp->qp_num);
    }
    pair_close(&a, &b);
}

static void state_machine_refuses_what_the_specification_does(void) {
    struct end a;
    end_open(&a, &defaults);
    CHECK_EQ(post_recv(&a, 1, 0, 8), EINVAL);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), EINVAL);
    CHECK_EQ(end_to_rtr(&a, a.qp->qp_num), EINVAL);
    CHECK_EQ(end_to_rts(&a), EINVAL);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
    attr.port_num = 2;
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT
                                    | IBV_QP_ACCESS_FLAGS), EINVAL);
    end_to_init(&a);
    CHECK_EQ(post_recv(&a, 1, 0, 8), 0);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), EINVAL);
    CHECK_EQ(end_to_rts(&a), EINVAL);
    CHECK_EQ(end_to_rtr(&a, a.qp->qp_num), 0);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), EINVAL);
    CHECK_EQ(end_to_rtr(&a, a.qp->qp_num), EINVAL);
    CHECK_EQ(end_to_rts(&a), 0);
    attr = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_RTR, .min_rnr_timer = 3 };
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_CUR_STATE | IBV_QP_MIN_RNR_TIMER), EINVAL);
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_MIN_RNR_TIMER), 0);
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init), 0);
    CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
    CHECK_EQ(attr.min_rnr_timer, 3);
    CHECK_EQ(attr.dest_qp_num, a.qp->qp_num);
    CHECK_EQ(attr.qp_access_flags, defaults.access);
    CHECK(is_embedded() ? init.cap.max_send_wr == 64 : init.cap.max_send_wr >= 64);
    CHECK(init.send_cq == a.send_cq);
    CHECK_EQ(to_error(&a), 0);
    CHECK_EQ(end_to_rts(&a), EINVAL);
    CHECK_EQ(to_reset(&a), 0);
    end_close(&a);
}

static void creation_checks_its_arguments(void) {
    struct end a;
    end_open(&a, &defaults);
    errno = 0;
    CHECK(ibv_reg_mr(a.pd, a.buffer, 4096, IBV_ACCESS_REMOTE_WRITE) == NULL && errno == EINVAL);
    CHECK(ibv_reg_mr(a.pd, a.buffer, 4096, IBV_ACCESS_REMOTE_ATOMIC) == NULL && errno == EINVAL);
    CHECK(ibv_reg_mr(a.pd, a.buffer, 4096, IBV_ACCESS_ON_DEMAND) == NULL && errno == EINVAL);
    CHECK(ibv_reg_mr(a.pd, (void *) 4096, 4096, 0) == NULL && errno == EFAULT);
    void *constant = (void *) (uintptr_t) "read-only";
    CHECK(ibv_reg_mr(a.pd, constant, 4, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT);
    struct ibv_mr *mr = ibv_reg_mr(a.pd, constant, 4, IBV_ACCESS_REMOTE_READ);
    CHECK(mr != NULL);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK(ibv_create_cq(a.context, 0, NULL, NULL, 0) == NULL && errno == EINVAL);
    CHECK(ibv_create_cq(a.context, 1, NULL, NULL, a.context->num_comp_vectors) == NULL && errno == EINVAL);
    struct ibv_qp_init_attr attr = { .send_cq = a.send_cq, .recv_cq = a.recv_cq, .qp_type = IBV_QPT_RAW_PACKET };
    if (is_embedded()) { /* devices may have that type */
        CHECK(ibv_create_qp(a.pd, &attr) == NULL && errno == EOPNOTSUPP);
    }
    attr.qp_type = IBV_QPT_RC;
    attr.cap.max_inline_data = 1 << 20;
    CHECK(ibv_create_qp(a.pd, &attr) == NULL && errno == EINVAL);
    CHECK_EQ(ibv_dealloc_pd(a.pd), EBUSY);
    CHECK_EQ(ibv_destroy_cq(a.send_cq), EBUSY);
    if (is_embedded()) { /* objects of libibverbs cannot be used any more */
        CHECK_EQ(ibv_close_device(a.context), 0);
    }
    end_close(&a);
}

int main(void) {
    RUN(error_state_flushes_both_queues_in_order);
    RUN(access_outside_of_what_was_granted_is_refused);
    RUN(queue_pair_access_flags_are_enforced);
    RUN(an_end_without_responder_resources_refuses_reads_and_atomics);
    RUN(region_access_flags_and_protection_domain_are_enforced);
    RUN(a_key_dies_with_its_region);
    RUN(zero_length_access_needs_no_key);
    RUN(bad_local_key_is_a_local_protection_error);
    RUN(bad_local_key_of_a_read_is_a_local_protection_error);
    RUN(bad_local_key_of_a_receive_fails_both_ends);
    RUN(a_message_longer_than_the_receive_fails_both_ends);
    RUN(misaligned_atomic_is_an_invalid_request);
    RUN(missing_receive_waits_or_fails_as_rnr_retry_says);
    RUN(each_message_has_its_own_rnr_retries);
    RUN(a_peer_that_never_attaches_times_out);
    RUN(a_number_that_nobody_has_times_out);
    RUN(a_peer_in_error_times_out);
    RUN(requests_posted_before_the_peer_is_ready_wait_for_it);
    RUN(overflow_of_a_completion_queue_is_an_event_and_fails_its_queue_pairs);
    RUN(a_reset_queue_pair_connects_again);
    RUN(state_machine_refuses_what_the_specification_does);
    RUN(creation_checks_its_arguments);
    return 0;
}
