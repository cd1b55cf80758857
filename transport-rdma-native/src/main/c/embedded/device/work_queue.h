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
/* Rings of work requests, of a queue pair or of a shared receive queue: posting, and the memory of them. */
#ifndef NETTY_RDMA_EMBEDDED_WORK_QUEUE_H
#define NETTY_RDMA_EMBEDDED_WORK_QUEUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct receive_wqe {
    uint64_t wr_id;
    uint32_t length;
    uint16_t num_sge;
    struct ibv_sge sge[];
};

static inline size_t receive_wqe_size(uint32_t sges) {
    return sizeof(struct receive_wqe) + sges * sizeof(struct ibv_sge);
}

/*
 * Ring of work requests, whose indices only count up (modulo 2^32). Most queue pairs of a large server are idle, so the
 * queue begins with the memory of a few first places. The other places are allocated when more requests are under way
 * at a time. A request that is posted to an empty queue takes the first place again. A byte stream posts hundreds of
 * receives without memory and with the same id. Such receives, posted to an empty queue, share one place outside the
 * ring.
 */
struct work_queue {
    pthread_mutex_t lock; /* guards posting */
    uint8_t *first; /* first places of the ring, `num_first` of them */
    uint8_t *ring;  /* all places, of which the first `num_first` are not used; or NULL */
    uint32_t num_first;
    uint32_t stride, mask, limit, max_sge;
    uint32_t base;             /* index at the first place; changes only while the queue is empty */
    _Atomic uint32_t same_end; /* receives before this index are at `same` */
    _Alignas(struct receive_wqe) uint8_t same[sizeof(struct receive_wqe)];
    _Atomic uint32_t head;     /* number posted */
    uint32_t done;             /* number completed; written by the gate's owner only */
    _Atomic uint32_t tail;     /* number completed and polled */
};

int work_queue_init(struct work_queue *queue, uint32_t limit, uint32_t max_sge, size_t stride);
void work_queue_free(struct work_queue *queue);
void work_queue_reset(struct work_queue *queue);
/* Copies the list to the queue. Returns 0, or errno and the first request that was not posted. */
int work_queue_post_recv(struct work_queue *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

static inline uint32_t work_queue_place(const struct work_queue *queue, uint32_t index) {
    return (index - queue->base) & queue->mask;
}

/* Returns the place of a send, or of a receive in the ring. */
static inline void *work_queue_at(const struct work_queue *queue, uint32_t index) {
    uint32_t place = work_queue_place(queue, index);
    return (place < queue->num_first ? queue->first : queue->ring) + (size_t) place * queue->stride;
}

static inline const struct receive_wqe *work_queue_receive(const struct work_queue *queue, uint32_t index) {
    bool same = (int32_t) (index - atomic_load_explicit(&queue->same_end, memory_order_relaxed)) < 0;
    return same ? (const struct receive_wqe *) queue->same : work_queue_at(queue, index);
}

/* Returns whether the queue is full, with `head` as the index of the next request. */
static inline bool work_queue_is_full(const struct work_queue *queue, uint32_t head) {
    return head - atomic_load_explicit(&queue->tail, memory_order_acquire) >= queue->limit;
}

int work_queue_grow(struct work_queue *queue);

/*
 * Makes room for the place of the index. Called before a write to the place, with the lock held, if the queue is not
 * full. Returns 0 or ENOMEM.
 */
static inline int work_queue_make_room(struct work_queue *queue, uint32_t index) {
    return work_queue_place(queue, index) < queue->num_first || queue->ring != NULL ? 0 : work_queue_grow(queue);
}

/* Begins to post. Called with the lock held, and `head` as the index of the next request. */
static inline void work_queue_begin(struct work_queue *queue, uint32_t head) {
    if (atomic_load_explicit(&queue->tail, memory_order_acquire) == head) {
        queue->base = head; /* no thread reads any place now */
    }
}

#endif
