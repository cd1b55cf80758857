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
 * What all C tests share: CHECK fails the program with the place and the expression; waits are bounded.
 */
#ifndef NETTY_RDMA_TEST_CHECK_H
#define NETTY_RDMA_TEST_CHECK_H

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __SANITIZE_THREAD__
const char *__tsan_default_options(void);
__attribute__((used, weak, visibility("default"))) const char *__tsan_default_options(void) {
    return "die_after_fork=0"; /* the tests' peers are forked children with engines of their own */
}
#endif

#define CHECK(condition)                                                                                              \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            fprintf(stderr, "%s:%d: %s: CHECK(%s) failed, errno %d (%s)\n", __FILE__, __LINE__, __func__, #condition, \
                    errno, strerror(errno));                                                                          \
            abort();                                                                                                  \
        }                                                                                                             \
    } while (0)

#define CHECK_EQ(actual, expected)                                                                                    \
    do {                                                                                                              \
        long long actual_ = (long long) (actual), expected_ = (long long) (expected);                                 \
        if (actual_ != expected_) {                                                                                   \
            fprintf(stderr, "%s:%d: %s: %s is %lld, not %lld (%s)\n", __FILE__, __LINE__, __func__, #actual, actual_, \
                    expected_, #expected);                                                                            \
            abort();                                                                                                  \
        }                                                                                                             \
    } while (0)

/* Waits, at most 60 s, for `condition` to become true; evaluates it again every millisecond. */
#define CHECK_EVENTUALLY(condition)                                                                                   \
    do {                                                                                                              \
        int tries_ = 60000;                                                                                           \
        while (!(condition) && tries_-- > 0) {                                                                        \
            nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);                                               \
        }                                                                                                             \
        if (tries_ < 0) {                                                                                             \
            fprintf(stderr, "%s:%d: %s: never true: %s\n", __FILE__, __LINE__, __func__, #condition);                 \
            abort();                                                                                                  \
        }                                                                                                             \
    } while (0)

/* The descriptors that this process has open, and a constant. Only compared with another such count. */
static inline int open_fds(void) {
    DIR *dir = opendir("/proc/self/fd");
    CHECK(dir != NULL);
    int n = 0;
    while (readdir(dir) != NULL) {
        n++;
    }
    closedir(dir);
    return n;
}

/* What a variable of the environment says, for other and longer runs. */
static inline uint32_t env_number(const char *name, uint32_t otherwise) {
    const char *value = getenv(name);
    return value == NULL ? otherwise : (uint32_t) strtoul(value, NULL, 10);
}

/* All tests of a program, or the one that RDMA_TEST names. */
#define RUN(test)                                                                                                     \
    do {                                                                                                              \
        if (getenv("RDMA_TEST") != NULL && strcmp(getenv("RDMA_TEST"), #test) != 0) {                                 \
            break;                                                                                                    \
        }                                                                                                             \
        fprintf(stderr, "  %s\n", #test);                                                                             \
        test();                                                                                                       \
    } while (0)

#endif
