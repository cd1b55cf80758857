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
 * The connection manager between ids of one process: addresses, the handshake, its refusals, its end.
 */
#include "cm_support.h"

#include <pthread.h>
#include <sys/socket.h>

#define MS 1000000ull

static bool is_destroyed(struct rdma_cm_id *id) {
    pthread_mutex_lock(&cm_lock);
    bool destroyed = cm_of(id)->destroyed;
    pthread_mutex_unlock(&cm_lock);
    return destroyed;
}

/* ---- addresses ---- */

static int bind_result(struct rdma_cm_id *id, const char *text, uint16_t port) {
    struct address address = address_of(text, port);
    return embedded_rdma_bind_addr(id, sockaddr_of(&address)) == 0 ? 0 : errno;
}

static void ports_conflict_where_addresses_overlap(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *first = new_id(channel), *second = new_id(channel), *third = new_id(channel), *other_space;
    CHECK_EQ(bind_result(first, "127.0.0.1", 0), 0);
    uint16_t port = port_of(first);
    CHECK(port >= 1024);
    CHECK_EQ(bind_result(first, "127.0.0.1", port), EINVAL); /* bound already */
    CHECK_EQ(bind_result(second, "127.0.0.1", port), EADDRINUSE);
    CHECK_EQ(bind_result(second, "0.0.0.0", port), EADDRNOTAVAIL); /* the kernel's word where a wildcard is part of it */
    CHECK_EQ(bind_result(second, "::", port), EADDRNOTAVAIL);
    CHECK_EQ(bind_result(second, "127.0.0.2", port), 0);
    CHECK_EQ(embedded_rdma_create_id(channel, &other_space, NULL, RDMA_PS_UDP), 0);
    CHECK_EQ(bind_result(other_space, "127.0.0.1", port), 0);
    CHECK_EQ(embedded_rdma_destroy_id(first), 0);
    CHECK_EQ(bind_result(third, "127.0.0.1", port), 0);
    embedded_rdma_destroy_id(second);
    embedded_rdma_destroy_id(third);
    embedded_rdma_destroy_id(other_space);
    embedded_rdma_destroy_event_channel(channel);
}

static void a_wildcard_address_takes_the_whole_port(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *first = new_id(channel), *second = new_id(channel);
    CHECK_EQ(bind_result(first, "0.0.0.0", 0), 0);
    CHECK(first->verbs == NULL); /* no device yet, as librdmacm */
    CHECK_EQ(bind_result(second, "127.0.0.1", port_of(first)), EADDRNOTAVAIL);
    CHECK_EQ(bind_result(second, "::1", port_of(first)), EADDRNOTAVAIL);
    embedded_rdma_destroy_id(first);
    embedded_rdma_destroy_id(second);
    embedded_rdma_destroy_event_channel(channel);
}

static void wildcards_of_both_families_share_a_port_where_each_keeps_to_its_own(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *six = new_id(channel), *four = new_id(channel);
    int on = 1;
    CHECK_EQ(embedded_rdma_set_option(six, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)), 0);
    CHECK_EQ(bind_result(six, "::", 0), 0);
    CHECK_EQ(bind_result(four, "0.0.0.0", port_of(six)), 0);
    CHECK_EQ(embedded_rdma_listen(six, 1), 0);
    CHECK_EQ(embedded_rdma_listen(four, 1), 0);
    embedded_rdma_destroy_id(six);
    embedded_rdma_destroy_id(four);
    embedded_rdma_destroy_event_channel(channel);
}

static void rdma_ports_are_not_tcp_ports(void) {
    int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct address address = address_of("127.0.0.1", 0);
    CHECK_EQ(bind(tcp, sockaddr_of(&address), sizeof(struct sockaddr_in)), 0);
    CHECK_EQ(listen(tcp, 1), 0);
    socklen_t size = sizeof(address.storage);
    CHECK_EQ(getsockname(tcp, sockaddr_of(&address), &size), 0);
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    CHECK_EQ(embedded_rdma_bind_addr(id, sockaddr_of(&address)), 0);
    embedded_rdma_destroy_id(id);
    embedded_rdma_destroy_event_channel(channel);
    close(tcp);
}

