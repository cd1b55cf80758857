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
 * Inline receive: see verbs_api.h. A device saves the write to the receive's memory; here only the behaviour is the
 * same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/base/cancel.h"
#include "embedded/base/container_of.h"
#include "embedded/base/epoch.h"
#include "qp.h"

uint32_t embedded_ext_max_inline_recv(struct ibv_context *context) {
    (void) context;
    return DEVICE_MAX_INLINE_RECV;
}

/* Changes the size. Returns 0 or errno. */
static int resize(struct qp *qp, uint32_t bytes) {
    uint8_t *inlined = NULL;
    if (bytes > 0) {
        inlined = calloc((size_t) qp->rq.mask + 1, bytes);
        if (inlined == NULL) {
            return ENOMEM;
        }
    }
    free(qp->inlined);
    qp->inlined = inlined;
    qp->inline_recv = bytes;
    return 0;
}

int embedded_ext_set_inline_recv(struct ibv_qp *ibv, uint32_t *bytes) {
    UNCANCELLED;
    struct qp *qp = qp_of(ibv);
    if (context_is_inherited(ibv->context)) {
        return EIO;
    }
    uint32_t granted = *bytes < DEVICE_MAX_INLINE_RECV ? *bytes : DEVICE_MAX_INLINE_RECV;
    /* A place in a shared receive queue is free again before the completion is polled. */
    if (qp->srq != NULL || qp->rq.limit == 0 || !qp->ops->inline_recv) {
        granted = 0;
    }
    pthread_mutex_lock(&qp->control);
    qp_lock(qp);
    enum ibv_qp_state state = qp_state(qp);
    bool unused = (state == IBV_QPS_RESET || state == IBV_QPS_INIT)
            && atomic_load(&qp->rq.head) == atomic_load(&qp->rq.tail);
    int error = unused ? resize(qp, granted) : EINVAL;
    qp_unlock(qp);
    pthread_mutex_unlock(&qp->control);
    if (error == 0) {
        *bytes = granted;
    }
    return error;
}

bool inline_keep_answer(const struct qp *qp, struct send_wqe *wqe, const uint8_t *payload, uint32_t length) {
    size_t room = qp->sq.stride - sizeof(*wqe) - wqe->num_sge * sizeof(struct ibv_sge);
    if (!wqe->signaled || wqe->total > room) {
        return false; /* without a completion, no poll would place the answer */
    }
    memcpy((uint8_t *) (wqe->sge + wqe->num_sge) + wqe->done, payload, length);
    wqe->inlined = true;
    return true;
}

static void place(const struct qp *qp, const struct ibv_sge *sge, uint16_t num, const uint8_t *from,
                  struct ibv_wc *wc) {
    struct sge_cursor cursor = { 0 };
    epoch_enter();
    /* Access was allowed when the data came. A failure means that the region was deregistered under the request. */
    int error = sge_scatter(&qp->pd->ibv, sge, num, &cursor, from, wc->byte_len);
    if (error != 0) {
        wc->status = IBV_WC_LOC_PROT_ERR;
        wc->vendor_err = (uint32_t) error;
    }
    epoch_leave();
}

void inline_place(const struct cqe *cqe, struct ibv_wc *wc) {
    uint32_t index = cqe->end - 1;
    if (cqe->send) {
        const struct qp *qp = container_of(cqe->tail, struct qp, sq.tail);
        const struct send_wqe *wqe = work_queue_at(&qp->sq, index);
        place(qp, wqe->sge, wqe->num_sge, (const uint8_t *) (wqe->sge + wqe->num_sge), wc);
    } else {
        const struct qp *qp = container_of(cqe->tail, struct qp, rq.tail);
        const struct receive_wqe *wqe = work_queue_receive(&qp->rq, index);
        place(qp, wqe->sge, wqe->num_sge, inline_slot(qp, index), wc);
    }
}
