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
 * A process that babbles: messages of every type, of which some are almost right, with descriptors of any kind, over
 * links that it makes again and again, and as answers.
 */
#ifndef NETTY_RDMA_TEST_BABBLER_H
#define NETTY_RDMA_TEST_BABBLER_H

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "embedded/base/sealed.h"
#include "embedded/cm/cm.h"
#include "embedded/cm/cm_wire.h"
#include "embedded/device/cq.h"
#include "embedded/link/arena.h"
#include "embedded/link/link.h"
#include "embedded/link/notify_area.h"
#include "embedded/link/wire.h"
#include "ud_support.h"

#define MESSAGES_OF_A_LINK 50
#define MCAST_MESSAGES 5 /* mcast.c */

/* Victim, as the babbler knows it. */
struct victim {
    uint32_t rc_qpn, ud_qpn;
    uint16_t port; /* network order */
    uint32_t seed, messages;
};

/* Babbler, as the victim knows it. */
struct babbler {
    uint32_t qpn;
    uint16_t port;
};

enum thing { NOTIFY_AREA, DOORBELL, SEGMENT, UNSEALED, PIPE, THINGS };

static struct victim victim;
static _Thread_local uint64_t state; /* state of the random numbers; not 0 */
static uint32_t own_qpn;
static int things[THINGS];
static struct wire_arena *arena; /* arena of one segment */
static atomic_bool knows_victim; /* the above are set */

/* xorshift64 (Marsaglia 2003), whose high bits are the better ones. */
static uint32_t below(uint32_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t) ((state >> 32) * limit >> 32);
}

