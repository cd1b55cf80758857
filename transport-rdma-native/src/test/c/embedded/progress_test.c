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
 * Progress, and how much of it at a time: owners that are said to poll and do not, and queue pairs that have much to do
 * beside others. The rounds of the engine, which would help in the end, are suspended.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "channel_support.h"
#include "embedded/device/watch.h"
#include "qp_inside.h"

/*
 * Marks the queue as polled while the engine is at rest: an engine that was about to work for it would do so once more.
 */
static void believe(struct ibv_cq *cq) {
    hold_engine();
    poll_until_believed(cq);
    release_engine();
}

static void open_pair(struct end *a, struct end *b, const struct options *options) {
    pair_open(a, b, options);
    await_introductions(a, b);
}

/* The rounds of the engine do not help. */
static void open_unwatched(struct end *a, struct end *b) {
    open_pair(a, b, &defaults);
    atomic_store(&watch_suspended, true);
}

static void close_unwatched(struct end *a, struct end *b) {
    atomic_store(&watch_suspended, false);
    pair_close(a, b);
}

/* ---- an owner that is said to poll, and does not ---- */

static void post_one_sided(struct end *end, const struct address *to) {
    CHECK_EQ(post_rdma(end, 1, IBV_WR_RDMA_WRITE, 0, 0, 100000, to, 0), 0);
    CHECK_EQ(post_rdma(end, 2, IBV_WR_RDMA_READ, 0, 0, PAIR_BUFFER, to, 0), 0);
    CHECK_EQ(post_atomic(end, 3, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, to, 8, 1, 0), 0);
    CHECK_EQ(post_send(end, 4, IBV_WR_SEND, 0, 0, 100), 0);
}

static void a_requester_that_polls_does_not_need_the_owner(void) {
    struct end a, b;
    open_unwatched(&a, &b);
    struct address to = end_address(&b);
    CHECK_EQ(post_recv(&b, 7, 0, 100), 0);
    believe(b.recv_cq);
    poll_until_believed(a.send_cq);
    post_one_sided(&a, &to);
    for (uint64_t i = 1; i <= 4; i++) {
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    expect_wc(b.recv_cq, 7, IBV_WC_SUCCESS);
    close_unwatched(&a, &b);
}

static void a_requester_that_sleeps_does_not_need_the_owner(void) {
    struct end a, b;
    struct options options = with_channel();
    options.send_wr = 64;
    pair_open_nonblocking(&a, &b, &options);
    await_introductions(&a, &b);
    struct address to = end_address(&b);
    CHECK_EQ(post_recv(&b, 7, 0, 100), 0);
    atomic_store(&watch_suspended, true);
    for (int armed_first = 0; armed_first < 2; armed_first++) {
        believe(b.recv_cq);
        if (armed_first) {
            CHECK_EQ(arm(a.send_cq, 0), 0);
        } else {
            poll_until_believed(a.send_cq);
        }
        CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, 0, PAIR_BUFFER, &to, 0), 0);
        if (!armed_first) {
            CHECK_EQ(arm(a.send_cq, 0), 0);
        }
        expect_event(&a, a.send_cq);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    }
    close_unwatched(&a, &b);
}

static void read_once(struct end *end, const struct address *from) {
    CHECK_EQ(post_rdma(end, 1, IBV_WR_RDMA_READ, 0, 0, 8, from, 0), 0);
    expect_wc(end->send_cq, 1, IBV_WC_SUCCESS);
}

/* The first one is a hold-up, the second one without a poll between is a program that does not poll. */
static void read_twice(struct end *end, const struct address *from) {
    read_once(end, from);
    read_once(end, from);
}

/* Waits like a program that looks at its memory. */
static void wait_for_byte(const struct end *end, size_t offset, char value) {
    CHECK_EVENTUALLY(__atomic_load_n(end->buffer + offset, __ATOMIC_ACQUIRE) == value);
}

