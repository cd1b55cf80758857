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
 * Doorbells of a process that lists other users: who may ring one can neither stop who else rings it nor take a ring
 * from its owner; and what another user may send as one.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "check.h"
#include "embedded/embedded.h"
#include "embedded/link/folder.h"
#include "embedded/link/notify_area.h"
#include "embedded/link/process.h"
#include "lingering.h"
#include "namespaces.h"
#include "pair.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

static bool old_kernel;

/* Replaces the C library's function. Before Linux 6.16 everybody could send descriptors to a socket. */
int setsockopt(int fd, int level, int option, const void *value, socklen_t size) {
    if (old_kernel && level == SOL_SOCKET && option == SO_PASSRIGHTS) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return (int) syscall(SYS_setsockopt, fd, level, option, value, size);
}

static char folder[] = "/tmp/netty-rdma-test-XXXXXX";

static bool is_readable(const struct own_doorbell *doorbell) {
    struct pollfd p = { .fd = doorbell->heard.fd, .events = POLLIN };
    int count = poll(&p, 1, 0);
    CHECK(count == 0 || p.revents == POLLIN); /* nor at its end, for which a poll would return for ever */
    return count == 1;
}

static struct own_doorbell open_doorbell(void) {
    struct own_doorbell doorbell;
    CHECK_EQ(own_doorbell_open(&doorbell, 0), 0);
    CHECK(doorbell.heard.is_socket && doorbell.rung.is_socket);
    return doorbell;
}

/* Lends a doorbell as its receiver has it: it blocks, unless the owner changed it. */
static struct doorbell lend(const struct own_doorbell *own) {
    const struct link_peer other = { .uid = geteuid() + 1 };
    struct doorbell doorbell;
    int fd = own_doorbell_lend(own, &other);
    CHECK(fd >= 0);
    CHECK(doorbell_of_peer(&other, fd, &doorbell));
    return doorbell;
}

static void fill(struct doorbell doorbell) {
    int count = 0;
    while (send(doorbell.fd, "", 1, MSG_DONTWAIT) == 1) {
        CHECK(++count < 1000000);
    }
    CHECK_EQ(errno, EAGAIN);
}

static void empty(const struct own_doorbell *own) {
    for (int i = 0; is_readable(own); i++) {
        CHECK(i < 1000000);
        CHECK(doorbell_clear(own->heard));
    }
    CHECK(!doorbell_clear(own->heard));
}

static void ring_a_full_one(const void *unused) {
    (void) unused;
    struct own_doorbell own = open_doorbell();
    struct doorbell hostile = lend(&own), honest = lend(&own);
    for (int i = 0; i < 3; i++) {
        fill(hostile);
        doorbell_ring(honest);
        doorbell_ring(hostile);
        doorbell_ring(own.rung);
        empty(&own);
        doorbell_ring(honest);
        CHECK(is_readable(&own));
        empty(&own);
        doorbell_ring(own.rung);
        CHECK(is_readable(&own));
        empty(&own);
    }
}

static void take_or_end_it(const void *unused) {
    (void) unused;
    struct own_doorbell own = open_doorbell();
    struct doorbell hostile = lend(&own), honest = lend(&own);
    const struct sockaddr nothing = { .sa_family = AF_UNSPEC };
    char byte;
    doorbell_ring(honest);
    CHECK_EQ(recv(hostile.fd, &byte, 1, MSG_DONTWAIT), -1);
    CHECK_EQ(recv(honest.fd, &byte, 1, MSG_DONTWAIT), -1);
    CHECK(is_readable(&own));
    empty(&own);
    CHECK_EQ(send(hostile.fd, "", 0, MSG_DONTWAIT), 0); /* no end of the file for who reads */
    empty(&own);
    CHECK_EQ(shutdown(hostile.fd, SHUT_RDWR), 0);
    CHECK(!is_readable(&own));
    doorbell_ring(honest);
    CHECK(is_readable(&own));
    empty(&own);
    CHECK_EQ(connect(hostile.fd, &nothing, sizeof(nothing)), 0);
    CHECK(!is_readable(&own));
    doorbell_ring(own.rung);
    CHECK(is_readable(&own));
}

static void come_and_go(const void *unused) {
    (void) unused;
    CHECK_EQ(embedded_start(NULL, 0), 0);
    int before = open_fds();
    struct own_doorbell own = open_doorbell();
    CHECK_EQ(open_fds(), before + 3);
    const struct link_peer peer = { .uid = geteuid() + 1 };
    own_doorbell_lent(&own, own_doorbell_lend(&own, &peer));
    CHECK_EVENTUALLY(open_fds() == before + 3);
    pid_t child = fork_child();
    if (child == 0) {
        own_doorbell_close_inherited(&own);
        _exit(open_fds() == before ? 0 : 1);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    doorbell_ring(own.rung);
    CHECK(is_readable(&own));
    own_doorbell_close(&own);
    own_doorbell_close(&own);
    CHECK_EVENTUALLY(open_fds() <= before);
}

/* Rings with descriptors that are slow to close. */
static void ring_on_an_old_kernel(const void *unused) {
    (void) unused;
    int readers[8];
    old_kernel = true;
    struct own_doorbell own = open_doorbell();
    struct doorbell hostile = lend(&own), honest = lend(&own);
    for (int i = 0; i < 4; i++) {
        readers[i] = send_lingering(hostile.fd, "", 1);
        CHECK(readers[i] >= 0);
        doorbell_ring(honest);
    }
    empty(&own);
    doorbell_ring(honest);
    CHECK(is_readable(&own));
    empty(&own);
    for (int i = 4; i < 8; i++) {
        readers[i] = send_lingering(hostile.fd, "", 1);
        CHECK(readers[i] >= 0);
    }
    own_doorbell_close(&own);
    for (int i = 0; i < 8; i++) {
        close(readers[i]);
    }
}

static void ring_with_a_descriptor(const void *unused) {
    (void) unused;
    const int off = 0;
    int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (setsockopt(probe, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off)) != 0) {
        fprintf(stderr, "    skipped: refusing descriptors, which Linux can from 6.16 on\n");
        return;
    }
    struct own_doorbell own = open_doorbell();
    struct doorbell hostile = lend(&own);
    CHECK_EQ(send_with_fds(hostile.fd, "", 1, STDERR_FILENO, 1), -1);
    CHECK_EQ(errno, EPERM);
    CHECK(!is_readable(&own));
}

