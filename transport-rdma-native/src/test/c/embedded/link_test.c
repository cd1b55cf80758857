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
/* Links: delivery, ports and numbers, descriptors, and the death of a peer. */
#include "held_engine.h"
#include "link_inside.h"
#include "namespaces.h"
#include "pair.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void messages_arrive_whole_and_in_order(void) {
    struct link_port *port;
    struct link *link;
    CHECK_EQ(link_bind_port(PS, 1, &port), 0);
    CHECK_EQ(link_connect_port(PS, 1, false, &link), 0);
    char body[LINK_MAX_BODY];
    for (uint32_t i = 0; i < 20000; i++) {
        size_t length = 4 + i % (LINK_MAX_BODY - 3);
        memset(body, (int) i, sizeof(body));
        memcpy(body, &i, sizeof(i));
        CHECK_EQ(link_send(link, SEQUENCE, body, length, NULL, 0), 0);
        if (i % 500 == 499) { /* far more than the socket takes, less than the limit of the queue */
            CHECK_EVENTUALLY(get(&received) == (int) i + 1);
        }
    }
    CHECK_EQ(get(&disordered), 0);
    CHECK_EQ(link_send(link, SEQUENCE, body, LINK_MAX_BODY + 1, NULL, 0), EINVAL);
    CHECK_EQ(link_send(link, SEQUENCE, body, 4, NULL, LINK_MAX_FDS + 1), EINVAL);
    end_link(link);
    link_unbind_port(port);
}

static void a_port_leads_to_one_link_and_is_exclusive(void) {
    struct link_port *port, *second;
    struct link *link, *same, *fresh;
    CHECK_EQ(link_connect_port(PS, 2, false, &link), ECONNREFUSED);
    CHECK_EQ(link_bind_port(PS, 0, &port), EINVAL);
    CHECK_EQ(link_bind_port(PS, 2, &port), 0);
    CHECK_EQ(link_bind_port(PS, 2, &second), EADDRINUSE);
    CHECK_EQ(link_bind_port(PS + 1, 2, &second), 0);
    link_unbind_port(second);
    CHECK_EQ(link_connect_port(PS, 2, false, &link), 0);
    CHECK_EQ(link_connect_port(PS, 2, false, &same), 0);
    CHECK(link == same);
    CHECK_EQ(link_connect_port(PS, 2, true, &fresh), 0);
    CHECK(link != fresh);
    link_put(same);
    CHECK_EQ(link_connect_port(PS, 2, false, &same), 0);
    CHECK(fresh == same);
    link_put(same);
    link_forget(fresh);
    CHECK_EQ(link_connect_port(PS, 2, false, &same), 0);
    CHECK(fresh != same && link != same);
    end_link(same);
    end_link(fresh);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == 1);
    link_unbind_port(port);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0); /* a link outlives the port that led to it */
    CHECK_EVENTUALLY(get(&echoes) == 2);
    CHECK_EQ(link_connect_port(PS, 2, true, &same), ECONNREFUSED);
    end_link(link);
}

/* The listener is another user's: a connect is refused. Connections of link_bind_port() may be in its backlog, too. */
static void expect_nothing_said_to(int stranger, uint16_t number) {
    struct link *link;
    char byte;
    int fd;
    CHECK_EQ(link_connect_port(PS, number, false, &link), ECONNREFUSED);
    CHECK_EQ(fcntl(stranger, F_SETFL, O_NONBLOCK), 0);
    for (int count = 0; (fd = accept(stranger, NULL, NULL)) >= 0 || count == 0; count++) {
        CHECK(fd >= 0);
        CHECK_EQ(recv(fd, &byte, 1, 0), 0);
        close(fd);
    }
}

