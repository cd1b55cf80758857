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
/* @Tag("stalls") */
/* Stays that stalls.h finds, and others that it does not. */
#include "stalls.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"

#define LONG_MS 300
#define MS 1000000ull

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool begun, done;

static uint64_t time_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t) time.tv_sec * 1000 * MS + (uint64_t) time.tv_nsec;
}

static void sleep_long(void) {
    nanosleep(&(struct timespec) { .tv_nsec = LONG_MS * MS }, NULL);
}

static void work(uint64_t ms) {
    const uint64_t from = time_of(CLOCK_THREAD_CPUTIME_ID);
    while (time_of(CLOCK_THREAD_CPUTIME_ID) - from < ms * MS) {
    }
}

static pthread_t start(void *(*run)(void *unused)) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, run, NULL), 0);
    return thread;
}

/* ---- in processes of their own, whose end is looked at ---- */

/* Returns what the process has written; `killed`: whether it must end by abort(3). */
static const char *run(void (*body)(void), bool killed) {
    static char text[65536];
    int output[2], status;
    size_t size = 0;
    ssize_t got;
    CHECK_EQ(pipe(output), 0);
    pid_t child = fork();
    if (child == 0) {
        limit_life();
        CHECK_EQ(dup2(output[1], STDERR_FILENO), STDERR_FILENO);
        close(output[1]);
        body();
        _exit(0);
    }
    close(output[1]);
    while ((got = read(output[0], text + size, sizeof(text) - 1 - size)) > 0) {
        size += (size_t) got;
    }
    text[size] = 0;
    close(output[0]);
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (killed ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT : status != 0) {
        fprintf(stderr, "status %#x, output:\n%s", (unsigned) status, text);
        abort();
    }
    return text;
}

static void contains(const char *output, const char *what) {
    if (strstr(output, what) == NULL) {
        fprintf(stderr, "no \"%s\" in:\n%s", what, output);
        abort();
    }
}

/* ---- what is found ---- */

static void hold_and_sleep(void) {
    pthread_mutex_lock(&lock);
    sleep_long();
    pthread_mutex_unlock(&lock);
}

static void a_sleep_with_a_lock_is_found(void) {
    const char *output = run(hold_and_sleep, true);
    contains(output, "STALL: a lock was held");
    contains(output, "hold_and_sleep at ");
    contains(output, "asleep in clock_nanosleep");
}

static void hold_and_work(void) {
    pthread_mutex_lock(&lock);
    work(LONG_MS);
    pthread_mutex_unlock(&lock);
}

static void much_work_with_a_lock_is_found(void) {
    contains(run(hold_and_work, true), "hold_and_work at ");
}

/* A FIFO of a folder, whose open(2) waits for a process that writes. */
static void hold_and_open(void) {
    char path[] = "/tmp/rdma-fifo-XXXXXX", fifo[64];
    CHECK(mkdtemp(path) != NULL);
    snprintf(fifo, sizeof(fifo), "%s/fifo", path);
    CHECK_EQ(mkfifo(fifo, 0600), 0);
    const int file = open(fifo, O_PATH);
    CHECK_EQ(unlink(fifo), 0);
    CHECK_EQ(rmdir(path), 0);
    snprintf(fifo, sizeof(fifo), "/proc/self/fd/%d", file);
    pthread_mutex_lock(&lock);
    open(fifo, O_RDONLY);
}

static void a_sleep_without_an_end_is_found(void) {
    const char *output = run(hold_and_open, true);
    contains(output, "has not ended");
    contains(output, "hold_and_open at ");
    contains(output, "asleep in openat");
}

static void sleep_in_method(void) {
    stall_enter((const void *) (uintptr_t) sleep_in_method);
    sleep_long();
    stall_leave();
}

static void a_sleep_in_a_native_method_is_found(void) {
    const char *output = run(sleep_in_method, true);
    contains(output, "STALL: a native method ran");
    contains(output, "sleep_in_method at ");
}

