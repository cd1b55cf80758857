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
 * Work published to a peer that is marked as polling. No doorbell was rung for such work, so the peer does not execute
 * it if its thread does not poll after all, but computes, or reads its memory. So this process checks now and then
 * whether the peer has taken the work: by a thread that polls here, or else by the engine. If there was neither
 * progress nor a poll at the peer for some time, this process sends WIRE_NUDGE. The peer's engine then works on the
 * queue pair even if a thread seems to poll there. A peer that polls is not nudged even if it is slow, because its
 * engine would only compete with its thread.
 *
 * The thread that polls here does not announce the end of its polling either. While there is work to check, a timer of
 * the engine counts the thread's polls, soon at first, and at longer intervals the longer the polling lasts. So the
 * last request of a thread waits for a fraction of the time for which the thread has polled.
 *
 * The list works like the list of cq_defer_doorbell(): owners of a queue pair's gate push to it, and a reader takes all
 * entries at once.
 */
#include "cq.h"
#include "embedded/base/container_of.h"
#include "qp.h"

/* Time between looks. Each takes some 100 ns for a queue pair, so with very many queue pairs looks are rarer. */
#define LOOK_NS UINT64_C(10000)
#define REST_FACTOR 8

/* Time until the engine checks. A check costs a wake-up, so there is none before the work can be overdue. */
#define ENGINE_LOOK_NS QP_PATIENCE_NS

/*
 * Limit of the time between counts of the polls. Each wake-up of the engine costs the polling thread some microseconds.
 */
#define MAX_COUNT_NS UINT64_C(1000000)

/* Time between polls that still counts as polling, on average: cq_rest() has the same limit. */
#define SLOWEST_POLL_NS UINT64_C(31250)

atomic_bool cq_overdue_suspended;

static void plan(struct cq *cq, uint64_t at_ns) {
    if (!atomic_load(&cq->overdue.planned) && !atomic_exchange(&cq->overdue.planned, true)) {
        cq_get(cq);
        engine_timer_set(&cq->overdue.timer, at_ns);
    }
}

static void plan_count(struct cq *cq) {
    struct cq_overdue *overdue = &cq->overdue;
    if (!atomic_load(&overdue->count_planned) && !atomic_exchange(&overdue->count_planned, true)) {
        cq_get(cq);
        overdue->polls_at_plan = atomic_load_explicit(cq->polling.polls, memory_order_relaxed);
        engine_timer_set(&overdue->count, engine_now_ns() + overdue->count_gap_ns);
    }
}

bool cq_claim_overdue(struct qp *qp) {
    return !atomic_load_explicit(&qp->expecting, memory_order_relaxed) && !atomic_exchange(&qp->expecting, true);
}

/* Adds to the list, then reads the word. Callers of cq_overdue_to_engine() change the word before it reads the list. */
void cq_add_overdue(struct cq *cq, struct qp *qp) {
    struct qp *_Atomic *list = &cq->overdue.expecting;
    qp_get(qp);
    qp->next_expecting = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &qp->next_expecting, qp)) {
    }
    if (cq_is_polled(cq)) {
        plan_count(cq);
    } else {
        plan(cq, engine_now_ns() + ENGINE_LOOK_NS);
    }
}

static struct qp *take_all(struct cq *cq) {
    return atomic_exchange(&cq->overdue.expecting, NULL);
}

/* Returns when to look again. */
static uint64_t look(struct cq *cq, uint64_t begun_ns, uint64_t gap_ns) {
    bool suspended = atomic_load_explicit(&cq_overdue_suspended, memory_order_relaxed);
    for (struct qp *qp = suspended ? NULL : take_all(cq), *following; qp != NULL; qp = following) {
        following = qp->next_expecting;
        atomic_store(&qp->expecting, false);
        qp_kick(qp, QP_WORK_OVERDUE);
        qp_put(qp);
    }
    uint64_t now = engine_now_ns(), rest = (now - begun_ns) * REST_FACTOR;
    return now + (rest > gap_ns ? rest : gap_ns);
}

void cq_look_for_overdue(struct cq *cq) {
    uint64_t now_ns = engine_now_ns();
    if (now_ns >= atomic_load_explicit(&cq->overdue.next_look_ns, memory_order_relaxed)) {
        atomic_store_explicit(&cq->overdue.next_look_ns, look(cq, now_ns, LOOK_NS), memory_order_relaxed);
    }
}

void cq_overdue_to_engine(struct cq *cq) {
    if (atomic_load(&cq->overdue.expecting) != NULL) {
        plan(cq, engine_now_ns() + ENGINE_LOOK_NS);
    }
}

static void look_on_engine(struct engine_timer *timer) {
    struct cq *cq = container_of(timer, struct cq, overdue.timer);
    uint64_t next = cq_is_polled(cq) ? 0 : look(cq, engine_now_ns(), ENGINE_LOOK_NS);
    /* Before this store no other thread sets the timer. After it, owners of gates that were busy may set it. */
    atomic_store(&cq->overdue.planned, false);
    bool expects = atomic_load(&cq->overdue.expecting) != NULL;
    if (expects && cq_is_polled(cq)) {
        plan_count(cq);
    } else if (expects) {
        plan(cq, next != 0 ? next : engine_now_ns() + ENGINE_LOOK_NS);
    }
    cq_put(cq);
}

static void count_polls(struct engine_timer *timer) {
    struct cq *cq = container_of(timer, struct cq, overdue.count);
    struct cq_overdue *overdue = &cq->overdue;
    uint32_t polls = atomic_load_explicit(cq->polling.polls, memory_order_relaxed) - overdue->polls_at_plan;
    uint64_t gap = overdue->count_gap_ns;
    if (polls > gap / SLOWEST_POLL_NS) {
        gap += gap / 4;
        overdue->count_gap_ns = gap < MAX_COUNT_NS ? gap : MAX_COUNT_NS;
    } else {
        uint64_t now = engine_now_ns();
        overdue->count_gap_ns = look(cq, now, ENGINE_LOOK_NS) - now;
    }
    atomic_store(&overdue->count_planned, false);
    if (atomic_load(&overdue->expecting) != NULL && cq_is_polled(cq)) {
        plan_count(cq);
    } /* not polled: the thread that has changed the word has read the list, or is about to */
    cq_put(cq);
}

void cq_overdue_init(struct cq *cq) {
    cq->overdue.timer.fire = look_on_engine;
    cq->overdue.count.fire = count_polls;
    cq->overdue.count_gap_ns = ENGINE_LOOK_NS;
}

void cq_overdue_end(struct cq *cq) {
    for (struct qp *qp = take_all(cq), *following; qp != NULL; qp = following) {
        following = qp->next_expecting;
        qp_put(qp);
    }
}
