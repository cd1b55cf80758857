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
 * shm_limit: what this machine can do between two processes, measured with as little as that takes. It is what the
 * transports are compared with, and uses none of their code.
 *
 *   round-trips  a message through a ring in shared memory and back, both processes polling, copied in and out
 *   streams      messages one way through such a ring: two copies, by two cores at once
 *   memcpy       one copy, by one core
 *   wake-ups     eventfd and epoll there and back, both sleeping: what two wake-ups cost. The limit of whoever sleeps
 *
 * The processes are pinned to the first two processors that this one may run on (taskset chooses others); if it is only
 * one, they take turns on it, and what needs two is not measured. Exit status 0 if everything that was asked for was
 * measured and every message was right: while it warms up, all bytes of all messages are compared, then the first and
 * last eight, which are other ones in each message.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measurement.h"
#include "ring.h"

#define DEFAULT_MILLIS 700
#define WARM_UP_SHARE 4 /* of the window, before it */

/* All that the two processes share. */
struct shared {
    _Atomic bool stop;
    _Atomic uint64_t ready; /* the child runs */
    struct ring there;
    struct ring back;
};

struct peers {
    struct shared *shared;
    size_t bytes;
    bool one_core;
    int there; /* eventfd */
    int back;  /* eventfd */
};

/* The time in which something is done over and over. */
struct window {
    bool warm;      /* what is done now counts */
    uint64_t start; /* when it became warm */
    uint64_t end;
    uint64_t count;
    uint64_t nanos; /* how long it was in the end */
};

static uint64_t window_nanos = DEFAULT_MILLIS * UINT64_C(1000000);
static int processors[2];
static int processor_count;
static volatile sig_atomic_t child_may_end;
static struct histogram histogram;

static void fail(const char *what) {
    fprintf(stderr, "shm_limit: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void wrong(const char *what) {
    fprintf(stderr, "shm_limit: %s\n", what);
    exit(1);
}

/* Whoever waits for a child that has died would wait for ever. */
static void on_child_end(int signal) {
    static const char message[] = "shm_limit: the other process ended\n";

    (void) signal;
    if (!child_may_end) {
        ssize_t ignored = write(STDERR_FILENO, message, sizeof(message) - 1);

        (void) ignored;
        _exit(1);
    }
}

static void find_processors(void) {
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        fail("sched_getaffinity");
    }
    for (int i = 0; i < CPU_SETSIZE && processor_count < 2; i++) {
        if (CPU_ISSET(i, &set)) {
            processors[processor_count++] = i;
        }
    }
    if (processor_count == 1) {
        processors[1] = processors[0];
    }
}

static void pin(int processor) {
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) {
        fail("sched_setaffinity");
    }
}

static unsigned char *new_buffer(size_t bytes) {
    unsigned char *buffer = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

    if (buffer == NULL) {
        fail("aligned_alloc");
    }
    for (size_t i = 0; i < bytes; i++) {
        buffer[i] = (unsigned char) (i * 31 + (i >> 8));
    }
    return buffer;
}

/* Makes a message unlike the one before it: a number at its start and at its end. */
static void stamp(unsigned char *message, size_t bytes, uint64_t number) {
    memcpy(message, &number, sizeof(number));
    memcpy(message + bytes - sizeof(number), &number, sizeof(number));
}

static void check(const unsigned char *message, const unsigned char *expected, size_t bytes, uint64_t number,
    bool all) {
    if (memcmp(message, &number, sizeof(number)) != 0
        || memcmp(message + bytes - sizeof(number), &number, sizeof(number)) != 0
        || (all && memcmp(message + sizeof(number), expected + sizeof(number), bytes - 2 * sizeof(number)) != 0)) {
        wrong("a message is not what was sent");
    }
}

/*
 * Starts a process that runs the function until it returns, which it has to do when "stop" is set. Both ends are
 * pinned.
 */
static pid_t start_child(const struct peers *peers, void (*run)(const struct peers *)) {
    pid_t parent = getpid();
    pid_t child;

    child_may_end = 0;
    child = fork();
    if (child < 0) {
        fail("fork");
    }
    if (child == 0) {
        signal(SIGCHLD, SIG_DFL);
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
            fail("prctl");
        }
        if (getppid() != parent) {
            _exit(1); /* it ended before that was set */
        }
        pin(processors[peers->one_core ? 0 : 1]);
        atomic_store(&peers->shared->ready, 1);
        run(peers);
        _exit(0);
    }
    pin(processors[0]);
    while (atomic_load(&peers->shared->ready) == 0) {
        sched_yield();
    }
    return child;
}

static void end_child(const struct peers *peers, pid_t child) {
    uint64_t one = 1;
    int status;

    child_may_end = 1;
    atomic_store(&peers->shared->stop, true);
    if (write(peers->there, &one, sizeof(one)) != sizeof(one)) {
        fail("write");
    }
    if (waitpid(child, &status, 0) != child) {
        fail("waitpid");
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        wrong("the other process failed");
    }
}

