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
/* Shared receive queues: who gets which receive, what an empty queue does, events, errors. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

#define PAIRS 3
#define ROOM 16

/* Ends of one side share context, protection domain, completion queue and buffer; the receivers also the queue. */
static struct end sender[PAIRS], receiver[PAIRS];
static struct ibv_srq *srq;

static struct ibv_srq *create_srq(struct ibv_pd *pd, uint32_t room) {
    struct ibv_srq_init_attr attr = { .attr = { .max_wr = room, .max_sge = 2 } };
    return ibv_create_srq(pd, &attr);
}

static void open_pairs(const struct options *options, uint32_t room) {
    struct options shared = *options;
    struct end owner;
    shared.recv_wr = 1;
    end_open(&owner, &shared);
    srq = create_srq(owner.pd, room);
    CHECK(srq != NULL);
    CHECK_EQ(ibv_destroy_qp(owner.qp), 0);
    shared.srq = srq;
    for (int i = 0; i < PAIRS; i++) {
        end_open_on(&receiver[i], &owner, &shared);
        if (i == 0) {
            end_open(&sender[i], options);
        } else {
            end_open_on(&sender[i], &sender[0], options);
        }
        end_connect(&sender[i], receiver[i].qp->qp_num);
        end_connect(&receiver[i], sender[i].qp->qp_num);
    }
}

static void close_pairs(void) {
    for (int i = PAIRS - 1; i > 0; i--) {
        CHECK_EQ(ibv_destroy_qp(sender[i].qp), 0);
        CHECK_EQ(ibv_destroy_qp(receiver[i].qp), 0);
    }
    end_close(&sender[0]);
    CHECK_EQ(ibv_destroy_srq(srq), EBUSY);
    CHECK_EQ(ibv_destroy_qp(receiver[0].qp), 0);
    CHECK_EQ(ibv_destroy_srq(srq), 0);
    receiver[0].qp = NULL;
    end_close(&receiver[0]);
}

static int post_shared(uint64_t wr_id, size_t offset, uint32_t length) {
    struct ibv_sge sge = { (uintptr_t) receiver[0].buffer + offset, length, receiver[0].mr->lkey };
    struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;
    return receiver[0].context->ops.post_srq_recv(srq, &wr, &bad);
}

static uint32_t current_limit(void) {
    struct ibv_srq_attr attr;
    CHECK_EQ(ibv_query_srq(srq, &attr), 0);
    return attr.srq_limit;
}

static void arm(uint32_t limit) {
    struct ibv_srq_attr attr = { .srq_limit = limit };
    CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
    CHECK_EQ(current_limit(), limit);
}

/* Passes one message of pair i, to its completion at both ends. */
static struct ibv_wc pass(int i, uint32_t length) {
    CHECK_EQ(post_send(&sender[i], 1000, IBV_WR_SEND, 0, 0, length), 0);
    expect_wc(sender[i].send_cq, 1000, IBV_WC_SUCCESS);
    struct ibv_wc wc = next_wc(receiver[i].recv_cq);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.qp_num, receiver[i].qp->qp_num);
    CHECK_EQ(wc.byte_len, length);
    return wc;
}

static void each_message_takes_the_oldest_receive_whichever_queue_pair_it_came_by(void) {
    static const uint32_t lengths[] = { 0, 8, 300, 70000, 1 << 20 };
    open_pairs(&defaults, ROOM);
    for (uint64_t round = 0; round < 5; round++) {
        for (uint64_t i = 0; i < ROOM; i++) {
            CHECK_EQ(post_shared(round * ROOM + i, 0, 1 << 20), 0);
        }
        for (uint64_t i = 0; i < ROOM; i++) {
            uint32_t length = lengths[i % 5];
            memset(sender[0].buffer, (int) (round + i + 1), length);
            struct ibv_wc wc = pass((int) (i * 7 + round) % PAIRS, length);
            CHECK_EQ(wc.wr_id, round * ROOM + i);
            CHECK_EQ(memcmp(sender[0].buffer, receiver[0].buffer, length), 0);
        }
    }
    close_pairs();
}

