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
 * Resource faults: each scenario runs once with all going well, which tells what the provider calls, and then once for
 * each of these calls, which fails. The scenario may then fail, but
 *  - the process goes on, and no call waits for ever,
 *  - the error is the one of the call that failed, or that there is no memory,
 *  - whatever was made can be released, and then nothing is left of it,
 *  - a connection beside it goes on,
 *  - the next try succeeds.
 *
 * Each of these runs is a process of its own, and the service mostly another one. "Cold" ones have used nothing before.
 *
 *   faults                        each call, one after the other
 *   faults --part K --of N        the Kth of N parts of that, from 1; it prints the places that it has not reached, and
 *                                 those that all parts print are an error
 *   faults --seconds N --seed N   at random, and more than one at a time, until the time is over; one run of it is
 *                                 repeated by the seed that it prints
 *
 * RDMA_TEST=scenario, RDMA_KIND=kind and RDMA_PLACE=file:line select; RDMA_VERBOSE=1 prints each run.
 */
#include "scenarios.h"

#include <dirent.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded/cm/cm.h"
#include "embedded/device/presence.h"
#include "embedded/link/link.h"
#include "../namespaces.h"
#include "faults.h"

#define MAX_THREADS 4 /* limit of one process in any scenario */
#define AT_A_TIME 4

struct kind {
    const char *name;
    bool cold, two_processes;
    int max_occurrences; /* limit of occurrences of one place that are made to fail: beyond it they are alike */
    bool in_folder;      /* names are in a folder, of its own (folder.h) */
};

static const struct kind kinds[] = {
    { "beside", false, true, 3, false },
    { "cold", true, true, 1, false },
    { "one_process", true, false, 1, false },
    { "folder", true, true, 1, true },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define MAX_SCENARIOS 16

/* Resources of a process when all is released and nothing has failed. */
struct rest {
    long live[FAULT_MAX_SITES];
    int fds, threads;
};

/* A run, in memory that its processes share. */
struct attempt {
    struct fault_plan plan;
    bool is_reference; /* true: nothing fails in this run */
    char outcome[160];

    pid_t pid; /* 0: free */
    const struct scenario *scenario;
    const struct kind *kind;
    uint64_t started_ms, seed;
};

static struct shared {
    struct rest reference[FAULT_ROLES]; /* resources in the present scenario and kind */
    struct attempt attempts[AT_A_TIME];
} *shared;

static struct attempt *own; /* attempt of this process */

/* Folder of all runs; each has one in it, by its process number. */
static char folders[] = "/tmp/netty-rdma-faults-XXXXXX";

static void folder_of(pid_t run, char path[64]) {
    snprintf(path, 64, "%s/%d", folders, (int) run);
}

/* Makes a folder with the name of a process that is dead. */
static void make_folder(void) {
    char path[64];
    struct sockaddr_un dead = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    folder_of(getpid(), path);
    CHECK_EQ(mkdir(path, 0700), 0);
    snprintf(dead.sun_path, sizeof(dead.sun_path), "%s/netty-rdma-dead", path);
    CHECK_EQ(bind(fd, (struct sockaddr *) &dead, sizeof(dead)), 0);
    close(fd);
    setenv("RDMA_EMBEDDED_FOLDER", path, 1);
    setenv("RDMA_EMBEDDED_USERS", "root", 1);
    setenv("RDMA_EMBEDDED_GROUPS", "root", 1);
}

static void remove_folder(pid_t run) {
    char path[64];
    folder_of(run, path);
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        unlinkat(dirfd(dir), entry->d_name, 0);
    }
    closedir(dir);
    CHECK_EQ(rmdir(path), 0);
}

/* ---- one run ---- */