/* Waits for a peer, with another lock held. */
static void wait_for_a_time(void) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec++;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&inner);
    pthread_cond_timedwait(&condition, &inner, &at);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&lock);
}

static void a_wait_with_a_limit_and_another_lock_is_found(void) {
    contains(run(wait_for_a_time, true), "wait_for_a_time at ");
}

/* ---- what is not ---- */

static void *hold_inner(void *unused) {
    (void) unused;
    pthread_mutex_lock(&inner);
    stall_forgive();
    __atomic_store_n(&begun, true, __ATOMIC_SEQ_CST);
    sleep_long();
    done = true;
    pthread_cond_signal(&condition);
    sleep_long();
    pthread_mutex_unlock(&inner);
    return NULL;
}

static void wait_for_a_lock(void) {
    pthread_t other = start(hold_inner);
    CHECK_EVENTUALLY(__atomic_load_n(&begun, __ATOMIC_SEQ_CST));
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&inner);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&lock);
    CHECK_EQ(pthread_join(other, NULL), 0);
}

static void a_wait_for_a_lock_of_another_thread_is_not(void) {
    run(wait_for_a_lock, false);
}

static void wait_for_a_condition(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&inner);
    pthread_t other = start(hold_inner);
    while (!done) {
        pthread_cond_wait(&condition, &inner);
    }
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&lock);
    CHECK_EQ(pthread_join(other, NULL), 0);
}

static void a_wait_for_a_condition_of_another_thread_is_not(void) {
    run(wait_for_a_condition, false);
}

static void *keep_processor(void *unused) {
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
    }
    return unused;
}

/* Holds on a processor that another thread has, which this one gets for a moment now and then: sched(7), SCHED_IDLE. */
static void hold_without_processor(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    pthread_t other = start(keep_processor);
    CHECK_EQ(sched_setscheduler(0, SCHED_IDLE, &(struct sched_param) { 0 }), 0);
    uint64_t longest = 0;
    while (longest < LONG_MS * MS) {
        const uint64_t from = time_of(CLOCK_MONOTONIC);
        pthread_mutex_lock(&lock);
        nanosleep(&(struct timespec) { .tv_nsec = 1000 }, NULL); /* a voluntary switch as well */
        work(2);
        pthread_mutex_unlock(&lock);
        const uint64_t lasted = time_of(CLOCK_MONOTONIC) - from;
        longest = lasted > longest ? lasted : longest;
    }
    __atomic_store_n(&done, true, __ATOMIC_SEQ_CST);
    CHECK_EQ(pthread_join(other, NULL), 0);
}

static void a_thread_that_is_preempted_is_not(void) {
    run(hold_without_processor, false);
}

static void be_stopped(void) {
    const pid_t process = getpid();
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 3; i++) {
            sleep_long();
            kill(process, i % 2 == 0 ? SIGSTOP : SIGCONT);
        }
        sleep_long();
        kill(process, SIGCONT);
        _exit(0);
    }
    while (waitpid(child, NULL, WNOHANG) == 0) {
        pthread_mutex_lock(&lock);
        nanosleep(&(struct timespec) { .tv_nsec = 10 * MS }, NULL);
        pthread_mutex_unlock(&lock);
    }
}

static void a_process_that_is_stopped_is_not(void) {
    run(be_stopped, false);
}

int main(void) {
    if (getenv("RDMA_STALLS_LOG") != NULL) {
        fprintf(stderr, "skipped: with a log nothing fails\n");
        return 0;
    }
    RUN(a_sleep_with_a_lock_is_found);
    RUN(much_work_with_a_lock_is_found);
    RUN(a_sleep_without_an_end_is_found);
    RUN(a_sleep_in_a_native_method_is_found);
    RUN(a_wait_with_a_limit_and_another_lock_is_found);
    RUN(a_wait_for_a_lock_of_another_thread_is_not);
    RUN(a_wait_for_a_condition_of_another_thread_is_not);
    RUN(a_thread_that_is_preempted_is_not);
    RUN(a_process_that_is_stopped_is_not);
    return 0;
}
