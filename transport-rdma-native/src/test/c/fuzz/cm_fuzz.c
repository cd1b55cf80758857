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
 * The connection manager against a peer that says anything at any time: requests, replies, rejections and ends of
 * connections and of queries of datagram services, in any order, about connections that are, were or never have been.
 * The victim listens and connects, with queue pairs and without, and does with its events what the input says.
 *
 * Beside what the sanitizers find: each event has private data of the length that its kind has, everything can be
 * destroyed at any time, and who speaks of a connection that is another's, or by another name than its own, changes
 * nothing.
 */
#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "check.h"
#include "embedded/cm/cm.h"
#include "engine_by_hand.h"
#include "fuzz.h"
#include "peer.h"
#include "provider.h"

#define MAX_COMMANDS 96
#define IDS 16
#define KNOWN 16
#define HOMES 64

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listeners[2]; /* TCP, UDP */
static uint16_t ports[2];
static struct ibv_pd *pd;

/* ---- the victim ---- */

static struct rdma_cm_id *ids[IDS];
static uint8_t data[256];
static unsigned established; /* number in all runs */

static void destroy(int place) {
    struct rdma_cm_id *id = ids[place];
    if (id != NULL) {
        if (id->qp != NULL) {
            rdma_destroy_qp(id);
        }
        CHECK_EQ(rdma_destroy_id(id), 0);
        ids[place] = NULL;
    }
}

/* Keeps an id in the place of the oldest. */
static void keep(struct rdma_cm_id *id) {
    static int next;
    int place = 0;
    while (place < IDS && ids[place] != NULL) {
        place++;
    }
    if (place == IDS) {
        place = next++ % IDS;
        destroy(place);
    }
    ids[place] = id;
}

static int place_of(const struct rdma_cm_id *id) {
    int place = 0;
    while (place < IDS && ids[place] != id) {
        place++;
    }
    return place;
}

static void create_qp(struct rdma_cm_id *id) {
    struct ibv_qp_init_attr init = {
        .qp_type = id->qp_type, .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
    };
    if (id->qp == NULL) {
        rdma_create_qp(id, pd, &init);
    }
}

static void connect_id(bool datagrams) {
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(PEER_PORT), .sin_addr = { htonl(INADDR_LOOPBACK) },
    };
    struct rdma_cm_id *id;
    CHECK_EQ(rdma_create_id(channel, &id, NULL, datagrams ? RDMA_PS_UDP : RDMA_PS_TCP), 0);
    keep(id);
    CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *) &to, 2000), 0);
}

static bool is_length(const struct rdma_cm_event *event, uint8_t length) {
    bool datagrams = event->id->ps == RDMA_PS_UDP;
    switch (event->event) {
        case RDMA_CM_EVENT_CONNECT_REQUEST:
            return length == (datagrams ? CM_SIDR_REQ_DATA : CM_REQ_DATA);
        case RDMA_CM_EVENT_CONNECT_RESPONSE:
        case RDMA_CM_EVENT_CONNECT_ERROR: /* was a response until the queue pair was to be connected, as in librdmacm */
            return length == CM_REP_DATA;
        case RDMA_CM_EVENT_ESTABLISHED:
            return datagrams ? length == CM_SIDR_REP_DATA : length == CM_REP_DATA || length == 0;
        case RDMA_CM_EVENT_REJECTED:
            return length == CM_REJ_DATA;
        case RDMA_CM_EVENT_UNREACHABLE:
            return length == 0 || length == CM_SIDR_REP_DATA;
        default:
            return length == 0;
    }
}

static void check_data(const struct rdma_cm_event *event) {
    bool datagrams = event->id->ps == RDMA_PS_UDP;
    const uint8_t *bytes = datagrams ? event->param.ud.private_data : event->param.conn.private_data;
    uint8_t length = datagrams ? event->param.ud.private_data_len : event->param.conn.private_data_len;
    if (!is_length(event, length)) {
        fprintf(stderr, "event %d of port space %x with %u bytes\n", event->event, event->id->ps, length);
        abort();
    }
    volatile uint8_t sum = 0;
    for (uint8_t i = 0; i < length; i++) {
        sum = (uint8_t) (sum + bytes[i]);
    }
}

