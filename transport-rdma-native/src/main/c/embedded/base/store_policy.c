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
/* Policy of stores: see store_policy.h. */
#include "store_policy.h"

#include <stdatomic.h>

/*
 * Factor, in halves, by which ordinary stores may take longer, as the reader gains by them. Measured by `ib_send_lat`
 * on a 2-core AMD EPYC guest whose cores share a cache, nanoseconds a KiB: the writer 19 with ordinary stores and 26
 * past the cache, the reader 19 and 46. On a guest whose cores do not, the writer took 3 to 6 times as long with
 * ordinary stores.
 */
#define WORTH_HALVES 3u

static atomic_bool latest_decision;

static void enter(struct store_policy *policy, enum store_phase phase, uint64_t bytes) {
    policy->phase = phase;
    policy->left = bytes;
    policy->bytes = policy->ns = policy->slowest_bytes = policy->slowest_ns = 0;
}

void store_policy_init(struct store_policy *policy) {
    *policy = (struct store_policy) {
        .gap = STORE_POLICY_FIRST_GAP,
        .decided = atomic_load_explicit(&latest_decision, memory_order_relaxed),
    };
    enter(policy, STORE_DECIDED, policy->gap);
}

/* Returns the cost of the sample that ends, without its slowest piece. */
static uint64_t cost(const struct store_policy *policy) {
    uint64_t bytes = policy->bytes - policy->slowest_bytes;
    return bytes == 0 ? 0 : ((policy->ns - policy->slowest_ns) << 20) / bytes;
}

static void decide(struct store_policy *policy) {
    uint64_t other = cost(policy);
    uint64_t ordinary = policy->decided ? other : policy->decided_cost;
    uint64_t past_cache = policy->decided ? policy->decided_cost : other;
    bool decision = 2 * ordinary > WORTH_HALVES * past_cache;
    if (decision != policy->decided) {
        policy->gap = STORE_POLICY_FIRST_GAP;
    } else if (policy->gap < STORE_POLICY_MAX_GAP) {
        policy->gap *= 2;
    }
    policy->decided = decision;
    atomic_store_explicit(&latest_decision, decision, memory_order_relaxed);
    enter(policy, STORE_DECIDED, policy->gap);
}

void store_policy_stored(struct store_policy *policy, uint32_t bytes, uint64_t ns) {
    policy->bytes += bytes;
    policy->ns += ns;
    if (ns > policy->slowest_ns) {
        policy->slowest_ns = ns;
        policy->slowest_bytes = bytes;
    }
    if (bytes < policy->left) {
        policy->left -= bytes;
        return;
    }
    if (policy->phase == STORE_SAMPLE) {
        policy->decided_cost = cost(policy);
    }
    if (policy->phase == STORE_OTHER_SAMPLE) {
        decide(policy);
    } else {
        enter(policy, (enum store_phase) (policy->phase + 1), STORE_POLICY_SAMPLE);
    }
}
