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
 * The engine: order and cancellation of timers, tasks and sources, from other threads and from inside callbacks.
 */
#include "embedded/link/engine.h"

#include "check.h"
#include "pair.h"
#include "provider.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <signal.h>
#include <unistd.h>

#define container(pointer, type, member) ((type *) ((char *) (pointer) - offsetof(type, member)))
#define MS 1000000u
#define TIMERS 2000

static int get(int *counter) {
    return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

static int add(int *counter) {
    return __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
}

static struct engine_task gate;
static int gate_entered, gate_open;

static void run_gate(struct engine_task *t) {
    (void) t;
    add(&gate_entered);
    while (!get(&gate_open)) {
        nanosleep(&(struct timespec) { .tv_nsec = 100000 }, NULL);
    }
}

/* Holds the engine: no callback runs until let_engine_go(). */
static void hold_engine(void) {
    gate.run = run_gate;
    __atomic_store_n(&gate_open, 0, __ATOMIC_SEQ_CST);
    int before = get(&gate_entered);
    engine_submit(&gate);
    CHECK_EVENTUALLY(get(&gate_entered) == before + 1);
}

static void let_engine_go(void) {
    add(&gate_open);
    engine_quiesce();
}

struct recorded {
    struct engine_timer timer;
    uint64_t deadline;
};

static struct recorded recorded[TIMERS];
static uint64_t last_deadline;
static int fired, disordered;

static void record(struct engine_timer *timer) {
    struct recorded *r = container(timer, struct recorded, timer);
    if (r->deadline < last_deadline || engine_now_ns() < r->deadline) {
        add(&disordered);
    }
    last_deadline = r->deadline;
    add(&fired);
}

static void timers_fire_in_order_and_never_early(void) {
    uint64_t base = engine_now_ns() + 200 * MS;
    unsigned seed = 7;
    hold_engine(); /* however long the following takes, none fires before all are as they are to be */
    for (int i = 0; i < TIMERS; i++) {
        recorded[i].timer.fire = record;
        recorded[i].deadline = base + (uint64_t) (rand_r(&seed) % 50000) * 1000;
        engine_timer_set(&recorded[i].timer, base + 1000 * MS); /* moved by the second set */
        engine_timer_set(&recorded[i].timer, recorded[i].deadline);
    }
    int cancelled = 0;
    for (int i = 0; i < TIMERS; i += 3, cancelled++) {
        engine_timer_cancel(&recorded[i].timer);
        engine_timer_cancel(&recorded[i].timer);
    }
    let_engine_go();
    CHECK_EVENTUALLY(get(&fired) == TIMERS - cancelled);
    CHECK_EQ(get(&disordered), 0);
}

static struct engine_timer repeating;
static int repeats;

static void repeat(struct engine_timer *timer) {
    add(&repeats);
    engine_timer_set(timer, engine_now_ns());
}

static void cancel_stops_a_timer_that_sets_itself_again(void) {
    repeating.fire = repeat;
    for (uint32_t i = 0; i < rounds(300, 60); i++) { /* the timer fires in some rounds while it is cancelled */
        int before = get(&repeats);
        engine_timer_set(&repeating, 0);
        CHECK_EVENTUALLY(get(&repeats) > before);
        engine_timer_cancel(&repeating);
        before = get(&repeats);
        settle(); /* a timer that is set would fire: its time has come */
        CHECK_EQ(get(&repeats), before);
    }
}

static struct engine_task task;
static int task_runs, task_on_engine;

static void run_task(struct engine_task *t) {
    (void) t;
    if (engine_is_self()) {
        add(&task_on_engine);
    }
    add(&task_runs);
}

static void a_task_runs_once_per_submission_on_the_engine_thread(void) {
    task.run = run_task;
    for (int i = 1; i <= 1000; i++) {
        engine_submit(&task);
        CHECK_EVENTUALLY(get(&task_runs) == i);
    }
    CHECK_EQ(get(&task_on_engine), 1000);
    CHECK(!engine_is_self());
}

static struct engine_task queued[3];
static int queued_runs;

static void run_queued(struct engine_task *t) {
    (void) t;
    add(&queued_runs);
}

static void a_cancelled_task_does_not_run(void) {
    hold_engine();
    for (int i = 0; i < 3; i++) {
        queued[i].run = run_queued;
        engine_submit(&queued[i]);
        engine_submit(&queued[i]);
    }
    engine_task_cancel(&queued[2]);
    engine_task_cancel(&queued[0]);
    let_engine_go();
    CHECK_EVENTUALLY(get(&queued_runs) == 1);
    settle(); /* a task that is left would run */
    CHECK_EQ(get(&queued_runs), 1);
    engine_submit(&queued[2]);
    CHECK_EVENTUALLY(get(&queued_runs) == 2);
    settle();
    CHECK_EQ(get(&queued_runs), 2);
}

struct counter {
    struct engine_source source;
    int events;
    bool remove_itself;
};

static int freed;

static void count(struct engine_source *source, uint32_t events) {
    struct counter *c = container(source, struct counter, source);
    CHECK(events & EPOLLIN);
    eventfd_t value;
    CHECK_EQ(eventfd_read(source->fd, &value), 0);
    add(&c->events);
    if (c->remove_itself) {
        engine_remove(source);
        close(source->fd);
        free(c);
        add(&freed);
    }
}

static struct counter *new_counter(bool remove_itself) {
    struct counter *c = calloc(1, sizeof(*c));
    CHECK(c != NULL);
    c->source.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c->source.ready = count;
    c->remove_itself = remove_itself;
    CHECK_EQ(engine_add(&c->source, EPOLLIN), 0);
    return c;
}

static void a_source_may_remove_and_free_itself(void) {
    struct counter *c = new_counter(true);
    eventfd_write(c->source.fd, 1);
    CHECK_EVENTUALLY(get(&freed) == 1);
}

static void a_source_that_cannot_be_watched_is_refused(void) {
    struct engine_source bad = { .fd = -1, .ready = count };
    CHECK_EQ(engine_add(&bad, EPOLLIN), EBADF);
}

/* Freed at once after the removal while events pour in: a late callback is a use after free. */
static void no_callback_comes_after_a_removal(void) {
    for (int round = 0; round < 2000; round++) {
        struct counter *c = new_counter(false);
        eventfd_write(c->source.fd, 1);
        if (round % 2 == 0) {
            sched_yield();
        }
        engine_remove(&c->source);
        close(c->source.fd);
        free(c);
    }
}

static void do_nothing(struct engine_timer *timer) {
    (void) timer;
}

static void the_thread_lives_as_long_as_there_is_something_to_do(void) {
    int fds = open_fds();
    CHECK_EVENTUALLY(threads("rdma-engine") == 0);
    for (int i = 0; i < 10; i++) {
        struct engine_timer timer = { .fire = do_nothing };
        engine_timer_set(&timer, UINT64_MAX);
        CHECK_EVENTUALLY(threads("rdma-engine") == 1);
        struct counter *c = new_counter(false);
        engine_timer_cancel(&timer);
        eventfd_write(c->source.fd, 1);
        CHECK_EVENTUALLY(get(&c->events) == 1);
        engine_remove(&c->source);
        close(c->source.fd);
        free(c);
        CHECK_EVENTUALLY(threads("rdma-engine") == 0);
        CHECK_EQ(open_fds(), fds);
    }
}

struct counted_task {
    struct engine_task task;
    int runs;
};

static void count_run(struct engine_task *task) {
    add(&container(task, struct counted_task, task)->runs);
}

static void *submit_and_wait(void *unused) {
    (void) unused;
    struct counted_task own = { .task.run = count_run };
    struct engine_timer timer = { .fire = do_nothing };
    for (uint32_t i = 1; i <= rounds(300, 60); i++) {
        engine_submit(&own.task);
        engine_timer_set(&timer, engine_now_ns());
        CHECK_EVENTUALLY(get(&own.runs) == (int) i);
        engine_task_cancel(&own.task); /* the task's run has returned */
        engine_timer_cancel(&timer);
    }
    return NULL;
}

static void what_comes_while_the_thread_ends_is_done(void) {
    pthread_t others[3];
    int fds = open_fds();
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(pthread_create(&others[i], NULL, submit_and_wait, NULL), 0);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(pthread_join(others[i], NULL), 0);
    }
    CHECK_EVENTUALLY(threads("rdma-engine") == 0);
    CHECK_EQ(open_fds(), fds);
}

