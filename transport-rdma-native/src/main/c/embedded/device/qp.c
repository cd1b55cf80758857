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
/* Queue pairs: create, query, destroy. See qp.h. */
#include "qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/base/cancel.h"
#include "embedded/base/container_of.h"
#include "embedded/base/iwarp.h"
#include "mw.h"
#include "srq.h"
#include "watch.h"

static const struct qp_ops *ops_of_type[IBV_QPT_XRC_RECV + 1];

void qp_set_ops(enum ibv_qp_type type, const struct qp_ops *ops) {
    ops_of_type[type] = ops;
}

/* Returns NULL if there is no such type. */
static const struct qp_ops *ops_of(enum ibv_qp_type type) {
    return (unsigned) type < sizeof(ops_of_type) / sizeof(ops_of_type[0]) ? ops_of_type[type] : NULL;
}

static void run_again(struct engine_task *task) {
    qp_kick(container_of(task, struct qp, again), QP_WORK_ALL);
}

/* Returns 0 or errno. */
static int check(const struct ibv_pd *pd, const struct ibv_qp_init_attr *attr) {
    const struct qp_ops *ops = ops_of(attr->qp_type);
    if (ops == NULL || (iwarp_is_on() && !ops->iwarp)) {
        return EOPNOTSUPP;
    }
    bool receives = !ops->sends_only;
    if (ops->named_receives || attr->send_cq == NULL || attr->send_cq->context != pd->context
            || (receives && (attr->recv_cq == NULL || attr->recv_cq->context != pd->context))
            || (receives && attr->srq != NULL
                && (attr->srq->context != pd->context || srq_of(attr->srq)->ops != NULL))) {
        return EINVAL;
    }
    const struct ibv_qp_cap *cap = &attr->cap;
    /* ibv_create_qp(3): with a shared receive queue the sizes of the receive queue are ignored */
    bool receives_fit = !receives || attr->srq != NULL
            || (cap->max_recv_wr <= DEVICE_MAX_WR && cap->max_recv_sge <= DEVICE_MAX_SGE);
    bool fits = cap->max_send_wr <= DEVICE_MAX_WR && cap->max_send_sge <= DEVICE_MAX_SGE
            && cap->max_inline_data <= DEVICE_MAX_INLINE;
    return fits && receives_fit ? 0 : EINVAL;
}

static int init_queues(struct qp *qp) {
    size_t sges = qp->cap.max_send_sge * sizeof(struct ibv_sge);
    if (qp->cap.max_inline_data < sges) {
        /* The space of the list serves, as in soft-RoCE: rdma_xclient relies on it. */
        qp->cap.max_inline_data = (uint32_t) sges;
    }
    bool shares = qp->srq != NULL || qp->ops->named_receives;
    if (shares || qp->ops->sends_only) {
        qp->cap.max_recv_wr = qp->cap.max_recv_sge = 0;
    }
    int error = work_queue_init(&qp->sq, qp->cap.max_send_wr, qp->cap.max_send_sge,
                                sizeof(struct send_wqe) + qp->cap.max_inline_data);
    if (error == 0 && shares) {
        qp->taken = malloc(receive_wqe_size(qp->srq != NULL ? qp->srq->queue.max_sge : DEVICE_MAX_SGE));
        error = qp->taken == NULL ? ENOMEM : 0;
    } else if (error == 0) {
        error = work_queue_init(&qp->rq, qp->cap.max_recv_wr, qp->cap.max_recv_sge,
                                receive_wqe_size(qp->cap.max_recv_sge));
    }
    return error;
}

static void add_users(struct qp *qp, int number) {
    atomic_fetch_add(&qp->send_cq->users, number);
    atomic_fetch_add(&qp->recv_cq->users, number);
    if (qp->pd != NULL) {
        atomic_fetch_add(&qp->pd->objects, number);
        if (qp->srq != NULL) {
            atomic_fetch_add(&qp->srq->users, number);
        }
    }
}

