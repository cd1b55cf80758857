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
 * Two processes write, read and send from and to memory of devices in software (software_device.h), and one of them is
 * stopped, resumed and killed at a random instant, many times over. The other one's requests all complete, its memory
 * has nothing that is wrong, nothing of it is left with the client, and it goes on to use memory of the device.
 * In half of the rounds the devices copy directly (embedded/device/lending.h). RDMA_SEED and RDMA_ROUNDS are for other
 * and longer runs.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "check.h"
#include "embedded/device/lending.h"
#include "lists.h"
#include "provider.h"
#include "software_device.h"

#define ROUNDS 30u

/* Halves of the memory. The source never changes, and each word of it goes to the same place of the target. */
#define AREA (1u << 19)
#define PIECE (200u << 10)
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define RECEIVES 8u
#define OUTSTANDING 8u

static struct software_device device;
static unsigned random_state;

/* Flag, shared by all processes: a request of this round's victim has succeeded. */
static atomic_bool *busy;

static uint32_t below(uint32_t limit) {
    return (uint32_t) rand_r(&random_state) % limit;
}

static uint32_t word(uint32_t offset) {
    return (offset + 4) * 2654435761u;
}

struct mine {
    struct end end;
    struct software_memory *memory;
    struct ibv_mr *mr;
    struct address peer;
    unsigned posted, received; /* requests and receives that are not completed */
    bool is_victim;
};

static void mine_open(struct mine *mine) {
    struct options options = defaults;
    options.timeout = 17; /* 0.54 s: how soon a device finds out that its peer is gone */
    options.retry_cnt = 3;
    options.separate_cqs = true;
    *mine = (struct mine) { 0 };
    end_open(&mine->end, &options);
    mine->memory = software_allocate(&device, 2 * AREA);
    for (uint32_t i = 0; i < AREA; i += 4) {
        uint32_t value = word(i);
        memcpy(mine->memory->bytes + i, &value, 4);
    }
    mine->mr = ibv_reg_mr(mine->end.pd, mine->memory->address, 2 * AREA, ACCESS);
    CHECK(mine->mr != NULL);
    end_to_init(&mine->end);
}

/* Each word of the target is right, or still 0. */
static void mine_close(struct mine *mine) {
    for (uint32_t i = 0; i < AREA; i += 4) {
        uint32_t actual;
        memcpy(&actual, mine->memory->bytes + AREA + i, 4);
        CHECK(actual == 0 || actual == word(i));
    }
    CHECK_EQ(ibv_dereg_mr(mine->mr), 0);
    end_close(&mine->end);
    CHECK_EQ(atomic_load(&device.acquired), 0);
    software_free(mine->memory);
}

/* Receives have one place each, which the words of any message would fit in: messages are of the same words. */
static void give_receives(struct mine *mine) {
    for (; mine->received < RECEIVES; mine->received++) {
        struct ibv_sge sge = piece_of(mine->mr, AREA, 4096);
        CHECK_EQ(post_receive_list(&mine->end, 1, &sge, 1), 0);
    }
}

static void post_one(struct mine *mine) {
    uint32_t length = 4 + 4 * below(1 + below(PIECE / 4)), at = 4 * below((AREA - length) / 4);
    struct ibv_sge source = piece_of(mine->mr, at, length), target = piece_of(mine->mr, AREA + at, length);
    struct ibv_sge message = piece_of(mine->mr, 0, length < 4096 ? length : 4096);
    struct address there = mine->peer;
    switch (below(3)) {
        case 0:
            there.buffer += AREA + at;
            CHECK_EQ(post_list(&mine->end, 1, IBV_WR_RDMA_WRITE, &source, 1, &there), 0);
            break;
        case 1:
            there.buffer += at;
            CHECK_EQ(post_list(&mine->end, 1, IBV_WR_RDMA_READ, &target, 1, &there), 0);
            break;
        default:
            CHECK_EQ(post_list(&mine->end, 1, IBV_WR_SEND, &message, 1, NULL), 0);
    }
    mine->posted++;
}

/* Takes completions. Returns whether all of them have succeeded. */
static bool take(struct ibv_cq *cq, unsigned *left) {
    struct ibv_wc wc[8];
    int count = ibv_poll_cq(cq, 8, wc);
    CHECK(count >= 0);
    bool succeeded = true;
    for (int i = 0; i < count; i++) {
        succeeded &= wc[i].status == IBV_WC_SUCCESS;
        (*left)--;
    }
    return succeeded;
}

