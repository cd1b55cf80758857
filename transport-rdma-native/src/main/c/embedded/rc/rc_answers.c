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
 * READs and atomics at both ends. The responder puts its answers into its own response stream; an answer that finds no
 * room there waits at the head of the requests.
 */
#include "embedded/base/copy.h"
#include "embedded/device/mw.h"
#include "rc.h"

/* ---- responder ---- */

bool rc_take_answer_acks(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    const struct wire_control *peer = rc->attached->control;
    uint32_t before = rc->answers.acked;
    if (!producer_acked(&rc->answers, WIRE_ACK_COUNT(atomic_load(&peer->stream[WIRE_RESPONSES].ack)))) {
        rc_violation(qp);
        return false;
    }
    return rc->answers.acked != before;
}

/* Returns the place for a response, and its slot, or NULL if there is no room. */
static uint8_t *claim(struct qp *qp, uint32_t length, struct wire_slot **slot, uint32_t *offset) {
    struct rc *rc = rc_of(qp);
    *slot = producer_slot(&rc->answers);
    *offset = WIRE_INLINE;
    if (*slot == NULL || length <= WIRE_INLINE_SIZE) {
        return *slot == NULL ? NULL : (*slot)->payload;
    }
    *offset = producer_claim(&rc->answers, length);
    return *offset == WIRE_INLINE ? NULL : rc->answers.slab + *offset;
}

static void publish_slot(struct qp *qp, struct wire_slot *slot, uint32_t offset, uint32_t length, bool last,
                         bool event) {
    slot->desc.op = WIRE_RESPONSE;
    slot->desc.flags = last ? WIRE_LAST : 0;
    slot->desc.length = length;
    slot->desc.slab = offset;
    producer_publish(&rc_of(qp)->answers, slot);
    if (!rc_signal(qp, WIRE_DIRECT_RESULTS, last && event ? WAKE_EVENT : WAKE_WORK)) {
        rc_expect(qp);
    }
}

/* Publishes a response, or finds no room. Called within the epoch section, because `from` may be in a region. */
static enum outcome publish(struct qp *qp, const void *from, uint32_t length, bool last, bool event) {
    struct rc *rc = rc_of(qp);
    struct wire_slot *slot;
    uint32_t offset;
    uint8_t *to = claim(qp, length, &slot, &offset);
    if (to == NULL) {
        return OUTCOME_BLOCKED;
    }
    if (length > 0 && !producer_copy(&rc->answers, to, from, length)) {
        return OUTCOME_MEMORY_GONE;
    }
    publish_slot(qp, slot, offset, length, last, event);
    return OUTCOME_DONE;
}

/*
 * Publishes the next pieces of the answer to the request that is being executed, from memory of a device. *length is
 * the number of bytes that are left, and becomes the number of published bytes.
 */
static enum outcome publish_device(struct qp *qp, uint32_t *length, bool event) {
    struct rc *rc = rc_of(qp);
    uint32_t left = *length;
    struct wire_slot *slot = producer_slot(&rc->answers);
    struct peer_range from;
    struct rc_pieces pieces;
    enum outcome outcome = slot == NULL ? OUTCOME_BLOCKED : rc_find_device(qp, left, &from);
    if (outcome == OUTCOME_DONE && rc_refer_answer(qp, slot->payload, length)) {
        publish_slot(qp, slot, WIRE_REFERENCE, *length, *length == left, event);
        return OUTCOME_DONE;
    }
    if (outcome == OUTCOME_DONE && left <= WIRE_INLINE_SIZE) {
        outcome = peer_memory_read(&from, slot->payload, left) ? OUTCOME_DONE : OUTCOME_MEMORY_GONE;
        if (outcome == OUTCOME_DONE) {
            publish_slot(qp, slot, WIRE_INLINE, left, true, event);
        }
        return outcome;
    }
    if (outcome == OUTCOME_DONE) {
        outcome = rc_begin_pieces(&rc->answers, &from, left, &pieces);
    }
    uint32_t done = 0;
    for (uint32_t i = 0; outcome == OUTCOME_DONE && i < pieces.count; i++) {
        uint32_t size = rc_piece_size(&pieces, i);
        if (!rc_end_piece(&rc->answers, &pieces, i)) {
            outcome = OUTCOME_MEMORY_GONE;
        } else {
            slot = producer_slot(&rc->answers);
            publish_slot(qp, slot, pieces.offset + done, size, done + size == left, event);
            done += size;
        }
    }
    *length = done;
    return outcome;
}