static void a_port_whose_name_another_user_holds_is_not_said_to_be_in_use(void) {
    struct link_port *port;
    int fd = raw_squat(name_of_port(9));
    CHECK(fd >= 0);
    CHECK_EQ(link_bind_port(PS, 9, &port), EACCES); /* nobody listens, so that the kernel says nothing of its user */
    if (geteuid() == 0) {
        CHECK_EQ(seteuid(65533), 0);
        int result = listen(fd, 1);
        CHECK_EQ(seteuid(0), 0);
        CHECK_EQ(result, 0);
        CHECK_EQ(link_bind_port(PS, 9, &port), EACCES);
        expect_nothing_said_to(fd, 9);
        int backlog[3];
        for (int i = 0; i < 3; i++) { /* the listener accepts none, so that they fill its backlog */
            struct sockaddr_un address;
            socklen_t size = sizeof(address);
            CHECK_EQ(getsockname(fd, (struct sockaddr *) &address, &size), 0);
            backlog[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
            (void) !connect(backlog[i], (struct sockaddr *) &address, size);
        }
        CHECK_EQ(link_bind_port(PS, 9, &port), EACCES);
        for (int i = 0; i < 3; i++) {
            close(backlog[i]);
        }
    }
    close(fd);
    CHECK_EQ(link_bind_port(PS, 9, &port), 0);
    link_unbind_port(port);
}

/*
 * Makes more links than the other side accepts at a time, in far less than the time after which idle links are closed.
 */
static void short_lived_ports_do_not_use_up_the_links_to_a_process(void) {
    for (int i = 0; i < 1500; i++) {
        struct link_port *port;
        struct link *link;
        int echoed = get(&echoes);
        CHECK_EQ(link_bind_port(PS, (uint16_t) (1000 + i), &port), 0);
        CHECK_EQ(link_connect_port(PS, (uint16_t) (1000 + i), false, &link), 0);
        CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
        CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
        link_put(link);
        link_unbind_port(port);
    }
    for (int i = 0; i < 1500; i++) { /* links outlive their ports */
        struct link *link;
        if (link_connect_port(PS, (uint16_t) (1000 + i), false, &link) == 0) {
            end_link(link);
        }
    }
}

static void a_queue_pair_number_leads_to_its_process(void) {
    uint32_t first = link_claim_qpn_block(true), second = link_claim_qpn_block(true);
    fds_without_links += 2; /* the blocks stay claimed */
    CHECK(first != 0 && second != 0 && first != second);
    CHECK((first & 0xff) == 0 && first < LINK_UNNAMED_QPN);
    struct link *link, *same;
    CHECK_EQ(link_connect_qpn(first + 3, &link), 0);
    CHECK_EQ(link_connect_qpn(first + 255, &same), 0);
    CHECK(link == same);
    CHECK_EQ(link_connect_qpn(5, &same), ECONNREFUSED);
    CHECK_EQ(link_connect_qpn(link_claim_qpn_block(false), &same), ECONNREFUSED);
    int before = get(&echoes);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == before + 1);
    link_put(same);
    end_link(link);
}

static void a_link_is_found_by_its_number_while_it_is_up(void) {
    struct link_port *port;
    struct link *link;
    CHECK_EQ(link_bind_port(PS, 4, &port), 0);
    CHECK_EQ(link_connect_port(PS, 4, false, &link), 0);
    CHECK(link_number(link) != 0);
    CHECK(link_find(link_number(link)) == link);
    link_put(link);
    CHECK(link_find(0) == NULL);
    CHECK(link_find(link_number(link) + 100) == NULL);
    link_abort(link);
    CHECK(link_find(link_number(link)) == NULL);
    link_put(link);
    link_unbind_port(port);
}

#define MANY_REFERENCES 768 /* link.c */

static void a_link_that_many_use_is_not_found_by_its_port(void) {
    struct link_port *port;
    struct link *link, *other;
    CHECK_EQ(link_bind_port(PS, 5, &port), 0);
    CHECK_EQ(link_connect_port(PS, 5, false, &link), 0);
    for (int i = 2; i < MANY_REFERENCES; i++) { /* the engine has one */
        CHECK_EQ(link_connect_port(PS, 5, false, &other), 0);
        CHECK(other == link);
    }
    CHECK_EQ(link_connect_port(PS, 5, false, &other), 0);
    CHECK(other != link);
    end_link(other);
    for (int i = 2; i < MANY_REFERENCES; i++) {
        link_put(link);
    }
    end_link(link);
    link_unbind_port(port);
}

static void *send_echo(void *link) {
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    return NULL;
}

