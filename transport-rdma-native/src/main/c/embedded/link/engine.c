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
 * The engine thread: an epoll loop over sources, one timerfd for a pairing heap of timers, and a queue of tasks.
 *
 * One lock guards everything but is never held while a callback runs. `running` names the object whose callback runs.
 * So a cancel waits only for that callback, and a callback may cancel itself or free its owner.
 *
 * The thread ends when there is nothing left to do. It decides that with engine.lock held, and has released all its
 * resources when it unlocks. The next user starts another thread, even if the first one is still in the C library.
 */
#include "engine.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "embedded/base/cancel.h"
#include "embedded/base/clock.h"
#include "embedded/base/fork.h"
#include "embedded/base/thread.h"

#define BATCH 64

static struct {
    pthread_mutex_t lock;
    pthread_cond_t returned; /* signalled when a callback has returned and a thread waits for that */
    pthread_cond_t resumed;  /* signalled when no thread forks any more */
    unsigned halted;         /* number of threads that fork: no callback begins meanwhile */
    bool started;
    int waiters;
    int epoll_fd, wake_fd, timer_fd;
    unsigned sources; /* number of sources that are watched, or about to be */

    const void *running; /* object whose callback runs; &engine: the thread is being started */
    uint64_t runs; /* callbacks begun so far: tells two runs of one object apart */

    struct engine_timer *heap;
    uint64_t timer_armed_ns; /* setting of timer_fd; UINT64_MAX when unset */

    struct engine_task *first, *last;
    bool woken;

    struct epoll_event batch[BATCH];
    int batch_size;
    uint64_t removals; /* sources removed so far */
} engine = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .returned = PTHREAD_COND_INITIALIZER,
    .resumed = PTHREAD_COND_INITIALIZER,
    .epoll_fd = -1,
    .wake_fd = -1,
    .timer_fd = -1,
    .timer_armed_ns = UINT64_MAX,
};

static __thread bool self;

bool engine_is_self(void) {
    return self;
}

uint64_t engine_now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

/* ---- pairing heap: https://www.cs.cmu.edu/~sleator/papers/pairing-heaps.pdf ---- */

/* `prev` is the left sibling, or the parent of a first child. */
static struct engine_timer *heap_merge(struct engine_timer *a, struct engine_timer *b) {
    if (a == NULL || b == NULL) {
        return a != NULL ? a : b;
    }
    if (b->deadline_ns < a->deadline_ns) {
        struct engine_timer *t = a;
        a = b;
        b = t;
    }
    b->prev = a;
    b->next = a->child;
    if (b->next != NULL) {
        b->next->prev = b;
    }
    a->child = b;
    a->next = a->prev = NULL;
    return a;
}

static struct engine_timer *heap_merge_pairs(struct engine_timer *list) {
    struct engine_timer *pairs = NULL, *root = NULL;
    while (list != NULL) {
        struct engine_timer *a = list, *b = a->next;
        list = b != NULL ? b->next : NULL;
        a->next = a->prev = NULL;
        if (b != NULL) {
            b->next = b->prev = NULL;
        }
        a = heap_merge(a, b);
        a->next = pairs;
        pairs = a;
    }
    while (pairs != NULL) {
        struct engine_timer *next = pairs->next;
        pairs->next = NULL;
        root = heap_merge(root, pairs);
        pairs = next;
    }
    return root;
}

static void heap_remove(struct engine_timer *timer) {
    struct engine_timer *rest = heap_merge_pairs(timer->child);
    timer->child = NULL;
    if (timer == engine.heap) {
        engine.heap = rest;
    } else {
        if (timer->prev->child == timer) {
            timer->prev->child = timer->next;
        } else {
            timer->prev->next = timer->next;
        }
        if (timer->next != NULL) {
            timer->next->prev = timer->prev;
        }
        engine.heap = heap_merge(engine.heap, rest);
    }
    timer->next = timer->prev = NULL;
    timer->armed = false;
}

/* ---- the loop ---- */

static bool is_idle(void) {
    return engine.sources == 0 && engine.heap == NULL && engine.first == NULL;
}

