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
 * Decides whether an idle thread polls before it sleeps, and for how long. SpinPolicy.java explains the reasons. The
 * engine needs only a part of that policy, because all its waits are of one kind. Each poll that finds work was worth
 * it, because the engine polls only while two long messages keep it busy.
 *
 *   SPIN_QUIET      at first, and after a wait that polling would not have shortened: sleeps at once
 *   SPIN_PREEMPTED  while polling, it lost the processor to others for more than 1/64 of the time: sleeps at once
 *   SPIN_OVERSPENT  polling was in vain too often: sleeps at once, until a budget of 1/256 of the time allows a try
 *   SPIN_ACTIVE     polls, for four times as long as a sleep takes here
 *
 * The engine has other duties, so it has no long tries. One thread.
 */
#ifndef NETTY_RDMA_EMBEDDED_SPIN_POLICY_H
#define NETTY_RDMA_EMBEDDED_SPIN_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#define SPIN_VAIN_SHARE 256
#define SPIN_MAX_TRIES 5
#define SPIN_SLEEPS 4
#define SPIN_LONG_WORK_NS INT64_C(20000)
#define SPIN_JUMP_NS INT64_C(100000)
#define SPIN_LOST_SHARE 64
#define SPIN_MAX_LOST_NS INT64_C(8000000)
#define SPIN_MAX_REST_NS INT64_C(2000000000)
#define SPIN_FIRST_SLEEP_NS INT64_C(50000)
#define SPIN_MIN_SLEEP_NS INT64_C(10000)

enum spin_state { SPIN_QUIET, SPIN_PREEMPTED, SPIN_OVERSPENT, SPIN_ACTIVE };

struct spin_policy {
    int64_t max_spin_ns;
    int64_t max_credit_ns;
    int64_t wait_start_ns, last_look_ns;
    int64_t wait_end_ns; /* end of the last wait */
    int64_t credit_ns;
    int64_t lost_ns;       /* time lost to other threads, above their share */
    int64_t share_time_ns; /* time up to which credit_ns and lost_ns have their shares */
    int64_t sleep_ns;      /* time that a sleep takes, moving average */
    long (*preemptions)(void);
    long known_preemptions;
    bool outdated; /* the thread may have been preempted, other than while polling, since known_preemptions was read */
    bool polling;
    bool quiet;
};

/*
 * Initializes the policy. `preemptions` returns how many times the scheduler has taken the processor from the calling
 * thread; `now_ns` is of CLOCK_MONOTONIC, here and below.
 */
void spin_policy_init(struct spin_policy *policy, int64_t max_spin_ns, long (*preemptions)(void), int64_t now_ns);

/* Returns the preemptions of this thread by getrusage(2): ru_nivcsw of RUSAGE_THREAD. */
long spin_policy_preemptions(void);

enum spin_state spin_policy_state(struct spin_policy *policy, int64_t now_ns);

/* Begins a wait: there is nothing to do. Returns whether to poll. */
bool spin_policy_begin(struct spin_policy *policy, int64_t now_ns);

/* Notes that a poll found nothing. Returns whether to look again. */
bool spin_policy_found_nothing(struct spin_policy *policy, int64_t now_ns);

/* Ends a wait without a sleep: there is something to do. */
void spin_policy_found(struct spin_policy *policy, int64_t now_ns);

/* Ends a wait after a sleep. */
void spin_policy_woke(struct spin_policy *policy, int64_t now_ns);

#endif