static void *hammer_timer(void *timer) {
    for (int i = 0; i < 5000; i++) {
        engine_timer_set(timer, engine_now_ns());
        if (i % 3 == 0) {
            engine_timer_cancel(timer);
        }
    }
    return NULL;
}

static int hammered;

static void count_hammered(struct engine_timer *timer) {
    (void) timer;
    add(&hammered);
}

static void timers_may_be_set_from_many_threads(void) {
    static struct engine_timer timers[2];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        timers[i % 2].fire = count_hammered;
    }
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, hammer_timer, &timers[i % 2]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    engine_timer_cancel(&timers[0]);
    engine_timer_cancel(&timers[1]);
    int before = get(&hammered);
    engine_timer_set(&timers[0], 0);
    CHECK_EVENTUALLY(get(&hammered) == before + 1);
}

static int signals_on_engine;

static void on_signal(int signal) {
    (void) signal;
    if (engine_is_self()) {
        add(&signals_on_engine);
    }
}

static bool is_pending(int signal) {
    sigset_t pending;
    CHECK_EQ(sigpending(&pending), 0);
    return sigismember(&pending, signal) == 1;
}

/* The kernel prefers the main thread for a signal of the process: only one that blocks it leaves it to others. */
static void the_engine_thread_takes_no_signals(void) {
    struct engine_timer keeps_it = { .fire = do_nothing };
    sigset_t one, before;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
    engine_timer_set(&keeps_it, UINT64_MAX);
    CHECK_EVENTUALLY(threads("rdma-engine") == 1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &one, &before), 0);
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(kill(getpid(), SIGUSR1), 0);
        settle(); /* a thread that takes signals would have taken this one */
        CHECK(is_pending(SIGUSR1));
    }
    CHECK_EQ(get(&signals_on_engine), 0);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0); /* this thread takes it */
    CHECK(!is_pending(SIGUSR1));
    CHECK_EQ(get(&signals_on_engine), 0);
    engine_timer_cancel(&keeps_it);
}

