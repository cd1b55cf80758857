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
/* Queue pairs as only the inside of the embedded provider can be tested: with hands on its rings and its engine. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"
#include "embedded/device/qp.h"
#include "embedded/device/watch.h"
#include "pair.h"
#include "provider.h"
#include "qp_inside.h"

static atomic_bool peer_runs, peer_may_stop;

static int to_reset(struct end *end) {
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
    return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);
}

/* A peer that is faster than any copy: acknowledges what it sees without looking at it. */
static void *acknowledge(void *qp) {
    const struct qp *peer = qp;
    const struct wire_slot *ring = rc_of(peer)->attached->segment->request;
    atomic_store(&peer_runs, true);
    for (uint32_t count = 0; !atomic_load(&peer_may_stop);) {
        if (atomic_load(&ring[count % WIRE_REQUEST_SLOTS].desc.sequence) == count + 1) {
            count++;
            atomic_store(&rc_of(peer)->own->stream[WIRE_REQUESTS].ack, WIRE_ACK_WORD(count, WIRE_OK));
        }
    }
    return NULL;
}

static void a_post_does_not_last_until_all_is_sent(void) {
    enum { COUNT = 60 };
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct qp *sender = qp_of(a.qp), *peer = qp_of(b.qp);
    CHECK_EVENTUALLY(atomic_load(&sender->peek) != NULL && atomic_load(&peer->peek) != NULL);
    struct address to = end_address(&b);
    struct ibv_sge sge = { (uintptr_t) a.buffer, PAIR_BUFFER, a.mr->lkey };
    struct ibv_send_wr wr[COUNT], *bad;
    for (int i = 0; i < COUNT; i++) {
        wr[i] = (struct ibv_send_wr) {
            .wr_id = (uint64_t) i, .next = i + 1 < COUNT ? &wr[i + 1] : NULL, .sg_list = &sge, .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE,
        };
        wr[i].wr.rdma.remote_addr = to.buffer;
        wr[i].wr.rdma.rkey = to.rkey;
    }
    hold_engine(); /* a running engine would go on at once */
    qp_lock(peer);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, acknowledge, peer), 0);
    CHECK_EVENTUALLY(atomic_load(&peer_runs)); /* without it, not even a post that lasts would get far */
    CHECK_EQ(a.context->ops.post_send(a.qp, wr, &bad), 0);
    qp_lock(sender);
    uint32_t sent = sender->staged;
    qp_unlock(sender);
    release_engine();
    CHECK(sent <= 2);
    for (uint64_t i = 0; i < COUNT; i++) {
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    atomic_store(&peer_may_stop, true);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    qp_unlock(peer);
    pair_close(&a, &b);
}

/*
 * The response overtakes the acknowledgement of an older request: the failure of the READ is known, and cannot be
 * reported yet. The test answers in place of b, which it keeps from doing so.
 */
static uint32_t published(struct qp *qp) {
    qp_lock(qp);
    uint32_t descriptors = rc_of(qp)->out.prod;
    qp_unlock(qp);
    return descriptors;
}

static void a_fenced_request_does_not_pass_a_read_that_failed_here(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct qp *requester = qp_of(a.qp), *responder = qp_of(b.qp);
    CHECK_EQ(post_recv(&b, 7, 64, 8), 0);
    CHECK_EQ(post_recv(&b, 8, 64, 8), 0);
    struct ibv_mr *readable = ibv_reg_mr(a.pd, a.buffer, 4096, 0);
    CHECK(readable != NULL);
    struct address to = end_address(&b);
    struct ibv_sge sge = { (uintptr_t) a.buffer, 8, readable->lkey };
    struct ibv_send_wr read = { .wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_READ }, *bad;
    read.wr.rdma.remote_addr = to.buffer;
    read.wr.rdma.rkey = to.rkey;
    CHECK_EVENTUALLY(atomic_load(&requester->peek) != NULL && atomic_load(&responder->peek) != NULL);
    qp_lock(responder);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    CHECK_EQ(a.context->ops.post_send(a.qp, &read, &bad), 0);
    CHECK_EQ(post_send(&a, 3, IBV_WR_SEND, IBV_SEND_FENCE, 0, 8), 0);
    CHECK_EVENTUALLY(published(requester) == 2); /* the engine may be at work on it: no answer before the request */
    struct wire_slot *slot = &rc_of(responder)->segment->response[0];
    slot->desc.op = WIRE_RESPONSE;
    slot->desc.flags = WIRE_LAST;
    slot->desc.length = 8;
    slot->desc.slab = WIRE_INLINE;
    atomic_store(&rc_of(responder)->own->begun[WIRE_RESPONSES], 1);
    atomic_store(&slot->desc.sequence, 1);
    qp_kick(requester, QP_WORK_ALL);
    CHECK_EVENTUALLY(consumer_pos(&requester->responses) == 1);
    CHECK_EQ(published(requester), 2);
    qp_unlock(responder);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 2, IBV_WC_LOC_PROT_ERR);
    expect_wc(a.send_cq, 3, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b.recv_cq, 7, IBV_WC_SUCCESS);
    expect_nothing(b.recv_cq);
    CHECK_EQ(ibv_dereg_mr(readable), 0);
    pair_close(&a, &b);
}