static int entries(const char *directory) {
    DIR *dir = opendir(directory);
    CHECK(dir != NULL);
    int count = 0;
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

static struct rest *look(void) {
    static struct rest rest;
    for (int i = 0; i < fault_sites(); i++) {
        rest.live[i] = fault_live(i);
    }
    rest.fds = entries("/proc/self/fd");
    rest.threads = entries("/proc/self/task");
    return &rest;
}

/* Records of threads that have used the provider, for others: as many as there were at a time, which varies. */
static bool stays(const struct fault_site *site) {
    return strcmp(site->file, "embedded/base/epoch.c") == 0;
}

static bool is_within(const struct rest *rest, const struct rest *limit, bool print) {
    bool within = rest->fds <= limit->fds && rest->threads <= limit->threads;
    if (print && !within) {
        fprintf(stderr, "%d descriptors instead of %d, %d threads instead of %d\n", rest->fds, limit->fds,
                rest->threads, limit->threads);
    }
    for (int i = 0; i < fault_sites(); i++) {
        if (rest->live[i] > (stays(fault_site(i)) ? MAX_THREADS : limit->live[i])) {
            within = false;
            if (print) {
                const struct fault_site *site = fault_site(i);
                fprintf(stderr, "%s:%d: %ld of %s() are left, not %ld\n", site->file, site->line, rest->live[i],
                        site->call, limit->live[i]);
            }
        }
    }
    return within;
}

static void check_rest(void) {
    struct rest *reference = &shared->reference[fault_role];
    if (own->is_reference) {
        nanosleep(&(struct timespec) { .tv_nsec = 600000000 }, NULL); /* idle links go */
        *reference = *look();
        return;
    }
    uint64_t end = milliseconds() + (uint64_t) patience_ms();
    while (!is_within(look(), reference, false) && milliseconds() < end) {
        nanosleep(&(struct timespec) { .tv_nsec = 2000000 }, NULL);
    }
    CHECK(is_within(look(), reference, true));
}

static void serve_process(int control) {
    fault_role = FAULT_SERVICE;
    service_run(control, own->scenario->with_group);
    close(control);
    check_rest();
}

static void *serve_thread(void *control) {
    service_run(*(int *) control, own->scenario->with_group);
    return NULL;
}

static bool is_error_of(int error, const struct fault_plan *plan) {
    const int sites[] = { plan->site, plan->then };
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < FAULT_ERRORS && sites[s] >= 0; i++) {
            if (error == fault_site(sites[s])->errors[i]) {
                return true;
            }
        }
    }
    return error == ENOMEM || plan->per_mille > 0;
}

/* Returns whether the trouble is this side's own: most events, and completions, tell what the other side did. */
static bool is_own(const struct trouble *trouble) {
    return strchr(trouble->call, '(') != NULL || strcmp(trouble->call, "ADDR_ERROR") == 0
            || strcmp(trouble->call, "MULTICAST_ERROR") == 0;
}

static void check_outcome(const struct trouble *trouble) {
    const struct fault_plan *plan = fault_plan;
    snprintf(own->outcome, sizeof(own->outcome), "%s: %s", trouble->call,
             is_own(trouble) ? strerror(trouble->error) : "");
    CHECK(plan->fired);
    if (plan->role == fault_role && is_own(trouble) && !own->scenario->both_ends) {
        CHECK(is_error_of(trouble->error, plan));
    }
}

static void talk(struct side *side) {
    struct trouble trouble = { NULL, 0 };
    CHECK(side_echo(side, 64, &trouble));
    CHECK(side_echo(side, FAULT_MESSAGE, &trouble));
}

static void run(const struct scenario *scenario, const struct kind *kind) {
    limit_life();
    cm_response_timeout_ns = UINT64_C(4000000000);
    link_idle_timeout_ns = presence_rest_ns = 30000000;
    int control[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control), 0);
    pid_t child = 0;
    pthread_t thread;
    if (kind->two_processes) {
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            close(control[0]);
            serve_process(control[1]);
            exit(0);
        }
        close(control[1]);
    } else {
        CHECK_EQ(pthread_create(&thread, NULL, serve_thread, &control[1]), 0);
    }
    struct service_ports ports;
    CHECK_EQ(read(control[0], &ports, sizeof(ports)), sizeof(ports));

    struct side bystander = { 0 };
    struct trouble trouble = { NULL, 0 };
    if (!kind->cold) {
        struct place place;
        CHECK(side_connect(&bystander, ports.tcp, &place, &trouble));
        talk(&bystander);
        fault_plan->armed = true;
    }
    if (!scenario->run(&ports, &trouble)) {
        check_outcome(&trouble);
    }
    fault_plan->armed = false;
    if (!kind->cold) {
        talk(&bystander);
    }
    trouble.call = NULL;
    CHECK(scenario->run(&ports, &trouble));
    if (!kind->cold) {
        talk(&bystander);
        CHECK_EQ(rdma_disconnect(bystander.id), 0);
        side_close(&bystander);
    }
    close(control[0]);
    if (kind->two_processes) {
        int status;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    } else {
        CHECK_EQ(pthread_join(thread, NULL), 0);
        close(control[1]);
    }
    check_rest();
}

