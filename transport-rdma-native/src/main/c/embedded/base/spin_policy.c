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
#include "spin_policy.h"

#include <sys/resource.h>

static int64_t min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

long spin_policy_preemptions(void) {
    struct rusage usage = { 0 };
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

void spin_policy_init(struct spin_policy *policy, int64_t max_spin_ns, long (*preemptions)(void), int64_t now_ns) {
    *policy = (struct spin_policy) {
        .max_spin_ns = max_spin_ns, .max_credit_ns = SPIN_MAX_TRIES * max_spin_ns,
        .credit_ns = SPIN_MAX_TRIES * max_spin_ns, .wait_start_ns = now_ns, .last_look_ns = now_ns,
        .wait_end_ns = now_ns, .share_time_ns = now_ns, .sleep_ns = SPIN_FIRST_SLEEP_NS,
        .preemptions = preemptions, .outdated = true, .quiet = true
    };
}

static int64_t spin_ns(const struct spin_policy *policy) {
    return min(policy->max_spin_ns, SPIN_SLEEPS * policy->sleep_ns);
}

enum spin_state spin_policy_state(struct spin_policy *policy, int64_t now_ns) {
    int64_t passed = now_ns - policy->share_time_ns;
    policy->share_time_ns = now_ns;
    policy->credit_ns = min(policy->max_credit_ns, policy->credit_ns + passed / SPIN_VAIN_SHARE);
    policy->lost_ns = max(0, policy->lost_ns - passed / SPIN_LOST_SHARE);
    if (policy->quiet) {
        return SPIN_QUIET;
    }
    if (policy->lost_ns > SPIN_MAX_LOST_NS) {
        return SPIN_PREEMPTED;
    }
    return policy->credit_ns < spin_ns(policy) ? SPIN_OVERSPENT : SPIN_ACTIVE;
}

bool spin_policy_begin(struct spin_policy *policy, int64_t now_ns) {
    policy->wait_start_ns = policy->last_look_ns = now_ns;
    policy->outdated = policy->outdated || now_ns - policy->wait_end_ns > SPIN_LONG_WORK_NS;
    policy->polling = policy->max_spin_ns > 0 && spin_policy_state(policy, now_ns) == SPIN_ACTIVE;
    if (policy->polling && policy->outdated) { /* is_preempted() makes a system call, so not at each wait */
        policy->outdated = false;
        policy->known_preemptions = policy->preemptions();
    }
    return policy->polling;
}

static bool is_preempted(struct spin_policy *policy, int64_t now_ns) {
    long known = policy->known_preemptions;
    policy->known_preemptions = policy->preemptions();
    if (policy->known_preemptions == known) {
        return false;
    }
    policy->lost_ns = min(SPIN_MAX_LOST_NS + SPIN_MAX_REST_NS / SPIN_LOST_SHARE,
                          policy->lost_ns + now_ns - policy->last_look_ns);
    return true;
}

bool spin_policy_found_nothing(struct spin_policy *policy, int64_t now_ns) {
    if (now_ns - policy->last_look_ns > SPIN_JUMP_NS) {
        policy->polling = !is_preempted(policy, now_ns);
    } else if (now_ns - policy->wait_start_ns >= spin_ns(policy)) {
        policy->credit_ns -= now_ns - policy->wait_start_ns;
        policy->polling = false;
    }
    policy->last_look_ns = now_ns;
    return policy->polling;
}

static void end_wait(struct spin_policy *policy, int64_t now_ns) {
    policy->polling = false;
    policy->wait_end_ns = now_ns;
}

void spin_policy_found(struct spin_policy *policy, int64_t now_ns) {
    if (policy->polling && now_ns - policy->last_look_ns > SPIN_JUMP_NS) {
        is_preempted(policy, now_ns);
    }
    policy->quiet = false;
    policy->credit_ns = min(policy->max_credit_ns, policy->credit_ns + policy->sleep_ns);
    end_wait(policy, now_ns);
}

void spin_policy_woke(struct spin_policy *policy, int64_t now_ns) {
    int64_t slept = now_ns - policy->last_look_ns;
    policy->outdated = true;
    policy->quiet = now_ns - policy->wait_start_ns > spin_ns(policy) + policy->sleep_ns / 2;
    if (slept < 2 * policy->max_spin_ns) {
        policy->sleep_ns += (max(slept, SPIN_MIN_SLEEP_NS) - policy->sleep_ns) / 8;
    }
    end_wait(policy, now_ns);
}