/* Wakes the thread, so that it looks for work again, or finds that there is none and ends. */
static void wake(void) {
    UNCANCELLED;
    if (!self && !engine.woken && engine.started) {
        engine.woken = true;
        eventfd_write(engine.wake_fd, 1);
    }
}

static void wake_if_idle(void) {
    if (is_idle()) {
        wake();
    }
}

/* Sets the alarm to an earlier time, never to a later one. An early alarm finds no timer due, and sets the next. */
static void arm_timer_fd(void) {
    if (engine.heap == NULL || engine.heap->deadline_ns >= engine.timer_armed_ns || !engine.started) {
        return;
    }
    uint64_t at = engine.heap->deadline_ns;
    struct itimerspec spec = {
        .it_value = { .tv_sec = (time_t) (at / 1000000000u), .tv_nsec = (long) (at % 1000000000u) },
    };
    if (at == 0) {
        spec.it_value.tv_nsec = 1; /* zero would disarm */
    }
    timerfd_settime(engine.timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
    engine.timer_armed_ns = at;
}

/* Called with engine.lock held, before the thread chooses what runs next. */
static void wait_while_halted(void) {
    while (engine.halted > 0) {
        pthread_cond_wait(&engine.resumed, &engine.lock);
    }
}

static void begin(const void *object) {
    engine.running = object;
    engine.runs++;
    pthread_mutex_unlock(&engine.lock);
}

static void end(void) {
    pthread_mutex_lock(&engine.lock);
    engine.running = NULL;
    if (engine.waiters > 0) {
        pthread_cond_broadcast(&engine.returned);
    }
}

/*
 * Waits until the current run of `object` (NULL: of anything) has returned. Returns true if it waited. Called with
 * engine.lock held.
 */
static bool wait_for(const void *object) {
    if (self || engine.running == NULL || (object != NULL && engine.running != object)) {
        return false;
    }
    uint64_t run = engine.runs;
    engine.waiters++;
    while (engine.running != NULL && engine.runs == run) {
        pthread_cond_wait(&engine.returned, &engine.lock);
    }
    engine.waiters--;
    return true;
}

/* Empties a descriptor. One read takes the whole count: eventfd(2), timerfd_create(2). */
static void drain(int fd) {
    uint64_t count;
    (void) !read(fd, &count, sizeof(count));
}

static void run_tasks(void) {
    /* Runs only tasks that are queued now, so that a task that submits itself again does not starve the sources. */
    struct engine_task *last = engine.last;
    for (;;) {
        wait_while_halted();
        if (engine.first == NULL) {
            break;
        }
        struct engine_task *task = engine.first;
        engine.first = task->next;
        if (engine.first == NULL) {
            engine.last = NULL;
        }
        task->next = NULL;
        task->queued = false;
        bool was_last = task == last;
        void (*run)(struct engine_task *) = task->run;
        begin(task);
        run(task);
        end();
        if (was_last) {
            break;
        }
    }
}

static void run_timers(void) {
    uint64_t now = engine_now_ns();
    /* Bounded, so that a timer that always sets itself to the past does not starve the sources. */
    for (int i = 0; i < BATCH; i++) {
        wait_while_halted();
        if (engine.heap == NULL || engine.heap->deadline_ns > now) {
            break;
        }
        struct engine_timer *timer = engine.heap;
        heap_remove(timer);
        void (*fire)(struct engine_timer *) = timer->fire;
        begin(timer);
        fire(timer);
        end();
    }
}

static void run_sources(void) {
    for (int i = 0; i < engine.batch_size; i++) {
        wait_while_halted();
        struct engine_source *source = engine.batch[i].data.ptr;
        uint32_t events = engine.batch[i].events;
        if (source == NULL) {
            continue; /* removed since epoll_wait() */
        }
        if ((void *) source == &engine.wake_fd) {
            engine.woken = false;
            drain(engine.wake_fd);
        } else if ((void *) source == &engine.timer_fd) {
            engine.timer_armed_ns = UINT64_MAX;
            drain(engine.timer_fd);
        } else {
            void (*ready)(struct engine_source *, uint32_t) = source->ready;
            begin(source);
            ready(source, events);
            end();
        }
    }
    engine.batch_size = 0;
}

static void close_fds(void) {
    int *fds[] = { &engine.epoll_fd, &engine.wake_fd, &engine.timer_fd };
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (*fds[i] >= 0) {
            close(*fds[i]);
        }
        *fds[i] = -1;
    }
}