/* ---- all of them ---- */

static int runs, failures, missed;
static bool own_networks; /* each run has one */
static bool failed_at[FAULT_MAX_SITES];

static void describe(const struct attempt *attempt, int status) {
    const struct fault_plan *plan = &attempt->plan;
    fprintf(stderr, "%s%s %s, %s: ", status != 0 ? "FAIL " : "", attempt->scenario->name, attempt->kind->name,
            plan->role == FAULT_CLIENT ? "client" : "service");
    if (plan->site >= 0) {
        const struct fault_site *site = fault_site(plan->site);
        int error = site->errors[plan->error];
        fprintf(stderr, "%s() at %s:%d, time %ld: %s", site->call, site->file, site->line, plan->occurrence,
                error > 0 ? strerror(error) : "no descriptors");
        if (plan->then >= 0) {
            fprintf(stderr, ", then %s() at %s:%d", fault_site(plan->then)->call, fault_site(plan->then)->file,
                    fault_site(plan->then)->line);
        }
    } else {
        fprintf(stderr, "%u per mille, seed %lld", plan->per_mille, (long long) attempt->seed);
    }
    fprintf(stderr, " -> %s (%d ms)\n", !plan->fired ? "not reached" : attempt->outcome[0] == 0 ? "no effect"
            : attempt->outcome, (int) (milliseconds() - attempt->started_ms));
    for (int i = 0; plan->site < 0 && status != 0 && i < fault_sites(); i++) {
        if (plan->failed[i] != 0) {
            fprintf(stderr, "    %ld of %s() at %s:%d\n", plan->failed[i], fault_site(i)->call, fault_site(i)->file,
                    fault_site(i)->line);
        }
    }
}

/* Reaps a run that has ended. */
static void reap(void) {
    int status;
    pid_t pid = wait(&status);
    CHECK(pid > 0);
    kill(-pid, SIGKILL); /* the service of a client that has failed */
    struct attempt *attempt = shared->attempts;
    while (attempt->pid != pid) {
        attempt++;
    }
    attempt->pid = 0;
    remove_folder(pid);
    runs++;
    failures += status != 0;
    for (int i = 0; i < fault_sites(); i++) {
        failed_at[i] |= attempt->plan.failed[i] != 0;
    }
    missed += !attempt->plan.fired && !attempt->is_reference;
    if (status != 0 || (getenv("RDMA_VERBOSE") != NULL && !attempt->is_reference)) {
        describe(attempt, status);
    }
}

static void reap_all(void) {
    for (int i = 0; i < AT_A_TIME; i++) {
        while (shared->attempts[i].pid != 0) {
            reap();
        }
    }
}

/*
 * Enters an own network namespace where that is allowed: a subnet administrator is one for all processes of a network
 * namespace, and those of other programs would leave their traces here.
 */
static bool enter_own_network(void) {
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
        return false;
    }
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    bring_up_loopback(fd);
    add_address(fd, FAULT_ADDRESS);
    close(fd);
    return true;
}

static bool try_own_network(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        _exit(enter_own_network() ? 0 : 1);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    return status == 0;
}

/* Begins a run in a process of its own. */
static void begin(const struct scenario *scenario, const struct kind *kind, const struct fault_plan *plan,
                  bool is_reference, uint64_t seed) {
    struct attempt *attempt = NULL;
    while (attempt == NULL) {
        for (int i = 0; i < (scenario->with_group && !own_networks ? 1 : AT_A_TIME); i++) {
            if (shared->attempts[i].pid == 0) {
                attempt = &shared->attempts[i];
            }
        }
        if (attempt == NULL) {
            reap();
        }
    }
    *attempt = (struct attempt) {
        .plan = *plan, .is_reference = is_reference, .scenario = scenario, .kind = kind,
        .started_ms = milliseconds(), .seed = seed,
    };
    attempt->plan.armed = kind->cold;
    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        setpgid(0, 0);
        own = attempt;
        enter_own_network();
        if (kind->in_folder) {
            make_folder();
        }
        fault_plan = &attempt->plan;
        run(scenario, kind);
        exit(0);
    }
    attempt->pid = child;
}