static void an_answer_gets_to_memory_that_is_looked_at(void) {
    struct end a, b;
    open_unwatched(&a, &b);
    struct address to = end_address(&b);
    memset(b.buffer, 5, PAIR_BUFFER);
    believe(b.recv_cq); /* an owner that says it polls, a requester that does not */
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, 0, PAIR_BUFFER, &to, 0), 0);
    wait_for_byte(&a, PAIR_BUFFER - 1, 5);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    read_twice(&a, &to);
    CHECK_EVENTUALLY(!cq_is_polled(cq_of(b.recv_cq)));
    memset(b.buffer, 6, PAIR_BUFFER);
    poll_until_believed(a.send_cq); /* and the other way round */
    CHECK_EQ(post_rdma(&a, 3, IBV_WR_RDMA_READ, 0, 0, PAIR_BUFFER, &to, 0), 0);
    wait_for_byte(&a, PAIR_BUFFER - 1, 6);
    expect_wc(a.send_cq, 3, IBV_WC_SUCCESS);
    close_unwatched(&a, &b);
}

/* The sender waits for room in the middle of the message, and the receiver makes it. */
static void what_was_posted_goes_on_though_the_sender_computes(void) {
    struct end a, b;
    open_unwatched(&a, &b);
    struct address to = end_address(&b);
    memset(a.buffer, 5, PAIR_BUFFER);
    poll_until_believed(a.send_cq);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, PAIR_BUFFER, &to, 0), 0);
    wait_for_byte(&b, PAIR_BUFFER - 1, 5);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    close_unwatched(&a, &b);
}

/*
 * Both ends are said to poll, and neither does: one posts and computes, or waits for what it has asked for in memory.
 */
static void what_was_posted_goes_on_though_no_end_polls(void) {
    struct end a, b;
    open_unwatched(&a, &b);
    struct address to = end_address(&b);
    for (char value = 1; value <= 4; value++) {
        believe(b.recv_cq);
        poll_until_believed(a.send_cq);
        memset(a.buffer, value, PAIR_BUFFER);
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, PAIR_BUFFER, &to, 0), 0);
        wait_for_byte(&b, PAIR_BUFFER - 1, value);
        memset(b.buffer, -value, PAIR_BUFFER);
        CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, 0, PAIR_BUFFER, &to, 0), 0);
        wait_for_byte(&a, PAIR_BUFFER - 1, (char) -value);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    }
    close_unwatched(&a, &b);
}

/* ---- who is believed to poll ---- */

static void polls_now_and_then_are_not_believed(void) {
    struct end a, b;
    struct ibv_wc wc;
    open_pair(&a, &b, &defaults);
    for (int i = 0; i < 400; i++) {
        CHECK_EQ(b.context->ops.poll_cq(b.recv_cq, 1, &wc), 0);
        CHECK(!cq_is_polled(cq_of(b.recv_cq)));
        usleep(200); /* sleep of the program: nothing is waited for */
    }
    pair_close(&a, &b);
}

static void poll_in_vain(const struct end *end, int times) {
    struct ibv_wc wc;
    for (int i = 0; i < times; i++) {
        CHECK_EQ(end->context->ops.poll_cq(end->recv_cq, 1, &wc), 0);
    }
}

static uint32_t nudges(const struct end *a, const struct end *b) {
    uint32_t sum = 0;
    for (int i = 0; i < 2; i++) {
        struct qp *qp = qp_of((i == 0 ? a : b)->qp);
        qp_lock(qp);
        sum += rc_of(qp)->nudges;
        qp_unlock(qp);
    }
    return sum;
}

static void who_was_believed_in_error_has_to_poll_longer(void) {
    struct end a, b;
    open_unwatched(&a, &b);
    struct address to = end_address(&b);
    struct cq_polling *polling = &cq_of(b.recv_cq)->polling;
    uint32_t first = atomic_load(&polling->needed);
    for (uint32_t i = 1; i <= 4; i++) {
        believe(b.recv_cq);
        read_twice(&a, &to);
        CHECK_EVENTUALLY(atomic_load(&polling->needed) == first << i);
    }
    believe(b.recv_cq);
    poll_in_vain(&b, 10000);
    read_twice(&a, &to);
    CHECK_EVENTUALLY(atomic_load(&polling->needed) == first); /* the mark was right for long */
    close_unwatched(&a, &b);
}