static void held_messages_go_together_and_in_order(void) {
    struct link_port *port;
    struct link *link;
    CHECK_EQ(link_bind_port(PS, 26, &port), 0);
    CHECK_EQ(link_connect_port(PS, 26, false, &link), 0);
    int echoed = get(&echoes);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
    engine_quiesce(); /* the engine's own hold of the link, at whose end it sends what is queued, is over */
    link_hold(link);
    for (int i = 0; i < 20; i++) { /* more than one call sends */
        CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
        CHECK(link_is_behind(link));
    }
    CHECK_EQ(get(&echoes), echoed + 1);
    link_release(link);
    CHECK(!link_is_behind(link));
    CHECK_EVENTUALLY(get(&echoes) == echoed + 21);

    int fds[] = { STDERR_FILENO };
    engine_quiesce();
    link_hold(link);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EQ(link_send(link, WITH_FDS, NULL, 0, fds, 1), 0);
    CHECK(!link_is_behind(link)); /* a descriptor that its owner may close takes along what is before it */
    CHECK_EVENTUALLY(get(&echoes) == echoed + 22);
    CHECK_EVENTUALLY(__atomic_load_n(&held_fd, __ATOMIC_SEQ_CST) >= 0);
    link_release(link);
    CHECK_EQ(close(held_fd), 0);
    __atomic_store_n(&held_fd, -1, __ATOMIC_SEQ_CST);

    pthread_t other;
    engine_quiesce();
    link_hold(link);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EQ(pthread_create(&other, NULL, send_echo, link), 0);
    CHECK_EQ(pthread_join(other, NULL), 0);
    CHECK(!link_is_behind(link)); /* another thread does not wait for this one */
    CHECK_EVENTUALLY(get(&echoes) == echoed + 24);
    link_release(link);
    end_link(link);
    link_unbind_port(port);
}

static void a_message_that_may_wait_goes_with_the_next_one_or_alone(void) {
    struct link_port *port;
    struct link *link;
    CHECK_EQ(link_bind_port(PS, 27, &port), 0);
    CHECK_EQ(link_connect_port(PS, 27, false, &link), 0);
    int echoed = get(&echoes);
    CHECK_EQ(link_send_later(link, ECHO, "ab", 2), 0);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 1); /* nothing follows */
    CHECK_EQ(link_send_later(link, ECHO, "ab", 2), 0);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK(!link_is_behind(link));
    CHECK_EVENTUALLY(get(&echoes) == echoed + 3);
    link_abort(link);
    CHECK_EQ(link_send_later(link, ECHO, "ab", 2), EPIPE);
    end_link(link);
    link_unbind_port(port);
}

static void descriptors_are_passed_and_none_is_left_behind(void) {
    struct link_port *port;
    struct link *link;
    CHECK_EQ(link_bind_port(PS, 3, &port), 0);
    CHECK_EQ(link_connect_port(PS, 3, false, &link), 0);
    int ends[2];
    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    int before = 0;
    for (int i = 0; i < 50; i++) {
        int fds[LINK_MAX_FDS] = { ends[0], ends[0], ends[0], ends[0] };
        CHECK_EQ(link_send(link, WITH_FDS, NULL, 0, fds, 1 + i % LINK_MAX_FDS), 0);
        CHECK_EVENTUALLY(__atomic_load_n(&held_fd, __ATOMIC_SEQ_CST) >= 0);
        struct stat a, b;
        CHECK_EQ(fstat(ends[0], &a), 0);
        CHECK_EQ(fstat(held_fd, &b), 0);
        CHECK_EQ(a.st_ino, b.st_ino);
        CHECK_EQ(close(held_fd), 0);
        __atomic_store_n(&held_fd, -1, __ATOMIC_SEQ_CST);
        engine_quiesce();
        if (i == 0) {
            before = open_fds();
        }
    }
    CHECK_EVENTUALLY(open_fds() <= before);
    close(ends[0]);
    close(ends[1]);
    end_link(link);
    link_unbind_port(port);
}

/* ---- peers in other processes ---- */

static void the_death_of_a_peer_takes_its_link_down(void) {
    pid_t child = fork_peer(10);
    struct link *link = link_to_child(10, child);
    int echoed = get(&echoes), before = get(&downs);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
    CHECK_EQ(get(&downs), before);
    kill(child, SIGKILL);
    CHECK_EVENTUALLY(get(&downs) == before + 1);
    CHECK(!link_is_up(link));
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), EPIPE);
    link_put(link);
    waitpid(child, NULL, 0);
    CHECK_EQ(link_connect_port(PS, 10, false, &link), ECONNREFUSED);
}