/* Counts the calls of the scenario, and what is left after it. */
static void count_calls(const struct scenario *scenario, const struct kind *kind,
                        long counts[FAULT_ROLES][FAULT_MAX_SITES]) {
    const struct fault_plan none = { .site = -1, .then = -1 };
    reap_all();
    begin(scenario, kind, &none, true, 0);
    int before = failures;
    reap_all();
    CHECK_EQ(failures, before);
    for (int i = 0; i < AT_A_TIME; i++) {
        const struct attempt *attempt = &shared->attempts[i];
        if (attempt->is_reference) {
            for (int role = 0; role < FAULT_ROLES; role++) {
                for (int site = 0; site < FAULT_MAX_SITES; site++) {
                    counts[role][site] = attempt->plan.calls[role][site];
                }
            }
        }
    }
}

static bool is_selected(const char *variable, const char *name) {
    const char *value = getenv(variable);
    return value == NULL || strcmp(value, name) == 0;
}

static bool has_place(const struct fault_site *site) {
    char place[64];
    snprintf(place, sizeof(place), "%s:%d", site->file, site->line);
    return is_selected("RDMA_PLACE", place);
}

/* Returns whether a call is made only when a message could not be sent at once. */
static bool comes_after(int then, int site) {
    const char *call = fault_site(site)->call;
    return (strcmp(call, "sendmsg") == 0 || strcmp(call, "sendmmsg") == 0)
            && strcmp(fault_site(then)->file, fault_site(site)->file) == 0
            && strcmp(fault_site(then)->call, "recvmsg") != 0;
}

/* Marks something as tried. False if it was before, unless everything is to be tried each time. */
static bool is_to_try(bool *tried) {
    bool before = *tried;
    *tried = true;
    return !before || env_number("RDMA_TEST_ALL", 0) != 0;
}

/*
 * Fails a call with its first error, also together with each call that comes after it. With each of the other errors it
 * fails only in the first scenario that makes it: what is done about an error does not depend on the scenario.
 */
static void fail_call(const struct scenario *scenario, const struct kind *kind, struct fault_plan plan) {
    static bool with_error[FAULT_MAX_SITES][FAULT_ERRORS];
    const struct fault_site *site = fault_site(plan.site);
    for (plan.error = 0; plan.error < FAULT_ERRORS && site->errors[plan.error] != 0; plan.error++) {
        if (plan.error == 0 || is_to_try(&with_error[plan.site][plan.error])) {
            begin(scenario, kind, &plan, false, 0);
        }
    }
    plan.error = 0;
    for (plan.then = 0; plan.then < fault_sites(); plan.then++) {
        if (comes_after(plan.then, plan.site)) {
            begin(scenario, kind, &plan, false, 0);
        }
    }
}

