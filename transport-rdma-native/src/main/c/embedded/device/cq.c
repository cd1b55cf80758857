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
/* Completion queues: create, destroy, poll, arm. See cq.h. */
#include "cq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/base/cancel.h"
#include "embedded/base/container_of.h"
#include "pd.h"
#include "presence.h"
#include "qp.h"
#include "srq.h"

static _Atomic uint32_t next_id = 1;
static const struct cq_target_ops *target_ops; /* NULL without programs/ */

static void report_overflow(struct engine_task *task);
static void rearm(struct cq *cq);

struct cq *cq_make(int entries) {
    uint32_t size = cq_ring_size(entries);
    struct cq *cq = aligned_alloc(64, sizeof(*cq));
    if (cq == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memset(cq, 0, sizeof(*cq));
    int error = presence_open();
    cq->ring = error != 0 ? NULL : malloc(size * sizeof(*cq->ring));
    cq->index = cq->ring == NULL ? -1 : notify_area_claim_cq();
    if (cq->index < 0) {
        free(cq->ring);
        free(cq);
        errno = error != 0 ? error : ENOMEM;
        return NULL;
    }
    cq->ibv.handle = (uint32_t) cq->index;
    cq->ibv.cqe = (int) size;
    cq->mask = size - 1;
    cq->id = atomic_fetch_add(&next_id, 1);
    cq->word = &own_notify_area->cq[cq->index].word;
    STAILQ_INIT(&cq->unfinished);
    cq->overflow.run = report_overflow;
    cq_polling_init(cq);
    cq_overdue_init(cq);
    atomic_init(&cq->refs, 1);
    atomic_store(cq->word, NOTIFY_CQ_NEXT(atomic_load(cq->word), NOTIFY_CQ_IDLE));
    pthread_mutex_init(&cq->lock, NULL);
    pthread_mutex_init(&cq->batch, NULL);
    return cq;
}

struct ibv_cq *embedded_ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
                                      struct ibv_comp_channel *channel, int comp_vector) {
    UNCANCELLED;
    if (context_is_inherited(context)) {
        errno = EIO;
        return NULL;
    }
    if (entries < 1 || entries > DEVICE_MAX_CQE || comp_vector < 0 || comp_vector >= context->num_comp_vectors) {
        errno = EINVAL;
        return NULL;
    }
    presence_enter();
    struct cq *cq = cq_make(entries);
    if (cq == NULL) {
        int error = errno;
        presence_leave();
        errno = error;
        return NULL;
    }
    cq->ibv.context = context;
    cq->ibv.channel = channel;
    cq->ibv.cq_context = cq_context;
    atomic_fetch_add(&context_of(context)->objects, 1);
    if (channel != NULL) {
        channel_join(channel_of(channel), cq, rearm);
    }
    cq_engine_add(cq);
    return &cq->ibv;
}

void cq_retire(struct cq *cq) {
    atomic_store(&cq->destroyed, true);
    cq_engine_remove(cq);
    engine_task_cancel(&cq->overflow);
    cq_ring_deferred(cq);
    cq_overdue_end(cq);
}

void cq_rest_targets(void) {
    if (target_ops != NULL) {
        target_ops->rest();
    }
}

static void leave_domain(const struct cq *cq) {
    if (cq->domain != NULL) {
        atomic_fetch_sub(&cq->domain->objects, 1);
    }
}

/* Releases the child's copy. The objects that refer to it are the parent's, and must not be looked at: fork.h. */
static void release_inherited(struct cq *cq) {
    leave_domain(cq);
    if (cq->ibv.channel != NULL) {
        cq->ibv.channel->refcnt--;
    }
    atomic_fetch_sub(&context_of(cq->ibv.context)->objects, 1);
    free(cq->ring);
    free(cq->times);
    free(cq);
}

bool embedded_ext_peer_is(struct ibv_cq *ibv, enum ext_peer_state state) {
    return !context_is_inherited(ibv->context) && cq_peer_is(cq_of(ibv), state);
}

int embedded_ibv_destroy_cq(struct ibv_cq *ibv) {
    UNCANCELLED;
    struct cq *cq = cq_of(ibv);
    if (atomic_load(&cq->users) != 0) {
        return EBUSY;
    }
    if (context_is_inherited(ibv->context)) {
        release_inherited(cq);
        return 0;
    }
    cq_retire(cq);
    if (ibv->channel != NULL) {
        channel_part(channel_of(ibv->channel), cq);
    }
    async_retire(context_of(ibv->context), &cq->async);
    leave_domain(cq);
    atomic_fetch_sub(&context_of(ibv->context)->objects, 1);
    cq_put(cq);
    presence_leave();
    return 0;
}

