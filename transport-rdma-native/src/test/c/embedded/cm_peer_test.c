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
 * The connection manager and peers that lie.
 */
#include "cm_inside.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

/* ---- peers that lie ---- */

/* The name of a port, and its length. */
static socklen_t name_of(enum rdma_port_space space, uint16_t port, struct sockaddr_un *address) {
    *address = (struct sockaddr_un) { .sun_family = AF_UNIX };
    int n = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "netty-rdma/%u/cm/%x/%u", geteuid(), space,
                     port);
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static void say_hello(int fd) {
    CHECK(fd >= 0);
    limit_receives(fd, patience_ms());
    static const uint32_t hello[] = { LINK_HELLO, 0, 0x4e52444d, LINK_VERSION };
    CHECK_EQ(send(fd, hello, sizeof(hello), 0), sizeof(hello));
}

static int raw_connect_in(enum rdma_port_space space, uint16_t port) {
    struct sockaddr_un address;
    socklen_t length = name_of(space, port, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    CHECK_EQ(connect(fd, (struct sockaddr *) &address, length), 0);
    say_hello(fd);
    return fd;
}

static int raw_connect(uint16_t port) {
    return raw_connect_in(RDMA_PS_TCP, port);
}

/* Listens at a port beyond those that the connection manager chooses by itself. */
static int raw_listen(enum rdma_port_space space, uint16_t *port) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    struct sockaddr_un address;
    socklen_t length;
    *port = 62000;
    do { /* another run of this may have one */
        CHECK(--*port > 61000);
        length = name_of(space, *port, &address);
    } while (bind(fd, (struct sockaddr *) &address, length) != 0);
    CHECK_EQ(listen(fd, 8), 0);
    return fd;
}

static void raw_send(int fd, uint32_t type, const void *body, size_t length) {
    char packet[8 + LINK_MAX_BODY] = { 0 };
    memcpy(packet, &type, sizeof(type));
    memcpy(packet + 8, body, length);
    CHECK_EQ(send(fd, packet, 8 + length, MSG_NOSIGNAL), 8 + length);
}

/* Reads over everything before the message of the type; copies that one's body. False at the end of the link. */
static bool raw_receive(int fd, uint32_t type, void *body, size_t length) {
    for (;;) {
        char packet[8 + LINK_MAX_BODY];
        ssize_t n = recv(fd, packet, sizeof(packet), 0);
        if (n < 0 && errno == ECONNRESET) {
            continue;
        }
        CHECK(n >= 0);
        if (n == 0) {
            return false;
        }
        uint32_t got;
        memcpy(&got, packet, sizeof(got));
        if (got == type && n == (ssize_t) (8 + length)) {
            memcpy(body, packet + 8, length);
            return true;
        }
    }
}

static struct cm_wire_req request_to(uint16_t port, uint32_t from, uint32_t qpn) {
    struct cm_wire_req request;
    memset(&request, 0, sizeof(request));
    struct address source = address_of(test_address(), 1), destination = address_of(test_address(), port);
    request.ids.from = from;
    request.port_space = RDMA_PS_TCP;
    cm_address_to_wire(sockaddr_of(&source), &request.source);
    cm_address_to_wire(sockaddr_of(&destination), &request.destination);
    request.endpoint.qpn = qpn;
    return request;
}

static void malformed_messages_end_the_link_and_nothing_else(void) {
    struct pair p = new_pair();
    uint16_t port = port_of(p.listener);
    static const uint32_t types[] = { CM_REQ, CM_REP, CM_RTU, CM_REJ, CM_DREQ, CM_DREP };
    static const size_t lengths[] = { 0, 1, 7, 9, 600, LINK_MAX_BODY };
    static const uint8_t junk[LINK_MAX_BODY] = { 0xff, 0xff, 0xff, 0xff };
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
        for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
            int fd = raw_connect(port);
            raw_send(fd, types[t], junk, lengths[l]);
            CHECK(!raw_receive(fd, 0, NULL, 0));
            close(fd);
        }
    }
    for (int lie = 0; lie < 9; lie++) {
        struct cm_wire_req request = request_to(port, 1, 2);
        switch (lie) {
            case 0: request.ids.from = 0; break;
            case 1: request.endpoint.data_length = CM_REQ_DATA + 1; break;
            case 2: request.endpoint.qpn = 0x1000000; break;
            case 3: request.endpoint.psn = 0xffffffff; break;
            case 4: request.endpoint.retry_count = 8; break;
            case 5: request.endpoint.rnr_retry_count = 255; break;
            case 6: request.source.family = AF_UNIX; break;
            case 7: request.destination.family = 0xffff; break;
            default: request.endpoint.data_length = 255; break;
        }
        int fd = raw_connect(port);
        raw_send(fd, CM_REQ, &request, sizeof(request));
        CHECK(!raw_receive(fd, 0, NULL, 0));
        close(fd);
    }
    expect_nothing(p.server);
    expect_nothing(p.client);
    CHECK_EQ(rdma_disconnect(p.active), 0); /* the honest connection works */
    expect_and_ack(p.server, RDMA_CM_EVENT_DISCONNECTED, 0);
    free_pair(&p);
}

