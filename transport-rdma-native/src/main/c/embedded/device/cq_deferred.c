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
/* Deferred doorbells of peers, and the doorbell of the own engine. See cq.h. */
#include "cq.h"
#include "embedded/base/doorbell.h"
#include "qp.h"

void cq_engine_ring(void) {
    doorbell_ring(own_doorbell.rung);
}

void cq_defer_doorbell(struct cq *cq, struct qp *qp) {
    if (atomic_exchange(&qp->doorbell_deferred, true)) {
        return;
    }
    qp_get(qp);
    qp->next_deferred = atomic_load(&cq->deferred);
    while (!atomic_compare_exchange_weak(&cq->deferred, &qp->next_deferred, qp)) {
    }
}

void cq_ring_all_deferred(struct cq *cq) {
    for (struct qp *qp = atomic_exchange(&cq->deferred, NULL), *following; qp != NULL; qp = following) {
        following = qp->next_deferred;
        atomic_store(&qp->doorbell_deferred, false);
        qp_kick(qp, QP_WORK_DOORBELL);
        qp_put(qp);
    }
}
