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
/* The state SQD: the send queue stops after what has begun, the rest of the queue pair goes on. */
#include <errno.h>
#include <poll.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

static int to_state(struct end *end, enum ibv_qp_state state, int mask) {
    struct ibv_qp_attr attr = { .qp_state = state, .en_sqd_async_notify = 1 };
    return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | mask);
}

static void expect_no_async(struct ibv_context *context) {
    struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
    CHECK_EQ(poll(&fd, 1, 0), 0);
}

static void set_timeout(struct end *end, int timeout, int retry_cnt) {
    struct ibv_qp_attr attr = { .timeout = (uint8_t) timeout, .retry_cnt = (uint8_t) retry_cnt };
    CHECK_EQ(ibv_modify_qp(end->qp, &attr, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT), 0);
}

static void what_is_posted_in_it_waits_for_the_way_back(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct address to = end_address(&b);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(to_state(&a, IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
    expect_async(a.context, IBV_EVENT_SQ_DRAINED);
    expect_state(a.qp, IBV_QPS_SQD);
    set_timeout(&a, 12, 1); /* 17 ms, which do not run meanwhile */
    a.buffer[100] = 5;
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_WRITE, 0, 100, 8, &to, 100), 0);
    CHECK_EQ(post_recv(&b, 4, 0, 8), 0);
    CHECK_EQ(post_send(&a, 3, IBV_WR_SEND, 0, 0, 8), 0);
    /* The receive queue, and the answers to the peer, go on. */
    struct address back = end_address(&a);
    CHECK_EQ(post_recv(&a, 5, 4096, 8), 0);
    CHECK_EQ(post_send(&b, 6, IBV_WR_SEND, 0, 0, 8), 0);
    CHECK_EQ(post_rdma(&b, 7, IBV_WR_RDMA_READ, 0, 8192, 8, &back, 0), 0);
    expect_wc(a.recv_cq, 5, IBV_WC_SUCCESS);
    expect_wc(b.send_cq, 6, IBV_WC_SUCCESS);
    expect_wc(b.send_cq, 7, IBV_WC_SUCCESS);
    uint64_t start = now_ns();
    while (now_ns() - start < 100000000) {
        expect_nothing(a.send_cq);
        expect_nothing(b.recv_cq);
    }
    CHECK_EQ(b.buffer[100], 0);
    set_timeout(&a, defaults.timeout, defaults.retry_cnt);
    CHECK_EQ(to_state(&a, IBV_QPS_RTS, 0), 0);
    CHECK_EQ(post_rdma(&a, 8, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
    expect_wc(b.recv_cq, 4, IBV_WC_SUCCESS);
    CHECK_EQ(b.buffer[100], 5);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 3, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 8, IBV_WC_SUCCESS);
    expect_no_async(a.context); /* one event for one way there */
    pair_close(&a, &b);
}

static void it_is_drained_when_all_that_has_begun_is_complete(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 300000), 0); /* no receive is there */
    settle();
    CHECK_EQ(to_state(&a, IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    settle();
    expect_no_async(a.context);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init), 0);
    CHECK_EQ(attr.sq_draining, 1);
    CHECK_EQ(post_recv(&b, 3, 0, 300000), 0);
    CHECK_EQ(post_recv(&b, 4, 0, 8), 0);
    expect_wc(b.recv_cq, 3, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    expect_async(a.context, IBV_EVENT_SQ_DRAINED);
    expect_nothing(a.send_cq);
    CHECK_EQ(ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &init), 0);
    CHECK_EQ(attr.sq_draining, 0);
    CHECK_EQ(to_state(&a, IBV_QPS_ERR, 0), 0);
    expect_wc(a.send_cq, 2, IBV_WC_WR_FLUSH_ERR);
    pair_close(&a, &b);
}

static void without_having_been_asked_for_there_is_no_event(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    CHECK_EQ(to_state(&a, IBV_QPS_SQD, 0), 0);
    settle();
    if (!is_soft_roce()) { /* soft-RoCE does not look at that attribute */
        expect_no_async(a.context);
    }
    CHECK_EQ(to_state(&a, IBV_QPS_RTS, 0), 0);
    CHECK_EQ(post_recv(&b, 1, 0, 8), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void only_rts_leads_to_it(void) {
    struct end a;
    end_open(&a, &defaults);
    CHECK_EQ(to_state(&a, IBV_QPS_SQD, 0), EINVAL);
    end_to_init(&a);
    CHECK_EQ(to_state(&a, IBV_QPS_SQD, 0), EINVAL);
    CHECK_EQ(end_to_rtr(&a, a.qp->qp_num), 0);
    CHECK_EQ(to_state(&a, IBV_QPS_SQD, 0), EINVAL);
    CHECK_EQ(end_to_rts(&a), 0);
    CHECK_EQ(to_state(&a, IBV_QPS_SQD, 0), 0);
    CHECK_EQ(to_state(&a, IBV_QPS_RTR, 0), EINVAL);
    struct ibv_qp_attr attr = { .retry_cnt = 3, .qp_access_flags = 0 };
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_RETRY_CNT | IBV_QP_ACCESS_FLAGS), 0);
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_DEST_QPN), EINVAL);
    CHECK_EQ(to_state(&a, IBV_QPS_RESET, 0), 0);
    end_close(&a);
}

int main(void) {
    RUN(what_is_posted_in_it_waits_for_the_way_back);
    if (!is_soft_roce()) { /* soft-RoCE counts a request that waits for a receive as complete */
        RUN(it_is_drained_when_all_that_has_begun_is_complete);
    }
    RUN(without_having_been_asked_for_there_is_no_event);
    RUN(only_rts_leads_to_it);
    return 0;
}