/* The engine works for it once, and is through with that when it rests. */
static void need_the_engine(struct end *a, const struct address *to) {
    read_once(a, to);
    hold_engine();
    release_engine();
}

/* Polls like ib_write_lat: it looks at its memory, then posts, and polls until that is complete. */
static void who_polls_for_what_it_posted_only_is_rung_at_once(void) {
    struct end a, b;
    open_unwatched(&a, &b);
    struct address to = end_address(&b);
    believe(b.recv_cq);
    need_the_engine(&a, &to);
    CHECK(cq_is_polled(cq_of(b.recv_cq)));
    poll_in_vain(&b, 500);
    need_the_engine(&a, &to);
    CHECK(!cq_is_polled(cq_of(b.recv_cq)));
    uint32_t before = nudges(&a, &b);
    atomic_store(&cq_overdue_suspended, true);
    for (int i = 0; i < 10; i++) {
        read_once(&a, &to);
    }
    atomic_store(&cq_overdue_suspended, false);
    CHECK_EQ(nudges(&a, &b), before);
    close_unwatched(&a, &b);
}

static void who_polls_and_is_delayed_now_and_then_is_believed(void) {
    struct end a, b;
    open_unwatched(&a, &b);
    struct address to = end_address(&b);
    believe(b.recv_cq);
    for (uint32_t i = 1; i <= 4; i++) {
        need_the_engine(&a, &to);
        CHECK(nudges(&a, &b) >= i);
        CHECK(cq_is_polled(cq_of(b.recv_cq)));
        poll_in_vain(&b, 10000);
    }
    close_unwatched(&a, &b);
}

static atomic_bool stop_polling;

static void *poll_all_the_time(void *argument) {
    struct end *end = argument;
    struct ibv_wc wc;
    while (!atomic_load(&stop_polling)) {
        CHECK_EQ(end->context->ops.poll_cq(end->recv_cq, 1, &wc), 0);
    }
    return NULL;
}

/* A READ that takes less than anybody's patience needs no help: each nudge has a slow one. */
static void who_polls_is_not_nudged(void) {
    enum { READS_IN_TURN = 2000 };
    struct end a, b;
    open_pair(&a, &b, &defaults);
    struct address to = end_address(&b);
    atomic_store(&stop_polling, false);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, poll_all_the_time, &b), 0);
    uint32_t slow = 0;
    for (int i = 0; i < READS_IN_TURN; i++) {
        uint64_t start = now_ns();
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_READ, 0, 0, 64, &to, 0), 0);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        slow += now_ns() - start >= QP_PATIENCE_NS;
    }
    atomic_store(&stop_polling, true);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    uint32_t sent = nudges(&a, &b);
    printf("    %u nudges, %u slow READs of %d\n", sent, slow, READS_IN_TURN);
    CHECK(sent <= 2 * (slow + 1)); /* one of each end, and the last acknowledgement is not waited for */
    pair_close(&a, &b);
}

/* Only a thread that polls has a use for messages, and its receives must not run out while it is held up. */
static void messages_wait_for_who_polls(void) {
    struct end a, b;
    open_unwatched(&a, &b);
    poll_until_believed(b.recv_cq);
    for (uint64_t i = 0; i < 8; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 64), 0);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 64), 0);
    }
    struct ibv_wc wc;
    for (uint64_t end = now_ns() + 5 * QP_PATIENCE_NS; now_ns() < end;) {
        CHECK_EQ(a.context->ops.poll_cq(a.send_cq, 1, &wc), 0);
    }
    CHECK_EQ(nudges(&a, &b), 0);
    CHECK(cq_is_polled(cq_of(b.recv_cq)));
    for (uint64_t i = 0; i < 8; i++) {
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
    }
    for (uint64_t i = 0; i < 8; i++) {
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    close_unwatched(&a, &b);
}