static void a_forked_child_starts_an_engine_of_its_own(void) {
    struct engine_timer parents = { .fire = count_hammered };
    engine_timer_set(&parents, engine_now_ns() + 3600000 * (uint64_t) MS);
    int runs = get(&task_runs);
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        CHECK(!parents.armed);
        engine_submit(&task);
        CHECK_EVENTUALLY(get(&task_runs) == runs + 1);
        struct counter *c = new_counter(false);
        eventfd_write(c->source.fd, 1);
        CHECK_EVENTUALLY(get(&c->events) == 1);
        engine_remove(&c->source);
        close(c->source.fd);
        free(c);
        _exit(0);
    }
    expect_exit(child, 0);
    CHECK_EQ(get(&task_runs), runs);
    CHECK(parents.armed);
    engine_timer_cancel(&parents);
    engine_submit(&task);
    CHECK_EVENTUALLY(get(&task_runs) == runs + 1);
}

/* ---- forks ---- */

static int in_hand = -1;
static atomic_bool holds_it;
/* Set when a fork has begun, before the provider's handlers of it. */
static atomic_bool forking;

/* Gives a fork that has begun the time to end. Few turns: on a busy machine each may take as long as a time slice. */
static void let_fork_go_on(void) {
    for (int i = 0; i < 20; i++) {
        sched_yield();
    }
}

static void hold_a_descriptor(struct engine_task *task) {
    (void) task;
    in_hand = eventfd(0, EFD_CLOEXEC);
    atomic_store(&holds_it, true);
    while (!atomic_load(&forking)) {
        sched_yield();
    }
    let_fork_go_on();
    close(in_hand);
}

