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
/* Closing what peers could fill: see closer.h. */
#include "closer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"
#include "clock.h"
#include "fd_kind.h"
#include "thread.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif
#ifndef F_DUPFD_QUERY
#define F_DUPFD_QUERY 1027 /* Linux 6.10 */
#endif

/*
 * Limit of threads. A peer may keep a thread busy for as long as it likes by one descriptor, whose queued messages may
 * hold many sockets, closed one after the other.
 */
#define MAX_THREADS 32

/*
 * Limits of waiting descriptors, while all threads are kept busy, and otherwise. Beyond the limit no more descriptors
 * are received, because those that wait count against the limit of the process. Other parts of this library keep up to
 * half of that limit, so at most an eighth of it may wait here.
 */
#define MAX_WAITING 128
#define MAX_WAITING_FOR_A_MOMENT 512
#define PART_OF_DESCRIPTORS 8

#define KEPT_NS UINT64_C(50000000) /* time for one close after which another thread takes over */

_Atomic uint64_t closer_idle_ns = UINT64_C(2000000000);

/* Time for which a fork waits for threads that are closing. After it, such a descriptor is no longer in the table. */
#define SETTLE_NS UINT64_C(10000000)

struct waiting {
    struct waiting *next;
    int fd;       /* descriptor, or -1 */
    void *memory; /* mapping, or NULL; argument of `work` */
    size_t size;
    void (*work)(void *argument); /* or NULL */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;    /* signalled when there is something to close */
    pthread_cond_t settled; /* signalled when no thread closes any more */
    struct waiting *first, *last;
    unsigned waiting, threads, idle, closing;
    unsigned halted;          /* number of threads that fork: nothing is begun meanwhile */
    uint64_t turn;            /* number of the thread that takes one after the other */
    uint64_t turn_since_ns;   /* time when that thread began with the last one; 0: no thread does */
} closer = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void init_conditions(void) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&closer.work, &attr);
    pthread_cond_init(&closer.settled, &attr);
    pthread_condattr_destroy(&attr);
}

static void wait_until(pthread_cond_t *condition, uint64_t at_ns) {
    const struct timespec at = { .tv_sec = (time_t) (at_ns / 1000000000u), .tv_nsec = (long) (at_ns % 1000000000u) };
    pthread_cond_timedwait(condition, &closer.lock, &at);
}

/* ---- the threads; all called with closer.lock held ---- */

static void add(struct waiting *waiting) {
    waiting->next = NULL;
    if (closer.last != NULL) {
        closer.last->next = waiting;
    } else {
        closer.first = waiting;
    }
    closer.last = waiting;
    closer.waiting++;
}

static struct waiting *take(void) {
    struct waiting *taken = closer.first;
    closer.first = taken->next;
    if (closer.first == NULL) {
        closer.last = NULL;
    }
    closer.waiting--;
    return taken;
}

static bool turn_is_free(void) {
    return closer.turn_since_ns == 0 || clock_ns(CLOCK_MONOTONIC) - closer.turn_since_ns >= KEPT_NS;
}

static bool may_begin(void) {
    return closer.first != NULL && closer.halted == 0 && turn_is_free();
}

/* Returns false after some time with nothing to do. While a descriptor waits, the thread with the turn may be stuck. */
static bool wait_for_turn(void) {
    uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), now_ns = began_ns;
    while (!may_begin() && (closer.first != NULL || now_ns - began_ns < closer_idle_ns)) {
        wait_until(&closer.work, now_ns + KEPT_NS);
        now_ns = clock_ns(CLOCK_MONOTONIC);
    }
    return may_begin();
}

static void *run(void *unused);

/* Starts a thread if no idle one could take over from one that is stuck. */
static void start_spare(void) {
    if (closer.idle == 0 && closer.threads < MAX_THREADS && thread_start("rdma-closer", run) == 0) {
        closer.threads++;
        closer.idle++;
    }
}

static void finish(const struct waiting *waiting) {
    if (waiting->work != NULL) {
        waiting->work(waiting->memory);
    } else if (waiting->memory != NULL) {
        munmap(waiting->memory, waiting->size);
    }
    if (waiting->fd >= 0) {
        close(waiting->fd);
    }
}

static void take_turn(void) {
    const uint64_t turn = ++closer.turn;
    closer.idle--;
    start_spare();
    while (closer.turn == turn && closer.first != NULL && closer.halted == 0) {
        struct waiting *taken = take();
        closer.turn_since_ns = clock_ns(CLOCK_MONOTONIC);
        closer.closing++;
        pthread_mutex_unlock(&closer.lock);
        finish(taken);
        free(taken);
        pthread_mutex_lock(&closer.lock);
        if (--closer.closing == 0) {
            pthread_cond_broadcast(&closer.settled);
        }
    }
    if (closer.turn == turn) {
        closer.turn_since_ns = 0;
    }
    closer.idle++;
}

