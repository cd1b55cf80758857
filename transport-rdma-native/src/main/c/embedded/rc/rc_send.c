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
/* Requester: work requests become descriptors, acknowledgements become completions. */
#include <errno.h>
#include <string.h>

#include "embedded/base/iwarp.h"
#include "embedded/device/mw.h"
#include "rc.h"

/* Number of RNR NAKs of all queue pairs of the process: embedded_ext_rnr_naks(). */
static _Atomic uint64_t rnr_naks;

int rc_fill_send(const struct qp *qp, const struct ibv_send_wr *wr, struct send_wqe *wqe) {
    (void) qp;
    wqe->srqn = 0;
    if (wqe->op == WIRE_FETCH_ADD || wqe->op == WIRE_CMP_SWAP) {
        wqe->remote_address = wr->wr.atomic.remote_addr;
        wqe->rkey = wr->wr.atomic.rkey;
        wqe->operand[0] = wr->wr.atomic.compare_add;
        wqe->operand[1] = wr->wr.atomic.swap;
        return wqe->total == sizeof(uint64_t) ? 0 : EINVAL;
    }
    if (wqe->op == QP_OP_BIND_MW) {
        return mw_fill_bind(wr, wqe);
    }
    wqe->remote_address = wr->wr.rdma.remote_addr;
    wqe->rkey = wr->wr.rdma.rkey;
    return 0;
}

/* Returns whether the request waits for a response of the peer. */
static bool is_answered(const struct send_wqe *wqe) {
    return wqe->op >= WIRE_READ && wqe->op < QP_OP_BIND_MW;
}

/*
 * Returns the size of the next piece. It is so small that the peer copies one piece while this end copies the next,
 * even in a message of moderate size. From the second piece on it is known whether own memory is a device's.
 */
static uint32_t piece(const struct qp *qp, const struct send_wqe *wqe, uint32_t left) {
    if (wqe->cursor.device || atomic_load_explicit(&rc_of(qp)->wishes, memory_order_relaxed) != 0) {
        return left < WIRE_DEVICE_CHUNK ? left : WIRE_DEVICE_CHUNK;
    }
    uint32_t total = wqe->total;
    uint32_t size = total <= WIRE_CHUNK ? WIRE_CHUNK / 2 : WIRE_CHUNK;
    return left < size + size / 2 && left <= WIRE_CHUNK ? left : size;
}

static bool copy_payload(struct qp *qp, struct send_wqe *wqe, uint8_t *to, uint32_t length) {
    struct rc *rc = rc_of(qp);
    if (wqe->inlined) {
        memcpy(to, (const uint8_t *) wqe->sge + wqe->done, length);
        return true;
    }
    bool past_cache = producer_begin_copy(&rc->out, length);
    wqe->vendor_err = (uint8_t) sge_gather(&qp->pd->ibv, wqe->sge, wqe->num_sge, &wqe->cursor, to, length, past_cache);
    producer_end_copy(&rc->out, length);
    return wqe->vendor_err == 0;
}

static void request_wake(struct qp *qp, enum wake wake) {
    struct rc *rc = rc_of(qp);
    if (rc->request_wake < wake) {
        rc->request_wake = wake;
    }
}

static void signal_peer(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    if (rc->request_wake != WAKE_NONE) {
        enum wake wake = rc->request_wake;
        rc->request_wake = WAKE_NONE;
        if (!rc_signal(qp, WIRE_DIRECT_REQUESTS, wake) && rc_awaits_one_sided(qp)) {
            rc_expect(qp);
        }
    }
}

static enum wake wake_of(const struct send_wqe *wqe, bool last) {
    if (!last || wqe->op == WIRE_WRITE || wqe->op >= WIRE_READ) {
        return WAKE_WORK;
    }
    return wqe->solicited ? WAKE_SOLICITED : WAKE_EVENT;
}

