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
/* Links: peers that lie, that ask without reading, and that send what is slow to close. */
#include "embedded/link/account.h"
#include "held_engine.h"
#include "lingering.h"
#include "link_inside.h"
#include "namespaces.h"
#include "pair.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/* ---- peers that lie ---- */

/* Returns whether the other side closes; data that it sends before is skipped. */
static bool is_closed_by_peer(int fd) {
    char packet[4096];
    ssize_t n;
    do {
        n = recv(fd, packet, sizeof(packet), 0);
    } while (n > 0 || (n < 0 && errno == ECONNRESET));
    return n == 0;
}

static void liars_are_cut_off_and_nobody_else_notices(void) {
    struct link_port *port;
    CHECK_EQ(link_bind_port(PS, 20, &port), 0);
    struct link *honest;
    CHECK_EQ(link_connect_port(PS, 20, false, &honest), 0);
    static const struct {
        bool greet;
        size_t length;
        uint32_t words[4];
    } lies[] = {
        { false, 16, { LINK_HELLO, 0, 0x4e52444d, LINK_VERSION + 1 } },
        { false, 16, { LINK_HELLO, 0, 0x4e52444d, 0 } }, /* no version */
        { false, 16, { LINK_HELLO, 0, 0x12345678, LINK_VERSION } }, /* another protocol */
        { false, 12, { LINK_HELLO, 0, 0x4e52444d } },     /* short greeting */
        { false, 16, { SEQUENCE, 0, 0, 0 } },             /* no greeting */
        { true, 16, { LINK_HELLO, 0, 0x4e52444d, LINK_VERSION } }, /* two greetings */
        { true, 4, { SEQUENCE } },                        /* no header */
        { true, 0, { 0 } },                               /* nothing at all */
        { true, 8, { SEQUENCE } },                        /* body too short for its handler */
        { true, 16, { 0, 0, 0, 0 } },                     /* unknown types */
        { true, 16, { 63, 0, 0, 0 } },
        { true, 16, { LINK_MESSAGE_LIMIT, 0, 0, 0 } },
        { true, 16, { 0xffffffff, 0, 0, 0 } },
        { true, 4096, { SEQUENCE } },                     /* longer than any message */
    };
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        int fd = raw_connect(20);
        if (lies[i].greet) {
            CHECK_EQ(send(fd, raw_hello, sizeof(raw_hello), 0), sizeof(raw_hello));
        }
        char packet[4096] = { 0 };
        memcpy(packet, lies[i].words, sizeof(lies[i].words));
        CHECK_EQ(send(fd, packet, lies[i].length, 0), lies[i].length);
        CHECK(is_closed_by_peer(fd));
        close(fd);
    }
    int echoed = get(&echoes);
    CHECK_EQ(link_send(honest, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
    end_link(honest);
    link_unbind_port(port);
}

/* Only its own links are cut off: others, here this process, are accepted meanwhile. */
static void a_process_that_connects_without_end_is_cut_off(void) {
    struct link_port *port;
    CHECK_EQ(link_bind_port(PS, 25, &port), 0);
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        int count = 0;
        char greeting[64];
        int first = raw_connect(25), last = first;
        while (recv(last, greeting, sizeof(greeting), 0) == 16) {
            CHECK_EQ(send(last, raw_hello, sizeof(raw_hello), 0), sizeof(raw_hello));
            CHECK(++count < 100000);
            last = raw_connect(25);
        }
        CHECK_EQ(count, 512);
        bool served;
        close(first);
        do { /* when the other side has noticed */
            close(last);
            last = raw_connect(25);
            served = recv(last, greeting, sizeof(greeting), 0) == 16;
        } while (!served);
        _exit(0);
    }
    int status;
    struct link *link = NULL;
    while (waitpid(child, &status, WNOHANG) == 0) {
        CHECK_EQ(link_connect_port(PS, 25, true, &link), 0);
        int echoed = get(&echoes);
        CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
        CHECK_EVENTUALLY(get(&echoes) > echoed);
        end_link(link);
    }
    CHECK_EQ(status, 0);
    link_unbind_port(port);
}