/* A child would have a copy of what it has in hand, and not know of it. */
static void a_fork_waits_for_the_callback_that_runs(void) {
    for (int i = 0; i < 50; i++) {
        struct engine_task task = { .run = hold_a_descriptor };
        atomic_store(&holds_it, false);
        atomic_store(&forking, false);
        engine_submit(&task);
        CHECK_EVENTUALLY(atomic_load(&holds_it));
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            _exit(fcntl(in_hand, F_GETFD) >= 0);
        }
        expect_exit(child, 0);
        engine_task_cancel(&task);
    }
}

/* ---- forks while the thread starts ---- */

/*
 * True from before the engine's thread is there until its first line. Code that runs in it then, as AddressSanitizer's,
 * has locks, which a child would find locked for ever.
 */
static atomic_bool starting;

struct beginning {
    void *(*first_line)(void *);
    void *argument;
};

static void *begin_late(void *argument) {
    struct beginning beginning = *(struct beginning *) argument;
    free(argument);
    if (atomic_load(&forking)) {
        let_fork_go_on();
    }
    atomic_store(&starting, false);
    return beginning.first_line(beginning.argument);
}

/* Replaces the C library's, which it calls, for this program and the provider in it. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*first_line)(void *), void *argument) {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **) &create = dlsym(RTLD_NEXT, "pthread_create");
    struct beginning *beginning = malloc(sizeof(*beginning));
    CHECK(create != NULL && beginning != NULL);
    *beginning = (struct beginning) { first_line, argument };
    atomic_store(&starting, true);
    return create(thread, attributes, begin_late, beginning);
}

/* Number of start_between() that have run, and of the one that starts the engine, from 0 on. */
static int between, starts_at = -1;

static void start_between(void) {
    static struct engine_task starts = { .run = run_queued };
    atomic_store(&forking, true);
    if (between++ == starts_at) {
        engine_submit(&starts);
    }
}

int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);

/* Replaces the C library's for the provider: start_between() runs before each of its handlers of a fork. */
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
    int error = __register_atfork(prepare, parent, child, NULL);
    return error != 0 ? error : __register_atfork(start_between, NULL, NULL, NULL);
}

/*
 * The first of the provider's handlers is that of engine_halt_init(): the engine starts before it (0), which waits for
 * the thread, or after it (1), as when another thread starts it, and then the engine's own handler waits.
 */
static void a_fork_waits_for_the_thread_to_have_started(void) {
    for (int i = 0; i < 20; i++) {
        pid_t child = fork_child();
        if (child == 0) {
            limit_life();
            between = 0;
            starts_at = i % 2;
            pid_t grandchild = fork();
            CHECK(grandchild >= 0);
            if (grandchild == 0) {
                _exit(atomic_load(&starting));
            }
            CHECK(between > starts_at);
            expect_exit(grandchild, 0);
            _exit(0);
        }
        expect_exit(child, 0);
    }
    atomic_store(&forking, false);
}

int main(void) {
    /* The first: there is no engine yet. */
    RUN(a_fork_waits_for_the_thread_to_have_started);
    RUN(the_thread_lives_as_long_as_there_is_something_to_do);
    RUN(what_comes_while_the_thread_ends_is_done);
    RUN(timers_fire_in_order_and_never_early);
    RUN(cancel_stops_a_timer_that_sets_itself_again);
    RUN(a_task_runs_once_per_submission_on_the_engine_thread);
    RUN(a_cancelled_task_does_not_run);
    RUN(a_source_may_remove_and_free_itself);
    RUN(a_source_that_cannot_be_watched_is_refused);
    RUN(no_callback_comes_after_a_removal);
    RUN(timers_may_be_set_from_many_threads);
    RUN(the_engine_thread_takes_no_signals);
    RUN(a_forked_child_starts_an_engine_of_its_own);
    RUN(a_fork_waits_for_the_callback_that_runs);
    return 0;
}
