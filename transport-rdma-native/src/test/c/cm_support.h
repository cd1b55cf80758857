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
/* Common part of the tests of the connection manager: ids without queue pairs, and events awaited with a bound. */
#ifndef NETTY_RDMA_TEST_CM_SUPPORT_H
#define NETTY_RDMA_TEST_CM_SUPPORT_H

#include "check.h"
#include "provider.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

/* Reasons of a rejection, in the status of its event: InfiniBand specification 12.6.7.2. */
enum {
    REJECT_NO_LISTENER = 8, /* invalid service id */
    REJECT_STALE = 10,
    REJECT_CONSUMER = 28,
};

struct address {
    struct sockaddr_storage storage;
};

static inline struct sockaddr *sockaddr_of(struct address *address) {
    return (struct sockaddr *) &address->storage;
}

static inline struct address address_of(const char *text, uint16_t port) {
    struct address a;
    memset(&a, 0, sizeof(a));
    if (strchr(text, ':') != NULL) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) &a.storage;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(port);
        CHECK_EQ(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
    } else {
        struct sockaddr_in *in = (struct sockaddr_in *) &a.storage;
        in->sin_family = AF_INET;
        in->sin_port = htons(port);
        CHECK_EQ(inet_pton(AF_INET, text, &in->sin_addr), 1);
    }
    return a;
}

static inline struct rdma_event_channel *new_channel(void) {
    struct rdma_event_channel *channel = rdma_create_event_channel();
    CHECK(channel != NULL);
    CHECK_EQ(fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK), 0);
    return channel;
}

static inline struct rdma_cm_id *new_id(struct rdma_event_channel *channel) {
    struct rdma_cm_id *id;
    CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
    return id;
}

static inline struct rdma_cm_event *next_event(struct rdma_event_channel *channel) {
    struct pollfd wait = { .fd = channel->fd, .events = POLLIN };
    CHECK_EQ(poll(&wait, 1, patience_ms()), 1);
    struct rdma_cm_event *event;
    CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
    return event;
}

static inline struct rdma_cm_event *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type) {
    struct rdma_cm_event *event = next_event(channel);
    CHECK_EQ(event->event, type);
    return event;
}

static inline void expect_and_ack(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int status) {
    struct rdma_cm_event *event = expect(channel, type);
    CHECK_EQ(event->status, status);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
}

static inline void expect_nothing(struct rdma_event_channel *channel) {
    struct rdma_cm_event *event;
    settle();
    CHECK_EQ(rdma_get_cm_event(channel, &event), -1);
    CHECK_EQ(errno, EAGAIN);
}

static inline struct rdma_cm_id *new_listener(struct rdma_event_channel *channel, const char *text, int backlog) {
    struct rdma_cm_id *id = new_id(channel);
    struct address address = address_of(text, 0);
    CHECK_EQ(rdma_bind_addr(id, sockaddr_of(&address)), 0);
    CHECK_EQ(rdma_listen(id, backlog), 0);
    CHECK(rdma_get_src_port(id) != 0);
    return id;
}

static inline uint16_t port_of(struct rdma_cm_id *id) {
    return ntohs(rdma_get_src_port(id));
}

static inline void resolve(struct rdma_cm_id *id, const char *text, uint16_t port) {
    struct address address = address_of(text, port);
    CHECK_EQ(rdma_resolve_addr(id, NULL, sockaddr_of(&address), 2000), 0);
    expect_and_ack(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    CHECK_EQ(rdma_resolve_route(id, 2000), 0);
    expect_and_ack(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

/*
 * Made up, as these ids have no queue pairs. The kernel remembers for some time which numbers were connected and
 * refuses them, so each is used once on the machine as far as that can be had.
 */
static inline uint32_t fresh_qpn(void) {
    static uint32_t count;
    return 0x800000 | (((uint32_t) getpid() * 1009 + count++) & 0x7fffff);
}

/* An id that has sent its request. */
static inline struct rdma_cm_id *connecting_as(uint32_t qpn, struct rdma_event_channel *channel, const char *text,
                                               uint16_t port) {
    struct rdma_cm_id *id = new_id(channel);
    resolve(id, text, port);
    struct rdma_conn_param param = { .qp_num = qpn };
    CHECK_EQ(rdma_connect(id, &param), 0);
    return id;
}

static inline struct rdma_cm_id *connecting(struct rdma_event_channel *channel, const char *text, uint16_t port) {
    return connecting_as(fresh_qpn(), channel, text, port);
}

struct pair {
    uint32_t active_qpn;
    struct rdma_event_channel *server, *client;
    struct rdma_cm_id *listener, *passive, *active;
};

static inline struct rdma_cm_id *accept_next(struct rdma_event_channel *server) {
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *id = event->id;
    struct rdma_conn_param param = { .qp_num = fresh_qpn() };
    CHECK_EQ(rdma_accept(id, &param), 0);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    return id;
}

static inline struct pair new_pair(void) {
    struct pair p = { .active_qpn = fresh_qpn(), .server = new_channel(), .client = new_channel() };
    p.listener = new_listener(p.server, test_address(), 8);
    p.active = connecting_as(p.active_qpn, p.client, test_address(), port_of(p.listener));
    p.passive = accept_next(p.server);
    expect_and_ack(p.client, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    CHECK_EQ(rdma_establish(p.active), 0);
    expect_and_ack(p.server, RDMA_CM_EVENT_ESTABLISHED, 0);
    return p;
}

static inline void free_pair(struct pair *p) {
    CHECK_EQ(rdma_destroy_id(p->active), 0);
    CHECK_EQ(rdma_destroy_id(p->passive), 0);
    CHECK_EQ(rdma_destroy_id(p->listener), 0);
    rdma_destroy_event_channel(p->server);
    rdma_destroy_event_channel(p->client);
}

#endif
