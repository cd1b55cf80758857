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
 * The peer's WRITEs and READs of memory of another device, and references to such memory in place of payload. In WRITEs
 * and READs, the keys of host memory were tried before, so that these functions also find out that a key is of nobody.
 */
#include <errno.h>
#include <string.h>

#include "embedded/base/cancel.h"
#include "embedded/device/lending.h"
#include "embedded/device/mr.h"
#include "embedded/device/mw.h"
#include "embedded/device/srq.h"
#include "rc.h"

/* Bytes of one piece that go to host memory, from which on a reference is slower than payload in shared memory. */
#define MUCH_FOR_HOST 4096u

/* Finds the next piece of the request that is being executed. */
static bool find(const struct qp *qp, uint32_t length, int access, struct peer_range *range) {
    const struct inbound *in = &rc_of(qp)->inbound;
    return mr_peer_range(qp->ibv.pd, in->rkey, in->remote_address + in->offset, length, access, range);
}

enum outcome rc_write_device(struct qp *qp, const uint8_t *payload, uint32_t length) {
    struct rc *rc = rc_of(qp);
    struct peer_range to;
    struct peer_copy copy;
    if (!find(qp, length, IBV_ACCESS_REMOTE_WRITE, &to)) {
        return OUTCOME_ACCESS_ERROR;
    }
    rc_wish(qp);
    if (rc->inbound.offset + length == rc->inbound.total && rc->lagging == 0) {
        return peer_memory_write(&to, payload, length) ? OUTCOME_DONE : OUTCOME_MEMORY_GONE;
    }
    bool begun = peer_memory_begin(&to, payload, NULL, length, &copy), ended = rc_end_lagging(qp);
    if (begun) {
        rc->lags = copy;
        rc->lagging = 1;
    }
    bool last = rc->inbound.offset + length == rc->inbound.total;
    return begun && ended && (!last || rc_end_lagging(qp)) ? OUTCOME_DONE : OUTCOME_MEMORY_GONE;
}

bool rc_end_lagging(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    bool lagged = rc->lagging != 0;
    rc->lagging = 0;
    return !lagged || peer_memory_end(&rc->lags);
}

enum outcome rc_find_device(struct qp *qp, uint32_t length, struct peer_range *range) {
    return find(qp, length, IBV_ACCESS_REMOTE_READ, range) ? OUTCOME_DONE : OUTCOME_ACCESS_ERROR;
}

/* ---- pieces that are copied at the same time ---- */

enum outcome rc_begin_pieces(struct producer *to, const struct peer_range *from, uint32_t length,
                             struct rc_pieces *pieces) {
    uint32_t slots = to->mask + 1 - (to->prod - to->acked);
    uint32_t limit = slots < WIRE_DEVICE_PIECES ? slots : WIRE_DEVICE_PIECES;
    *pieces = (struct rc_pieces) { .offset = WIRE_INLINE };
    for (; limit > 0 && pieces->offset == WIRE_INLINE; limit--) {
        pieces->size = length < limit * WIRE_DEVICE_CHUNK ? length : limit * WIRE_DEVICE_CHUNK;
        pieces->offset = producer_claim(to, pieces->size);
    }
    if (pieces->offset == WIRE_INLINE) {
        return OUTCOME_BLOCKED;
    }
    for (uint32_t at = 0; at < pieces->size; at += WIRE_DEVICE_CHUNK, pieces->count++) {
        const struct peer_range range = { from->memory, from->offset + at };
        if (!peer_memory_begin(&range, NULL, to->slab + pieces->offset + at, rc_piece_size(pieces, pieces->count),
                               &pieces->copies[pieces->count])) {
            while (pieces->count > 0) {
                peer_memory_end(&pieces->copies[--pieces->count]);
            }
            return OUTCOME_MEMORY_GONE;
        }
    }
    /* Each descriptor gives back its own part of the room: producer_publish(). */
    to->slab_head -= producer_room(pieces->size);
    return OUTCOME_DONE;
}

bool rc_end_piece(struct producer *to, const struct rc_pieces *pieces, uint32_t index) {
    bool done = peer_memory_end(&pieces->copies[index]);
    to->slab_head += producer_room(rc_piece_size(pieces, index));
    for (uint32_t i = index + 1; !done && i < pieces->count; i++) {
        peer_memory_end(&pieces->copies[i]);
    }
    return done;
}

/* ---- wishes ---- */

static void send_wish(const struct qp *qp, uint32_t wishes) {
    UNCANCELLED;
    const struct attachment *attached = rc_of(qp)->attached;
    const struct wire_wish wish = { .dst_qpn = attached->src_qpn, .wishes = wishes };
    peer_send(attached->peer, WIRE_WISH, &wish, sizeof(wish), NULL, 0); /* without it all goes by host memory */
}

void rc_wish(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    if (!rc->wished) {
        rc->wished = true;
        send_wish(qp, WIRE_WISH_LONG | (lending_may_be_with(rc->attached->peer) ? WIRE_WISH_REFERENCES : 0));
    }
}

/*
 * Asks the peer for no more references if their bytes go from a device to host memory. By shared memory this is faster,
 * because one end copies to it while the other copies from it. The request stays, because else it would change with
 * the messages.
 */
static void note_for_host(struct qp *qp, uint32_t length) {
    struct rc *rc = rc_of(qp);
    if (length > MUCH_FOR_HOST && !rc->wishes_no_more) {
        rc->wishes_no_more = true;
        send_wish(qp, 0);
    }
}