struct qp *qp_make(const struct qp_parts *parts) {
    const struct qp_ops *ops = ops_of_type[parts->ibv.qp_type];
    struct qp *qp = aligned_alloc(64, (ops->size + 63) & ~(size_t) 63);
    if (qp == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memset(qp, 0, ops->size);
    qp->ops = ops;
    qp->ibv = parts->ibv;
    qp->ibv.state = IBV_QPS_RESET;
    qp->context = parts->ibv.context == NULL ? NULL : context_of(parts->ibv.context);
    qp->pd = parts->pd;
    qp->send_cq = parts->send_cq;
    qp->recv_cq = qp->receive_cq = parts->recv_cq;
    qp->receive_tail = &qp->rq.tail;
    qp->srq = parts->srq;
    qp->cap = parts->cap;
    qp->sq_sig_all = parts->sq_sig_all;
    qp->again.run = run_again;
    atomic_init(&qp->state, IBV_QPS_RESET);
    atomic_init(&qp->refs, 1);
    atomic_init(&qp->round_gap_ns, WATCH_ROUND_NS);
    pthread_mutex_init(&qp->control, NULL);
    if (ops->create != NULL) {
        ops->create(qp, parts->argument);
    }
    int error = init_queues(qp);
    if (error == 0) {
        error = qp_table_add(qp);
    }
    if (error != 0) {
        qp_free(qp);
        errno = error;
        return NULL;
    }
    add_users(qp, 1);
    return qp;
}

struct ibv_qp *embedded_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr) {
    UNCANCELLED;
    int error = context_is_inherited(pd->context) ? EIO : check(pd, attr);
    if (error != 0) {
        errno = error;
        return NULL;
    }
    bool receives = !ops_of_type[attr->qp_type]->sends_only;
    const struct qp_parts parts = {
        .ibv = {
            .context = pd->context, .qp_context = attr->qp_context, .pd = pd, .send_cq = attr->send_cq,
            .recv_cq = attr->recv_cq, .srq = attr->srq, .qp_type = attr->qp_type,
        },
        .pd = pd_of(pd),
        .send_cq = cq_of(attr->send_cq),
        .recv_cq = cq_of(receives ? attr->recv_cq : attr->send_cq), /* here the peer sees whether a thread polls */
        .srq = receives && attr->srq != NULL ? srq_of(attr->srq) : NULL,
        .cap = attr->cap,
        .sq_sig_all = attr->sq_sig_all != 0,
    };
    struct qp *qp = qp_make(&parts);
    if (qp == NULL) {
        return NULL;
    }
    attr->cap = qp->cap; /* returns what was granted: ibv_create_qp(3) */
    return &qp->ibv;
}

int embedded_ibv_query_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int attr_mask,
                          struct ibv_qp_init_attr *init_attr) {
    UNCANCELLED;
    (void) attr_mask; /* returns more than asked for, as ibv_query_qp(3) allows */
    struct qp *qp = qp_of_handle(ibv);
    if (context_is_inherited(ibv->context)) {
        return EIO;
    }
    qp_lock(qp);
    *attr = qp->attr;
    attr->cap = qp->cap;
    attr->qp_state = attr->cur_qp_state = qp_state(qp);
    attr->sq_draining = attr->qp_state == IBV_QPS_SQD && qp_has_outstanding(qp);
    qp_unlock(qp);
    *init_attr = (struct ibv_qp_init_attr) {
        .qp_context = ibv->qp_context,
        .send_cq = ibv->send_cq,
        .recv_cq = ibv->recv_cq,
        .srq = ibv->srq,
        .cap = qp->cap,
        .qp_type = ibv->qp_type,
        .sq_sig_all = qp->sq_sig_all,
    };
    return 0;
}

int qp_destroy(struct qp *qp) {
    int error = qp->ops->begin_destroy != NULL ? qp->ops->begin_destroy(qp) : 0;
    if (error != 0) {
        return error;
    }
    qp_table_remove(qp);
    pthread_mutex_lock(&qp->control);
    atomic_store(&qp->destroyed, true);
    qp->ops->leave_cqs(qp);
    gate_lock(&qp->gate); /* the gate is never released */
    qp->ops->detach(qp);
    qp->ops->release(qp, true);
    mw_close_all(qp);
    pthread_mutex_unlock(&qp->control);
    engine_task_cancel(&qp->again);
    cq_ring_deferred(qp->recv_cq); /* a deferred doorbell would wait for a poll, which may never come */
    cq_ring_deferred(qp->send_cq);
    cq_purge(qp->recv_cq, &qp->rq.tail);
    cq_purge(qp->send_cq, &qp->sq.tail);
    if (qp->srq != NULL) {
        srq_forget(qp->srq, qp);
    }
    add_users(qp, -1);
    return 0;
}

void qp_destroy_inherited(struct qp *qp) {
    add_users(qp, -1);
    qp_free(qp);
}

int embedded_ibv_destroy_qp(struct ibv_qp *ibv) {
    UNCANCELLED;
    struct qp *qp = qp_of(ibv);
    if (qp->ops->close != NULL) {
        return qp->ops->close(qp);
    }
    if (context_is_inherited(ibv->context)) { /* other objects must not be looked at here: fork.h */
        qp_destroy_inherited(qp);
        return 0;
    }
    int error = qp_destroy(qp);
    if (error == 0) {
        async_retire(qp->context, &qp->async);
        qp_put(qp);
    }
    return error;
}
