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
/* @Tag("stalls") */
/*
 * The connection manager between ids of one process: addresses, the handshake, its refusals, its end.
 */
#include "cm_support.h"

#include <pthread.h>
#include <sys/socket.h>

/* ---- addresses ---- */

static int bind_result(struct rdma_cm_id *id, const char *text, uint16_t port) {
    struct address address = address_of(text, port);
    return rdma_bind_addr(id, sockaddr_of(&address)) == 0 ? 0 : errno;
}

static void ports_conflict_where_addresses_overlap(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *first = new_id(channel), *second = new_id(channel), *third = new_id(channel), *other_space;
    CHECK_EQ(bind_result(first, test_address(), 0), 0);
    uint16_t port = port_of(first);
    CHECK(port >= 1024);
    CHECK_EQ(bind_result(first, test_address(), port), EINVAL); /* bound already */
    CHECK_EQ(bind_result(second, test_address(), port), EADDRINUSE);
    CHECK_EQ(bind_result(second, "0.0.0.0", port), EADDRNOTAVAIL); /* the kernel's word, as a wildcard is part of it */
    CHECK_EQ(bind_result(second, "::", port), EADDRNOTAVAIL);
    /* A new id is used, as in the kernel one whose bind failed stays with the device of that address. */
    CHECK_EQ(rdma_destroy_id(second), 0);
    second = new_id(channel);
    CHECK_EQ(bind_result(second, test_address_elsewhere(), port), 0);
    CHECK_EQ(rdma_create_id(channel, &other_space, NULL, RDMA_PS_UDP), 0);
    CHECK_EQ(bind_result(other_space, test_address(), port), 0);
    CHECK_EQ(rdma_destroy_id(first), 0);
    CHECK_EQ(bind_result(third, test_address(), port), 0);
    rdma_destroy_id(second);
    rdma_destroy_id(third);
    rdma_destroy_id(other_space);
    rdma_destroy_event_channel(channel);
}

static void a_wildcard_address_takes_the_whole_port(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *first = new_id(channel), *second = new_id(channel);
    CHECK_EQ(bind_result(first, "0.0.0.0", 0), 0);
    CHECK(first->verbs == NULL); /* no device yet, as librdmacm */
    CHECK_EQ(bind_result(second, test_address(), port_of(first)), EADDRNOTAVAIL);
    CHECK_EQ(bind_result(second, test_address6(), port_of(first)), EADDRNOTAVAIL);
    rdma_destroy_id(first);
    rdma_destroy_id(second);
    rdma_destroy_event_channel(channel);
}

static void wildcards_of_both_families_share_a_port_where_each_keeps_to_its_own(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *six = new_id(channel), *four = new_id(channel);
    int on = 1;
    CHECK_EQ(rdma_set_option(six, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)), 0);
    CHECK_EQ(bind_result(six, "::", 0), 0);
    CHECK_EQ(bind_result(four, "0.0.0.0", port_of(six)), 0);
    CHECK_EQ(rdma_listen(six, 1), 0);
    CHECK_EQ(rdma_listen(four, 1), 0);
    rdma_destroy_id(six);
    rdma_destroy_id(four);
    rdma_destroy_event_channel(channel);
}

static void rdma_ports_are_not_tcp_ports(void) {
    int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct address address = address_of(test_address(), 0);
    CHECK_EQ(bind(tcp, sockaddr_of(&address), sizeof(struct sockaddr_in)), 0);
    CHECK_EQ(listen(tcp, 1), 0);
    socklen_t size = sizeof(address.storage);
    CHECK_EQ(getsockname(tcp, sockaddr_of(&address), &size), 0);
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    CHECK_EQ(rdma_bind_addr(id, sockaddr_of(&address)), 0);
    rdma_destroy_id(id);
    rdma_destroy_event_channel(channel);
    close(tcp);
}

