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
 * Posting makes the checks that a device makes at once, and copies the request. Errors that depend on keys or the peer
 * are found later, and reported by a completion.
 */
#include <errno.h>

#include "embedded/base/copy.h"
#include "embedded/base/iwarp.h"
#include "qp.h"
#include "srq.h"
#include "watch.h"

static int op_of(enum ibv_wr_opcode opcode) {
    switch (opcode) {
        case IBV_WR_SEND: return WIRE_SEND;
        case IBV_WR_SEND_WITH_IMM: return WIRE_SEND_IMM;
        case IBV_WR_RDMA_WRITE: return WIRE_WRITE;
        case IBV_WR_RDMA_WRITE_WITH_IMM: return WIRE_WRITE_IMM;
        case IBV_WR_RDMA_READ: return WIRE_READ;
        case IBV_WR_ATOMIC_FETCH_AND_ADD: return WIRE_FETCH_ADD;
        case IBV_WR_ATOMIC_CMP_AND_SWP: return WIRE_CMP_SWAP;
        case IBV_WR_SEND_WITH_INV: return WIRE_SEND_INV;
        case IBV_WR_BIND_MW: return QP_OP_BIND_MW;
        case IBV_WR_LOCAL_INV: return QP_OP_LOCAL_INV;
        default: return 0;
    }
}

/*
 * Returns whether iWARP has the operation. RFC 5040 has no immediate data and no atomics, and a READ has one element.
 */
static bool iwarp_has(int op, int num_sge) {
    switch (op) {
        case WIRE_SEND_IMM:
        case WIRE_WRITE_IMM:
        case WIRE_FETCH_ADD:
        case WIRE_CMP_SWAP: return false;
        case WIRE_READ: return num_sge <= 1;
        default: return true;
    }
}

/* Returns 0 or errno. */
static int fill(const struct qp *qp, const struct ibv_send_wr *wr, struct send_wqe *wqe) {
    int op = op_of(wr->opcode);
    bool local = op >= QP_OP_BIND_MW; /* local requests have no memory of their own */
    int num_sge = local ? 0 : wr->num_sge;
    if (op == 0 || num_sge < 0 || (uint32_t) num_sge > qp->sq.max_sge || (iwarp_is_on() && !iwarp_has(op, num_sge))) {
        return EINVAL;
    }
    wqe->wr_id = wr->wr_id;
    wqe->op = (uint8_t) op;
    wqe->signaled = qp->sq_sig_all || (wr->send_flags & IBV_SEND_SIGNALED) != 0;
    wqe->solicited = (wr->send_flags & IBV_SEND_SOLICITED) != 0;
    wqe->inlined = !local && (wr->send_flags & IBV_SEND_INLINE) != 0;
    wqe->fenced = (wr->send_flags & IBV_SEND_FENCE) != 0;
    wqe->staged = wqe->answered = false;
    wqe->fault = wqe->vendor_err = 0;
    wqe->done = 0;
    wqe->cursor = (struct sge_cursor) { 0 };
    wqe->num_sge = (uint16_t) num_sge;
    wqe->imm = wr->imm_data; /* union with the key to invalidate */
    if (!sge_total(wr->sg_list, num_sge, &wqe->total)) {
        return EINVAL;
    }
    if (!wqe->inlined) {
        for (int i = 0; i < num_sge; i++) {
            wqe->sge[i] = wr->sg_list[i];
        }
        return qp->ops->fill_send(qp, wr, wqe);
    }
    if (op >= WIRE_READ || wqe->total > qp->cap.max_inline_data) {
        return EINVAL;
    }
    uint8_t *to = (uint8_t *) wqe->sge;
    for (int i = 0; i < num_sge; i++) {
        if (!copy_memory(to, (const void *) (uintptr_t) wr->sg_list[i].addr, wr->sg_list[i].length)) {
            return EFAULT;
        }
        to += wr->sg_list[i].length;
    }
    return qp->ops->fill_send(qp, wr, wqe);
}

int qp_fill_send(struct qp *qp, const struct ibv_send_wr *wr, uint32_t head) {
    int error = work_queue_is_full(&qp->sq, head) ? ENOMEM : work_queue_make_room(&qp->sq, head);
    return error == 0 ? fill(qp, wr, work_queue_at(&qp->sq, head)) : error;
}

bool qp_takes_sends(const struct qp *qp) {
    enum ibv_qp_state state = qp_state(qp);
    return qp_sends_in(state) || state == IBV_QPS_SQE || state == IBV_QPS_ERR;
}

void qp_posted_sends(struct qp *qp) {
    qp_kick(qp, QP_WORK_SEND);
    if (qp->ops->watch_posted) {
        watch_qp(qp, atomic_load_explicit(&qp->round_gap_ns, memory_order_relaxed));
    }
}

int qp_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr) {
    struct qp *qp = qp_of(ibv);
    struct work_queue *sq = &qp->sq;
    if (!qp_takes_sends(qp)) {
        *bad_wr = wr;
        return EINVAL;
    }
    int error = 0;
    pthread_mutex_lock(&sq->lock);
    uint32_t head = atomic_load_explicit(&sq->head, memory_order_relaxed);
    work_queue_begin(sq, head);
    for (; wr != NULL; wr = wr->next) {
        error = qp_fill_send(qp, wr, head);
        if (error != 0) {
            *bad_wr = wr;
            break;
        }
        head++;
    }
    atomic_store_explicit(&sq->head, head, memory_order_release);
    pthread_mutex_unlock(&sq->lock);
    qp_posted_sends(qp);
    return error;
}

int qp_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr) {
    struct qp *qp = qp_of(ibv);
    if (qp_state(qp) == IBV_QPS_RESET || qp->srq != NULL) {
        *bad_wr = wr;
        return EINVAL;
    }
    int error = work_queue_post_recv(&qp->rq, wr, bad_wr);
    /* Read after setting the head of the queue: both decide about a sleeping request, see rc_receive.c. */
    if (atomic_load(&qp->waiting_for_receive) || atomic_load(&qp->state) == IBV_QPS_ERR) {
        qp_kick(qp, QP_WORK_ALL);
    }
    return error;
}

int srq_post_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr) {
    struct srq *srq = srq_of(ibv);
    int error = work_queue_post_recv(&srq->queue, wr, bad_wr);
    /* A queue pair that has died meanwhile takes nothing, so the next one has its turn. */
    for (struct qp *qp = srq_next_to_serve(srq); qp != NULL; qp = srq_next_to_serve(srq)) {
        qp_kick(qp, QP_WORK_ALL);
        qp_put(qp);
    }
    return error;
}