static void descriptors_that_nobody_asked_for_are_closed(void) {
    struct link_port *port;
    CHECK_EQ(link_bind_port(PS, 21, &port), 0);
    int fd = raw_connect(21);
    CHECK_EQ(send(fd, raw_hello, sizeof(raw_hello), 0), sizeof(raw_hello));
    uint32_t packet[] = { ECHO, 0, 0 };
    CHECK_EQ(send(fd, packet, 10, 0), 10);
    char answer[64];
    CHECK(recv(fd, answer, sizeof(answer), 0) == 16); /* the other side's greeting */
    CHECK_EQ(recv(fd, answer, sizeof(answer), 0), 9);
    int before = open_fds();
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(send_with_fds(fd, packet, 10, fd, 16), 10);
        CHECK_EQ(recv(fd, answer, sizeof(answer), 0), 9); /* still served */
    }
    CHECK_EVENTUALLY(open_fds() <= before);
    int down = get(&downs);
    close(fd);
    CHECK_EVENTUALLY(get(&downs) == down + 1);
    link_unbind_port(port);
}

/* The engine takes several messages at a time: what it took behind the lie counts for nothing, and nothing stays. */
static void what_comes_behind_a_lie_is_not_heard_and_its_descriptors_are_closed(void) {
    struct link_port *port;
    CHECK_EQ(link_bind_port(PS, 26, &port), 0);
    int fd = raw_connect(26);
    char answer[64];
    CHECK(recv(fd, answer, sizeof(answer), 0) == 16); /* the other side's greeting */
    int before = open_fds(), heard = get(&received), down = get(&downs);
    next_sequence = 0;
    CHECK_EQ(send(fd, raw_hello, sizeof(raw_hello), 0), sizeof(raw_hello));
    hold_engine(); /* until all of them are there */
    const uint32_t first[] = { SEQUENCE, 0, 0 }, lie[] = { LINK_MESSAGE_LIMIT, 0, 0 }, behind[] = { SEQUENCE, 0, 1 };
    CHECK_EQ(send(fd, first, sizeof(first), 0), sizeof(first));
    CHECK_EQ(send(fd, lie, sizeof(lie), 0), sizeof(lie));
    for (int i = 0; i < 4; i++) {
        const uint32_t with_fds[] = { WITH_FDS, 0, 0 };
        CHECK_EQ(send_with_fds(fd, with_fds, sizeof(with_fds), fd, 1), sizeof(with_fds));
        CHECK_EQ(send(fd, behind, sizeof(behind), 0), sizeof(behind));
    }
    let_engine_go();
    CHECK_EVENTUALLY(get(&downs) == down + 1);
    CHECK_EQ(get(&received), heard + 1);
    CHECK_EQ(__atomic_load_n(&held_fd, __ATOMIC_SEQ_CST), -1);
    CHECK_EVENTUALLY(open_fds() == before - 1); /* the end of the link here */
    close(fd);
    link_unbind_port(port);
}

static void the_messages_before_a_death_are_delivered(void) {
    struct link_port *port;
    CHECK_EQ(link_bind_port(PS, 22, &port), 0);
    int fd = raw_connect(22);
    next_sequence = 0;
    int before = get(&received);
    CHECK_EQ(send(fd, raw_hello, sizeof(raw_hello), 0), sizeof(raw_hello));
    for (uint32_t i = 0; i < 10; i++) {
        uint32_t packet[] = { SEQUENCE, 0, i };
        CHECK_EQ(send(fd, packet, sizeof(packet), 0), sizeof(packet));
    }
    close(fd); /* the greeting is unread: we get ECONNRESET first */
    CHECK_EVENTUALLY(get(&received) == before + 10);
    link_unbind_port(port);
}

static void accepting_goes_on_after_descriptors_ran_out(void) {
    struct link_port *port;
    CHECK_EQ(link_bind_port(PS, 23, &port), 0);
    int fd = raw_connect(23), other = raw_connect(23);
    CHECK_EQ(send(fd, raw_hello, sizeof(raw_hello), 0), sizeof(raw_hello));
    struct rlimit old, tight;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
    tight = old;
    tight.rlim_cur = (rlim_t) other + 1;
    int starving = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
    struct sockaddr_un address;
    const socklen_t size = raw_address(name_of_port(23), &address);
    CHECK_EQ(connect(starving, (struct sockaddr *) &address, size), 0);
    struct link *link;
    CHECK_EQ(link_connect_port(PS, 23, false, &link), EMFILE);
    struct link_port *second;
    CHECK_EQ(link_bind_port(PS, 24, &second), EMFILE);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
    char answer[64];
    limit_receives(starving, patience_ms());
    CHECK_EQ(recv(starving, answer, sizeof(answer), 0), 16);
    close(starving);
    close(fd);
    close(other);
    link_unbind_port(port);
}

