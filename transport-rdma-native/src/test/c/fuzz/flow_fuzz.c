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
 * Datagrams: a queue pair that receives from flows of the peer, whose memory says anything, and sends to flows whose
 * receiver is the peer; it is in groups, and its process is the administrator of them, whom the peer tells anything.
 *
 * Beside what the sanitizers find: receives complete in order, with no more bytes than they have room for, nothing
 * beside them changes; sends complete in order; the queue pair does not fail; no flow is there twice, none has more
 * acknowledged than was sent.
 */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "embedded/device/qp.h"
#include "embedded/ud/ud.h"
#include "engine_by_hand.h"
#include "fuzz.h"
#include "pair.h"
#include "peer.h"
#include "ud_support.h"

#define MAX_COMMANDS 96
#define ROUTE (PEER_LINKS - 1)
#define SLOTS 16
#define ROOM 8192 /* bytes of each receive; more than a datagram has */
#define WRS 32

enum { MCAST_JOIN = LINK_MCAST_FIRST, MCAST_LEAVE, MCAST_LOOK, MCAST_TABLE, MCAST_DONE }; /* mcast.c */

static struct end shared, victim;
static struct ibv_ah *unicast, *multicast;
static const union ibv_gid group = { .raw = { 0xff, 0x12, [15] = 1 } };
static uint32_t sends, sends_done, recvs, recvs_done, received, lengths[SLOTS];
static uint32_t position[PEER_SEGMENTS];
static uint32_t latest_id; /* id of the flow that the peer has opened last */
static bool is_member;

/* ---- the victim ---- */

static bool is_zero(const char *memory, size_t size) {
    return size == 0 || (memory[0] == 0 && memcmp(memory, memory + 1, size - 1) == 0);
}

static void check_place(uint32_t number) {
    const char *place = victim.buffer + number % SLOTS * ROOM;
    uint32_t length = lengths[number % SLOTS];
    CHECK(is_zero(place + length, ROOM - length));
}

static void victim_recv(uint32_t length) {
    if (recvs - recvs_done == SLOTS) {
        return;
    }
    length = length > ROOM ? ROOM : length;
    memset(victim.buffer + recvs % SLOTS * ROOM, 0, ROOM);
    lengths[recvs % SLOTS] = length;
    if (post_recv(&victim, (uint64_t) recvs << 1 | 1, recvs % SLOTS * ROOM, length) == 0) {
        recvs++;
    }
}

static void poll_all(int most) {
    struct ibv_wc wc;
    while (most-- > 0 && victim.context->ops.poll_cq(victim.recv_cq, 1, &wc) == 1) {
        uint32_t number = (uint32_t) (wc.wr_id >> 1);
        CHECK_EQ(wc.qp_num, victim.qp->qp_num);
        if ((wc.wr_id & 1) == 0) {
            CHECK_EQ(number, sends_done);
            CHECK(sends_done++ < sends);
            continue;
        }
        CHECK_EQ(number, recvs_done);
        CHECK(recvs_done < recvs);
        if (wc.status == IBV_WC_SUCCESS) {
            received++;
            CHECK(wc.byte_len >= GRH && wc.byte_len <= lengths[number % SLOTS]);
        }
        check_place(recvs_done++);
    }
}

static void victim_send(void) {
    uint8_t where = input_u8(), how = input_u8();
    uint32_t length = input_length() % 5000;
    bool to_group = (how & 1) != 0;
    uint32_t qpn = to_group ? 0xffffff : where < 16 ? PEER_QPN + where : where < 32 ? victim.qp->qp_num : where;
    struct ibv_ah *ah = to_group ? multicast : unicast;
    for (int times = 1 << (how >> 5); times > 0 && sends - sends_done < WRS; times--) {
        if (post_datagram_as(&victim, (uint64_t) sends << 1, (how & 2) != 0 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
                             (how & 4) != 0 ? IBV_SEND_SOLICITED : 0, SLOTS * ROOM, length, ah, qpn,
                             (how & 8) != 0 ? QKEY + 1 : QKEY) == 0) {
            sends++;
        }
        if ((how & 16) != 0) {
            poll_all(1);
        }
    }
}

