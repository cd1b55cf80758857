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
/* @Tag("stalls") */
/* Closing what peers could fill: nobody waits for it, also not for another one, and a fork has no copies of it. */
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "check.h"
#include "embedded/base/closer.h"
#include "embedded/embedded.h"
#include "embedded/link/link.h"
#include "lingering.h"
#include "namespaces.h"

#define THREADS 32  /* the same as MAX_THREADS of closer.c */
#define WAITING 128 /* the same */

static int readers[THREADS];

static void keep_threads(int count) {
    for (int i = 0; i < count; i++) {
        struct lingering lingering = open_lingering();
        readers[i] = lingering.reader;
        closer_close(lingering.fd);
    }
}

static void let_threads_go(int count) {
    for (int i = 0; i < count; i++) {
        close(readers[i]);
    }
}

/* Returns the end that shows when the other one is closed. */
static int hand_over_pipe(void) {
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    closer_close(ends[1]);
    return ends[0];
}

static void expect_closed(int end) {
    char byte;
    CHECK_EQ(read(end, &byte, 1), 0);
    close(end);
}

static void a_thread_that_is_kept_is_replaced(void) {
    keep_threads(THREADS - 1);
    expect_closed(hand_over_pipe());
    CHECK(!closer_is_behind());
    let_threads_go(THREADS - 1);
}

static void no_thread_ends_while_something_waits(void) {
    enum { FEW = 4 };
    keep_threads(FEW);
    expect_closed(hand_over_pipe());
    let_threads_go(FEW);
    CHECK_EVENTUALLY(closer_is_done());
    uint64_t before = closer_idle_ns;
    closer_idle_ns = 0; /* those that are idle now end when they wake up, within 50 ms */
    keep_threads(FEW);
    struct pollfd end = { .fd = hand_over_pipe() };
    CHECK_EQ(poll(&end, 1, patience_ms()), 1); /* POLLHUP */
    close(end.fd);
    closer_idle_ns = before;
    let_threads_go(FEW);
    CHECK_EVENTUALLY(closer_is_done());
}

static void the_rest_waits_while_all_threads_are_kept(void) {
    int ends[WAITING + 1], before = open_fds();
    keep_threads(THREADS);
    for (int i = 0; i <= WAITING; i++) {
        ends[i] = hand_over_pipe();
    }
    CHECK_EVENTUALLY(closer_is_behind());
    pid_t child = fork_child();
    if (child == 0) { /* the child has the ends that show, and closes those that wait by threads of its own */
        limit_life();
        CHECK_EVENTUALLY(!closer_is_behind());
        CHECK_EVENTUALLY(open_fds() <= before + THREADS + WAITING + 1);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    let_threads_go(THREADS);
    for (int i = 0; i <= WAITING; i++) {
        expect_closed(ends[i]);
    }
    CHECK(!closer_is_behind());
    CHECK_EVENTUALLY(open_fds() <= before);
}

static void a_process_with_few_descriptors_connects_when_fewer_wait(void) {
    enum { FEW = 16 };
    struct rlimit before, few;
    struct link_port *port;
    struct link *link;
    char reason[256];
    int ends[FEW + 1];
    CHECK_EQ(embedded_start(reason, sizeof(reason)), 0);
    CHECK_EQ(link_bind_port(RDMA_PS_TCP, 7, &port), 0);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 8 * FEW;
    keep_threads(THREADS);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int i = 0; i < FEW; i++) {
        ends[i] = hand_over_pipe();
    }
    CHECK_EVENTUALLY(!closer_is_behind());
    ends[FEW] = hand_over_pipe();
    CHECK(closer_is_behind());
    CHECK_EQ(link_connect_port(RDMA_PS_TCP, 7, true, &link), EAGAIN);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    let_threads_go(THREADS);
    for (int i = 0; i <= FEW; i++) {
        expect_closed(ends[i]);
    }
    CHECK_EQ(link_connect_port(RDMA_PS_TCP, 7, true, &link), 0);
    link_put(link);
    link_unbind_port(port);
}

static bool is_mapped(void *memory) {
    return msync(memory, 4096, MS_ASYNC) == 0;
}

static void memory_is_unmapped_by_another_thread(void) {
    void *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    keep_threads(THREADS);
    for (int i = 0; i <= WAITING; i++) {
        close(hand_over_pipe());
    }
    CHECK_EVENTUALLY(closer_is_behind());
    closer_unmap(memory, 4096);
    CHECK(is_mapped(memory));
    let_threads_go(THREADS);
    CHECK_EVENTUALLY(!is_mapped(memory));
}

static void a_forked_child_closes_with_threads_of_its_own(void) {
    expect_closed(hand_over_pipe());
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        keep_threads(1);
        expect_closed(hand_over_pipe());
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

static void an_eventfd_of_who_may_not_signal_is_closed_by_another_thread(void) {
    static struct watched watched;
    if (!open_watched(&watched)) {
        fprintf(stderr, "  skipped: faults of the kernel, which only root may have wait\n");
        return;
    }
    closer_close_from(watched.fd, false);
    CHECK(!closer_is_done());
    expect_closed(hand_over_pipe());
    end_watch(&watched);
    CHECK_EVENTUALLY(closer_is_done());
}

static void limit_threads(rlim_t count) {
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_NPROC, &limit), 0);
    limit.rlim_cur = count < limit.rlim_max ? count : limit.rlim_max;
    CHECK_EQ(setrlimit(RLIMIT_NPROC, &limit), 0);
}

static void close_without_threads(const void *unused) {
    int ends[WAITING + 1];
    (void) unused;
    if (geteuid() == 0 && !become_user(30000 + (uid_t) getpid() % 30000)) {
        fprintf(stderr, "  skipped: another user, as root has no limit of threads\n");
        return;
    }
    limit_threads(1);
    keep_threads(1);
    CHECK(!closer_is_done());
    CHECK_EQ(threads("rdma-closer"), 0);
    for (int i = 0; i <= WAITING; i++) {
        ends[i] = hand_over_pipe();
    }
    CHECK(closer_is_behind());
    limit_threads(RLIM_INFINITY);
    CHECK_EVENTUALLY(!closer_is_behind());
    for (int i = 0; i <= WAITING; i++) {
        expect_closed(ends[i]);
    }
    let_threads_go(1);
    CHECK_EVENTUALLY(closer_is_done());
}

/* All processes of the user together have a number of threads. */
static void what_no_thread_can_close_waits(void) {
    struct child child = begin_child(close_without_threads, NULL);
    end_child(&child);
}

int main(void) {
    limit_life();
    RUN(a_thread_that_is_kept_is_replaced);
    RUN(no_thread_ends_while_something_waits);
    RUN(the_rest_waits_while_all_threads_are_kept);
    RUN(memory_is_unmapped_by_another_thread);
    RUN(a_forked_child_closes_with_threads_of_its_own);
    RUN(an_eventfd_of_who_may_not_signal_is_closed_by_another_thread);
    RUN(what_no_thread_can_close_waits);
    RUN(a_process_with_few_descriptors_connects_when_fewer_wait);
    return 0;
}
