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
 * Waits for another thread to finish a short step: spins for some microseconds, then sleeps.
 *
 * sched_yield(2) is not used, because its effect on threads of the normal policy is unspecified (see its NOTES). Since
 * Linux 6.6 each call costs a time slice, so a thread that yielded to one that polls all the time waited for seconds.
 */
#ifndef NETTY_RDMA_EMBEDDED_BACKOFF_H
#define NETTY_RDMA_EMBEDDED_BACKOFF_H

#include <time.h>

#include "cancel.h"

#define BACKOFF_SPINS 200u
#define BACKOFF_SLEEP_NS 20000

static inline void backoff(unsigned *turn) {
    if (*turn < BACKOFF_SPINS) {
        ++*turn;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    } else {
        UNCANCELLED;
        nanosleep(&(struct timespec) { .tv_nsec = BACKOFF_SLEEP_NS }, NULL);
    }
}

#endif
