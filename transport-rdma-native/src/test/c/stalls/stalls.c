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
#include "stalls.h"

#include <errno.h>
#include <execinfo.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "embedded/base/backoff.h"

#define MS UINT64_C(1000000)

/* Honest ones take far less than a millisecond. */
#define SLEPT_LIMIT (50 * MS)
#define WORKED_LIMIT (50 * MS)

/*
 * Number of times that the thread must have been seen in a sleep that signals interrupt (proc(5), /proc/[pid]/stat, S):
 * waits for other threads look so. A thread that was seen so less often has waited for a disk or a lock of the kernel:
 * a thread sleeps in mmap(2) or unlink(2) for as long as another one that has such a lock is preempted; or the
 * hypervisor had the processor.
 */
#define LOOKS 2

/* Time after which the watching thread reports what has not ended, if the thread has slept all the time. */
#define ENDLESS (1000 * MS)

#define TICK (10 * MS)
#define FRESH (1 * MS) /* the age of a sample that does in place of a new one */

#define MAX_THREADS 1024
#define MAX_STAYS 24
#define MAX_ADDRESSES 16
#define STACK_WORDS 1024
#define TEXT_SIZE 8192

enum kind { LOCK, METHOD, TURN };

static const char *const kinds[] = { "a lock was held", "a native method ran", "the engine was in one turn" };

/*
 * Stays that last by design: what addr2line(1) says of the place where each began, and why. The place of a native
 * method is its first instruction.
 */
static const struct {
    const char *place;
    bool may_sleep; /* true: may sleep; false: may only work */
    const char *reason;
} exceptions[] = {
    { "start_poll at ./embedded/programs/cq_ex.c", true, "held until ibv_end_poll(3): the application's time" },
    { "wr_start at ./embedded/programs/qp_wr.c", true, "held until ibv_wr_complete(3): the application's time" },
    { "folder_start at ./embedded/link/folder.c", false, "once in a process: reads settings and names of the folder" },
    { "embedded_ibv_attach_mcast at ./embedded/ud/ud_group.c", true, "waits for the administrator of groups: mcast.h" },
    { "attach_multicast at ./jni/queue_pair.c", true, "waits for the administrator of groups: mcast.h" },
    { " at ./jni/verbs.c", false, "once in a process: loads libraries and opens the folder" },
    { " at ./jni/provider_check.c", false, "once in a process: opens devices" },
};

/* Sample of a thread. */
struct sample {
    uint64_t at, worked;
    int64_t slept; /* since some time */
    long switches; /* voluntary */
    bool complete;
};

struct stay {
    enum kind kind;
    const void *what, *place;
    uint64_t begun, frozen;
    struct sample since; /* sample of some moment of the millisecond before */
    int64_t excused_sleep, excused_work;
    unsigned looks;
    bool forgiven;
};

struct thread {
    atomic_int tid;
    atomic_uint count, waiting;
    atomic_bool timed; /* thread is in pthread_cond_timedwait(3) */
    unsigned depth; /* depth of native methods */
    struct stay stays[MAX_STAYS];
    struct sample latest, before_wait;
    uint64_t wait_begun;
    int64_t excused_sleep, excused_work;

    /* Written by the watching thread: how often the thread was seen asleep, and where it was last. */
    atomic_uint looks;
    uint64_t seen_at, asleep_since;
    unsigned long runs;
    long call;
    const void *addresses[MAX_ADDRESSES];
    int address_count;
};

static struct thread threads[MAX_THREADS];
static __thread struct thread *self;
static pthread_key_t key;
static atomic_bool watched;
static _Atomic uint64_t frozen; /* the process as a whole was stopped for so long */
static atomic_uint ticks;       /* ticks of the watching thread */
static int log_file = -1;

int __real_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __real_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *at);
int __real_epoll_wait(int fd, struct epoll_event *events, int size, int timeout);
int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *at);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int size, int timeout);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);

/* ---- samples ---- */

static uint64_t clock_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t) time.tv_sec * 1000 * MS + (uint64_t) time.tv_nsec;
}

static uint64_t now(void) {
    return clock_of(CLOCK_MONOTONIC);
}

