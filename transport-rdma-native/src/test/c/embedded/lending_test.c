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
 * The direct way between devices of two processes (embedded/device/lending.h), with devices in software: by links of
 * this process to itself, and by other processes.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "freed_in_the_middle.h"
#include "software_device.h"
#include "check.h"
#include "embedded/device/lending.h"
#include "lists.h"
#include "namespaces.h"
#include "provider.h"
#include "ud_support.h"

#define SIZE (2u << 20)
#define LONG (1u << 20)
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* Extensions, which no public header has: embedded.h. */
int embedded_ext_set_inline_recv(struct ibv_qp *qp, uint32_t *bytes);

static struct software_device device;
static void (*on_copy)(struct software_device *device); /* function of the next device */

static const uint32_t lengths[] = { 1, 64, 5000, LONG + 7 };
#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

struct there {
    struct software_memory *memory;
    struct ibv_mr *mr;
};

static struct there there_open(const struct end *end) {
    struct there there = { .memory = software_allocate(&device, SIZE) };
    there.mr = ibv_reg_mr(end->pd, there.memory->address, SIZE, ACCESS);
    CHECK(there.mr != NULL);
    return there;
}

static void there_close(const struct there *there) {
    CHECK_EQ(ibv_dereg_mr(there->mr), 0);
    software_free(there->memory);
}

/* Two ends with memory of the device. */
struct both {
    struct end a, b;
    struct there at_a, at_b;
};

static const struct options *pair_options(void) {
    static struct options options;
    options = defaults;
    options.separate_cqs = true;
    return &options;
}

static void start(void) {
    software_start(&device);
    device.on_copy = on_copy;
    CHECK_EQ(rdma_peer_memory_register_client(&device.client), 0);
    atomic_store(&lending_is_on, true);
    atomic_store(&lending_to_itself, true);
    atomic_store(&lending_recall_ns, (uint64_t) patience_ms() * 1000000); /* a slow borrower is waited for, too */
}

static void both_open_with(struct both *both, const struct options *options) {
    start();
    pair_open(&both->a, &both->b, options);
    both->at_a = there_open(&both->a);
    both->at_b = there_open(&both->b);
}

static void both_open(struct both *both) {
    both_open_with(both, pair_options());
}

/* Nothing is left with the device, as each borrower was waited for. */
static void stop(void) {
    CHECK_EVENTUALLY(atomic_load(&device.imported) == 0);
    CHECK_EQ(rdma_peer_memory_unregister_client(&device.client), 0);
    CHECK_EQ(atomic_load(&device.acquired), 0);
    CHECK_EQ(atomic_load(&device.begun), 0);
    atomic_store(&lending_is_on, false);
    atomic_store(&lending_to_itself, false);
}

static void both_close(struct both *both) {
    there_close(&both->at_a);
    there_close(&both->at_b);
    pair_close(&both->a, &both->b);
    stop();
}

enum way { WRITE, READ, SEND, WAYS };

static const enum ibv_wr_opcode opcodes[WAYS] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND };

/* Does an operation with bytes at the offset 5 of the source and at 9 of the target, and checks them. */
static void transfer(struct both *both, enum way way, uint32_t length) {
    static uint32_t seed;
    const struct there *source = way == READ ? &both->at_b : &both->at_a;
    const struct there *target = way == READ ? &both->at_a : &both->at_b;
    struct ibv_sge from = piece_of(source->mr, 5, length), to = piece_of(target->mr, 9, length);
    struct address there = address_of(both->at_b.mr);
    fill(source->memory->bytes + 5, length, ++seed);
    target->memory->bytes[8] = target->memory->bytes[9 + length] = 77;
    if (way == SEND) {
        CHECK_EQ(post_receive_list(&both->b, 3, &to, 1), 0);
        CHECK_EQ(post_list(&both->a, 1, IBV_WR_SEND, &from, 1, NULL), 0);
        expect_wc(both->b.recv_cq, 3, IBV_WC_SUCCESS);
    } else {
        there.buffer += way == READ ? 5 : 9;
        CHECK_EQ(post_list(&both->a, 1, opcodes[way], way == READ ? &to : &from, 1, &there), 0);
    }
    expect_wc(both->a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(source->memory->bytes + 5, target->memory->bytes + 9, length), 0);
    CHECK_EQ(target->memory->bytes[8], 77);
    CHECK_EQ(target->memory->bytes[9 + length], 77);
}

