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
 * Multicast with a peer that is the subnet administrator and lies: its answers and its table say anything, or come
 * late, or never. The victim joins, leaves and sends to groups meanwhile; what it asks for ends in bounded time.
 */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "engine_by_hand.h"
#include "fuzz.h"
#include "pair.h"
#include "peer.h"
#include "ud_support.h"

#define MAX_COMMANDS 64
#define WRS 32
#define GROUPS 4

enum { MCAST_JOIN = LINK_MCAST_FIRST, MCAST_LEAVE, MCAST_LOOK, MCAST_TABLE, MCAST_DONE }; /* mcast.c */

static struct end shared, victim;
static struct ibv_ah *handles[GROUPS];
static union ibv_gid groups[GROUPS];
static bool joined[GROUPS];
static uint32_t sends, sends_done, cookie;
static int administrator; /* the link on which the victim asks */
static int commands;
static unsigned joins; /* number of accepted joins, in all runs */

static void heard(int link, unsigned type, const void *body, size_t length) {
    if (type < MCAST_JOIN || type > MCAST_LOOK) {
        return;
    }
    administrator = link;
    if (type != MCAST_LOOK) {
        CHECK_EQ(length, 24);
        memcpy(&cookie, (const uint8_t *) body + 20, sizeof(cookie));
    }
}

static void say(void) {
    uint8_t type = LINK_MCAST_FIRST + input_u8() % 5, how = input_u8();
    uint32_t body[6] = { 0, 0, 0, 0, PEER_QPN, 0 };
    enum peer_thing thing = THING_TABLE;
    size_t length = type == MCAST_LOOK || type == MCAST_TABLE ? 0 : type == MCAST_DONE ? 8 : sizeof(body);
    int count = type == MCAST_TABLE;
    memcpy(body, &groups[how & 3], sizeof(groups[0]));
    if (type == MCAST_DONE) {
        body[0] = cookie + (how >> 2 & 3);
        body[1] = how >> 4 & 1;
    }
    if ((how & 32) != 0) {
        input_patch(body, sizeof(body));
    }
    if ((how & 64) != 0) {
        thing = input_u8() % THINGS;
        count = input_u8() % 3;
    }
    const enum peer_thing things[] = { thing, thing, thing };
    peer_say((how & 128) != 0 ? PEER_LINKS - 1 : administrator, type, body, length, things, count);
}

static void write_table(void) {
    uint8_t what = input_u8();
    struct mcast_table *table = peer_memory.table;
    unsigned i = what >> 2 & 15;
    if ((what & 3) == 0) {
        peer_wrote(table, 16);
        atomic_store(&table->generation, input_u8());
    } else if ((what & 3) == 1) {
        peer_wrote(table, 16);
        atomic_store(&table->count, (what & 4) != 0 ? input_u64() : input_u8());
    } else {
        uint64_t halves[2];
        uint8_t member = input_u8();
        memcpy(halves, &groups[member & 3], sizeof(halves));
        peer_wrote(&table->entry[i], sizeof(table->entry[i]));
        atomic_store(&table->entry[i].gid[0], halves[0]);
        atomic_store(&table->entry[i].gid[1], halves[1]);
        atomic_store(&table->entry[i].qpn, (what & 3) == 3 ? input_u64()
                                           : (member & 128) != 0 ? victim.qp->qp_num : PEER_QPN + (member >> 2));
    }
}

/* A table in which all of many entries are members of one group. */
static void fill_table(uint8_t how) {
    struct mcast_table *table = peer_memory.table;
    uint64_t halves[2];
    memcpy(halves, &groups[0], sizeof(halves));
    unsigned count = (how & 7) << 8;
    peer_wrote(table, sizeof(*table));
    for (unsigned i = 0; i < count; i++) {
        atomic_store(&table->entry[i].gid[0], halves[0]);
        atomic_store(&table->entry[i].gid[1], halves[1]);
        atomic_store(&table->entry[i].qpn, (how & 8) != 0 ? 1 : i);
    }
    atomic_store(&table->count, count);
    atomic_fetch_add(&table->generation, 2);
}