/* Reads a file by system calls that are no cancellation points, as the callers are none. */
static bool read_file(const char *path, char *text, size_t size) {
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long length = fd < 0 ? -1 : syscall(SYS_read, fd, text, size - 1);
    if (fd >= 0) {
        syscall(SYS_close, fd);
    }
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* Takes a sample of the calling thread. It is not complete if out of descriptors, or without /proc. */
static struct sample sample(void) {
    struct sample sample = { 0 };
    for (int i = 0; i < 5; i++) {
        char text[96];
        unsigned long long delayed;
        struct rusage usage;
        sample.at = now();
        sample.worked = clock_of(CLOCK_THREAD_CPUTIME_ID);
        sample.complete = read_file("/proc/thread-self/schedstat", text, sizeof(text))
                && sscanf(text, "%*u %llu", &delayed) == 1 && getrusage(RUSAGE_THREAD, &usage) == 0;
        if (sample.complete) {
            sample.slept = (int64_t) (sample.at - sample.worked - delayed);
            sample.switches = usage.ru_nvcsw;
        }
        sample.complete = sample.complete && now() - sample.at < FRESH; /* an old sample is of several moments */
        if (sample.complete) {
            break;
        }
    }
    return sample;
}

static const struct sample *recent(struct thread *thread, uint64_t at) {
    if (at - thread->latest.at > FRESH) {
        thread->latest = sample();
    }
    return &thread->latest;
}

/* ---- reports ---- */

static const struct {
    long number;
    const char *name;
} calls[] = {
    { SYS_close, "close" },           { SYS_openat, "openat" },     { SYS_nanosleep, "nanosleep" },
    { SYS_connect, "connect" },       { SYS_bind, "bind" },         { SYS_clock_nanosleep, "clock_nanosleep" },
    { SYS_accept4, "accept4" },       { SYS_ppoll, "ppoll" },       { SYS_futex, "futex" },
    { SYS_fcntl, "fcntl" },           { SYS_flock, "flock" },       { SYS_munmap, "munmap" },
    { SYS_mmap, "mmap" },             { SYS_read, "read" },         { SYS_write, "write" },
    { SYS_sendmsg, "sendmsg" },       { SYS_recvmsg, "recvmsg" },   { SYS_linkat, "linkat" },
    { SYS_unlinkat, "unlinkat" },     { SYS_ftruncate, "ftruncate" }, { SYS_fallocate, "fallocate" },
    { SYS_getdents64, "getdents64" }, { SYS_shutdown, "shutdown" }, { SYS_recvmmsg, "recvmmsg" },
#ifdef SYS_poll
    { SYS_poll, "poll" },             { SYS_open, "open" },         { SYS_pause, "pause" },
#endif
};

static const char *name_of_call(long number) {
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if (calls[i].number == number) {
            return calls[i].name;
        }
    }
    return "system call";
}

/* Start of the object that this is linked into. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_ours(const void *address) {
    return (const char *) address > __ehdr_start && (const char *) address < etext;
}

/*
 * Runs the program, with a descriptor of the calling thread as its output, and waits for its end. By system calls, as
 * fork(2) calls handlers of the library. A process in between has the SIGCHLD, which ends waits of tests, and at no
 * moment a copy of a descriptor: its close(2) would be the last one, and take as long as a peer likes.
 */
static void run_program(char **arguments, int output) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%ld/fd/%d", getpid(), syscall(SYS_gettid), output);
    const long between = syscall(SYS_clone, CLONE_FILES, NULL, NULL, NULL, NULL);
    if (between > 0) {
        waitpid((pid_t) between, NULL, __WALL);
    } else if (between == 0) {
        syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_UNSHARE);
        const long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (child == 0) {
            dup2(open(path, O_WRONLY), STDOUT_FILENO);
            execvp(arguments[0], arguments);
        } else if (child > 0) {
            waitpid((pid_t) child, NULL, 0);
        }
        _exit(0);
    }
}

/*
 * Functions and lines of addresses, by addr2line(1), whose output fits into a pipe(7). Return addresses are of the
 * instruction behind the call.
 */