/* Does an operation. Returns whether it took the direct way. */
static bool goes_directly(struct both *both, enum way way, uint32_t length) {
    int before = atomic_load(&device.between);
    transfer(both, way, length);
    return atomic_load(&device.between) > before;
}

/* ---- the way ---- */

static void a_message_between_devices_is_one_copy(void) {
    for (enum way way = 0; way < WAYS; way++) {
        struct both both;
        both_open(&both);
        CHECK_EVENTUALLY(goes_directly(&both, way, LONG));
        for (size_t i = 0; i < LENGTHS; i++) {
            int copies = atomic_load(&device.copies), between = atomic_load(&device.between);
            transfer(&both, way, lengths[i]);
            CHECK_EQ(atomic_load(&device.copies), copies);
            CHECK_EQ(atomic_load(&device.between), between + 1);
        }
        both_close(&both);
    }
}

static void a_short_message_takes_the_direct_way_as_well(void) {
    struct both both;
    both_open(&both);
    for (enum way way = 0; way < WAYS; way++) {
        CHECK_EVENTUALLY(goes_directly(&both, way, 64));
    }
    both_close(&both);
}

static void a_process_that_does_not_ask_for_it_gets_nothing(void) {
    struct both both;
    both_open(&both);
    atomic_store(&lending_is_on, false);
    for (int i = 0; i < 50; i++) {
        transfer(&both, (enum way) (i % WAYS), LONG);
    }
    CHECK_EQ(atomic_load(&device.between), 0);
    CHECK_EQ(atomic_load(&device.exports), 0);
    CHECK_EQ(atomic_load(&device.imported), 0);
    both_close(&both);
}

/* Host memory before, between and behind, at both ends. */
static void a_list_mixes_memory_of_hosts_and_devices(void) {
    struct both both;
    both_open(&both);
    CHECK_EVENTUALLY(goes_directly(&both, SEND, LONG));
    for (size_t i = 0; i < LENGTHS; i++) {
        uint32_t length = lengths[i];
        const struct ibv_mr *here = both.at_a.mr, *there = both.at_b.mr, *a = both.a.mr, *b = both.b.mr;
        struct ibv_sge source[3] = { piece_of(a, 0, 24), piece_of(here, 3, length), piece_of(a, 24, 16) };
        struct ibv_sge target[3] = { piece_of(there, 11, 10), piece_of(b, 0, 20), piece_of(there, 21, length + 10) };
        int between = atomic_load(&device.between);
        char *expected = malloc(length + 40), *received = malloc(length + 40);
        fill(both.a.buffer, 40, length);
        fill(both.at_a.memory->bytes, length + 3, length + 1);
        memcpy(expected, both.a.buffer, 24);
        memcpy(expected + 24, both.at_a.memory->bytes + 3, length);
        memcpy(expected + 24 + length, both.a.buffer + 24, 16);
        CHECK_EQ(post_receive_list(&both.b, 1, target, 3), 0);
        CHECK_EQ(post_list(&both.a, 2, IBV_WR_SEND, source, 3, NULL), 0);
        expect_wc(both.b.recv_cq, 1, IBV_WC_SUCCESS);
        expect_wc(both.a.send_cq, 2, IBV_WC_SUCCESS);
        memcpy(received, both.at_b.memory->bytes + 11, 10);
        memcpy(received + 10, both.b.buffer, 20);
        memcpy(received + 30, both.at_b.memory->bytes + 21, length + 10);
        CHECK_EQ(memcmp(received, expected, length + 40), 0);
        CHECK(length < LONG || atomic_load(&device.between) > between);
        free(expected);
        free(received);
    }
    both_close(&both);
}

