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
 * Peers of the same user in other PID namespaces, as those of other containers are: they can neither stop this process
 * by a signal nor by what is shared with them, and count together against its limits.
 */
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "check.h"
#include "embedded/link/engine.h"
#include "embedded/link/link.h"
#include "embedded/link/notify_area.h"
#include "embedded/link/wire.h"
#include "held_engine.h"
#include "lingering.h"
#include "namespaces.h"
#include "pair.h"
#include "raw_link.h"

static int port_space; /* port space of this run: no other program has ports there */
#define PORT 7
#define ECHO 42

static int echoes, peers_near, peers_far;

static bool on_echo(struct link *link, const struct link_message *incoming) {
    if (incoming->length == 1) {
        __atomic_add_fetch(&echoes, 1, __ATOMIC_SEQ_CST);
        return true;
    }
    __atomic_add_fetch(link_peer(link)->may_signal ? &peers_near : &peers_far, 1, __ATOMIC_SEQ_CST);
    return link_send(link, ECHO, incoming->body, 1, NULL, 0) == 0;
}

static int get(int *counter) {
    return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

/* ---- who is near ---- */

static void connect_and_echo(bool near) {
    struct link *link;
    CHECK_EQ(link_connect_port(port_space, PORT, false, &link), 0);
    CHECK_EQ(link_peer(link)->may_signal, near);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == 1);
    link_put(link);
}

static void connect_from_here(const void *unused) {
    (void) unused;
    connect_and_echo(true);
}

static void connect_from_another_namespace(const void *unused) {
    (void) unused;
    enter_pid_namespace();
    connect_and_echo(false);
}

static void connect_between_two_of_another_namespace(const void *unused) {
    (void) unused;
    enter_pid_namespace();
    struct link_port *port;
    int before = get(&peers_near);
    CHECK_EQ(link_bind_port(port_space + 1, PORT, &port), 0);
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        port_space++;
        connect_and_echo(true);
        _exit(0);
    }
    expect_exit(child, 0);
    CHECK_EQ(get(&peers_near), before + 1);
}

static void run(void (*job)(const void *unused)) {
    struct child child = begin_child(job, NULL);
    end_child(&child);
}

static void both_ends_know_whether_they_are_of_one_namespace(void) {
    struct link_port *port;
    CHECK_EQ(link_bind_port(port_space, PORT, &port), 0);
    run(connect_from_here);
    CHECK_EQ(get(&peers_near), 1);
    run(connect_from_another_namespace);
    CHECK_EQ(get(&peers_near), 1);
    CHECK_EQ(get(&peers_far), 1);
    run(connect_between_two_of_another_namespace);
    link_unbind_port(port);
}

/* ---- limits ---- */

#define LINKS_OF_USER 256 /* a quarter of the descriptors: link.c */

static int raw_connect(void) {
    char name[64];
    snprintf(name, sizeof(name), "netty-rdma/%u/cm/%x/%u", geteuid(), port_space, PORT);
    int fd = raw_connect_to(name);
    CHECK(fd >= 0);
    return fd;
}

/* Makes links until one is refused, says how many there were, and keeps them. */
static void flood(const void *unused) {
    (void) unused;
    enter_pid_namespace();
    int count = 0;
    while (count < 200 && raw_greet(raw_connect())) {
        count++;
    }
    say(count);
    is_told();
}