static void take_event(void) {
    struct rdma_cm_event *event;
    uint8_t how = input_u8();
    if (rdma_get_cm_event(channel, &event) != 0) {
        return;
    }
    struct rdma_cm_id *id = event->id;
    enum rdma_cm_event_type type = event->event;
    check_data(event);
    established += type == RDMA_CM_EVENT_ESTABLISHED;
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
        CHECK(event->listen_id == listeners[0] || event->listen_id == listeners[1]);
        keep(id);
    }
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    if (place_of(id) == IDS) {
        return;
    }
    struct rdma_conn_param param = {
        .private_data = data, .private_data_len = input_u8() & ((how & 16) != 0 ? 255 : 31),
        .responder_resources = how >> 5, .initiator_depth = how >> 6, .qp_num = 17, .retry_count = 7,
    };
    switch (type) {
        case RDMA_CM_EVENT_CONNECT_REQUEST:
            if ((how & 1) != 0) {
                create_qp(id);
            }
            if ((how & 6) == 2) {
                rdma_reject(id, data, param.private_data_len);
            } else if ((how & 6) == 4) {
                destroy(place_of(id));
            } else if ((how & 6) == 0) {
                rdma_accept(id, &param);
            }
            break;
        case RDMA_CM_EVENT_ADDR_RESOLVED:
            rdma_resolve_route(id, 2000);
            break;
        case RDMA_CM_EVENT_ROUTE_RESOLVED:
            if ((how & 1) != 0) {
                create_qp(id);
            }
            rdma_connect(id, &param);
            break;
        case RDMA_CM_EVENT_CONNECT_RESPONSE:
            if ((how & 1) == 0) {
                rdma_establish(id);
            } else {
                rdma_reject(id, data, param.private_data_len);
            }
            break;
        case RDMA_CM_EVENT_DISCONNECTED:
            rdma_disconnect(id);
            break;
        default:
            if ((how & 1) != 0) {
                destroy(place_of(id));
            }
    }
}

/* Acts out of turn. */
static void act(uint8_t what, uint8_t which) {
    struct rdma_cm_id *id = ids[which % IDS];
    struct rdma_conn_param param = { .private_data = data, .private_data_len = which, .qp_num = which };
    if (id == NULL) {
        return;
    }
    switch (what % 8) {
        case 0:
            rdma_disconnect(id);
            break;
        case 1:
            rdma_accept(id, &param);
            break;
        case 2:
            rdma_reject(id, data, which);
            break;
        case 3:
            rdma_establish(id);
            break;
        case 4:
            rdma_connect(id, &param);
            break;
        case 5:
            rdma_notify(id, IBV_EVENT_COMM_EST);
            break;
        default:
            destroy(which % IDS);
    }
}

/* ---- the peer ---- */

static struct known {
    struct cm_wire_ids ids; /* handles as the peer says them */
    int link;
} known[KNOWN];
static unsigned count_known;
static uint32_t next_handle;

/* Links of connections: the victim has begun or answered them there. */
static struct home {
    uint32_t handle;
    unsigned link_number;
} homes[HOMES];
static unsigned count_homes;

static struct home *home_of(uint32_t handle) {
    for (unsigned i = 0; i < HOMES; i++) {
        if (homes[i].handle == handle) {
            return &homes[i];
        }
    }
    return NULL;
}

static void learn_home(int link, uint32_t handle) {
    struct home *home = home_of(handle);
    home = home != NULL ? home : &homes[count_homes++ % HOMES];
    *home = (struct home) { handle, peer_number(link) };
}

static void learn(int link, unsigned type, const void *body, size_t length) {
    struct cm_wire_ids heard;
    if (type < CM_REQ || type > CM_DREP) {
        return;
    }
    CHECK(length >= sizeof(heard));
    memcpy(&heard, body, sizeof(heard));
    if (type == CM_REQ || type == CM_REP) {
        learn_home(link, heard.from);
    }
    struct known *k = &known[count_known++ % KNOWN];
    k->link = link;
    k->ids.to = heard.from;
    k->ids.from = type == CM_REQ ? ++next_handle : heard.to;
}

static struct cm_wire_address address(uint16_t port) {
    struct cm_wire_address address = { .family = AF_INET, .port = htons(port), .bytes = { 127, 0, 0, 1 } };
    return address;
}

static struct cm_wire_endpoint endpoint(uint8_t which) {
    return (struct cm_wire_endpoint) {
        .qpn = PEER_QPN + (which & 15), .psn = which, .responder_resources = which, .initiator_depth = which,
        .retry_count = which & 7, .rnr_retry_count = which >> 3 & 7, .data_length = which & 31,
    };
}

