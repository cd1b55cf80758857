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
/* For tests of links: messages that are counted and answered, and peers in other processes. */
#ifndef NETTY_RDMA_TEST_LINK_INSIDE_H
#define NETTY_RDMA_TEST_LINK_INSIDE_H

#include "embedded/link/engine.h"
#include "embedded/link/link_private.h"

#include "check.h"
#include "raw_link.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

static int port_space; /* port space of this run: no other program has ports there */
#define PS port_space
#define SEQUENCE 40
#define WITH_FDS 41
#define ECHO 42
#define ASK 43
#define ANSWER 44

static int received, disordered, downs, held_fd = -1, echoes, fds_without_links;
static uint32_t next_sequence;
static int answers, disordered_answers; /* answers to what this process asks */
static struct link *asked_link;         /* link over which the first ASK of a peer came, with a reference */
static uid_t owner;                     /* owner of the ports */

static inline int get(int *counter) {
    return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

static inline void add(int *counter) {
    __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
}

static inline bool on_sequence(struct link *link, const struct link_message *incoming) {
    (void) link;
    uint32_t sequence;
    if (incoming->length < sizeof(sequence) || incoming->nfds != 0) {
        return false;
    }
    memcpy(&sequence, incoming->body, sizeof(sequence));
    for (size_t i = sizeof(sequence); i < incoming->length; i++) {
        if (((const uint8_t *) incoming->body)[i] != (uint8_t) sequence) {
            add(&disordered);
        }
    }
    if (sequence != next_sequence++) {
        add(&disordered);
    }
    add(&received);
    return true;
}

static inline bool on_fds(struct link *link, const struct link_message *incoming) {
    (void) link;
    if (incoming->nfds < 1) {
        return false;
    }
    CHECK(fcntl(incoming->fds[0], F_GETFD) & FD_CLOEXEC);
    __atomic_store_n(&held_fd, incoming->fds[0], __ATOMIC_SEQ_CST);
    incoming->fds[0] = -1;
    return true;
}

static inline bool on_echo(struct link *link, const struct link_message *incoming) {
    if (incoming->length == 1) {
        add(&echoes);
        return true;
    }
    return link_send(link, ECHO, incoming->body, 1, NULL, 0) == 0;
}

static inline bool on_ask(struct link *link, const struct link_message *incoming) {
    const int *number = link_body(incoming, sizeof(*number));
    if (number == NULL) {
        return false;
    }
    if (*number == 0) {
        __atomic_store_n(&asked_link, link_get(link), __ATOMIC_SEQ_CST);
    }
    int error = link_send(link, ANSWER, number, sizeof(*number), NULL, 0);
    return error == 0 || error == EPIPE;
}

static inline bool on_answer(struct link *link, const struct link_message *incoming) {
    (void) link;
    const int *number = link_body(incoming, sizeof(*number));
    if (number == NULL) {
        return false;
    }
    if (*number != get(&answers)) {
        add(&disordered_answers);
    }
    add(&answers);
    return true;
}

static inline void on_down(struct link *link) {
    CHECK(engine_is_self());
    CHECK(!link_is_up(link));
    add(&downs);
}

/* Sets the handlers. The engine stays, for tests that count descriptors. Called first by main(). */
static inline void listen_to_links(void) {
    port_space = getpid() << 4;
    owner = geteuid();
    link_set_handler(SEQUENCE, on_sequence);
    link_set_handler(WITH_FDS, on_fds);
    link_set_handler(ECHO, on_echo);
    link_set_handler(ASK, on_ask);
    link_set_handler(ANSWER, on_answer);
    link_add_down_handler(on_down);
    static struct engine_timer keeps_the_engine;
    engine_timer_set(&keeps_the_engine, UINT64_MAX);
    fds_without_links = open_fds();
}

/* Ends a link at once, not seconds after its last user has gone. */
static inline void end_link(struct link *link) {
    link_abort(link);
    link_put(link);
}

/* Runs a test, and waits for the end of its links: other tests count those that go down, and descriptors. */
#define RUN_TO_THE_END(test)                                                                                          \
    do {                                                                                                              \
        RUN(test);                                                                                                    \
        CHECK_EVENTUALLY(open_fds() == fds_without_links);                                                            \
        engine_quiesce(); /* what closed the last one may be about to count it */                                     \
    } while (0)

/* The name of (PS, port). */
static inline const char *name_of_port(uint16_t port) {
    static char name[64];
    snprintf(name, sizeof(name), "netty-rdma/%u/cm/%x/%u", owner, PS, port);
    return name;
}

static inline struct link *link_to_child(uint16_t port, pid_t child) {
    (void) child;
    struct link *link = NULL;
    CHECK_EVENTUALLY(link_connect_port(PS, port, false, &link) == 0);
    return link;
}

static inline pid_t fork_peer(uint16_t port) {
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        struct link_port *handle;
        if (link_bind_port(PS, port, &handle) != 0) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    return child;
}

static inline int raw_connect(uint16_t port) {
    int fd = raw_connect_to(name_of_port(port));
    CHECK(fd >= 0);
    return fd;
}

#endif
