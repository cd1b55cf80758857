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
 * One direction of descriptors and payload between two ends of queue pairs (wire.h). The producer writes to the own
 * segment, and the consumer reads the peer's. Both belong to the owner of the queue pair's gate.
 */
#ifndef NETTY_RDMA_EMBEDDED_STREAM_H
#define NETTY_RDMA_EMBEDDED_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "embedded/base/store_policy.h"
#include "wire.h"

struct producer {
    _Atomic uint32_t *begun;
    struct wire_slot *ring;
    uint8_t *slab;
    uint32_t mask, slab_size;
    uint32_t prod;  /* descriptors published */
    uint32_t acked; /* descriptors that the peer has acknowledged */
    uint32_t slab_head, slab_tail; /* bytes claimed and released since the slab was last empty */
    uint32_t slab_end[WIRE_REQUEST_SLOTS]; /* slab_head after each descriptor */
    struct store_policy store;
    uint64_t store_start_ns;
};

struct consumer {
    const _Atomic uint32_t *begun;
    const struct wire_slot *ring;
    const uint8_t *slab;
    uint32_t mask, slab_size;
    _Atomic uint32_t pos; /* descriptors consumed; other threads may read it */
    uint32_t notified;    /* position of the latest consumer_acknowledge() */
};

void producer_init(struct producer *producer, struct wire_control *control, struct wire_segment *own,
                   enum wire_stream stream);
void consumer_init(struct consumer *consumer, const struct wire_control *control, const struct wire_segment *peer,
                   enum wire_stream stream);

/* Returns the slot for the next descriptor, or NULL if the ring is full. */
struct wire_slot *producer_slot(struct producer *producer);

/* Returns the bytes of a slab that a payload takes. */
static inline uint32_t producer_room(uint32_t length) {
    return (length + 63) & ~63u;
}

/* Claims room for a payload of this length in the slab. Returns its offset, or WIRE_INLINE if there is no room now. */
uint32_t producer_claim(struct producer *producer, uint32_t length);

/* Prepares to copy a payload to the slot or the slab. Returns whether to copy past the cache. */
bool producer_begin_copy(struct producer *producer, uint32_t length);
void producer_end_copy(struct producer *producer, uint32_t length);

/* Copies the payload to the slot or the slab. Returns false after a fault, like copy_memory(). */
bool producer_copy(struct producer *producer, void *to, const void *from, uint32_t length);

/* Publishes the slot, which is complete except for its sequence. */
void producer_publish(struct producer *producer, struct wire_slot *slot);

/* Takes the peer's acknowledgement. Returns false if it covers descriptors that were not sent. */
bool producer_acked(struct producer *producer, uint32_t count);

static inline uint32_t consumer_pos(const struct consumer *consumer) {
    return atomic_load_explicit(&consumer->pos, memory_order_relaxed);
}

/* Returns whether the next descriptor is published. Any thread may use the result as a hint. */
static inline bool consumer_ready(const struct consumer *consumer) {
    uint32_t pos = consumer_pos(consumer);
    const struct wire_slot *slot = &consumer->ring[pos & consumer->mask];
    return atomic_load_explicit(consumer->begun, memory_order_relaxed) != 0
            && atomic_load_explicit(&slot->desc.sequence, memory_order_acquire) == pos + 1;
}

/* Returns the position after the last published descriptor. */
static inline uint32_t consumer_published(const struct consumer *consumer) {
    uint32_t pos = consumer_pos(consumer), end = pos + consumer->mask + 1;
    const struct wire_slot *ring = consumer->ring;
    while (pos != end
            && atomic_load_explicit(&ring[pos & consumer->mask].desc.sequence, memory_order_acquire) == pos + 1) {
        pos++;
    }
    return pos;
}

/*
 * Makes a private copy of the next descriptor, which the peer cannot change any more, and finds its payload in the
 * peer's memory. Returns false if the payload is not within the slot or slab.
 */
bool consumer_read(const struct consumer *consumer, struct wire_desc *desc, const uint8_t **payload);

static inline void consumer_advance(struct consumer *consumer) {
    atomic_store_explicit(&consumer->pos, consumer_pos(consumer) + 1, memory_order_relaxed);
}

/* Takes the latest consumer_advance() back. */
static inline void consumer_step_back(struct consumer *consumer) {
    atomic_store_explicit(&consumer->pos, consumer_pos(consumer) - 1, memory_order_relaxed);
}

/*
 * Waiting for the other end: the waiting end publishes the position that it waits for (`want`), and the other end
 * compares when it acknowledges. Both write their own word before they read the other's, with sequential consistency,
 * so at least one of them sees the other's word.
 */

/*
 * Asks to be woken when half is acknowledged, so that this end copies pieces in while the peer copies the other half.
 */
static inline void producer_want(const struct producer *producer, struct wire_control *own, enum wire_stream stream) {
    uint32_t outstanding = producer->prod - producer->acked;
    atomic_exchange(&own->stream[stream].want, producer->acked + (outstanding + 1) / 2);
}

/* Acknowledges what was consumed. Returns whether the peer has asked to be woken by this. */
static inline bool consumer_acknowledge(struct consumer *consumer, struct wire_control *own,
                                        const struct wire_control *peer, enum wire_stream stream,
                                        enum wire_status status) {
    uint32_t pos = consumer_pos(consumer);
    atomic_exchange(&own->stream[stream].ack, WIRE_ACK_WORD(pos, status));
    uint32_t want = atomic_load(&peer->stream[stream].want);
    bool wanted = (int32_t) (pos - want) >= 0 && (int32_t) (consumer->notified - want) < 0;
    consumer->notified = pos;
    return wanted;
}

#endif
