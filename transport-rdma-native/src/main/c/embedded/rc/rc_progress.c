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
/* Work of the gate's owner, in order, and the timers of the engine's rounds. */
#include "embedded/base/epoch.h"
#include "embedded/device/watch.h"
#include "rc.h"

#define INFINITE_RNR_RETRY 7

/*
 * Limit of bytes that a post stages, with descriptors. It is many times the size of the slab, so the engine is seldom
 * needed. A limit is needed because a peer may acknowledge as fast as the thread copies, and must not keep the thread
 * until everything is sent.
 */
#define POST_BUDGET_BYTES (2u << 20)

/* IB specification table 45: RNR NAK timer field, in units of 10 microseconds. */
static const uint32_t rnr_timer_10us[32] = {
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static bool is_connected(const struct qp *qp) {
    enum ibv_qp_state state = qp_state(qp);
    return rc_of(qp)->attached != NULL && !qp->failed
            && (state == IBV_QPS_RTR || qp_sends_in(state) || state == IBV_QPS_SQE);
}

static void note_drained(struct qp *qp) {
    if (qp->announces_drained && !qp->failed && !qp_has_outstanding(qp)) {
        qp->announces_drained = false;
        qp_raise(qp, IBV_EVENT_SQ_DRAINED);
    }
}

static void ring_sleeper(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    if (process_still_sleeps(&rc->to_send_cq, rc->sleeper)) {
        process_ring(&rc->to_send_cq, WAKE_COMPLETION);
    }
}

void rc_failed(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    if (rc->segment != NULL) {
        atomic_store(&rc->own->dead, 1);
    }
    if (rc->to_send_cq.cq != NULL && atomic_load(&qp->doorbell_deferred)) {
        ring_sleeper(qp);
    }
}

void rc_modified(struct qp *qp) {
    const struct rc *rc = rc_of(qp);
    if (rc->segment != NULL) {
        atomic_store(&rc->own->min_rnr_timer, qp->attr.min_rnr_timer);
    }
}

void rc_settle(struct qp *qp) {
    if (is_connected(qp)) {
        epoch_enter();
        rc_take_results(qp);
        epoch_leave();
    }
}

/*
 * Factor of the configured time-out. A device may take up to four times that time (IBA 9.7.6.1.3), and adapters do.
 * Here a thread of the peer must get a processor to answer, which on a busy machine takes longer than a network.
 */
#define TIMEOUT_FACTOR 4u

/*
 * Returns whether the peer is alive. An adapter answers even if its process is stopped. Here the process is the device:
 * while a debugger or a freezer stops it, it is silent but not gone. If the process has ended, its link has ended. If
 * its queue pair has ended, its segment is marked as dead.
 */
static bool is_peer_alive(const struct qp *qp) {
    const struct rc *rc = rc_of(qp);
    return rc->attached != NULL && !rc->peer_gone && atomic_load(&rc->attached->control->dead) == 0;
}

/* Returns the time from the latest progress to the time-out of a work request; 0: never. */
static uint64_t timeout_ns(const struct qp *qp) {
    return qp->attr.timeout == 0 ? 0
            : TIMEOUT_FACTOR * (UINT64_C(4096) << qp->attr.timeout) * (qp->attr.retry_cnt + 1u);
}

/* Returns the time when the outstanding work requests time out; 0: never. */
static uint64_t deadline(const struct qp *qp) {
    const struct rc *rc = rc_of(qp);
    if (rc->rnr_since_ns != 0) {
        uint32_t timer = atomic_load_explicit(&rc->attached->control->min_rnr_timer, memory_order_relaxed) % 32;
        return qp->attr.rnr_retry == INFINITE_RNR_RETRY ? 0
                : rc->rnr_since_ns + UINT64_C(10000) * rnr_timer_10us[timer] * qp->attr.rnr_retry;
    }
    uint64_t timeout = timeout_ns(qp);
    return timeout == 0 ? 0 : rc->stalled_since_ns + timeout;
}

/*
 * Returns the time from one look to the next while there is progress. Each look wakes the engine, which costs as much
 * as a message, so frequent looks would double the cost of a connection that seldom sends. A failure may be noticed
 * later by this time, so it is not longer than the time-out. The peer's RNR timer is known only while it runs.
 */
static uint64_t gap_of_progress(const struct qp *qp) {
    uint64_t timeout = timeout_ns(qp);
    if (qp->ops->unreliable || qp->attr.rnr_retry != INFINITE_RNR_RETRY || (timeout != 0 && timeout < WATCH_ROUND_NS)) {
        return WATCH_ROUND_NS;
    }
    return timeout == 0 || timeout > WATCH_MAX_ROUND_NS ? WATCH_MAX_ROUND_NS : timeout;
}

/* Looks for progress of outstanding work requests. Returns the time from `now` to the next look. */
static uint64_t look(struct qp *qp, uint64_t now) {
    struct rc *rc = rc_of(qp);
    uint64_t gap = atomic_load_explicit(&qp->round_gap_ns, memory_order_relaxed);
    uint32_t progress = rc->attached == NULL ? 0 : rc->out.acked + consumer_pos(&qp->responses) + qp->sq.done;
    if (rc->stalled_since_ns == 0 || progress != rc->watched_progress) {
        gap = rc->stalled_since_ns == 0 ? WATCH_ROUND_NS : gap_of_progress(qp);
        rc->watched_progress = progress;
        rc->stalled_since_ns = now;
        return gap;
    }
    if (rc->attached != NULL && rc->rnr_since_ns == 0) {
        process_ring_engine(peer_process(rc->attached->peer));
    }
    if (!qp->ops->unreliable && is_peer_alive(qp)) { /* an unreliable connection waits for no answer: programs/uc.c */
        rc->stalled_since_ns = now;
    }
    return gap * 2 < WATCH_MAX_ROUND_NS ? gap * 2 : WATCH_MAX_ROUND_NS;
}

static void watch(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    uint64_t now = engine_now_ns(), introduce_at = atomic_load(&qp->introduce_at_ns);
    if (qp->failed || !qp_sends_in(qp_state(qp)) || !qp_has_outstanding(qp)) {
        if (introduce_at != 0) {
            watch_qp(qp, WATCH_ROUND_NS);
        }
        rc->stalled_since_ns = 0;
        atomic_store_explicit(&qp->round_gap_ns, gap_of_progress(qp), memory_order_relaxed);
        atomic_store(&qp->next_round_ns, introduce_at);
        return;
    }
    uint64_t gap = look(qp, now), next = now + gap, end = deadline(qp);
    atomic_store_explicit(&qp->round_gap_ns, gap, memory_order_relaxed);
    watch_qp(qp, gap);
    if (introduce_at != 0 && introduce_at < next) {
        next = introduce_at;
    }
    if (end != 0 && now >= end) {
        rc_fail_send(qp, rc->rnr_since_ns != 0 ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_RETRY_EXC_ERR);
        next = atomic_load(&qp->introduce_at_ns); /* attaching may have to be given up */
    } else if (end != 0 && end < next) {
        next = end;
    }
    atomic_store(&qp->next_round_ns, next);
}

/* Returns true if something was left over. */
static bool work_when_nudged(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    uint32_t requests = consumer_pos(&qp->requests), answers = rc->answers.prod;
    uint32_t responses = consumer_pos(&qp->responses);
    bool left = rc_take_results(qp);
    left |= rc_execute(qp);
    if (!engine_is_self()) {
        return left; /* a thread that polls was faster than the engine */
    }
    bool received = requests != consumer_pos(&qp->requests) || answers != rc->answers.prod;
    if (received) {
        cq_was_nudged(qp->recv_cq);
    }
    if (responses != consumer_pos(&qp->responses) && !(received && qp->send_cq == qp->recv_cq)) {
        cq_was_nudged(qp->send_cq);
    }
    return left;
}

static void note_message(struct qp *qp) {
    bool in_message = rc_of(qp)->inbound.active || qp_is_staging(qp) || rc_is_reading(qp);
    if (atomic_load_explicit(&qp->in_message, memory_order_relaxed) != in_message) {
        atomic_store_explicit(&qp->in_message, in_message, memory_order_relaxed);
    }
}

/* Returns true if something was left over. */
static bool transfer(struct qp *qp, unsigned work) {
    bool left = false;
    if (work == QP_WORK_SEND) {
        left = rc_stage(qp, POST_BUDGET_BYTES); /* staged first, as the poster waits for it */
    }
    if ((work & QP_WORK_NUDGE) != 0) {
        left |= work_when_nudged(qp);
    }
    left |= rc_take_results(qp);
    if ((work & QP_WORK_ALL) != 0) {
        left |= rc_execute(qp);
    }
    left |= rc_stage(qp, QP_BUDGET_BYTES);
    note_message(qp);
    return left;
}

bool rc_run(struct qp *qp, unsigned work) {
    struct rc *rc = rc_of(qp);
    bool left = false;
    if ((work & QP_WORK_PEER_DOWN) != 0) {
        rc->peer_gone = true;
    }
    if (is_connected(qp)) {
        if ((work & QP_WORK_DOORBELL) != 0) {
            ring_sleeper(qp);
        }
        epoch_enter();
        rc->taken_bytes = 0;
        if ((work & ~(unsigned) (QP_WORK_DOORBELL | QP_WORK_OVERDUE)) != 0) {
            left = transfer(qp, work);
        }
        if ((work & QP_WORK_OVERDUE) != 0) {
            /* The peer may have deferred its doorbell for results: cq_defer_doorbell(). */
            rc_take_results(qp);
            rc_take_answer_acks(qp);
            rc_check_overdue(qp);
        }
        epoch_leave();
    }
    /* Comes last: the memory of a dead peer stays mapped, and requests that it had acknowledged have succeeded. */
    if (rc->peer_gone && !qp->ops->unreliable && !qp->failed && qp_sends_in(qp_state(qp)) && qp_has_outstanding(qp)) {
        rc_fail_send(qp, IBV_WC_RETRY_EXC_ERR);
    }
    if ((work & QP_WORK_WATCH) != 0) {
        watch(qp);
    }
    note_drained(qp);
    return left;
}
