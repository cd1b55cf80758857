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
/* The engine without a thread: see engine_by_hand.h. */
#include "engine_by_hand.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "embedded/base/backoff.h"
#include "embedded/base/closer.h"
#include "embedded/link/engine.h"

#define BATCH 64
#define MAX_TURNS 16
#define LOOK_NS 5000 /* time that a look at the clock takes, so that a loop that looks at it ends */
#define STEPS 16     /* number of steps in which time passes: timers due every two milliseconds do not fire each time */
#define WAIT_NS UINT64_C(20000000)

void (*engine_while_waiting)(void);

static int epoll_fd = -1;
static uint64_t now_ns = UINT64_C(1000000000000);
static struct engine_timer *timers; /* timers in no order; linked by `next` and `prev` */
static struct engine_task *first, *last;
static struct epoll_event batch[BATCH];
static int batch_size;
static unsigned sources, running;

void engine_init(void) {
}

void engine_halt_init(void) {
}

static int start(void) {
    if (epoll_fd < 0) {
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    }
    return epoll_fd < 0 ? errno : 0;
}

bool engine_is_self(void) {
    return running > 0;
}

uint64_t engine_now_ns(void) {
    return now_ns += LOOK_NS;
}

/* ---- sources ---- */

static int control(int operation, struct engine_source *source, uint32_t epoll_events) {
    struct epoll_event event = { .events = epoll_events, .data.ptr = source };
    return epoll_ctl(epoll_fd, operation, source->fd, &event) == 0 ? 0 : errno;
}

int engine_add(struct engine_source *source, uint32_t epoll_events) {
    int error = start();
    error = error != 0 ? error : control(EPOLL_CTL_ADD, source, epoll_events);
    sources += error == 0;
    return error;
}

int engine_modify(struct engine_source *source, uint32_t epoll_events) {
    return control(EPOLL_CTL_MOD, source, epoll_events);
}

void engine_remove(struct engine_source *source) {
    sources -= control(EPOLL_CTL_DEL, source, 0) == 0;
    for (int i = 0; i < batch_size; i++) {
        if (batch[i].data.ptr == source) {
            batch[i].data.ptr = NULL;
        }
    }
}

/* ---- timers ---- */

static void remove_timer(struct engine_timer *timer) {
    if (timer->prev != NULL) {
        timer->prev->next = timer->next;
    } else {
        timers = timer->next;
    }
    if (timer->next != NULL) {
        timer->next->prev = timer->prev;
    }
    timer->next = timer->prev = NULL;
    timer->armed = false;
}

void engine_timer_set(struct engine_timer *timer, uint64_t deadline_ns) {
    if (timer->armed) {
        remove_timer(timer);
    }
    timer->deadline_ns = deadline_ns;
    timer->armed = true;
    timer->next = timers;
    if (timers != NULL) {
        timers->prev = timer;
    }
    timers = timer;
}

void engine_timer_cancel(struct engine_timer *timer) {
    if (timer->armed) {
        remove_timer(timer);
    }
}

static struct engine_timer *next_timer(void) {
    struct engine_timer *earliest = timers;
    for (struct engine_timer *t = timers; t != NULL; t = t->next) {
        earliest = t->deadline_ns < earliest->deadline_ns ? t : earliest;
    }
    return earliest;
}

/* ---- tasks ---- */

void engine_submit(struct engine_task *task) {
    if (task->queued) {
        return;
    }
    task->queued = true;
    task->next = NULL;
    if (last != NULL) {
        last->next = task;
    } else {
        first = task;
    }
    last = task;
}

void engine_task_cancel(struct engine_task *task) {
    struct engine_task *previous = NULL, *t = first;
    while (t != NULL && t != task) {
        previous = t;
        t = t->next;
    }
    if (t == NULL) {
        return;
    }
    if (previous != NULL) {
        previous->next = task->next;
    } else {
        first = task->next;
    }
    last = last == task ? previous : last;
    task->next = NULL;
    task->queued = false;
}

void engine_quiesce(void) {
}

/* ---- turns ---- */

