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
 * Connections that polls look at themselves, and whose peers count up no ticks for them: cq_scan.c. The engine is at
 * rest unless said otherwise, so that nothing else finds what polls overlook.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "channel_support.h"
#include "embedded/device/watch.h"
#include "embedded/embedded.h"
#include "qp_inside.h"

#define BOTH (WIRE_DIRECT_REQUESTS | WIRE_DIRECT_RESULTS)
#define MANY (2 * (int) CQ_DIRECT)

/* Opens pairs. All ends of a share its completion queue, and so do all of b. */
static void open_many(struct end *a, struct end *b) {
    for (int i = 0; i < MANY; i++) {
        if (i == 0) {
            end_open(&a[0], &defaults);
            end_open(&b[0], &defaults);
        } else {
            end_open_on(&a[i], &a[0], &defaults);
            end_open_on(&b[i], &b[0], &defaults);
        }
        end_connect(&a[i], b[i].qp->qp_num);
        end_connect(&b[i], a[i].qp->qp_num);
        await_introductions(&a[i], &b[i]);
    }
}

static void close_many(struct end *a, struct end *b) {
    for (int i = MANY - 1; i > 0; i--) {
        CHECK_EQ(ibv_destroy_qp(a[i].qp), 0);
        CHECK_EQ(ibv_destroy_qp(b[i].qp), 0);
    }
    pair_close(&a[0], &b[0]);
}

static uint32_t direct_of(const struct end *end) {
    return atomic_load(&rc_of(qp_of(end->qp))->own->direct);
}

static int count_direct(const struct end *ends) {
    int count = 0;
    for (int i = 0; i < MANY; i++) {
        count += direct_of(&ends[i]) == BOTH;
    }
    return count;
}

/* Returns the number of ticks that announce its requests. */
static uint32_t ticks_of(const struct end *sender) {
    const struct announcement *to = &rc_of(qp_of(sender->qp))->to_recv_cq;
    return atomic_load(&own_notify_area->tick[to->bank][to->slot]);
}

