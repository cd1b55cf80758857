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
/* Rings of work requests: see work_queue.h. */
#include "work_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sge.h"

/* Size from which a ring has pages of its own, and its first places elsewhere. A smaller ring has first places only. */
#define MIN_MAPPED ((size_t) 8192)
#define FIRST_PLACES 4u

int work_queue_init(struct work_queue *queue, uint32_t limit, uint32_t max_sge, size_t stride) {
    uint32_t size = 1;
    while (size < limit) {
        size *= 2;
    }
    stride = (stride + 63) & ~(size_t) 63;
    uint32_t num_first = size * stride < MIN_MAPPED || size < FIRST_PLACES ? size : FIRST_PLACES;
    queue->first = limit == 0 ? NULL : aligned_alloc(64, num_first * stride);
    if (queue->first == NULL && limit != 0) {
        return ENOMEM;
    }
    queue->num_first = num_first;
    queue->stride = (uint32_t) stride;
    queue->mask = size - 1;
    queue->limit = limit;
    queue->max_sge = max_sge;
    pthread_mutex_init(&queue->lock, NULL);
    return 0;
}

static size_t ring_bytes(const struct work_queue *queue) {
    return (queue->mask + 1) * (size_t) queue->stride;
}

int work_queue_grow(struct work_queue *queue) {
    void *memory = mmap(NULL, ring_bytes(queue), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return ENOMEM;
    }
    /* A huge page for one place of one ring would take the memory of many. */
    madvise(memory, ring_bytes(queue), MADV_NOHUGEPAGE);
    queue->ring = memory; /* places of requests posted after this are there */
    return 0;
}

void work_queue_free(struct work_queue *queue) {
    if (queue->stride != 0) {
        pthread_mutex_destroy(&queue->lock);
        free(queue->first);
        if (queue->ring != NULL) {
            munmap(queue->ring, ring_bytes(queue));
        }
    }
}

void work_queue_reset(struct work_queue *queue) {
    pthread_mutex_lock(&queue->lock);
    uint32_t head = atomic_load(&queue->head);
    queue->done = head;
    atomic_store(&queue->tail, head);
    pthread_mutex_unlock(&queue->lock);
}

/* Posts the next receive to the place that earlier ones share. Returns false if it differs from them. */
static bool post_same(struct work_queue *queue, uint32_t head, const struct ibv_recv_wr *wr) {
    struct receive_wqe *same = (struct receive_wqe *) queue->same;
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);
    uint32_t end = atomic_load_explicit(&queue->same_end, memory_order_relaxed);
    if (wr->num_sge == 0 && (tail == head || (end == head && same->wr_id == wr->wr_id))) {
        if (tail == head) {
            *same = (struct receive_wqe) { .wr_id = wr->wr_id };
        }
        atomic_store_explicit(&queue->same_end, head + 1, memory_order_relaxed);
        return true;
    }
    if ((int32_t) (tail - end) > 0) { /* `same_end` must not fall so far behind that it seems to be ahead */
        atomic_store_explicit(&queue->same_end, tail, memory_order_relaxed);
    }
    return false;
}

int work_queue_post_recv(struct work_queue *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr) {
    int error = 0;
    pthread_mutex_lock(&queue->lock);
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    work_queue_begin(queue, head);
    for (; wr != NULL; wr = wr->next) {
        if (work_queue_is_full(queue, head)) {
            error = ENOMEM;
        } else if (wr->num_sge < 0 || (uint32_t) wr->num_sge > queue->max_sge) {
            error = EINVAL;
        }
        if (error == 0 && post_same(queue, head, wr)) {
            head++;
            continue;
        }
        error = error == 0 ? work_queue_make_room(queue, head) : error;
        if (error != 0) {
            *bad_wr = wr;
            break;
        }
        struct receive_wqe *wqe = work_queue_at(queue, head);
        wqe->wr_id = wr->wr_id;
        wqe->num_sge = (uint16_t) wr->num_sge;
        for (int i = 0; i < wr->num_sge; i++) {
            wqe->sge[i] = wr->sg_list[i];
        }
        /* A list longer than a message is no error; the message bounds the data that arrives. */
        if (!sge_total(wr->sg_list, wr->num_sge, &wqe->length)) {
            wqe->length = WIRE_MAX_MESSAGE;
        }
        head++;
    }
    atomic_store(&queue->head, head);
    pthread_mutex_unlock(&queue->lock);
    return error;
}