/* ---- the peer ---- */

static void connect_link(int link) {
    if (peer_connect_qpn(link, victim.qp->qp_num)) {
        peer_hello(link);
        peer_notify_area(link);
    }
}

static void publish(uint8_t which) {
    struct wire_segment *segment = peer_memory.segment[which & 1];
    uint8_t how = input_u8();
    uint32_t total = input_length();
    uint32_t header = (how & 1) != 0 ? GRH : 0;
    struct wire_desc desc = {
        .op = (how & 2) != 0 ? WIRE_SEND_IMM : WIRE_SEND,
        .flags = (header != 0 ? WIRE_GRH : 0) | ((how & 4) != 0 ? WIRE_MULTICAST : 0) | WIRE_FIRST | WIRE_LAST,
        .length = total + header, .total = total, .rkey = QKEY,
        .slab = total + header <= WIRE_INLINE_SIZE && (how & 8) != 0 ? WIRE_INLINE : 0,
    };
    if ((how & 16) != 0) {
        input_patch(&desc, sizeof(desc));
    }
    uint32_t pos = position[which & 1]++;
    struct wire_slot *slot = &segment->request[pos % WIRE_REQUEST_SLOTS];
    if ((how & 4) != 0 && desc.slab == WIRE_INLINE) {
        memcpy(slot->payload + offsetof(struct ibv_grh, dgid), &group, sizeof(group));
    }
    memcpy(&slot->desc, &desc, sizeof(desc));
    atomic_store(&slot->desc.sequence, pos + 1);
    atomic_store(&peer_memory.control[which & 1]->begun[WIRE_REQUESTS], 1);
    if ((how & 32) == 0) {
        peer_tick(which >> 2 & 1, 0);
    }
}

static void say_flow(void) {
    uint8_t type = WIRE_FLOW_OPEN + input_u8() % (WIRE_FLOW_CLOSE - WIRE_FLOW_OPEN + 1);
    uint8_t which = input_u8(), how = input_u8();
    bool to_sender = type == WIRE_FLOW_ACCEPT || type == WIRE_FLOW_ROOM || type == WIRE_FLOW_REFUSE;
    struct wire_flow body = { .src_qpn = PEER_QPN + (which & 3), .dst_qpn = victim.qp->qp_num, .id = which & 7 };
    if (to_sender) { /* about a flow that the victim has opened */
        body = peer_heard.flow[WIRE_FLOW_OPEN];
        body.cq_id = 1 + (which & 3);
        body.cq = which >> 6;
        body.carries = WIRE_ARENA | (which >> 5 & 1) * WIRE_RECV_DOORBELL;
        body.place = (struct wire_place) { .arena = 2, .segments = 1 };
    } else if (type == WIRE_FLOW_OPEN) {
        body.id = (how & 2) != 0 ? latest_id : body.id;
        latest_id = body.id;
    } else if (type == WIRE_FLOW_SLOT) {
        body.bank = which >> 3 & 1;
    }
    enum peer_thing things[LINK_MAX_FDS] = { THING_SEGMENT + (which >> 4 & 1), THING_DOORBELL };
    int count = type == WIRE_FLOW_OPEN;
    if (type == WIRE_FLOW_OPEN) {
        body.carries = WIRE_ARENA;
        body.place = (struct wire_place) { .arena = which >> 4 & 1, .segments = 1 };
    }
    if (type == WIRE_FLOW_ACCEPT) {
        things[0] = THING_ACKS;
        count = 1 + (which >> 5 & 1);
    }
    if ((how & 4) != 0) {
        input_patch(&body, sizeof(body));
    }
    if ((how & 8) != 0) {
        count = input_u8() % 3;
        things[0] = input_u8() % THINGS;
    }
    if (type == WIRE_FLOW_OPEN) {
        position[(which >> 4 & 1)] = 0;
        memset(peer_memory.segment[which >> 4 & 1], 0, offsetof(struct wire_segment, request_slab));
        memset(peer_memory.control[which >> 4 & 1], 0, sizeof(struct wire_control));
    }
    int link = to_sender ? ROUTE - (how & 1) : how & 1;
    peer_say(link, type, &body, sizeof(body) - ((how & 0xf0) == 0xf0), things, count);
}

