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
/* Common part of all types of queue pairs: the gate and its owner, errors, flushing, and the engine's rounds. */
#include "qp.h"
#include "watch.h"

bool qp_is_staging(const struct qp *qp) {
    return qp->staged != atomic_load_explicit(&qp->sq.head, memory_order_acquire)
            && ((const struct send_wqe *) work_queue_at(&qp->sq, qp->staged))->done > 0;
}

bool qp_has_outstanding(const struct qp *qp) {
    if (qp_state(qp) == IBV_QPS_SQD) {
        return qp->sq.done != qp->staged || qp_is_staging(qp);
    }
    return qp->sq.done != atomic_load(&qp->sq.head);
}

void qp_raise(struct qp *qp, enum ibv_event_type event) {
    if (qp->ops->raise != NULL) {
        qp->ops->raise(qp, event);
    } else {
        async_raise(qp->context, event, &qp->ibv, &qp->async);
    }
}

void qp_fail(struct qp *qp, int event) {
    if (qp->failed) {
        return;
    }
    qp->failed = true;
    atomic_store(&qp->state, IBV_QPS_ERR);
    qp->ibv.state = IBV_QPS_ERR;
    if (qp->ops->failed != NULL) {
        qp->ops->failed(qp);
    }
    if (event >= 0) {
        qp_raise(qp, (enum ibv_event_type) event);
    }
}

void qp_to_error(struct qp *qp) {
    if (qp->ops->settle != NULL) {
        qp->ops->settle(qp);
    }
    qp_fail(qp, -1);
}

static void flush(struct qp *qp) {
    if (qp->failed) {
        qp_flush_sends(qp);
        qp_flush_receives(qp);
    }
}

/* Returns true if something was left over. */
static bool run(struct qp *qp, unsigned work) {
    if ((work & QP_WORK_FATAL) != 0) {
        qp_fail(qp, IBV_EVENT_QP_FATAL);
    }
    bool left = qp->ops->run(qp, work);
    flush(qp);
    return left;
}

bool qp_progress(struct qp *qp, unsigned work) {
    bool left = false;
    for (work = gate_enter(&qp->gate, work); work != 0; work = gate_leave(&qp->gate)) {
        left |= run(qp, work);
    }
    return left;
}

/*
 * Does all work. The task is submitted while the gate is owned: destroying the queue pair takes the gate and then
 * cancels the task.
 */
static void run_all(struct qp *qp, unsigned work) {
    for (; work != 0; work = gate_leave(&qp->gate)) {
        if (run(qp, work)) {
            engine_submit(&qp->again);
        }
    }
}

bool qp_peer_is(struct qp *qp, enum ext_peer_state state) {
    if (qp->ops->peer_is == NULL || !gate_try(&qp->gate)) {
        return false;
    }
    bool is = qp->ops->peer_is(qp, state);
    run_all(qp, gate_leave(&qp->gate));
    return is;
}

void qp_kick(struct qp *qp, unsigned work) {
    run_all(qp, gate_enter(&qp->gate, work));
}

void qp_lock(struct qp *qp) {
    gate_lock(&qp->gate);
}

void qp_unlock(struct qp *qp) {
    flush(qp);
    run_all(qp, gate_leave(&qp->gate));
}

static void fail_user(struct qp *qp, const void *cq) {
    if (qp->send_cq == cq || qp->recv_cq == cq) {
        qp_kick(qp, QP_WORK_FATAL);
    }
}

void qp_fail_users(struct cq *cq) {
    qp_table_visit(fail_user, cq);
}

/* Makes a round. Returns when to look again, 0 for never. */
static uint64_t make_round(struct qp *qp, uint64_t now_ns) {
    if (atomic_load(&qp->destroyed)) {
        return 0;
    }
    uint64_t next = atomic_load(&qp->next_round_ns);
    if (next > now_ns) {
        return next;
    }
    uint64_t at = atomic_load(&qp->introduce_at_ns);
    if (at != 0 && at <= now_ns && pthread_mutex_trylock(&qp->control) == 0) {
        if (atomic_load(&qp->introduce_at_ns) != 0 && !atomic_load(&qp->destroyed)) {
            qp->ops->introduce_again(qp);
        }
        pthread_mutex_unlock(&qp->control);
    }
    /* The time stays set if another thread owns the gate now and gets to the timers later. */
    atomic_store(&qp->next_round_ns, now_ns + WATCH_ROUND_NS);
    qp_kick(qp, QP_WORK_WATCH);
    return atomic_load(&qp->next_round_ns);
}

uint64_t qp_round(struct qp *qp, uint64_t now_ns) {
    uint64_t next = make_round(qp, now_ns);
    if (next == 0) {
        /* A later post watches the queue pair again; this second look finds an earlier one. */
        atomic_store(&qp->watched, false);
        if (!atomic_load(&qp->destroyed)) {
            qp_kick(qp, QP_WORK_WATCH);
        }
    }
    return next;
}