static void *run(void *unused) {
    (void) unused;
    pthread_mutex_lock(&closer.lock);
    while (wait_for_turn()) {
        take_turn();
    }
    closer.idle--;
    closer.threads--;
    pthread_mutex_unlock(&closer.lock);
    return NULL;
}

/* ---- */

static void hand_over(const struct waiting *what) {
    UNCANCELLED;
    struct waiting *waiting = malloc(sizeof(*waiting));
    if (waiting == NULL) {
        finish(what);
        return;
    }
    *waiting = *what;
    pthread_mutex_lock(&closer.lock);
    add(waiting);
    start_spare(); /* the thread with the turn may be stuck, and the idle one may have ended */
    if (turn_is_free()) {
        pthread_cond_signal(&closer.work);
    }
    pthread_mutex_unlock(&closer.lock);
}

void closer_close(int fd) {
    hand_over(&(struct waiting) { .fd = fd });
}

void closer_close_from(int fd, bool may_signal) {
    if (may_signal && fd_kind(fd) == FD_EVENTFD) {
        close(fd);
    } else {
        closer_close(fd);
    }
}

bool closer_close_copy(int fd, int kept) {
    UNCANCELLED;
    bool is_copy = fcntl(fd, F_DUPFD_QUERY, kept) == 1;
    if (is_copy) {
        close(fd);
    }
    return is_copy;
}

void closer_unmap(const void *memory, size_t size) {
    hand_over(&(struct waiting) { .fd = -1, .memory = (void *) memory, .size = size });
}

void closer_run(void (*work)(void *argument), void *argument) {
    hand_over(&(struct waiting) { .fd = -1, .memory = argument, .work = work });
}

void closer_end(int connection) {
    shutdown(connection, SHUT_RDWR);
    closer_close(connection);
}

void closer_end_listener(int listener) {
    UNCANCELLED;
    int fd;
    shutdown(listener, SHUT_RDWR);
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        closer_end(fd);
    }
    if (errno == EAGAIN) { /* no connection is left */
        close(listener);
    } else { /* no descriptor for a connection: the name is free a moment later */
        closer_close(listener);
    }
}

bool closer_close_received(struct msghdr *message) {
    bool any = false;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            closer_close(fd);
            any = true;
        }
    }
    return any;
}

void closer_close_own(int fd) {
    close(fd);
}

void closer_close_inherited(int fd) {
    close(fd);
}

/* Called with closer.lock held. */
static bool is_behind(void) {
    unsigned max = closer.idle == 0 ? MAX_WAITING : MAX_WAITING_FOR_A_MOMENT;
    struct rlimit limit;
    return closer.waiting > max || (closer.waiting > 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0
            && closer.waiting > limit.rlim_cur / PART_OF_DESCRIPTORS);
}

bool closer_is_behind(void) {
    pthread_mutex_lock(&closer.lock);
    if (closer.first != NULL && closer.threads == 0) { /* none could be started, or this is the child of a fork */
        start_spare();
    }
    bool behind = is_behind();
    pthread_mutex_unlock(&closer.lock);
    return behind;
}

bool closer_is_done(void) {
    pthread_mutex_lock(&closer.lock);
    bool done = closer.waiting == 0 && closer.closing == 0;
    pthread_mutex_unlock(&closer.lock);
    return done;
}

bool closer_pass_rights(int socket, bool passed) {
    const int value = passed;
    return setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &value, sizeof(value)) == 0;
}

/* ---- fork ---- */

static void halt(void) {
    uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + SETTLE_NS;
    pthread_mutex_lock(&closer.lock);
    closer.halted++;
    while (closer.closing > 0 && clock_ns(CLOCK_MONOTONIC) < end_ns) {
        wait_until(&closer.settled, end_ns);
    }
    pthread_mutex_unlock(&closer.lock);
}

static void resume(void) {
    pthread_mutex_lock(&closer.lock);
    if (--closer.halted == 0) {
        pthread_cond_signal(&closer.work);
    }
    pthread_mutex_unlock(&closer.lock);
}

static void resume_child(void) {
    closer.halted = 0;
}

static void fork_prepare(void) {
    pthread_mutex_lock(&closer.lock);
}

static void fork_parent(void) {
    pthread_mutex_unlock(&closer.lock);
}

/*
 * Leaves waiting descriptors to a thread of the child, which closer_is_behind() or the next descriptor starts. The
 * parent closes its own copy, so the child's may be the last one, whose close may block.
 */
static void fork_child(void) {
    for (struct waiting *waiting = closer.first; waiting != NULL; waiting = waiting->next) {
        waiting->memory = NULL; /* not mapped here: sealed.c */
        waiting->work = NULL;
    }
    closer.threads = closer.idle = closer.closing = 0;
    closer.turn_since_ns = 0;
    init_conditions();
    pthread_mutex_unlock(&closer.lock);
}

void closer_init(void) {
    init_conditions();
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

void closer_halt_init(void) {
    pthread_atfork(halt, resume, resume_child);
}
