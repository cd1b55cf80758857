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
 * Work published to a peer that is marked as polling. No doorbell was rung for it, so nothing is executed there if the
 * peer does not poll after all (it computes, or looks at its memory). A thread that polls here therefore checks now and
 * then whether the peer has taken the work; the engine checks if no thread polls here. If there was neither progress
 * nor a poll of the peer for some time, the peer is sent WIRE_NUDGE: its engine then works on the queue pair whether or
 * not a thread polls there. A peer that polls is not nudged, however slow: its engine would only compete with it.
 *
 * The list works as that of cq_defer_doorbell(): owners of a queue pair's gate push to it, and it is taken as a whole.
 */
#include "cq.h"
#include "embedded/base/container_of.h"
#include "qp.h"

/* Between looks. Each look takes some 100 ns a queue pair: with very many, looks are rarer. */
#define LOOK_NS UINT64_C(10000)
#define REST_FACTOR 8

/* A check by the engine costs a wake-up: it is not made before work can be overdue. */
#define ENGINE_LOOK_NS QP_PATIENCE_NS

atomic_bool cq_overdue_suspended;

static void plan(struct cq *cq, uint64_t at_ns) {
    if (!atomic_load(&cq->overdue.planned) && !atomic_exchange(&cq->overdue.planned, true)) {
        cq_get(cq);
        engine_timer_set(&cq->overdue.timer, at_ns);
    }
}

bool cq_claim_overdue(struct qp *qp) {
    return !atomic_load_explicit(&qp->expecting, memory_order_relaxed) && !atomic_exchange(&qp->expecting, true);
}

/* The list comes before the look at the word, and the word before the look at the list in cq_overdue_to_engine(). */
void cq_add_overdue(struct cq *cq, struct qp *qp) {
    struct qp *_Atomic *list = &cq->overdue.expecting;
    qp_get(qp);
    qp->next_expecting = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &qp->next_expecting, qp)) {
    }
    if (!cq_is_polled(cq)) {
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
    /* Until here no other thread sets the timer; from here on the owners of gates that were busy may set it. */
    atomic_store(&cq->overdue.planned, false);
    if (atomic_load(&cq->overdue.expecting) != NULL && !cq_is_polled(cq)) {
        plan(cq, next != 0 ? next : engine_now_ns() + ENGINE_LOOK_NS);
    }
    cq_put(cq);
}

void cq_overdue_init(struct cq *cq) {
    cq->overdue.timer.fire = look_on_engine;
}

void cq_overdue_end(struct cq *cq) {
    for (struct qp *qp = take_all(cq), *following; qp != NULL; qp = following) {
        following = qp->next_expecting;
        qp_put(qp);
    }
}