static void addresses_of_other_hosts_are_refused(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    CHECK_EQ(bind_result(id, "192.0.2.1", 0), EADDRNOTAVAIL); /* RFC 5737: never ours */
    struct address far = address_of("192.0.2.1", 7);
    CHECK_EQ(embedded_rdma_resolve_addr(id, NULL, sockaddr_of(&far), 2000), 0);
    expect_and_ack(channel, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
    resolve(id, "127.0.0.9", 7); /* the id is as good as new */
    CHECK_EQ(embedded_rdma_resolve_route(id, 2000), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK(id->verbs != NULL && id->pd != NULL && id->port_num == 1);
    CHECK_EQ(embedded_rdma_get_dst_port(id), htons(7));
    CHECK(embedded_rdma_get_src_port(id) != 0);
    struct sockaddr unsupported = { .sa_family = AF_UNIX };
    CHECK_EQ(embedded_rdma_resolve_addr(id, NULL, &unsupported, 2000), -1);
    CHECK_EQ(errno, EINVAL);
    embedded_rdma_destroy_id(id);
    embedded_rdma_destroy_event_channel(channel);
}

static int option_result(struct rdma_cm_id *id, int level, int name, int value, size_t length) {
    uint8_t byte = (uint8_t) value;
    void *data = length == sizeof(byte) ? (void *) &byte : (void *) &value;
    return embedded_rdma_set_option(id, level, name, data, length) == 0 ? 0 : errno;
}

/* What librdmacm 44 and Linux 6.1 say, with soft-RoCE. */
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
        CHECK_EQ(embedded_rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, NULL, 1), -1);
        CHECK_EQ(errno, EFAULT);
        if (!listening) {
            CHECK_EQ(bind_result(id, "127.0.0.1", 0), 0);
            CHECK_EQ(option_result(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 0, sizeof(int)), EINVAL);
            CHECK_EQ(embedded_rdma_listen(id, 1), 0);
        }
    }
    embedded_rdma_destroy_id(id);
    CHECK_EQ(embedded_rdma_create_id(channel, &datagram, NULL, RDMA_PS_UDP), 0);
    CHECK_EQ(option_result(datagram, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 14, 1), EINVAL);
    CHECK_EQ(option_result(datagram, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 14, 1), 0);
    embedded_rdma_destroy_id(datagram);
    embedded_rdma_destroy_event_channel(channel);
}