/* ---- references of this end ---- */

bool rc_refer_request(struct qp *qp, struct send_wqe *wqe, void *reference, uint32_t *length) {
    struct peer_range range;
    struct sge_cursor next;
    struct wire_reference refers;
    uint32_t size = *length < WIRE_REFERENCE_CHUNK ? *length : WIRE_REFERENCE_CHUNK;
    if (size == 0 || wqe->inlined
            || !sge_find_device(&qp->pd->ibv, wqe->sge, wqe->num_sge, &wqe->cursor, &size, &range, &next)
            || !lending_refer(rc_of(qp)->route, &range, &refers)) {
        return false;
    }
    wqe->cursor = next;
    wqe->vendor_err = EFAULT; /* used if the memory is gone before the peer has copied it */
    memcpy(reference, &refers, sizeof(refers));
    *length = size;
    return true;
}

bool rc_refer_answer(struct qp *qp, void *reference, uint32_t *length) {
    struct peer_range range;
    struct wire_reference refers;
    uint32_t size = *length < WIRE_REFERENCE_CHUNK ? *length : WIRE_REFERENCE_CHUNK;
    if (atomic_load_explicit(&rc_of(qp)->wishes, memory_order_relaxed) < WIRE_WISH_REFERENCES
            || !find(qp, size, IBV_ACCESS_REMOTE_READ, &range) || !lending_refer(rc_of(qp)->route, &range, &refers)) {
        return false;
    }
    memcpy(reference, &refers, sizeof(refers));
    *length = size;
    return true;
}

/* ---- references of the peer ---- */

bool rc_take_reference(struct qp *qp, const struct consumer *from, const struct wire_desc *desc,
                       const uint8_t **payload) {
    const struct wire_slot *slot = &from->ring[consumer_pos(from) & from->mask];
    if (desc->slab != WIRE_REFERENCE || desc->length == 0) {
        return false;
    }
    memcpy(&rc_of(qp)->reference, slot->payload, sizeof(struct wire_reference));
    *payload = NULL;
    return true;
}

/* Finds the memory to which the peer's reference refers. */
static bool find_lent(const struct qp *qp, uint32_t length, struct peer_range *from) {
    const struct rc *rc = rc_of(qp);
    return lending_find(rc->attached->peer, &rc->reference, length, from);
}

static enum outcome outcome_of(enum peer_copied copied) {
    return copied == PEER_COPIED ? OUTCOME_DONE
            : copied == PEER_TARGET_GONE ? OUTCOME_MEMORY_GONE : OUTCOME_SOURCE_GONE;
}

static enum outcome write_lent(struct qp *qp, const struct peer_range *from, uint32_t length) {
    const struct inbound *in = &rc_of(qp)->inbound;
    struct peer_range to;
    struct mw *entered;
    if (find(qp, length, IBV_ACCESS_REMOTE_WRITE, &to)) {
        return outcome_of(peer_memory_copy(&to, from, length));
    }
    void *memory = mw_enter(qp, in->rkey, in->remote_address + in->offset, length, IBV_ACCESS_REMOTE_WRITE, &entered);
    if (memory == NULL) {
        return OUTCOME_ACCESS_ERROR;
    }
    enum peer_copied copied = peer_memory_copy_to_host(memory, from, length);
    mw_leave(entered);
    note_for_host(qp, length);
    return outcome_of(copied);
}

/* Places a piece of a message. */
static enum outcome receive_lent(struct qp *qp, const struct peer_range *from, uint32_t length) {
    struct inbound *in = &rc_of(qp)->inbound;
    if (in->inlined) {
        return peer_memory_read(from, inline_slot(qp, qp->rq.done) + in->offset, length) ? OUTCOME_DONE
                : OUTCOME_SOURCE_GONE;
    }
    const struct receive_wqe *wqe = qp_current_receive(qp);
    const struct pd *pd = qp->srq != NULL ? qp->srq->pd : qp->pd;
    uint32_t by_host = 0;
    int error = sge_scatter_lent(&pd->ibv, wqe->sge, wqe->num_sge, &in->cursor, from, length, &by_host);
    note_for_host(qp, by_host);
    if (error > 0) {
        qp_fail_receive(qp, IBV_WC_LOC_PROT_ERR, error);
    }
    return error == 0 ? OUTCOME_DONE : error > 0 ? OUTCOME_OPERATION_ERROR : OUTCOME_SOURCE_GONE;
}

enum outcome rc_place_reference(struct qp *qp, uint32_t length) {
    struct inbound *in = &rc_of(qp)->inbound;
    struct peer_range from;
    if (!find_lent(qp, length, &from)) {
        return OUTCOME_SOURCE_GONE;
    }
    bool writes = in->op == WIRE_WRITE || in->op == WIRE_WRITE_IMM;
    enum outcome outcome = writes ? write_lent(qp, &from, length) : receive_lent(qp, &from, length);
    if (outcome == OUTCOME_DONE) {
        in->offset += length;
    }
    return outcome;
}

int rc_place_referred_answer(struct qp *qp, struct send_wqe *wqe, uint32_t length) {
    struct peer_range from;
    uint32_t by_host = 0;
    if (!find_lent(qp, length, &from)) {
        return SGE_SOURCE_GONE;
    }
    int error = sge_scatter_lent(&qp->pd->ibv, wqe->sge, wqe->num_sge, &wqe->cursor, &from, length, &by_host);
    note_for_host(qp, by_host);
    return error;
}