static bool run_tasks(void) {
    struct engine_task *end = last;
    bool any = false;
    for (bool more = first != NULL; more;) {
        struct engine_task *task = first;
        more = task != end && task->next != NULL;
        engine_task_cancel(task);
        task->run(task);
        more &= first != NULL;
        any = true;
    }
    return any;
}

static bool run_timers(void) {
    bool any = false;
    for (int i = 0; i < BATCH; i++) {
        struct engine_timer *timer = next_timer();
        if (timer == NULL || timer->deadline_ns > now_ns) {
            break;
        }
        remove_timer(timer);
        timer->fire(timer);
        any = true;
    }
    return any;
}

static bool run_sources(void) {
    batch_size = epoll_wait(epoll_fd, batch, BATCH, 0);
    bool any = batch_size > 0;
    for (int i = 0; i < batch_size; i++) {
        struct engine_source *source = batch[i].data.ptr;
        if (source != NULL) {
            source->ready(source, batch[i].events);
        }
    }
    batch_size = 0;
    return any;
}

void engine_run(void) {
    if (running > 0) {
        return;
    }
    running++;
    for (int turn = 0; turn < MAX_TURNS; turn++) {
        bool any = run_tasks();
        any |= run_timers();
        any |= run_sources();
        if (!any) {
            break;
        }
    }
    running--;
}

void engine_pass(uint64_t ns) {
    for (int step = 0; step < STEPS; step++) {
        now_ns += ns / STEPS;
        engine_run();
    }
}

unsigned engine_users(void) {
    unsigned count = sources;
    for (struct engine_timer *t = timers; t != NULL; t = t->next) {
        count++;
    }
    for (struct engine_task *t = first; t != NULL; t = t->next) {
        count++;
    }
    return count;
}

/* ---- closing, without threads: no peer here sends what is slow to close ---- */

void closer_init(void) {
}

void closer_halt_init(void) {
}

void closer_close(int fd) {
    close(fd);
}

void closer_close_from(int fd, bool may_signal) {
    (void) may_signal;
    close(fd);
}

bool closer_close_copy(int fd, int kept) {
    (void) fd;
    (void) kept;
    return false;
}

void closer_close_own(int fd) {
    close(fd);
}

void closer_close_inherited(int fd) {
    close(fd);
}

void closer_unmap(const void *memory, size_t size) {
    munmap((void *) memory, size);
}

void closer_run(void (*work)(void *argument), void *argument) {
    work(argument);
}

void closer_end(int connection) {
    close(connection);
}

void closer_end_listener(int listener) {
    close(listener);
}

bool closer_close_received(struct msghdr *message) {
    return message->msg_controllen > 0;
}

bool closer_is_behind(void) {
    return false;
}

bool closer_is_done(void) {
    return true;
}

/* Everybody may send descriptors, as before Linux 6.16. */
bool closer_pass_rights(int socket, bool passed) {
    (void) socket;
    (void) passed;
    return false;
}

/* ---- waits: the linker has them end here (--wrap) ---- */

static void wait_a_moment(const char *what) {
    if (running > 0) {
        fprintf(stderr, "the engine waits in %s\n", what);
        abort();
    }
    engine_pass(WAIT_NS);
    if (engine_while_waiting != NULL) {
        engine_while_waiting();
    }
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    (void) condition;
    (void) until;
    pthread_mutex_unlock(mutex);
    wait_a_moment("pthread_cond_timedwait");
    pthread_mutex_lock(mutex);
    return 0;
}

/* Fails: another thread of the application would have to end the wait, and there is none. */
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    (void) condition;
    (void) mutex;
    fprintf(stderr, "a wait that never ends\n");
    abort();
}

int __wrap_nanosleep(const struct timespec *duration, struct timespec *left);
int __wrap_nanosleep(const struct timespec *duration, struct timespec *left) {
    (void) left;
    if (duration->tv_nsec == BACKOFF_SLEEP_NS) {
        fprintf(stderr, "a gate waits for the thread that has it\n");
        abort();
    }
    wait_a_moment("nanosleep");
    return 0;
}