/* ---- peers that ask and do not read the answers ---- */

#define KIB 1024u

/*
 * Returns the allocated bytes as the allocator counts them (mallinfo2(3)). Sanitizers have other allocators, of which
 * it knows nothing.
 */
static size_t allocated(void) {
    return mallinfo2().uordblks;
}

/* A peer that greets, and asks with numbers. */
struct asker {
    int fd, asked, answered;
    struct link *link; /* the end of this process */
};

static size_t queued_on(struct link *link) {
    pthread_mutex_lock(&link->lock);
    size_t bytes = link->queued_bytes;
    pthread_mutex_unlock(&link->lock);
    return bytes;
}

static bool is_stopped(const struct asker *asker) {
    pthread_mutex_lock(&asker->link->lock);
    bool stopped = asker->link->stopped;
    pthread_mutex_unlock(&asker->link->lock);
    return stopped;
}

/* Returns false if there is no room now. */
static bool ask(struct asker *asker) {
    const uint32_t packet[] = { ASK, 0, (uint32_t) asker->asked };
    ssize_t sent = send(asker->fd, packet, sizeof(packet), MSG_DONTWAIT | MSG_NOSIGNAL);
    CHECK(sent == sizeof(packet) || (sent < 0 && errno == EAGAIN)); /* not hung up on */
    asker->asked += sent > 0;
    return sent > 0;
}

static void read_answer(struct asker *asker) {
    uint32_t packet[4];
    CHECK_EQ(recv(asker->fd, packet, sizeof(packet), 0), 12);
    CHECK(packet[0] == ANSWER && packet[2] == (uint32_t) asker->answered);
    asker->answered++;
}

static struct asker begin_to_ask(uint16_t port) {
    struct asker asker = { .fd = raw_connect(port) };
    CHECK(raw_greet(asker.fd));
    CHECK(ask(&asker));
    read_answer(&asker);
    asker.link = __atomic_exchange_n(&asked_link, NULL, __ATOMIC_SEQ_CST);
    CHECK(asker.link != NULL);
    return asker;
}

/* Asks until nothing is read any more. */
static void ask_without_reading(struct asker *asker) {
    while (!is_stopped(asker)) {
        if (!ask(asker)) {
            sched_yield();
        }
        CHECK(asker->asked < 100000);
    }
    while (ask(asker)) { /* fills the socket */
    }
}

static void read_all_answers(struct asker *asker) {
    while (asker->answered < asker->asked) {
        read_answer(asker);
    }
    CHECK_EVENTUALLY(!link_is_behind(asker->link));
    CHECK(!is_stopped(asker));
}

static void end_asker(struct asker *asker) {
    close(asker->fd);
    link_put(asker->link);
}

static void a_peer_that_asks_without_reading_is_not_read_from_until_it_reads(void) {
    struct link_port *port;
    CHECK_EQ(link_bind_port(PS, 40, &port), 0);
    struct asker asker = begin_to_ask(40);
    size_t before = allocated();
    ask_without_reading(&asker);
    CHECK(allocated() <= before + 64 * KIB + 3 * LINK_BLOCK_BYTES);
    read_all_answers(&asker);
    CHECK(allocated() <= before + LINK_BLOCK_BYTES);
    ask_without_reading(&asker); /* the same again */
    CHECK(allocated() <= before + 64 * KIB + 3 * LINK_BLOCK_BYTES);
    int down = get(&downs);
    end_asker(&asker); /* the link ends although nothing is read from it */
    CHECK_EVENTUALLY(get(&downs) == down + 1);
    CHECK_EVENTUALLY(allocated() <= before);
    link_unbind_port(port);
}