static void write_with_immediate_takes_one_too(void) {
    open_pairs(&defaults, ROOM);
    struct address to = end_address(&receiver[1]);
    CHECK_EQ(post_shared(5, 0, 8), 0);
    CHECK_EQ(post_shared(6, 0, 8), 0);
    CHECK_EQ(post_rdma(&sender[1], 77, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 50000, &to, 4096), 0);
    struct ibv_wc wc = next_wc(receiver[1].recv_cq);
    CHECK_EQ(wc.wr_id, 5);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK_EQ(wc.imm_data, htobe32(77));
    expect_wc(sender[1].send_cq, 77, IBV_WC_SUCCESS);
    CHECK_EQ(pass(2, 8).wr_id, 6);
    close_pairs();
}

/* More messages wait than receives come, one at a time: each receive serves one, none is lost. */
static void senders_wait_for_receives_and_all_are_served(void) {
    enum { EACH = 8 };
    open_pairs(&defaults, ROOM);
    for (uint64_t i = 0; i < PAIRS * EACH; i++) {
        CHECK_EQ(post_send(&sender[i % PAIRS], i, IBV_WR_SEND, 0, 0, 64), 0);
    }
    settle();
    expect_nothing(receiver[0].recv_cq);
    int got[PAIRS] = { 0 };
    for (uint64_t i = 0; i < PAIRS * EACH; i++) {
        CHECK_EQ(post_shared(i, 0, 64), 0);
        struct ibv_wc wc = next_wc(receiver[0].recv_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.wr_id, i);
        for (int p = 0; p < PAIRS; p++) {
            got[p] += wc.qp_num == receiver[p].qp->qp_num;
        }
    }
    for (int p = 0; p < PAIRS; p++) {
        CHECK_EQ(got[p], EACH);
        for (int i = 0; i < EACH; i++) {
            CHECK_EQ(next_wc(sender[p].send_cq).status, IBV_WC_SUCCESS);
        }
    }
    close_pairs();
}

