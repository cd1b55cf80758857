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
/*
 * Completion channels: counted events, arming, acknowledgements.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "channel_support.h"
#include "provider.h"

static void an_armed_queue_gets_one_event(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    expect_no_event(&b);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
    }
    CHECK_EQ(post_send(&a, 0, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.recv_cq, 0, IBV_WC_SUCCESS);
    expect_no_event(&b); /* was not armed */
    CHECK_EQ(arm(b.recv_cq, 0), 0);
    expect_no_event(&b); /* earlier completions do not count */
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_event(&b, b.recv_cq);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    expect_wc(b.recv_cq, 2, IBV_WC_SUCCESS);
    expect_no_event(&b); /* one event per arm */
    pair_close(&a, &b);
}

static void events_are_counted(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(is_readable(b.channel->fd));
        expect_event(&b, b.recv_cq);
    }
    expect_no_event(&b);
    pair_close(&a, &b);
}

static void solicited_only_wakes_for_solicited_messages_and_errors(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
    }
    CHECK_EQ(arm(b.recv_cq, 1), 0);
    CHECK_EQ(post_send(&a, 0, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 0, IBV_WC_SUCCESS); /* executed, although nobody polls there */
    expect_no_event(&b);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, IBV_SEND_SOLICITED, 0, 8), 0);
    expect_event(&b, b.recv_cq);
    CHECK_EQ(arm(b.recv_cq, 1), 0);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    CHECK_EQ(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE), 0);
    expect_event(&b, b.recv_cq);
    pair_close(&a, &b);
}

/* soft-RoCE does not count a send that failed among the errors. */
static void solicited_only_wakes_for_a_send_that_failed(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    struct address nowhere = { b.qp->qp_num, end_address(&b).rkey + 1, (uintptr_t) b.buffer };
    CHECK_EQ(arm(a.send_cq, 1), 0);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &nowhere, 0), 0);
    if (is_soft_roce()) {
        expect_wc(a.send_cq, 1, IBV_WC_REM_ACCESS_ERR);
        expect_no_event(&a);
    } else {
        expect_event(&a, a.send_cq);
        expect_wc(a.send_cq, 1, IBV_WC_REM_ACCESS_ERR);
    }
    pair_close(&a, &b);
}

static void send_completions_wake_as_well(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    struct address to = end_address(&b);
    for (uint32_t length = 8; length <= 2 << 20; length *= 64) {
        CHECK_EQ(arm(a.send_cq, 0), 0);
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, length, &to, 0), 0);
        expect_event(&a, a.send_cq);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        CHECK_EQ(arm(a.send_cq, 0), 0);
        CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, 0, length, &to, 0), 0);
        expect_event(&a, a.send_cq);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    }
    pair_close(&a, &b);
}

static void an_acknowledgement_rings_even_if_the_receiver_never_polls_again(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    for (uint64_t i = 0; i < 8; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        expect_nothing(b.recv_cq);
        CHECK_EQ(arm(a.send_cq, 0), 0);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_event(&a, a.send_cq);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    pair_close(&a, &b);
}

struct destroyer {
    struct ibv_cq *cq;
    atomic_bool done;
};

static void *destroy(void *argument) {
    struct destroyer *d = argument;
    CHECK_EQ(ibv_destroy_cq(d->cq), 0);
    atomic_store(&d->done, true);
    return NULL;
}

static void destroying_a_queue_waits_for_acknowledgement(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open(&a, &b, &options);
    CHECK_EQ(post_recv(&b, 0, 0, 8), 0);
    CHECK_EQ(arm(b.recv_cq, 0), 0);
    CHECK_EQ(post_send(&a, 0, IBV_WR_SEND, 0, 0, 8), 0);
    struct ibv_cq *cq;
    void *context;
    CHECK_EQ(ibv_get_cq_event(b.channel, &cq, &context), 0); /* blocking */
    CHECK_EQ(ibv_destroy_qp(b.qp), 0);
    struct destroyer d = { .cq = b.recv_cq };
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, destroy, &d), 0);
    poll(NULL, 0, 20);
    CHECK(!atomic_load(&d.done));
    ibv_ack_cq_events(cq, 1);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(ibv_destroy_comp_channel(b.channel), EBUSY);
    b.recv_cq = b.send_cq;
    struct ibv_qp_init_attr attr = { .send_cq = b.send_cq, .recv_cq = b.send_cq, .qp_type = IBV_QPT_RC };
    b.qp = ibv_create_qp(b.pd, &attr);
    CHECK(b.qp != NULL);
    pair_close(&a, &b);
}

int main(void) {
    RUN(an_armed_queue_gets_one_event);
    RUN(events_are_counted);
    RUN(solicited_only_wakes_for_solicited_messages_and_errors);
    RUN(solicited_only_wakes_for_a_send_that_failed);
    RUN(send_completions_wake_as_well);
    RUN(an_acknowledgement_rings_even_if_the_receiver_never_polls_again);
    RUN(destroying_a_queue_waits_for_acknowledgement);
    RUN(threads_that_block_on_one_channel_take_each_event_once);
    return 0;
}