/* Fails each call, but in a folder only those that are not made without one. */
static void fail_each_call(const struct scenario *scenario, const struct kind *kind,
                           long counts[FAULT_ROLES][FAULT_MAX_SITES]) {
    static bool cold[MAX_SCENARIOS][FAULT_ROLES][FAULT_MAX_SITES];
    CHECK(num_scenarios <= MAX_SCENARIOS);
    for (int role = 0; role < FAULT_ROLES; role++) {
        for (int site = 0; site < fault_sites(); site++) {
            long limit = counts[role][site] < kind->max_occurrences ? counts[role][site] : kind->max_occurrences;
            if (limit > 0 && kind->cold && kind->two_processes && !is_to_try(&cold[scenario - scenarios][role][site])) {
                continue;
            }
            for (long occurrence = 1; occurrence <= limit && has_place(fault_site(site)); occurrence++) {
                const struct fault_plan plan = {
                    .role = (enum fault_role) role, .site = site, .occurrence = occurrence, .then = -1,
                };
                fail_call(scenario, kind, plan);
            }
        }
    }
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Does one run with failures at random places, which the seed determines as far as the scheduler lets it. */
static void fail_at_random(const struct scenario *scenario, const struct kind *kind, uint64_t seed) {
    uint64_t random = seed;
    struct fault_plan plan = {
        .site = -1, .then = -1,
        .role = (enum fault_role) (kind->two_processes ? next_random(&random) % FAULT_ROLES : 0),
    };
    plan.per_mille = 1000 >> (1 + next_random(&random) % 7);
    plan.random = next_random(&random);
    begin(scenario, kind, &plan, false, seed);
}

static uint64_t part, parts; /* 0: all */

/* Runs each scenario of each kind; `turns` runs of each at random, or all one after the other. */
static void run_all(uint64_t seed, int turns) {
    static long counts[FAULT_ROLES][FAULT_MAX_SITES];
    for (size_t k = 0; k < KINDS; k++) {
        for (int s = 0; s < num_scenarios; s++) {
            const struct scenario *scenario = &scenarios[s];
            const struct kind *kind = &kinds[k];
            if (!is_selected("RDMA_TEST", scenario->name) || !is_selected("RDMA_KIND", kind->name)
                    || (scenario->elsewhere && !(kind->in_folder && own_networks))
                    || (parts != 0 && (uint64_t) s % parts != part - 1)) {
                continue;
            }
            int runs_before = runs, failures_before = failures;
            fprintf(stderr, "  %s_%s\n", scenario->name, kind->name);
            uint64_t start = milliseconds();
            count_calls(scenario, kind, counts);
            for (int i = 0; i < turns; i++) {
                fail_at_random(scenario, kind, seed + (uint64_t) i);
            }
            if (turns == 0) {
                fail_each_call(scenario, kind, counts);
            }
            reap_all();
            if (turns == 0) {
                fprintf(stderr, "    %d runs, %d failed, %d ms\n", runs - runs_before, failures - failures_before,
                        (int) (milliseconds() - start));
            }
        }
    }
}

/* Returns whether this call follows only a failure of another madvise() of the file, on old kernels. */
static bool is_fallback(const struct fault_site *site) {
    bool same = false;
    for (int i = 0; i < fault_sites(); i++) {
        same |= failed_at[i] && strcmp(fault_site(i)->call, "madvise") == 0 && strcmp(site->call, "madvise") == 0
                && strcmp(fault_site(i)->file, site->file) == 0;
    }
    return same;
}

/* Places that no scenario has made to fail: what is new there is not tested. Returns how many. */
static int report_unreached(void) {
    int unreached = 0;
    for (int i = 0; i < fault_sites(); i++) {
        const struct fault_site *site = fault_site(i);
        if (!failed_at[i] && !is_fallback(site)) {
            printf("no scenario reaches %s() at %s:%d\n", site->call, site->file, site->line);
            unreached++;
        }
    }
    return unreached;
}

static uint64_t option(int argc, char **argv, const char *name) {
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], name) == 0) {
            return strtoull(argv[i + 1], NULL, 10);
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    fault_init();
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    own_networks = try_own_network();
    CHECK(mkdtemp(folders) != NULL);
    uint64_t seconds = option(argc, argv, "--seconds"), seed = option(argc, argv, "--seed");
    part = option(argc, argv, "--part");
    parts = option(argc, argv, "--of");
    int unreached = 0;
    if (seconds == 0 && seed == 0) {
        run_all(0, 0);
        if (getenv("RDMA_TEST") == NULL && getenv("RDMA_KIND") == NULL && getenv("RDMA_PLACE") == NULL) {
            int count = report_unreached();
            unreached = parts == 0 ? count : 0;
        }
    } else if (seconds == 0) {
        run_all(seed, 1);
    } else {
        uint64_t end = milliseconds() + seconds * 1000;
        seed = seed != 0 ? seed : (uint64_t) time(NULL) << 20;
        fprintf(stderr, "from seed %llu\n", (unsigned long long) seed);
        do {
            run_all(seed, 20);
            seed += 20;
        } while (milliseconds() < end && failures == 0);
    }
    CHECK_EQ(rmdir(folders), 0);
    printf("%d runs, %d failed, %d did not come to the call that was to fail\n", runs, failures, missed);
    return failures + unreached != 0;
}