/* Publishes a descriptor of the work request, whose payload is in the slot or the slab. */
__attribute__((always_inline)) static inline void publish(struct qp *qp, struct send_wqe *wqe, struct wire_slot *slot,
                                                         uint32_t offset, uint32_t length, bool last) {
    struct rc *rc = rc_of(qp);
    bool answered = is_answered(wqe);
    struct wire_desc *desc = &slot->desc;
    desc->op = wqe->op;
    desc->flags = (uint8_t) ((wqe->done == 0 ? WIRE_FIRST : 0) | (last ? WIRE_LAST : 0)
            | (wqe->solicited ? WIRE_SOLICITED : 0) | (last && wqe->signaled ? WIRE_ACK : 0));
    desc->length = length;
    desc->slab = offset;
    desc->total = wqe->total;
    desc->imm = wqe->imm;
    desc->rkey = wqe->rkey;
    desc->srqn = wqe->srqn;
    desc->remote_address = wqe->remote_address;
    desc->operand[0] = wqe->operand[0];
    desc->operand[1] = wqe->operand[1];
    producer_publish(&rc->out, slot);
    if (wqe->op == WIRE_WRITE || answered) {
        rc->one_sided_end = rc->out.prod;
    }
    request_wake(qp, wake_of(wqe, last));
    if (!answered) {
        wqe->done += length;
    }
    if (last) {
        wqe->staged = true;
        wqe->end = rc->out.prod;
        rc->unanswered += answered;
    } else {
        /* A peer that polls starts copying now; a sleeper is woken when the slab is full. */
        rc_hint(qp, WIRE_DIRECT_REQUESTS);
    }
}

/*
 * Publishes the next pieces of a long message that are in memory of a device. Later pieces are copied while earlier
 * ones are sent. OUTCOME_UNFINISHED: the next bytes are in other memory.
 */
__attribute__((noinline, cold)) static enum outcome stage_device(struct qp *qp, struct send_wqe *wqe, uint32_t left) {
    struct rc *rc = rc_of(qp);
    struct peer_range from;
    struct sge_cursor next;
    struct rc_pieces pieces;
    uint32_t size = left;
    if (!sge_find_device(&qp->pd->ibv, wqe->sge, wqe->num_sge, &wqe->cursor, &size, &from, &next)) {
        return OUTCOME_UNFINISHED;
    }
    enum outcome outcome = rc_begin_pieces(&rc->out, &from, size, &pieces);
    if (outcome == OUTCOME_BLOCKED) {
        return outcome;
    }
    for (uint32_t i = 0, at = 0; outcome == OUTCOME_DONE && i < pieces.count; i++) {
        size = rc_piece_size(&pieces, i);
        if (rc_end_piece(&rc->out, &pieces, i)) {
            publish(qp, wqe, producer_slot(&rc->out), pieces.offset + at, size, at + size == left);
            at += size;
        } else {
            outcome = OUTCOME_MEMORY_GONE;
        }
    }
    if (outcome == OUTCOME_DONE) {
        sge_find_device(&qp->pd->ibv, wqe->sge, wqe->num_sge, &wqe->cursor, &pieces.size, &from, &next);
        wqe->cursor = next;
        return OUTCOME_DONE;
    }
    wqe->vendor_err = EFAULT;
    return OUTCOME_ACCESS_ERROR;
}

/* Publishes the next descriptor of the work request. */
static enum outcome stage_one(struct qp *qp, struct send_wqe *wqe) {
    struct rc *rc = rc_of(qp);
    struct wire_slot *slot = producer_slot(&rc->out);
    if (slot == NULL) {
        return OUTCOME_BLOCKED;
    }
    bool answered = is_answered(wqe);
    uint32_t left = answered ? 0 : wqe->total - wqe->done;
    uint32_t length = left, offset = WIRE_INLINE;
    uint8_t *to = slot->payload;
    if (atomic_load_explicit(&rc->wishes, memory_order_relaxed) >= WIRE_WISH_REFERENCES
            && rc_refer_request(qp, wqe, to, &length)) {
        offset = WIRE_REFERENCE;
    } else if (left > WIRE_INLINE_SIZE) {
        enum outcome staged = wqe->cursor.device ? stage_device(qp, wqe, left) : OUTCOME_UNFINISHED;
        if (staged != OUTCOME_UNFINISHED) {
            return staged;
        }
        length = piece(qp, wqe, left);
        offset = producer_claim(&rc->out, length);
        if (offset == WIRE_INLINE) {
            return OUTCOME_BLOCKED;
        }
        to = rc->out.slab + offset;
    }
    if (length > 0 && offset != WIRE_REFERENCE && !copy_payload(qp, wqe, to, length)) {
        return OUTCOME_ACCESS_ERROR;
    }
    /* RFC 5040, 5.2: the answer is written to a tagged buffer that the request names, like the peer's writes. */
    if (wqe->op == WIRE_READ && iwarp_is_on()
            && !sge_allows(&qp->pd->ibv, wqe->sge, wqe->num_sge, wqe->total, IBV_ACCESS_REMOTE_WRITE)) {
        return OUTCOME_ACCESS_ERROR;
    }
    publish(qp, wqe, slot, offset, length, length == left);
    return OUTCOME_DONE;
}

