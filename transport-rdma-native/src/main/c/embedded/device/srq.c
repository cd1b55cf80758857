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
/* Shared receive queues: create, modify, query, destroy. See srq.h. */
#include "srq.h"
#include "embedded/base/cancel.h"
#include "xrcd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Makes a queue. NULL: errno. */
static struct srq *make(struct ibv_pd *pd, struct ibv_srq_init_attr *init) {
    const struct ibv_srq_attr *attr = &init->attr;
    if (context_is_inherited(pd->context)) {
        errno = EIO;
        return NULL;
    }
    if (attr->max_wr == 0 || attr->max_wr > DEVICE_MAX_SRQ_WR || attr->max_sge > DEVICE_MAX_SGE) {
        errno = EINVAL;
        return NULL;
    }
    struct srq *srq = calloc(1, sizeof(*srq));
    int error = srq == NULL ? ENOMEM
            : work_queue_init(&srq->queue, attr->max_wr, attr->max_sge, receive_wqe_size(attr->max_sge));
    if (error != 0) {
        free(srq);
        errno = error;
        return NULL;
    }
    srq->ibv.context = pd->context;
    srq->ibv.srq_context = init->srq_context;
    srq->ibv.pd = pd;
    srq->pd = pd_of(pd);
    srq->context = context_of(pd->context);
    srq->last_waiting = &srq->waiting;
    return srq;
}

struct ibv_srq *embedded_ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init) {
    UNCANCELLED;
    struct srq *srq = make(pd, init);
    if (srq == NULL) {
        return NULL;
    }
    atomic_fetch_add(&srq->pd->objects, 1);
    init->attr.srq_limit = 0; /* ibv_create_srq(3) does not arm the limit */
    return &srq->ibv;
}

/* ---- XRC ---- */

static void add_users(struct srq *srq, int number) {
    atomic_fetch_add(&srq->cq->users, number);
    atomic_fetch_add(&srq->cq->shared_queues, (unsigned) number);
    xrcd_add_objects(srq->xrcd, number);
}

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
    /* This struct begins with the same fields (verbs.h). */
    struct ibv_srq_init_attr *init = (struct ibv_srq_init_attr *) attr;
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || attr->srq_type == IBV_SRQT_BASIC) {
        return embedded_ibv_create_srq(attr->pd, init);
    }
    struct srq *srq = make(attr->pd, init);
    if (srq == NULL) {
        return NULL;
    }
    srq->number = qp_table_claim_number();
    if (srq->number == 0) {
        error = errno;
        work_queue_free(&srq->queue);
        free(srq);
        errno = error;
        return NULL;
    }
    srq->ibv.handle = srq->number;
    srq->xrcd = attr->xrcd;
    srq->domain = xrcd_domain(attr->xrcd);
    srq->cq = cq_of(attr->cq);
    add_users(srq, 1);
    atomic_fetch_add(&srq->pd->objects, 1);
    xrcd_add_srq(srq->domain, srq);
    init->attr.srq_limit = 0;
    return &srq->ibv;
}

int srq_get_number(struct ibv_srq *ibv, uint32_t *number) {
    const struct srq *srq = srq_of(ibv);
    if (srq->domain == NULL) {
        return EOPNOTSUPP;
    }
    *number = srq->number;
    return 0;
}

static void leave_target(struct qp *target, void *srq) {
    qp_lock(target);
    bool selected = target->srq == srq;
    if (selected) {
        srq_deselect(target); /* a message under way finds that its number is not valid any more */
    }
    qp_unlock(target);
    if (selected) {
        qp_kick(target, QP_WORK_ALL);
    }
}

static void leave_domain(struct srq *srq) {
    xrcd_remove_srq(srq->domain, srq);
    xrcd_visit_targets(srq->domain, leave_target, srq);
    cq_purge(srq->cq, &srq->polled);
}

static void fail(struct srq *srq, void *cq) {
    if (srq->cq == cq) {
        async_raise(srq->context, IBV_EVENT_SRQ_ERR, &srq->ibv, &srq->async);
    }
}

void srq_fail_users(struct cq *cq) {
    xrcd_visit_srqs(fail, cq);
}

/* ---- with and without XRC ---- */

int embedded_ibv_modify_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr, int mask) {
    struct srq *srq = srq_of(ibv);
    if (context_is_inherited(ibv->context)) {
        return EIO;
    }
    /* The device does not have IBV_DEVICE_SRQ_RESIZE, so that IBV_SRQ_MAX_WR is invalid: ibv_modify_srq(3). */
    if ((mask & ~IBV_SRQ_LIMIT) != 0 || ((mask & IBV_SRQ_LIMIT) != 0 && attr->srq_limit > srq->queue.limit)) {
        return EINVAL;
    }
    if ((mask & IBV_SRQ_LIMIT) != 0) {
        pthread_mutex_lock(&srq->queue.lock);
        srq->limit = attr->srq_limit;
        pthread_mutex_unlock(&srq->queue.lock);
    }
    return 0;
}

int embedded_ibv_query_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr) {
    struct srq *srq = srq_of(ibv);
    if (context_is_inherited(ibv->context)) {
        return EIO;
    }
    pthread_mutex_lock(&srq->queue.lock);
    *attr = (struct ibv_srq_attr) {
        .max_wr = srq->queue.limit,
        .max_sge = srq->queue.max_sge,
        .srq_limit = srq->limit,
    };
    pthread_mutex_unlock(&srq->queue.lock);
    return 0;
}

int embedded_ibv_destroy_srq(struct ibv_srq *ibv) {
    UNCANCELLED;
    struct srq *srq = srq_of(ibv);
    if (atomic_load(&srq->users) != 0) {
        return EBUSY;
    }
    bool inherited = context_is_inherited(ibv->context);
    if (!inherited && srq->domain != NULL) {
        leave_domain(srq);
        qp_table_release_number(srq->number);
    }
    if (!inherited) {
        async_retire(srq->context, &srq->async);
    }
    if (srq->domain != NULL) {
        add_users(srq, -1);
    }
    atomic_fetch_sub(&srq->pd->objects, 1);
    work_queue_free(&srq->queue);
    free(srq);
    return 0;
}