static void handles_of_other_connections_are_of_no_use(void) {
    struct pair p = new_pair();
    int fd = raw_connect(port_of(p.listener));
    uint32_t handles[] = { cm_of(p.passive)->handle, cm_of(p.active)->handle, cm_of(p.listener)->handle, 0, 1,
                           0xffffffff, 1u << 20 };
    uint32_t froms[] = { cm_of(p.active)->handle, cm_of(p.passive)->handle, 7, 0 };
    for (size_t h = 0; h < sizeof(handles) / sizeof(handles[0]); h++) {
        for (size_t f = 0; f < sizeof(froms) / sizeof(froms[0]); f++) {
            struct cm_wire_plain plain = { .ids = { .from = froms[f], .to = handles[h] } };
            struct cm_wire_rej reject = { .ids = plain.ids, .reason = CM_REJ_CONSUMER };
            struct cm_wire_rep reply = { .ids = { .from = 7, .to = handles[h] } };
            raw_send(fd, CM_RTU, &plain, sizeof(plain));
            raw_send(fd, CM_DREQ, &plain, sizeof(plain));
            raw_send(fd, CM_DREP, &plain, sizeof(plain));
            raw_send(fd, CM_REJ, &reject, sizeof(reject));
            raw_send(fd, CM_REP, &reply, sizeof(reply));
            CHECK(raw_receive(fd, CM_REJ, &reject, sizeof(reject)));
            CHECK_EQ(reject.reason, CM_REJ_INVALID_COMM_ID);
        }
    }
    close(fd);
    expect_nothing(p.server);
    expect_nothing(p.client);
    CHECK_EQ(rdma_disconnect(p.passive), 0);
    expect_and_ack(p.client, RDMA_CM_EVENT_DISCONNECTED, 0);
    free_pair(&p);
}

static void messages_out_of_turn_are_ignored(void) {
    struct rdma_event_channel *server = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 4);
    int fd = raw_connect(port_of(listener));
    struct cm_wire_req request = request_to(port_of(listener), 77, 5);
    raw_send(fd, CM_REQ, &request, sizeof(request));
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    rdma_ack_cm_event(event);
    struct cm_wire_plain plain = { .ids = { .from = 77, .to = cm_of(passive)->handle } };
    raw_send(fd, CM_RTU, &plain, sizeof(plain)); /* before it was accepted */
    raw_send(fd, CM_DREP, &plain, sizeof(plain));
    raw_send(fd, CM_DREQ, &plain, sizeof(plain));
    raw_send(fd, CM_REQ, &request, sizeof(request)); /* the same again */
    struct cm_wire_rej reject;
    CHECK(raw_receive(fd, CM_REJ, &reject, sizeof(reject)));
    CHECK_EQ(reject.reason, CM_REJ_STALE_CONN);
    struct rdma_conn_param param = { .qp_num = 6 };
    CHECK_EQ(rdma_accept(passive, &param), 0);
    struct cm_wire_rep reply;
    CHECK(raw_receive(fd, CM_REP, &reply, sizeof(reply)));
    CHECK_EQ(reply.endpoint.qpn, 6);
    CHECK_EQ(reply.ids.to, 77);
    for (int i = 0; i < 3; i++) {
        raw_send(fd, CM_RTU, &plain, sizeof(plain));
    }
    expect_and_ack(server, RDMA_CM_EVENT_ESTABLISHED, 0);
    raw_send(fd, CM_DREP, &plain, sizeof(plain)); /* an answer to nothing */
    for (int i = 0; i < 3; i++) {
        raw_send(fd, CM_DREQ, &plain, sizeof(plain));
    }
    expect_and_ack(server, RDMA_CM_EVENT_DISCONNECTED, 0);
    CHECK_EQ(rdma_disconnect(passive), 0);
    CHECK(raw_receive(fd, CM_DREP, &plain, sizeof(plain)));
    expect_and_ack(server, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    close(fd);
    expect_nothing(server);
    rdma_destroy_id(passive);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
}