static void only_one_of_those_that_reuse_an_address_may_listen(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *first = new_id(channel), *second = new_id(channel);
    int on = 1;
    CHECK_EQ(embedded_rdma_set_option(first, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
    CHECK_EQ(embedded_rdma_set_option(second, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
    CHECK_EQ(bind_result(first, "127.0.0.1", 0), 0);
    CHECK_EQ(bind_result(second, "127.0.0.1", port_of(first)), 0);
    CHECK_EQ(embedded_rdma_listen(first, 1), -1);
    CHECK_EQ(errno, EADDRINUSE);
    embedded_rdma_destroy_id(second);
    CHECK_EQ(embedded_rdma_listen(first, 1), 0);
    CHECK_EQ(embedded_rdma_listen(first, 1), -1);
    CHECK_EQ(errno, EINVAL);
    embedded_rdma_destroy_id(first);
    embedded_rdma_destroy_event_channel(channel);
}

/* ---- the handshake ---- */

static void private_data_arrives_padded_to_the_kernels_lengths(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "0.0.0.0", 4), *active = new_id(client);
    listener->context = &server;
    resolve(active, "127.0.0.1", port_of(listener));
    uint8_t bytes[256];
    memset(bytes, 0xa5, sizeof(bytes));
    struct rdma_conn_param param = { .private_data = bytes, .private_data_len = 57, .qp_num = 77,
                                     .responder_resources = 3, .initiator_depth = 2, .retry_count = 5,
                                     .rnr_retry_count = 9 };
    CHECK_EQ(embedded_rdma_connect(active, &param), -1);
    CHECK_EQ(errno, EINVAL);
    param.private_data_len = 5;
    CHECK_EQ(embedded_rdma_connect(active, &param), 0);
    CHECK_EQ(embedded_rdma_connect(active, &param), -1);
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
    CHECK_EQ(embedded_rdma_get_src_port(passive), embedded_rdma_get_src_port(listener));
    CHECK_EQ(embedded_rdma_get_dst_port(passive), embedded_rdma_get_src_port(active));
    CHECK_EQ(passive->route.addr.src_sin.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    CHECK_EQ(passive->route.addr.dst_sin.sin_addr.s_addr, htonl(INADDR_LOOPBACK));

    struct rdma_conn_param reply = { .private_data = bytes, .private_data_len = 196, .qp_num = 78,
                                     .responder_resources = 2, .initiator_depth = 1, .rnr_retry_count = 6 };
    CHECK_EQ(embedded_rdma_accept(passive, &reply), 0);
    embedded_rdma_ack_cm_event(event);
    event = expect(client, RDMA_CM_EVENT_CONNECT_RESPONSE);
    CHECK_EQ(event->param.conn.private_data_len, 196);
    CHECK(memcmp(event->param.conn.private_data, bytes, 196) == 0);
    CHECK_EQ(event->param.conn.qp_num, 78);
    CHECK_EQ(event->param.conn.rnr_retry_count, 6);
    embedded_rdma_ack_cm_event(event);
    expect_nothing(server);
    CHECK_EQ(embedded_rdma_establish(active), 0);
    CHECK_EQ(embedded_rdma_establish(active), -1);
    expect_and_ack(server, RDMA_CM_EVENT_ESTABLISHED, 0);

    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
    int mask;
    CHECK_EQ(embedded_rdma_init_qp_attr(active, &attr, &mask), 0);
    CHECK_EQ(attr.rnr_retry, 6);
    CHECK_EQ(attr.retry_cnt, 5);
    CHECK_EQ(attr.max_rd_atomic, 2);
    attr.qp_state = IBV_QPS_RTR;
    CHECK_EQ(embedded_rdma_init_qp_attr(passive, &attr, &mask), 0);
    CHECK_EQ(attr.dest_qp_num, 77);
    CHECK_EQ(attr.max_dest_rd_atomic, 2);

    embedded_rdma_destroy_id(active);
    expect_and_ack(server, RDMA_CM_EVENT_DISCONNECTED, 0);
    embedded_rdma_destroy_id(passive);
    embedded_rdma_destroy_id(listener);
    embedded_rdma_destroy_event_channel(server);
    embedded_rdma_destroy_event_channel(client);
}

static void too_much_reply_data_rejects_the_connection(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "127.0.0.1", 4);
    struct rdma_cm_id *active = connecting(client, "127.0.0.1", port_of(listener), 1);
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    uint8_t bytes[197] = { 0 };
    struct rdma_conn_param reply = { .private_data = bytes, .private_data_len = 197 };
    CHECK_EQ(embedded_rdma_accept(passive, &reply), -1);
    CHECK_EQ(errno, EINVAL);
    embedded_rdma_ack_cm_event(event);
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, CM_REJ_CONSUMER);
    embedded_rdma_destroy_id(passive);
    embedded_rdma_destroy_id(active);
    embedded_rdma_destroy_id(listener);
    embedded_rdma_destroy_event_channel(server);
    embedded_rdma_destroy_event_channel(client);
}

static void a_reject_carries_its_data(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "::1", 4);
    struct rdma_cm_id *active = connecting(client, "::1", port_of(listener), 1);
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    embedded_rdma_ack_cm_event(event);
    uint8_t bytes[149];
    memset(bytes, 0x5a, sizeof(bytes));
    CHECK_EQ(embedded_rdma_reject(passive, bytes, 149), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK_EQ(embedded_rdma_reject(passive, bytes, 148), 0);
    CHECK_EQ(embedded_rdma_reject(passive, bytes, 148), -1);
    event = expect(client, RDMA_CM_EVENT_REJECTED);
    CHECK_EQ(event->status, CM_REJ_CONSUMER);
    CHECK_EQ(event->param.conn.private_data_len, 148);
    CHECK(memcmp(event->param.conn.private_data, bytes, 148) == 0);
    embedded_rdma_ack_cm_event(event);
    embedded_rdma_destroy_id(passive);
    embedded_rdma_destroy_id(active);
    embedded_rdma_destroy_id(listener);
    embedded_rdma_destroy_event_channel(server);
    embedded_rdma_destroy_event_channel(client);
}

static void nobody_listening_is_a_rejection(void) {
    struct rdma_event_channel *client = new_channel();
    struct rdma_cm_id *bound = new_id(client);
    struct rdma_cm_id *active = connecting(client, "127.0.0.1", 1, 1); /* a port that no process has */
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, CM_REJ_INVALID_SERVICE_ID);
    embedded_rdma_destroy_id(active);
    CHECK_EQ(bind_result(bound, "127.0.0.1", 0), 0); /* a process, but no listener */
    active = connecting(client, "127.0.0.1", port_of(bound), 1);
    struct rdma_cm_event *event = expect(client, RDMA_CM_EVENT_REJECTED);
    CHECK_EQ(event->status, CM_REJ_INVALID_SERVICE_ID);
    CHECK_EQ(event->param.conn.private_data_len, 148);
    embedded_rdma_ack_cm_event(event);
    embedded_rdma_destroy_id(active);
    CHECK_EQ(embedded_rdma_listen(bound, 1), 0);
    active = connecting(client, "127.0.0.2", port_of(bound), 1); /* a listener, but not there */
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, CM_REJ_INVALID_SERVICE_ID);
    embedded_rdma_destroy_id(active);
    embedded_rdma_destroy_id(bound);
    embedded_rdma_destroy_event_channel(client);
}