static void describe(const void *const *addresses, int count, int before, char *text, size_t size) {
    char numbers[MAX_ADDRESSES][24];
    char *arguments[MAX_ADDRESSES + 8] = { "addr2line", "-f", "-i", "-p", "-e" };
    int argument_count = 5, ends[2];
    Dl_info info;
    text[0] = 0;
    bool found = dladdr(__ehdr_start, &info) != 0 && strchr(info.dli_fname, '/') != NULL;
    arguments[argument_count++] = found ? (char *) (uintptr_t) info.dli_fname : "/proc/self/exe";
    for (int i = 0; i < count && i < MAX_ADDRESSES; i++) {
        if (is_ours(addresses[i])) {
            snprintf(numbers[i], sizeof(numbers[i]), "%#tx", (const char *) addresses[i] - __ehdr_start - before);
            arguments[argument_count++] = numbers[i];
        }
    }
    if (argument_count == 6 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return;
    }
    run_program(arguments, ends[1]);
    const ssize_t length = read(ends[0], text, size - 1);
    text[length > 0 ? length : 0] = 0;
    close(ends[0]);
    close(ends[1]);
    if (length <= 0) {
        snprintf(text, size, "%s (no addr2line)\n", arguments[6]);
    }
}

static void describe_place(const struct stay *stay, char *text, size_t size) {
    describe(&stay->place, 1, stay->kind == LOCK, text, size);
}

static bool is_exception(const struct stay *stay, const char *place, bool sleeps) {
    bool is = stay->forgiven;
    for (size_t i = 0; i < sizeof(exceptions) / sizeof(*exceptions) && !is; i++) {
        is = strstr(place, exceptions[i].place) != NULL && (exceptions[i].may_sleep || !sleeps);
    }
    return is;
}

static void print(const char *title, const void *const *addresses, int count) {
    static char text[TEXT_SIZE];
    describe(addresses, count, 1, text, sizeof(text));
    if (text[0] != 0) {
        fprintf(stderr, "%s:\n%s", title, text);
    }
}

/* Does not return, unless it is an exception. */
static void report(const struct thread *thread, const struct stay *stay, int64_t slept, int64_t worked, bool ended) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER; /* others end with this one */
    static char place[TEXT_SIZE];
    const void *addresses[MAX_ADDRESSES];
    __real_pthread_mutex_lock(&one);
    describe_place(stay, place, sizeof(place));
    if (is_exception(stay, place, slept > (int64_t) SLEPT_LIMIT)) {
        __real_pthread_mutex_unlock(&one);
        return;
    }
    fprintf(stderr, "STALL: %s for %.0f ms%s, in which the thread slept %.0f ms and worked %.0f ms (limits %.0f and "
            "%.0f; src/test/c/stalls/stalls.h)\nit began at:\n%s", kinds[stay->kind],
            (double) (now() - stay->begun) / MS, ended ? "" : ", and has not ended",
            slept > 0 ? (double) slept / MS : 0, (double) worked / MS, (double) SLEPT_LIMIT / MS,
            (double) WORKED_LIMIT / MS, place[0] != 0 ? place : stay->kind == TURN ? "epoll_wait(2)\n" : "?\n");
    if (thread->seen_at > stay->begun) {
        fprintf(stderr, "it was seen asleep in %s (%ld)\n", name_of_call(thread->call), thread->call);
        print("what its stack had then, of which some may be of calls before", thread->addresses,
              thread->address_count);
    }
    if (ended) {
        int count = backtrace((void **) addresses, MAX_ADDRESSES);
        print("it ended at", addresses + 2, count - 2); /* without this function and judge() */
    }
    abort();
}

/* ---- what threads hold and do ---- */

static void *watch(void *unused);

/* Starts the watching thread, in each process: a child of a fork has none. */
static void start_watching(void) {
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attr, watch, NULL);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void release(void *thread) {
    self = NULL; /* destructors that run after this one may take locks again */
    atomic_store(&((struct thread *) thread)->tid, 0);
}

static struct thread *get_self(void) {
    if (self == NULL) {
        const int tid = (int) syscall(SYS_gettid);
        for (int i = 0; i < MAX_THREADS && self == NULL; i++) {
            int none = 0;
            if (threads[i].tid == 0 && atomic_compare_exchange_strong(&threads[i].tid, &none, tid)) {
                self = &threads[i];
            }
        }
        if (self == NULL || pthread_setspecific(key, self) != 0) {
            fprintf(stderr, "STALL: more threads than are watched\n");
            abort();
        }
        self->count = self->waiting = 0;
        self->depth = 0;
        self->latest = (struct sample) { 0 };
    }
    return self;
}

static void begin(struct thread *thread, enum kind kind, const void *what, const void *place) {
    if (thread->count == MAX_STAYS) { /* before a fork(2), which takes those of all objects */
        return;
    }
    const uint64_t at = now();
    const struct sample *since = recent(thread, at);
    thread->stays[thread->count] = (struct stay) { .kind = kind, .what = what, .place = place, .begun = at,
        .frozen = frozen, .since = *since, .excused_sleep = thread->excused_sleep,
        .excused_work = thread->excused_work, .looks = thread->looks };
    thread->count++;
    if (!atomic_load_explicit(&watched, memory_order_relaxed) && !atomic_exchange(&watched, true)) {
        start_watching();
    }
}