static void a_flood_of_requests_is_bounded_by_the_backlog(void) {
    struct rdma_event_channel *server = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 4);
    int fd = raw_connect(port_of(listener)), before = 0;
    struct cm_wire_rej reject;
    for (uint32_t i = 1; i <= 500; i++) {
        struct cm_wire_req request = request_to(port_of(listener), i, i);
        raw_send(fd, CM_REQ, &request, sizeof(request));
        if (i > 4) {
            CHECK(raw_receive(fd, CM_REJ, &reject, sizeof(reject)));
            CHECK_EQ(reject.reason, CM_REJ_NO_RESOURCES);
        }
        if (i == 5) {
            before = open_fds(); /* the connection is accepted by now */
        }
    }
    CHECK_EVENTUALLY(open_fds() <= before); /* fewer if a link of an earlier test has been idle long enough */
    for (int i = 0; i < 4; i++) {
        struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
        struct rdma_cm_id *id = event->id;
        rdma_ack_cm_event(event);
        if (i == 3) {
            close(fd); /* and gone: the rest cannot be accepted, only destroyed */
            struct rdma_conn_param param = { .qp_num = 6 };
            CHECK_EVENTUALLY(rdma_accept(id, &param) == -1);
        }
        rdma_destroy_id(id);
    }
    expect_nothing(server);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
}

static void one_process_does_not_fill_a_backlog(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 16);
    uint16_t port = port_of(listener);
    int said[2];
    CHECK_EQ(pipe(said), 0);
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        int fd = raw_connect(port);
        struct cm_wire_rej reject;
        for (uint32_t i = 1; i <= 16; i++) {
            struct cm_wire_req request = request_to(port, i, i);
            raw_send(fd, CM_REQ, &request, sizeof(request));
        }
        for (int i = 0; i < 2; i++) {
            CHECK(raw_receive(fd, CM_REJ, &reject, sizeof(reject)));
            CHECK_EQ(reject.reason, CM_REJ_NO_RESOURCES);
        }
        CHECK_EQ(write(said[1], "", 1), 1);
        pause();
    }
    char byte;
    close(said[1]);
    CHECK_EQ(read(said[0], &byte, 1), 1);
    close(said[0]);
    struct rdma_cm_id *active = connecting(client, test_address(), port); /* of another process than the child */
    struct rdma_cm_event *event;
    uint64_t peer = 0;
    struct rdma_cm_id *id = NULL;
    for (int i = 0; i < 14; i++) {
        event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
        struct rdma_cm_id *next = event->id;
        CHECK(event->param.conn.qp_num <= 16);
        rdma_ack_cm_event(event);
        if (id != NULL) {
            CHECK_EQ(embedded_ext_peer(next), peer);
            rdma_destroy_id(id);
        }
        id = next;
        peer = embedded_ext_peer(id);
        CHECK_EQ(peer, (uint64_t) child);
    }
    struct rdma_cm_id *passive = accept_next(server);
    expect_and_ack(client, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    CHECK_EQ(embedded_ext_peer(passive), (uint64_t) getpid());
    kill(child, SIGKILL);
    CHECK_EQ(waitpid(child, NULL, 0), child);
    CHECK_EVENTUALLY(embedded_ext_peer(id) == 0); /* the peer is gone */
    rdma_destroy_id(id);
    rdma_destroy_id(active);
    rdma_destroy_id(passive);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

/*
 * Abandoned requests wait to be fetched all the same: otherwise one process could fill a backlog, and leave nothing to
 * others.
 */
static void requests_that_a_process_has_given_up_count_until_they_are_fetched(void) {
    struct rdma_event_channel *server = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 16);
    uint16_t port = port_of(listener);
    int fd = raw_connect(port);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 1; i <= 16; i++) {
            struct cm_wire_req request = request_to(port, i, i);
            const struct cm_wire_rej withdrawal = { .ids = { .from = i }, .reason = CM_REJ_TIMEOUT };
            raw_send(fd, CM_REQ, &request, sizeof(request));
            raw_send(fd, CM_REJ, &withdrawal, sizeof(withdrawal));
        }
        struct cm_wire_rej reject;
        for (uint32_t i = 15; i <= 16; i++) { /* fourteen, seven eighths of sixteen, wait */
            CHECK(raw_receive(fd, CM_REJ, &reject, sizeof(reject)));
            CHECK_EQ(reject.ids.to, i);
            CHECK_EQ(reject.reason, CM_REJ_NO_RESOURCES);
        }
        for (int i = 0; i < 14; i++) {
            struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
            struct rdma_cm_id *id = event->id;
            rdma_ack_cm_event(event);
            rdma_destroy_id(id);
        }
        expect_nothing(server);
    }
    struct cm_wire_req request = request_to(port, 1, 1); /* last request, which is not fetched */
    raw_send(fd, CM_REQ, &request, sizeof(request));
    struct pollfd wait = { .fd = server->fd, .events = POLLIN };
    CHECK_EQ(poll(&wait, 1, patience_ms()), 1);
    close(fd);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
}

