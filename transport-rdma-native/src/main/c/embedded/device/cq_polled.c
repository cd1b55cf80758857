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
 * Publishes to peers, by a word in the notify area, whether a thread polls a completion queue. A few polls in quick
 * succession are enough to mark the queue as polled. Otherwise the engine would work beside the polling thread, take
 * its processor, and make completions faster than the thread takes them and posts receives. Polls that are far apart do
 * not count. A program that polls only a few times after each message makes its peers wait for the rest of the time. So
 * after a wrong mark more polls are needed for the next one.
 *
 * Peers tell this process that the mark is wrong, and a hostile one may lie: it publishes work without a tick for the
 * polling thread, so that the engine has to do the work. Then the other peers of the completion queue wake the engine
 * until the thread has made the polls that are needed, for some milliseconds at most each time. A peer that floods
 * the thread with messages delays the others more.
 */
#include "cq.h"
#include "watch.h"

/*
 * Limit of the time between quick polls. Each completion that the first of two polls took after its first adds as much.
 */
#define QUICK_NS UINT64_C(10000)

#define MIN_NEEDED 4u
#define MAX_NEEDED (1u << 16) /* takes some milliseconds: one wrong mark in that time costs next to nothing */

/*
 * Number of polls after which a mark counts as right. A thread that polls all the time makes more polls between two
 * delays. A program that waits by reading its memory, and polls only for the completion of its next request
 * (ib_write_lat), makes fewer.
 */
#define LASTING 4096u

/*
 * Number of polls or completions in a round of the engine (2 ms) below which the polling counts as stopped. Completions
 * count as well, because a thread that takes many at a time, and needs a millisecond for them, will poll again.
 */
#define MIN_PER_ROUND 64u

void cq_polling_init(struct cq *cq) {
    struct cq_polling *polling = &cq->polling;
    polling->polls = &own_notify_area->polls[cq->index].polls;
    uint32_t polls = atomic_load(polling->polls);
    atomic_init(&polling->quick_since, polls);
    atomic_init(&polling->notified_at, polls);
    atomic_init(&polling->needed, MIN_NEEDED);
    atomic_init(&polling->first_round_ns, WATCH_ROUND_NS);
    polling->work_at_round = polls;
    polling->polls_at_nudge = polls - LASTING;
}

/* Marks the queue as polled: peers ring no doorbell, as long as cq_rest() finds that the polls go on. */
static void mark_polled(struct cq *cq, uint64_t word, uint32_t polls) {
    if (atomic_compare_exchange_strong(cq->word, &word, NOTIFY_CQ_SAME(word, NOTIFY_CQ_POLLED))) {
        atomic_store_explicit(&cq->polling.notified_at, polls, memory_order_relaxed);
        watch_cq(cq);
    }
}

void cq_mark_if_lasting(struct cq *cq, uint64_t word) {
    struct cq_polling *polling = &cq->polling;
    uint64_t now = engine_now_ns();
    uint32_t polls = atomic_load_explicit(polling->polls, memory_order_relaxed);
    uint64_t before = atomic_load_explicit(&polling->polled_ns, memory_order_relaxed);
    atomic_store_explicit(&polling->polled_ns, now, memory_order_relaxed);
    uint32_t taken = atomic_load_explicit(&polling->taken, memory_order_relaxed);
    uint32_t batch = taken - atomic_load_explicit(&polling->taken_before, memory_order_relaxed);
    atomic_store_explicit(&polling->taken_before, taken, memory_order_relaxed);
    if (now - before > QUICK_NS * (1 + (uint64_t) batch)) {
        atomic_store_explicit(&polling->quick_since, polls, memory_order_relaxed);
    } else if (polls - atomic_load_explicit(&polling->quick_since, memory_order_relaxed)
            >= atomic_load_explicit(&polling->needed, memory_order_relaxed)) {
        mark_polled(cq, word, polls);
    }
}

/* Removes the mark. Returns false if there was none. */
static bool mark_unpolled(struct cq *cq) {
    struct cq_polling *polling = &cq->polling;
    uint64_t word = atomic_load(cq->word);
    atomic_store_explicit(&polling->quick_since, atomic_load_explicit(polling->polls, memory_order_relaxed),
                          memory_order_relaxed);
    if (!cq_is_polled(cq) || !atomic_compare_exchange_strong(cq->word, &word, NOTIFY_CQ_SAME(word, NOTIFY_CQ_IDLE))) {
        return false;
    }
    cq_overdue_to_engine(cq);
    return true;
}

void cq_was_nudged(struct cq *cq) {
    struct cq_polling *polling = &cq->polling;
    uint32_t polls = atomic_load_explicit(polling->polls, memory_order_relaxed);
    uint32_t lasted = polls - atomic_load_explicit(&polling->notified_at, memory_order_relaxed);
    bool again = polls - polling->polls_at_nudge < LASTING;
    polling->polls_at_nudge = polls;
    if (!again || !mark_unpolled(cq)) {
        return;
    }
    uint32_t needed = atomic_load_explicit(&polling->needed, memory_order_relaxed);
    needed = lasted >= LASTING ? MIN_NEEDED : needed < MAX_NEEDED ? needed * 2 : MAX_NEEDED;
    atomic_store_explicit(&polling->needed, needed, memory_order_relaxed);
    cq_engine_ring(); /* other peers may have published work without a doorbell */
}

void cq_end_polling(struct cq *cq) {
    cq_ring_deferred(cq);
    mark_unpolled(cq);
    if (cq_scan(cq)) {
        cq_engine_ring(); /* a single look may not do all work */
    }
}

/*
 * Each round wakes the engine, which costs as much as a message. A thread that sleeps between messages arms the
 * completion queue each time, which removes the mark. If a round finds the mark removed, the first round after the next
 * mark comes later.
 */
bool cq_rest(struct cq *cq) {
    struct cq_polling *polling = &cq->polling;
    uint32_t polls = atomic_load_explicit(polling->polls, memory_order_relaxed);
    uint32_t work = polls + atomic_load_explicit(&polling->taken, memory_order_relaxed);
    uint32_t recently = work - polling->work_at_round;
    polling->work_at_round = work;
    if (!cq_is_polled(cq)) {
        uint64_t gap = atomic_load_explicit(&polling->first_round_ns, memory_order_relaxed) * 2;
        atomic_store_explicit(&polling->first_round_ns, gap < WATCH_MAX_ROUND_NS ? gap : WATCH_MAX_ROUND_NS,
                              memory_order_relaxed);
        return true;
    }
    if (recently >= MIN_PER_ROUND) {
        return false;
    }
    atomic_store_explicit(&polling->first_round_ns, WATCH_ROUND_NS, memory_order_relaxed);
    cq_ring_deferred(cq);
    if (mark_unpolled(cq) && cq_scan(cq)) {
        cq_engine_ring(); /* a single look may not do all work */
    }
    return true;
}