/* Takes a stay out, not in the order of beginnings. One that is not there was begun before a fork, in the parent. */
static bool take_out(struct thread *thread, enum kind kind, const void *what, struct stay *stay) {
    for (unsigned i = thread->count; i-- > 0;) {
        if (thread->stays[i].kind == kind && (kind != LOCK || thread->stays[i].what == what)) {
            *stay = thread->stays[i];
            for (; i + 1 < thread->count; i++) {
                thread->stays[i] = thread->stays[i + 1];
            }
            thread->count--;
            return true;
        }
    }
    return false;
}

/* Writes a time to the log in place of judging it. */
static void write_line(const struct thread *thread, const struct stay *stay, uint64_t lasted, int64_t slept,
                       int64_t worked) {
    static const char *const names[] = { "lock", "method", "turn" };
    char place[TEXT_SIZE];
    describe_place(stay, place, sizeof(place));
    if (slept + worked > (int64_t) MS) {
        for (char *end = place; (end = strchr(end, '\n')) != NULL;) {
            *end = end[1] != 0 ? '|' : 0;
        }
        const unsigned looks = thread->looks - stay->looks;
        dprintf(log_file, "%s lasted %.1f slept %.1f worked %.1f seen asleep %u %s %s%s\n", names[stay->kind],
                (double) lasted / MS, (double) slept / MS, (double) worked / MS, looks,
                looks > 0 ? name_of_call(thread->call) : "-",
                is_exception(stay, place, looks > 0) ? "(exception) " : "", place);
    }
}

/* Waits until the watching thread would have noticed that all were stopped. */
static void wait_for_ticks(void) {
    const unsigned seen = ticks;
    const uint64_t from = now();
    while (ticks - seen < 2 && now() - from < ENDLESS) {
        __real_nanosleep(&(struct timespec) { .tv_nsec = MS }, NULL);
    }
}

/* Judges a stay of the calling thread, after it has ended. */
static void judge(struct thread *thread, const struct stay *stay) {
    const uint64_t ended = now(), lasted = ended - stay->begun;
    if (stay->forgiven || lasted < (log_file >= 0 ? MS : SLEPT_LIMIT < WORKED_LIMIT ? SLEPT_LIMIT : WORKED_LIMIT)) {
        return;
    }
    const int saved = errno;
    thread->waiting++; /* the following does not count for the other stays of the thread */
    const struct sample since = stay->since, until = sample();
    const bool complete = since.complete && until.complete && until.switches != since.switches;
    int64_t slept = until.slept - since.slept - (thread->excused_sleep - stay->excused_sleep);
    int64_t worked = (int64_t) (until.worked - since.worked) - (thread->excused_work - stay->excused_work);
    slept = complete && slept > 0 ? slept : 0;
    worked = worked > 0 && stay->kind != TURN ? worked : 0; /* a turn has many callbacks */
    if (log_file >= 0) {
        write_line(thread, stay, lasted, slept, worked);
    } else {
        if (slept > (int64_t) SLEPT_LIMIT) {
            wait_for_ticks();
            slept = thread->looks - stay->looks >= LOOKS ? slept - (int64_t) (frozen - stay->frozen) : 0;
        }
        if (slept > (int64_t) SLEPT_LIMIT || worked > (int64_t) WORKED_LIMIT) {
            report(thread, stay, slept, worked, true);
        }
    }
    thread->latest = sample();
    if (complete && thread->latest.complete) {
        thread->excused_sleep += thread->latest.slept - until.slept;
        thread->excused_work += (int64_t) (thread->latest.worked - until.worked);
    }
    thread->waiting--;
    errno = saved;
}

/* ---- what does not count ---- */

static void begin_wait(struct thread *thread) {
    if (thread->count > 0) {
        thread->wait_begun = now();
        thread->before_wait = *recent(thread, thread->wait_begun);
        thread->waiting++;
    }
}

