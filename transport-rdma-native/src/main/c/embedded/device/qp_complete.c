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
/* Completions, and the receives that messages take. See qp.h. */
#include "embedded/link/wire.h"
#include "qp.h"
#include "srq.h"

/* ---- sends ---- */

static enum ibv_wc_opcode wc_opcode(uint8_t op) {
    switch (op) {
        case WIRE_WRITE: case WIRE_WRITE_IMM: return IBV_WC_RDMA_WRITE;
        case WIRE_READ: return IBV_WC_RDMA_READ;
        case WIRE_FETCH_ADD: return IBV_WC_FETCH_ADD;
        case WIRE_CMP_SWAP: return IBV_WC_COMP_SWAP;
        case QP_OP_BIND_MW: return IBV_WC_BIND_MW;
        case QP_OP_LOCAL_INV: return IBV_WC_LOCAL_INV;
        default: return IBV_WC_SEND;
    }
}

void qp_complete_send(struct qp *qp, enum ibv_wc_status status) {
    struct send_wqe *wqe = work_queue_at(&qp->sq, qp->sq.done++);
    if (qp->ops->release_send != NULL) {
        qp->ops->release_send(wqe);
    }
    if (!wqe->signaled && status == IBV_WC_SUCCESS) {
        return;
    }
    const struct cqe cqe = {
        .wc = {
            .wr_id = wqe->wr_id,
            .status = status,
            .opcode = wc_opcode(wqe->op),
            .vendor_err = status == IBV_WC_LOC_PROT_ERR ? wqe->vendor_err : 0,
            .byte_len = wqe->total,
            .qp_num = qp->ibv.qp_num,
        },
        .tail = &qp->sq.tail,
        .end = qp->sq.done,
        .send = true,
        .inlined = wqe->answered && wqe->inlined && status == IBV_WC_SUCCESS,
    };
    cq_push(qp->send_cq, &cqe, false);
}

void qp_flush_sends(struct qp *qp) {
    while (qp->sq.done != atomic_load(&qp->sq.head)) {
        qp_complete_send(qp, IBV_WC_WR_FLUSH_ERR);
    }
}

void qp_fail_sends(struct qp *qp, enum ibv_wc_status status) {
    qp_complete_send(qp, status);
    atomic_store(&qp->state, IBV_QPS_SQE);
    qp->ibv.state = IBV_QPS_SQE;
    qp_flush_sends(qp);
}

/* ---- receives ---- */

const struct receive_wqe *qp_current_receive(const struct qp *qp) {
    return qp->srq != NULL ? qp->taken : work_queue_receive(&qp->rq, qp->rq.done);
}

static const struct receive_wqe *next_shared_receive(struct qp *qp) {
    if (!qp->has_taken) {
        qp->has_taken = srq_take(qp->srq, qp);
        atomic_store(&qp->waiting_for_receive, !qp->has_taken);
    }
    return qp->has_taken ? qp->taken : NULL;
}

const struct receive_wqe *qp_next_receive(struct qp *qp) {
    if (qp->srq != NULL) {
        return next_shared_receive(qp);
    }
    if (qp->rq.done == atomic_load_explicit(&qp->rq.head, memory_order_acquire)) {
        /* A post that does not see the flag has stored its head before: see qp_post_recv(). */
        atomic_store(&qp->waiting_for_receive, true);
        if (qp->rq.done == atomic_load(&qp->rq.head)) {
            return NULL;
        }
    }
    if (atomic_load_explicit(&qp->waiting_for_receive, memory_order_relaxed)) {
        atomic_store(&qp->waiting_for_receive, false);
    }
    return qp_current_receive(qp);
}

void qp_finish_receive(struct qp *qp) {
    if (qp->srq != NULL) {
        qp->has_taken = false;
    } else {
        qp->rq.done++;
    }
}

void qp_fail_receive(struct qp *qp, enum ibv_wc_status status, int vendor_err) {
    const struct receive_wqe *wqe = qp_current_receive(qp);
    qp_finish_receive(qp);
    const struct cqe cqe = {
        .wc = {
            .wr_id = wqe->wr_id,
            .status = status,
            .opcode = IBV_WC_RECV,
            .vendor_err = (uint32_t) vendor_err,
            .qp_num = qp->ibv.qp_num,
        },
        .tail = qp->receive_tail,
        .end = qp->rq.done,
    };
    cq_push(qp->receive_cq, &cqe, false);
}

/*
 * Flushes a queue pair with a shared receive queue, whose entries are for the other queue pairs. The event tells that
 * this queue pair takes no more entries, and can be destroyed after its completions: ibv_get_async_event(3).
 */
static void flush_shared(struct qp *qp) {
    if (qp->has_taken) {
        qp_fail_receive(qp, IBV_WC_WR_FLUSH_ERR, 0);
    }
    if (!qp->said_last && !qp->ops->named_receives) { /* the peer may name another queue */
        qp->said_last = true;
        async_raise(qp->context, IBV_EVENT_QP_LAST_WQE_REACHED, &qp->ibv, &qp->async);
    }
}

void qp_flush_receives(struct qp *qp) {
    if (qp->srq != NULL) {
        flush_shared(qp);
        return;
    }
    while (qp->rq.done != atomic_load(&qp->rq.head)) {
        qp_fail_receive(qp, IBV_WC_WR_FLUSH_ERR, 0);
    }
}