/* Takes acknowledgements. Returns true if there was anything new. */
static bool take_acks(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    if (qp->failed) {
        return false;
    }
    const struct wire_control *peer = rc->attached->control;
    uint64_t word = atomic_load(&peer->stream[WIRE_REQUESTS].ack);
    if (word == atomic_load_explicit(&qp->seen_ack, memory_order_relaxed)) {
        return false;
    }
    atomic_store_explicit(&qp->seen_ack, word, memory_order_relaxed);
    if (WIRE_ACK_STATUS(word) >= WIRE_STATUS_LIMIT || !producer_acked(&rc->out, WIRE_ACK_COUNT(word))) {
        rc_violation(qp);
        return false;
    }
    return true;
}

/* Executes a local request, before later requests are staged, so the peer and these requests find its effect. */
bool rc_carry_out(struct qp *qp, struct send_wqe *wqe) {
    struct rc *rc = rc_of(qp);
    if (!(wqe->op == QP_OP_BIND_MW ? mw_carry_out_bind(qp, wqe) : mw_invalidate(qp, wqe->imm))) {
        return false;
    }
    wqe->staged = wqe->answered = true;
    wqe->end = rc->out.prod;
    if (wqe->signaled && rc->out.acked != wqe->end) { /* requests before it may not ask for a wake-up */
        atomic_exchange(&rc->own->stream[WIRE_REQUESTS].want, wqe->end);
        take_acks(qp); /* the peer may have looked before */
    }
    return true;
}

static void fault(struct qp *qp, struct send_wqe *wqe, enum ibv_wc_status status) {
    wqe->fault = (uint8_t) status;
    rc_of(qp)->faulted = true;
}

/* Stages requests while there is room, within the budget. Returns false if there was no more room. */
static bool stage_some(struct qp *qp, uint32_t budget, uint32_t *bytes) {
    struct rc *rc = rc_of(qp);
    uint32_t head = atomic_load_explicit(&qp->sq.head, memory_order_acquire);
    bool drains = qp_state(qp) == IBV_QPS_SQD;
    while (qp->staged != head) {
        struct send_wqe *wqe = work_queue_at(&qp->sq, qp->staged);
        if (rc->faulted || (drains && wqe->done == 0)) {
            return true;
        }
        uint32_t reads = qp->attr.max_rd_atomic == 0 ? 1 : qp->attr.max_rd_atomic;
        if ((is_answered(wqe) && rc->unanswered >= reads) || (wqe->fenced && rc->unanswered > 0)) {
            return true; /* staging continues at the response, not at an acknowledgement */
        }
        if (wqe->op >= QP_OP_BIND_MW && !rc_carry_out(qp, wqe)) {
            fault(qp, wqe, IBV_WC_MW_BIND_ERR);
        }
        if (rc->faulted || qp->failed) {
            return true;
        }
        while (!wqe->staged) {
            if (*bytes >= budget) {
                return true;
            }
            uint32_t before = wqe->done;
            enum outcome outcome = stage_one(qp, wqe);
            *bytes += WIRE_DESC_SIZE + wqe->done - before;
            if (outcome == OUTCOME_BLOCKED) {
                return false;
            }
            if (outcome != OUTCOME_DONE) {
                fault(qp, wqe, IBV_WC_LOC_PROT_ERR);
                return true;
            }
        }
        qp->staged++;
    }
    return true;
}

/* Returns whether the peer had acknowledged the wanted position before it could see `want`, so that it wakes nobody. */
static bool wanted_was_acknowledged(const struct qp *qp) {
    const struct rc *rc = rc_of(qp);
    uint32_t want = atomic_load(&rc->own->stream[WIRE_REQUESTS].want);
    uint64_t ack = atomic_load(&rc->attached->control->stream[WIRE_REQUESTS].ack);
    return (int32_t) (WIRE_ACK_COUNT(ack) - want) >= 0;
}

