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
/* Attacks by sockets and files alone, as any program can make them. */
#include "hostile.h"

#include <fcntl.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "check.h"
#include "embedded/base/sealed.h"
#include "embedded/cm/cm_wire.h"
#include "embedded/lingering.h"
#include "embedded/link/notify_area.h"
#include "embedded/link/wire.h"
#include "embedded/raw_link.h"

static const char *some_name(int i) {
    CHECK(hostile.count > 0);
    return hostile.names[i % hostile.count];
}

/* ---- descriptors that linger ---- */

#define LINGERING_MESSAGES 40 /* more than there are threads to close them: closer.c */

static atomic_int lingering_sent, lingering_begun;

/*
 * Sends an eventfd that is watched, in place of one that lingers. A process that may use ptrace(2) could have the other
 * one wait by that, too.
 */
static int send_watched(int link, const void *bytes, size_t length, int otherwise) {
    struct watched *watched = malloc(sizeof(*watched)); /* as long as this process lives */
    CHECK(watched != NULL);
    if (hostile.neighbour != FAR || !open_watched(watched)) {
        free(watched);
        return (int) send_with_fds(link, bytes, length, otherwise, 1);
    }
    int sent = (int) send_with_fds(link, bytes, length, watched->fd, 1);
    close(watched->fd);
    return sent;
}

/* Ways to have somebody close such a descriptor. Returns what sendmsg(2) does. */
static int send_one_lingering(int link, int way, int fd) {
    static const uint32_t lie[] = { LINK_MESSAGE_LIMIT, 0, 0 }, ask[] = { CM_ASK, 0, 0 };
    static const uint32_t area[] = { WIRE_NOTIFY_AREA, 0 };
    void *memory;
    int sent = -1, notify;
    switch (hostile.neighbour == STRANGER ? 0 : way % 5) {
        case 0: /* behind a lie, which ends the link, or before anybody has greeted */
            send(link, lie, sizeof(lie), MSG_NOSIGNAL);
            return (int) send_with_fds(link, ask, sizeof(ask), fd, 1);
        case 1: /* with a message that may have none */
            return (int) send_with_fds(link, ask, sizeof(ask), fd, 1);
        /* More than there is room for; the messages of a process that may use ptrace(2) are not looked at first. */
        case 2:
            return (int) send_with_fds(link, ask, sizeof(ask), fd, LINK_MAX_FDS + (hostile.neighbour == FAR));
        case 3:
            return send_watched(link, ask, sizeof(ask), fd);
        default: /* in a socket that is a doorbell */
            notify = sealed_create("hostile", sizeof(struct notify_area), &memory);
            if (notify >= 0) {
                int reader, filled = open_filled(&reader), fds[] = { notify, filled };
                struct iovec iov = { .iov_base = (void *) area, .iov_len = sizeof(area) };
                _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(fds))] = { 0 };
                struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
                                          .msg_controllen = sizeof(control) };
                struct cmsghdr *c = CMSG_FIRSTHDR(&message);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(sizeof(fds));
                memcpy(CMSG_DATA(c), fds, sizeof(fds));
                sent = (int) sendmsg(link, &message, MSG_NOSIGNAL);
                close(filled);
                close(notify);
            }
            return sent;
    }
}

/*
 * Sends on a thread of its own: if the other side is faster, the last close(2) is here. The link stays, as unaccepted
 * descriptors are closed with it.
 */
static void *send_lingering_once(void *argument) {
    const int i = (int) (intptr_t) argument;
    const struct lingering lingering = open_lingering();
    int link = raw_connect_to(some_name(i));
    if (link >= 0 && (hostile.neighbour == STRANGER || raw_greet(link)) && send_one_lingering(link, i / hostile.count,
                                                                                               lingering.fd) > 0) {
        atomic_fetch_add(&lingering_sent, 1);
    }
    atomic_fetch_add(&lingering_begun, 1);
    close(lingering.fd);
    return NULL;
}

void linger(void) {
    for (int i = 0; i < LINGERING_MESSAGES; i++) {
        pthread_t thread;
        CHECK_EQ(pthread_create(&thread, NULL, send_lingering_once, (void *) (intptr_t) i), 0);
    }
    /* The rest goes on: with one that has arrived, the other side may not accept any more. */
    CHECK_EVENTUALLY(atomic_load(&lingering_sent) > 0 || atomic_load(&lingering_begun) == LINGERING_MESSAGES);
    hold();
}

/* ---- links ---- */

#define LINKS 600 /* more than a process may have: link.c */
#define PROCESSES 4

static void flood(bool counts) {
    static int links[LINKS];
    memset(links, -1, sizeof(links));
    for (;;) {
        for (int i = 0; i < LINKS; i++) {
            char packet[64];
            ssize_t n = links[i] < 0 ? 0 : recv(links[i], packet, sizeof(packet), MSG_DONTWAIT);
            if (n == 0 || (n < 0 && errno != EAGAIN)) {
                if (links[i] >= 0) {
                    close(links[i]);
                }
                links[i] = raw_connect_to(some_name(i));
            } else if (n > 0 && i % 2 == 0) {
                send(links[i], raw_hello, sizeof(raw_hello), MSG_NOSIGNAL | MSG_DONTWAIT);
            }
        }
        if (counts) {
            end_round();
        }
        usleep(5000);
    }
}