/* Messages that a peer sent before it went away are handled even if nothing was read from it at that time. */
static void the_last_words_of_a_peer_that_was_not_read_from_are_heard(void) {
    struct link_port *port;
    CHECK_EQ(link_bind_port(PS, 41, &port), 0);
    struct asker asker = begin_to_ask(41);
    ask_without_reading(&asker);
    next_sequence = 0;
    int heard = get(&received), size = 4 << 20;
    CHECK_EQ(setsockopt(asker.fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
    const uint32_t word[] = { SEQUENCE, 0, 0 };
    CHECK_EQ(send(asker.fd, word, sizeof(word), MSG_DONTWAIT), sizeof(word));
    CHECK_EQ(get(&received), heard);
    end_asker(&asker);
    CHECK_EVENTUALLY(get(&received) == heard + 1);
    link_unbind_port(port);
}

#define ASKERS 32

static void many_peers_that_ask_without_reading_are_bounded_together(void) {
    struct link_port *port;
    struct asker askers[ASKERS];
    uint64_t all = link_queue_limit;
    link_queue_limit = 2048 * KIB;
    CHECK_EQ(link_bind_port(PS, 42, &port), 0);
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = begin_to_ask(42);
    }
    size_t before = allocated();
    for (int i = 0; i < ASKERS; i++) {
        ask_without_reading(&askers[i]);
    }
    CHECK(allocated() <= before + link_queue_limit / 2); /* the half that one peer may have */
    for (int i = 0; i < ASKERS; i++) {
        read_all_answers(&askers[i]);
        end_asker(&askers[i]);
    }
    link_unbind_port(port);
    link_queue_limit = all;
}

/* The same of links that this process has made, which it reads in any case. */
static void what_waits_for_a_peer_on_several_links_is_bounded_together(void) {
    pid_t peer = fork_peer(43);
    struct link *links[3];
    char body[LINK_MAX_BODY] = { 0 };
    uint64_t all = link_queue_limit;
    int echoed = get(&echoes);
    for (int i = 0; i < 3; i++) {
        links[i] = link_to_child(43, peer);
        link_forget(links[i]);
        CHECK_EQ(link_send(links[i], ECHO, "ab", 2, NULL, 0), 0);
        CHECK_EVENTUALLY(get(&echoes) == echoed + i + 1);
    }
    kill(peer, SIGSTOP);
    CHECK_EQ(waitpid(peer, NULL, WUNTRACED), peer);
    size_t before = allocated();
    link_queue_limit = 1024 * KIB;
    for (int i = 0; i < 2; i++) {
        for (int sent = 0; queued_on(links[i]) < 200 * KIB; sent++) {
            CHECK_EQ(link_send(links[i], SEQUENCE, body, sizeof(body), NULL, 0), 0);
            CHECK(sent < 10000);
        }
    }
    int down = get(&downs), fds[LINK_MAX_FDS] = { 0, 0, 0, 0 }, waiting = 0, error;
    struct rlimit limit, few;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = limit;
    few.rlim_cur = 1024;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    while ((error = link_send(links[0], WITH_FDS, NULL, 0, fds, LINK_MAX_FDS)) == 0) {
        waiting += LINK_MAX_FDS;
    }
    CHECK_EQ(error, EMFILE);
    CHECK_EQ(waiting, few.rlim_cur / 8); /* half of what all may have */
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    size_t most = before;
    while (link_send(links[2], SEQUENCE, body, sizeof(body), NULL, 0) == 0) {
        most = allocated();
        CHECK(most <= before + link_queue_limit / 2);
    }
    CHECK(IS_SANITIZED || most >= before + link_queue_limit / 2 - 8 * LINK_BLOCK_BYTES);
    CHECK_EVENTUALLY(get(&downs) == down + 1);
    CHECK(link_is_up(links[0]) && link_is_up(links[1]));
    CHECK_EVENTUALLY(allocated() <= before + 2 * (200 * KIB + LINK_BLOCK_BYTES) + (unsigned) waiting * 16);
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
    for (int i = 0; i < 3; i++) {
        link_put(links[i]);
    }
    link_queue_limit = all;
}

/* Number of questions: more than the sockets take, and than the answers that may wait before nothing is read. */
#define ASKED 20000

static void ask_over(struct link *link) {
    for (int i = 0; i < ASKED; i++) {
        CHECK_EQ(link_send(link, ASK, &i, sizeof(i), NULL, 0), 0);
    }
    CHECK_EVENTUALLY(get(&answers) == ASKED);
    CHECK_EQ(get(&disordered_answers), 0);
}

static void ask_back(const void *unused) {
    (void) unused;
    struct link_port *port;
    CHECK_EQ(link_bind_port(PS, 44, &port), 0);
    say(1);
    CHECK_EVENTUALLY(__atomic_load_n(&asked_link, __ATOMIC_SEQ_CST) != NULL);
    ask_over(asked_link);
    say(2);
    while (is_told()) {
    }
}

static void two_that_flood_each_other_over_one_link_get_all_answers(void) {
    struct link *link;
    struct child child = begin_child(ask_back, NULL);
    CHECK_EQ(hear(&child), 1);
    CHECK_EQ(link_connect_port(PS, 44, false, &link), 0);
    ask_over(link);
    CHECK_EQ(hear(&child), 2);
    link_put(__atomic_exchange_n(&asked_link, NULL, __ATOMIC_SEQ_CST));
    kill_child(&child);
    end_link(link);
}

/* Three users take as much of 1024 as they get, one after the other. */
static void what_all_share_is_never_all_for_one(void) {
    const uint64_t shares[] = { 512, 256, 128 };
    struct account *accounts[3];
    for (unsigned i = 0; i < 3; i++) {
        const struct link_peer peer = { .uid = 1000000 + i };
        accounts[i] = account_get(&peer);
        CHECK(accounts[i] != NULL && accounts[i] == account_get(&peer));
        CHECK(!account_charge_share(accounts[i], LINK_KEPT_DOORBELLS, shares[i] + 1, 1024));
        CHECK(account_charge_share(accounts[i], LINK_KEPT_DOORBELLS, shares[i], 1024));
        CHECK(!account_charge_share(accounts[i], LINK_KEPT_DOORBELLS, 1, 1024));
        CHECK(account_nears_share(accounts[i], LINK_KEPT_DOORBELLS, 1024));
    }
    account_discharge(accounts[0], LINK_KEPT_DOORBELLS, shares[0]);
    CHECK(!account_nears_share(accounts[2], LINK_KEPT_DOORBELLS, 1024));
    CHECK(account_charge_share(accounts[2], LINK_KEPT_DOORBELLS, 1, 1024));
    account_discharge(accounts[1], LINK_KEPT_DOORBELLS, shares[1]);
    account_discharge(accounts[2], LINK_KEPT_DOORBELLS, shares[2] + 1);
    for (int i = 0; i < 6; i++) {
        account_put(accounts[i % 3]);
    }
}

/* ---- descriptors that are slow to close ---- */

#define SLOW_MESSAGES 40 /* more than there are threads to close them */

static bool old_kernel;

/* Replaces the C library's function. Before Linux 6.16 everybody could send descriptors to a socket. */
int setsockopt(int fd, int level, int option, const void *value, socklen_t size) {
    if (__atomic_load_n(&old_kernel, __ATOMIC_SEQ_CST) && level == SOL_SOCKET && option == SO_PASSRIGHTS) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return (int) syscall(SYS_setsockopt, fd, level, option, value, size);
}

static void set_old_kernel(bool old) {
    __atomic_store_n(&old_kernel, old, __ATOMIC_SEQ_CST);
}

/* The kernel, and whether this process may become another user. Prints what is missing. */
static bool can_refuse_descriptors(void) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), off = 0;
    bool can = setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off)) == 0;
    close(fd);
    if (!can) {
        fprintf(stderr, "    skipped: refusing descriptors, which Linux can from 6.16 on\n");
    }
    return can;
}