/* A peer whose targets are memory of the host after all has its bytes by shared memory again. */
static void bytes_for_the_host_go_by_host_memory_again(void) {
    for (enum way way = 0; way < WAYS; way++) {
        struct both both;
        both_open(&both);
        CHECK_EVENTUALLY(goes_directly(&both, way, 5000));
        struct end *owner = way == READ ? &both.a : &both.b;
        const struct there *source = way == READ ? &both.at_b : &both.at_a;
        struct address there = way == READ ? address_of(both.at_b.mr) : end_address(&both.b);
        struct ibv_sge from = piece_of(source->mr, 0, LONG), to = piece_of(owner->mr, 0, LONG);
        for (int i = 0; i < 2; i++) {
            fill(source->memory->bytes, LONG, 7 + (uint32_t) i);
            CHECK_EQ(way == SEND ? post_receive_list(&both.b, 3, &to, 1) : 0, 0);
            CHECK_EQ(post_list(&both.a, 1, opcodes[way], way == READ ? &to : &from, 1, &there), 0);
            expect_wc(both.a.send_cq, 1, IBV_WC_SUCCESS);
            if (way == SEND) {
                expect_wc(both.b.recv_cq, 3, IBV_WC_SUCCESS);
            }
            CHECK_EQ(memcmp(source->memory->bytes, owner->buffer, LONG), 0);
        }
        CHECK_EVENTUALLY(!goes_directly(&both, way, 5000));
        both_close(&both);
    }
}

static void a_message_kept_in_the_completion_is_read_at_once(void) {
    struct both both;
    uint32_t bytes = 64;
    start();
    end_open(&both.a, pair_options());
    end_open(&both.b, pair_options());
    CHECK_EQ(embedded_ext_set_inline_recv(both.b.qp, &bytes), 0);
    end_connect(&both.a, both.b.qp->qp_num);
    end_connect(&both.b, both.a.qp->qp_num);
    both.at_a = there_open(&both.a);
    both.at_b = there_open(&both.b);
    CHECK_EVENTUALLY(goes_directly(&both, SEND, 5000));
    transfer(&both, SEND, 64);
    both_close(&both);
}

static void unreliable_connections_take_it_too(void) {
    struct options options = *pair_options();
    options.type = IBV_QPT_UC;
    options.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    struct both both;
    both_open_with(&both, &options);
    CHECK_EVENTUALLY(goes_directly(&both, SEND, LONG));
    both_close(&both);
}

/* Two regions of a memory: it is opened once, and closed with the last of them, before that call returns. */
static void an_allocation_is_opened_once_and_closed_with_its_last_region(void) {
    struct both both;
    both_open(&both);
    CHECK_EVENTUALLY(goes_directly(&both, WRITE, LONG));
    CHECK_EQ(atomic_load(&device.imported), 1);
    struct ibv_mr *other = ibv_reg_mr(both.a.pd, both.at_a.memory->address + 4096, 8192, ACCESS);
    CHECK(other != NULL);
    struct address to = address_of(both.at_b.mr);
    struct ibv_sge from = piece_of(other, 0, 8192);
    fill(both.at_a.memory->bytes + 4096, 8192, 3);
    int between = atomic_load(&device.between);
    CHECK_EQ(post_list(&both.a, 1, IBV_WR_RDMA_WRITE, &from, 1, &to), 0);
    expect_wc(both.a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(both.at_b.memory->bytes, both.at_a.memory->bytes + 4096, 8192), 0);
    CHECK_EQ(atomic_load(&device.between), between + 1);
    CHECK_EQ(atomic_load(&device.imported), 1);
    CHECK_EQ(ibv_dereg_mr(both.at_a.mr), 0);
    CHECK_EQ(atomic_load(&device.imported), 1);
    CHECK_EQ(ibv_dereg_mr(other), 0);
    CHECK_EQ(atomic_load(&device.imported), 0);
    both.at_a.mr = ibv_reg_mr(both.a.pd, both.at_a.memory->address, SIZE, ACCESS);
    CHECK(both.at_a.mr != NULL);
    CHECK_EVENTUALLY(goes_directly(&both, WRITE, LONG));
    both_close(&both);
}

/* ---- failures ---- */