/* State that a message could change. */
struct condition {
    bool exists;
    enum cm_state state;
    enum cm_conn_state conn;
    uint32_t remote_handle;
    const struct link *link;
};

static struct condition condition_of(uint32_t handle) {
    struct condition condition;
    memset(&condition, 0, sizeof(condition)); /* zeroed, as it is compared */
    pthread_mutex_lock(&cm_lock);
    const struct cm_id *id = cm_find(handle);
    if (id != NULL) {
        condition.exists = true;
        condition.state = id->state;
        condition.conn = id->conn;
        condition.remote_handle = id->remote_handle;
        condition.link = id->link;
    }
    pthread_mutex_unlock(&cm_lock);
    return condition;
}

/* Returns whether a message is about a connection that is on another link, or has another name there. */
static bool is_foreign(int link, const struct cm_wire_ids *ids, const struct condition *condition) {
    const struct home *home = home_of(ids->to);
    return (home != NULL && home->link_number != peer_number(link))
            || (condition->remote_handle != 0 && condition->remote_handle != ids->from);
}

static void say_ids(int link, unsigned type, const void *body, size_t length, const enum peer_thing *thing, int count) {
    struct cm_wire_ids ids;
    memcpy(&ids, body, sizeof(ids));
    struct condition before = condition_of(ids.to), after;
    if (type == CM_REQ || !before.exists || !is_foreign(link, &ids, &before)) {
        peer_say(link, type, body, length, thing, count);
        return;
    }
    engine_run(); /* earlier messages may change the condition */
    peer_listen();
    before = condition_of(ids.to);
    bool foreign = is_foreign(link, &ids, &before);
    unsigned number = peer_number(link);
    peer_say(link, type, body, length, thing, count);
    engine_run();
    peer_listen();
    if (peer_has(link) && peer_number(link) == number) { /* else it was malformed, and ends what is on this link */
        after = condition_of(ids.to);
        CHECK(!foreign || memcmp(&before, &after, sizeof(before)) == 0);
    }
}

static void say(void) {
    uint8_t type = CM_REQ + input_u8() % (CM_DREP - CM_REQ + 1), which = input_u8(), how = input_u8();
    const struct known *k = &known[which % KNOWN];
    int link = (how & 3) != 0 ? how & 3 : k->link;
    union {
        struct cm_wire_req req;
        struct cm_wire_rep rep;
        struct cm_wire_rej rej;
        struct cm_wire_plain plain;
    } body;
    size_t length = sizeof(body.plain);
    memset(&body, 0, sizeof(body));
    if (type == CM_REQ) {
        bool datagrams = (which & 128) != 0;
        body.req.port_space = datagrams ? RDMA_PS_UDP : RDMA_PS_TCP;
        body.req.source = address(4711);
        body.req.destination = address(ports[datagrams]);
        body.req.endpoint = endpoint(which);
        length = sizeof(body.req);
    } else if (type == CM_REP) {
        body.rep.endpoint = endpoint(which);
        length = sizeof(body.rep);
    } else if (type == CM_REJ) {
        body.rej.reason = input_u8();
        length = sizeof(body.rej);
    }
    body.plain.ids = k->ids;
    if (type == CM_REQ) {
        body.plain.ids = (struct cm_wire_ids) { .from = (which & 64) != 0 ? next_handle : ++next_handle };
    }
    if ((how & 16) != 0 && type != CM_REQ) {
        body.plain.ids.from++;
    }
    if ((how & 4) != 0) {
        input_patch(&body, length);
    }
    if ((how & 8) != 0) {
        length = input_u16() % (sizeof(body) + 1);
    }
    const enum peer_thing thing = THING_PIPE;
    say_ids(link, type, &body, length, &thing, (how & 0xf0) == 0xf0);
}