static void addresses_of_other_hosts_are_refused(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    CHECK_EQ(bind_result(id, "192.0.2.1", 0), EADDRNOTAVAIL); /* RFC 5737: never ours */
    struct address far = address_of("192.0.2.1", 7);
    CHECK_EQ(rdma_resolve_addr(id, NULL, sockaddr_of(&far), 2000), 0);
    expect_and_ack(channel, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
    if (!is_embedded()) { /* an id of the kernel stays with the network interface of its first attempt */
        CHECK_EQ(rdma_destroy_id(id), 0);
        id = new_id(channel);
    }
    resolve(id, test_address(), 7);
    CHECK_EQ(rdma_resolve_route(id, 2000), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK(id->verbs != NULL && id->pd != NULL && id->port_num == 1);
    CHECK_EQ(rdma_get_dst_port(id), htons(7));
    CHECK(rdma_get_src_port(id) != 0);
    struct sockaddr unsupported = { .sa_family = AF_UNIX };
    CHECK_EQ(rdma_resolve_addr(id, NULL, &unsupported, 2000), -1);
    CHECK_EQ(errno, EINVAL);
    rdma_destroy_id(id);
    rdma_destroy_event_channel(channel);
}

static int option_result(struct rdma_cm_id *id, int level, int name, int value, size_t length) {
    uint8_t byte = (uint8_t) value;
    void *data = length == sizeof(byte) ? (void *) &byte : (void *) &value;
    return rdma_set_option(id, level, name, data, length) == 0 ? 0 : errno;
}

/* Results are those of librdmacm 44 and Linux 6.1, with soft-RoCE. */
static void options_are_checked(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel), *datagram;
    for (int listening = 0; listening <= 1; listening++) {
        CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 3, 1), 0);
        CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 3, sizeof(int)), EINVAL);
        CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 0, 1), 0);
        CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 255, 1), 0);
        CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 14, sizeof(int)), EINVAL);
        CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 0, sizeof(int)), listening ? EINVAL : 0);
        CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1, 1), EINVAL);
        CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 2, sizeof(int)), listening ? EINVAL : 0);
        CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 1, 1), EINVAL);
        CHECK_EQ(option_result(id, RDMA_OPTION_ID, 77, 1, sizeof(int)), ENOSYS);
        CHECK_EQ(option_result(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 1, sizeof(int)), EINVAL);
        CHECK_EQ(option_result(id, RDMA_OPTION_IB, 7, 1, sizeof(int)), ENOSYS);
        CHECK_EQ(option_result(id, 2, RDMA_OPTION_ID_TOS, 1, 1), ENOSYS);
        CHECK_EQ(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, NULL, 1), -1);
        CHECK_EQ(errno, EFAULT);
        if (!listening) {
            CHECK_EQ(bind_result(id, test_address(), 0), 0);
            CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 0, sizeof(int)), EINVAL);
            CHECK_EQ(rdma_listen(id, 1), 0);
        }
    }
    rdma_destroy_id(id);
    CHECK_EQ(rdma_create_id(channel, &datagram, NULL, RDMA_PS_UDP), 0);
    CHECK_EQ(option_result(datagram, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 14, 1), EINVAL);
    CHECK_EQ(option_result(datagram, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 14, 1), 0);
    rdma_destroy_id(datagram);
    rdma_destroy_event_channel(channel);
}