static bool has_room(struct qp *qp) {
    rc_take_answer_acks(qp);
    return !qp->failed && producer_slot(&rc_of(qp)->answers) != NULL;
}

static enum outcome respond_piece(struct qp *qp, uint32_t length, bool event) {
    const struct inbound *in = &rc_of(qp)->inbound;
    struct mw *entered;
    const void *from = mw_enter(qp, in->rkey, in->remote_address + in->offset, length, IBV_ACCESS_REMOTE_READ,
                                &entered);
    enum outcome outcome = from == NULL && length > 0 ? OUTCOME_DEVICE
            : publish(qp, from, length, in->offset + length == in->total, event);
    mw_leave(entered);
    return outcome;
}

/* Answers the rest of a READ whose key is not of a region of host memory or a window. */
static enum outcome respond_device(struct qp *qp, bool event, uint32_t *budget) {
    struct inbound *in = &rc_of(qp)->inbound;
    for (uint32_t length; in->offset < in->total; in->offset += length) {
        if (*budget == 0) {
            return OUTCOME_UNFINISHED;
        }
        enum outcome outcome;
        while (length = in->total - in->offset, (outcome = publish_device(qp, &length, event)) == OUTCOME_BLOCKED) {
            rc_want(qp, WIRE_RESPONSES);
            if (!rc_take_answer_acks(qp)) {
                return OUTCOME_BLOCKED;
            }
        }
        if (outcome != OUTCOME_DONE) {
            return outcome;
        }
        *budget -= length < *budget ? length : *budget;
    }
    return OUTCOME_DONE;
}

static enum outcome respond_read(struct qp *qp, bool event, uint32_t *budget) {
    struct inbound *in = &rc_of(qp)->inbound;
    do {
        if (*budget == 0) {
            return OUTCOME_UNFINISHED;
        }
        uint32_t length = in->total - in->offset;
        length = length > WIRE_CHUNK ? WIRE_CHUNK : length;
        enum outcome outcome;
        while ((outcome = respond_piece(qp, length, event)) == OUTCOME_BLOCKED) {
            rc_want(qp, WIRE_RESPONSES);
            if (!rc_take_answer_acks(qp)) {
                return OUTCOME_BLOCKED;
            }
        }
        if (outcome != OUTCOME_DONE) {
            return outcome;
        }
        in->offset += length;
        *budget -= length < *budget ? length : *budget;
    } while (in->offset < in->total);
    return OUTCOME_DONE;
}

static enum outcome respond_atomic(struct qp *qp, const struct wire_desc *desc) {
    if (desc->remote_address % sizeof(uint64_t) != 0) {
        return OUTCOME_INVALID;
    }
    if (!mw_allows(qp, desc->rkey, desc->remote_address, sizeof(uint64_t), IBV_ACCESS_REMOTE_ATOMIC)) {
        return OUTCOME_ACCESS_ERROR;
    }
    while (!has_room(qp)) {
        rc_want(qp, WIRE_RESPONSES);
        if (!rc_take_answer_acks(qp)) {
            return OUTCOME_BLOCKED;
        }
    }
    struct mw *entered;
    uint64_t before = desc->operand[0];
    void *target = mw_enter(qp, desc->rkey, desc->remote_address, sizeof(uint64_t), IBV_ACCESS_REMOTE_ATOMIC, &entered);
    if (target == NULL) {
        return OUTCOME_ACCESS_ERROR;
    }
    if ((uintptr_t) target % sizeof(uint64_t) != 0) { /* address in a window or region whose addresses begin at 0 */
        mw_leave(entered);
        return OUTCOME_INVALID;
    }
    bool done = desc->op == WIRE_FETCH_ADD ? copy_fetch_add(target, desc->operand[0], &before)
                                           : copy_compare_swap(target, &before, desc->operand[1]);
    mw_leave(entered);
    return done ? publish(qp, &before, sizeof(before), true, (desc->flags & WIRE_ACK) != 0) : OUTCOME_MEMORY_GONE;
}

