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
/* Copies that survive a fault, and what becomes of every other fault: embedded/base/copy.h. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "embedded/base/copy.h"

#define PAGE 4096u
#define ROOM (4 * PAGE)

/* ---- copies ---- */

static char source[2 * ROOM], target[2 * ROOM], expected[2 * ROOM];

static void check_copy(bool (*copy)(void *, const void *, size_t), size_t to, size_t from, size_t length) {
    memset(target, 0x55, sizeof(target));
    memset(expected, 0x55, sizeof(expected));
    for (size_t i = 0; i < length; i++) {
        expected[64 + to + i] = source[from + i];
    }
    CHECK(copy(target + 64 + to, source + from, length));
    CHECK_EQ(memcmp(target, expected, sizeof(target)), 0);
}

static void copies_are_exact_at_every_length_and_place(void) {
    for (size_t i = 0; i < sizeof(source); i++) {
        source[i] = (char) (i * 7 + i / 256);
    }
    for (size_t length = 0; length < 1200; length += length < 140 || length > 1000 ? 1 : 37) {
        for (size_t to = 0; to < 17; to++) {
            check_copy((copy_memory), to, (to * 5 + length) % 16, length);
            check_copy((copy_past_cache), to, (to * 3 + length) % 16, length);
        }
    }
    for (size_t length = PAGE - 1; length < ROOM; length += 991) {
        check_copy((copy_memory), length % 16, length % 7, length);
        check_copy((copy_past_cache), 0, length % 7, length);
        check_copy((copy_past_cache), length % 16, length % 7, length);
    }
}

/* Memory of ROOM bytes, behind which there is none. */
static char *map_before_a_hole(void) {
    char *memory = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    CHECK_EQ(munmap(memory + ROOM, PAGE), 0);
    return memory;
}

static void a_copy_that_faults_has_written_what_comes_before(void) {
    char *memory = map_before_a_hole();
    for (size_t length = 1; length < ROOM; length += length < 200 ? 1 : 611) {
        for (size_t there = 0; there < length; there += 1 + length / 5) {
            char *to = memory + ROOM - there;
            memset(to, 0x55, there);
            memset(source, 0x77, length);
            CHECK(!(copy_memory)(to, source, length));
            size_t written = 0;
            while (written < there && to[written] == 0x77) {
                written++;
            }
            CHECK(there - written < 64); /* what is stored with it at a time may be missing */
            for (size_t i = written; i < there; i++) {
                CHECK_EQ(to[i], 0x55);
            }
            CHECK(!(copy_memory)(target, to, length));
            CHECK(!(copy_past_cache)(target, to, length));
        }
    }
    CHECK_EQ(munmap(memory, ROOM), 0);
}

static void atomic_operations_fault_or_work(void) {
    char *memory = map_before_a_hole();
    uint64_t *word = (uint64_t *) (memory + ROOM) - 1, before = 9;
    CHECK(copy_fetch_add(word, 5, &before));
    CHECK_EQ(before, 0);
    CHECK_EQ(*word, 5);
    before = 4;
    CHECK(copy_compare_swap(word, &before, 8));
    CHECK_EQ(before, 5);
    CHECK_EQ(*word, 5);
    CHECK(copy_compare_swap(word, &before, 8));
    CHECK_EQ(before, 5);
    CHECK_EQ(*word, 8);
    CHECK(!copy_fetch_add(word + 1, 5, &before));
    CHECK(!copy_compare_swap(word + 1, &before, 5));
    CHECK_EQ(munmap(memory, ROOM), 0);
    CHECK(!copy_fetch_add(word, 5, &before));
}

#define ADDITIONS 60000000u /* most of a thread: one that is alone on its processor meets nobody */
#define MEETINGS 1000000u

static uint64_t word;
static _Atomic bool met_enough;

/* Adds in both ways, until the other thread has added in between often enough. Returns how often it has added. */
static void *add_to_word(void *additions) {
    uint64_t *count = additions, last = 0;
    for (unsigned meetings = 0; *count < ADDITIONS && !atomic_load_explicit(&met_enough, memory_order_relaxed);) {
        uint64_t seen, expected;
        CHECK(copy_fetch_add(&word, 1, &seen));
        meetings += seen != last;
        do {
            expected = seen;
            CHECK(copy_compare_swap(&word, &seen, expected + 1));
        } while (seen != expected);
        last = expected + 1;
        *count += 2;
        if (meetings == MEETINGS) {
            atomic_store(&met_enough, true);
        }
    }
    return NULL;
}