/* Resets the state when the thread ends, or in the child of a fork, which has no thread. */
static void be_stopped(void) {
    close_fds();
    engine.started = false;
    engine.woken = false;
    engine.timer_armed_ns = UINT64_MAX;
}

static void *engine_main(void *unused) {
    (void) unused;
    self = true;
    end(); /* ends the run that start() has noted */
    for (;;) {
        run_tasks();
        run_timers();
        if (is_idle()) {
            break;
        }
        arm_timer_fd();
        int timeout = engine.first != NULL ? 0 : -1;
        uint64_t removals = engine.removals;
        pthread_mutex_unlock(&engine.lock);
        struct epoll_event events[BATCH];
        int n = epoll_wait(engine.epoll_fd, events, BATCH, timeout);
        pthread_mutex_lock(&engine.lock);
        if (n > 0 && removals == engine.removals) { /* after a removal, the list may name a removed source: ask again */
            memcpy(engine.batch, events, (size_t) n * sizeof(events[0]));
            engine.batch_size = n;
            run_sources();
        }
    }
    be_stopped();
    pthread_mutex_unlock(&engine.lock);
    return NULL;
}

/* ---- start and fork ---- */

static int open_fds(void) {
    engine.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    engine.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    engine.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (engine.epoll_fd < 0 || engine.wake_fd < 0 || engine.timer_fd < 0) {
        return errno;
    }
    struct epoll_event wake = { .events = EPOLLIN, .data.ptr = &engine.wake_fd };
    struct epoll_event timer = { .events = EPOLLIN, .data.ptr = &engine.timer_fd };
    if (epoll_ctl(engine.epoll_fd, EPOLL_CTL_ADD, engine.wake_fd, &wake) != 0
            || epoll_ctl(engine.epoll_fd, EPOLL_CTL_ADD, engine.timer_fd, &timer) != 0) {
        return errno;
    }
    return 0;
}

/* Called with engine.lock held, and with something to do, because an idle thread ends at once. Returns 0 or errno. */
static int start(void) {
    if (engine.started) {
        return 0;
    }
    int err = open_fds();
    if (err == 0) {
        err = thread_start("rdma-engine", engine_main);
    }
    if (err != 0) {
        close_fds();
        return err;
    }
    engine.running = &engine;
    engine.runs++;
    engine.started = true;
    arm_timer_fd();
    return 0;
}

/*
 * Waits until a new thread has begun. No callback runs (engine_halt_init()). Before its first line here, the thread
 * takes locks, such as those of AddressSanitizer's allocator, which a child would find locked for ever.
 */
static void fork_prepare(void) {
    pthread_mutex_lock(&engine.lock);
    wait_for(NULL);
}

static void fork_parent(void) {
    pthread_mutex_unlock(&engine.lock);
}

static void fork_child(void) {
    /* The child shares the epoll set with the parent, so the child only closes its own copies of the descriptors. */
    be_stopped();
    while (engine.heap != NULL) {
        heap_remove(engine.heap);
    }
    while (engine.first != NULL) {
        struct engine_task *task = engine.first;
        engine.first = task->next;
        task->next = NULL;
        task->queued = false;
    }
    engine.last = NULL;
    engine.running = NULL;
    engine.waiters = 0;
    engine.sources = 0;
    engine.batch_size = 0;
    self = false;
    pthread_cond_init(&engine.returned, NULL);
    pthread_mutex_unlock(&engine.lock);
}

