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
 * Responder: executes the peer's requests in order. Whatever a request claims is checked here, against this process's
 * own tables, on a private copy of the descriptor.
 */
#include <errno.h>
#include <string.h>

#include "embedded/base/copy.h"
#include "embedded/device/mw.h"
#include "embedded/device/srq.h"
#include "rc.h"

static void complete(struct qp *qp, const struct wire_desc *desc) {
    struct rc *rc = rc_of(qp);
    const struct receive_wqe *wqe = qp_current_receive(qp);
    qp_finish_receive(qp);
    bool imm = desc->op == WIRE_SEND_IMM || desc->op == WIRE_WRITE_IMM, inv = desc->op == WIRE_SEND_INV;
    const struct cqe cqe = {
        .wc = {
            .wr_id = wqe->wr_id,
            .status = IBV_WC_SUCCESS,
            .opcode = desc->op == WIRE_WRITE_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV,
            .byte_len = rc->inbound.total,
            .wc_flags = imm ? IBV_WC_WITH_IMM : inv ? IBV_WC_WITH_INV : 0,
            .imm_data = imm || inv ? desc->imm : 0, /* union with invalidated_rkey */
            .qp_num = qp->ibv.qp_num,
        },
        .tail = qp->receive_tail,
        .end = qp->rq.done,
        .inlined = rc->inbound.inlined,
    };
    cq_push(qp->receive_cq, &cqe, (desc->flags & WIRE_SOLICITED) != 0);
    if (rc->inbound.cursor.device) {
        rc_wish(qp);
    }
}

static bool is_write(uint8_t op) {
    return op == WIRE_WRITE || op == WIRE_WRITE_IMM;
}

/* Does the checks that do not depend on the payload, once for each message. */
static enum outcome begin(struct qp *qp, const struct wire_desc *desc) {
    struct inbound *in = &rc_of(qp)->inbound;
    bool inlined = false;
    if (!is_write(desc->op)) {
        const struct receive_wqe *wqe = qp_next_receive(qp);
        if (wqe == NULL) {
            return OUTCOME_BLOCKED;
        }
        if (desc->total > wqe->length) {
            if (!qp->ops->unreliable) {
                qp_fail_receive(qp, IBV_WC_LOC_LEN_ERR, 0);
            }
            return OUTCOME_INVALID;
        }
        inlined = desc->total > 0 && desc->total <= qp->inline_recv;
        if (inlined && !sge_allows(&qp->pd->ibv, wqe->sge, wqe->num_sge, desc->total, IBV_ACCESS_LOCAL_WRITE)) {
            qp_fail_receive(qp, IBV_WC_LOC_PROT_ERR, EACCES);
            return OUTCOME_OPERATION_ERROR;
        }
    } else if ((qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) == 0) {
        return OUTCOME_INVALID;
    } else if (desc->total > 0
            && !mw_allows(qp, desc->rkey, desc->remote_address, desc->total, IBV_ACCESS_REMOTE_WRITE)) {
        return OUTCOME_ACCESS_ERROR;
    }
    *in = (struct inbound) {
        .active = true,
        .op = desc->op,
        .total = desc->total,
        .rkey = desc->rkey,
        .remote_address = desc->remote_address,
        .inlined = inlined,
    };
    return OUTCOME_DONE;
}

static enum outcome place(struct qp *qp, uint32_t length, const uint8_t *payload) {
    struct inbound *in = &rc_of(qp)->inbound;
    if (payload == NULL) {
        return rc_place_reference(qp, length);
    }
    if (is_write(in->op)) {
        /* Checked for each piece, because the region or window may have gone since the previous one. */
        struct mw *entered;
        void *to = mw_enter(qp, in->rkey, in->remote_address + in->offset, length, IBV_ACCESS_REMOTE_WRITE, &entered);
        if (to == NULL) {
            enum outcome outcome = rc_write_device(qp, payload, length);
            if (outcome != OUTCOME_DONE) {
                return outcome;
            }
        } else {
            bool copied = copy_memory(to, payload, length);
            mw_leave(entered);
            if (!copied) {
                return OUTCOME_MEMORY_GONE;
            }
        }
    } else if (in->inlined) {
        memcpy(inline_slot(qp, qp->rq.done) + in->offset, payload, length);
    } else {
        const struct receive_wqe *wqe = qp_current_receive(qp);
        /* A shared receive queue may have another domain. */
        const struct pd *pd = qp->srq != NULL ? qp->srq->pd : qp->pd;
        int error = sge_scatter(&pd->ibv, wqe->sge, wqe->num_sge, &in->cursor, payload, length);
        if (error != 0) {
            qp_fail_receive(qp, IBV_WC_LOC_PROT_ERR, error);
            return OUTCOME_OPERATION_ERROR;
        }
    }
    in->offset += length;
    return OUTCOME_DONE;
}

