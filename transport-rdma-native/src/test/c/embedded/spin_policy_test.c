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
/* The states one by one, with a clock that is set by hand. SpinPolicyTest.java has the same, and simulated machines. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "embedded/base/spin_policy.h"
#include "embedded/link/engine.h"

#define MAX_SPIN_NS INT64_C(200000)
#define SLEEP_NS INT64_C(40000)

static struct spin_policy policy;
static int64_t now_ns;
static long preemptions;

static long count_preemptions(void) {
    return preemptions;
}

static void start(void) {
    now_ns = INT64_C(123456789012);
    spin_policy_init(&policy, MAX_SPIN_NS, count_preemptions, now_ns);
}

static enum spin_state state(void) {
    return spin_policy_state(&policy, now_ns);
}

static void sleep_for(int64_t ns) {
    CHECK(!spin_policy_begin(&policy, now_ns));
    now_ns += ns;
    spin_policy_woke(&policy, now_ns);
}

static int64_t spin_in_vain(int64_t look_ns) {
    int64_t start_ns = now_ns;
    CHECK(spin_policy_begin(&policy, now_ns));
    do {
        now_ns += look_ns;
    } while (spin_policy_found_nothing(&policy, now_ns));
    int64_t spun = now_ns - start_ns;
    now_ns += SLEEP_NS;
    spin_policy_woke(&policy, now_ns);
    return spun;
}

static void become_active(void) {
    start();
    sleep_for(SLEEP_NS);
    CHECK_EQ(state(), SPIN_ACTIVE);
}

static void first_wait_is_a_sleep(void) {
    start();
    CHECK_EQ(state(), SPIN_QUIET);
    CHECK(!spin_policy_begin(&policy, now_ns));
}

static void short_sleeps_make_a_spin_of_four_sleeps(void) {
    become_active();
    for (int i = 0; i < 100; i++) {
        spin_policy_begin(&policy, now_ns);
        spin_policy_found(&policy, now_ns);
        spin_policy_begin(&policy, now_ns);
        now_ns += SLEEP_NS / 2;
        spin_policy_woke(&policy, now_ns);
    }
    int64_t spun = spin_in_vain(1000);
    CHECK(spun >= 2 * SLEEP_NS - 1000 && spun <= 2 * SLEEP_NS + 2000);
    CHECK_EQ(state(), SPIN_QUIET);
}

static void long_sleep_makes_quiet(void) {
    become_active();
    spin_policy_begin(&policy, now_ns);
    now_ns += 1000000;
    spin_policy_woke(&policy, now_ns);
    CHECK_EQ(state(), SPIN_QUIET);
}

static void spins_in_vain_end_when_the_credit_is_spent(void) {
    int64_t spent = 0;
    become_active();
    for (; state() == SPIN_ACTIVE; sleep_for(SLEEP_NS)) {
        spent += spin_in_vain(1000);
    }
    CHECK_EQ(state(), SPIN_OVERSPENT);
    CHECK(spent >= (SPIN_MAX_TRIES - 1) * MAX_SPIN_NS && spent <= (SPIN_MAX_TRIES + 1) * MAX_SPIN_NS);
    now_ns += MAX_SPIN_NS * SPIN_VAIN_SHARE;
    CHECK(spin_policy_begin(&policy, now_ns));
}

static void check_rest(bool found) {
    become_active();
    CHECK(spin_policy_begin(&policy, now_ns));
    preemptions++;
    now_ns += 10000000;
    if (found) {
        spin_policy_found(&policy, now_ns);
    } else {
        CHECK(!spin_policy_found_nothing(&policy, now_ns));
    }
    int64_t rest_end = now_ns - 10000000 + SPIN_LOST_SHARE * (10000000 - SPIN_MAX_LOST_NS);
    sleep_for(SLEEP_NS);
    sleep_for(SLEEP_NS);
    CHECK_EQ(state(), SPIN_PREEMPTED);
    now_ns = rest_end - 100000;
    CHECK_EQ(state(), SPIN_PREEMPTED);
    now_ns = rest_end + 100000;
    CHECK_EQ(state(), SPIN_ACTIVE);
}

static void preemptions_of_some_time_slices_are_followed_by_a_rest(void) {
    check_rest(false);
    check_rest(true);
}

static void short_preemptions_now_and_then_are_no_reason_to_stop(void) {
    become_active();
    for (int i = 0; i < 100; i++) {
        CHECK(spin_policy_begin(&policy, now_ns));
        preemptions++;
        now_ns += 3000000;
        spin_policy_found(&policy, now_ns);
        CHECK_EQ(state(), SPIN_ACTIVE);
        now_ns += 250000000;
    }
}

static void check_not_lost(void) {
    CHECK(spin_policy_begin(&policy, now_ns));
    now_ns += SPIN_JUMP_NS + 1000;
    spin_policy_found(&policy, now_ns);
    CHECK_EQ(policy.lost_ns, 0);
}

static void preemptions_in_work_or_sleep_are_not_those_of_polling(void) {
    become_active();
    CHECK(spin_policy_begin(&policy, now_ns));
    spin_policy_found(&policy, now_ns);
    preemptions++;
    now_ns += 1000000000;
    check_not_lost();
    CHECK(spin_policy_begin(&policy, now_ns));
    preemptions++;
    now_ns += SLEEP_NS;
    spin_policy_woke(&policy, now_ns);
    check_not_lost();
}

static void preemptions_before_a_sleep_are_not_those_of_polling(void) {
    become_active();
    CHECK(spin_policy_begin(&policy, now_ns));
    preemptions++;
    now_ns += 10000000;
    spin_policy_found(&policy, now_ns);
    CHECK(!spin_policy_begin(&policy, now_ns));
    preemptions++;
    now_ns += 1000000000;
    spin_policy_found(&policy, now_ns);
    CHECK_EQ(state(), SPIN_ACTIVE);
}

static void pause_of_the_machine_is_no_preemption(void) {
    become_active();
    CHECK(spin_policy_begin(&policy, now_ns));
    now_ns += 3000000;
    CHECK(spin_policy_found_nothing(&policy, now_ns));
    spin_policy_found(&policy, now_ns);
    CHECK_EQ(state(), SPIN_ACTIVE);
}

static void thread_that_others_push_aside_has_preemptions(void) {
    long before = spin_policy_preemptions();
    CHECK(before >= 0);
    pid_t children[16];
    for (int i = 0; i < 16; i++) {
        children[i] = fork();
        while (children[i] == 0) {
            CHECK(getppid() != 1);
        }
    }
    uint64_t end = engine_now_ns() + (uint64_t) patience_ms() * 1000000;
    while (spin_policy_preemptions() == before && engine_now_ns() < end) {
    }
    for (int i = 0; i < 16; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    CHECK(spin_policy_preemptions() > before);
}

int main(void) {
    RUN(first_wait_is_a_sleep);
    RUN(short_sleeps_make_a_spin_of_four_sleeps);
    RUN(long_sleep_makes_quiet);
    RUN(spins_in_vain_end_when_the_credit_is_spent);
    RUN(preemptions_of_some_time_slices_are_followed_by_a_rest);
    RUN(short_preemptions_now_and_then_are_no_reason_to_stop);
    RUN(preemptions_in_work_or_sleep_are_not_those_of_polling);
    RUN(preemptions_before_a_sleep_are_not_those_of_polling);
    RUN(pause_of_the_machine_is_no_preemption);
    RUN(thread_that_others_push_aside_has_preemptions);
    return 0;
}