static void seed(uint32_t part) {
    state = ((uint64_t) victim.seed << 32 | part) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static bool one_in(uint32_t n) {
    return below(n) == 0;
}

static uint32_t some_qpn(void) {
    const uint32_t known[] = { victim.rc_qpn, victim.ud_qpn, own_qpn, own_qpn + 1 };
    return one_in(16) ? below(1 << 24) : known[below(4)];
}

/* Numbers of flows and of completion queues are counted, so that these often mean something. */
static uint32_t some_id(void) {
    return one_in(8) ? below(UINT32_MAX) : below(64);
}

static uint32_t some_index(uint32_t limit) {
    return one_in(16) ? below(UINT32_MAX) : one_in(2) ? below(4) : below(limit + 1);
}

/* Connections that the victim has answered: without its handle nothing that is said of one is heard. */
#define KNOWN 16

static _Atomic uint64_t known[KNOWN]; /* ids.from and ids.to */
static _Atomic unsigned count_known;

static struct cm_wire_ids some_ids(void) {
    uint64_t pair = atomic_load(&known[below(KNOWN)]);
    return one_in(3) || pair == 0 ? (struct cm_wire_ids) { .from = some_id(), .to = some_id() }
            : (struct cm_wire_ids) { .from = (uint32_t) (pair >> 32), .to = (uint32_t) pair };
}

static bool learn(const struct link_message *incoming, struct cm_wire_ids *ids) {
    if (incoming->length < sizeof(*ids)) {
        return false;
    }
    memcpy(ids, incoming->body, sizeof(*ids));
    unsigned place = atomic_fetch_add(&count_known, 1) % KNOWN;
    atomic_store(&known[place], (uint64_t) ids->to << 32 | ids->from);
    return true;
}

struct message {
    unsigned type;
    size_t length;
    uint8_t body[LINK_MAX_BODY];
    int fds[LINK_MAX_FDS], nfds;
};

static void add_fd(struct message *m, enum thing thing) {
    m->fds[m->nfds++] = things[thing];
}

static void set_body(struct message *m, const void *body, size_t length) {
    memcpy(m->body, body, length);
    m->length = length;
}

/* An arena of one segment, or of as many as there may be. */
static struct wire_place some_place(void) {
    return (struct wire_place) {
        .arena = one_in(8) ? below(UINT32_MAX) : below(4), .segment = one_in(4) ? some_index(WIRE_ARENA_SEGMENTS) : 0,
        .segments = one_in(8) ? below(2 * WIRE_ARENA_SEGMENTS) : 1,
    };
}

static void add_carried(struct message *m, uint32_t carries) {
    for (uint32_t flag = WIRE_ARENA; flag <= WIRE_SEND_DOORBELL; flag *= 2) {
        if ((carries & flag) != 0) {
            add_fd(m, flag == WIRE_ARENA ? SEGMENT : DOORBELL);
        }
    }
}

static void make_place(struct message *m) {
    const struct wire_place body = some_place();
    set_body(m, &body, sizeof(body));
}

static void make_notify_area(struct message *m) {
    add_fd(m, NOTIFY_AREA);
    add_fd(m, DOORBELL);
}

static void make_attach(struct message *m) {
    const struct wire_attach body = {
        .src_qpn = some_qpn(), .dst_qpn = some_qpn(),
        .recv_cq = some_index(NOTIFY_CQS), .send_cq = some_index(NOTIFY_CQS),
        .recv_cq_id = some_id(), .send_cq_id = some_id(), .type = one_in(8) ? below(12) : IBV_QPT_RC,
        .carries = below(8), .place = some_place(),
    };
    set_body(m, &body, sizeof(body));
    add_carried(m, body.carries);
}

static void make_slots(struct message *m) {
    const struct wire_slots body = {
        .src_qpn = some_qpn(), .dst_qpn = some_qpn(), .recv_bank = some_index(NOTIFY_BANKS),
        .recv_slot = some_index(NOTIFY_BANK_SLOTS), .send_bank = some_index(NOTIFY_BANKS),
        .send_slot = some_index(NOTIFY_BANK_SLOTS), .wants = one_in(4) ? below(UINT32_MAX) : 0,
    };
    set_body(m, &body, sizeof(body));
}

static void make_flow(struct message *m) {
    static struct wire_flow opened;
    struct wire_flow body = {
        .src_qpn = some_qpn(), .dst_qpn = some_qpn(), .id = some_id(), .cq = some_index(NOTIFY_CQS), .cq_id = some_id(),
        .carries = below(4), .place = some_place(), .bank = some_index(NOTIFY_BANKS),
        .slot = some_index(NOTIFY_BANK_SLOTS),
    };
    if (m->type == WIRE_FLOW_OPEN) {
        body.dst_qpn = one_in(8) ? body.dst_qpn : victim.ud_qpn;
        opened = body;
    } else if (m->type == WIRE_FLOW_SLOT && !one_in(4)) {
        body = opened; /* body that the victim waits for, if it took the message before */
        body.bank = some_index(NOTIFY_BANKS);
        body.slot = some_index(NOTIFY_BANK_SLOTS);
    }
    if (m->type == WIRE_FLOW_OPEN) {
        body.carries &= WIRE_ARENA;
    }
    set_body(m, &body, sizeof(body));
    if (m->type == WIRE_FLOW_OPEN || m->type == WIRE_FLOW_ACCEPT) {
        add_carried(m, body.carries);
    }
}

static struct cm_wire_endpoint some_endpoint(void) {
    return (struct cm_wire_endpoint) {
        .qpn = some_qpn(), .psn = below(1 << 24), .responder_resources = (uint8_t) below(256),
        .initiator_depth = (uint8_t) below(256),
        .retry_count = (uint8_t) below(9), .rnr_retry_count = (uint8_t) below(9),
        .data_length = (uint8_t) (one_in(4) ? below(256) : below(CM_REQ_DATA + 1)),
    };
}

static struct cm_wire_address some_address(uint16_t port) {
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = port, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    struct cm_wire_address address;
    cm_address_to_wire((struct sockaddr *) &in, &address);
    return address;
}

static void make_connection_message(struct message *m) {
    const struct cm_wire_ids ids = some_ids();
    const struct cm_wire_req request = {
        .ids = { .from = 1 + below(UINT32_MAX), .to = ids.to }, .port_space = one_in(4) ? RDMA_PS_UDP : RDMA_PS_TCP,
        .source = some_address((uint16_t) below(65536)),
        .destination = some_address(victim.port), .endpoint = some_endpoint(),
    };
    const struct cm_wire_rep reply = { .ids = ids, .endpoint = some_endpoint() };
    const struct cm_wire_rej rejection = { .ids = ids, .reason = below(40) };
    switch (m->type) {
        case CM_REQ:
            set_body(m, &request, sizeof(request));
            break;
        case CM_REP:
            set_body(m, &reply, sizeof(reply));
            break;
        case CM_REJ:
            set_body(m, &rejection, sizeof(rejection));
            break;
        default:
            set_body(m, &ids, sizeof(ids));
    }
}

/* Makes a group message; its first byte makes a group of the address. */
static void make_group_message(struct message *m) {
    const uint32_t body[] = { 0x000012ff, 0, 0, below(4), some_qpn(), some_id() };
    set_body(m, body, sizeof(body));
}

static void spoil(struct message *m) {
    for (uint32_t i = below(4); i > 0 && m->length > 0; i--) {
        m->body[below((uint32_t) m->length)] = (uint8_t) below(256);
    }
    if (one_in(4)) {
        m->length = one_in(2) ? below(LINK_MAX_BODY + 1) : m->length + below(9);
        m->length = m->length > 4 && one_in(2) ? m->length - below(5) : m->length;
        m->length = m->length > LINK_MAX_BODY ? LINK_MAX_BODY : m->length;
    }
    if (one_in(4)) {
        m->nfds = 0;
        for (uint32_t i = below(LINK_MAX_FDS + 1); i > 0; i--) {
            add_fd(m, (enum thing) below(THINGS));
        }
    }
    if (one_in(8)) {
        m->type = below(2 * LINK_MESSAGE_LIMIT);
    }
}

static void make_message(struct message *m) {
    static const unsigned firsts[] = { WIRE_NOTIFY_AREA, CM_REQ, LINK_MCAST_FIRST };
    static const unsigned counts[] = { WIRE_ARENA_END - WIRE_NOTIFY_AREA + 1, CM_DREP - CM_REQ + 1, MCAST_MESSAGES };
    uint32_t room = below(8);
    uint32_t kind = room < 5 ? 0 : room < 7 ? 1 : 2;
    *m = (struct message) { .type = firsts[kind] + below(counts[kind]) };
    if (m->type == WIRE_NOTIFY_AREA) {
        make_notify_area(m);
    } else if (m->type == WIRE_ATTACH) {
        make_attach(m);
    } else if (m->type == WIRE_SLOTS) {
        make_slots(m);
    } else if (m->type == WIRE_LEAVE || m->type == WIRE_ARENA_END) {
        make_place(m);
    } else if (kind == 0) {
        make_flow(m);
    } else if (kind == 1) {
        make_connection_message(m);
    } else {
        make_group_message(m);
    }
    if (one_in(12)) {
        spoil(m);
    }
}

static void say(struct link *link, struct message *m) {
    int error = link_send(link, m->type, m->body, m->length, m->fds, m->nfds);
    CHECK(error == 0 || error == EPIPE || error == EMFILE); /* too many wait until the victim has greeted */
}

/* The victim accepts a connection. */
static bool on_reply(struct link *link, const struct link_message *incoming) {
    (void) link;
    struct cm_wire_ids ids;
    return learn(incoming, &ids);
}

/* The victim wants to connect: it is told anything that can be said of that. On the engine thread. */
static bool on_request(struct link *link, const struct link_message *incoming) {
    struct cm_wire_ids ids;
    if (!learn(incoming, &ids)) {
        return false;
    }
    while (!atomic_load(&knows_victim)) {
        poll(NULL, 0, 1); /* the victim has been told of this process, and is faster */
    }
    if (state == 0) {
        seed(2);
    }
    for (uint32_t i = 1 + below(4); i > 0; i--) {
        struct message m = { .type = one_in(2) ? CM_REP : CM_REQ + below(CM_DREP - CM_REQ + 1) };
        make_connection_message(&m);
        const struct cm_wire_ids answer = { .from = 1 + below(64), .to = ids.from };
        memcpy(m.body, &answer, sizeof(answer));
        if (one_in(8)) {
            spoil(&m);
        }
        say(link, &m);
    }
    return true;
}

/* Writes into the memory that the victim reads: work requests in the first places, and anything anywhere near them. */
static void scribble(void) {
    struct wire_slot *slots = arena->segment[0].request;
    uint8_t *bytes = one_in(2) ? (uint8_t *) slots : (uint8_t *) &arena->control[0];
    size_t size = bytes == (uint8_t *) slots ? 4 * sizeof(slots[0]) : sizeof(arena->control[0]);
    atomic_store(&arena->control[0].begun[WIRE_REQUESTS], 1);
    for (uint32_t i = below(8); i > 0; i--) {
        uint32_t place = below(4);
        struct wire_slot *slot = &slots[place];
        slot->desc = (struct wire_desc) {
            .op = (uint8_t) (1 + below(8)), .flags = (uint8_t) below(64), .length = below(400),
            .slab = one_in(2) ? WIRE_INLINE : below(UINT32_MAX), .total = below(400), .rkey = QKEY,
        };
        atomic_store(&slot->desc.sequence, place + 1);
    }
    for (uint32_t i = below(4); i > 0; i--) {
        bytes[below((uint32_t) size)] = (uint8_t) below(256);
    }
}

static bool reach_victim(struct link **link) {
    int error;
    switch (below(3)) {
        case 0:
            error = link_connect_qpn(victim.rc_qpn, link);
            break;
        case 1:
            error = link_connect_qpn(victim.ud_qpn, link);
            break;
        default:
            error = link_connect_port(RDMA_PS_TCP, ntohs(victim.port), true, link);
    }
    CHECK(error == 0 || error == EAGAIN);
    return error == 0;
}

static void open_things(void) {
    void *memory;
    int ends[2];
    things[SEGMENT] = sealed_create("babble", wire_arena_size(1), &memory);
    arena = memory;
    CHECK_EQ(pipe(ends), 0);
    things[NOTIFY_AREA] = own_notify_area_fd;
    things[DOORBELL] = own_doorbell.rung.fd;
    things[UNSEALED] = memfd_create("unsealed", MFD_CLOEXEC);
    things[PIPE] = ends[1];
    for (int i = 0; i < THINGS; i++) {
        CHECK(things[i] >= 0);
    }
}

static void babble(int socket) {
    struct end unused; /* opens the provider */
    ud_open(&unused);
    own_qpn = unused.qp->qp_num;
    link_set_handler(CM_REP, on_reply);
    link_set_handler(CM_REQ, on_request);
    struct babbler self = { .qpn = own_qpn, .port = 62000 };
    struct link_port *port;
    do { /* beyond those that the connection manager chooses by itself; another run may have one */
        CHECK(--self.port > 61000);
    } while (link_bind_port(RDMA_PS_TCP, self.port, &port) != 0);
    send_all(socket, &self, sizeof(self));
    receive_all(socket, &victim, sizeof(victim));
    open_things();
    atomic_store(&knows_victim, true);
    seed(1);
    for (uint32_t sent = 0; sent < victim.messages;) {
        struct link *link;
        if (!reach_victim(&link)) {
            poll(NULL, 0, 1);
            continue;
        }
        struct message m = { .type = WIRE_NOTIFY_AREA };
        make_notify_area(&m);
        for (uint32_t i = 0; i < MESSAGES_OF_A_LINK && link_is_up(link); i++, sent++) {
            if (i > 0 || one_in(8)) {
                make_message(&m);
            }
            say(link, &m);
            scribble();
        }
        link_abort(link);
        link_put(link);
    }
    char done = 1;
    send_all(socket, &done, 1);
}

#endif