/* Descriptors that a peer has put into a socket are closed with the last reference to it. */
static void be_given_filled_ones(const void *unused) {
    (void) unused;
    struct end end; /* opens the provider */
    end_open(&end, &defaults);
    const struct link_peer peer = { .uid = geteuid() + 1, .pid = 1 };
    int readers[2], filled[] = { open_filled(&readers[0]), open_filled(&readers[1]) };
    struct announcement announcement;
    struct process *process = process_of_notify_area(&peer, own_notify_area_fd, &filled[0]);
    CHECK(process != NULL && filled[0] == -1);
    CHECK(process_announce(process, 1, 1, &filled[1], &announcement));
    CHECK_EQ(filled[1], -1);
    process_renounce(&announcement);
    process_put(process);
    close(readers[0]);
    close(readers[1]);
    end_close(&end);
}

static void be_shown_what(const void *unused) {
    (void) unused;
    struct end end; /* opens the provider */
    end_open(&end, &defaults);
    const struct link_peer same = { .uid = geteuid(), .pid = 1, .may_signal = true }, other = { .uid = geteuid() };
    int pair[2], ends[2], own = own_doorbell_lend(&own_doorbell, &other);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    CHECK_EQ(pipe(ends), 0);
    const int events = eventfd(0, EFD_CLOEXEC), internet = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int wrong[] = { pair[0], ends[1], internet, own_notify_area_fd };
    struct doorbell doorbell;
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        CHECK(!doorbell_of_peer(&other, wrong[i], &doorbell));
        CHECK(!doorbell_of_peer(&same, wrong[i], &doorbell));
    }
    CHECK(doorbell_of_peer(&other, own, &doorbell) && doorbell.is_socket && doorbell.fd == own);
    CHECK(doorbell_of_peer(&same, own, &doorbell) && doorbell.is_socket);
    CHECK(doorbell_of_peer(&same, events, &doorbell) && !doorbell.is_socket);
    CHECK(!doorbell_of_peer(&other, events, &doorbell));

    int sent = events;
    CHECK(process_of_notify_area(&other, own_notify_area_fd, &sent) == NULL);
    CHECK_EQ(errno, EPROTO);
    CHECK_EQ(sent, events);
    sent = own;
    struct process *process = process_of_notify_area(&other, own_notify_area_fd, &sent);
    CHECK(process != NULL && sent == -1);
    struct announcement announcement;
    sent = events;
    CHECK(!process_announce(process, 1, 1, &sent, &announcement));
    CHECK_EQ(sent, events);
    sent = own_doorbell_lend(&own_doorbell, &other);
    CHECK(process_announce(process, 1, 1, &sent, &announcement));
    CHECK_EQ(sent, -1);
    process_renounce(&announcement);
    process_put(process);
    end_close(&end);
}

static void in_a_process_that_lists_others(void (*run)(const void *unused)) {
    struct child child = begin_child(run, NULL);
    end_child(&child);
}

static void a_full_doorbell_stops_nobody_who_rings_it(void) {
    in_a_process_that_lists_others(ring_a_full_one);
}

static void who_may_ring_can_neither_take_a_ring_nor_end_the_doorbell(void) {
    in_a_process_that_lists_others(take_or_end_it);
}

static void a_doorbell_leaves_no_descriptor_and_a_forked_child_closes_its_own(void) {
    in_a_process_that_lists_others(come_and_go);
}

static void nobody_waits_for_what_a_peer_sends_with_a_ring(void) {
    in_a_process_that_lists_others(ring_on_an_old_kernel);
}

static void no_descriptor_can_be_sent_with_a_ring(void) {
    in_a_process_that_lists_others(ring_with_a_descriptor);
}

static void nobody_waits_for_what_a_peer_has_put_into_its_doorbell(void) {
    in_a_process_that_lists_others(be_given_filled_ones);
}

static void an_eventfd_of_a_peer_that_may_not_stop_this_process_is_no_doorbell(void) {
    in_a_process_that_lists_others(be_shown_what);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    setenv("RDMA_EMBEDDED_FOLDER", folder, 1);
    setenv("RDMA_EMBEDDED_USERS", "20001", 1);
    unsetenv("RDMA_EMBEDDED_GROUPS");
    RUN(a_full_doorbell_stops_nobody_who_rings_it);
    RUN(who_may_ring_can_neither_take_a_ring_nor_end_the_doorbell);
    RUN(a_doorbell_leaves_no_descriptor_and_a_forked_child_closes_its_own);
    RUN(an_eventfd_of_a_peer_that_may_not_stop_this_process_is_no_doorbell);
    RUN(no_descriptor_can_be_sent_with_a_ring);
    RUN(nobody_waits_for_what_a_peer_sends_with_a_ring);
    RUN(nobody_waits_for_what_a_peer_has_put_into_its_doorbell);
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK_EQ(system(command), 0);
    return 0;
}