static void poll_all(void) {
    struct ibv_wc wc;
    while (victim.context->ops.poll_cq(victim.recv_cq, 1, &wc) == 1) {
        if ((wc.wr_id & 1) == 0) {
            CHECK_EQ(wc.wr_id >> 1, sends_done);
            CHECK(sends_done++ < sends);
        }
    }
}

static void change_membership(int which) {
    if (!joined[which]) {
        joined[which] = ibv_attach_mcast(victim.qp, &groups[which], 0xc001) == 0;
        joins += joined[which];
    } else {
        CHECK_EQ(ibv_detach_mcast(victim.qp, &groups[which], 0xc001), 0);
        joined[which] = false;
    }
}

static void send_to(int which) {
    if (sends - sends_done < WRS
            && post_datagram(&victim, (uint64_t) sends << 1, 0, 8, handles[which], 0xffffff) == 0) {
        sends++;
    }
}

static void speak(uint8_t code) {
    switch (code & 7) {
        case 0: case 1: case 2:
            say();
            break;
        case 3:
            write_table();
            break;
        case 4:
            fill_table(code >> 3);
            break;
        case 5:
            peer_hang_up(code >> 3 & 3);
            break;
        case 6:
            run_starved(code >> 3 & 3);
            break;
        default:
            peer_greet(0, false);
    }
}

/* The victim waits for an answer: the peer goes on as the input says. */
static void go_on(void) {
    peer_greet(0, false);
    if (input_left() && commands++ < MAX_COMMANDS) {
        speak(input_u8());
    }
    engine_run();
}

static void command(void) {
    uint8_t code = input_u8();
    switch (code & 15) {
        case 8: case 9:
            change_membership(code >> 4 & 3);
            break;
        case 10: case 11:
            send_to(code >> 4 & 3);
            break;
        case 12:
            poll_all();
            break;
        case 13:
            engine_pass(UINT64_C(100000) << (input_u8() % 18));
            break;
        default:
            speak(input_u8());
    }
    engine_run();
    peer_greet(0, false);
    engine_run();
}

static void run(const uint8_t *data, size_t size) {
    input_open(data, size);
    run_seed();
    sends = sends_done = cookie = 0;
    commands = 0;
    administrator = PEER_LINKS - 1;
    struct options options = shared.options;
    end_open_on(&victim, &shared, &options);
    ud_ready(&victim);
    while (input_left() && commands++ < MAX_COMMANDS) {
        command();
    }
    for (int i = 0; i < GROUPS; i++) {
        if (joined[i]) {
            change_membership(i);
        }
    }
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    CHECK_EQ(ibv_modify_qp(victim.qp, &attr, IBV_QP_STATE), 0);
    poll_all();
    CHECK_EQ(sends_done, sends);
    CHECK_EQ(ibv_destroy_qp(victim.qp), 0);
    peer_forget();
    run_check();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void) argc;
    (void) argv;
    run_seed();
    peer_open();
    peer_bind_mcast(); /* from then on the victim never becomes the administrator */
    peer_on_message = heard;
    engine_while_waiting = go_on;
    struct options options = datagrams();
    options.cqe = 128;
    options.send_wr = WRS;
    end_open(&shared, &options);
    CHECK_EQ(ibv_destroy_qp(shared.qp), 0);
    for (int i = 0; i < GROUPS; i++) {
        struct ibv_ah_attr to = own_address(&shared);
        groups[i] = (union ibv_gid) { .raw = { 0xff, 0x12, [15] = (uint8_t) (i + 1) } };
        to.dlid = 0xc001;
        to.grh.dgid = groups[i];
        handles[i] = ibv_create_ah(shared.pd, &to);
        CHECK(handles[i] != NULL);
    }
    engine_run();
    /* The victim joins a group: the administrator shows its table and agrees. */
    static const uint8_t honest[] = { 8, 0, 3, 0, 0, 4, 0 };
    run(honest, sizeof(honest));
    CHECK_EQ(joins, 1);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    run(data, size);
    return 0;
}