/* The child inherits this process's links; if it kept them, nobody would learn of a death. */
static void a_forked_child_does_not_keep_links_of_its_parent_alive(void) {
    pid_t peer = fork_peer(11);
    struct link *link = link_to_child(11, peer);
    pid_t bystander = fork_child();
    if (bystander == 0) {
        limit_life();
        if (link_is_up(link) || link_send(link, ECHO, "ab", 2, NULL, 0) != EPIPE) {
            _exit(1);
        }
        struct link *own = NULL;
        CHECK_EVENTUALLY(link_connect_port(PS, 11, false, &own) == 0);
        int echoed = get(&echoes);
        CHECK_EQ(link_send(own, ECHO, "ab", 2, NULL, 0), 0);
        CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(bystander, &status, 0), bystander);
    CHECK_EQ(status, 0);
    CHECK(link_is_up(link));
    int before = get(&downs);
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
    CHECK_EVENTUALLY(get(&downs) == before + 1);
    link_put(link);
}

/*
 * Names the file of a descriptor, as /proc does; "" if it is closed. Not by fstat(2): ThreadSanitizer would take it for
 * a use.
 */
static void name_of(int fd, char *name, size_t size) {
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, name, size - 1);
    name[length < 0 ? 0 : length] = 0;
}

static int descriptors_of(const char *name) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        char other[64];
        name_of(fd, other, sizeof(other));
        count += strcmp(name, other) == 0;
    }
    return count;
}

/* Descriptors wait for a peer that does not read. A copy in the child would keep open what the parent has closed. */
static void a_forked_child_closes_the_descriptors_that_wait_in_a_queue_of_its_parent(void) {
    pid_t peer = fork_peer(13);
    struct link *link = link_to_child(13, peer);
    int echoed = get(&echoes), waiting[2], sent = 0;
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
    kill(peer, SIGSTOP);
    CHECK_EQ(waitpid(peer, NULL, WUNTRACED), peer); /* the peer must not read any more */
    char body[LINK_MAX_BODY] = { 0 };
    while (!link_is_behind(link)) {
        CHECK_EQ(link_send(link, SEQUENCE, body, sizeof(body), NULL, 0), 0);
        CHECK(++sent < 100000);
    }
    char ends[64]; /* both have the same name */
    CHECK_EQ(pipe2(waiting, O_CLOEXEC), 0);
    name_of(waiting[0], ends, sizeof(ends));
    CHECK_EQ(link_send(link, WITH_FDS, "ab", 2, waiting, 2), 0);
    CHECK_EQ(link_send(link, WITH_FDS, "ab", 2, waiting, 1), 0);
    close(waiting[0]);
    close(waiting[1]);
    CHECK_EQ(descriptors_of(ends), 3);
    pid_t child = fork_child();
    if (child == 0) {
        _exit(descriptors_of(ends));
    }
    expect_exit(child, 0);
    CHECK_EQ(descriptors_of(ends), 3); /* descriptors of the parent, for whom they still wait */
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
    CHECK_EVENTUALLY(descriptors_of(ends) == 0);
    link_put(link);
}

/*
 * Sends until as many are on their way as a process may have open; for root there is no such limit: unix(7),
 * ETOOMANYREFS.
 */
static void send_as_a_user_without_privileges(void) {
    if (geteuid() == 0) {
        CHECK(become_user(65534));
    }
    pid_t peer = fork_peer(25);
    struct link *link = link_to_child(25, peer);
    int echoed = get(&echoes), sent = 0, fds[LINK_MAX_FDS] = { 0, 0, 0, 0 };
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
    kill(peer, SIGSTOP);
    CHECK_EQ(waitpid(peer, NULL, WUNTRACED), peer); /* the peer must not read any more */
    struct rlimit few;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &few), 0);
    few.rlim_cur = 64;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (!link_is_behind(link)) {
        CHECK_EQ(link_send(link, WITH_FDS, NULL, 0, fds, LINK_MAX_FDS), 0);
        CHECK(++sent <= (int) few.rlim_cur);
    }
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    kill(peer, SIGCONT);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 2);
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
    _exit(0);
}