static void processes_of_other_namespaces_leave_room_for_those_of_the_own_one(void) {
    struct rlimit before, limit;
    struct link_port *port;
    int fds = open_fds();
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = 4 * LINKS_OF_USER;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_EQ(link_bind_port(port_space, PORT, &port), 0);
    struct child first = begin_child(flood, NULL);
    int count = hear(&first);
    struct child second = begin_child(flood, NULL);
    count += hear(&second);
    CHECK_EQ(count, LINKS_OF_USER);
    run(connect_from_here);
    kill_child(&first);
    kill_child(&second);
    link_unbind_port(port);
    CHECK_EVENTUALLY(open_fds() <= fds); /* or the next test would be refused a link */
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* ---- what they send ---- */

/* Sends more descriptors than a message may have: the kernel would close the last one in the call that receives it. */
static void send_too_many(const void *unused) {
    (void) unused;
    enter_pid_namespace();
    int fd = raw_connect();
    CHECK(raw_greet(fd));
    say(0);
    CHECK(is_told());
    const uint32_t message[] = { ECHO, 0, 0 };
    CHECK(send_lingering_behind(fd, message, sizeof(message), LINK_MAX_FDS) >= 0);
    say(0);
    char byte;
    ssize_t n;
    do {
        n = recv(fd, &byte, 1, 0);
    } while (n > 0 || (n < 0 && errno == ECONNRESET));
    say((int) n);
    CHECK(is_told());
    say(1);
    is_told();
}

static void nobody_waits_for_descriptors_that_are_too_many(void) {
    struct link_port *port;
    CHECK_EQ(link_bind_port(port_space, PORT, &port), 0);
    struct child child = begin_child(send_too_many, NULL);
    CHECK_EQ(hear(&child), 0);
    hold_engine(); /* the child has closed its own copy when the engine sees the message */
    tell(&child);
    CHECK_EQ(hear(&child), 0);
    let_engine_go();
    CHECK_EQ(hear(&child), 0); /* the link was closed */
    run(connect_from_here);
    tell(&child);
    CHECK_EQ(hear(&child), 1);
    kill_child(&child);
    link_unbind_port(port);
}

/* The message stays where it is until there are some again. */
static void send_some(const void *unused) {
    (void) unused;
    enter_pid_namespace();
    int fd = raw_connect();
    CHECK(raw_greet(fd));
    say(0);
    CHECK(is_told());
    const uint32_t message[] = { ECHO, 0, 0 };
    CHECK_EQ(send_with_fds(fd, message, sizeof(message), STDERR_FILENO, 1), sizeof(message));
    say(1);
    char answer[64];
    say((int) recv(fd, answer, sizeof(answer), 0));
}

static void a_message_waits_while_there_is_no_room_for_its_descriptors(void) {
    struct link_port *port;
    struct rlimit before, none;
    CHECK_EQ(link_bind_port(port_space, PORT, &port), 0);
    struct child child = begin_child(send_some, NULL);
    CHECK_EQ(hear(&child), 0);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    int heard = get(&peers_far);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    tell(&child);
    CHECK_EQ(hear(&child), 1);
    for (int i = 0; i < 20; i++) { /* the engine has looked at it */
        engine_quiesce();
        poll(NULL, 0, 1);
    }
    CHECK_EQ(get(&peers_far), heard);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_EQ(hear(&child), 9);
    CHECK_EQ(get(&peers_far), heard + 1);
    end_child(&child);
    link_unbind_port(port);
}

/* ---- doorbells ---- */

static bool is_socket(int fd) {
    struct stat status;
    CHECK_EQ(fstat(fd, &status), 0);
    return S_ISSOCK(status.st_mode);
}

static void only_peers_of_the_own_namespace_are_lent_eventfds(void) {
    struct end end;
    struct options options = defaults;
    const struct link_peer near = { .uid = geteuid(), .pid = 1, .may_signal = true },
                           far = { .uid = geteuid(), .pid = 1 };
    options.channel = true;
    end_open(&end, &options);
    CHECK(!is_socket(own_doorbell_lend(doorbell_for(&near), &near)));
    int lent = own_doorbell_lend(doorbell_for(&far), &far);
    CHECK(lent >= 0 && is_socket(lent));
    own_doorbell_lent(doorbell_for(&far), lent);
    CHECK_EQ(own_doorbell_lend(&own_doorbell, &far), -1);
    end_close(&end);
}

int main(void) {
    limit_life();
    if (!has_pid_namespaces()) {
        fprintf(stderr, "    skipped: PID namespaces, which this process may not make\n");
        return 0;
    }
    port_space = getpid() << 4;
    link_set_handler(ECHO, on_echo);
    RUN(both_ends_know_whether_they_are_of_one_namespace);
    RUN(processes_of_other_namespaces_leave_room_for_those_of_the_own_one);
    RUN(nobody_waits_for_descriptors_that_are_too_many);
    RUN(a_message_waits_while_there_is_no_room_for_its_descriptors);
    RUN(only_peers_of_the_own_namespace_are_lent_eventfds);
    return 0;
}
