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
/* Attacks by a process that has the provider, and is connected or about to be. */
#include "hostile.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "check.h"
#include "cm_support.h"
#include "embedded/base/fd_kind.h"
#include "embedded/link/link.h"

/* ---- descriptors of others ---- */

#define MAX_LENT 256

static int lent[MAX_LENT];
static unsigned count_lent;
static bool keeps_lent;

static void keep(const struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR((struct msghdr *) message, c)) {
        const size_t n = c->cmsg_type == SCM_RIGHTS ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
        for (size_t i = 0; i < n && keeps_lent; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
            unsigned place = __atomic_load_n(&count_lent, __ATOMIC_RELAXED);
            if (place < MAX_LENT) {
                lent[place] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
                __atomic_store_n(&count_lent, place + 1, __ATOMIC_RELEASE);
            }
        }
    }
}

/*
 * Replaces the C library's function, which the provider calls on its thread: descriptors that it is lent stay here as
 * well.
 */
int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    int n = (int) syscall(SYS_recvmmsg, fd, messages, count, flags, timeout);
    for (int i = 0; i < n; i++) {
        keep(&messages[i].msg_hdr);
    }
    return n;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    ssize_t n = syscall(SYS_recvmsg, fd, message, flags);
    /* Descriptors of a message that is only looked at as well: it may be taken without them (link_io.c). */
    if (n >= 0) {
        keep(message);
    }
    return n;
}

/* ---- connections as a client of streams makes them ---- */

#define MEMORY (64u << 10)
#define SGL_ENTRIES 2u

/* First message of each end: docs/rsocket of librdmacm, "struct rs_conn_data". Network order. */
struct greeting {
    uint8_t version, flags;
    uint16_t credits;
    uint32_t reserved;
    uint64_t sgl;
    uint32_t sgl_key, sgl_entries;
    uint64_t buffer;
    uint32_t buffer_key, buffer_length;
};

static uint64_t swapped(uint64_t value) {
    return __builtin_bswap64(value); /* both architectures are little-endian */
}

static struct greeting greeting_of(const void *memory, uint32_t key) {
    return (struct greeting) {
        .version = 1, .credits = htons(8), .sgl = swapped((uintptr_t) memory), .sgl_key = htonl(key),
        .sgl_entries = htonl(SGL_ENTRIES), .buffer = swapped((uintptr_t) memory + 4096), .buffer_key = htonl(key),
        .buffer_length = htonl(MEMORY - 4096),
    };
}

static struct rdma_conn_param parameters(const struct greeting *greeting) {
    return (struct rdma_conn_param) {
        .private_data = greeting, .private_data_len = sizeof(*greeting), .responder_resources = 1,
        .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7,
    };
}

struct connection {
    struct rdma_cm_id *id; /* NULL: none */
    struct ibv_mr *mr;
    struct greeting peer;
};

static void close_connection(struct connection *connection) {
    if (connection->mr != NULL) {
        ibv_dereg_mr(connection->mr);
    }
    if (connection->id != NULL) {
        if (connection->id->qp != NULL) {
            rdma_destroy_qp(connection->id);
        }
        rdma_destroy_id(connection->id);
    }
    *connection = (struct connection) { 0 };
}

/* Waits until the server has answered. Returns whether it has accepted. */
static bool open_connection(struct connection *connection, char *memory) {
    struct ibv_qp_init_attr attr = {
        .cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1 }, .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
    };
    struct address address = address_of("127.0.0.1", hostile.port);
    *connection = (struct connection) { 0 };
    if (rdma_create_id(NULL, &connection->id, NULL, RDMA_PS_TCP) == 0
            && rdma_resolve_addr(connection->id, NULL, sockaddr_of(&address), patience_ms()) == 0
            && rdma_resolve_route(connection->id, patience_ms()) == 0
            && rdma_create_qp(connection->id, NULL, &attr) == 0) {
        connection->mr = ibv_reg_mr(connection->id->pd, memory, MEMORY,
                                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
        CHECK(connection->mr != NULL);
        const struct greeting greeting = greeting_of(memory, connection->mr->rkey);
        struct rdma_conn_param param = parameters(&greeting);
        for (int i = 0; i < 32; i++) {
            rdma_post_recv(connection->id, NULL, memory, 64, connection->mr);
        }
        if (rdma_connect(connection->id, &param) == 0) {
            memcpy(&connection->peer, connection->id->event->param.conn.private_data, sizeof(connection->peer));
            return true;
        }
    }
    close_connection(connection);
    return false;
}