/* Says where an address is, or answers what was not asked: in processes that share a folder. */
static void say_where(uint8_t how) {
    union {
        struct cm_wire_ask ask;
        struct cm_wire_answer answer;
    } body;
    bool asks = (how & 1) != 0;
    size_t length = asks ? sizeof(body.ask) : sizeof(body.answer);
    memset(&body, 0, sizeof(body));
    if (asks) {
        body.ask.from = next_handle;
        body.ask.address = address(ports[0]);
    } else {
        body.answer.to = known[how >> 1 & 15].ids.to;
        body.answer.here = 1;
    }
    if ((how & 64) != 0) {
        input_patch(&body, length);
    }
    if ((how & 128) != 0) {
        length = input_u8() % (sizeof(body) + 1);
    }
    peer_say(how >> 5 & 1, asks ? CM_ASK : CM_ANSWER, &body, length, NULL, 0);
}

static void connect_link(int link, uint8_t where) {
    bool there = peer_connect_port(link, (where & 1) != 0 ? RDMA_PS_UDP : RDMA_PS_TCP, ports[where & 1]);
    CHECK(there);
    peer_hello(link);
}

static void command(void) {
    uint8_t code = input_u8();
    bool at_once = (code & 0x80) == 0;
    switch (code & 15) {
        case 0: case 1: case 2: case 3: case 4:
            say();
            break;
        case 5: case 6: case 7: case 8:
            take_event();
            break;
        case 9:
            connect_id((code & 16) != 0);
            break;
        case 10:
            act(code >> 4, input_u8());
            break;
        case 11:
            connect_link(code >> 4 & 1, code >> 5);
            break;
        case 12:
            peer_hang_up(code >> 4 & 3);
            break;
        case 13:
            engine_pass(UINT64_C(1000000) << (input_u8() % 18)); /* up to 131 s */
            break;
        case 14:
            say_where(input_u8());
            break;
        default:
            peer_greet(2, false);
    }
    if (at_once) {
        engine_run();
        peer_greet(2, false);
    }
}

/* ---- a run ---- */

static void destroy_all(void) {
    struct rdma_cm_event *event;
    while (rdma_get_cm_event(channel, &event) == 0) {
        check_data(event);
        if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
            keep(event->id);
        }
        CHECK_EQ(rdma_ack_cm_event(event), 0);
    }
    for (int i = 0; i < IDS; i++) {
        destroy(i);
    }
}

static void run(const uint8_t *bytes, size_t size) {
    input_open(bytes, size);
    run_seed();
    memset(known, 0, sizeof(known));
    memset(homes, 0, sizeof(homes));
    count_known = count_homes = 0;
    next_handle = 1;
    connect_link(0, 0);
    connect_link(1, 1);
    engine_run();
    peer_listen();
    for (int i = 0; i < MAX_COMMANDS && input_left(); i++) {
        command();
    }
    engine_run();
    destroy_all();
    peer_forget();
    destroy_all(); /* requests that the engine has taken since */
    struct ibv_async_event event;
    while (ibv_get_async_event(listeners[0]->verbs != NULL ? listeners[0]->verbs : pd->context, &event) == 0) {
        ibv_ack_async_event(&event);
    }
    run_check();
}

static void open_listener(int which, enum rdma_port_space space) {
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    CHECK_EQ(rdma_create_id(channel, &listeners[which], NULL, space), 0);
    CHECK_EQ(rdma_bind_addr(listeners[which], (struct sockaddr *) &any), 0);
    CHECK_EQ(rdma_listen(listeners[which], 8), 0);
    ports[which] = ntohs(rdma_get_src_port(listeners[which]));
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void) argc;
    (void) argv;
    run_seed();
    channel = rdma_create_event_channel();
    CHECK(channel != NULL);
    set_non_blocking(channel->fd);
    peer_open();
    peer_on_message = learn;
    open_listener(0, RDMA_PS_TCP);
    open_listener(1, RDMA_PS_UDP);
    CHECK(listeners[0]->verbs != NULL);
    set_non_blocking(listeners[0]->verbs->async_fd);
    pd = ibv_alloc_pd(listeners[0]->verbs);
    CHECK(pd != NULL);
    memset(data, 0x5a, sizeof(data));
    engine_run();
    /* A connection is accepted, one is made; a queue pair of each kind is opened. */
    static const uint8_t honest[] = {
        0, 0, 3, 1, 5, 1, 8, 0, 2, 0, 0, 5, 0, 0, 9, 5, 0, 0, 5, 1, 0, 0, 1, 1, 0, 5, 0, 0, 9 + 16, 5, 0, 0, 5, 1, 0,
    };
    run(honest, sizeof(honest));
    CHECK_EQ(established, 2);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    run(bytes, size);
    return 0;
}