bool rc_stage(struct qp *qp, uint32_t budget) {
    uint32_t bytes = 0;
    if (qp->failed || !qp_sends_in(qp_state(qp))) {
        return false;
    }
    bool blocked = !stage_some(qp, budget, &bytes);
    while (blocked) {
        rc_want(qp, WIRE_REQUESTS);
        if (bytes >= budget || !take_acks(qp)) {
            break;
        }
        blocked = !stage_some(qp, budget, &bytes);
    }
    signal_peer(qp);
    rc_complete_sends(qp);
    /* A blocked queue pair is called again at an acknowledgement, unless that came before the peer could see `want`. */
    bool used_up = bytes >= budget && !qp->failed;
    return used_up && qp->staged != atomic_load_explicit(&qp->sq.head, memory_order_acquire)
            && (!blocked || wanted_was_acknowledged(qp));
}

void rc_fail_send(struct qp *qp, enum ibv_wc_status status) {
    if (qp->ops->unreliable) {
        qp_fail_sends(qp, status);
        qp->staged = qp->sq.done;
        rc_of(qp)->faulted = false;
        return;
    }
    qp_complete_send(qp, status);
    qp_fail(qp, -1);
}

static bool is_complete(const struct qp *qp, const struct send_wqe *wqe) {
    return wqe->staged && (int32_t) (rc_of(qp)->out.acked - wqe->end) >= 0 && (wqe->op < WIRE_READ || wqe->answered);
}

static enum ibv_wc_status refused_as(uint32_t status) {
    switch (status) {
        case WIRE_INVALID_REQUEST: return IBV_WC_REM_INV_REQ_ERR;
        case WIRE_ACCESS_ERROR: return IBV_WC_REM_ACCESS_ERR;
        case WIRE_SOURCE_GONE: return IBV_WC_LOC_PROT_ERR;
        default: return IBV_WC_REM_OP_ERR;
    }
}

void rc_complete_sends(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    if (qp->failed) {
        return;
    }
    uint32_t head = atomic_load_explicit(&qp->sq.head, memory_order_acquire);
    const struct send_wqe *wqe = NULL;
    while (qp->sq.done != head && (wqe = work_queue_at(&qp->sq, qp->sq.done), is_complete(qp, wqe))) {
        qp_complete_send(qp, IBV_WC_SUCCESS);
    }
    bool outstanding = qp->sq.done != head;
    if (outstanding && wqe->fault != 0) {
        rc_fail_send(qp, (enum ibv_wc_status) wqe->fault);
        return;
    }
    uint32_t status = WIRE_ACK_STATUS(atomic_load_explicit(&qp->seen_ack, memory_order_relaxed));
    if (status == WIRE_OK) {
        rc->rnr_since_ns = 0;
    } else if (qp->ops->unreliable) {
        return; /* the peer's status does not matter any more */
    } else if (!outstanding || rc->out.acked == rc->out.prod) {
        rc_violation(qp); /* the status judges a request that does not exist */
    } else if (status != WIRE_RNR) {
        rc_fail_send(qp, refused_as(status));
    } else if (qp->attr.rnr_retry == 0) {
        atomic_fetch_add_explicit(&rnr_naks, 1, memory_order_relaxed);
        rc_fail_send(qp, IBV_WC_RNR_RETRY_EXC_ERR);
    } else if (rc->rnr_since_ns == 0 || rc->rnr_at != rc->out.acked) {
        /* Each message has all its retries. The status may change from RNR of one message to RNR of the next. */
        rc->rnr_since_ns = engine_now_ns();
        rc->rnr_at = rc->out.acked;
        atomic_fetch_add_explicit(&rnr_naks, 1, memory_order_relaxed);
    }
}

uint64_t embedded_ext_rnr_naks(struct ibv_context *context) {
    (void) context;
    return atomic_load_explicit(&rnr_naks, memory_order_relaxed);
}

bool rc_take_results(struct qp *qp) {
    take_acks(qp);
    bool left = rc_take_responses(qp);
    rc_complete_sends(qp);
    return left;
}