/* Sends many messages, and takes them with few polls, each followed by work. Returns the number of polls. */
static unsigned take_many(struct end *a, struct end *b) {
    enum { MANY = 64 };
    struct ibv_wc wc[MANY];
    unsigned polls = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        CHECK_EQ(post_recv(b, i, 0, 64), 0);
        CHECK_EQ(post_send(a, i, IBV_WR_SEND, 0, 0, 64), 0);
    }
    for (int taken = 0; taken < MANY; polls++) {
        int count = b->context->ops.poll_cq(b->recv_cq, MANY, wc);
        CHECK(count >= 0);
        taken += count;
        for (uint64_t end = now_ns() + 20000; now_ns() < end;) { /* longer than between quick polls that take nothing */
        }
    }
    for (int taken = 0; taken < MANY;) {
        taken += a->context->ops.poll_cq(a->send_cq, MANY, wc);
    }
    return polls;
}

/* A thread that has long to do with what it took comes back: its peers need not wake the engine meanwhile. */
static void who_takes_many_completions_at_a_time_is_believed(void) {
    struct end a, b;
    open_unwatched(&a, &b);
    hold_engine();
    struct cq *cq = cq_of(b.recv_cq);
    for (int tries = 0; !cq_is_polled(cq); tries++) {
        CHECK(tries < 10000);
        take_many(&a, &b);
    }
    cq_rest(cq); /* notes what was until here */
    CHECK(take_many(&a, &b) < 16);
    CHECK(!cq_rest(cq) && cq_is_polled(cq));
    CHECK(cq_rest(cq) && !cq_is_polled(cq));
    release_engine();
    close_unwatched(&a, &b);
}

/* ---- how much at a time: all by polls, in an order that the test decides ---- */

#define HEAVY 4
#define READS 4
#define CHUNKS_PER_READ (PAIR_BUFFER / WIRE_CHUNK)

/* Limit of pieces that one call may do for a queue pair. */
#define CHUNKS_PER_CALL (QP_BUDGET_BYTES / WIRE_CHUNK + 1)

static int poll_once(const struct end *end, struct ibv_wc *wc) {
    return end->context->ops.poll_cq(end->recv_cq, 1, wc);
}

/* Takes answers as fast as they come, without looking at them: the requesters' gates are the test's. */
static struct end *requesters;
static atomic_bool stop_taking;
static atomic_uint taker_turns;

static void take_answers_of(struct qp *qp, uint32_t *count) {
    const struct wire_slot *ring = rc_of(qp)->attached->segment->response;
    uint32_t before = *count;
    while (atomic_load(&ring[*count % WIRE_RESPONSE_SLOTS].desc.sequence) == *count + 1) {
        ++*count;
    }
    if (*count != before) {
        atomic_store(&rc_of(qp)->own->stream[WIRE_RESPONSES].ack, WIRE_ACK_WORD(*count, WIRE_OK));
        process_hint(&rc_of(qp)->to_recv_cq);
    }
}

static void *take_answers(void *unused) {
    (void) unused;
    uint32_t count[HEAVY] = { 0 };
    while (!atomic_load(&stop_taking)) {
        for (int i = 0; i < HEAVY; i++) {
            take_answers_of(qp_of(requesters[i].qp), &count[i]);
        }
        atomic_fetch_add(&taker_turns, 1);
    }
    return NULL;
}

/*
 * Waits until the taker has a processor: one that waits for that would take nothing during a poll, which then is short
 * in any case.
 */
static void await_taker(void) {
    unsigned before = atomic_load(&taker_turns);
    CHECK_EVENTUALLY(atomic_load(&taker_turns) - before >= 2);
}

static uint32_t answers_made(const struct end *owners) {
    uint32_t sum = 0;
    for (int i = 0; i < HEAVY; i++) {
        sum += rc_of(qp_of(owners[i].qp))->answers.prod;
    }
    return sum;
}