static void say_group(void) {
    uint8_t type = LINK_MCAST_FIRST + input_u8() % 5, how = input_u8();
    uint32_t body[6] = { 0, 0, 0, 0, PEER_QPN + (how & 7), how >> 3 };
    memcpy(body, &group, sizeof(group));
    size_t length = type == MCAST_LOOK || type == MCAST_TABLE ? 0 : type == MCAST_DONE ? 8 : sizeof(body);
    const enum peer_thing thing = THING_TABLE;
    int count = type == MCAST_TABLE;
    if ((how & 128) != 0) {
        input_patch(body, sizeof(body));
        length = input_u8() % 2 == 0 ? length : sizeof(body) - 4;
    }
    peer_say(how >> 6 & 1, type, body, length, &thing, count);
}

static void write_words(void) {
    uint8_t what = input_u8();
    switch (what & 7) {
        case 0: case 1: case 2: /* as far as the victim has published, or about so */
            if (peer_heard.segment != NULL) {
                uint32_t pos = WIRE_ACK_COUNT(atomic_load(&peer_memory.acks->stream[0].ack));
                while (atomic_load(&peer_heard.segment->request[pos % WIRE_REQUEST_SLOTS].desc.sequence) == pos + 1) {
                    pos++;
                }
                atomic_store(&peer_memory.acks->stream[0].ack, WIRE_ACK_WORD(pos + (what >> 3 & 1), what >> 6));
            }
            break;
        case 3:
            atomic_store(&peer_memory.acks->stream[0].ack, input_u64());
            break;
        case 4:
            atomic_store(&peer_memory.acks->dead, what >> 3);
            break;
        case 5:
            atomic_store(&peer_memory.control[what >> 3 & 1]->stream[0].want, input_u32());
            break;
        case 6: {
            struct notify_word *word = &peer_memory.area->cq[what >> 3 & 3];
            peer_wrote(word, sizeof(*word));
            atomic_store(&word->word, input_u16());
            break;
        }
        default: {
            uint16_t place = input_u16();
            uint64_t value = input_u64();
            bool of_control = (what & 16) != 0;
            size_t size = of_control ? sizeof(struct wire_control) : offsetof(struct wire_segment, request_slab);
            uint8_t *bytes = of_control ? (uint8_t *) peer_memory.control[what >> 3 & 1]
                                        : (uint8_t *) peer_memory.segment[what >> 3 & 1];
            memcpy(bytes + place % (size - sizeof(value)), &value, sizeof(value));
        }
    }
}

static void change_membership(void) {
    if (is_member) {
        CHECK_EQ(ibv_detach_mcast(victim.qp, &group, 0xc001), 0);
        is_member = false;
    } else { /* the table may be full */
        is_member = ibv_attach_mcast(victim.qp, &group, 0xc001) == 0;
    }
}

static void check_flow(struct qp *qp, struct flow *flow, const void *unused) {
    (void) qp;
    (void) unused;
    CHECK(flow->out.prod - flow->out.acked <= WIRE_REQUEST_SLOTS);
}

/* Checks what is true of the victim whatever the peer says. */
static void check_victim(void) {
    struct qp *qp = qp_of(victim.qp);
    unsigned count = 0;
    for (const struct rx_flow *one = ud_of(qp)->rx_flows; one != NULL; one = one->next, count++) {
        for (const struct rx_flow *other = one->next; other != NULL; other = other->next) {
            CHECK(one->id != other->id || one->peer != other->peer);
        }
    }
    CHECK_EQ(count, ud_of(qp)->num_rx_flows);
    flow_table_visit(qp, check_flow, NULL);
}

