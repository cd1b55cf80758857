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

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct srq *srq_make(struct ibv_pd *pd, const struct ibv_srq_init_attr *init, size_t size) {
    const struct ibv_srq_attr *attr = &init->attr;
    if (context_is_inherited(pd->context)) {
        errno = EIO;
        return NULL;
    }
    if (attr->max_wr == 0 || attr->max_wr > DEVICE_MAX_SRQ_WR || attr->max_sge > DEVICE_MAX_SGE) {
        errno = EINVAL;
        return NULL;
    }
    struct srq *srq = calloc(1, size);
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
    atomic_fetch_add(&srq->pd->objects, 1);
    return srq;
}

void srq_free(struct srq *srq) {
    atomic_fetch_sub(&srq->pd->objects, 1);
    work_queue_free(&srq->queue);
    free(srq);
}

struct ibv_srq *embedded_ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init) {
    UNCANCELLED;
    struct srq *srq = srq_make(pd, init, sizeof(*srq));
    if (srq == NULL) {
        return NULL;
    }
    init->attr.srq_limit = 0; /* ibv_create_srq(3) does not arm the limit */
    return &srq->ibv;
}

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
    if (!inherited && srq->ops != NULL) {
        srq->ops->leave(srq);
    }
    if (!inherited) {
        async_retire(srq->context, &srq->async);
    }
    if (srq->ops != NULL) {
        srq->ops->release(srq);
    }
    srq_free(srq);
    return 0;
}