static void an_empty_queue_fails_the_sender_that_does_not_wait(void) {
    struct options options = defaults;
    options.rnr_retry = 0;
    open_pairs(&options, ROOM);
    CHECK_EQ(post_send(&sender[0], 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(sender[0].send_cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
    expect_state(receiver[0].qp, IBV_QPS_RTS);
    /* The failed message takes nothing from the others. */
    CHECK_EQ(post_shared(9, 0, 8), 0);
    CHECK_EQ(pass(1, 8).wr_id, 9);
    close_pairs();
}

static void expect_no_async(struct ibv_context *context) {
    struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
    CHECK_EQ(poll(&fd, 1, 0), 0);
}

static void expect_limit_event(void) {
    struct ibv_async_event event = next_async(srq->context);
    CHECK_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    CHECK(event.element.srq == srq);
    ibv_ack_async_event(&event);
    CHECK_EQ(current_limit(), 0);
}

static void the_limit_event_comes_once_for_each_arming(void) {
    open_pairs(&defaults, ROOM);
    CHECK_EQ(current_limit(), 0);
    for (uint64_t i = 0; i < 10; i++) {
        CHECK_EQ(post_shared(i, 0, 8), 0);
    }
    arm(7);
    for (int i = 0; i < 3; i++) {
        pass(i % PAIRS, 8);
    }
    settle();
    expect_no_async(srq->context); /* 7 are left, which is the limit and not less */
    pass(0, 8);
    expect_limit_event();
    pass(1, 8);
    settle();
    expect_no_async(srq->context);
    arm(5); /* 5 are left */
    pass(2, 8);
    expect_limit_event();
    arm(3);
    arm(0); /* disarmed */
    pass(0, 8);
    pass(1, 8);
    settle();
    expect_no_async(srq->context);
    close_pairs();
}

static void an_undelivered_limit_event_goes_with_its_queue(void) {
    open_pairs(&defaults, ROOM);
    CHECK_EQ(post_shared(1, 0, 8), 0);
    arm(1);
    pass(0, 8);
    close_pairs();
}

static void a_queue_pair_in_error_leaves_the_receives_to_the_others(void) {
    open_pairs(&defaults, ROOM);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_EQ(post_shared(i, 0, 8), 0);
    }
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    CHECK_EQ(ibv_modify_qp(receiver[1].qp, &attr, IBV_QP_STATE), 0);
    if (!is_soft_roce()) { /* soft-RoCE of Linux 6.1 has no such event */
        struct ibv_async_event event = next_async(srq->context);
        CHECK_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
        CHECK(event.element.qp == receiver[1].qp);
        ibv_ack_async_event(&event);
    }
    expect_nothing(receiver[1].recv_cq);
    CHECK_EQ(pass(0, 8).wr_id, 0);
    CHECK_EQ(pass(2, 8).wr_id, 1);
    expect_no_async(srq->context);
    close_pairs();
}

static void a_message_too_long_fails_its_queue_pair_only(void) {
    open_pairs(&defaults, ROOM);
    CHECK_EQ(post_shared(1, 0, 99), 0);
    CHECK_EQ(post_shared(2, 0, 100), 0);
    CHECK_EQ(post_send(&sender[1], 7, IBV_WR_SEND, 0, 0, 100), 0);
    expect_wc(receiver[1].recv_cq, 1, DEVICE_OR_SOFT_ROCE(IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR));
    expect_wc(sender[1].send_cq, 7, DEVICE_OR_SOFT_ROCE(IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR));
    expect_state(receiver[1].qp, IBV_QPS_ERR);
    CHECK_EQ(pass(0, 100).wr_id, 2);
    close_pairs();
}

static void the_queue_has_the_size_asked_for(void) {
    open_pairs(&defaults, 5);
    struct ibv_srq_attr attr;
    CHECK_EQ(ibv_query_srq(srq, &attr), 0);
    CHECK(is_embedded() ? attr.max_wr == 5 : attr.max_wr >= 5);
    CHECK(is_embedded() ? attr.max_sge == 2 : attr.max_sge >= 2);
    uint32_t room = 0;
    while (room < 1000 && post_shared(room, 0, 8) == 0) {
        room++;
    }
    CHECK(is_embedded() ? room == 5 : room >= attr.max_wr && room < 1000);
    CHECK_EQ(post_shared(1000, 0, 8), ENOMEM);
    CHECK_EQ(pass(0, 8).wr_id, 0);
    CHECK_EQ(post_shared(1001, 0, 8), 0);
    close_pairs();
}

static void chains_stop_at_the_bad_receive(void) {
    open_pairs(&defaults, ROOM);
    struct ibv_sge sge[40];
    for (int i = 0; i < 40; i++) {
        sge[i] = (struct ibv_sge) { (uintptr_t) receiver[0].buffer, 8, receiver[0].mr->lkey };
    }
    struct ibv_recv_wr second = { .wr_id = 2, .sg_list = sge, .num_sge = 40 };
    struct ibv_recv_wr first = { .wr_id = 1, .next = &second, .sg_list = sge, .num_sge = 1 }, *bad = NULL;
    CHECK_EQ(receiver[0].context->ops.post_srq_recv(srq, &first, &bad), EINVAL);
    CHECK(bad == &second);
    CHECK_EQ(pass(0, 8).wr_id, 1);
    close_pairs();
}

static void a_queue_pair_that_shares_takes_no_receives_of_its_own(void) {
    open_pairs(&defaults, ROOM);
    CHECK_EQ(post_recv(&receiver[0], 1, 0, 8), EINVAL);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(receiver[0].qp, &attr, IBV_QP_CAP, &init), 0);
    CHECK(init.srq == srq);
    CHECK_EQ(post_shared(2, 0, 8), 0);
    CHECK_EQ(pass(0, 8).wr_id, 2);
    close_pairs();
}

static void a_reset_queue_pair_gives_back_nothing_and_takes_again(void) {
    open_pairs(&defaults, ROOM);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
    CHECK_EQ(post_send(&sender[0], 5, IBV_WR_SEND, 0, 0, 8), 0); /* waits for a receive */
    settle();
    CHECK_EQ(ibv_modify_qp(receiver[0].qp, &attr, IBV_QP_STATE), 0);
    CHECK_EQ(ibv_modify_qp(sender[0].qp, &attr, IBV_QP_STATE), 0);
    CHECK_EQ(post_shared(1, 0, 8), 0);
    end_connect(&sender[0], receiver[0].qp->qp_num);
    end_connect(&receiver[0], sender[0].qp->qp_num);
    CHECK_EQ(pass(0, 8).wr_id, 1);
    close_pairs();
}

static void creation_and_changes_check_their_arguments(void) {
    struct end end;
    end_open(&end, &defaults);
    struct ibv_device_attr device;
    CHECK_EQ(ibv_query_device(end.context, &device), 0);
    CHECK(device.max_srq > 0 && device.max_srq_wr > 0 && device.max_srq_sge > 0);
    struct ibv_srq_init_attr init = { .attr = { .max_wr = (uint32_t) device.max_srq_wr + 1, .max_sge = 1 } };
    CHECK(ibv_create_srq(end.pd, &init) == NULL && errno == EINVAL);
    init.attr = (struct ibv_srq_attr) { .max_wr = 1, .max_sge = (uint32_t) device.max_srq_sge + 1 };
    CHECK(ibv_create_srq(end.pd, &init) == NULL && errno == EINVAL);
    init.attr = (struct ibv_srq_attr) { .max_wr = 0, .max_sge = 1 };
    CHECK(ibv_create_srq(end.pd, &init) == NULL && errno == EINVAL);
    srq = create_srq(end.pd, ROOM);
    CHECK(srq != NULL);
    struct ibv_srq_attr attr = { .srq_limit = (uint32_t) device.max_srq_wr + 1 };
    CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL);
    CHECK_EQ(ibv_query_srq(srq, &attr), 0);
    CHECK_EQ(attr.srq_limit, 0);
    if ((device.device_cap_flags & IBV_DEVICE_SRQ_RESIZE) == 0) {
        attr.max_wr = 2 * ROOM;
        CHECK_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EINVAL);
    }
    CHECK_EQ(ibv_dealloc_pd(end.pd), EBUSY);
    CHECK_EQ(ibv_destroy_srq(srq), 0);
    end_close(&end);
}