void engine_init(void) {
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/*
 * Waits, before a fork takes any lock, for the callback that runs, and lets no other one begin until the fork is done.
 * A callback may hold descriptors that have just arrived and are in no list yet. They would stay open in the child for
 * ever.
 */
static void halt(void) {
    pthread_mutex_lock(&engine.lock);
    engine.halted++;
    wait_for(NULL);
    pthread_mutex_unlock(&engine.lock);
}

static void resume(void) {
    pthread_mutex_lock(&engine.lock);
    engine.halted--;
    pthread_cond_broadcast(&engine.resumed);
    pthread_mutex_unlock(&engine.lock);
}

static void resume_child(void) {
    engine.halted = 0;
    pthread_cond_init(&engine.resumed, NULL);
}

void engine_halt_init(void) {
    pthread_atfork(halt, resume, resume_child);
}

/* ---- sources, timers, tasks ---- */

static int control(int operation, struct engine_source *source, uint32_t epoll_events) {
    struct epoll_event event = { .events = epoll_events, .data.ptr = source };
    return epoll_ctl(engine.epoll_fd, operation, source->fd, &event) == 0 ? 0 : errno;
}

int engine_add(struct engine_source *source, uint32_t epoll_events) {
    pthread_mutex_lock(&engine.lock);
    engine.sources++;
    int err = start();
    if (err == 0) {
        err = control(EPOLL_CTL_ADD, source, epoll_events);
    }
    if (err != 0) {
        engine.sources--;
        wake_if_idle();
    }
    pthread_mutex_unlock(&engine.lock);
    return err;
}

int engine_modify(struct engine_source *source, uint32_t epoll_events) {
    return control(EPOLL_CTL_MOD, source, epoll_events);
}

void engine_remove(struct engine_source *source) {
    control(EPOLL_CTL_DEL, source, 0);
    pthread_mutex_lock(&engine.lock);
    engine.removals++;
    for (int i = 0; i < engine.batch_size; i++) {
        if (engine.batch[i].data.ptr == source) {
            engine.batch[i].data.ptr = NULL;
        }
    }
    wait_for(source);
    engine.sources--;
    wake_if_idle();
    pthread_mutex_unlock(&engine.lock);
}

void engine_timer_set(struct engine_timer *timer, uint64_t deadline_ns) {
    pthread_mutex_lock(&engine.lock);
    if (timer->armed) {
        heap_remove(timer);
    }
    timer->deadline_ns = deadline_ns;
    timer->armed = true;
    engine.heap = heap_merge(engine.heap, timer);
    start(); /* if the start fails, the timer fires when a later one succeeds */
    if (engine.heap == timer) {
        arm_timer_fd();
    }
    pthread_mutex_unlock(&engine.lock);
}

void engine_timer_cancel(struct engine_timer *timer) {
    pthread_mutex_lock(&engine.lock);
    do { /* `fire` may have set it again while we waited */
        if (timer->armed) {
            heap_remove(timer);
        }
    } while (wait_for(timer));
    wake_if_idle();
    pthread_mutex_unlock(&engine.lock);
}

void engine_submit(struct engine_task *task) {
    pthread_mutex_lock(&engine.lock);
    if (!task->queued) {
        task->queued = true;
        task->next = NULL;
        if (engine.last != NULL) {
            engine.last->next = task;
        } else {
            engine.first = task;
        }
        engine.last = task;
        start();
        wake();
    }
    pthread_mutex_unlock(&engine.lock);
}

static void unqueue(struct engine_task *task) {
    struct engine_task *previous = NULL;
    for (struct engine_task *t = engine.first; t != NULL; previous = t, t = t->next) {
        if (t == task) {
            if (previous != NULL) {
                previous->next = task->next;
            } else {
                engine.first = task->next;
            }
            if (engine.last == task) {
                engine.last = previous;
            }
            task->next = NULL;
            task->queued = false;
            return;
        }
    }
}

void engine_task_cancel(struct engine_task *task) {
    pthread_mutex_lock(&engine.lock);
    do {
        if (task->queued) {
            unqueue(task);
        }
    } while (wait_for(task));
    wake_if_idle();
    pthread_mutex_unlock(&engine.lock);
}

void engine_quiesce(void) {
    pthread_mutex_lock(&engine.lock);
    wait_for(NULL);
    pthread_mutex_unlock(&engine.lock);
}