static struct peers open_peers(size_t bytes, bool one_core) {
    struct peers peers = { .bytes = bytes, .one_core = one_core };

    peers.shared = mmap(NULL, sizeof(*peers.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
        -1, 0);
    if (peers.shared == MAP_FAILED) {
        fail("mmap");
    }
    peers.there = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    peers.back = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (peers.there < 0 || peers.back < 0) {
        fail("eventfd");
    }
    return peers;
}

static void close_peers(const struct peers *peers) {
    close(peers->there);
    close(peers->back);
    munmap(peers->shared, sizeof(*peers->shared));
}

static struct waiting waiting_of(const struct peers *peers) {
    return (struct waiting) { .yield = peers->one_core, .stop = &peers->shared->stop };
}

/* Begins to warm up. */
static struct window open_window(void) {
    return (struct window) { .end = now_nanos() + window_nanos / WARM_UP_SHARE };
}

/* Counts what has ended now. False when the window is over. */
static bool window_goes_on(struct window *window, uint64_t now) {
    window->count += window->warm;
    if (now < window->end) {
        return true;
    }
    if (window->warm) {
        window->nanos = now - window->start;
        return false;
    }
    window->warm = true;
    window->start = now;
    window->end = now + window_nanos;
    return true;
}

/* The child: sends back what it gets, from where it copied it to. */
static void echo(const struct peers *peers) {
    struct waiting waiting = waiting_of(peers);
    struct ring_end in = { .ring = &peers->shared->there };
    struct ring_end out = { .ring = &peers->shared->back };
    unsigned char *message = new_buffer(peers->bytes);

    while (ring_read(&in, message, peers->bytes, &waiting) && ring_write(&out, message, peers->bytes, &waiting)) {
    }
}

static void measure_round_trips(size_t bytes) {
    struct peers peers = open_peers(bytes, processor_count == 1);
    struct waiting waiting = waiting_of(&peers);
    struct ring_end out = { .ring = &peers.shared->there };
    struct ring_end in = { .ring = &peers.shared->back };
    unsigned char *message = new_buffer(bytes);
    unsigned char *answer = new_buffer(bytes);
    pid_t child = start_child(&peers, echo);
    struct window window = open_window();
    uint64_t now = now_nanos();
    uint64_t last;
    uint64_t number = 0;
    char size[16];
    char what[64];

    histogram_clear(&histogram);
    do {
        last = now;
        stamp(message, bytes, ++number);
        if (!ring_write(&out, message, bytes, &waiting) || !ring_read(&in, answer, bytes, &waiting)) {
            wrong("stopped in the middle");
        }
        check(answer, message, bytes, number, !window.warm);
        now = now_nanos();
        if (window.warm) {
            histogram_record(&histogram, now - last);
        }
    } while (window_goes_on(&window, now));
    end_child(&peers, child);
    snprintf(what, sizeof(what), "round trips of %s", size_name(bytes, size));
    print_latency(what, &histogram, window.nanos);
    free(message);
    free(answer);
    close_peers(&peers);
}

/* The child: writes as fast as the ring takes it. */
static void pour(const struct peers *peers) {
    struct waiting waiting = waiting_of(peers);
    struct ring_end out = { .ring = &peers->shared->back };
    unsigned char *message = new_buffer(peers->bytes);
    uint64_t number = 0;

    do {
        stamp(message, peers->bytes, ++number);
    } while (ring_write(&out, message, peers->bytes, &waiting));
}

static void measure_stream(size_t bytes) {
    struct peers peers = open_peers(bytes, processor_count == 1);
    struct waiting waiting = waiting_of(&peers);
    struct ring_end in = { .ring = &peers.shared->back };
    unsigned char *message = new_buffer(bytes);
    unsigned char *expected = new_buffer(bytes);
    pid_t child = start_child(&peers, pour);
    struct window window = open_window();
    uint64_t number = 0;
    char size[16];
    char what[64];

    do {
        if (!ring_read(&in, message, bytes, &waiting)) {
            wrong("stopped in the middle");
        }
        check(message, expected, bytes, ++number, !window.warm);
    } while (window_goes_on(&window, now_nanos()));
    end_child(&peers, child);
    snprintf(what, sizeof(what), "a stream of writes of %s", size_name(bytes, size));
    print_rate(what, window.count, bytes, window.nanos);
    free(message);
    free(expected);
    close_peers(&peers);
}

static void measure_memcpy(size_t bytes) {
    unsigned char *from = new_buffer(bytes);
    unsigned char *to = new_buffer(bytes);
    struct window window = open_window();
    uint64_t number = 0;
    char size[16];
    char what[64];

    pin(processors[0]);
    do {
        stamp(from, bytes, ++number);
        memcpy(to, from, bytes);
        check(to, from, bytes, number, !window.warm);
    } while (window_goes_on(&window, now_nanos()));
    snprintf(what, sizeof(what), "memcpy of %s", size_name(bytes, size));
    print_rate(what, window.count, bytes, window.nanos);
    free(from);
    free(to);
}

static int new_epoll(int bell) {
    struct epoll_event event = { .events = EPOLLIN };
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, bell, &event) != 0) {
        fail("epoll");
    }
    return epoll;
}

