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
 * A process with busy connections is stopped, resumed and killed at random instants, many times over. The process at
 * the other end lives through all of it: every request that it has posted completes, what arrives is right, its other
 * connection works, and it keeps nothing. RDMA_SEED and RDMA_ROUNDS are for other and longer runs.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

#define MAX_ROUNDS 400u
#define CONNECTIONS 3
#define RECEIVES 16
#define READS 8
#define REQUESTS 32
#define PIECE (128u << 10)
#define RECEIVE_SIZE 4096u
#define MAX_PAUSE_US 20000

/*
 * The buffer of each end. The source never changes, and what a peer writes goes to the same place of the target as it
 * has in the source, so that each word of the target is right or still 0, whenever the peer dies.
 */
#define AREA (1u << 20)
#define SOURCE 0u
#define TARGET AREA
#define READ_RESULTS (2 * AREA)
#define RECEIVED (3 * AREA)
#define COUNTER (3 * AREA + RECEIVES * RECEIVE_SIZE)

enum kind { SEND, WRITE, READ, ADD, RECEIVE };
#define ALL_KINDS ((1u << (RECEIVE + 1)) - 1)

struct connection {
    struct end end;
    struct address peer;
    uint32_t requests, receives; /* posted and not completed */
    uint32_t read_offset[READS], read_length[READS]; /* length 0: free */
    unsigned succeeded; /* the kinds of which a request has succeeded, as bits */
    bool broken;
};

static unsigned random_state;

/* Flag, shared by all processes: a request of this round's victim has succeeded. */
static atomic_bool *busy;

static uint32_t below(uint32_t limit) {
    return (uint32_t) rand_r(&random_state) % limit;
}

static uint32_t word(uint32_t offset) {
    return (offset + 4) * 2654435761u;
}

static uint32_t offset_of(uint32_t word) {
    return word * 244002641u - 4; /* the inverse modulo 2^32 */
}

static void check_words(const struct end *end, uint32_t at, uint32_t length, uint32_t source) {
    for (uint32_t i = 0; i < length; i += 4) {
        uint32_t actual;
        memcpy(&actual, end->buffer + at + i, 4);
        CHECK_EQ(actual, word(source + i));
    }
}

/* Exchanges data. Returns false if the other process is gone. */
static bool exchange(int socket, const void *own, void *others, size_t length) {
    return send(socket, own, length, MSG_NOSIGNAL) == (ssize_t) length
            && recv(socket, others, length, MSG_WAITALL) == (ssize_t) length;
}

static void open_connection(struct connection *connection) {
    struct options options = defaults;
    options.timeout = 17; /* 0.54 s: how soon a device finds out that its peer is gone */
    options.retry_cnt = 3;
    options.separate_cqs = true;
    *connection = (struct connection) { 0 };
    end_open(&connection->end, &options);
    for (uint32_t i = 0; i < AREA; i += 4) {
        uint32_t value = word(i);
        memcpy(connection->end.buffer + SOURCE + i, &value, 4);
    }
    end_to_init(&connection->end);
    for (uint64_t i = 0; i < RECEIVES; i++) {
        CHECK_EQ(post_recv(&connection->end, i, RECEIVED + i * RECEIVE_SIZE, RECEIVE_SIZE), 0);
        connection->receives++;
    }
}

static bool connect_over(int socket, struct connection *connection) {
    struct address own = end_address(&connection->end);
    if (!exchange(socket, &own, &connection->peer, sizeof(own))) {
        return false;
    }
    CHECK_EQ(end_to_rtr(&connection->end, connection->peer.qpn), 0);
    CHECK_EQ(end_to_rts(&connection->end), 0);
    /* Messages before the peer is ready are lost on a network, and sent again when they have timed out. */
    char ready = 1;
    return exchange(socket, &ready, &ready, 1);
}

static void post(struct connection *connection) {
    struct end *end = &connection->end;
    uint32_t length = 4 + 4 * below(1 + below(PIECE / 4)); /* short ones are more frequent */
    uint32_t source = 4 * below((AREA - length) / 4);
    int slot = (int) below(READS);
    switch (below(4)) {
        case SEND:
            CHECK_EQ(post_send(end, SEND, IBV_WR_SEND, 0, SOURCE + source,
                               length < RECEIVE_SIZE ? length : RECEIVE_SIZE), 0);
            break;
        case WRITE:
            CHECK_EQ(post_rdma(end, WRITE, IBV_WR_RDMA_WRITE, 0, SOURCE + source, length, &connection->peer,
                               TARGET + source), 0);
            break;
        case READ:
            if (connection->read_length[slot] != 0) {
                return;
            }
            connection->read_offset[slot] = source;
            connection->read_length[slot] = length;
            CHECK_EQ(post_rdma(end, READ | (uint64_t) slot << 8, IBV_WR_RDMA_READ, 0,
                               READ_RESULTS + (size_t) slot * PIECE, length, &connection->peer, SOURCE + source), 0);
            break;
        default:
            CHECK_EQ(post_atomic(end, ADD, IBV_WR_ATOMIC_FETCH_AND_ADD, COUNTER + 8, &connection->peer, COUNTER, 1, 0),
                     0);
    }
    connection->requests++;
}