static void end_wait(struct thread *thread) {
    if (thread->count > 0) {
        const uint64_t waited = now() - thread->wait_begun;
        struct sample after = { 0 };
        if (waited > FRESH) {
            thread->latest = after = sample();
        }
        const bool complete = after.complete && thread->before_wait.complete;
        thread->excused_sleep += complete ? after.slept - thread->before_wait.slept : (int64_t) waited;
        thread->excused_work += complete ? (int64_t) (after.worked - thread->before_wait.worked) : (int64_t) waited;
        thread->waiting--;
    }
}

void stall_pause(void) {
    begin_wait(get_self());
}

void stall_resume(void) {
    end_wait(get_self());
}

void stall_forgive(void) {
    struct thread *thread = get_self();
    for (unsigned i = 0; i < thread->count; i++) {
        thread->stays[i].forgiven = true;
    }
}

/* ---- native methods, locks, the engine ---- */

void stall_enter(const void *function) {
    struct thread *thread = get_self();
    if (thread->depth++ == 0) {
        begin(thread, METHOD, function, function);
    }
}

void stall_leave(void) {
    struct thread *thread = get_self();
    struct stay stay;
    if (--thread->depth == 0 && take_out(thread, METHOD, NULL, &stay)) {
        judge(thread, &stay);
    }
}

static int lock(pthread_mutex_t *mutex, const void *place) {
    const int saved = errno;
    struct thread *thread = get_self();
    int err = __real_pthread_mutex_trylock(mutex);
    if (err == EBUSY) {
        begin_wait(thread);
        err = __real_pthread_mutex_lock(mutex);
        end_wait(thread);
    }
    if (err == 0) {
        begin(thread, LOCK, mutex, place);
    }
    errno = saved;
    return err;
}

/* Replaces the initialization of a mutex that is locked in the child of a fork(2). */
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr) {
    struct stay stay;
    (void) take_out(get_self(), LOCK, mutex, &stay);
    return __real_pthread_mutex_init(mutex, attr);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    return lock(mutex, __builtin_return_address(0));
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex) {
    const int saved = errno;
    const int err = __real_pthread_mutex_trylock(mutex);
    if (err == 0) {
        begin(get_self(), LOCK, mutex, __builtin_return_address(0));
    }
    errno = saved;
    return err;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex) {
    struct thread *thread = get_self();
    struct stay stay;
    const bool found = take_out(thread, LOCK, mutex, &stay);
    const int err = __real_pthread_mutex_unlock(mutex);
    if (found) {
        judge(thread, &stay);
    }
    return err;
}

/* Gives the lock back while it waits. */
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    struct thread *thread = get_self();
    struct stay stay;
    if (take_out(thread, LOCK, mutex, &stay)) {
        judge(thread, &stay);
    }
    begin_wait(thread);
    const int err = __real_pthread_cond_wait(condition, mutex);
    end_wait(thread);
    begin(thread, LOCK, mutex, __builtin_return_address(0));
    return err;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *at) {
    struct thread *thread = get_self();
    struct stay stay;
    if (take_out(thread, LOCK, mutex, &stay)) {
        judge(thread, &stay);
    }
    thread->timed = true;
    const int err = __real_pthread_cond_timedwait(condition, mutex, at);
    thread->timed = false;
    begin(thread, LOCK, mutex, __builtin_return_address(0));
    return err;
}

/* Replaces the sleep of backoff.h, which waits for a thread that is at a gate or in a section. */
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest) {
    struct thread *thread = get_self();
    const bool waits = time->tv_sec == 0 && time->tv_nsec == BACKOFF_SLEEP_NS;
    if (waits) {
        begin_wait(thread);
    }
    const int result = __real_nanosleep(time, rest);
    if (waits) {
        end_wait(thread);
    }
    return result;
}

int __wrap_epoll_wait(int fd, struct epoll_event *events, int size, int timeout) {
    struct thread *thread = get_self();
    struct stay stay;
    if (take_out(thread, TURN, NULL, &stay)) {
        judge(thread, &stay);
    }
    const int result = __real_epoll_wait(fd, events, size, timeout);
    const int saved = errno;
    begin(thread, TURN, NULL, NULL);
    errno = saved;
    return result;
}

/* ---- the thread that watches ---- */

/* Words of the thread's stack that may be return addresses. */
static void look_at_stack(struct thread *thread, const void *stack) {
    static const void *words[STACK_WORDS];
    const struct iovec to = { words, sizeof(words) }, from = { (void *) (uintptr_t) stack, sizeof(words) };
    ssize_t size = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    thread->address_count = 0;
    for (ssize_t i = 0; i < size / (ssize_t) sizeof(*words) && thread->address_count < MAX_ADDRESSES; i++) {
        if (is_ours(words[i])) {
            thread->addresses[thread->address_count++] = words[i];
        }
    }
}

