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
/* Common part of requester and responder: acknowledgements, overdue work, violations. See rc.h. */
#include "embedded/base/cancel.h"
#include "embedded/base/fence.h"
#include "rc.h"

void rc_violation(struct qp *qp) {
    link_abort(peer_link(rc_of(qp)->attached->peer));
    qp_fail(qp, IBV_EVENT_QP_FATAL);
}

/* ---- work published to a peer marked as polling: cq_overdue.c ---- */

static uint32_t peer_progress(const struct qp *qp) {
    const struct rc *rc = rc_of(qp);
    return rc->out.acked + rc->answers.acked + consumer_pos(&qp->responses) + consumer_pos(&qp->requests);
}

static void begin_to_count(struct qp *qp, uint64_t now_ns) {
    struct rc *rc = rc_of(qp);
    rc->stuck_since_ns = now_ns;
    rc->stuck_recv_polls = process_polls(&rc->to_recv_cq);
    rc->stuck_send_polls = process_polls(&rc->to_send_cq);
}

/* Notes the peer's progress. Returns false if there was none since the latest look. */
static bool note_progress(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    uint32_t progress = peer_progress(qp);
    if (progress == rc->expected_progress) {
        return false;
    }
    rc->expected_progress = progress;
    rc->stuck_since_ns = 0;
    rc->nudged = false;
    return true;
}

void rc_expect(struct qp *qp) {
    if (!cq_claim_overdue(qp)) {
        return;
    }
    note_progress(qp);
    rc_of(qp)->stuck_since_ns = 0;
    if (!cq_is_polled(qp->send_cq)) { /* each look costs a wake-up: start the time now and save one */
        begin_to_count(qp, engine_now_ns());
    }
    cq_add_overdue(qp->send_cq, qp);
}

static void nudge(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    UNCANCELLED;
    const struct wire_nudge nudge = { .dst_qpn = rc->attached->src_qpn };
    if (!rc->nudged) { /* one is enough: a stopped peer must not find many when it continues */
        rc->nudged = true;
        rc->nudges++;
        peer_send(rc->attached->peer, WIRE_NUDGE, &nudge, sizeof(nudge), NULL, 0);
    }
}

/* Returns whether the peer has polled each completion queue for which it has work. */
static bool is_polled_since(const struct qp *qp, bool requests, bool answers) {
    const struct rc *rc = rc_of(qp);
    return (!requests || process_polls(&rc->to_recv_cq) != rc->stuck_recv_polls)
            && (!answers || process_polls(&rc->to_send_cq) != rc->stuck_send_polls);
}

void rc_check_overdue(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    rc->gave_room = rc->gave_room && consumer_published(&qp->requests) == rc->room_after;
    bool requests = rc_awaits_one_sided(qp), answers = rc->answers.prod != rc->answers.acked || rc->gave_room;
    if (qp->failed || (!requests && !answers) || rc->rnr_since_ns != 0) {
        return;
    }
    uint64_t now;
    if (note_progress(qp)) {
        /* The next look without progress starts the time. */
    } else if (now = engine_now_ns(), rc->stuck_since_ns == 0 || is_polled_since(qp, requests, answers)) {
        begin_to_count(qp, now);
    } else if (now - rc->stuck_since_ns >= QP_PATIENCE_NS) {
        nudge(qp); /* checks begin anew for later work */
        return;
    }
    if (cq_claim_overdue(qp)) {
        cq_add_overdue(qp->send_cq, qp);
    }
}

/* Limits the looks: a peer that has stopped, or takes nothing for another reason, must not keep a thread polling. */
static bool is_late(struct rc *rc) {
    uint32_t progress = rc->out.acked + rc->answers.acked;
    if (progress != rc->awaited_after) {
        rc->awaited_after = progress;
        rc->looks = 0;
    }
    if (progress == rc->out.prod + rc->answers.prod || rc->rnr_since_ns != 0 || rc->looks == QP_MAX_LOOKS) {
        return false;
    }
    rc->looks++;
    return true;
}

bool rc_peer_is(struct qp *qp, enum ext_peer_state state) {
    struct rc *rc = rc_of(qp);
    return state == EXT_PEER_LATE ? is_late(rc) : rc->attached != NULL && !process_waits(&rc->to_recv_cq);
}

/* ---- announcements ---- */

static const struct announcement *announcement_of(const struct qp *qp, uint32_t streams) {
    const struct rc *rc = rc_of(qp);
    return streams == WIRE_DIRECT_REQUESTS ? &rc->to_recv_cq : &rc->to_send_cq;
}

/* Returns whether polls of the peer look at these streams without a tick. */
static bool is_direct(const struct qp *qp, uint32_t streams, memory_order order) {
    return (atomic_load_explicit(&rc_of(qp)->attached->control->direct, order) & streams) != 0;
}

void rc_hint(const struct qp *qp, uint32_t streams) {
    if (!is_direct(qp, streams, memory_order_seq_cst)) {
        process_hint(announcement_of(qp, streams));
    }
}

bool rc_signal(const struct qp *qp, uint32_t streams, enum wake wake) {
    const struct announcement *to = announcement_of(qp, streams);
    if (is_direct(qp, streams, memory_order_relaxed)) {
        fence(); /* published work is visible before the second look */
        rc_hint(qp, streams);
    } else {
        process_hint(to); /* process_hint() is a fence as well */
    }
    return process_ring(to, wake);
}

void rc_set_direct(struct qp *qp, const struct cq_place *place, bool direct) {
    const struct rc *rc = rc_of(qp);
    bool one_cq = qp->send_cq == qp->recv_cq;
    uint32_t streams = (place == &rc->recv_cq_place ? WIRE_DIRECT_REQUESTS : 0)
            | (place == &rc->send_cq_place || one_cq ? WIRE_DIRECT_RESULTS : 0);
    _Atomic uint32_t *word = &rc->own->direct;
    if (direct) {
        atomic_fetch_or(word, streams);
    } else {
        atomic_fetch_and(word, ~streams);
    }
}

/* ---- acknowledgements of both streams ---- */

void rc_acknowledge(struct qp *qp, enum wire_stream stream, enum wire_status status, enum wake wake) {
    struct rc *rc = rc_of(qp);
    struct consumer *consumer = stream == WIRE_REQUESTS ? &qp->requests : &qp->responses;
    const struct announcement *to = stream == WIRE_REQUESTS ? &rc->to_send_cq : &rc->to_recv_cq;
    uint64_t said = atomic_load_explicit(&rc->own->stream[stream].ack, memory_order_relaxed);
    uint32_t pos = consumer_pos(consumer);
    if (said == WIRE_ACK_WORD(pos, status) && pos == consumer->notified) {
        return;
    }
    bool wanted = consumer_acknowledge(consumer, rc->own, rc->attached->control, stream, status);
    if (wanted && wake < WAKE_EVENT) {
        wake = wake == WAKE_NONE ? WAKE_WORK : WAKE_EVENT;
    }
    if (wake == WAKE_NONE) {
        return;
    }
    if (stream == WIRE_REQUESTS) {
        rc_hint(qp, WIRE_DIRECT_RESULTS);
    } else {
        process_hint(to); /* direct looks do not find that there is room for answers */
    }
    if (!process_ring(to, wake) && wanted) {
        if (stream == WIRE_REQUESTS) {
            rc->gave_room = true;
            rc->room_after = consumer_published(consumer);
        }
        rc_expect(qp);
    }
}

void rc_want(struct qp *qp, enum wire_stream stream) {
    struct rc *rc = rc_of(qp);
    producer_want(stream == WIRE_REQUESTS ? &rc->out : &rc->answers, rc->own, stream);
}