struct attacker {
    uint16_t port;
    bool is_stranger; /* another user, not let in */
};

/* Sends, when it is told, descriptors that are slow to close, and says how many messages the kernel has refused. */
static void attack(const void *argument) {
    const struct attacker *attacker = argument;
    const uint32_t lie[] = { LINK_MESSAGE_LIMIT, 0, 0 }, behind[] = { WITH_FDS, 0, 0 };
    int refused = 0;
    if (attacker->is_stranger && owner == 0) {
        CHECK(become_user(65534));
    }
    say(0);
    CHECK(is_told());
    int fd = -1;
    for (int i = 0; i < SLOW_MESSAGES; i++) {
        if (fd < 0 || attacker->is_stranger) {
            fd = raw_connect(attacker->port);
        }
        if (!attacker->is_stranger && i == 0) {
            CHECK_EQ(send(fd, raw_hello, sizeof(raw_hello), 0), sizeof(raw_hello));
            CHECK_EQ(send(fd, lie, sizeof(lie), 0), sizeof(lie));
        }
        if (send_lingering(fd, behind, sizeof(behind)) < 0) {
            CHECK_EQ(errno, EPERM);
            refused++;
        }
    }
    say(refused);
    while (is_told()) {
        say(1);
    }
}

/* Has it send while the engine is held. Returns how many messages were refused. */
static int have_attack(struct child *child, const struct attacker *attacker) {
    *child = begin_child(attack, attacker);
    CHECK_EQ(hear(child), 0);
    hold_engine();
    tell(child);
    return hear(child);
}