/* Memory that can't be opened goes by host memory, and is offered again after a while. */
static void memory_that_cannot_be_opened_is_tried_again(void) {
    struct both both;
    uint64_t usual = atomic_load(&lending_again_ns);
    for (int refusal = SOFTWARE_EXPORTS; refusal <= SOFTWARE_IMPORTS; refusal++) {
        both_open(&both);
        atomic_store(&lending_again_ns, 1000000);
        atomic_store(&device.refuses, refusal);
        for (int i = 0; i < 30; i++) {
            transfer(&both, WRITE, 5000);
        }
        CHECK_EQ(atomic_load(&device.between), 0);
        atomic_store(&device.refuses, 0);
        CHECK_EVENTUALLY(goes_directly(&both, WRITE, LONG));
        atomic_store(&lending_again_ns, usual);
        both_close(&both);
    }
}

static bool is_expected(enum ibv_wc_status status) {
    return status == IBV_WC_SUCCESS || status == IBV_WC_REM_OP_ERR || status == IBV_WC_LOC_PROT_ERR;
}

/* Has each call of the device fail in its turn, while there is a loan and while it is made. */
static void each_call_may_fail(bool lent) {
    bool failed = true;
    int calls = 0;
    for (; failed; calls++) {
        struct both both;
        struct end c, d;
        both_open(&both);
        pair_open(&c, &d, pair_options());
        if (lent) {
            CHECK_EVENTUALLY(goes_directly(&both, WRITE, LONG));
            CHECK_EVENTUALLY(goes_directly(&both, READ, LONG));
        }
        atomic_store(&device.fails_at, calls + 1);
        bool works = true;
        for (int i = 0; i < 9 && works; i++) {
            enum way way = (enum way) (i % WAYS);
            struct ibv_sge from = piece_of(both.at_a.mr, 0, LONG), to = piece_of(both.at_b.mr, 0, LONG);
            struct address there = address_of(both.at_b.mr);
            fill(both.at_a.memory->bytes, LONG, 1);
            fill(both.at_b.memory->bytes, LONG, 2);
            CHECK_EQ(way == SEND ? post_receive_list(&both.b, 3, &to, 1) : 0, 0);
            CHECK_EQ(post_list(&both.a, 1, opcodes[way], &from, 1, &there), 0);
            enum ibv_wc_status status = next_wc(both.a.send_cq).status;
            CHECK(is_expected(status));
            works = status == IBV_WC_SUCCESS;
            CHECK(!works || memcmp(both.at_a.memory->bytes, both.at_b.memory->bytes, LONG) == 0);
            if (works && way == SEND) {
                expect_wc(both.b.recv_cq, 3, IBV_WC_SUCCESS);
            }
        }
        failed = atomic_load(&device.fails_at) == 0;
        atomic_store(&device.fails_at, 0);
        pair_talk(&c, &d);
        pair_close(&c, &d);
        both_close(&both);
    }
    CHECK(calls > 9);
}

static void a_call_that_fails_ends_one_connection_at_most(void) {
    each_call_may_fail(true);
    each_call_may_fail(false);
}

static void memory_that_is_freed_when_it_is_lent_fails_at_both_ends(void) {
    for (enum way way = 0; way < WAYS; way++) {
        for (int of_target = 0; of_target < 2; of_target++) {
            struct both both;
            both_open(&both);
            CHECK_EVENTUALLY(goes_directly(&both, way, LONG));
            bool of_a = (way == READ) == (of_target != 0);
            struct there *freed = of_a ? &both.at_a : &both.at_b;
            struct ibv_sge from = piece_of(both.at_a.mr, 0, LONG), to = piece_of(both.at_b.mr, 0, LONG);
            struct address there = address_of(both.at_b.mr);
            CHECK_EQ(way == SEND ? post_receive_list(&both.b, 3, &to, 1) : 0, 0);
            software_free(freed->memory);
            CHECK(of_target != 0 || atomic_load(&device.imported) == 0);
            CHECK_EQ(post_list(&both.a, 1, opcodes[way], &from, 1, &there), 0);
            if (of_a) {
                expect_fault(both.a.send_cq, 1);
            } else {
                expect_wc(both.a.send_cq, 1, IBV_WC_REM_OP_ERR);
            }
            if (way == SEND && of_target != 0) {
                expect_fault(both.b.recv_cq, 3);
            }
            freed->memory = software_allocate(&device, 4096);
            both_close(&both);
        }
    }
}

