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
/* Descriptors and slab memory of one direction between two queue pair ends. */
#include "check.h"
#include "embedded/link/stream.h"

static struct producer producer;

static void publish(uint32_t offset, uint32_t length) {
    struct wire_slot *slot = producer_slot(&producer);
    CHECK(slot != NULL);
    slot->desc.slab = offset;
    slot->desc.length = length;
    producer_publish(&producer, slot);
}

static void memory_is_not_claimed_again_before_it_is_acknowledged(void) {
    enum { LENGTH = 32 << 10 };
    publish(producer_claim(&producer, LENGTH), LENGTH);
    CHECK(producer_acked(&producer, 1));
    publish(WIRE_INLINE, 8);
    uint32_t pending = producer_claim(&producer, LENGTH);
    publish(pending, LENGTH);
    CHECK(producer_acked(&producer, 2)); /* the one without memory, not the one after it */
    uint32_t offset;
    while ((offset = producer_claim(&producer, LENGTH)) != WIRE_INLINE) {
        CHECK(offset + LENGTH <= pending || pending + LENGTH <= offset);
        publish(offset, LENGTH);
    }
}

int main(void) {
    struct wire_arena *arena = aligned_alloc(_Alignof(struct wire_arena), wire_arena_size(1));
    CHECK(arena != NULL);
    producer_init(&producer, &arena->control[0], &arena->segment[0], WIRE_REQUESTS);
    RUN(memory_is_not_claimed_again_before_it_is_acknowledged);
    free(arena);
    return 0;
}