static void talk(struct end *from, struct end *to, uint64_t id) {
    CHECK_EQ(post_recv(to, id, 0, 64), 0);
    CHECK_EQ(post_send(from, id, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(to->recv_cq, id, IBV_WC_SUCCESS);
    expect_wc(from->send_cq, id, IBV_WC_SUCCESS);
}

static void messages_to_who_polls_need_no_ticks(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    await_introductions(&a, &b);
    hold_engine();
    talk(&a, &b, 0);
    CHECK_EQ(direct_of(&b), BOTH);
    uint32_t ticks = ticks_of(&a);
    for (uint64_t i = 1; i < 100; i++) {
        talk(&a, &b, i);
    }
    CHECK_EQ(ticks_of(&a), ticks);
    release_engine();
    pair_close(&a, &b);
}

static void each_completion_queue_looks_for_its_own(void) {
    struct end a, b;
    struct options options = defaults;
    options.separate_cqs = true;
    pair_open(&a, &b, &options);
    await_introductions(&a, &b);
    hold_engine();
    talk(&a, &b, 0);
    CHECK_EQ(direct_of(&b), WIRE_DIRECT_REQUESTS);
    CHECK_EQ(direct_of(&a), WIRE_DIRECT_RESULTS);
    talk(&b, &a, 1);
    CHECK_EQ(direct_of(&b), BOTH);
    CHECK_EQ(direct_of(&a), BOTH);
    release_engine();
    pair_close(&a, &b);
}

static void those_without_work_make_room_for_others(void) {
    struct end a[MANY], b[MANY];
    struct ibv_wc wc;
    open_many(a, b);
    hold_engine();
    for (int i = 0; i < MANY; i++) {
        talk(&a[i], &b[i], (uint64_t) i);
    }
    CHECK_EQ(count_direct(b), CQ_DIRECT);
    int last = MANY - 1;
    CHECK_EQ(direct_of(&b[last]), 0);
    for (unsigned polls = 0; polls < atomic_load(&cq_cold_polls); polls++) {
        CHECK_EQ(b[0].context->ops.poll_cq(b[0].recv_cq, 1, &wc), 0);
    }
    talk(&a[last], &b[last], 0);
    CHECK_EQ(direct_of(&b[last]), BOTH);
    CHECK_EQ(count_direct(b), CQ_DIRECT);
    for (int i = 0; i < MANY; i++) {
        talk(&a[i], &b[i], (uint64_t) i);
    }
    release_engine();
    close_many(a, b);
}

/* ---- while that changes all the time ---- */

static struct end *senders, *receivers;

/* Sends to some ends at a time, and waits until all has arrived: the next ones are published while others make room. */
static void *send_bursts(void *unused) {
    (void) unused;
    uint32_t random = 1, sent = 0;
    for (uint32_t bursts = rounds(5000, 500); bursts > 0; bursts--) {
        int burst = 0;
        for (int i = 0; i < MANY; i++) {
            random = random * 1664525u + 1013904223u;
            if (random >> 30 == 0) {
                CHECK_EQ(post_recv(&receivers[i], 0, 0, 64), 0);
                CHECK_EQ(post_send(&senders[i], 0, IBV_WR_SEND, 0, 0, 64), 0);
                burst++;
            }
        }
        for (int i = 0; i < burst; i++) {
            expect_wc(senders[0].send_cq, 0, IBV_WC_SUCCESS);
        }
        sent += (uint32_t) burst;
    }
    return (void *) (uintptr_t) sent;
}

static void nothing_is_overlooked_while_that_changes(void) {
    struct end a[MANY], b[MANY];
    open_many(a, b);
    senders = a;
    receivers = b;
    hold_engine();
    atomic_store(&watch_suspended, true);
    atomic_store(&cq_overdue_suspended, true);
    unsigned cold_polls = atomic_exchange(&cq_cold_polls, 0);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, send_bursts, NULL), 0);
    void *sent;
    struct ibv_wc wc[8];
    uint64_t received = 0;
    int error;
    while ((error = pthread_tryjoin_np(thread, &sent)) == EBUSY) {
        for (int i = 0; i < 1000; i++) {
            int n = b[0].context->ops.poll_cq(b[0].recv_cq, 8, wc);
            CHECK(n >= 0);
            received += (uint64_t) n;
        }
    }
    CHECK_EQ(error, 0);
    CHECK_EQ(received, (uintptr_t) sent);
    atomic_store(&cq_cold_polls, cold_polls);
    atomic_store(&cq_overdue_suspended, false);
    atomic_store(&watch_suspended, false);
    release_engine();
    close_many(a, b);
}

/* ---- who does not poll any more ---- */

/* Opens a pair that can be armed, whose polls look at messages to `b`, with the engine at rest. */
static void open_with_channel(struct end *a, struct end *b) {
    struct options options = with_channel();
    pair_open_nonblocking(a, b, &options);
    await_introductions(a, b);
    hold_engine();
    talk(a, b, 0);
}

static void the_engine_looks_for_who_sleeps(void) {
    struct end a, b;
    open_with_channel(&a, &b);
    struct address to = end_address(&b);
    CHECK_EQ(direct_of(&b), WIRE_DIRECT_REQUESTS);
    atomic_store(&watch_suspended, true);
    CHECK_EQ(arm(b.recv_cq, 0), 0);
    release_engine();
    for (uint64_t i = 1; i < 100; i++) {
        CHECK_EQ(post_rdma(&a, i, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    CHECK_EQ(post_recv(&b, 7, 0, 64), 0);
    CHECK_EQ(post_send(&a, 100, IBV_WR_SEND, 0, 0, 64), 0);
    expect_event(&b, b.recv_cq);
    expect_wc(b.recv_cq, 7, IBV_WC_SUCCESS);
    atomic_store(&watch_suspended, false);
    pair_close(&a, &b);
}

static void arming_finds_what_came_after_the_last_poll(void) {
    struct end a, b;
    open_with_channel(&a, &b);
    for (uint64_t i = 1; i < 100; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 64), 0);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 64), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        struct ibv_wc wc;
        CHECK_EQ(b.context->ops.poll_cq(b.recv_cq, 1, &wc), 1);
        CHECK_EQ(wc.wr_id, i);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    release_engine();
    pair_close(&a, &b);
}

static void a_queue_pair_that_is_reset_needs_ticks_again(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    await_introductions(&a, &b);
    hold_engine();
    talk(&a, &b, 0);
    const struct wire_control *control = rc_of(qp_of(b.qp))->own;
    CHECK_EQ(atomic_load(&control->direct), BOTH);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
    release_engine();
    CHECK_EQ(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE), 0);
    CHECK_EQ(atomic_load(&control->direct), 0);
    pair_close(&a, &b);
}