static void await_bell(int epoll, int bell) {
    struct epoll_event event;
    uint64_t count;

    if (epoll_wait(epoll, &event, 1, -1) != 1 || read(bell, &count, sizeof(count)) != sizeof(count) || count != 1) {
        fail("wait for the other process");
    }
}

static void ring_bell(int bell) {
    uint64_t one = 1;

    if (write(bell, &one, sizeof(one)) != sizeof(one)) {
        fail("wake the other process");
    }
}

/* The child: wakes whoever woke it. */
static void answer_bell(const struct peers *peers) {
    int epoll = new_epoll(peers->there);

    for (await_bell(epoll, peers->there); !atomic_load(&peers->shared->stop); await_bell(epoll, peers->there)) {
        ring_bell(peers->back);
    }
}

static void measure_wake_ups(bool one_core) {
    struct peers peers = open_peers(0, one_core);
    int epoll = new_epoll(peers.back);
    pid_t child = start_child(&peers, answer_bell);
    struct window window = open_window();
    uint64_t now = now_nanos();
    uint64_t last;

    histogram_clear(&histogram);
    do {
        last = now;
        ring_bell(peers.there);
        await_bell(epoll, peers.back);
        now = now_nanos();
        if (window.warm) {
            histogram_record(&histogram, now - last);
        }
    } while (window_goes_on(&window, now));
    end_child(&peers, child);
    print_latency(one_core ? "wake-ups there and back on one core" : "wake-ups there and back on two cores", &histogram,
        window.nanos);
    close(epoll);
    close_peers(&peers);
}

static void all_round_trips(void) {
    measure_round_trips(64);
    measure_round_trips(4 << 10);
    measure_round_trips(64 << 10);
    measure_round_trips(1 << 20);
}

static void all_streams(void) {
    measure_stream(64 << 10);
    measure_stream(1 << 20);
}

static void all_memcpy(void) {
    measure_memcpy(64 << 10);
    measure_memcpy(1 << 20);
}

static void all_wake_ups(void) {
    measure_wake_ups(true);
    if (processor_count == 2) {
        measure_wake_ups(false);
    }
}

static const struct {
    const char *name;
    void (*measure)(void);
} measurements[] = {
    { "round-trips", all_round_trips },
    { "streams", all_streams },
    { "memcpy", all_memcpy },
    { "wake-ups", all_wake_ups },
};
#define MEASUREMENTS (sizeof(measurements) / sizeof(measurements[0]))

static void usage(FILE *to) {
    fprintf(to, "usage: shm_limit [--millis N] [--only NAME]...\n"
        "  --millis N   measure each for so long (1 to 60000, default %d), after a quarter of that to warm up\n"
        "  --only NAME  nothing but: round-trips, streams, memcpy, wake-ups\n", DEFAULT_MILLIS);
}

static bool select_measurement(const char *name, bool selected[static MEASUREMENTS]) {
    for (size_t i = 0; i < MEASUREMENTS; i++) {
        if (strcmp(name, measurements[i].name) == 0) {
            selected[i] = true;
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        { "millis", required_argument, NULL, 'm' },
        { "only", required_argument, NULL, 'o' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    /* Whoever stops both for a while does not end them. */
    static const struct sigaction on_child = { .sa_handler = on_child_end, .sa_flags = SA_NOCLDSTOP };
    bool selected[MEASUREMENTS] = { false };
    bool all = true;
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        char *rest = NULL;
        long millis;

        switch (option) {
            case 'm':
                millis = strtol(optarg, &rest, 10);
                if (rest == optarg || *rest != '\0' || millis < 1 || millis > 60000) {
                    usage(stderr);
                    return 2;
                }
                window_nanos = (uint64_t) millis * 1000000;
                break;
            case 'o':
                all = false;
                if (!select_measurement(optarg, selected)) {
                    usage(stderr);
                    return 2;
                }
                break;
            case 'h':
                usage(stdout);
                return 0;
            default:
                usage(stderr);
                return 2;
        }
    }
    if (optind != argc) {
        usage(stderr);
        return 2;
    }
    find_processors();
    if (sigaction(SIGCHLD, &on_child, NULL) != 0) {
        fail("sigaction");
    }
    for (size_t i = 0; i < MEASUREMENTS; i++) {
        if (all || selected[i]) {
            measurements[i].measure();
        }
    }
    return 0;
}