static void atomic_operations_of_threads_lose_nothing(void) {
    pthread_t threads[2];
    uint64_t additions[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, add_to_word, &additions[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    CHECK_EQ(word, additions[0] + additions[1]);
}

/* An address that no memory can have is told without it (si_addr is 0 then). */
static void an_address_that_is_none_is_a_fault_like_any_other(void) {
    CHECK(!(copy_memory)(target, (const void *) (uintptr_t) 0x8000000000000000u, 8));
    CHECK(!(copy_memory)((void *) (uintptr_t) 8, source, 8));
}

/* ---- other faults: each in a process of its own, which has not caught any before ---- */

static bool is_sanitized(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true; /* the child's handler reports the fault and exits */
#else
    return false;
#endif
}

static void in_a_child(void (*body)(void), int signal) {
    fflush(NULL);
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        if (signal != 0) {
            CHECK(freopen("/dev/null", "w", stderr) != NULL); /* a sanitizer's report */
        }
        body();
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (signal == 0) {
        CHECK_EQ(status, 0);
    } else if (is_sanitized() && WIFEXITED(status)) {
        CHECK(WEXITSTATUS(status) != 0);
    } else {
        CHECK(WIFSIGNALED(status));
        CHECK_EQ(WTERMSIG(status), signal);
    }
}

static void start(void) {
    CHECK_EQ(copy_catch_faults(), 0);
    CHECK(!(copy_memory)(target, NULL, 1)); /* faults are caught */
}

static char *volatile nowhere = (char *) 64;

static void touch_nowhere(void) {
    start();
    *nowhere = 1;
}

static void raise_fault(void) {
    start();
    raise(SIGSEGV);
}

static void raise_bus_error(void) {
    start();
    kill(getpid(), SIGBUS);
}

static void without_a_handler_the_process_ends_as_before(void) {
    in_a_child(touch_nowhere, SIGSEGV);
    in_a_child(raise_fault, SIGSEGV);
    in_a_child(raise_bus_error, SIGBUS);
}

static void ignore(int flags) {
    struct sigaction action = { .sa_handler = SIG_IGN, .sa_flags = flags };
    CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
}

static void ignore_what_is_sent(void) {
    ignore(0);
    raise_fault();
}

static void ignore_a_fault(void) {
    ignore(0);
    touch_nowhere();
}

static void what_is_sent_may_be_ignored_and_a_fault_may_not(void) {
    in_a_child(ignore_what_is_sent, 0);
    in_a_child(ignore_a_fault, SIGSEGV);
}

static sigjmp_buf back;
static int handled;

static void check_handler(int signal, siginfo_t *info, void *context) {
    sigset_t mask;
    CHECK_EQ(signal, SIGSEGV);
    CHECK(info->si_addr == (void *) nowhere);
    CHECK(context != NULL);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    CHECK(sigismember(&mask, SIGUSR1));
    CHECK(sigismember(&mask, SIGSEGV));
    CHECK(is_sanitized() || !sigismember(&mask, SIGUSR2)); /* ThreadSanitizer blocks all */
    handled++;
    siglongjmp(back, 1);
}

static void handle_faults(void) {
    struct sigaction action = { .sa_sigaction = check_handler, .sa_flags = SA_SIGINFO };
    sigaddset(&action.sa_mask, SIGUSR1);
    CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
    for (int i = 1; i < 4; i++) {
        if (sigsetjmp(back, 1) == 0) {
            touch_nowhere();
        }
        CHECK_EQ(handled, i);
        CHECK(!(copy_memory)(target, NULL, 1)); /* the former handler hears nothing of the fault */
        CHECK_EQ(handled, i);
    }
}

static void plain_handler(int signal) {
    CHECK_EQ(signal, SIGSEGV);
    handled++;
    if (handled == 1) {
        siglongjmp(back, 1);
    }
}

static void handle_plainly(void) {
    CHECK(signal(SIGSEGV, plain_handler) != SIG_ERR);
    if (sigsetjmp(back, 1) == 0) {
        touch_nowhere();
    }
    CHECK_EQ(handled, 1);
}

/* Handles one fault only: it comes again, so a handler that stays would be called for ever. */
static void handle_once(void) {
    struct sigaction action = { .sa_handler = plain_handler, .sa_flags = (int) SA_RESETHAND };
    handled = 1;
    CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
    touch_nowhere();
}

static void a_handler_that_was_there_gets_all_other_faults_as_it_asked_for_them(void) {
    in_a_child(handle_faults, 0);
    in_a_child(handle_plainly, 0);
    in_a_child(handle_once, SIGSEGV);
}

static struct sigaction ours;

static void later_handler(int signal, siginfo_t *info, void *context) {
    handled++;
    ours.sa_sigaction(signal, info, context);
}

static void hand_on_later(void) {
    start();
    struct sigaction action = { .sa_sigaction = later_handler, .sa_flags = SA_SIGINFO };
    CHECK_EQ(sigaction(SIGSEGV, &action, &ours), 0);
    CHECK(!(copy_memory)(target, NULL, 1));
    CHECK_EQ(handled, 1);
    CHECK_EQ(copy_catch_faults(), 0); /* does not come before it again, or the two would call each other */
    struct sigaction now;
    CHECK_EQ(sigaction(SIGSEGV, NULL, &now), 0);
    CHECK(now.sa_sigaction == later_handler);
}

static void a_handler_that_comes_later_hands_on(void) {
    in_a_child(hand_on_later, 0);
}

int main(void) {
    RUN(without_a_handler_the_process_ends_as_before);
    RUN(what_is_sent_may_be_ignored_and_a_fault_may_not);
    RUN(a_handler_that_was_there_gets_all_other_faults_as_it_asked_for_them);
    RUN(a_handler_that_comes_later_hands_on);
    CHECK_EQ(copy_catch_faults(), 0);
    RUN(copies_are_exact_at_every_length_and_place);
    RUN(a_copy_that_faults_has_written_what_comes_before);
    RUN(atomic_operations_fault_or_work);
    RUN(atomic_operations_of_threads_lose_nothing);
    RUN(an_address_that_is_none_is_a_fault_like_any_other);
    return 0;
}