static void a_peer_that_was_reset_while_we_were_not_ready_connects_again(void) {
    struct end a, b;
    end_open(&a, &defaults);
    end_open(&b, &defaults);
    end_to_init(&b);
    CHECK_EQ(post_recv(&b, 2, 0, 8), 0);
    end_connect(&a, b.qp->qp_num);
    CHECK_EVENTUALLY(holds_introduction(qp_of(b.qp)));
    CHECK_EQ(to_reset(&a), 0);
    CHECK_EQ(end_to_rtr(&b, a.qp->qp_num), 0);
    CHECK_EQ(end_to_rts(&b), 0);
    end_connect(&a, b.qp->qp_num);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    expect_wc(b.recv_cq, 2, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

/* Messages to another LID or GID go nowhere, and neither do acknowledgements. */
static void a_wrong_address_reaches_nobody(void) {
    for (int i = 0; i < 2; i++) {
        struct end a, b;
        struct options options = defaults;
        options.timeout = 10; /* 4.2 ms */
        options.retry_cnt = 1;
        end_open(&a, &options);
        end_open(&b, &defaults);
        end_connect(&b, a.qp->qp_num);
        end_to_init(&a);
        struct ibv_qp_attr attr = {
            .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = b.qp->qp_num, .max_dest_rd_atomic = 1,
            .ah_attr = { .dlid = i == 0 ? 7 : 1, .port_num = 1, .is_global = i == 1 },
        };
        attr.ah_attr.grh.dgid.raw[15] = 7;
        int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
                | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
        attr.ah_attr.grh.sgid_index = 1;
        CHECK_EQ(ibv_modify_qp(a.qp, &attr, mask), i == 1 ? EINVAL : 0);
        attr.ah_attr.grh.sgid_index = 0;
        CHECK(i == 0 || ibv_modify_qp(a.qp, &attr, mask) == 0);
        CHECK_EQ(end_to_rts(&a), 0);
        CHECK_EQ(post_recv(&b, 2, 0, 8), 0);
        CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(a.send_cq, 1, IBV_WC_RETRY_EXC_ERR);
        expect_nothing(b.recv_cq);
        pair_close(&a, &b);
    }
}

/* The acknowledgement is there before the sender's next message, as on a wire, so a device has processed it. */
static void what_was_acknowledged_before_the_error_state_has_succeeded(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    await_introductions(&a, &b);
    hold_engine(); /* a running engine would take the acknowledgement at once */
    CHECK_EQ(post_recv(&b, 2, 0, 8), 0);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.recv_cq, 2, IBV_WC_SUCCESS);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
    release_engine();
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void messages_that_find_no_receive_are_counted_once_each(void) {
    struct end a, b;
    struct options options = defaults;
    options.rnr_retry = 7;
    pair_open(&a, &b, &options);
    uint64_t before = embedded_ext_rnr_naks(a.context);
    CHECK_EQ(post_recv(&b, 0, 0, 8), 0);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        if (i > 0) {
            CHECK_EVENTUALLY(embedded_ext_rnr_naks(a.context) == before + i);
            settle(); /* the message waits, and is looked at again and again */
            CHECK_EQ(embedded_ext_rnr_naks(a.context), before + i);
            CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        }
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    CHECK_EQ(embedded_ext_rnr_naks(a.context), before + 2);
    pair_close(&a, &b);

    options.rnr_retry = 0;
    pair_open(&a, &b, &options);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
    CHECK_EQ(embedded_ext_rnr_naks(a.context), before + 3);
    pair_close(&a, &b);
}

/* Time until the engine looks at a queue pair whose latest message has arrived, after the next post. */
static uint64_t gap_after_a_message(const struct options *options) {
    struct end a, b;
    pair_open(&a, &b, options);
    pair_talk(&a, &b);
    CHECK_EVENTUALLY(!atomic_load(&qp_of(a.qp)->watched));
    uint64_t gap = atomic_load(&qp_of(a.qp)->round_gap_ns);
    pair_close(&a, &b);
    return gap;
}

static void the_engine_looks_seldom_at_a_connection_whose_messages_arrive(void) {
    struct options options = defaults;
    CHECK_EQ(gap_after_a_message(&options), WATCH_MAX_ROUND_NS);
    options.retry_cnt = 0;
    options.timeout = 10; /* times out within four times 4.2 ms: IB specification 9.7.6.1.3 */
    CHECK_EQ(gap_after_a_message(&options), 4 * 4096 << 10);
    options.timeout = 1;
    CHECK_EQ(gap_after_a_message(&options), WATCH_ROUND_NS);
    options.timeout = 0;
    CHECK_EQ(gap_after_a_message(&options), WATCH_MAX_ROUND_NS);
    options.rnr_retry = 6;
    CHECK_EQ(gap_after_a_message(&options), WATCH_ROUND_NS);
}

int main(void) {
    RUN(a_post_does_not_last_until_all_is_sent);
    RUN(a_fenced_request_does_not_pass_a_read_that_failed_here);
    RUN(a_peer_that_was_reset_while_we_were_not_ready_connects_again);
    RUN(what_was_acknowledged_before_the_error_state_has_succeeded);
    RUN(a_wrong_address_reaches_nobody);
    RUN(messages_that_find_no_receive_are_counted_once_each);
    RUN(the_engine_looks_seldom_at_a_connection_whose_messages_arrive);
    return 0;
}
