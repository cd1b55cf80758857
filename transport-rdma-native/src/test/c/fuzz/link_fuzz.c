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
 * Packets of every kind on links of every kind: with any length, type, body and descriptors, greeted or not, to a
 * process that has queue pairs that wait for their peer, a port, and at times no descriptors left. It hangs up on who
 * misbehaves, forgets who goes silent, and goes on talking with a bystander.
 */
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "check.h"
#include "embedded/link/link_private.h"
#include "engine_by_hand.h"
#include "fuzz.h"
#include "pair.h"
#include "peer.h"
#include "ud_support.h"

#define MAX_COMMANDS 64
#define ENDS 3 /* RC that is at RTR, RC that is at INIT, UD */
#define ROUTE (PEER_LINKS - 1)

static struct end bystander_a, bystander_b, ends[ENDS];
static struct ibv_qp *qps[ENDS];
static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener;
static uint16_t port;

static struct ibv_qp *open_qp(struct end *end) {
    struct end with_qp;
    end_open_on(&with_qp, end, &end->options);
    if (end->options.type == IBV_QPT_UD) {
        ud_ready(&with_qp);
    } else {
        end_to_init(&with_qp);
    }
    post_recv(&with_qp, 1, 0, 128);
    return with_qp.qp;
}

static uint32_t some_qpn(uint8_t which) {
    return which < ENDS ? qps[which]->qp_num : which < 8 ? PEER_QPN + which : bystander_a.qp->qp_num + which - 8;
}

static int input_things(enum peer_thing *things, int most) {
    int count = input_u8() % (most + 1);
    for (int i = 0; i < count; i++) {
        things[i] = input_u8() % THINGS;
    }
    return count;
}

static void connect_link(int link, uint8_t where) {
    bool there = where % 4 == 3 ? peer_connect_port(link, RDMA_PS_TCP, port)
                                : peer_connect_qpn(link, qps[where % 4]->qp_num);
    if (there && (where & 4) == 0) {
        peer_hello(link);
    }
    if (there && (where & 8) == 0) {
        peer_notify_area(link);
    }
}

/* Says any bytes, also without a whole header. */
static void say_anything(int link) {
    uint8_t packet[sizeof(struct link_header) + LINK_MAX_BODY + 64] = { 0 };
    enum peer_thing things[PEER_MAX_FDS];
    size_t length = input_u16() % (sizeof(packet) + 1);
    memcpy(packet, &(struct link_header) { .type = input_u8() }, sizeof(struct link_header));
    input_patch(packet, sizeof(packet));
    int count = input_things(things, PEER_MAX_FDS);
    peer_say_raw(link, packet, length, things, count);
}

/* Nearly right: a message about queue pairs. */
static void say_something(int link) {
    uint8_t type = input_u8(), which = input_u8();
    enum peer_thing things[PEER_MAX_FDS] = { THING_NOTIFY_AREA, THING_DOORBELL, THING_DOORBELL };
    uint32_t dst = some_qpn(which & 15), src = some_qpn(which >> 4);
    union {
        struct wire_attach attach;
        struct wire_slots slots;
        struct wire_flow flow;
        struct wire_place place;
    } body = { 0 };
    size_t length;
    int count = 0;
    type = WIRE_NOTIFY_AREA + type % (WIRE_ARENA_END - WIRE_NOTIFY_AREA + 1);
    switch (type) {
        case WIRE_NOTIFY_AREA:
            length = 0;
            count = 2;
            break;
        case WIRE_ATTACH:
            body.attach = (struct wire_attach) { .src_qpn = src, .dst_qpn = dst, .type = IBV_QPT_RC };
            body.attach.carries = WIRE_ARENA | (which >> 6) * WIRE_RECV_DOORBELL;
            body.attach.place.segments = 1;
            length = sizeof(body.attach);
            things[0] = THING_SEGMENT;
            count = 1 + (which >> 6 & 1) + (which >> 7);
            break;
        case WIRE_SLOTS:
            body.slots = (struct wire_slots) { .src_qpn = src, .dst_qpn = dst, .wants = which };
            length = sizeof(body.slots);
            break;
        case WIRE_LEAVE: case WIRE_ARENA_END:
            body.place = (struct wire_place) { .arena = which & 1, .segments = 1 };
            length = sizeof(body.place);
            break;
        default:
            count = type == WIRE_FLOW_OPEN || type == WIRE_FLOW_ACCEPT;
            body.flow = (struct wire_flow) { .src_qpn = src, .dst_qpn = dst, .id = which };
            body.flow.carries = (uint32_t) count * WIRE_ARENA;
            body.flow.place.segments = 1;
            length = sizeof(body.flow);
            things[0] = THING_SEGMENT;
    }
    uint8_t how = input_u8();
    if ((how & 1) != 0) {
        input_patch(&body, length > 0 ? length : sizeof(body));
    }
    if ((how & 2) != 0) {
        count = input_things(things, PEER_MAX_FDS);
    }
    if ((how & 4) != 0) {
        length = input_u8() % (sizeof(body) + 1);
    }
    for (unsigned times = 1u << (how >> 4 & 7); times > 0; times--) {
        peer_say(link, type, &body, length, things, count); /* an answer to each may be more than the socket takes */
    }
}

