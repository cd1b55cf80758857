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
/* The state machines of queue pairs: IB specification 10.3.1; the transitions are in qp_ops. */
#include <errno.h>

#include "embedded/base/cancel.h"
#include "embedded/base/iwarp.h"
#include "qp.h"
#include "watch.h"

#define ANY_TIME (IBV_QP_STATE | IBV_QP_CUR_STATE)
#define SUPPORTED_ACCESS                                                                                              \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static bool is_allowed(const struct qp *qp, enum ibv_qp_state from, enum ibv_qp_state to, int mask) {
    if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET)) {
        return (mask & ~ANY_TIME) == 0;
    }
    for (size_t i = 0; i < qp->ops->num_transitions; i++) {
        const struct qp_transition *t = &qp->ops->transitions[i];
        if (t->from == from && t->to == to) {
            return (mask & t->required) == t->required && (mask & ~(t->required | t->optional | ANY_TIME)) == 0;
        }
    }
    return false;
}

static bool are_valid(const struct ibv_qp_attr *attr, int mask) {
    return ((mask & IBV_QP_PORT) == 0 || attr->port_num == 1)
            && ((mask & IBV_QP_AV) == 0 || !attr->ah_attr.is_global || attr->ah_attr.grh.sgid_index == 0)
            && ((mask & IBV_QP_PKEY_INDEX) == 0 || attr->pkey_index == 0)
            && ((mask & IBV_QP_ACCESS_FLAGS) == 0 || (attr->qp_access_flags & ~(unsigned) SUPPORTED_ACCESS) == 0)
            && ((mask & IBV_QP_PATH_MTU) == 0 || (attr->path_mtu >= IBV_MTU_256 && attr->path_mtu <= IBV_MTU_4096))
            && ((mask & IBV_QP_MIN_RNR_TIMER) == 0 || attr->min_rnr_timer < 32)
            && ((mask & IBV_QP_TIMEOUT) == 0 || attr->timeout < 32)
            && ((mask & IBV_QP_RETRY_CNT) == 0 || attr->retry_cnt < 8)
            && ((mask & IBV_QP_RNR_RETRY) == 0 || attr->rnr_retry < 8)
            && ((mask & IBV_QP_MAX_QP_RD_ATOMIC) == 0 || attr->max_rd_atomic <= DEVICE_MAX_READS)
            && ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) == 0 || attr->max_dest_rd_atomic <= DEVICE_MAX_READS);
}

static void keep(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask) {
#define KEEP(flag, field)                                                                                             \
    if ((mask & (flag)) != 0) {                                                                                       \
        to->field = from->field;                                                                                      \
    }
    KEEP(IBV_QP_ACCESS_FLAGS, qp_access_flags)
    KEEP(IBV_QP_QKEY, qkey)
    KEEP(IBV_QP_PKEY_INDEX, pkey_index)
    KEEP(IBV_QP_PORT, port_num)
    KEEP(IBV_QP_AV, ah_attr)
    KEEP(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify)
    KEEP(IBV_QP_PATH_MTU, path_mtu)
    KEEP(IBV_QP_TIMEOUT, timeout)
    KEEP(IBV_QP_RETRY_CNT, retry_cnt)
    KEEP(IBV_QP_RNR_RETRY, rnr_retry)
    KEEP(IBV_QP_RQ_PSN, rq_psn)
    KEEP(IBV_QP_SQ_PSN, sq_psn)
    KEEP(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic)
    KEEP(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic)
    KEEP(IBV_QP_MIN_RNR_TIMER, min_rnr_timer)
    KEEP(IBV_QP_DEST_QPN, dest_qp_num)
#undef KEEP
    if (iwarp_is_on()) {
        to->rnr_retry = 0; /* no message reports a missing receive: RFC 5041, 7.1, ends the stream */
    }
}

static void set_state(struct qp *qp, enum ibv_qp_state state) {
    atomic_store(&qp->state, (int) state);
    qp->ibv.state = state;
}

static void reset(struct qp *qp) {
    qp->ops->leave_cqs(qp);
    qp_lock(qp);
    qp->ops->detach(qp);
    set_state(qp, IBV_QPS_RESET);
    work_queue_reset(&qp->sq);
    work_queue_reset(&qp->rq);
    qp->failed = qp->has_taken = qp->said_last = false;
    cq_purge(qp->recv_cq, &qp->rq.tail);
    cq_purge(qp->send_cq, &qp->sq.tail);
    qp_unlock(qp);
    qp->ops->release(qp, false);
}

static int change(struct qp *qp, enum ibv_qp_state from, enum ibv_qp_state to, const struct ibv_qp_attr *attr,
                  int mask) {
    if (to == IBV_QPS_RESET) {
        reset(qp);
        return 0;
    }
    int error = 0;
    bool introduces = from == IBV_QPS_INIT && to == IBV_QPS_RTR && qp->ops->introduce != NULL;
    qp_lock(qp);
    if (to == IBV_QPS_ERR) {
        qp_to_error(qp);
        qp_unlock(qp);
        return 0;
    }
    bool drains = from == IBV_QPS_SQD && to == IBV_QPS_SQD && qp_has_outstanding(qp);
    if (from != (enum ibv_qp_state) atomic_load(&qp->state) || drains) {
        error = EINVAL; /* the queue pair failed meanwhile, or still uses the attributes */
    } else {
        keep(&qp->attr, attr, mask);
        if (introduces) {
            qp->ops->prepare(qp);
        } else if (qp->ops->modified != NULL) {
            qp->ops->modified(qp);
        }
        set_state(qp, to);
        if (from != to) {
            qp->announces_drained = to == IBV_QPS_SQD && (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0
                    && attr->en_sqd_async_notify != 0;
        }
    }
    qp_unlock(qp);
    if (error == 0 && introduces) {
        error = qp->ops->introduce(qp);
        if (error != 0) {
            qp_lock(qp);
            qp->ops->detach(qp);
            set_state(qp, IBV_QPS_INIT);
            qp_unlock(qp);
        }
    }
    return error;
}

int embedded_ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask) {
    UNCANCELLED;
    struct qp *qp = qp_of_handle(ibv);
    if (context_is_inherited(ibv->context)) {
        return EIO;
    }
    mask &= ~qp->ops->ignored;
    pthread_mutex_lock(&qp->control);
    enum ibv_qp_state from = qp_state(qp);
    enum ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attr->qp_state : from;
    bool expected = (mask & IBV_QP_CUR_STATE) == 0 || attr->cur_qp_state == from;
    int error = EINVAL;
    if (expected && is_allowed(qp, from, to, mask) && are_valid(attr, mask)) {
        error = change(qp, from, to, attr, mask);
    }
    if (error == 0 && qp != qp_of(ibv)) {
        ibv->state = to; /* a handle has the state that was last set through it, as with the libraries */
    }
    pthread_mutex_unlock(&qp->control);
    if (error == 0 && qp_sends_in(to)) {
        qp_kick(qp, QP_WORK_ALL);
        watch_qp(qp, WATCH_ROUND_NS); /* requests posted in SQD need the engine */
    }
    return error;
}