static void completed(struct connection *connection, const struct ibv_wc *wc) {
    connection->requests--;
    if (wc->status != IBV_WC_SUCCESS) {
        CHECK(wc->status == IBV_WC_RETRY_EXC_ERR || wc->status == IBV_WC_WR_FLUSH_ERR);
        connection->broken = true;
        return;
    }
    connection->succeeded |= 1u << (wc->wr_id & 0xff);
    if ((wc->wr_id & 0xff) == READ) {
        int slot = (int) (wc->wr_id >> 8);
        check_words(&connection->end, READ_RESULTS + (uint32_t) slot * PIECE, connection->read_length[slot],
                    connection->read_offset[slot]);
        connection->read_length[slot] = 0;
    }
}

static void received(struct connection *connection, const struct ibv_wc *wc) {
    if (wc->status == IBV_WC_SUCCESS) {
        uint32_t at = RECEIVED + (uint32_t) wc->wr_id * RECEIVE_SIZE, first;
        connection->succeeded |= 1u << RECEIVE;
        memcpy(&first, connection->end.buffer + at, 4);
        CHECK(offset_of(first) < AREA);
        check_words(&connection->end, at, wc->byte_len, offset_of(first));
        if (!connection->broken) {
            CHECK_EQ(post_recv(&connection->end, wc->wr_id, at, RECEIVE_SIZE), 0);
            return;
        }
    } else {
        CHECK_EQ(wc->status, IBV_WC_WR_FLUSH_ERR);
        connection->broken = true;
    }
    connection->receives--;
}

/* Does a step. Returns whether anything is left to do. */
static bool turn(struct connection *connection) {
    while (!connection->broken && connection->requests < REQUESTS && below(8) != 0) {
        post(connection);
    }
    struct ibv_wc wc[16];
    int n = ibv_poll_cq(connection->end.send_cq, 16, wc);
    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        completed(connection, &wc[i]);
    }
    n = ibv_poll_cq(connection->end.recv_cq, 16, wc);
    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        received(connection, &wc[i]);
    }
    return connection->requests != 0 || connection->receives != 0;
}

static void check_target(const struct end *end) {
    for (uint32_t i = 0; i < AREA; i += 4) {
        uint32_t actual;
        memcpy(&actual, end->buffer + TARGET + i, 4);
        CHECK(actual == 0 || actual == word(i));
    }
}

/* ---- the three processes, forked by one that does not use the provider */

static void be_killed(int socket) {
    limit_life();
    struct connection connections[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++) {
        open_connection(&connections[i]);
        CHECK(connect_over(socket, &connections[i]));
    }
    for (;;) {
        for (int i = 0; i < CONNECTIONS; i++) {
            CHECK(turn(&connections[i]));
            CHECK(!connections[i].broken);
            if (connections[i].succeeded != 0) {
                atomic_store(busy, true);
            }
        }
    }
}

static void answer(int socket) {
    struct connection connection;
    open_connection(&connection);
    CHECK(connect_over(socket, &connection));
    char end;
    while (recv(socket, &end, 1, MSG_DONTWAIT) < 0) {
        turn(&connection);
    }
    CHECK(!connection.broken);
    send_all(socket, &end, 1);
    end_close(&connection.end);
}

/* Returns the number of mappings that the embedded provider shares with its peers. */
static int shared_mappings(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    int shared = 0;
    char line[512];
    while (fgets(line, sizeof(line), maps) != NULL) {
        shared += strstr(line, "memfd:") != NULL;
    }
    fclose(maps);
    return shared;
}

static void live_through(int socket, struct connection *other) {
    struct connection connections[CONNECTIONS];
    int opened = 0, connected = 0;
    do {
        open_connection(&connections[opened++]);
    } while (connect_over(socket, &connections[opened - 1]) && ++connected < CONNECTIONS);
    close(socket);
    bool left;
    do {
        left = false;
        for (int i = 0; i < connected; i++) {
            left |= turn(&connections[i]);
        }
        turn(other);
    } while (left);
    for (int i = 0; i < opened; i++) {
        CHECK(i >= connected || connections[i].broken);
        check_target(&connections[i].end);
        end_close(&connections[i].end);
    }
    CHECK(!other->broken);
}