static void command(void) {
    uint8_t code = input_u8();
    int link = code >> 4 & 3;
    bool at_once = (code & 0x80) == 0;
    switch (code & 15) {
        case 0: case 1:
            connect_link(link, input_u8());
            break;
        case 2: case 3:
            say_anything(link);
            break;
        case 4: case 5: case 6: case 7:
            say_something(link);
            break;
        case 8:
            peer_hello(link);
            break;
        case 9:
            peer_hang_up(link);
            break;
        case 10:
            peer_listen();
            break;
        case 11:
            run_starved(input_u8());
            return;
        case 12:
            engine_pass(UINT64_C(1000) << (input_u8() % 24));
            return;
        case 13: { /* whoever waits for its peer meets it */
            struct end end = ends[1];
            end.qp = qps[1];
            if (qps[1]->state == IBV_QPS_INIT) {
                CHECK_EQ(end_to_rtr(&end, PEER_QPN + 1), 0);
            }
            break;
        }
        case 14: { /* the link speaks, too, and may not be listened to */
            struct end end = ends[2];
            end.qp = qps[2];
            struct ibv_ah *ah = own_ah(&end);
            for (int i = input_u8() % 8; i >= 0; i--) {
                post_datagram(&end, 0, 0, 8, ah, PEER_QPN + (uint32_t) i);
            }
            CHECK_EQ(ibv_destroy_ah(ah), 0);
            break;
        }
        default: {
            struct ibv_wc wc[8];
            for (int i = 0; i < ENDS; i++) {
                ends[i].context->ops.poll_cq(ends[i].recv_cq, 8, wc);
            }
            at_once = true;
        }
    }
    if (at_once) {
        engine_run();
    }
}

static void take_async_events(struct ibv_context *context) {
    struct ibv_async_event event;
    while (ibv_get_async_event(context, &event) == 0) {
        ibv_ack_async_event(&event);
    }
}

static void take_cm_events(void) {
    struct rdma_cm_event *event;
    while (rdma_get_cm_event(channel, &event) == 0) {
        struct rdma_cm_id *id = event->id;
        CHECK_EQ(rdma_ack_cm_event(event), 0);
        if (id != listener) {
            CHECK_EQ(rdma_destroy_id(id), 0);
        }
    }
}

static void run(const uint8_t *data, size_t size) {
    input_open(data, size);
    run_seed();
    for (int i = 0; i < ENDS; i++) {
        qps[i] = open_qp(&ends[i]);
    }
    struct end end = ends[0];
    end.qp = qps[0];
    CHECK_EQ(end_to_rtr(&end, PEER_QPN), 0);
    peer_listen();
    for (int i = 0; i < MAX_COMMANDS && input_left(); i++) {
        command();
    }
    engine_run();
    for (int i = 0; i < ENDS; i++) {
        struct ibv_wc wc[8];
        while (ends[i].context->ops.poll_cq(ends[i].recv_cq, 8, wc) > 0) {
        }
        take_async_events(ends[i].context);
        struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
        CHECK_EQ(ibv_modify_qp(qps[i], &attr, IBV_QP_STATE), 0);
        take_async_events(ends[i].context);
        CHECK_EQ(ibv_destroy_qp(qps[i]), 0);
    }
    take_cm_events();
    peer_forget();
    pair_talk(&bystander_a, &bystander_b);
    run_check();
}

static void open_listener(void) {
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    channel = rdma_create_event_channel();
    CHECK(channel != NULL);
    set_non_blocking(channel->fd);
    CHECK_EQ(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(listener, (struct sockaddr *) &any), 0);
    CHECK_EQ(rdma_listen(listener, 16), 0);
    port = ntohs(rdma_get_src_port(listener));
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void) argc;
    (void) argv;
    run_seed();
    peer_open();
    struct options options = defaults;
    options.cqe = 64;
    pair_open(&bystander_a, &bystander_b, &options);
    open_listener();
    for (int i = 0; i < ENDS; i++) {
        options.type = i == 2 ? IBV_QPT_UD : IBV_QPT_RC;
        options.channel = i == 1;
        end_open(&ends[i], &options);
        CHECK_EQ(ibv_destroy_qp(ends[i].qp), 0);
        set_non_blocking(ends[i].context->async_fd);
    }
    engine_run();
    run((const uint8_t *) "", 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    run(data, size);
    return 0;
}
