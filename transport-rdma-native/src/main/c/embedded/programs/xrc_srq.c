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
/* Shared receive queues of XRC domains: create, destroy, and the choice of one by a message. See xrcd.h. */
#include "embedded/base/cancel.h"
#include "xrcd.h"

#include <errno.h>

static struct xrc_srq *xrc_of(struct srq *srq) {
    return container_of(srq, struct xrc_srq, srq);
}

static void add_users(struct xrc_srq *xrc, int number) {
    atomic_fetch_add(&xrc->cq->users, number);
    atomic_fetch_add(&xrc->cq->shared_queues, (unsigned) number);
    xrcd_add_objects(xrc->xrcd, number);
}

static void leave_target(struct qp *target, void *srq) {
    qp_lock(target);
    bool selected = target->srq == srq;
    if (selected) {
        xrc_srq_deselect(target); /* a message under way finds that its number is not valid any more */
    }
    qp_unlock(target);
    if (selected) {
        qp_kick(target, QP_WORK_ALL);
    }
}

static void leave(struct srq *srq) {
    struct xrc_srq *xrc = xrc_of(srq);
    struct xrc_domain *domain = xrcd_domain(xrc->xrcd);
    xrcd_remove_srq(domain, xrc);
    xrcd_visit_targets(domain, leave_target, srq);
    cq_purge(xrc->cq, &xrc->polled);
    qp_table_release_number(xrc->number);
}

static void release(struct srq *srq) {
    add_users(xrc_of(srq), -1);
}

static const struct srq_ops ops = { .leave = leave, .release = release };

/* Returns 0 or errno. */
static int check(const struct ibv_context *context, const struct ibv_srq_init_attr_ex *attr) {
    uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
    bool is_xrc = (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 && attr->srq_type == IBV_SRQT_XRC;
    bool is_basic = (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || attr->srq_type == IBV_SRQT_BASIC;
    if ((attr->comp_mask & ~known) != 0 || (!is_xrc && !is_basic)) {
        return EOPNOTSUPP;
    }
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || attr->pd == NULL || attr->pd->context != context) {
        return EINVAL;
    }
    if (is_basic) {
        return 0;
    }
    uint32_t needed = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
    bool complete = (attr->comp_mask & needed) == needed && attr->xrcd != NULL && attr->cq != NULL;
    return complete && attr->xrcd->context == context && attr->cq->context == context ? 0 : EINVAL;
}

struct ibv_srq *srq_create_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr) {
    UNCANCELLED;
    int error = check(context, attr);
    if (error != 0) {
        errno = error;
        return NULL;
    }
    /* The struct begins with the same fields (verbs.h). */
    struct ibv_srq_init_attr *init = (struct ibv_srq_init_attr *) attr;
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || attr->srq_type == IBV_SRQT_BASIC) {
        return embedded_ibv_create_srq(attr->pd, init);
    }
    struct srq *srq = srq_make(attr->pd, init, sizeof(struct xrc_srq));
    if (srq == NULL) {
        return NULL;
    }
    struct xrc_srq *xrc = xrc_of(srq);
    xrc->number = qp_table_claim_number();
    if (xrc->number == 0) {
        error = errno;
        srq_free(srq);
        errno = error;
        return NULL;
    }
    srq->ops = &ops;
    srq->ibv.handle = xrc->number;
    xrc->xrcd = attr->xrcd;
    xrc->cq = cq_of(attr->cq);
    add_users(xrc, 1);
    xrcd_add_srq(xrcd_domain(xrc->xrcd), xrc);
    init->attr.srq_limit = 0;
    return &srq->ibv;
}

int srq_get_number(struct ibv_srq *ibv, uint32_t *number) {
    struct srq *srq = srq_of(ibv);
    if (srq->ops == NULL) {
        return EOPNOTSUPP;
    }
    *number = xrc_of(srq)->number;
    return 0;
}

static void fail(struct xrc_srq *xrc, void *cq) {
    if (xrc->cq == cq) {
        async_raise(xrc->srq.context, IBV_EVENT_SRQ_ERR, &xrc->srq.ibv, &xrc->srq.async);
    }
}

void xrc_srq_fail_users(struct cq *cq) {
    xrcd_visit_srqs(fail, cq);
}

/* ---- the choice by a message ---- */

void xrc_srq_deselect(struct qp *target) {
    if (target->srq != NULL) {
        srq_forget(target->srq, target);
    }
    target->srq = NULL;
    rc_of(target)->srqn = RC_NO_SRQN;
    target->ibv.pd = NULL;
    target->receive_cq = target->recv_cq;
    target->receive_tail = &target->rq.tail;
    target->has_taken = false;
    atomic_store(&target->waiting_for_receive, false);
}

bool xrc_srq_select(struct qp *target, uint32_t number) {
    xrc_srq_deselect(target);
    struct xrc_srq *xrc = xrcd_find_srq(target_of(target)->domain, number);
    if (xrc == NULL) {
        return false;
    }
    target->srq = &xrc->srq;
    rc_of(target)->srqn = number;
    target->ibv.pd = &xrc->srq.pd->ibv; /* domain whose keys the peer may use */
    target->receive_cq = xrc->cq;
    target->receive_tail = &xrc->polled;
    return true;
}
