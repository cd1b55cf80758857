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
 * A gate: a lock with handed-over work (flat combining). A thread that moves data never waits for it. If the gate is
 * taken, the thread leaves its request as bits, which the owner serves before it leaves the gate. Only rare control
 * operations wait (gate_lock()). So one thread at a time does all the work of an object, no request is lost, and
 * no thread sleeps while another thread makes a long copy.
 */
#ifndef NETTY_RDMA_EMBEDDED_GATE_H
#define NETTY_RDMA_EMBEDDED_GATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "backoff.h"

#define GATE_OWNED (1u << 31)

struct gate {
    atomic_uint bits;
    atomic_uint waiters; /* threads in gate_lock() */
};

/*
 * Returns the work to do now if the caller became the owner. Returns 0 otherwise: the present owner will do the work.
 */
static inline unsigned gate_enter(struct gate *gate, unsigned work) {
    unsigned expected = 0;
    if (atomic_compare_exchange_strong(&gate->bits, &expected, GATE_OWNED)) {
        return work;
    }
    if (atomic_fetch_or(&gate->bits, GATE_OWNED | work) & GATE_OWNED) {
        return 0;
    }
    return atomic_exchange(&gate->bits, GATE_OWNED) & ~GATE_OWNED;
}

static inline bool gate_claim(struct gate *gate) {
    unsigned expected = 0;
    return atomic_load_explicit(&gate->bits, memory_order_relaxed) == 0
            && atomic_compare_exchange_strong(&gate->bits, &expected, GATE_OWNED);
}

/* Becomes the owner if there is none, and no thread waits in gate_lock(), which a polling thread must not keep out. */
static inline bool gate_try(struct gate *gate) {
    return atomic_load_explicit(&gate->waiters, memory_order_relaxed) == 0 && gate_claim(gate);
}

/* Waits until the caller is the owner; for rare control operations. A gate that is never left stays closed. */
static inline void gate_lock(struct gate *gate) {
    atomic_fetch_add(&gate->waiters, 1);
    for (unsigned turn = 0; !gate_claim(gate);) {
        backoff(&turn);
    }
    atomic_fetch_sub(&gate->waiters, 1);
}

/* Leaves the gate and returns 0; or returns work that was requested meanwhile, and the caller is still the owner. */
static inline unsigned gate_leave(struct gate *gate) {
    unsigned expected = GATE_OWNED;
    if (atomic_compare_exchange_strong(&gate->bits, &expected, 0)) {
        return 0;
    }
    return atomic_exchange(&gate->bits, GATE_OWNED) & ~GATE_OWNED;
}

#endif