/* ---- threads ---- */

#define MESSAGES 2000

static atomic_int received;

static void *send_many(void *argument) {
    struct end *end = argument;
    for (uint32_t sent = 0, done = 0; done < MESSAGES;) {
        struct ibv_wc wc;
        if (sent - done < 32 && sent < MESSAGES) {
            CHECK_EQ(post_send(end, sent++, IBV_WR_SEND, 0, 0, 64), 0);
        } else if (end->context->ops.poll_cq(end->send_cq, 1, &wc) == 1) {
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
            done++;
        }
    }
    return NULL;
}

static void *receive_many(void *argument) {
    struct end *end = argument;
    uint64_t limit = patience_end_ns();
    while (atomic_load(&received) < PAIRS * MESSAGES) {
        struct ibv_wc wc;
        CHECK(now_ns() < limit);
        if (end->context->ops.poll_cq(end->recv_cq, 1, &wc) == 1) {
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
            atomic_fetch_add(&received, 1);
            CHECK_EQ(post_shared(wc.wr_id, 64 * wc.wr_id, 64), 0);
        }
    }
    return NULL;
}

/* Few receives, many senders: the queue runs empty all the time while threads take from it and post to it. */
static void threads_take_and_post_at_once(void) {
    struct end own[PAIRS]; /* each thread with a completion queue of its own */
    struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
    open_pairs(&defaults, 4);
    for (int i = 0; i < PAIRS; i++) {
        end_open(&own[i], &defaults);
        CHECK_EQ(ibv_modify_qp(receiver[i].qp, &reset, IBV_QP_STATE), 0);
        end_connect(&own[i], receiver[i].qp->qp_num);
        end_connect(&receiver[i], own[i].qp->qp_num);
    }
    atomic_store(&received, 0);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(post_shared(i, 64 * i, 64), 0);
    }
    pthread_t threads[PAIRS + 2];
    for (int i = 0; i < PAIRS; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, send_many, &own[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pthread_create(&threads[PAIRS + i], NULL, receive_many, &receiver[i]), 0);
    }
    for (int i = 0; i < PAIRS + 2; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    for (int i = 0; i < PAIRS; i++) {
        end_close(&own[i]);
    }
    close_pairs();
}

int main(void) {
    RUN(each_message_takes_the_oldest_receive_whichever_queue_pair_it_came_by);
    RUN(write_with_immediate_takes_one_too);
    RUN(senders_wait_for_receives_and_all_are_served);
    RUN(an_empty_queue_fails_the_sender_that_does_not_wait);
    RUN(the_limit_event_comes_once_for_each_arming);
    RUN(an_undelivered_limit_event_goes_with_its_queue);
    RUN(a_queue_pair_in_error_leaves_the_receives_to_the_others);
    RUN(a_message_too_long_fails_its_queue_pair_only);
    RUN(the_queue_has_the_size_asked_for);
    RUN(chains_stop_at_the_bad_receive);
    RUN(a_queue_pair_that_shares_takes_no_receives_of_its_own);
    RUN(a_reset_queue_pair_gives_back_nothing_and_takes_again);
    RUN(creation_and_changes_check_their_arguments);
    RUN(threads_take_and_post_at_once);
    return 0;
}