static void only_one_of_those_that_reuse_an_address_may_listen(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *first = new_id(channel), *second = new_id(channel);
    int on = 1;
    CHECK_EQ(rdma_set_option(first, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
    CHECK_EQ(rdma_set_option(second, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
    CHECK_EQ(bind_result(first, test_address(), 0), 0);
    CHECK_EQ(bind_result(second, test_address(), port_of(first)), 0);
    CHECK_EQ(rdma_listen(first, 1), -1);
    CHECK_EQ(errno, EADDRINUSE);
    rdma_destroy_id(second);
    CHECK_EQ(rdma_listen(first, 1), 0);
    CHECK_EQ(rdma_listen(first, 1), -1);
    CHECK_EQ(errno, EINVAL);
    rdma_destroy_id(first);
    rdma_destroy_event_channel(channel);
}

/* ---- the handshake ---- */

static void private_data_arrives_padded_to_the_kernels_lengths(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "0.0.0.0", 4), *active = new_id(client);
    listener->context = &server;
    resolve(active, test_address(), port_of(listener));
    uint8_t bytes[256];
    memset(bytes, 0xa5, sizeof(bytes));
    struct rdma_conn_param param = { .private_data = bytes, .private_data_len = 57, .qp_num = 77,
                                     .responder_resources = 3, .initiator_depth = 2, .retry_count = 5,
                                     .rnr_retry_count = 9 };
    CHECK_EQ(rdma_connect(active, &param), -1);
    CHECK_EQ(errno, EINVAL);
    param.private_data_len = 5;
    CHECK_EQ(rdma_connect(active, &param), 0);
    CHECK_EQ(rdma_connect(active, &param), -1);
    CHECK_EQ(errno, EINVAL);

    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    const struct rdma_conn_param *got = &event->param.conn;
    CHECK(event->listen_id == listener);
    CHECK(event->id != listener && event->id->context == &server);
    CHECK(event->id->verbs == active->verbs && event->id->verbs != NULL);
    CHECK_EQ(got->private_data_len, 56);
    CHECK(memcmp(got->private_data, bytes, 5) == 0);
    for (int i = 5; i < 56; i++) {
        CHECK_EQ(((const uint8_t *) got->private_data)[i], 0);
    }
    CHECK_EQ(got->qp_num, 77);
    CHECK_EQ(got->responder_resources, 2); /* the other side's initiator depth */
    CHECK_EQ(got->initiator_depth, 3);
    CHECK_EQ(got->retry_count, 5);
    CHECK_EQ(got->rnr_retry_count, 7);
    struct rdma_cm_id *passive = event->id;
    CHECK_EQ(rdma_get_src_port(passive), rdma_get_src_port(listener));
    CHECK_EQ(rdma_get_dst_port(passive), rdma_get_src_port(active));
    struct address own = address_of(test_address(), 0);
    CHECK_EQ(passive->route.addr.src_sin.sin_addr.s_addr, ((struct sockaddr_in *) &own.storage)->sin_addr.s_addr);
    CHECK_EQ(passive->route.addr.dst_sin.sin_addr.s_addr, ((struct sockaddr_in *) &own.storage)->sin_addr.s_addr);

    struct rdma_conn_param reply = { .private_data = bytes, .private_data_len = 196, .qp_num = 78,
                                     .responder_resources = 2, .initiator_depth = 1, .rnr_retry_count = 6 };
    CHECK_EQ(rdma_accept(passive, &reply), 0);
    rdma_ack_cm_event(event);
    event = expect(client, RDMA_CM_EVENT_CONNECT_RESPONSE);
    CHECK_EQ(event->param.conn.private_data_len, 196);
    CHECK(memcmp(event->param.conn.private_data, bytes, 196) == 0);
    CHECK_EQ(event->param.conn.qp_num, 78);
    CHECK_EQ(event->param.conn.rnr_retry_count, 6);
    rdma_ack_cm_event(event);
    expect_nothing(server);
    CHECK_EQ(rdma_establish(active), 0);
    CHECK_EQ(rdma_establish(active), -1);
    expect_and_ack(server, RDMA_CM_EVENT_ESTABLISHED, 0);

    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
    int mask;
    CHECK_EQ(rdma_init_qp_attr(active, &attr, &mask), 0);
    CHECK_EQ(attr.rnr_retry, 6);
    CHECK_EQ(attr.retry_cnt, 5);
    CHECK_EQ(attr.max_rd_atomic, 2);
    attr.qp_state = IBV_QPS_RTR;
    CHECK_EQ(rdma_init_qp_attr(passive, &attr, &mask), 0);
    CHECK_EQ(attr.dest_qp_num, 77);
    CHECK_EQ(attr.max_dest_rd_atomic, 2);

    rdma_destroy_id(active);
    expect_and_ack(server, RDMA_CM_EVENT_DISCONNECTED, 0);
    rdma_destroy_id(passive);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void too_much_reply_data_rejects_the_connection(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 4);
    struct rdma_cm_id *active = connecting(client, test_address(), port_of(listener));
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    uint8_t bytes[197] = { 0 };
    struct rdma_conn_param reply = { .private_data = bytes, .private_data_len = 197 };
    CHECK_EQ(rdma_accept(passive, &reply), -1);
    CHECK_EQ(errno, EINVAL);
    rdma_ack_cm_event(event);
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, REJECT_CONSUMER);
    rdma_destroy_id(passive);
    rdma_destroy_id(active);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void a_reject_carries_its_data(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address6(), 4);
    struct rdma_cm_id *active = connecting(client, test_address6(), port_of(listener));
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    rdma_ack_cm_event(event);
    uint8_t bytes[149];
    memset(bytes, 0x5a, sizeof(bytes));
    CHECK_EQ(rdma_reject(passive, bytes, 149), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK_EQ(rdma_reject(passive, bytes, 148), 0);
    CHECK_EQ(rdma_reject(passive, bytes, 148), -1);
    event = expect(client, RDMA_CM_EVENT_REJECTED);
    CHECK_EQ(event->status, REJECT_CONSUMER);
    CHECK_EQ(event->param.conn.private_data_len, 148);
    CHECK(memcmp(event->param.conn.private_data, bytes, 148) == 0);
    rdma_ack_cm_event(event);
    rdma_destroy_id(passive);
    rdma_destroy_id(active);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void nobody_listening_is_a_rejection(void) {
    struct rdma_event_channel *client = new_channel();
    struct rdma_cm_id *bound = new_id(client);
    struct rdma_cm_id *active = connecting(client, test_address(), 1); /* a port that no process has */
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, REJECT_NO_LISTENER);
    rdma_destroy_id(active);
    CHECK_EQ(bind_result(bound, test_address(), 0), 0); /* a process, but no listener */
    active = connecting(client, test_address(), port_of(bound));
    struct rdma_cm_event *event = expect(client, RDMA_CM_EVENT_REJECTED);
    CHECK_EQ(event->status, REJECT_NO_LISTENER);
    CHECK_EQ(event->param.conn.private_data_len, 148);
    rdma_ack_cm_event(event);
    rdma_destroy_id(active);
    CHECK_EQ(rdma_listen(bound, 1), 0);
    active = connecting(client, test_address_elsewhere(), port_of(bound)); /* a listener, but not there */
    /* soft-RoCE has another device there, which has no listener; embedded it is another address of the same device. */
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, is_embedded() ? REJECT_CONSUMER : REJECT_NO_LISTENER);
    rdma_destroy_id(active);
    rdma_destroy_id(bound);
    rdma_destroy_event_channel(client);
}

/* Requests wait as with TCP: the connection manager below asks again, seconds later with the kernel. */
static void requests_beyond_the_backlog_wait_until_there_is_room(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 2), *active[4], *passive[4];
    for (uint32_t i = 0; i < 4; i++) {
        active[i] = connecting(client, test_address(), port_of(listener));
    }
    settle();
    expect_nothing(client);
    for (int i = 0; i < 4; i++) {
        passive[i] = accept_next(server); /* fetching makes room */
        expect_and_ack(client, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    }
    for (int i = 0; i < 4; i++) {
        rdma_destroy_id(passive[i]);
        rdma_destroy_id(active[i]);
    }
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void destroying_a_listener_rejects_what_is_pending(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 8), *active[3];
    for (uint32_t i = 0; i < 3; i++) {
        active[i] = connecting(client, test_address(), port_of(listener));
    }
    struct rdma_cm_event *fetched = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = fetched->id;
    rdma_ack_cm_event(fetched);
    settle();
    rdma_destroy_id(listener);
    for (int i = 0; i < 2; i++) {
        struct rdma_cm_event *event = expect(client, RDMA_CM_EVENT_REJECTED);
        CHECK(event->id == active[1] || event->id == active[2]);
        rdma_ack_cm_event(event);
    }
    struct rdma_conn_param param = { .qp_num = 5 };
    CHECK_EQ(rdma_accept(passive, &param), 0); /* fetched requests live on */
    expect_and_ack(client, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    for (int i = 0; i < 3; i++) {
        rdma_destroy_id(active[i]);
    }
    rdma_destroy_id(passive);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void a_request_that_was_withdrawn_cannot_be_accepted(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 8);
    struct rdma_cm_id *active = connecting(client, test_address(), port_of(listener));
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    rdma_ack_cm_event(event);
    rdma_destroy_id(active);
    struct rdma_conn_param param = { .qp_num = 5 };
    settle();
    CHECK_EQ(rdma_accept(passive, &param), -1);
    CHECK_EQ(errno, EINVAL);
    expect_nothing(server);
    rdma_destroy_id(passive);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void a_queue_pair_cannot_be_in_two_connections(void) {
    struct pair p = new_pair();
    struct rdma_cm_id *again = connecting_as(p.active_qpn, p.client, test_address(), port_of(p.listener));
    expect_and_ack(p.client, RDMA_CM_EVENT_REJECTED, REJECT_STALE);
    rdma_destroy_id(again);
    expect_nothing(p.server);
    free_pair(&p);
}

static void families_share_the_wildcard_of_ipv6_unless_told_otherwise(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "0.0.0.0", 4);
    struct rdma_cm_id *active = connecting(client, test_address6(), port_of(listener));
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, REJECT_CONSUMER);
    rdma_destroy_id(active);
    rdma_destroy_id(listener);

    listener = new_listener(server, "::", 4);
    active = connecting(client, test_address(), port_of(listener));
    struct rdma_cm_id *passive = accept_next(server);
    CHECK_EQ(passive->route.addr.src_addr.sa_family, AF_INET);
    rdma_destroy_id(active);
    rdma_destroy_id(passive);
    rdma_destroy_id(listener);

    listener = new_id(server);
    int on = 1;
    CHECK_EQ(rdma_set_option(listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)), 0);
    CHECK_EQ(bind_result(listener, "::", 0), 0);
    CHECK_EQ(rdma_listen(listener, 4), 0);
    active = connecting(client, test_address(), port_of(listener));
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, REJECT_CONSUMER);
    rdma_destroy_id(active);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

/* ---- the end of a connection ---- */

static void both_sides_learn_of_a_disconnect_once(void) {
    struct pair p = new_pair();
    CHECK_EQ(rdma_disconnect(p.active), 0);
    expect_and_ack(p.server, RDMA_CM_EVENT_DISCONNECTED, 0);
    expect_nothing(p.client); /* the peer has not answered yet */
    CHECK_EQ(rdma_disconnect(p.passive), 0);
    expect_and_ack(p.client, RDMA_CM_EVENT_DISCONNECTED, 0);
    CHECK_EQ(rdma_disconnect(p.passive), 0);
    CHECK_EQ(rdma_disconnect(p.active), 0);
    expect_and_ack(p.client, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    expect_and_ack(p.server, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    CHECK_EQ(rdma_disconnect(p.active), 0);
    free_pair(&p);
}

static void both_sides_may_disconnect_at_once(void) {
    struct pair p = new_pair();
    CHECK_EQ(rdma_disconnect(p.active), 0);
    CHECK_EQ(rdma_disconnect(p.passive), 0);
    expect_and_ack(p.server, RDMA_CM_EVENT_DISCONNECTED, 0);
    expect_and_ack(p.client, RDMA_CM_EVENT_DISCONNECTED, 0);
    free_pair(&p);
}

static void an_id_that_was_never_connected_cannot_disconnect(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    CHECK_EQ(rdma_disconnect(id), -1);
    CHECK_EQ(errno, EINVAL);
    resolve(id, test_address(), 9);
    CHECK_EQ(rdma_disconnect(id), -1);
    CHECK_EQ(errno, EINVAL);
    rdma_destroy_id(id);
    rdma_destroy_event_channel(channel);
}

/* ---- events ---- */

static void pending_events_move_with_their_id(void) {
    struct rdma_event_channel *from = new_channel(), *to = new_channel();
    struct rdma_cm_id *stays = new_id(from), *moves = new_id(from);
    struct address address = address_of(test_address(), 9);
    CHECK_EQ(rdma_resolve_addr(stays, NULL, sockaddr_of(&address), 1000), 0);
    CHECK_EQ(rdma_resolve_addr(moves, NULL, sockaddr_of(&address), 1000), 0);
    CHECK_EQ(rdma_migrate_id(moves, to), 0);
    CHECK(moves->channel == to);
    struct rdma_cm_event *event = expect(from, RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK(event->id == stays);
    rdma_ack_cm_event(event);
    expect_nothing(from);
    struct pollfd readable = { .fd = from->fd, .events = POLLIN };
    CHECK_EQ(poll(&readable, 1, 0), 0);
    event = expect(to, RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK(event->id == moves);
    rdma_ack_cm_event(event);
    CHECK_EQ(rdma_resolve_route(moves, 1000), 0);
    rdma_destroy_id(moves); /* takes its pending event along */
    expect_nothing(to);
    rdma_destroy_id(stays);
    rdma_destroy_event_channel(from);
    rdma_destroy_event_channel(to);
}

static void *serve_synchronously(void *argument) {
    struct rdma_cm_id *listener = argument, *id;
    CHECK_EQ(rdma_get_request(listener, &id), 0);
    struct rdma_conn_param param = { .qp_num = 6 };
    CHECK_EQ(rdma_accept(id, &param), 0); /* returns when established */
    CHECK_EQ(id->event->event, RDMA_CM_EVENT_ESTABLISHED);
    CHECK_EQ(rdma_disconnect(id), 0);
    rdma_destroy_ep(id);
    return NULL;
}

static void synchronous_ids_need_no_channel(void) {
    struct rdma_cm_id *listener = new_id(NULL), *active = new_id(NULL);
    CHECK_EQ(bind_result(listener, test_address(), 0), 0);
    CHECK_EQ(rdma_listen(listener, 1), 0);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, serve_synchronously, listener), 0);
    struct address address = address_of(test_address(), port_of(listener));
    CHECK_EQ(rdma_resolve_addr(active, NULL, sockaddr_of(&address), 1000), 0);
    CHECK_EQ(rdma_resolve_route(active, 1000), 0);
    struct rdma_conn_param param = { .qp_num = 5 };
    CHECK_EQ(rdma_connect(active, &param), 0);
    CHECK_EQ(active->event->event, RDMA_CM_EVENT_CONNECT_RESPONSE);
    CHECK_EQ(rdma_establish(active), 0);
    CHECK_EQ(rdma_disconnect(active), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    rdma_destroy_ep(active);

    active = new_id(NULL);
    CHECK_EQ(rdma_resolve_addr(active, NULL, sockaddr_of(&address), 1000), 0);
    CHECK_EQ(rdma_resolve_route(active, 1000), 0);
    rdma_destroy_ep(listener);
    CHECK_EQ(rdma_connect(active, &param), -1);
    CHECK_EQ(errno, ECONNREFUSED);
    rdma_destroy_ep(active);
}

static void nothing_is_left_behind(void) {
    struct pair p = new_pair();
    free_pair(&p);
    int before = open_fds();
    for (int i = 0; i < 200; i++) {
        p = new_pair();
        free_pair(&p);
    }
    /* Links to ports that are gone close some seconds later; they must not add up to one per connection for good. */
    CHECK_EVENTUALLY(open_fds() <= before);
}

int main(void) {
    end_idle_links_soon();
    RUN(ports_conflict_where_addresses_overlap);
    RUN(a_wildcard_address_takes_the_whole_port);
    RUN(wildcards_of_both_families_share_a_port_where_each_keeps_to_its_own);
    RUN(rdma_ports_are_not_tcp_ports);
    RUN(addresses_of_other_hosts_are_refused);
    RUN(options_are_checked);
    RUN(only_one_of_those_that_reuse_an_address_may_listen);
    RUN(private_data_arrives_padded_to_the_kernels_lengths);
    RUN(too_much_reply_data_rejects_the_connection);
    RUN(a_reject_carries_its_data);
    RUN(nobody_listening_is_a_rejection);
    RUN(requests_beyond_the_backlog_wait_until_there_is_room);
    RUN(destroying_a_listener_rejects_what_is_pending);
    RUN(a_request_that_was_withdrawn_cannot_be_accepted);
    RUN(a_queue_pair_cannot_be_in_two_connections);
    RUN(families_share_the_wildcard_of_ipv6_unless_told_otherwise);
    RUN(both_sides_learn_of_a_disconnect_once);
    RUN(both_sides_may_disconnect_at_once);
    RUN(an_id_that_was_never_connected_cannot_disconnect);
    RUN(pending_events_move_with_their_id);
    RUN(synchronous_ids_need_no_channel);
    RUN(nothing_is_left_behind);
    return 0;
}
