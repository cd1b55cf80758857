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
 * Decides whether data for the peer is stored past the cache, for each direction of a connection. The measure is the
 * writer's cost, which differs between machines and between the cores of one. An ordinary store takes the cache line
 * from the cache of the reader, which has it from the previous use of the memory. If the two cores share a cache, that
 * costs nothing, and the reader finds the bytes there. If they are far apart, such a store takes several times as long
 * as a store to memory.
 *
 * Each way is measured with the memory in the state in which the same way has left it. So before a sample, as many
 * bytes are stored in that way without being measured. The slowest piece of a sample does not count, so one
 * interruption does not decide. Comparisons become rarer as long as they have the same result.
 *
 * One thread at a time.
 */
#ifndef NETTY_RDMA_EMBEDDED_STORE_POLICY_H
#define NETTY_RDMA_EMBEDDED_STORE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define STORE_POLICY_MIN 4096u /* for fewer bytes, the fence after stores past the cache costs more than they save */
#define STORE_POLICY_SAMPLE (UINT64_C(512) << 10) /* twice the shared memory of one direction of a connection */
#define STORE_POLICY_FIRST_GAP (UINT64_C(2) << 20)
#define STORE_POLICY_MAX_GAP (UINT64_C(1) << 30)

enum store_phase { STORE_DECIDED, STORE_SAMPLE, STORE_OTHER_WAY, STORE_OTHER_SAMPLE };

struct store_policy {
    uint64_t left; /* bytes until the phase ends */
    uint64_t gap;  /* bytes from one comparison to the next */
    uint64_t bytes, ns;                 /* size and cost of the sample under way */
    uint64_t slowest_bytes, slowest_ns; /* slowest piece of the sample */
    uint64_t decided_cost;              /* cost of the first sample of a comparison, nanoseconds a MiB */
    uint8_t phase;
    bool decided; /* result: past the cache? */
};

/* Initializes the policy with the latest result of another one of this process. */
void store_policy_init(struct store_policy *policy);

/* Returns whether to store the next piece, of at least STORE_POLICY_MIN bytes, past the cache. */
static inline bool store_policy_past_cache(const struct store_policy *policy) {
    return policy->decided != (policy->phase >= STORE_OTHER_WAY);
}

/* Returns whether to measure how long the next piece takes. */
static inline bool store_policy_samples(const struct store_policy *policy) {
    return (policy->phase & 1) != 0;
}

/* Notes that the piece was stored. The time is ignored outside a sample. */
void store_policy_stored(struct store_policy *policy, uint32_t bytes, uint64_t ns);

#endif