/*
 * Selects another shared receive queue than for the request before. Returns false after a violation, or if there is no
 * such queue, which may have been destroyed in the middle of a message.
 */
__attribute__((noinline)) static bool select_srq(struct qp *qp, uint32_t number) {
    struct rc *rc = rc_of(qp);
    if (qp->ops->select == NULL || (rc->inbound.active && qp->srq != NULL)) {
        rc_violation(qp);
        return false;
    }
    return !rc->inbound.active && qp->ops->select(qp, number);
}

/* Returns whether no honest end of this provider would send the request. */
static bool is_malformed(const struct qp *qp, const struct wire_desc *desc) {
    const struct inbound *in = &rc_of(qp)->inbound;
    bool first = (desc->flags & WIRE_FIRST) != 0, last = (desc->flags & WIRE_LAST) != 0;
    if (desc->op < WIRE_SEND || desc->op > WIRE_CMP_SWAP || desc->total > WIRE_MAX_MESSAGE
            || (desc->op >= WIRE_READ && qp->ops->unreliable)) {
        return true;
    }
    if (desc->op >= WIRE_READ) {
        return !first || !last || desc->length != 0 || (in->active && in->op != desc->op);
    }
    uint32_t offset = first ? 0 : in->offset;
    if (first == in->active || (in->active && (in->op != desc->op || in->total != desc->total))) {
        return true;
    }
    return desc->length > desc->total - offset || last != (desc->length == desc->total - offset)
            || (desc->length == 0 && !last);
}

static enum outcome execute(struct qp *qp, const struct wire_desc *desc, const uint8_t *payload, uint32_t *budget) {
    struct rc *rc = rc_of(qp);
    if (desc->op >= WIRE_READ) {
        return rc_respond(qp, desc, budget);
    }
    bool last = (desc->flags & WIRE_LAST) != 0;
    /*
     * Checked before the last bytes are placed: a device also takes the receive of a WRITE WITH IMMEDIATE at its last
     * packet.
     */
    if (desc->op == WIRE_WRITE_IMM && last && qp_next_receive(qp) == NULL) {
        return OUTCOME_BLOCKED;
    }
    enum outcome outcome = rc->inbound.active ? OUTCOME_DONE : begin(qp, desc);
    if (outcome == OUTCOME_DONE && desc->length > 0) {
        outcome = place(qp, desc->length, payload);
    }
    if (outcome == OUTCOME_DONE && desc->op == WIRE_SEND_INV && last && !mw_invalidate(qp, desc->imm)) {
        if (!qp->ops->unreliable) {
            qp_fail_receive(qp, IBV_WC_REM_INV_REQ_ERR, 0); /* IBA 9.9.3, class J, as in soft-RoCE */
        }
        return OUTCOME_ACCESS_ERROR;
    }
    if (outcome == OUTCOME_DONE && last) {
        rc->inbound.active = false;
        if (desc->op != WIRE_WRITE) {
            complete(qp, desc);
        }
    }
    return outcome;
}

/*
 * Drops a message of an unreliable connection that cannot be received, without telling the peer or the application. The
 * next message takes its receive. IBA 9.9.3, class D
 */
static void drop(struct qp *qp, const struct wire_desc *desc) {
    struct rc *rc = rc_of(qp);
    uint32_t before = (desc->flags & WIRE_FIRST) != 0 ? 0 : rc->inbound.offset;
    bool last = (desc->flags & WIRE_LAST) != 0;
    rc->inbound = (struct inbound) {
        .active = !last,
        .op = desc->op,
        .total = desc->total,
        .offset = last ? desc->total : before + desc->length,
        .dropped = true,
    };
}

static void refuse(struct qp *qp, enum outcome outcome) {
    static const struct {
        enum wire_status status;
        int event;
    } answers[] = {
        [OUTCOME_INVALID] = { WIRE_INVALID_REQUEST, IBV_EVENT_QP_REQ_ERR },
        [OUTCOME_ACCESS_ERROR] = { WIRE_ACCESS_ERROR, IBV_EVENT_QP_ACCESS_ERR },
        [OUTCOME_SOURCE_GONE] = { WIRE_SOURCE_GONE, -1 },
        [OUTCOME_OPERATION_ERROR] = { WIRE_OPERATION_ERROR, -1 },
        /* The error is not one of keys but of this end: IBA 9.9.3, local QP error of the responder. */
        [OUTCOME_MEMORY_GONE] = { WIRE_OPERATION_ERROR, IBV_EVENT_QP_FATAL },
    };
    rc_acknowledge(qp, WIRE_REQUESTS, qp->ops->unreliable ? WIRE_OK : answers[outcome].status, WAKE_EVENT);
    qp_fail(qp, answers[outcome].event);
}

static void note_established(struct qp *qp) {
    if (qp_state(qp) == IBV_QPS_RTR) {
        qp_raise(qp, IBV_EVENT_COMM_EST);
    }
}