/* ---- a peer that takes nothing ---- */

/* Returns how many calls say that the peer is awaited, before one says that it is not. */
static unsigned count_looks(const struct end *end) {
    unsigned looks = 0;
    while (looks <= QP_MAX_LOOKS && embedded_ext_peer_is(end->recv_cq, EXT_PEER_LATE)) {
        looks++;
    }
    return looks;
}

/* Opens a pair whose polls look at both directions, with the engine at rest. */
static void open_direct(struct end *a, struct end *b) {
    pair_open(a, b, &defaults);
    await_introductions(a, b);
    hold_engine();
    talk(a, b, 0);
    talk(b, a, 1);
}

static void a_peer_that_has_not_taken_a_message_is_awaited_but_not_for_ever(void) {
    struct end a, b;
    open_direct(&a, &b);
    CHECK_EQ(direct_of(&a), BOTH);
    CHECK_EQ(count_looks(&a), 0);
    for (uint64_t i = 2; i < 5; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 64), 0);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 64), 0);
        unsigned looks = count_looks(&a);
        CHECK(looks >= QP_MAX_LOOKS / 2 && looks <= QP_MAX_LOOKS);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
        CHECK_EQ(count_looks(&a), 0);
    }
    CHECK_EQ(count_looks(&b), 0);
    release_engine();
    pair_close(&a, &b);
}

static void a_peer_without_a_receive_is_not_awaited(void) {
    struct end a, b;
    open_direct(&a, &b);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 64), 0);
    struct ibv_wc wc;
    CHECK_EQ(b.context->ops.poll_cq(b.recv_cq, 1, &wc), 0);
    CHECK_EQ(a.context->ops.poll_cq(a.recv_cq, 1, &wc), 0);
    CHECK_EQ(count_looks(&a), 0);
    CHECK_EQ(post_recv(&b, 2, 0, 64), 0);
    release_engine();
    expect_wc(b.recv_cq, 2, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void a_peer_that_has_armed_its_queue_is_not_awake(void) {
    struct end a, b;
    open_with_channel(&a, &b);
    talk(&b, &a, 1);
    CHECK(embedded_ext_peer_is(a.recv_cq, EXT_PEER_AWAKE));
    CHECK_EQ(arm(b.recv_cq, 0), 0);
    CHECK(!embedded_ext_peer_is(a.recv_cq, EXT_PEER_AWAKE));
    CHECK(embedded_ext_peer_is(b.recv_cq, EXT_PEER_AWAKE));
    CHECK_EQ(post_recv(&b, 2, 0, 64), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(b.recv_cq, 2, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    CHECK(embedded_ext_peer_is(a.recv_cq, EXT_PEER_AWAKE));
    release_engine();
    pair_close(&a, &b);
}

int main(void) {
    RUN(messages_to_who_polls_need_no_ticks);
    RUN(each_completion_queue_looks_for_its_own);
    RUN(those_without_work_make_room_for_others);
    RUN(nothing_is_overlooked_while_that_changes);
    RUN(the_engine_looks_for_who_sleeps);
    RUN(arming_finds_what_came_after_the_last_poll);
    RUN(a_queue_pair_that_is_reset_needs_ticks_again);
    RUN(a_peer_that_has_not_taken_a_message_is_awaited_but_not_for_ever);
    RUN(a_peer_without_a_receive_is_not_awaited);
    RUN(a_peer_that_has_armed_its_queue_is_not_awake);
    return 0;
}
