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
/* Common part of all C tests: CHECK fails the program with the place and the expression; waits are bounded. */
#ifndef NETTY_RDMA_TEST_CHECK_H
#define NETTY_RDMA_TEST_CHECK_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
const char *__tsan_default_options(void);
/*
 * Peers of tests are forked children with engines of their own. Each process with a second thread sleeps before its
 * end, by default for a second, in which that thread may race with what has ended: less will do, as there are many.
 */
__attribute__((used, weak, visibility("default"))) const char *__tsan_default_options(void) {
    return "die_after_fork=0:atexit_sleep_ms=20";
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

/* The number in an environment variable, for other and longer runs. */
static inline uint32_t env_number(const char *name, uint32_t otherwise) {
    const char *value = getenv(name);
    return value == NULL ? otherwise : (uint32_t) strtoul(value, NULL, 10);
}

/* The limit of each wait: a minute, which only a defect exceeds. RDMA_TEST_MULTIPLIER extends it for slow machines. */
static inline int patience_ms(void) {
    return 60000 * (int) env_number("RDMA_TEST_MULTIPLIER", 1);
}

/* The limit of a process's life, in which there are several waits. */
static inline int life_ms(void) {
    return 4 * patience_ms();
}

/* SIGALRM ends this process after that time. */
static inline void limit_life(void) {
    alarm((unsigned) life_ms() / 1000);
}

/* Has recv() fail with EAGAIN when nothing has come for so long. */
static inline void limit_receives(int socket, int limit_ms) {
    const struct timeval limit = { .tv_sec = limit_ms / 1000 };
    CHECK_EQ(setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)), 0);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

/*
 * Returns how often a test repeats a step that depends on chance. Under a sanitizer, which makes each round much
 * slower, fewer rounds suffice, as it sees defects that have had no effect yet. RDMA_TEST_ALL=1 runs all of them there
 * as well.
 */
static inline uint32_t rounds(uint32_t all, uint32_t sanitized) {
    return IS_SANITIZED && env_number("RDMA_TEST_ALL", 0) == 0 ? sanitized : all;
}

/* Waits for `condition` to become true; evaluates it again every millisecond. */
#define CHECK_WITHIN(limit_ms, condition)                                                                             \
    do {                                                                                                              \
        int tries_ = limit_ms;                                                                                        \
        while (!(condition)) {                                                                                        \
            if (tries_-- == 0) {                                                                                      \
                fprintf(stderr, "%s:%d: %s: never true: %s\n", __FILE__, __LINE__, __func__, #condition);             \
                abort();                                                                                              \
            }                                                                                                         \
            nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);                                               \
        }                                                                                                             \
    } while (0)

#define CHECK_EVENTUALLY(condition) CHECK_WITHIN(patience_ms(), condition)

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

/* The threads of this process whose names begin so. */
static inline int threads(const char *name) {
    DIR *dir = opendir("/proc/self/task");
    CHECK(dir != NULL);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[64], text[64] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", entry->d_name);
        int fd = entry->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0) {
            ssize_t size = read(fd, text, sizeof(text) - 1); /* the thread may have ended since */
            n += size > 0 && strncmp(text, name, strlen(name)) == 0;
            close(fd);
        }
    }
    closedir(dir);
    return n;
}

/* Runs all tests of a program, or the one that RDMA_TEST names. */
#define RUN(test)                                                                                                     \
    do {                                                                                                              \
        if (getenv("RDMA_TEST") != NULL && strcmp(getenv("RDMA_TEST"), #test) != 0) {                                 \
            break;                                                                                                    \
        }                                                                                                             \
        fprintf(stderr, "  %s\n", #test);                                                                             \
        test();                                                                                                       \
    } while (0)

#ifdef __SANITIZE_ADDRESS__
/*
 * Returns whether all threads but this one sleep (proc(5), /proc/[pid]/task/[tid]/stat). Thread numbers are those of
 * /proc, which may be of another PID namespace.
 */
static inline bool others_sleep(void) {
    DIR *threads = opendir("/proc/self/task");
    char self[64] = "";
    bool sleep = readlink("/proc/thread-self", self, sizeof(self) - 1) > 0;
    const char *own = strrchr(self, '/');
    for (struct dirent *thread; threads != NULL && (thread = readdir(threads)) != NULL;) {
        char path[64], text[256] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", thread->d_name);
        bool is_other = thread->d_name[0] != '.' && own != NULL && strcmp(thread->d_name, own + 1) != 0;
        int fd = is_other ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (fd >= 0) {
            const char *end = read(fd, text, sizeof(text) - 1) > 0 ? strrchr(text, ')') : NULL;
            sleep = sleep && end != NULL && end[2] == 'S';
            close(fd);
        }
    }
    closedir(threads);
    return sleep;
}
#endif

/*
 * A child, forked when the other threads sleep: the allocator of GCC 12's AddressSanitizer is not held in fork(2), and
 * a thread that is in it then leaves it locked in the child. Tests of forks beside busy threads call fork(2).
 */
static inline pid_t fork_child(void) {
#ifdef __SANITIZE_ADDRESS__
    CHECK_EVENTUALLY(others_sleep());
#endif
    pid_t child = fork();
    CHECK(child >= 0);
    return child;
}

#endif