/* A server that gives up before it has our ready-to-use rejects; for the client the connection is there by then. */
static void a_rejection_that_comes_after_the_establishment_ends_the_connection(void) {
    struct pair p = new_pair();
    uint32_t active = cm_of(p.active)->handle, passive = cm_of(p.passive)->handle;
    struct cm_wire_rej reject = { .ids = { .from = passive, .to = active }, .reason = CM_REJ_CONSUMER };
    pthread_mutex_lock(&cm_lock);
    CHECK_EQ(link_send(cm_of(p.passive)->link, CM_REJ, &reject, sizeof(reject), NULL, 0), 0);
    pthread_mutex_unlock(&cm_lock);
    expect_and_ack(p.client, RDMA_CM_EVENT_REJECTED, CM_REJ_CONSUMER);
    expect_and_ack(p.client, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    CHECK_EQ(rdma_disconnect(p.active), 0); /* nothing is left to disconnect */
    expect_nothing(p.client);
    free_pair(&p);
}

/* A server that answers with nonsense, as seen by an honest client. */
static void a_lying_server_cannot_confuse_its_client(void) {
    struct rdma_event_channel *client = new_channel();
    uint16_t port;
    int listener = raw_listen(RDMA_PS_TCP, &port);
    struct rdma_cm_id *id = connecting_as(3, client, test_address(), port);
    int fd = accept(listener, NULL, NULL);
    say_hello(fd);
    struct cm_wire_req request;
    CHECK(raw_receive(fd, CM_REQ, &request, sizeof(request)));
    CHECK_EQ(request.endpoint.qpn, 3);
    struct cm_wire_rep reply = { .ids = { .from = 9, .to = request.ids.from } };
    reply.endpoint.responder_resources = reply.endpoint.initiator_depth = 255;
    reply.endpoint.data_length = CM_REP_DATA;
    struct cm_wire_plain plain = { .ids = reply.ids };
    raw_send(fd, CM_RTU, &plain, sizeof(plain));
    raw_send(fd, CM_DREQ, &plain, sizeof(plain));
    raw_send(fd, CM_REP, &reply, sizeof(reply));
    raw_send(fd, CM_REP, &reply, sizeof(reply));
    reply.ids.from = 10; /* a second passive side */
    raw_send(fd, CM_REP, &reply, sizeof(reply));
    expect_and_ack(client, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    CHECK_EQ(rdma_establish(id), 0);
    CHECK(raw_receive(fd, CM_RTU, &plain, sizeof(plain)));
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
    int mask;
    CHECK_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
    CHECK_EQ(attr.max_rd_atomic, 0); /* no more than was offered */
    reply.endpoint.data_length = CM_REP_DATA + 1;
    raw_send(fd, CM_REP, &reply, sizeof(reply)); /* malformed: as if the peer had died */
    CHECK(!raw_receive(fd, 0, NULL, 0));
    expect_and_ack(client, RDMA_CM_EVENT_DISCONNECTED, 0);
    rdma_destroy_id(id);
    close(fd);
    close(listener);
    rdma_destroy_event_channel(client);
}

/* ---- datagrams: IBA 12.11 ---- */

static struct rdma_cm_id *new_datagram_id(struct rdma_event_channel *channel) {
    struct rdma_cm_id *id;
    CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP), 0);
    return id;
}