/* Processes that could stop the other one are limited each for itself; all others together. */
void connect_forever(void) {
    for (int i = 1; i < PROCESSES && hostile.neighbour != NEAR; i++) {
        if (fork_worker() == 0) {
            flood(false);
        }
    }
    flood(true);
}

#define ASKING_LINKS 8
#define ASKS 20000 /* of a link: far more than are read while the answers wait */

static const struct {
    uint32_t header[2];
    struct cm_wire_ask ask;
} question = { { CM_ASK }, { .from = 1, .address = { .family = AF_INET } } };

void ask_and_not_read(void) {
    int links[ASKING_LINKS], asked = 0;
    for (int i = 0; i < ASKING_LINKS; i++) {
        links[i] = raw_connect_to(some_name(i));
        CHECK(links[i] >= 0 && raw_greet(links[i]));
    }
    for (; asked < ASKS; asked++) {
        for (int i = 0; i < ASKING_LINKS; i++) {
            send(links[i], &question, sizeof(question), MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        if (asked % 1000 == 0) {
            end_round();
        }
    }
    for (int i = 0; i < ASKING_LINKS; i++) {
        CHECK(send(links[i], &question, sizeof(question), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EAGAIN);
    }
    hold();
}

bool is_answered_in_another_version(int i) {
    static const uint32_t hello[] = { LINK_HELLO, 0, 0x4e52444d, LINK_VERSION + 1 };
    char greeting[64], answer[64];
    int link = raw_connect_to(some_name(i));
    bool answered = link >= 0 && recv(link, greeting, sizeof(greeting), 0) > 0
            && send(link, hello, sizeof(hello), MSG_NOSIGNAL) > 0
            && send(link, &question, sizeof(question), MSG_NOSIGNAL) > 0 && recv(link, answer, sizeof(answer), 0) > 0;
    close(link);
    return answered;
}

/* ---- names ---- */

void take_port(void) {
    char name[64];
    snprintf(name, sizeof(name), "netty-rdma/%u/cm/%x/%u", hostile.victim, RDMA_PS_TCP, hostile.port);
    CHECK(raw_squat(name) >= 0);
    hold();
}

void take_groups(void) {
    char name[64];
    snprintf(name, sizeof(name), "netty-rdma/%u/cm/%x/%u", hostile.victim, LINK_COMMON, LINK_VERSION);
    int fd = raw_squat(name);
    CHECK(fd >= 0);
    CHECK_EQ(listen(fd, 64), 0);
    hold();
}

#define NUMBERS (LINK_UNNAMED_QPN / 256 - 1) /* 256 queue pairs a name: link.c */

static int take_some(unsigned from, unsigned step) {
    struct rlimit limit;
    int count = 0;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (unsigned i = from; i <= NUMBERS; i += step) {
        char name[64];
        snprintf(name, sizeof(name), "netty-rdma/%u/q/%u", hostile.victim, i);
        if (raw_squat(name) >= 0) {
            count++;
        } else if (errno != EADDRINUSE) {
            break;
        }
    }
    return count;
}

void take_numbers(void) {
    for (unsigned i = 1; i <= PROCESSES; i++) {
        int done[2], count;
        CHECK_EQ(pipe(done), 0);
        if (fork_worker() == 0) {
            count = take_some(i, PROCESSES);
            CHECK_EQ(write(done[1], &count, sizeof(count)), sizeof(count));
            pause();
        }
        CHECK_EQ(read(done[0], &count, sizeof(count)), sizeof(count));
        CHECK(count > 0);
    }
    hold();
}

/* ---- the lock of a folder ---- */

#define LOCK ".netty-rdma-lock" /* folder.c */

static void path_of(char path[128], const char *name) {
    CHECK(hostile.count == 1);
    CHECK(snprintf(path, 128, "%s/%s", hostile.names[0], name) < 128);
}

/* Leaves a name as a killed process does: a starting process removes it, and locks it before. */
static void leave_dead_name(void) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char path[128];
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    path_of(path, "netty-rdma-qps-1");
    CHECK(fd >= 0 && strlen(path) < sizeof(address.sun_path));
    strcpy(address.sun_path, path);
    CHECK_EQ(bind(fd, (const struct sockaddr *) &address, sizeof(address)), 0);
    close(fd);
}

void make_fifo(void) {
    char lock[128];
    path_of(lock, LOCK);
    umask(0);
    CHECK_EQ(mkfifo(lock, 0444), 0);
    leave_dead_name();
    hold();
}

void make_link(void) {
    char lock[128], own[128];
    path_of(lock, LOCK);
    path_of(own, "own");
    int fd = open(own, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK_EQ(link(own, lock), 0);
    leave_dead_name();
    hold();
}