/* Bytes that mean nothing to where the peer expects a stream, and to where it does not. */
static void babble(struct connection *connection, char *memory) {
    const uint64_t buffer = swapped(connection->peer.buffer) + ((unsigned) rand() % 2 ? 0 : (unsigned) rand());
    struct ibv_sge sge = { .addr = (uintptr_t) memory, .length = 1u + (unsigned) rand() % 1024,
                           .lkey = connection->mr->lkey };
    struct ibv_send_wr request = {
        .sg_list = &sge, .num_sge = 1, .opcode = rand() % 2 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
        .imm_data = htonl(rand() % 2 ? sge.length : (uint32_t) rand()),
        .wr.rdma = { .remote_addr = buffer, .rkey = ntohl(connection->peer.buffer_key) },
    }, *bad;
    struct ibv_wc wc[8];
    ibv_post_send(connection->id->qp, &request, &bad);
    ibv_poll_cq(connection->id->send_cq, 8, wc);
    ibv_poll_cq(connection->id->recv_cq, 8, wc);
}

static char *new_memory(void) {
    char *memory = calloc(1, MEMORY);
    CHECK(memory != NULL);
    return memory;
}

/* ---- half-open connections ---- */

#define HALF_OPEN 400

static void ask_to_connect(struct rdma_event_channel *channel) {
    struct address address = address_of("127.0.0.1", hostile.port);
    struct rdma_cm_id *id = new_id(channel);
    CHECK_EQ(rdma_resolve_addr(id, NULL, sockaddr_of(&address), patience_ms()), 0);
}

/* Returns whether there is one connection less. */
static bool go_on(struct rdma_cm_event *event) {
    struct rdma_cm_id *id = event->id;
    const enum rdma_cm_event_type type = event->event;
    static const struct greeting nowhere = {
        .version = 1, .credits = 0x0800, .sgl = 0x1000, .sgl_entries = 0x2000000, .buffer = 0x1000,
        .buffer_length = 0x100000,
    };
    struct rdma_conn_param param = parameters(&nowhere);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    param.qp_num = fresh_qpn();
    switch (type) {
        case RDMA_CM_EVENT_ADDR_RESOLVED:
            CHECK_EQ(rdma_resolve_route(id, patience_ms()), 0);
            return false;
        case RDMA_CM_EVENT_ROUTE_RESOLVED:
            CHECK_EQ(rdma_connect(id, &param), 0);
            return false;
        case RDMA_CM_EVENT_CONNECT_RESPONSE: /* not answered */
        case RDMA_CM_EVENT_TIMEWAIT_EXIT:
            return false;
        default:
            rdma_destroy_id(id);
            return true;
    }
}

void stay_half_open(void) {
    struct rdma_event_channel *channel = new_channel();
    for (int open = 0, events = 0;;) {
        struct rdma_cm_event *event;
        for (; open < HALF_OPEN; open++) {
            ask_to_connect(channel);
        }
        while (rdma_get_cm_event(channel, &event) == 0) {
            open -= go_on(event);
            events++;
        }
        if (events > 4 * HALF_OPEN) {
            end_round();
        }
        usleep(1000); /* a server that is asked again at once does nothing else */
    }
}

/* ---- doorbells ---- */