static bool makes_completion(const struct wire_desc *desc) {
    return (desc->flags & WIRE_LAST) != 0 && desc->op != WIRE_WRITE && desc->op < WIRE_READ;
}

/*
 * Acknowledges requests, of which the peer waits for the last one to complete. If the application is about to get a
 * message among them, its answer will most likely wake the peer soon, so the doorbell is deferred. With XRC the answer
 * goes by another queue pair, and the doorbell is not deferred.
 */
static void acknowledge_awaited(struct qp *qp, bool message) {
    struct rc *rc = rc_of(qp);
    if (!message || !cq_is_polled(qp->recv_cq) || qp->ops->named_receives) {
        rc_acknowledge(qp, WIRE_REQUESTS, WIRE_OK, WAKE_COMPLETION);
        return;
    }
    rc_acknowledge(qp, WIRE_REQUESTS, WIRE_OK, WAKE_NONE);
    rc_hint(qp, WIRE_DIRECT_RESULTS);
    rc->sleeper = process_sleeper(&rc->to_send_cq);
    if (rc->sleeper != 0) {
        cq_defer_doorbell(qp->recv_cq, qp);
    }
}

bool rc_execute(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    struct consumer *requests = &qp->requests;
    struct wire_control *own = rc->own;
    enum wake wake = WAKE_NONE;
    enum outcome outcome = OUTCOME_DONE;
    uint32_t budget = QP_BUDGET_BYTES;
    bool message = false, established = false;
    if (qp->failed || !consumer_ready(requests)) {
        return false;
    }
    if (atomic_load(&rc->attached->control->dead) != 0) {
        return false;
    }
    while (budget > 0 && consumer_ready(requests)) {
        /* Own requests that the peer acknowledged or answered before it sent this message complete before it. */
        if (rc_take_results(qp) || qp->failed) {
            break;
        }
        struct wire_desc desc;
        const uint8_t *payload;
        bool readable = consumer_read(requests, &desc, &payload)
                || rc_take_reference(qp, requests, &desc, &payload);
        if (qp->ops->unreliable && (desc.flags & WIRE_FIRST) != 0) {
            rc->inbound = (struct inbound) { 0 }; /* the sender has given up the message before */
        }
        if (readable && desc.srqn != rc->srqn && !select_srq(qp, desc.srqn)) {
            if (qp->failed) {
                rc_end_lagging(qp);
                return false;
            }
            outcome = OUTCOME_INVALID;
            break;
        }
        if (!readable || is_malformed(qp, &desc)) {
            rc_end_lagging(qp);
            rc_violation(qp);
            return false;
        }
        bool skips = rc->inbound.active && rc->inbound.dropped;
        outcome = skips ? OUTCOME_INVALID : execute(qp, &desc, payload, &budget);
        if (outcome > OUTCOME_UNFINISHED && outcome <= OUTCOME_SOURCE_GONE && qp->ops->unreliable) {
            drop(qp, &desc);
            outcome = OUTCOME_DONE;
        }
        if (outcome != OUTCOME_DONE) {
            break;
        }
        if (!established) {
            established = true;
            note_established(qp);
        }
        consumer_advance(requests);
        uint32_t bytes = WIRE_DESC_SIZE + desc.length;
        budget -= bytes < budget ? bytes : budget;
        if ((desc.flags & WIRE_ACK) != 0) {
            wake = WAKE_EVENT;
        }
        message |= makes_completion(&desc);
        if (desc.slab != WIRE_INLINE) {
            /* Acknowledged early, so that the peer refills the slab meanwhile. */
            atomic_store_explicit(&own->stream[WIRE_REQUESTS].ack,
                                  WIRE_ACK_WORD(consumer_pos(requests) - rc->lagging, WIRE_OK),
                                  memory_order_release);
        }
    }
    if (rc->lagging != 0 && !rc_end_lagging(qp) && outcome <= OUTCOME_BLOCKED) {
        outcome = OUTCOME_MEMORY_GONE;
        consumer_step_back(requests); /* the status belongs to this descriptor, and the next may not be published yet */
    }
    if (outcome > OUTCOME_BLOCKED) {
        refuse(qp, outcome);
        return false;
    }
    bool rnr = outcome == OUTCOME_BLOCKED && atomic_load_explicit(&qp->waiting_for_receive, memory_order_relaxed);
    if (rnr) {
        rc_acknowledge(qp, WIRE_REQUESTS, WIRE_RNR, wake == WAKE_NONE ? WAKE_WORK : wake);
    } else if (wake == WAKE_NONE) {
        rc_acknowledge(qp, WIRE_REQUESTS, WIRE_OK, WAKE_NONE);
    } else {
        acknowledge_awaited(qp, message);
    }
    return outcome <= OUTCOME_UNFINISHED && !qp->failed && consumer_ready(requests);
}