static int take(struct cq *cq, int entries, struct ibv_wc *wc, struct cq_time *time) {
    int taken = 0;
    pthread_mutex_lock(&cq->lock);
    uint32_t count = atomic_load_explicit(&cq->count, memory_order_relaxed);
    while (taken < entries && count > 0) {
        if (time != NULL && cq->times != NULL) {
            time[taken] = cq->times[cq->head & cq->mask];
        }
        const struct cqe *cqe = &cq->ring[cq->head++ & cq->mask];
        wc[taken] = cqe->wc;
        if (cqe->inlined) {
            inline_place(cqe, &wc[taken]);
        }
        taken++;
        count--;
        atomic_store_explicit(cqe->tail, cqe->end, memory_order_release);
    }
    if (count == 0) {
        /*
         * Restarts at the first entry, so that the memory in use depends on completions at a time, not on connections.
         */
        cq->head = 0;
    }
    atomic_store_explicit(&cq->count, count, memory_order_relaxed);
    pthread_mutex_unlock(&cq->lock);
    return taken;
}

static inline int poll(struct cq *cq, int entries, struct ibv_wc *wc, struct cq_time *time) {
    if (atomic_load_explicit(&cq->count, memory_order_acquire) == 0) {
        cq_ring_deferred(cq);
        cq_scan_try(cq);
        if (atomic_load_explicit(&cq->shared_queues, memory_order_relaxed) != 0) {
            target_ops->poll();
        }
    }
    int taken = 0;
    if (atomic_load_explicit(&cq->count, memory_order_acquire) != 0) {
        taken = take(cq, entries, wc, time);
    }
    cq_note_poll(cq, (uint32_t) taken);
    return taken;
}

int cq_poll(struct ibv_cq *ibv, int entries, struct ibv_wc *wc) {
    return poll(cq_of(ibv), entries, wc, NULL);
}

int cq_poll_one(struct cq *cq, struct ibv_wc *wc, struct cq_time *time) {
    return poll(cq, 1, wc, time);
}

int cq_req_notify(struct ibv_cq *ibv, int solicited_only) {
    struct cq *cq = cq_of(ibv);
    if (ibv->channel == NULL) {
        return 0; /* armed like a device, without a channel for the event */
    }
    cq_ring_deferred(cq);
    cq_scan_try(cq); /* completions that are here already cause no event, because the caller polls after arming */
    enum cq_arm arm = solicited_only ? CQ_ARMED_SOLICITED : CQ_ARMED;
    pthread_mutex_lock(&cq->lock);
    if (cq->armed < arm) {
        cq->armed = arm;
    }
    enum notify_cq_state state = cq->armed == CQ_ARMED ? NOTIFY_CQ_ARMED : NOTIFY_CQ_ARMED_SOLICITED;
    atomic_exchange(cq->word, NOTIFY_CQ_NEXT(atomic_load(cq->word), state));
    pthread_mutex_unlock(&cq->lock);
    cq_overdue_to_engine(cq);
    /* A peer that published before it could see the new word has not rung. Its tick is visible now. */
    cq_scan(cq);
    if (atomic_load_explicit(&cq->shared_queues, memory_order_relaxed) != 0) {
        target_ops->end_polling();
    }
    return 0;
}

/* Lets peers ring again for an armed completion queue, and executes work announced so far. */
static void rearm(struct cq *cq) {
    pthread_mutex_lock(&cq->lock);
    uint64_t word = atomic_load(cq->word);
    enum notify_cq_state state = NOTIFY_CQ_STATE(word);
    bool armed = state == NOTIFY_CQ_ARMED || state == NOTIFY_CQ_ARMED_SOLICITED;
    if (armed) {
        atomic_exchange(cq->word, NOTIFY_CQ_NEXT(word, state));
    }
    pthread_mutex_unlock(&cq->lock);
    if (armed) {
        cq_scan(cq);
    }
}

/* IB specification 11.6.3.1: the completion queue is dead, and so are the queue pairs that use it. */
static void report_overflow(struct engine_task *task) {
    struct cq *cq = container_of(task, struct cq, overflow);
    async_raise(context_of(cq->ibv.context), IBV_EVENT_CQ_ERR, &cq->ibv, &cq->async);
    qp_fail_users(cq);
    if (target_ops != NULL) {
        target_ops->overflowed(cq);
    }
}

void cq_set_target_ops(const struct cq_target_ops *ops) {
    target_ops = ops;
}