enum outcome rc_respond(struct qp *qp, const struct wire_desc *desc, uint32_t *budget) {
    struct inbound *in = &rc_of(qp)->inbound;
    int needed = desc->op == WIRE_READ ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_ATOMIC;
    /* The error is not one of keys: the operation is not allowed, or has no resources. IBA 9.9.3, 11.6.2 */
    if ((qp->attr.qp_access_flags & (unsigned) needed) == 0 || qp->attr.max_dest_rd_atomic == 0) {
        return OUTCOME_INVALID;
    }
    if (desc->op != WIRE_READ) {
        return respond_atomic(qp, desc);
    }
    if (!in->active) {
        if (desc->total > 0
                && !mw_allows(qp, desc->rkey, desc->remote_address, desc->total, IBV_ACCESS_REMOTE_READ)) {
            return OUTCOME_ACCESS_ERROR;
        }
        *in = (struct inbound) {
            .active = true,
            .op = desc->op,
            .total = desc->total,
            .rkey = desc->rkey,
            .remote_address = desc->remote_address,
        };
    }
    enum outcome outcome = respond_read(qp, (desc->flags & WIRE_ACK) != 0, budget);
    if (outcome == OUTCOME_DEVICE) {
        outcome = respond_device(qp, (desc->flags & WIRE_ACK) != 0, budget);
    }
    if (outcome == OUTCOME_DONE) {
        in->active = false;
    }
    return outcome;
}

/* ---- requester ---- */

static struct send_wqe *next_reading(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    if ((int32_t) (qp->sq.done - rc->reading) > 0) {
        rc->reading = qp->sq.done;
    }
    for (; rc->reading != qp->staged; rc->reading++) {
        struct send_wqe *wqe = work_queue_at(&qp->sq, rc->reading);
        if (wqe->op >= WIRE_READ && !wqe->answered) { /* local requests are done when they are staged */
            return wqe;
        }
    }
    return NULL;
}

bool rc_is_reading(struct qp *qp) {
    const struct send_wqe *wqe = rc_of(qp)->unanswered == 0 ? NULL : next_reading(qp);
    return wqe != NULL && wqe->done > 0;
}

/* Places a piece of an answer. Returns 0, or the result of sge_scatter() or sge_scatter_lent(). */
static int place_answer(struct qp *qp, struct send_wqe *wqe, const uint8_t *payload, uint32_t length) {
    const struct ibv_pd *pd = &qp->pd->ibv;
    if (payload == NULL) {
        return rc_place_referred_answer(qp, wqe, length);
    }
    if (wqe->total > 0 && wqe->total <= qp->inline_recv
            && sge_allows(pd, wqe->sge, wqe->num_sge, wqe->total, IBV_ACCESS_LOCAL_WRITE)
            && inline_keep_answer(qp, wqe, payload, length)) {
        return 0;
    }
    return sge_scatter(pd, wqe->sge, wqe->num_sge, &wqe->cursor, payload, length);
}

/* Takes a response. Returns false after a violation or a local fault. */
static bool take_response(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    struct wire_desc desc;
    const uint8_t *payload;
    struct send_wqe *wqe = next_reading(qp);
    if (wqe == NULL
            || (!consumer_read(&qp->responses, &desc, &payload)
                && !rc_take_reference(qp, &qp->responses, &desc, &payload))
            || desc.op != WIRE_RESPONSE
            || desc.length > wqe->total - wqe->done
            || ((desc.flags & WIRE_LAST) != 0) != (desc.length == wqe->total - wqe->done)
            || (desc.length == 0 && wqe->total != 0)) {
        rc_violation(qp);
        return false;
    }
    int error = wqe->fault != 0 ? 0 : place_answer(qp, wqe, payload, desc.length);
    if (error != 0) {
        /* rc_complete_sends() reports the fault when earlier requests are complete. */
        wqe->fault = error == SGE_SOURCE_GONE ? IBV_WC_REM_OP_ERR : IBV_WC_LOC_PROT_ERR;
        wqe->vendor_err = error == SGE_SOURCE_GONE ? 0 : (uint8_t) error;
        rc->faulted = true;
    }
    wqe->done += desc.length;
    rc->taken_bytes += WIRE_DESC_SIZE + desc.length;
    if ((desc.flags & WIRE_LAST) != 0) {
        wqe->answered = wqe->fault == 0;
        rc->unanswered--;
        rc->reading++;
        if (wqe->cursor.device) {
            rc_wish(qp);
        }
    }
    consumer_advance(&qp->responses);
    return true;
}

bool rc_take_responses(struct qp *qp) {
    if (qp->failed || !consumer_ready(&qp->responses)) {
        return false;
    }
    bool left;
    while ((left = consumer_ready(&qp->responses)) && rc_of(qp)->taken_bytes < QP_BUDGET_BYTES) {
        if (!take_response(qp)) {
            return false;
        }
    }
    rc_acknowledge(qp, WIRE_RESPONSES, WIRE_OK, WAKE_NONE);
    return left;
}