static void a_listener_that_appears_a_moment_later_is_found(void) {
    set_time(&cm_grace_ns, 20000 * MS);
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "127.0.0.1", 4);
    uint16_t port = port_of(listener);
    struct rdma_cm_id *first = connecting(client, "127.0.0.1", port, 1);
    struct rdma_cm_id *passive = accept_next(server, 2); /* there is a link for this port now */
    expect_and_ack(client, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    embedded_rdma_destroy_id(listener);
    struct rdma_cm_id *second = connecting(client, "127.0.0.1", port, 3);
    listener = new_id(server);
    CHECK_EQ(bind_result(listener, "127.0.0.1", port), 0);
    CHECK_EQ(embedded_rdma_listen(listener, 4), 0);
    struct rdma_cm_id *late = accept_next(server, 4);
    set_time(&cm_grace_ns, 10 * MS);
    embedded_rdma_destroy_id(first);
    embedded_rdma_destroy_id(second);
    embedded_rdma_destroy_id(passive);
    embedded_rdma_destroy_id(late);
    embedded_rdma_destroy_id(listener);
    embedded_rdma_destroy_event_channel(server);
    embedded_rdma_destroy_event_channel(client);
}

static void requests_beyond_the_backlog_are_rejected(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel(), *late = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "127.0.0.1", 2), *active[4];
    for (uint32_t i = 0; i < 3; i++) {
        active[i] = connecting(client, "127.0.0.1", port_of(listener), 10 + i);
    }
    struct rdma_cm_event *event = expect(client, RDMA_CM_EVENT_REJECTED);
    CHECK_EQ(event->status, CM_REJ_CONSUMER);
    CHECK(event->id == active[2]);
    embedded_rdma_ack_cm_event(event);
    struct rdma_cm_id *passive[3] = { accept_next(server, 1) }; /* fetching makes room */
    active[3] = connecting(late, "127.0.0.1", port_of(listener), 13);
    passive[1] = accept_next(server, 2);
    passive[2] = accept_next(server, 3);
    for (int i = 0; i < 3; i++) {
        expect_and_ack(i < 2 ? client : late, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
        embedded_rdma_destroy_id(passive[i]);
    }
    for (int i = 0; i < 4; i++) {
        embedded_rdma_destroy_id(active[i]);
    }
    embedded_rdma_destroy_id(listener);
    embedded_rdma_destroy_event_channel(server);
    embedded_rdma_destroy_event_channel(client);
    embedded_rdma_destroy_event_channel(late);
}

