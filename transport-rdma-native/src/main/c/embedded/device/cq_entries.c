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
/* Entries of completion queues, and the events that they make. See cq.h. */
#include <errno.h>

#include "cq.h"
#include "embedded/base/cancel.h"
#include "embedded/base/clock.h"
#include "watch.h"

/* Marks the queue as polled. The event wakes the application, which will poll, so peers need not ring until then. */
static void mark_polled(struct cq *cq) {
    atomic_store_explicit(&cq->polling.notified_at, atomic_load_explicit(cq->polling.polls, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_exchange(cq->word, NOTIFY_CQ_SAME(atomic_load(cq->word), NOTIFY_CQ_POLLED));
    watch_cq(cq);
}

static void fire(struct cq *cq) {
    cq->armed = CQ_UNARMED;
    mark_polled(cq);
    channel_raise(channel_of(cq->ibv.channel), cq);
}

void cq_push(struct cq *cq, const struct cqe *cqe, bool solicited) {
    pthread_mutex_lock(&cq->lock);
    uint32_t count = atomic_load_explicit(&cq->count, memory_order_relaxed);
    if (cq->overflowed || count > cq->mask) {
        if (!cq->overflowed) {
            cq->overflowed = true;
            engine_submit(&cq->overflow);
        }
    } else {
        cq->ring[(cq->head + count) & cq->mask] = *cqe;
        if (cq->times != NULL) {
            cq->times[(cq->head + count) & cq->mask] = (struct cq_time) {
                clock_ns(CLOCK_MONOTONIC_RAW), clock_ns(CLOCK_REALTIME)
            };
        }
        atomic_store_explicit(&cq->count, count + 1, memory_order_release);
        if (cq->armed == CQ_ARMED
                || (cq->armed == CQ_ARMED_SOLICITED && (solicited || cqe->wc.status != IBV_WC_SUCCESS))) {
            fire(cq);
        }
    }
    pthread_mutex_unlock(&cq->lock);
}

int cq_resize(struct ibv_cq *ibv, int entries) {
    UNCANCELLED;
    struct cq *cq = cq_of(ibv);
    if (context_is_inherited(ibv->context)) {
        return EIO;
    }
    if (entries < 1 || entries > DEVICE_MAX_CQE) {
        return EINVAL;
    }
    uint32_t size = cq_ring_size(entries);
    struct cqe *ring = malloc(size * sizeof(*ring));
    struct cq_time *times = cq->times == NULL ? NULL : malloc(size * sizeof(*times));
    if (ring == NULL || (times == NULL && cq->times != NULL)) {
        free(ring);
        free(times);
        return ENOMEM;
    }
    pthread_mutex_lock(&cq->lock);
    uint32_t count = atomic_load_explicit(&cq->count, memory_order_relaxed);
    bool fits = count <= (uint32_t) entries;
    struct cqe *unused = ring;
    struct cq_time *unused_times = times;
    if (fits) {
        for (uint32_t i = 0; i < count; i++) {
            ring[i] = cq->ring[(cq->head + i) & cq->mask];
            if (times != NULL) {
                times[i] = cq->times[(cq->head + i) & cq->mask];
            }
        }
        unused = cq->ring;
        unused_times = cq->times;
        cq->ring = ring;
        cq->times = times;
        cq->mask = size - 1;
        cq->head = 0;
        ibv->cqe = (int) size;
    }
    pthread_mutex_unlock(&cq->lock);
    free(unused);
    free(unused_times);
    return fits ? 0 : EINVAL;
}

void cq_purge(struct cq *cq, const _Atomic uint32_t *tail) {
    pthread_mutex_lock(&cq->lock);
    uint32_t count = atomic_load_explicit(&cq->count, memory_order_relaxed), kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct cqe *cqe = &cq->ring[(cq->head + i) & cq->mask];
        if (cqe->tail != tail) {
            if (cq->times != NULL) {
                cq->times[(cq->head + kept) & cq->mask] = cq->times[(cq->head + i) & cq->mask];
            }
            cq->ring[(cq->head + kept++) & cq->mask] = *cqe;
        }
    }
    atomic_store_explicit(&cq->count, kept, memory_order_relaxed);
    pthread_mutex_unlock(&cq->lock);
}