static void exchange_until_the_peer_is_gone(struct mine *mine) {
    bool works = true;
    uint64_t limit = now_ns() + (uint64_t) life_ms() * 1000000u;
    while (works || mine->posted > 0 || mine->received > 0) {
        CHECK(now_ns() < limit);
        if (works) {
            give_receives(mine);
        }
        for (; works && mine->posted < OUTSTANDING;) {
            post_one(mine);
        }
        unsigned posted = mine->posted;
        works &= take(mine->end.send_cq, &mine->posted);
        if (mine->is_victim && works && mine->posted < posted) {
            atomic_store(busy, true);
        }
        works &= take(mine->end.recv_cq, &mine->received);
    }
}

/* The peer may be gone at each step. */
static bool meet(int socket, struct mine *mine) {
    struct address own = { mine->end.qp->qp_num, mine->mr->rkey, (uintptr_t) mine->mr->addr };
    char ready = 1;
    if (send(socket, &own, sizeof(own), MSG_NOSIGNAL) != sizeof(own)
            || recv(socket, &mine->peer, sizeof(own), MSG_WAITALL) != sizeof(own)) {
        return false;
    }
    CHECK_EQ(end_to_rtr(&mine->end, mine->peer.qpn), 0);
    CHECK_EQ(end_to_rts(&mine->end), 0);
    return send(socket, &ready, 1, MSG_NOSIGNAL) == 1 && recv(socket, &ready, 1, MSG_WAITALL) == 1;
}

static void live(int socket, bool is_victim) {
    struct mine mine;
    limit_life();
    atomic_store(&lending_is_on, below(2) == 0); /* in both processes, or in none */
    software_start(&device);
    CHECK_EQ(rdma_peer_memory_register_client(&device.client), 0);
    mine_open(&mine);
    mine.is_victim = is_victim;
    if (meet(socket, &mine)) {
        exchange_until_the_peer_is_gone(&mine);
    }
    mine_close(&mine);

    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct software_memory *memory = software_allocate(&device, 4096);
    struct ibv_mr *mr = ibv_reg_mr(b.pd, memory->address, 4096, ACCESS);
    CHECK(mr != NULL);
    struct address to = address_of(mr);
    memset(a.buffer, 7, 4096);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 4096, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(memory->bytes, a.buffer, 4096), 0);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    software_free(memory);
    pair_close(&a, &b);
    CHECK_EQ(rdma_peer_memory_unregister_client(&device.client), 0);
}

/* Pauses shortly, so that the next step comes at a random instant; nothing is waited for. */
static void pause_shortly(void) {
    nanosleep(&(struct timespec) { .tv_nsec = 1000L * below(20000) }, NULL);
}

static pid_t start_process(const int sockets[2], int own) {
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(sockets[1 - own]);
        live(sockets[own], own == 0);
        _exit(0);
    }
    return child;
}

static void a_process_that_is_killed_leaves_memory_of_devices_right(void) {
    unsigned seed = env_number("RDMA_SEED", 1), count = env_number("RDMA_ROUNDS", rounds(ROUNDS, ROUNDS / 3));
    busy = mmap(NULL, sizeof(*busy), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(busy != MAP_FAILED);
    for (unsigned round = 0; round < count; round++) {
        int sockets[2], status;
        atomic_store(busy, false);
        random_state = seed * 1000 + round;
        CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
        pid_t victim = start_process(sockets, 0), survivor = start_process(sockets, 1);
        close(sockets[0]);
        close(sockets[1]);
        if (round % 2 == 1) { /* the others may die at any step before it, as that of a connection */
            CHECK_EVENTUALLY(atomic_load(busy));
        }
        pause_shortly();
        for (uint32_t stops = below(3); stops > 0; stops--) {
            CHECK_EQ(kill(victim, SIGSTOP), 0);
            pause_shortly();
            CHECK_EQ(kill(victim, SIGCONT), 0);
            pause_shortly();
        }
        pause_shortly();
        CHECK_EQ(kill(victim, SIGKILL), 0);
        CHECK_EQ(waitpid(victim, &status, 0), victim);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        expect_exit(survivor, 0);
    }
    CHECK_EQ(munmap(busy, sizeof(*busy)), 0);
}

int main(void) {
    RUN(a_process_that_is_killed_leaves_memory_of_devices_right);
    return 0;
}
