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
/* The gate: see gate.h. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "check.h"
#include "embedded/base/gate.h"
#include "pair.h"

#define HOLD_NS UINT64_C(50000)
#define LOCKS 200

static struct gate gate;
static atomic_bool stop;
static atomic_uint taken;

/* Tries like a thread that does nothing but poll: it has the gate, or is about to take it again. */
static void *keep_trying(void *unused) {
    (void) unused;
    while (!atomic_load(&stop)) {
        if (gate_try(&gate)) {
            for (uint64_t end = now_ns() + HOLD_NS; now_ns() < end;) {
            }
            atomic_fetch_add(&taken, 1);
            CHECK_EQ(gate_leave(&gate), 0);
        }
    }
    return NULL;
}

/*
 * The test runs on one processor, where the waiter runs only when the other was stopped, most likely inside the gate.
 */
static void one_who_tries_all_the_time_keeps_nobody_out(void) {
    cpu_set_t all, one;
    CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    CPU_ZERO(&one);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all)) {
        cpu++;
    }
    CPU_SET(cpu, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    pthread_t thread; /* inherits the processor */
    CHECK_EQ(pthread_create(&thread, NULL, keep_trying, NULL), 0);
    CHECK_EVENTUALLY(atomic_load(&taken) > 10);
    uint64_t end = patience_end_ns();
    for (int i = 0; i < LOCKS; i++) {
        gate_lock(&gate);
        CHECK_EQ(gate_leave(&gate), 0);
        CHECK(now_ns() < end);
        /* The other thread goes on as well. */
        for (unsigned before = atomic_load(&taken); atomic_load(&taken) == before;) {
            sched_yield();
            CHECK(now_ns() < end);
        }
    }
    atomic_store(&stop, true);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void work_that_finds_the_gate_taken_is_given_to_its_owner(void) {
    static struct gate own;
    gate_lock(&own);
    CHECK_EQ(gate_enter(&own, 1), 0);
    CHECK_EQ(gate_enter(&own, 4), 0);
    CHECK(!gate_try(&own));
    CHECK_EQ(gate_leave(&own), 5);
    CHECK_EQ(gate_leave(&own), 0);
    CHECK_EQ(gate_enter(&own, 2), 2);
    CHECK_EQ(gate_leave(&own), 0);
    CHECK(gate_try(&own));
    CHECK_EQ(gate_leave(&own), 0);
}

int main(void) {
    RUN(work_that_finds_the_gate_taken_is_given_to_its_owner);
    RUN(one_who_tries_all_the_time_keeps_nobody_out);
    return 0;
}