/* Tells `report` the end of each round. */
static void survive(const int *sockets, unsigned rounds, int answering, int report) {
    struct connection other;
    open_connection(&other);
    CHECK(connect_over(answering, &other));
    limit_life();
    /* The objects of this connection have to exist before the first count, whenever the first victim is killed. */
    while (other.succeeded != ALL_KINDS) {
        turn(&other);
    }
    int fds = 0, maps = 0;
    for (unsigned i = 0; i < rounds; i++) {
        limit_life();
        live_through(sockets[i], &other);
        if (i == 0) {
            /* Counted now, with all that is made once; descriptors of later rounds are closed as they end. */
            fds = open_fds() + 1;
            maps = shared_mappings();
        }
        char done = 1;
        send_all(report, &done, 1);
    }
    alarm(0);
    /* Links are kept for some seconds. */
    CHECK_EVENTUALLY(open_fds() <= fds - (int) rounds && shared_mappings() <= maps);
    char end = 1;
    send_all(answering, &end, 1);
    receive_all(answering, &end, 1);
    end_close(&other.end);
}

/* Pauses shortly, so that the next step comes at a random instant; nothing is waited for. */
static void pause_shortly(void) {
    nanosleep(&(struct timespec) { .tv_nsec = 1000L * below(MAX_PAUSE_US) }, NULL);
}

static pid_t fork_process(void) {
    fflush(stdout);
    pid_t child = fork_child();
    return child;
}

static void torment(pid_t victim) {
    pause_shortly();
    for (uint32_t stops = below(4); stops > 0; stops--) {
        CHECK_EQ(kill(victim, SIGSTOP), 0);
        pause_shortly();
        CHECK_EQ(kill(victim, SIGCONT), 0);
        pause_shortly();
    }
    if (below(4) == 0) {
        CHECK_EQ(kill(victim, SIGSTOP), 0);
    }
    CHECK_EQ(kill(victim, SIGKILL), 0);
    int status;
    CHECK_EQ(waitpid(victim, &status, 0), victim);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* A peer sees the end of a socket when no process has it any more. */
static void close_all(const int *sockets, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        close(sockets[i]);
    }
}

static void peers_that_are_killed_leave_nothing(void) {
    unsigned rounds = env_number("RDMA_ROUNDS", is_embedded() ? 40 : 5), seed = env_number("RDMA_SEED", 1);
    CHECK(rounds >= 1 && rounds <= MAX_ROUNDS);
    random_state = seed;
    busy = mmap(NULL, sizeof(*busy), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(busy != MAP_FAILED);
    /* All sockets exist before the survivor does, which has its ends of them. */
    int survivors[MAX_ROUNDS], victims[MAX_ROUNDS], pair[2], report[2];
    for (unsigned i = 0; i < rounds; i++) {
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        survivors[i] = pair[0];
        victims[i] = pair[1];
    }
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, report), 0);
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    pid_t bystander = fork_process();
    if (bystander == 0) {
        close_all(survivors, rounds);
        close_all(victims, rounds);
        close(pair[0]);
        close(report[0]);
        close(report[1]);
        answer(pair[1]);
        _exit(0);
    }
    pid_t survivor = fork_process();
    if (survivor == 0) {
        close_all(victims, rounds);
        close(report[0]);
        close(pair[1]);
        survive(survivors, rounds, pair[0], report[1]);
        _exit(0);
    }
    close(report[1]);
    close(pair[0]);
    close(pair[1]);
    close_all(survivors, rounds);
    for (unsigned i = 0; i < rounds; i++) {
        atomic_store(busy, false);
        pid_t victim = fork_process();
        if (victim == 0) {
            random_state = seed + i;
            be_killed(victims[i]);
        }
        close(victims[i]);
        if (i % 2 == 1) { /* the others may die at any step before it, as that of a connection */
            CHECK_EVENTUALLY(atomic_load(busy));
        }
        torment(victim);
        char done;
        receive_all(report[0], &done, 1); /* fails if the survivor has died */
    }
    expect_exit(survivor, 0);
    expect_exit(bystander, 0);
    close(report[0]);
    CHECK_EQ(munmap(busy, sizeof(*busy)), 0);
}

int main(void) {
    RUN(peers_that_are_killed_leave_nothing);
    return 0;
}
