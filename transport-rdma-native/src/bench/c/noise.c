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
 * noise: takes each processor now and then, as a neighbour, a compiler's thread or a pause of the virtual machine does.
 * A thread of normal priority on each processor that this process may run on (taskset chooses others) wants it for a
 * random time of 0.2 to 5 ms, then sleeps for a random time, so that in the mean it has so many percent of the
 * processor; of one that it has to wait for, a little less. The threads know nothing of each other.
 *
 * It says "noise" when all threads run, and ends when its standard input does: no later than whoever started it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MIN_BUSY_NANOS UINT64_C(200000)
#define MAX_BUSY_NANOS UINT64_C(5000000)
#define MAX_PERCENT 90
#define SECOND UINT64_C(1000000000)

static unsigned percent;

static void fail(const char *what, int error) {
    fprintf(stderr, "noise: %s: %s\n", what, strerror(error));
    exit(1);
}

/* Uniform in 0 to range - 1, near enough for a range of some milliseconds. */
static uint64_t random_below(uint64_t *state, uint64_t range) {
    /* xorshift64 (Marsaglia, 2003). */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % range;
}

static uint64_t nanos_of(clockid_t clock) {
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t) now.tv_sec * SECOND + (uint64_t) now.tv_nsec;
}

static void sleep_for(uint64_t nanos) {
    struct timespec left = { .tv_sec = (time_t) (nanos / SECOND), .tv_nsec = (long) (nanos % SECOND) };

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/* Work is counted by the thread's own time: a thread that has to wait for its processor has the same work later. */
static void *run(void *processor) {
    /* Never 0, and another one for each processor. */
    uint64_t state = (nanos_of(CLOCK_MONOTONIC) << 16 ^ (uint64_t) (uintptr_t) processor) | UINT64_C(1) << 63;

    while (true) {
        uint64_t busy = MIN_BUSY_NANOS + random_below(&state, MAX_BUSY_NANOS - MIN_BUSY_NANOS + 1);
        /* Between none and twice what the share leaves in the mean. */
        uint64_t rest = random_below(&state, 2 * busy * (100 - percent) / percent + 1);
        uint64_t end;

        sleep_for(rest);
        for (end = nanos_of(CLOCK_THREAD_CPUTIME_ID) + busy; nanos_of(CLOCK_THREAD_CPUTIME_ID) < end;) {
        }
    }
    return NULL;
}

static void start(int processor) {
    pthread_attr_t attributes;
    pthread_t thread;
    cpu_set_t set;
    int error;

    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    pthread_attr_init(&attributes);
    error = pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
    if (error == 0) {
        error = pthread_create(&thread, &attributes, run, (void *) (uintptr_t) processor);
    }
    if (error != 0) {
        fail("a thread", error);
    }
    pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv) {
    char ignored[64];
    cpu_set_t set;
    char *rest = NULL;
    long value = 0;
    ssize_t got;

    if (argc == 2) {
        value = strtol(argv[1], &rest, 10);
    }
    if (rest == NULL || rest == argv[1] || *rest != '\0' || value < 1 || value > MAX_PERCENT) {
        fprintf(stderr, "usage: noise PERCENT\n"
            "  takes so much (1 to %d) of each processor, at random, until its standard input ends\n", MAX_PERCENT);
        return 2;
    }
    percent = (unsigned) value;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        fail("sched_getaffinity", errno);
    }
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &set)) {
            start(i);
        }
    }
    puts("noise");
    fflush(stdout);
    do {
        got = read(STDIN_FILENO, ignored, sizeof(ignored));
    } while (got > 0 || (got < 0 && errno == EINTR));
    return 0;
}