static void descriptors_wait_while_too_many_of_a_user_are_on_their_way(void) {
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        send_as_a_user_without_privileges();
    }
    expect_exit(child, 0);
}

static void a_peer_that_does_not_read_is_cut_off_without_blocking(void) {
    pid_t peer = fork_peer(12);
    struct link *link = link_to_child(12, peer);
    int echoed = get(&echoes);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
    kill(peer, SIGSTOP);
    CHECK_EQ(waitpid(peer, NULL, WUNTRACED), peer);
    int before = get(&downs), sent = 0;
    char body[LINK_MAX_BODY] = { 0 };
    while (link_send(link, SEQUENCE, body, sizeof(body), NULL, 0) == 0) {
        CHECK(++sent < 100000);
    }
    CHECK(sent > 1000);
    CHECK_EVENTUALLY(get(&downs) == before + 1);
    link_put(link);
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
}

static void a_message_without_room_for_its_descriptors_is_lost_and_the_link_stays(void) {
    struct link_port *port;
    struct link *link;
    CHECK_EQ(link_bind_port(PS, 22, &port), 0);
    CHECK_EQ(link_connect_port(PS, 22, false, &link), 0);
    int echoed = get(&echoes);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
    struct rlimit limit, none;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    int fds[] = { STDERR_FILENO };
    CHECK_EQ(link_send(link, WITH_FDS, NULL, 0, fds, 1), 0);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 2);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_EQ(__atomic_load_n(&held_fd, __ATOMIC_SEQ_CST), -1);
    end_link(link);
    link_unbind_port(port);
}

static void descriptors_wait_for_a_peer_that_has_not_accepted_yet(void) {
    struct link_port *port;
    struct link *link;
    int fds[] = { STDERR_FILENO }, echoed = get(&echoes);
    CHECK_EQ(link_bind_port(PS, 34, &port), 0);
    hold_engine();
    CHECK_EQ(link_connect_port(PS, 34, false, &link), 0);
    CHECK_EQ(link_send(link, WITH_FDS, NULL, 0, fds, 1), 0);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    let_engine_go();
    CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
    int held = __atomic_exchange_n(&held_fd, -1, __ATOMIC_SEQ_CST);
    CHECK(held >= 0);
    close(held);
    end_link(link);
    link_unbind_port(port);
}

int main(void) {
    listen_to_links();
    RUN_TO_THE_END(messages_arrive_whole_and_in_order);
    RUN_TO_THE_END(a_port_leads_to_one_link_and_is_exclusive);
    RUN_TO_THE_END(a_port_whose_name_another_user_holds_is_not_said_to_be_in_use);
    RUN_TO_THE_END(short_lived_ports_do_not_use_up_the_links_to_a_process);
    RUN_TO_THE_END(a_queue_pair_number_leads_to_its_process);
    RUN_TO_THE_END(a_link_is_found_by_its_number_while_it_is_up);
    RUN_TO_THE_END(a_link_that_many_use_is_not_found_by_its_port);
    RUN_TO_THE_END(held_messages_go_together_and_in_order);
    RUN_TO_THE_END(a_message_that_may_wait_goes_with_the_next_one_or_alone);
    RUN_TO_THE_END(descriptors_are_passed_and_none_is_left_behind);
    RUN_TO_THE_END(the_death_of_a_peer_takes_its_link_down);
    RUN_TO_THE_END(a_forked_child_does_not_keep_links_of_its_parent_alive);
    RUN_TO_THE_END(a_forked_child_closes_the_descriptors_that_wait_in_a_queue_of_its_parent);
    RUN_TO_THE_END(descriptors_wait_while_too_many_of_a_user_are_on_their_way);
    RUN_TO_THE_END(a_peer_that_does_not_read_is_cut_off_without_blocking);
    RUN_TO_THE_END(a_message_without_room_for_its_descriptors_is_lost_and_the_link_stays);
    RUN_TO_THE_END(descriptors_wait_for_a_peer_that_has_not_accepted_yet);
    return 0;
}
