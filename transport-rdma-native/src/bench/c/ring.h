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
 * A ring in memory that two processes share, for messages in one direction. It is as little as such a ring can be: what
 * is built on it measures the machine. A message goes in chunks, so that one end copies out while the other copies in.
 *
 * Each slot says itself when it is full, so that a message that is awaited costs the reader no look elsewhere. How much
 * has been read is told in one place, which the writer looks at only when it knows of no free slot.
 */
#ifndef SHM_RING_H
#define SHM_RING_H

#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CACHE_LINE 64
/* Both by trial: 8 KiB and less is slower, 16 to 32 KiB and 4 to 16 slots are about the same. */
#define CHUNK_BYTES (32 << 10)
#define SLOTS 8

struct slot {
    _Atomic uint64_t filled; /* number of the last chunk in it, from 1 */
    alignas(CACHE_LINE) unsigned char data[CHUNK_BYTES];
};

struct ring {
    alignas(CACHE_LINE) _Atomic uint64_t consumed; /* chunks that the reader has copied out */
    struct slot slots[SLOTS];
};

/* One process's end of a ring. Not shared. */
struct ring_end {
    struct ring *ring;
    uint64_t chunks;   /* that went through it */
    uint64_t consumed; /* writer: what it knows of the reader */
};

/* Way of waiting, the same for all ends of a process. */
struct waiting {
    bool yield; /* both processes have one core */
    const _Atomic bool *stop;
};

static inline void ring_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Waits until the other end has counted so far. False if the measurement is over. */
static inline bool ring_await(const _Atomic uint64_t *counter, uint64_t awaited, const struct waiting *waiting) {
    while (atomic_load_explicit(counter, memory_order_acquire) < awaited) {
        if (atomic_load_explicit(waiting->stop, memory_order_relaxed)) {
            return false;
        }
        if (waiting->yield) {
            sched_yield();
        } else {
            ring_pause();
        }
    }
    return true;
}

static inline size_t ring_chunk(size_t bytes) {
    return bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES;
}

/* Copies a message in. False if the measurement is over. */
static inline bool ring_write(struct ring_end *end, const unsigned char *from, size_t bytes,
    const struct waiting *waiting) {
    struct ring *ring = end->ring;

    while (bytes > 0) {
        struct slot *slot = &ring->slots[end->chunks % SLOTS];
        size_t length = ring_chunk(bytes);

        if (end->chunks - end->consumed == SLOTS) {
            if (!ring_await(&ring->consumed, end->consumed + 1, waiting)) {
                return false;
            }
            end->consumed = atomic_load_explicit(&ring->consumed, memory_order_acquire);
        }
        memcpy(slot->data, from, length);
        atomic_store_explicit(&slot->filled, ++end->chunks, memory_order_release);
        from += length;
        bytes -= length;
    }
    return true;
}

/* Copies a message out. False if the measurement is over. */
static inline bool ring_read(struct ring_end *end, unsigned char *to, size_t bytes, const struct waiting *waiting) {
    struct ring *ring = end->ring;

    while (bytes > 0) {
        struct slot *slot = &ring->slots[end->chunks % SLOTS];
        size_t length = ring_chunk(bytes);

        if (!ring_await(&slot->filled, end->chunks + 1, waiting)) {
            return false;
        }
        memcpy(to, slot->data, length);
        atomic_store_explicit(&ring->consumed, ++end->chunks, memory_order_release);
        to += length;
        bytes -= length;
    }
    return true;
}

#endif
