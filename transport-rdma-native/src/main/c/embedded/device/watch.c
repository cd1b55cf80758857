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
/* Rounds of the engine: see watch.h. */
#include "watch.h"

#include "cq.h"
#include "embedded/link/engine.h"
#include "qp.h"

#define ROUND_EACH_NS UINT64_C(1000) /* added for each object, so that rounds of very many do not fill a processor */

static void make_round(struct engine_timer *timer);

atomic_bool watch_suspended;

static uint64_t (*round_of_qp)(struct qp *qp, uint64_t now_ns);
static bool (*round_of_cq)(struct cq *cq);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct qp *qps;
static struct cq *cqs;
static struct engine_timer timer = { .fire = make_round };
static uint64_t planned_ns; /* 0: no round is planned */

static void plan(uint64_t at_ns) {
    if (planned_ns == 0 || at_ns < planned_ns) {
        planned_ns = at_ns;
        engine_timer_set(&timer, at_ns);
    }
}

void watch_qp(struct qp *qp, uint64_t gap_ns) {
    if (atomic_load(&qp->watched) || atomic_exchange(&qp->watched, true)) {
        return;
    }
    qp_get(qp);
    pthread_mutex_lock(&lock);
    qp->next_watched = qps;
    qps = qp;
    plan(engine_now_ns() + gap_ns);
    pthread_mutex_unlock(&lock);
}

/* Returns false if it is listed already. Called with `lock` held. */
static bool list_cq(struct cq *cq) {
    if (cq->watched) {
        return false;
    }
    cq->watched = true;
    cq_get(cq);
    cq->next_watched = cqs;
    cqs = cq;
    return true;
}

void watch_cq(struct cq *cq) {
    pthread_mutex_lock(&lock);
    if (list_cq(cq)) {
        plan(engine_now_ns() + atomic_load_explicit(&cq->polling.first_round_ns, memory_order_relaxed));
    }
    pthread_mutex_unlock(&lock);
}

static uint64_t visit_qps(struct qp *list, uint64_t now) {
    uint64_t next = UINT64_MAX, count = 0;
    for (struct qp *qp = list, *following; qp != NULL; qp = following) {
        following = qp->next_watched;
        uint64_t at = round_of_qp(qp, now);
        if (at == 0) {
            qp_put(qp);
            continue;
        }
        next = at < next ? at : next;
        count++;
        pthread_mutex_lock(&lock);
        qp->next_watched = qps;
        qps = qp;
        pthread_mutex_unlock(&lock);
    }
    uint64_t earliest = now + WATCH_ROUND_NS + count * ROUND_EACH_NS;
    return next < earliest ? earliest : next;
}

static uint64_t visit_cqs(struct cq *list, uint64_t now) {
    uint64_t count = 0;
    for (struct cq *cq = list, *following; cq != NULL; cq = following) {
        following = cq->next_watched;
        bool rests = round_of_cq(cq);
        pthread_mutex_lock(&lock);
        cq->watched = false;
        /* The queue stays also if polling has just begun again, when watch_cq() still found it in the list. */
        if (!rests || cq_is_polled(cq)) {
            list_cq(cq);
            count++;
        }
        pthread_mutex_unlock(&lock);
        cq_put(cq);
    }
    return count == 0 ? UINT64_MAX : now + WATCH_ROUND_NS + count * ROUND_EACH_NS;
}

static void make_round(struct engine_timer *fired) {
    (void) fired;
    pthread_mutex_lock(&lock);
    if (atomic_load(&watch_suspended)) {
        planned_ns = 0;
        plan(engine_now_ns() + WATCH_ROUND_NS);
        pthread_mutex_unlock(&lock);
        return;
    }
    struct qp *qp_list = qps;
    struct cq *cq_list = cqs;
    qps = NULL;
    cqs = NULL;
    planned_ns = 0;
    pthread_mutex_unlock(&lock);
    uint64_t now = engine_now_ns();
    uint64_t next = visit_qps(qp_list, now), next_cqs = visit_cqs(cq_list, now);
    next = next_cqs < next ? next_cqs : next;
    pthread_mutex_lock(&lock);
    if (next != UINT64_MAX) {
        plan(next);
    }
    pthread_mutex_unlock(&lock);
}

static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    qps = NULL;
    cqs = NULL;
    timer = (struct engine_timer) { .fire = make_round };
    planned_ns = 0;
}

void watch_init(uint64_t (*of_qp)(struct qp *qp, uint64_t now_ns), bool (*of_cq)(struct cq *cq)) {
    round_of_qp = of_qp;
    round_of_cq = of_cq;
    pthread_atfork(NULL, NULL, fork_child);
}
