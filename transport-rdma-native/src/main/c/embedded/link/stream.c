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
/* Streams of descriptors: see stream.h. */
#include "stream.h"

#include <string.h>

#include "embedded/base/copy.h"
#include "engine.h"

void producer_init(struct producer *producer, struct wire_control *control, struct wire_segment *own,
                   enum wire_stream stream) {
    bool requests = stream == WIRE_REQUESTS;
    *producer = (struct producer) {
        .begun = &control->begun[stream],
        .ring = requests ? own->request : own->response,
        .slab = requests ? own->request_slab : own->response_slab,
        .mask = (requests ? WIRE_REQUEST_SLOTS : WIRE_RESPONSE_SLOTS) - 1,
        .slab_size = requests ? WIRE_REQUEST_SLAB : WIRE_RESPONSE_SLAB,
    };
    store_policy_init(&producer->store);
}

void consumer_init(struct consumer *consumer, const struct wire_control *control, const struct wire_segment *peer,
                   enum wire_stream stream) {
    bool requests = stream == WIRE_REQUESTS;
    *consumer = (struct consumer) {
        .begun = &control->begun[stream],
        .ring = requests ? peer->request : peer->response,
        .slab = requests ? peer->request_slab : peer->response_slab,
        .mask = (requests ? WIRE_REQUEST_SLOTS : WIRE_RESPONSE_SLOTS) - 1,
        .slab_size = requests ? WIRE_REQUEST_SLAB : WIRE_RESPONSE_SLAB,
    };
}

struct wire_slot *producer_slot(struct producer *producer) {
    return producer->prod - producer->acked > producer->mask ? NULL : &producer->ring[producer->prod & producer->mask];
}

uint32_t producer_claim(struct producer *producer, uint32_t length) {
    uint32_t size = producer_room(length);
    /*
     * Reset only when all is acknowledged: the acknowledgement of a descriptor without payload would move the tail as
     * well.
     */
    if (producer->prod == producer->acked) {
        producer->slab_head = producer->slab_tail = 0; /* reset, so light traffic touches few pages, and hot ones */
    }
    uint32_t head = producer->slab_head;
    uint32_t offset = head & (producer->slab_size - 1);
    if (offset + size > producer->slab_size) {
        head += producer->slab_size - offset;
        offset = 0;
    }
    if (head + size - producer->slab_tail > producer->slab_size) {
        return WIRE_INLINE;
    }
    producer->slab_head = head + size;
    return offset;
}

bool producer_begin_copy(struct producer *producer, uint32_t length) {
    if (length < STORE_POLICY_MIN) {
        return false;
    }
    if (store_policy_samples(&producer->store)) {
        producer->store_start_ns = engine_now_ns();
    }
    return store_policy_past_cache(&producer->store);
}

void producer_end_copy(struct producer *producer, uint32_t length) {
    if (length >= STORE_POLICY_MIN) {
        bool samples = store_policy_samples(&producer->store);
        store_policy_stored(&producer->store, length, samples ? engine_now_ns() - producer->store_start_ns : 0);
    }
}

bool producer_copy(struct producer *producer, void *to, const void *from, uint32_t length) {
    bool past_cache = producer_begin_copy(producer, length);
    bool copied = past_cache ? copy_past_cache(to, from, length) : copy_memory(to, from, length);
    producer_end_copy(producer, length);
    return copied;
}

void producer_publish(struct producer *producer, struct wire_slot *slot) {
    producer->slab_end[producer->prod & producer->mask] = producer->slab_head;
    if (producer->prod == 0) {
        atomic_store_explicit(producer->begun, 1, memory_order_relaxed); /* the peer reads this line all the time */
    }
    producer->prod++;
    atomic_store_explicit(&slot->desc.sequence, producer->prod, memory_order_release);
}

bool producer_acked(struct producer *producer, uint32_t count) {
    if (count - producer->acked > producer->prod - producer->acked) {
        return false;
    }
    if (count != producer->acked) {
        producer->slab_tail = producer->slab_end[(count - 1) & producer->mask];
        producer->acked = count;
    }
    return true;
}

bool consumer_read(const struct consumer *consumer, struct wire_desc *desc, const uint8_t **payload) {
    const struct wire_slot *slot = &consumer->ring[consumer_pos(consumer) & consumer->mask];
    memcpy(desc, &slot->desc, sizeof(*desc));
    if (desc->slab == WIRE_INLINE) {
        *payload = slot->payload;
        return desc->length <= WIRE_INLINE_SIZE;
    }
    *payload = consumer->slab + desc->slab;
    return desc->length <= consumer->slab_size && desc->slab <= consumer->slab_size - desc->length;
}