/* The nth of the requesters on a, the nth of the owners on b; the last ones have little to do. */
static void open_many(struct end *a, struct end *b) {
    end_open(&a[0], &defaults);
    end_open(&b[0], &defaults);
    for (int i = 0; i <= HEAVY; i++) {
        if (i > 0) {
            end_open_on(&a[i], &a[0], &defaults);
            end_open_on(&b[i], &b[0], &defaults);
        }
        end_connect(&a[i], b[i].qp->qp_num);
        end_connect(&b[i], a[i].qp->qp_num);
        await_introductions(&a[i], &b[i]);
    }
}

/* The requesters' streams are not what they think, so that they must not go on. */
static void close_many(struct end *a, struct end *b) {
    for (int i = 0; i < HEAVY; i++) {
        while (gate_leave(&qp_of(a[i].qp)->gate) != 0) {
        }
    }
    for (int i = HEAVY; i > 0; i--) {
        CHECK_EQ(ibv_destroy_qp(a[i].qp), 0);
        CHECK_EQ(ibv_destroy_qp(b[i].qp), 0);
    }
    pair_close(&a[0], &b[0]);
}

static void read_beside_messages(void) {
    struct end a[HEAVY + 1], b[HEAVY + 1];
    struct ibv_wc wc;
    open_many(a, b);
    hold_engine();
    struct address to = end_address(&b[0]);
    for (int i = 0; i < HEAVY; i++) {
        for (uint64_t n = 0; n < READS; n++) {
            CHECK_EQ(post_rdma(&a[i], n, IBV_WR_RDMA_READ, 0, 0, PAIR_BUFFER, &to, 0), 0);
        }
        qp_lock(qp_of(a[i].qp));
    }
    requesters = a;
    atomic_store(&stop_taking, false);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, take_answers, NULL), 0);
    await_taker();
    poll_once(&b[0], &wc); /* each has its first turn */
    CHECK(answers_made(b) <= (HEAVY + 1) * CHUNKS_PER_CALL);
    uint32_t before = answers_made(b), polls = 0;
    for (uint64_t i = 0; i < 100; i++) {
        CHECK_EQ(post_recv(&b[HEAVY], i, 0, 64), 0);
        CHECK_EQ(post_send(&a[HEAVY], i, IBV_WR_SEND, 0, 0, 64), 0);
        int more = 2;
        for (; poll_once(&b[0], &wc) == 0; polls++) {
            CHECK(--more > 0);
        }
        polls++;
        CHECK_EQ(wc.wr_id, i);
        expect_wc(a[HEAVY].send_cq, i, IBV_WC_SUCCESS);
    }
    CHECK(polls <= 200);
    /* A call for one of them a poll, and another one where a READ began. */
    CHECK(answers_made(b) - before <= (polls + HEAVY * READS) * CHUNKS_PER_CALL);
    uint64_t end = patience_end_ns();
    while (answers_made(b) < HEAVY * READS * CHUNKS_PER_READ) { /* the rest, by polls alone */
        CHECK(now_ns() < end);
        CHECK_EQ(poll_once(&b[0], &wc), 0);
        sched_yield();
    }
    atomic_store(&stop_taking, true);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    release_engine();
    close_many(a, b);
}

/* Repeated, as on a busy machine nobody may take answers during the poll that makes most of them. */
static void long_reads_do_not_hold_up_the_messages_of_others(void) {
    for (int round = 0; round < 4; round++) {
        read_beside_messages();
    }
}

static void queue_pairs_with_much_to_do_take_turns(void) {
    struct end a[HEAVY + 1], b[HEAVY + 1];
    struct ibv_wc wc;
    open_many(a, b);
    hold_engine();
    struct address to = end_address(&b[0]);
    for (int i = 0; i < HEAVY; i++) {
        CHECK_EQ(post_rdma(&a[i], 1, IBV_WR_RDMA_READ, 0, 0, PAIR_BUFFER, &to, 0), 0);
        qp_lock(qp_of(a[i].qp));
    }
    uint32_t taken[HEAVY] = { 0 };
    poll_once(&b[0], &wc);
    for (unsigned turn = 0; turn < PAIR_BUFFER / QP_BUDGET_BYTES; turn++) {
        uint32_t before[HEAVY];
        for (int i = 0; i < HEAVY; i++) {
            take_answers_of(qp_of(a[i].qp), &taken[i]);
            before[i] = rc_of(qp_of(b[i].qp))->answers.prod;
        }
        for (int i = 0; i < 2 * HEAVY; i++) { /* some only find out who may go on */
            poll_once(&b[0], &wc);
        }
        for (int i = 0; i < HEAVY; i++) {
            CHECK(rc_of(qp_of(b[i].qp))->answers.prod > before[i]);
        }
    }
    release_engine();
    close_many(a, b);
}