static void destroying_a_listener_rejects_what_is_pending(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "127.0.0.1", 8), *active[3];
    for (uint32_t i = 0; i < 3; i++) {
        active[i] = connecting(client, "127.0.0.1", port_of(listener), 10 + i);
    }
    struct rdma_cm_event *fetched = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = fetched->id;
    embedded_rdma_ack_cm_event(fetched);
    engine_quiesce();
    embedded_rdma_destroy_id(listener);
    for (int i = 0; i < 2; i++) {
        struct rdma_cm_event *event = expect(client, RDMA_CM_EVENT_REJECTED);
        CHECK(event->id == active[1] || event->id == active[2]);
        embedded_rdma_ack_cm_event(event);
    }
    struct rdma_conn_param param = { .qp_num = 5 };
    CHECK_EQ(embedded_rdma_accept(passive, &param), 0); /* what was fetched lives on */
    expect_and_ack(client, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    for (int i = 0; i < 3; i++) {
        embedded_rdma_destroy_id(active[i]);
    }
    embedded_rdma_destroy_id(passive);
    embedded_rdma_destroy_event_channel(server);
    embedded_rdma_destroy_event_channel(client);
}

static void a_request_that_was_withdrawn_cannot_be_accepted(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "127.0.0.1", 8);
    struct rdma_cm_id *active = connecting(client, "127.0.0.1", port_of(listener), 1);
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    embedded_rdma_ack_cm_event(event);
    embedded_rdma_destroy_id(active);
    struct rdma_conn_param param = { .qp_num = 5 };
    CHECK_EVENTUALLY(conn_of(passive) == CM_CONN_IDLE);
    CHECK_EQ(embedded_rdma_accept(passive, &param), -1);
    CHECK_EQ(errno, EINVAL);
    expect_nothing(server);
    embedded_rdma_destroy_id(passive);
    embedded_rdma_destroy_id(listener);
    embedded_rdma_destroy_event_channel(server);
    embedded_rdma_destroy_event_channel(client);
}

static void a_queue_pair_cannot_be_in_two_connections(void) {
    struct pair p = new_pair();
    struct rdma_cm_id *again = connecting(p.client, "127.0.0.1", port_of(p.listener), 0x1234);
    expect_and_ack(p.client, RDMA_CM_EVENT_REJECTED, CM_REJ_STALE_CONN);
    embedded_rdma_destroy_id(again);
    expect_nothing(p.server);
    free_pair(&p);
}

