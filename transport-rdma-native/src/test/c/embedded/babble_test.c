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
 * The victim of a process that babbles must live, serve others meanwhile, and be left with nothing.
 *
 * RDMA_SEED chooses what is said, RDMA_MESSAGES how much; for longer runs than here.
 */
#include <poll.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "babbler.h"

#define MESSAGES 50000
#define RECEIVES 32
#define LASTING_FDS 8 /* limit of descriptors that are opened once in the life of a process; a leak would be hundreds */

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener;
static struct babbler babbler;

#define CONNECTIONS 64

static struct rdma_cm_id *connections[CONNECTIONS];

static void end_connection(struct rdma_cm_id **place) {
    if (*place != NULL) {
        CHECK_EQ(rdma_destroy_id(*place), 0);
        *place = NULL;
    }
}

/* Keeps a connection, in the place of the oldest one. */
static void keep_connection(struct rdma_cm_id *id) {
    static unsigned next;
    struct rdma_cm_id **place = &connections[next++ % CONNECTIONS];
    end_connection(place);
    *place = id;
    id->context = place;
}

static void listen_somewhere(void) {
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    channel = rdma_create_event_channel();
    CHECK(channel != NULL);
    CHECK_EQ(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(listener, (struct sockaddr *) &any), 0);
    CHECK_EQ(rdma_listen(listener, 16), 0);
}

static void stop_listening(void) {
    for (int i = 0; i < CONNECTIONS; i++) {
        end_connection(&connections[i]);
    }
    CHECK_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(channel);
}

static void connect_to_babbler(void) {
    struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = htons(babbler.port), .sin_addr = { htonl(INADDR_LOOPBACK) },
    };
    struct rdma_cm_id *id;
    CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
    keep_connection(id);
    CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *) &in, 2000), 0);
}

/*
 * Acts on an event as servers and clients without queue pairs would. Calls that fail do since the babbler has hung up
 * already.
 */
static void take_event(void) {
    struct rdma_cm_event *event;
    CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
    struct rdma_cm_id *id = event->id;
    enum rdma_cm_event_type type = event->event;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    struct rdma_conn_param parameters = { .qp_num = babbler.qpn };
    switch (type) {
        case RDMA_CM_EVENT_CONNECT_REQUEST:
            keep_connection(id);
            if (rdma_accept(id, &parameters) != 0) {
                end_connection(id->context);
            }
            break;
        case RDMA_CM_EVENT_ADDR_RESOLVED:
            CHECK_EQ(rdma_resolve_route(id, 2000), 0);
            break;
        case RDMA_CM_EVENT_ROUTE_RESOLVED:
            CHECK_EQ(rdma_connect(id, &parameters), 0);
            break;
        case RDMA_CM_EVENT_CONNECT_RESPONSE:
            rdma_establish(id);
            break;
        case RDMA_CM_EVENT_ESTABLISHED:
            break;
        default:
            end_connection(id->context);
    }
}

static void serve(struct end *end) {
    struct ibv_wc wc;
    while (end->context->ops.poll_cq(end->recv_cq, 1, &wc) == 1) {
        if (wc.status == IBV_WC_SUCCESS && (wc.opcode & IBV_WC_RECV) != 0) {
            post_recv(end, wc.wr_id, 0, 4096);
        }
    }
}

static pid_t babbler_pid;
static int babbler_socket;

static void whatever_a_peer_says_does_no_harm(void) {
    struct end rc, ud, bystander_a, bystander_b;
    pair_open(&bystander_a, &bystander_b, &defaults);
    pair_talk(&bystander_a, &bystander_b);
    int fds_before = open_fds();
    listen_somewhere();
    ud_open(&ud);
    end_open(&rc, &defaults);
    end_to_init(&rc);
    for (uint64_t i = 0; i < RECEIVES; i++) {
        CHECK_EQ(post_recv(&rc, i, 0, 4096), 0);
        CHECK_EQ(post_recv(&ud, i, 0, 4096), 0);
    }
    const union ibv_gid group = { .raw = { 0xff, 0x12, [15] = 1 } };
    CHECK_EQ(ibv_attach_mcast(ud.qp, &group, 0xc001), 0);
    CHECK_EQ(end_to_rtr(&rc, babbler.qpn), 0);
    CHECK_EQ(end_to_rts(&rc), 0);
    const struct victim self = {
        .rc_qpn = rc.qp->qp_num, .ud_qpn = ud.qp->qp_num, .port = rdma_get_src_port(listener),
        .seed = env_number("RDMA_SEED", 1), .messages = env_number("RDMA_MESSAGES", MESSAGES),
    };
    send_all(babbler_socket, &self, sizeof(self));
    struct ibv_ah *ah = own_ah(&ud);
    struct pollfd waits[] = { { .fd = babbler_socket, .events = POLLIN }, { .fd = channel->fd, .events = POLLIN } };
    for (uint64_t round = 0; poll(waits, 2, 1) >= 0 && waits[0].revents == 0; round++) {
        if (waits[1].revents != 0) {
            take_event();
        }
        serve(&rc);
        serve(&ud);
        if (round % 4 == 0) {
            connect_to_babbler();
        }
        if (round % 16 == 0) {
            post_datagram(&ud, RECEIVES, 0, 8, ah, babbler.qpn); /* flows of our own; the queue may be full */
        }
        if (round % 64 == 0) {
            pair_talk(&bystander_a, &bystander_b);
        }
    }
    char done;
    receive_all(babbler_socket, &done, 1);
    expect_exit(babbler_pid, 0);
    pair_talk(&bystander_a, &bystander_b);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    CHECK_EQ(ibv_detach_mcast(ud.qp, &group, 0xc001), 0);
    end_close(&rc);
    end_close(&ud);
    stop_listening();
    CHECK_EVENTUALLY(open_fds() <= fds_before + LASTING_FDS);
    pair_close(&bystander_a, &bystander_b);
}

int main(void) {
    babbler_pid = spawn(babble, &babbler_socket);
    receive_all(babbler_socket, &babbler, sizeof(babbler));
    RUN(whatever_a_peer_says_does_no_harm);
    return 0;
}