static void lent_memory_is_freed_in_the_middle_of_operations(void) {
    for (uint32_t round = 0; round < rounds(40, 12); round++) {
        struct both both;
        pthread_t thread;
        on_copy = count_copy;
        both_open(&both);
        on_copy = NULL;
        enum way way = round % 2 == 0 ? WRITE : READ;
        CHECK_EVENTUALLY(goes_directly(&both, way, LONG));
        struct there *freed = round % 4 < 2 ? &both.at_a : &both.at_b;
        struct address to = address_of(both.at_b.mr);
        struct ibv_sge sge = piece_of(both.at_a.mr, 0, LONG);
        atomic_store(&victim, freed->memory);
        atomic_store(&copies_to_free, (int) round / 2 + 1);
        CHECK_EQ(pthread_create(&thread, NULL, free_in_the_middle, NULL), 0);
        enum ibv_wc_status status = IBV_WC_SUCCESS;
        while (status == IBV_WC_SUCCESS) {
            CHECK_EQ(post_list(&both.a, 1, opcodes[way], &sge, 1, &to), 0);
            status = next_wc(both.a.send_cq).status;
        }
        CHECK(is_expected(status));
        CHECK_EQ(pthread_join(thread, NULL), 0);
        freed->memory = software_allocate(&device, 4096);
        both_close(&both);
    }
}

/* The device leaves while its memory is lent and borrowed. */
static void a_client_that_leaves_takes_what_is_lent_with_it(void) {
    struct both both;
    uint64_t usual = atomic_load(&lending_recall_ns);
    both_open(&both);
    CHECK_EVENTUALLY(goes_directly(&both, WRITE, LONG));
    atomic_store(&lending_recall_ns, 10000000); /* the borrower, which is this process, waits for the client as well */
    CHECK_EQ(rdma_peer_memory_unregister_client(&device.client), 0);
    CHECK_EQ(atomic_load(&device.imported), 0);
    CHECK_EQ(atomic_load(&device.acquired), 0);
    atomic_store(&lending_recall_ns, usual);
    CHECK_EQ(rdma_peer_memory_register_client(&device.client), 0);
    both_close(&both);
}

/* ---- other processes ---- */

/* Other process: an end with memory of the device. It ends when the socket does. */
static void live(int socket, bool asks) {
    struct end end;
    struct address peer;
    uint64_t copies;
    char command;
    limit_life();
    start();
    atomic_store(&lending_is_on, asks);
    end_open(&end, pair_options());
    struct there there = there_open(&end);
    end_to_init(&end);
    const struct address own = { end.qp->qp_num, there.mr->rkey, (uintptr_t) there.mr->addr };
    send_all(socket, &own, sizeof(own));
    receive_all(socket, &peer, sizeof(peer));
    CHECK_EQ(end_to_rtr(&end, peer.qpn), 0);
    CHECK_EQ(end_to_rts(&end), 0);
    send_all(socket, "r", 1);
    while (recv(socket, &command, 1, 0) == 1) {
        switch (command) {
            case 'f': /* fills the memory */
                fill(there.memory->bytes, SIZE, 5);
                break;
            case 'c': /* tells how many copies were direct */
                copies = (uint64_t) atomic_load(&device.between);
                send_all(socket, &copies, sizeof(copies));
                continue;
            case 'm': /* shows the memory */
                send_all(socket, there.memory->bytes, LONG);
                continue;
            default:
                abort();
        }
        send_all(socket, &command, 1);
    }
    CHECK_EQ(ibv_dereg_mr(there.mr), 0);
    software_free(there.memory);
    end_close(&end);
    stop();
}

static void live_and_ask(int socket) {
    live(socket, true);
}

static void live_and_not_ask(int socket) {
    live(socket, false);
}

struct far {
    pid_t child;
    int socket;
    struct end end;
    struct there there;
    struct address peer;
};

/* The other process is there. */
static void far_meet(struct far *far) {
    char ready;
    start();
    end_open(&far->end, pair_options());
    far->there = there_open(&far->end);
    end_to_init(&far->end);
    const struct address own = { far->end.qp->qp_num, far->there.mr->rkey, (uintptr_t) far->there.mr->addr };
    receive_all(far->socket, &far->peer, sizeof(far->peer));
    send_all(far->socket, &own, sizeof(own));
    CHECK_EQ(end_to_rtr(&far->end, far->peer.qpn), 0);
    CHECK_EQ(end_to_rts(&far->end), 0);
    receive_all(far->socket, &ready, 1);
}