static void command(void) {
    uint8_t code = input_u8();
    bool at_once = (code & 0x80) == 0;
    switch (code & 15) {
        case 0: case 1: case 2:
            say_flow();
            break;
        case 3: case 4: case 5:
            publish(code >> 4 & 7);
            break;
        case 6: case 7:
            victim_send();
            break;
        case 8:
            victim_recv(GRH + input_length());
            break;
        case 9:
            poll_all(1 + (code >> 4));
            break;
        case 10:
            write_words();
            break;
        case 11:
            say_group();
            break;
        case 12:
            change_membership();
            break;
        case 13:
            engine_pass(UINT64_C(10000) << (input_u8() % 20)); /* up to 5 s */
            break;
        case 14:
            if ((code & 16) != 0) {
                connect_link(code >> 5 & 1);
            } else {
                peer_hang_up(code >> 5 & 3);
            }
            break;
        default:
            if ((code & 64) != 0) {
                run_starved(code >> 4 & 3);
            } else {
                peer_tick(code >> 4 & 1, code >> 5 & 1);
            }
    }
    if (at_once) {
        engine_run();
        peer_greet(2, true);
        engine_run();
    }
    check_victim();
}

/* ---- a run ---- */

static void take_async_events(void) {
    struct ibv_async_event event;
    while (ibv_get_async_event(victim.context, &event) == 0) {
        ibv_ack_async_event(&event);
    }
}

static void run(const uint8_t *data, size_t size) {
    input_open(data, size);
    run_seed();
    sends = sends_done = recvs = recvs_done = received = 0;
    memset(position, 0, sizeof(position));
    latest_id = 0;
    uint8_t kind = input_u8();
    struct options options = shared.options;
    end_open_on(&victim, &shared, &options);
    ud_ready(&victim);
    is_member = false;
    if ((kind & 1) != 0) {
        change_membership();
    }
    for (int i = 0; i < (kind >> 4); i++) {
        victim_recv(ROOM);
    }
    connect_link(0);
    connect_link(1);
    engine_run();
    peer_listen();
    for (int i = 0; i < MAX_COMMANDS && input_left(); i++) {
        command();
    }
    engine_run();
    if (is_member) {
        change_membership();
    }
    /* No stranger can end the queue pair; its own datagrams may be too long. */
    CHECK(victim.qp->state == IBV_QPS_RTS || victim.qp->state == IBV_QPS_SQE);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    CHECK_EQ(ibv_modify_qp(victim.qp, &attr, IBV_QP_STATE), 0);
    poll_all(1000);
    CHECK_EQ(sends_done, sends);
    CHECK_EQ(recvs_done, recvs);
    take_async_events();
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
    struct options options = datagrams();
    options.cqe = 128;
    options.send_wr = options.recv_wr = WRS;
    end_open(&shared, &options);
    CHECK_EQ(ibv_destroy_qp(shared.qp), 0);
    set_non_blocking(shared.context->async_fd);
    unicast = own_ah(&shared);
    struct ibv_ah_attr to = own_address(&shared);
    to.dlid = 0xc001;
    to.grh.dgid = group;
    multicast = ibv_create_ah(shared.pd, &to);
    CHECK(multicast != NULL);
    engine_run();
    /* The administrator is made; a flow is opened, a datagram comes; one is sent, the receiver accepts. */
    static const uint8_t honest[] = {
        0xf1, 0, 0, 0, 0, 0, 2, 0, 0, 3, 0, 16, 0, 6, 0, 0, 16, 0, 0, 1, 0, 0, 9 | 7 << 4,
    };
    run(honest, sizeof(honest));
    CHECK_EQ(received, 1);
    CHECK_EQ(sends, 1);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    run(data, size);
    return 0;
}