static bool read_of_thread(int tid, const char *file, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, file);
    return read_file(path, text, size);
}

static bool is_asleep(int tid) {
    char text[512];
    const char *name_end = read_of_thread(tid, "stat", text, sizeof(text)) ? strrchr(text, ')') : NULL;
    return name_end != NULL && name_end[1] != 0 && name_end[2] == 'S';
}

/*
 * The system call that it is in, and where its stack is: the last word but one of the file. Without a limit futex(2)
 * waits for a lock of the C library that another thread has.
 */
static bool waits_for_others(const struct thread *thread, int tid, long *call, const void **stack) {
    char text[256], *words[9];
    int count = 0;
    if (!read_of_thread(tid, "syscall", text, sizeof(text)) || sscanf(text, "%ld", call) != 1) {
        return false;
    }
    for (char *word = strtok(text, " \n"); word != NULL && count < 9; word = strtok(NULL, " \n")) {
        words[count++] = word;
    }
    *stack = count > 2 ? (const void *) strtoul(words[count - 2], NULL, 16) : NULL;
    return *call != SYS_futex || thread->timed;
}

static void look(struct thread *thread, int tid, uint64_t at) {
    char text[96];
    unsigned long runs;
    long call;
    const void *stack;
    if (!read_of_thread(tid, "schedstat", text, sizeof(text)) || sscanf(text, "%*u %*u %lu", &runs) != 1
            || !is_asleep(tid) || !waits_for_others(thread, tid, &call, &stack)) {
        thread->asleep_since = 0;
        return;
    }
    thread->looks++;
    if (thread->asleep_since == 0 || thread->runs != runs) {
        thread->runs = runs;
        thread->call = call;
        thread->asleep_since = thread->seen_at = at;
        look_at_stack(thread, stack);
    } else if (at - thread->asleep_since > ENDLESS && log_file < 0) {
        for (unsigned i = thread->count; i-- > 0;) {
            if (at - thread->stays[i].begun > ENDLESS) {
                report(thread, &thread->stays[i], (int64_t) (at - thread->asleep_since), 0, false);
            }
        }
    }
}

static void *watch(void *unused) {
    (void) unused;
    syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_UNSHARE); /* descriptors of this thread are not the process's */
    sched_setscheduler(0, SCHED_RR, &(struct sched_param) { .sched_priority = 1 }); /* where it may */
    for (;;) {
        const struct sample before = sample();
        __real_nanosleep(&(struct timespec) { .tv_nsec = TICK }, NULL);
        const struct sample after = sample();
        const int64_t late = after.slept - before.slept - (int64_t) TICK;
        const bool was_stopped = before.complete && after.complete && late > (int64_t) (2 * MS);
        if (was_stopped) { /* stopped by SIGSTOP, a debugger, or with the whole machine */
            frozen += (uint64_t) late;
        }
        ticks++;
        for (int i = 0; i < MAX_THREADS; i++) {
            struct thread *thread = &threads[i];
            const int tid = thread->tid;
            const bool busy = tid != 0 && thread->count > 0 && thread->waiting == 0 && !was_stopped;
            if (busy && (int64_t) (after.at - thread->stays[0].begun) > (int64_t) TICK) {
                look(thread, tid, after.at);
            } else {
                thread->asleep_since = 0;
            }
        }
    }
    return NULL;
}

/* ---- the process ---- */

/* The last one of these handlers: how long fork(2) takes is a matter of the program's memory. */
static void fork_prepare(void) {
    stall_forgive();
}

/* Runs before the handlers that give back the locks. */
static void fork_child(void) {
    for (int i = 0; i < MAX_THREADS; i++) {
        if (&threads[i] != self) {
            threads[i].tid = 0;
        }
    }
    self->tid = (int) syscall(SYS_gettid);
    self->count = self->waiting = 0;
    self->latest = (struct sample) { 0 };
    frozen = 0;
    watched = false;
}

/* Runs before all constructors of the library. */
__attribute__((constructor(101))) static void init(void) {
    const char *name = getenv("RDMA_STALLS_LOG");
    log_file = name != NULL ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    pthread_key_create(&key, release);
    pthread_atfork(fork_prepare, NULL, fork_child);
}