static void far_open(struct far *far, void (*body)(int socket)) {
    far->child = spawn(body, &far->socket);
    far_meet(far);
}

static void far_close(struct far *far) {
    there_close(&far->there);
    end_close(&far->end);
    close(far->socket);
    stop();
}

static enum ibv_wc_status far_transfer(struct far *far, enum ibv_wr_opcode opcode) {
    struct ibv_sge sge = piece_of(far->there.mr, 0, LONG);
    CHECK_EQ(post_list(&far->end, 1, opcode, &sge, 1, &far->peer), 0);
    return next_wc(far->end.send_cq).status;
}

static uint64_t far_copies(const struct far *far) {
    uint64_t copies;
    send_all(far->socket, "c", 1);
    receive_all(far->socket, &copies, sizeof(copies));
    return copies;
}

static bool far_writes_directly(struct far *far) {
    uint64_t before = far_copies(far);
    CHECK_EQ(far_transfer(far, IBV_WR_RDMA_WRITE), IBV_WC_SUCCESS);
    return far_copies(far) > before;
}

static bool far_reads_directly(struct far *far) {
    int before = atomic_load(&device.between);
    CHECK_EQ(far_transfer(far, IBV_WR_RDMA_READ), IBV_WC_SUCCESS);
    return atomic_load(&device.between) > before;
}

static void expect_same(struct far *far) {
    char *bytes = malloc(LONG);
    send_all(far->socket, "m", 1);
    receive_all(far->socket, bytes, LONG);
    CHECK_EQ(memcmp(bytes, far->there.memory->bytes, LONG), 0);
    free(bytes);
}

static void devices_of_two_processes_copy_directly(void) {
    struct far far;
    char filled;
    far_open(&far, live_and_ask);
    fill(far.there.memory->bytes, LONG, 1);
    CHECK_EVENTUALLY(far_writes_directly(&far));
    expect_same(&far);
    send_all(far.socket, "f", 1);
    receive_all(far.socket, &filled, 1);
    CHECK_EVENTUALLY(far_reads_directly(&far));
    expect_same(&far);
    CHECK_EQ(atomic_load(&device.imported), 1);
    far_close(&far);
    expect_exit(far.child, 0);
}

static void both_processes_have_to_ask_for_it(void) {
    for (int asks = 0; asks < 2; asks++) {
        struct far far;
        far_open(&far, asks == 0 ? live_and_ask : live_and_not_ask);
        atomic_store(&lending_is_on, asks != 0);
        for (int i = 0; i < 20; i++) {
            CHECK(!far_writes_directly(&far));
            CHECK(!far_reads_directly(&far));
        }
        expect_same(&far);
        CHECK_EQ(atomic_load(&device.exports), 0);
        CHECK_EQ(atomic_load(&device.imported), 0);
        far_close(&far);
        expect_exit(far.child, 0);
    }
}

#define ALICE 20001
#define BOB 20002

static void live_as_bob(int socket) {
    CHECK(become_user(BOB));
    live_and_ask(socket);
}

/* Copies by host memory, with the other process as its peer. */
static void live_as_alice(int socket) {
    struct far far;
    (void) socket;
    far.child = spawn(live_as_bob, &far.socket);
    CHECK(become_user(ALICE));
    far_meet(&far);
    for (int i = 0; i < 20; i++) {
        CHECK(!far_writes_directly(&far));
        CHECK(!far_reads_directly(&far));
    }
    expect_same(&far);
    CHECK_EQ(atomic_load(&device.exports), 0);
    CHECK_EQ(atomic_load(&device.imported), 0);
    far_close(&far);
    expect_exit(far.child, 0);
}