static void families_share_the_wildcard_of_ipv6_unless_told_otherwise(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, "0.0.0.0", 4);
    struct rdma_cm_id *active = connecting(client, "::1", port_of(listener), 1);
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, CM_REJ_INVALID_SERVICE_ID);
    embedded_rdma_destroy_id(active);
    embedded_rdma_destroy_id(listener);

    listener = new_listener(server, "::", 4);
    active = connecting(client, "127.0.0.1", port_of(listener), 1);
    struct rdma_cm_id *passive = accept_next(server, 2);
    CHECK_EQ(passive->route.addr.src_addr.sa_family, AF_INET);
    embedded_rdma_destroy_id(active);
    embedded_rdma_destroy_id(passive);
    embedded_rdma_destroy_id(listener);

    listener = new_id(server);
    int on = 1;
    CHECK_EQ(embedded_rdma_set_option(listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)), 0);
    CHECK_EQ(bind_result(listener, "::", 0), 0);
    CHECK_EQ(embedded_rdma_listen(listener, 4), 0);
    active = connecting(client, "127.0.0.1", port_of(listener), 1);
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, CM_REJ_INVALID_SERVICE_ID);
    embedded_rdma_destroy_id(active);
    embedded_rdma_destroy_id(listener);
    embedded_rdma_destroy_event_channel(server);
    embedded_rdma_destroy_event_channel(client);
}

/* ---- the end of a connection ---- */

static void both_sides_learn_of_a_disconnect_once(void) {
    struct pair p = new_pair();
    CHECK_EQ(embedded_rdma_disconnect(p.active), 0);
    expect_and_ack(p.server, RDMA_CM_EVENT_DISCONNECTED, 0);
    expect_nothing(p.client); /* the peer has not answered yet */
    CHECK_EQ(embedded_rdma_disconnect(p.passive), 0);
    expect_and_ack(p.client, RDMA_CM_EVENT_DISCONNECTED, 0);
    CHECK_EQ(embedded_rdma_disconnect(p.passive), 0);
    CHECK_EQ(embedded_rdma_disconnect(p.active), 0);
    expect_and_ack(p.client, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    expect_and_ack(p.server, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    CHECK_EQ(embedded_rdma_disconnect(p.active), 0);
    free_pair(&p);
}

static void both_sides_may_disconnect_at_once(void) {
    struct pair p = new_pair();
    CHECK_EQ(embedded_rdma_disconnect(p.active), 0);
    CHECK_EQ(embedded_rdma_disconnect(p.passive), 0);
    expect_and_ack(p.server, RDMA_CM_EVENT_DISCONNECTED, 0);
    expect_and_ack(p.client, RDMA_CM_EVENT_DISCONNECTED, 0);
    free_pair(&p);
}

static void an_id_that_was_never_connected_cannot_disconnect(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    CHECK_EQ(embedded_rdma_disconnect(id), -1);
    CHECK_EQ(errno, EINVAL);
    resolve(id, "127.0.0.1", 9);
    CHECK_EQ(embedded_rdma_disconnect(id), -1);
    CHECK_EQ(errno, EINVAL);
    embedded_rdma_destroy_id(id);
    embedded_rdma_destroy_event_channel(channel);
}

/* ---- events ---- */

static void *destroy(void *id) {
    CHECK_EQ(embedded_rdma_destroy_id(id), 0);
    return NULL;
}

static void destroy_waits_for_the_acks(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    struct address address = address_of("127.0.0.1", 9);
    CHECK_EQ(embedded_rdma_resolve_addr(id, NULL, sockaddr_of(&address), 1000), 0);
    struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, destroy, id), 0);
    CHECK_EVENTUALLY(is_destroyed(id));
    CHECK_EQ(pthread_tryjoin_np(thread, NULL), EBUSY);
    embedded_rdma_ack_cm_event(event);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    embedded_rdma_destroy_event_channel(channel);
}