static void change_and_ring(int fd) {
    static const int flags[] = { 0, O_NONBLOCK, O_ASYNC, O_APPEND | O_ASYNC | O_NONBLOCK };
    fcntl(fd, F_SETOWN, getpid());
    fcntl(fd, F_SETFL, flags[rand() % 4]);
    fcntl(fd, F_SETFL, 0);
    if (fd_kind(fd) == FD_EVENTFD) {
        eventfd_write(fd, 1);
    } else {
        send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

void change_flags(void) {
    struct connection connection;
    char *memory = new_memory();
    signal(SIGIO, SIG_IGN);
    keeps_lent = true;
    CHECK(open_connection(&connection, memory));
    /* Memory and doorbell of the process, and memory of its queue pair. */
    CHECK_EVENTUALLY(__atomic_load_n(&count_lent, __ATOMIC_ACQUIRE) >= 3);
    for (;;) {
        const unsigned count = __atomic_load_n(&count_lent, __ATOMIC_ACQUIRE);
        for (unsigned i = 0; i < count; i++) {
            change_and_ring(lent[i]);
        }
        end_round();
        usleep(5000);
    }
}

/* ---- shared memory ---- */

#define WORDS 4000
#define CONNECTIONS 8

/*
 * Writes into each mapping that others see: as often into the first page, where the control words are, as into the
 * rest.
 */
static void scribble_once(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], rights[8];
    unsigned long from, to;
    CHECK(maps != NULL);
    while (fgets(line, sizeof(line), maps) != NULL) {
        if (strstr(line, "memfd:") != NULL && sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3
                && strcmp(rights, "rw-s") == 0) {
            for (int i = 0; i < WORDS; i++) {
                const unsigned long limit = i % 2 ? 4096 : to - from;
                const unsigned long place = (((unsigned long) rand() << 20) ^ (unsigned long) rand()) % limit & ~3ul;
                *(volatile uint32_t *) (from + place) = rand() % 2 ? (uint32_t) rand() : (uint32_t) rand() % 64;
            }
        }
    }
    fclose(maps);
}

/* Runs in a child, which may die of what it writes itself. */
static void scribble_while_connected(void) {
    struct connection connections[CONNECTIONS];
    char *memory = new_memory();
    alarm(10);
    srand((unsigned) getpid());
    for (int i = 0; i < CONNECTIONS; i++) {
        open_connection(&connections[i], memory);
    }
    for (int i = 0; i < 4 * CONNECTIONS; i++) {
        struct connection *connection = &connections[rand() % CONNECTIONS];
        for (int j = 0; j < 8 && connection->id != NULL; j++) {
            babble(connection, memory);
        }
        scribble_once();
        usleep(1000);
    }
    _exit(0);
}

void scribble(void) {
    for (;;) {
        pid_t worker = fork_worker();
        if (worker == 0) {
            scribble_while_connected();
        }
        CHECK_EQ(waitpid(worker, NULL, 0), worker);
        end_round();
    }
}

/* ---- versions ---- */

void speak_another(void) {
    char *memory = new_memory();
    link_version = LINK_VERSION + 1;
    for (int i = 0;; i++) {
        struct connection connection;
        CHECK(!open_connection(&connection, memory));
        CHECK(!is_answered_in_another_version(i));
        end_round();
        usleep(1000);
    }
}

/* ---- processes that are stopped and killed ---- */

#define STOPPED 4
#define MAX_PAUSE_US 20000

static void connect_again_and_again(void) {
    struct connection connections[CONNECTIONS] = { 0 };
    char *memory = new_memory();
    for (int i = 0;; i = (i + 1) % CONNECTIONS) {
        close_connection(&connections[i]);
        if (open_connection(&connections[i], memory)) {
            babble(&connections[i], memory);
        }
    }
}

static pid_t begin_connecting(void) {
    pid_t worker = fork_worker();
    if (worker == 0) {
        connect_again_and_again();
    }
    pause_for_us(2 * MAX_PAUSE_US);
    return worker;
}

static void end_worker(pid_t worker) {
    CHECK_EQ(kill(worker, SIGKILL), 0);
    CHECK_EQ(waitpid(worker, NULL, 0), worker);
}

void stop_connecting(void) {
    pid_t stopped[STOPPED] = { 0 };
    for (int i = 0;; i = (i + 1) % STOPPED) {
        if (stopped[i] != 0) {
            end_worker(stopped[i]);
        }
        stopped[i] = begin_connecting();
        CHECK_EQ(kill(stopped[i], SIGSTOP), 0);
        if (stopped[STOPPED - 1] != 0) {
            end_round();
        }
        pause_for_us(MAX_PAUSE_US);
    }
}

void die_connecting(void) {
    for (;;) {
        end_worker(begin_connecting());
        end_round();
    }
}