/* Both ask for it, and meet in a folder. Needs root, and a process that has not used the provider yet. */
static void memory_is_not_lent_to_another_user(void) {
    char folder[] = "/tmp/netty-rdma-test-XXXXXX", command[64];
    int socket;
    if (geteuid() != 0) {
        fprintf(stderr, "    skipped: needs root\n");
        return;
    }
    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQ(chmod(folder, 01777), 0);
    setenv("RDMA_EMBEDDED_FOLDER", folder, 1);
    setenv("RDMA_EMBEDDED_USERS", "20001,20002", 1);
    pid_t child = spawn(live_as_alice, &socket);
    expect_exit(child, 0);
    close(socket);
    unsetenv("RDMA_EMBEDDED_FOLDER");
    unsetenv("RDMA_EMBEDDED_USERS");
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK_EQ(system(command), 0);
}

static void what_a_killed_process_has_lent_is_closed(void) {
    struct far far;
    int status;
    far_open(&far, live_and_ask);
    CHECK_EVENTUALLY(far_reads_directly(&far));
    CHECK_EVENTUALLY(far_writes_directly(&far));
    CHECK_EQ(kill(far.child, SIGKILL), 0);
    CHECK_EQ(waitpid(far.child, &status, 0), far.child);
    CHECK_EVENTUALLY(atomic_load(&device.imported) == 0);
    CHECK(far_transfer(&far, IBV_WR_RDMA_READ) != IBV_WC_SUCCESS);
    far_close(&far);
}

/* A borrower that is stopped is waited for in vain, for a limited time. Later it gives the memory back. */
static void a_borrower_that_is_stopped_delays_for_a_limited_time(void) {
    struct far far;
    uint64_t usual = atomic_load(&lending_recall_ns);
    far_open(&far, live_and_ask);
    CHECK_EVENTUALLY(far_writes_directly(&far));
    CHECK_EQ(kill(far.child, SIGSTOP), 0);
    atomic_store(&lending_recall_ns, 20000000);
    CHECK_EQ(ibv_dereg_mr(far.there.mr), 0);
    atomic_store(&lending_recall_ns, usual);
    CHECK_EQ(kill(far.child, SIGCONT), 0);
    far.there.mr = ibv_reg_mr(far.end.pd, far.there.memory->address, SIZE, ACCESS);
    CHECK(far.there.mr != NULL);
    fill(far.there.memory->bytes, LONG, 8);
    CHECK_EVENTUALLY(far_writes_directly(&far));
    expect_same(&far);
    far_close(&far);
    expect_exit(far.child, 0);
}

/* Loans of the parent are not the child's: it waits for nobody, and borrows anew. */
static void a_forked_child_begins_anew(void) {
    struct both both;
    both_open(&both);
    CHECK_EVENTUALLY(goes_directly(&both, WRITE, LONG));
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        limit_life();
        CHECK_EQ(ibv_dereg_mr(both.at_a.mr), 0);
        struct both own;
        both_open(&own);
        CHECK_EVENTUALLY(goes_directly(&own, WRITE, LONG));
        CHECK_EQ(atomic_load(&device.imported), 1);
        both_close(&own);
        _exit(0);
    }
    expect_exit(child, 0);
    CHECK(goes_directly(&both, WRITE, LONG));
    both_close(&both);
}

int main(void) {
    RUN(memory_is_not_lent_to_another_user);
    RUN(devices_of_two_processes_copy_directly);
    RUN(both_processes_have_to_ask_for_it);
    RUN(what_a_killed_process_has_lent_is_closed);
    RUN(a_borrower_that_is_stopped_delays_for_a_limited_time);
    RUN(a_message_between_devices_is_one_copy);
    RUN(a_short_message_takes_the_direct_way_as_well);
    RUN(a_process_that_does_not_ask_for_it_gets_nothing);
    RUN(a_list_mixes_memory_of_hosts_and_devices);
    RUN(bytes_for_the_host_go_by_host_memory_again);
    RUN(a_message_kept_in_the_completion_is_read_at_once);
    RUN(unreliable_connections_take_it_too);
    RUN(an_allocation_is_opened_once_and_closed_with_its_last_region);
    RUN(memory_that_cannot_be_opened_is_tried_again);
    RUN(a_call_that_fails_ends_one_connection_at_most);
    RUN(memory_that_is_freed_when_it_is_lent_fails_at_both_ends);
    RUN(lent_memory_is_freed_in_the_middle_of_operations);
    RUN(a_client_that_leaves_takes_what_is_lent_with_it);
    RUN(a_forked_child_begins_anew);
    return 0;
}