static void lies_do_not_confuse_a_server_of_datagrams(void) {
    struct rdma_event_channel *server = new_channel();
    struct rdma_cm_id *listener = new_datagram_id(server);
    struct address address = address_of(test_address(), 0);
    CHECK_EQ(rdma_bind_addr(listener, sockaddr_of(&address)), 0);
    CHECK_EQ(rdma_listen(listener, 4), 0);
    uint16_t port = port_of(listener);
    for (int lie = 0; lie < 3; lie++) {
        struct cm_wire_req request = request_to(port, 1, 2);
        request.port_space = lie == 2 ? RDMA_PS_TCP : RDMA_PS_UDP; /* where less is left for the user */
        request.endpoint.data_length = lie == 0 ? CM_SIDR_REQ_DATA + 1 : lie == 1 ? 255 : CM_REQ_DATA + 1;
        int fd = raw_connect_in(RDMA_PS_UDP, port);
        raw_send(fd, CM_REQ, &request, sizeof(request));
        CHECK(!raw_receive(fd, 0, NULL, 0));
        close(fd);
    }
    expect_nothing(server);

    int fd = raw_connect_in(RDMA_PS_UDP, port);
    struct cm_wire_req request = request_to(port, 77, 0);
    request.port_space = RDMA_PS_UDP;
    request.endpoint.data_length = CM_SIDR_REQ_DATA;
    raw_send(fd, CM_REQ, &request, sizeof(request));
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    CHECK_EQ(event->param.ud.private_data_len, CM_SIDR_REQ_DATA);
    struct rdma_cm_id *passive = event->id;
    rdma_ack_cm_event(event);
    struct cm_wire_plain plain = { .ids = { .from = 77, .to = cm_of(passive)->handle } };
    struct cm_wire_rep reply = { .ids = plain.ids };
    raw_send(fd, CM_RTU, &plain, sizeof(plain)); /* messages for connections only */
    raw_send(fd, CM_DREQ, &plain, sizeof(plain));
    raw_send(fd, CM_DREP, &plain, sizeof(plain));
    raw_send(fd, CM_REP, &reply, sizeof(reply));
    struct rdma_conn_param param = { .qp_num = 6 };
    CHECK_EQ(rdma_accept(passive, &param), 0);
    CHECK(raw_receive(fd, CM_REP, &reply, sizeof(reply)));
    CHECK_EQ(reply.endpoint.qpn, 6);
    CHECK_EQ(reply.ids.to, 77);
    raw_send(fd, CM_RTU, &plain, sizeof(plain));
    raw_send(fd, CM_DREQ, &plain, sizeof(plain));
    settle();
    expect_nothing(server);
    close(fd);
    rdma_destroy_id(passive);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
}

static void a_lying_server_of_datagrams_cannot_confuse_its_client(void) {
    struct rdma_event_channel *client = new_channel();
    uint16_t port;
    int listener = raw_listen(RDMA_PS_UDP, &port);
    struct rdma_cm_id *id = new_datagram_id(client);
    resolve(id, test_address(), port);
    struct rdma_conn_param param = { .qp_num = 3 };
    CHECK_EQ(rdma_connect(id, &param), 0);
    int fd = accept(listener, NULL, NULL);
    say_hello(fd);
    struct cm_wire_req request;
    CHECK(raw_receive(fd, CM_REQ, &request, sizeof(request)));
    struct cm_wire_rep reply = { .ids = { .from = 9, .to = request.ids.from }, .endpoint = { .qpn = 0xffffff } };
    reply.endpoint.data_length = CM_REP_DATA; /* of which less fits in the answer to a request for datagrams */
    memset(reply.data, 0x5a, sizeof(reply.data));
    struct cm_wire_plain plain = { .ids = reply.ids };
    raw_send(fd, CM_RTU, &plain, sizeof(plain));
    raw_send(fd, CM_DREQ, &plain, sizeof(plain));
    raw_send(fd, CM_REP, &reply, sizeof(reply));
    raw_send(fd, CM_REP, &reply, sizeof(reply));
    struct rdma_cm_event *event = expect(client, RDMA_CM_EVENT_ESTABLISHED);
    CHECK_EQ(event->param.ud.qp_num, 0xffffff);
    CHECK_EQ(event->param.ud.private_data_len, CM_SIDR_REP_DATA);
    rdma_ack_cm_event(event);
    struct cm_wire_rej reject;
    CHECK(raw_receive(fd, CM_REJ, &reject, sizeof(reject)));
    CHECK_EQ(reject.reason, CM_REJ_INVALID_COMM_ID); /* the second one comes too late */
    expect_nothing(client);
    rdma_destroy_id(id);
    close(fd);
    close(listener);
    rdma_destroy_event_channel(client);
}

int main(void) {
    RUN(malformed_messages_end_the_link_and_nothing_else);
    RUN(handles_of_other_connections_are_of_no_use);
    RUN(messages_out_of_turn_are_ignored);
    RUN(a_flood_of_requests_is_bounded_by_the_backlog);
    RUN(one_process_does_not_fill_a_backlog);
    RUN(requests_that_a_process_has_given_up_count_until_they_are_fetched);
    RUN(a_rejection_that_comes_after_the_establishment_ends_the_connection);
    RUN(a_lying_server_cannot_confuse_its_client);
    RUN(lies_do_not_confuse_a_server_of_datagrams);
    RUN(a_lying_server_of_datagrams_cannot_confuse_its_client);
    return 0;
}