/* Ends the attacker, whose descriptors are not closed before its end. */
static void end_attack(struct child *child) {
    tell(child);
    CHECK_EQ(hear(child), 1);
    kill_child(child);
}

static void expect_service(uint16_t port) {
    struct link *link;
    int echoed = get(&echoes);
    CHECK_EQ(link_connect_port(PS, port, false, &link), 0);
    CHECK_EQ(link_send(link, ECHO, "ab", 2, NULL, 0), 0);
    CHECK_EVENTUALLY(get(&echoes) == echoed + 1);
    end_link(link);
}

static void what_a_stranger_has_sent_is_closed_beside_the_engine(void) {
    const struct attacker stranger = { 30, true };
    struct link_port *port;
    struct child child;
    set_old_kernel(true);
    CHECK_EQ(link_bind_port(PS, 30, &port), 0);
    CHECK_EQ(have_attack(&child, &stranger), 0);
    let_engine_go();
    expect_service(30);
    end_attack(&child);
    link_unbind_port(port);
    set_old_kernel(false);
}

static void what_a_peer_has_sent_is_closed_beside_the_engine(void) {
    const struct attacker peer = { 31, false };
    struct link_port *port;
    struct child child;
    int down = get(&downs);
    set_old_kernel(true); /* otherwise the attacker had to wait until it is accepted */
    CHECK_EQ(link_bind_port(PS, 31, &port), 0);
    CHECK_EQ(have_attack(&child, &peer), 0);
    let_engine_go();
    CHECK_EVENTUALLY(get(&downs) == down + 1);
    expect_service(31);
    end_attack(&child);
    link_unbind_port(port);
    set_old_kernel(false);
}

static void a_port_is_free_at_once_whatever_is_in_connections_that_are_not_accepted(void) {
    const struct attacker stranger = { 32, true };
    struct link_port *port;
    struct child child;
    set_old_kernel(true);
    CHECK_EQ(link_bind_port(PS, 32, &port), 0);
    CHECK_EQ(have_attack(&child, &stranger), 0);
    link_unbind_port(port);
    CHECK_EQ(link_bind_port(PS, 32, &port), 0);
    let_engine_go();
    expect_service(32);
    end_attack(&child);
    link_unbind_port(port);
    set_old_kernel(false);
}

static void a_stranger_can_send_no_descriptors(void) {
    const struct attacker stranger = { 33, true };
    struct link_port *port;
    struct child child;
    if (!can_refuse_descriptors()) {
        return;
    }
    CHECK_EQ(link_bind_port(PS, 33, &port), 0);
    CHECK_EQ(have_attack(&child, &stranger), SLOW_MESSAGES);
    let_engine_go();
    expect_service(33);
    end_attack(&child);
    link_unbind_port(port);
}

int main(void) {
    listen_to_links();
    RUN_TO_THE_END(liars_are_cut_off_and_nobody_else_notices);
    RUN_TO_THE_END(descriptors_that_nobody_asked_for_are_closed);
    RUN_TO_THE_END(a_process_that_connects_without_end_is_cut_off);
    RUN_TO_THE_END(what_comes_behind_a_lie_is_not_heard_and_its_descriptors_are_closed);
    RUN_TO_THE_END(the_messages_before_a_death_are_delivered);
    RUN_TO_THE_END(accepting_goes_on_after_descriptors_ran_out);
    RUN_TO_THE_END(a_peer_that_asks_without_reading_is_not_read_from_until_it_reads);
    RUN_TO_THE_END(the_last_words_of_a_peer_that_was_not_read_from_are_heard);
    RUN_TO_THE_END(many_peers_that_ask_without_reading_are_bounded_together);
    RUN_TO_THE_END(what_waits_for_a_peer_on_several_links_is_bounded_together);
    RUN_TO_THE_END(two_that_flood_each_other_over_one_link_get_all_answers);
    RUN(what_all_share_is_never_all_for_one);
    RUN_TO_THE_END(a_stranger_can_send_no_descriptors);
    RUN_TO_THE_END(what_a_stranger_has_sent_is_closed_beside_the_engine);
    RUN_TO_THE_END(what_a_peer_has_sent_is_closed_beside_the_engine);
    RUN_TO_THE_END(a_port_is_free_at_once_whatever_is_in_connections_that_are_not_accepted);
    return 0;
}
