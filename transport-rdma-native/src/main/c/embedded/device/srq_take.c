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
/* Receives that queue pairs take from shared receive queues. See srq.h. */
#include <string.h>

#include "srq.h"

/* Called with the queue's lock held. */
static uint32_t available(const struct srq *srq) {
    return atomic_load(&srq->queue.head) - atomic_load(&srq->queue.tail);
}

static void wait_for_post(struct srq *srq, struct qp *qp) {
    if (!qp->waits_for_shared) {
        qp->waits_for_shared = true;
        qp->next_waiting = NULL;
        *srq->last_waiting = qp;
        srq->last_waiting = &qp->next_waiting;
        qp_get(qp);
    }
}

/* Unlinks *link, whose reference the caller takes over. */
static void unlink_waiting(struct srq *srq, struct qp **link) {
    struct qp *qp = *link;
    *link = qp->next_waiting;
    if (*link == NULL) {
        srq->last_waiting = link;
    }
    qp->waits_for_shared = false;
}

bool srq_take(struct srq *srq, struct qp *qp) {
    struct work_queue *queue = &srq->queue;
    bool limit_reached = false;
    pthread_mutex_lock(&queue->lock);
    uint32_t left = available(srq);
    if (left == 0) {
        wait_for_post(srq, qp);
    } else {
        uint32_t tail = atomic_load(&queue->tail);
        const struct receive_wqe *wqe = work_queue_receive(queue, tail);
        memcpy(qp->taken, wqe, receive_wqe_size(wqe->num_sge));
        atomic_store(&queue->tail, tail + 1);
        limit_reached = left - 1 < srq->limit;
        if (limit_reached) {
            srq->limit = 0; /* ibv_query_srq(3): once for each time that it is armed */
        }
    }
    pthread_mutex_unlock(&queue->lock);
    if (limit_reached) {
        async_raise(srq->context, IBV_EVENT_SRQ_LIMIT_REACHED, &srq->ibv, &srq->async);
    }
    return left != 0;
}

void srq_forget(struct srq *srq, struct qp *qp) {
    pthread_mutex_lock(&srq->queue.lock);
    bool waited = qp->waits_for_shared;
    if (waited) {
        struct qp **link = &srq->waiting;
        while (*link != qp) {
            link = &(*link)->next_waiting;
        }
        unlink_waiting(srq, link);
    }
    pthread_mutex_unlock(&srq->queue.lock);
    if (waited) {
        qp_put(qp);
    }
}

struct qp *srq_next_to_serve(struct srq *srq) {
    struct qp *qp = NULL;
    pthread_mutex_lock(&srq->queue.lock);
    if (srq->waiting != NULL && available(srq) != 0) {
        qp = srq->waiting;
        unlink_waiting(srq, &srq->waiting);
    }
    pthread_mutex_unlock(&srq->queue.lock);
    return qp;
}