/* Each poll does a part, in each direction and whatever the operation. */
static void a_poll_does_a_bounded_part(void) {
    struct end a, b;
    struct ibv_wc wc;
    open_pair(&a, &b, &defaults);
    hold_engine();
    struct address to = end_address(&b);
    struct qp *requester = qp_of(a.qp), *owner = qp_of(b.qp);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_READ, 0, 0, PAIR_BUFFER, &to, 0), 0);
    CHECK_EQ(poll_once(&b, &wc), 0);
    CHECK(rc_of(owner)->answers.prod > 0);
    CHECK(rc_of(owner)->answers.prod <= CHUNKS_PER_CALL);
    struct producer *answers = &rc_of(owner)->answers;
    while (producer_slot(answers) != NULL && answers->prod < WIRE_RESPONSE_SLAB / WIRE_CHUNK) {
        CHECK_EQ(poll_once(&b, &wc), 0);
    }
    CHECK_EQ(poll_once(&a, &wc), 0);
    CHECK(consumer_pos(&requester->responses) > 0);
    CHECK(consumer_pos(&requester->responses) <= CHUNKS_PER_CALL);
    for (uint32_t polls = 0; poll_once(&a, &wc) == 0; polls++) {
        CHECK(polls < 1u << 20);
        CHECK_EQ(poll_once(&b, &wc), 0);
    }
    CHECK_EQ(wc.wr_id, 1);

    uint32_t sent = rc_of(requester)->out.prod, executed = consumer_pos(&owner->requests);
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_WRITE, 0, 0, PAIR_BUFFER, &to, 0), 0);
    sent = rc_of(requester)->out.prod;
    CHECK_EQ(poll_once(&b, &wc), 0);
    CHECK(consumer_pos(&owner->requests) > executed);
    CHECK(consumer_pos(&owner->requests) - executed <= CHUNKS_PER_CALL);
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(poll_once(&b, &wc), 0); /* now all is free again */
    }
    CHECK_EQ(poll_once(&a, &wc), 0);
    CHECK(rc_of(requester)->out.prod > sent);
    CHECK(rc_of(requester)->out.prod - sent <= CHUNKS_PER_CALL);
    for (uint32_t polls = 0; poll_once(&a, &wc) == 0; polls++) {
        CHECK(polls < 1u << 20);
        CHECK_EQ(poll_once(&b, &wc), 0);
    }
    CHECK_EQ(wc.wr_id, 2);
    release_engine();
    pair_close(&a, &b);
}

int main(void) {
    RUN(a_requester_that_polls_does_not_need_the_owner);
    RUN(a_requester_that_sleeps_does_not_need_the_owner);
    RUN(an_answer_gets_to_memory_that_is_looked_at);
    RUN(what_was_posted_goes_on_though_the_sender_computes);
    RUN(what_was_posted_goes_on_though_no_end_polls);
    RUN(polls_now_and_then_are_not_believed);
    RUN(who_was_believed_in_error_has_to_poll_longer);
    RUN(who_polls_for_what_it_posted_only_is_rung_at_once);
    RUN(who_polls_and_is_delayed_now_and_then_is_believed);
    RUN(who_polls_is_not_nudged);
    RUN(messages_wait_for_who_polls);
    RUN(who_takes_many_completions_at_a_time_is_believed);
    RUN(long_reads_do_not_hold_up_the_messages_of_others);
    RUN(queue_pairs_with_much_to_do_take_turns);
    RUN(a_poll_does_a_bounded_part);
    return 0;
}
