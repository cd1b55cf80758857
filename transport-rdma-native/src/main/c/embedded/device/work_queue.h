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

/* Indices count up for ever. */
struct work_queue {
    pthread_mutex_t lock; /* of posting */
    uint8_t *ring;
    uint32_t stride, mask, limit, max_sge;
    _Atomic uint32_t head; /* posted */
    uint32_t done;         /* completed; the gate's owner */
    _Atomic uint32_t tail; /* completed and polled */
};

int work_queue_init(struct work_queue *queue, uint32_t limit, uint32_t max_sge, size_t stride);
void work_queue_free(struct work_queue *queue);
void work_queue_reset(struct work_queue *queue);
/* Copies the list to the queue. Returns 0, or errno and the request that is not there. */
int work_queue_post_recv(struct work_queue *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

static inline void *work_queue_at(const struct work_queue *queue, uint32_t index) {
    return queue->ring + (size_t) (index & queue->mask) * queue->stride;
}

/* With `head` as the index of the next one. */
static inline bool work_queue_is_full(const struct work_queue *queue, uint32_t head) {
    return head - atomic_load_explicit(&queue->tail, memory_order_acquire) >= queue->limit;
}

#endif