static void pending_events_move_with_their_id(void) {
    struct rdma_event_channel *from = new_channel(), *to = new_channel();
    struct rdma_cm_id *stays = new_id(from), *moves = new_id(from);
    struct address address = address_of("127.0.0.1", 9);
    CHECK_EQ(embedded_rdma_resolve_addr(stays, NULL, sockaddr_of(&address), 1000), 0);
    CHECK_EQ(embedded_rdma_resolve_addr(moves, NULL, sockaddr_of(&address), 1000), 0);
    CHECK_EQ(embedded_rdma_migrate_id(moves, to), 0);
    CHECK(moves->channel == to);
    struct rdma_cm_event *event = expect(from, RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK(event->id == stays);
    embedded_rdma_ack_cm_event(event);
    expect_nothing(from);
    struct pollfd readable = { .fd = from->fd, .events = POLLIN };
    CHECK_EQ(poll(&readable, 1, 0), 0);
    event = expect(to, RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK(event->id == moves);
    embedded_rdma_ack_cm_event(event);
    CHECK_EQ(embedded_rdma_resolve_route(moves, 1000), 0);
    embedded_rdma_destroy_id(moves); /* takes its pending event along */
    expect_nothing(to);
    embedded_rdma_destroy_id(stays);
    embedded_rdma_destroy_event_channel(from);
    embedded_rdma_destroy_event_channel(to);
}

static void *serve_synchronously(void *argument) {
    struct rdma_cm_id *listener = argument, *id;
    CHECK_EQ(embedded_rdma_get_request(listener, &id), 0);
    struct rdma_conn_param param = { .qp_num = 6 };
    CHECK_EQ(embedded_rdma_accept(id, &param), 0); /* returns when established */
    CHECK_EQ(id->event->event, RDMA_CM_EVENT_ESTABLISHED);
    CHECK_EQ(embedded_rdma_disconnect(id), 0);
    embedded_rdma_destroy_ep(id);
    return NULL;
}

static void synchronous_ids_need_no_channel(void) {
    struct rdma_cm_id *listener = new_id(NULL), *active = new_id(NULL);
    CHECK_EQ(bind_result(listener, "127.0.0.1", 0), 0);
    CHECK_EQ(embedded_rdma_listen(listener, 1), 0);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, serve_synchronously, listener), 0);
    struct address address = address_of("127.0.0.1", port_of(listener));
    CHECK_EQ(embedded_rdma_resolve_addr(active, NULL, sockaddr_of(&address), 1000), 0);
    CHECK_EQ(embedded_rdma_resolve_route(active, 1000), 0);
    struct rdma_conn_param param = { .qp_num = 5 };
    CHECK_EQ(embedded_rdma_connect(active, &param), 0);
    CHECK_EQ(active->event->event, RDMA_CM_EVENT_CONNECT_RESPONSE);
    CHECK_EQ(embedded_rdma_establish(active), 0);
    CHECK_EQ(embedded_rdma_disconnect(active), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    embedded_rdma_destroy_ep(active);

    active = new_id(NULL);
    CHECK_EQ(embedded_rdma_resolve_addr(active, NULL, sockaddr_of(&address), 1000), 0);
    CHECK_EQ(embedded_rdma_resolve_route(active, 1000), 0);
    embedded_rdma_destroy_ep(listener);
    CHECK_EQ(embedded_rdma_connect(active, &param), -1);
    CHECK_EQ(errno, ECONNREFUSED);
    embedded_rdma_destroy_ep(active);
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
    RUN(a_listener_that_appears_a_moment_later_is_found);
    RUN(requests_beyond_the_backlog_are_rejected);
    RUN(destroying_a_listener_rejects_what_is_pending);
    RUN(a_request_that_was_withdrawn_cannot_be_accepted);
    RUN(a_queue_pair_cannot_be_in_two_connections);
    RUN(families_share_the_wildcard_of_ipv6_unless_told_otherwise);
    RUN(both_sides_learn_of_a_disconnect_once);
    RUN(both_sides_may_disconnect_at_once);
    RUN(an_id_that_was_never_connected_cannot_disconnect);
    RUN(destroy_waits_for_the_acks);
    RUN(pending_events_move_with_their_id);
    RUN(synchronous_ids_need_no_channel);
    RUN(nothing_is_left_behind);
    return 0;
}
