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
/* The service: see service.h. */
#include "service.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "faults.h"
#include "steps.h"

#define MAX_CONNECTIONS 8

struct connection {
    struct rdma_cm_id *id; /* NULL: free */
    struct side side; /* memory of the service */
};

struct service {
    struct side side; /* side whose queue and channel all share */
    struct rdma_cm_id *tcp, *udp, *member;
    struct connection connections[MAX_CONNECTIONS];
};

static bool listen_at(struct service *s, enum rdma_port_space space, const char *address, struct rdma_cm_id **id,
                      struct trouble *trouble) {
    struct sockaddr_in any = address_at(address, 0);
    STEP(trouble, rdma_create_id(s->side.events, id, NULL, space) == 0);
    STEP(trouble, rdma_bind_addr(*id, (struct sockaddr *) &any) == 0);
    STEP(trouble, rdma_listen(*id, 8) == 0);
    return true;
}

static bool create_qp(struct service *s, struct rdma_cm_id *id, struct trouble *trouble) {
    struct ibv_qp_init_attr attr = {
        .send_cq = s->side.cq, .recv_cq = s->side.cq,
        .cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 },
        .qp_type = id->qp_type, .sq_sig_all = 1,
    };
    STEP(trouble, rdma_create_qp(id, s->side.pd, &attr) == 0);
    return true;
}

static bool join(struct service *s, struct trouble *trouble) {
    struct sockaddr_in own = address_at("127.0.0.1", 0), group = address_at(FAULT_GROUP, 0);
    STEP(trouble, rdma_create_id(s->side.events, &s->member, NULL, RDMA_PS_UDP) == 0);
    STEP(trouble, rdma_bind_addr(s->member, (struct sockaddr *) &own) == 0);
    if (!create_qp(s, s->member, trouble)) {
        return false;
    }
    STEP(trouble, rdma_join_multicast(s->member, (struct sockaddr *) &group, NULL) == 0);
    return side_await(&s->side, RDMA_CM_EVENT_MULTICAST_JOIN, trouble);
}

static bool start(struct service *s, bool joins, struct trouble *trouble) {
    STEP(trouble, (s->side.events = rdma_create_event_channel()) != NULL);
    CHECK_EQ(fcntl(s->side.events->fd, F_SETFL, O_NONBLOCK), 0);
    if (!listen_at(s, RDMA_PS_TCP, "0.0.0.0", &s->tcp, trouble)
            || !listen_at(s, RDMA_PS_UDP, "127.0.0.1", &s->udp, trouble)
            || !side_open(&s->side, s->udp->verbs, trouble) || (joins && !join(s, trouble))) {
        return false;
    }
    CHECK_EQ(fcntl(s->side.channel->fd, F_SETFL, O_NONBLOCK), 0);
    STEP_ZERO(trouble, ibv_req_notify_cq(s->side.cq, 0));
    return true;
}

static void close_connection(struct connection *c) {
    if (c->id->qp != NULL) {
        rdma_destroy_qp(c->id);
    }
    if (c->side.mr != NULL) {
        CHECK_EQ(ibv_dereg_mr(c->side.mr), 0);
    }
    free(c->side.buffer);
    CHECK_EQ(rdma_destroy_id(c->id), 0);
    memset(c, 0, sizeof(*c));
}

static void stop(struct service *s) {
    for (int i = 0; i < MAX_CONNECTIONS; i++) {
        if (s->connections[i].id != NULL) {
            close_connection(&s->connections[i]);
        }
    }
    struct rdma_cm_id *ids[] = { s->tcp, s->udp, s->member };
    for (int i = 0; i < 3; i++) {
        if (ids[i] != NULL) {
            struct sockaddr_in group = address_at(FAULT_GROUP, 0);
            rdma_leave_multicast(ids[i], (struct sockaddr *) &group);
            if (ids[i]->qp != NULL) {
                rdma_destroy_qp(ids[i]);
            }
            CHECK_EQ(rdma_destroy_id(ids[i]), 0);
        }
    }
    side_close(&s->side);
    memset(s, 0, sizeof(*s));
}

static int receive_into(struct service *s, struct connection *c) {
    struct ibv_sge sge = {
        (uintptr_t) c->side.buffer, FAULT_MESSAGE + FAULT_GRH, c->side.mr->lkey,
    };
    struct ibv_recv_wr wr = { .wr_id = (uint64_t) (c - s->connections) << 1 | 1, .sg_list = &sge, .num_sge = 1 }, *bad;
    return ibv_post_recv(c->id->qp, &wr, &bad);
}

/* Takes the id over, whatever comes of it. */
static bool accept_connection(struct service *s, struct connection *c, struct rdma_cm_id *id, struct trouble *trouble) {
    c->id = id;
    c->side.buffer = calloc(2, FAULT_MESSAGE);
    CHECK(c->side.buffer != NULL);
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    STEP(trouble, (c->side.mr = ibv_reg_mr(s->side.pd, c->side.buffer, 2 * FAULT_MESSAGE, access)) != NULL);
    if (!create_qp(s, id, trouble)) {
        return false;
    }
    STEP_ZERO(trouble, receive_into(s, c));
    /* The echo uses the first half. */
    const struct place place = { (uintptr_t) c->side.buffer + FAULT_MESSAGE + FAULT_GRH, c->side.mr->rkey };
    struct rdma_conn_param param = {
        .private_data = &place, .private_data_len = sizeof(place), .responder_resources = 4, .initiator_depth = 4,
        .retry_count = 3, .rnr_retry_count = 7, .qp_num = id->qp->qp_num,
    };
    STEP(trouble, rdma_accept(id, &param) == 0);
    return true;
}

static void handle_request(struct service *s, struct rdma_cm_id *id, bool refuse) {
    struct trouble trouble = { NULL, 0 };
    struct connection *c = s->connections;
    while (c < s->connections + MAX_CONNECTIONS && c->id != NULL) {
        c++;
    }
    CHECK(c < s->connections + MAX_CONNECTIONS);
    if (refuse) {
        rdma_reject(id, "no", 2);
        CHECK_EQ(rdma_destroy_id(id), 0);
    } else if (!accept_connection(s, c, id, &trouble)) {
        close_connection(c); /* closing rejects */
    }
}

static struct connection *connection_of(struct service *s, const struct rdma_cm_id *id) {
    for (int i = 0; i < MAX_CONNECTIONS; i++) {
        if (s->connections[i].id == id) {
            return &s->connections[i];
        }
    }
    return NULL;
}

static void handle_events(struct service *s) {
    struct rdma_cm_event *event;
    while (rdma_get_cm_event(s->side.events, &event) == 0) {
        struct rdma_cm_id *id = event->id;
        enum rdma_cm_event_type type = event->event;
        const char *data = event->param.conn.private_data;
        bool refuse = type == RDMA_CM_EVENT_CONNECT_REQUEST && id->ps == RDMA_PS_TCP && data != NULL
                && strcmp(data, "refuse") == 0;
        CHECK_EQ(rdma_ack_cm_event(event), 0);
        struct connection *c = connection_of(s, id);
        if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
            handle_request(s, id, refuse);
        } else if (type != RDMA_CM_EVENT_ESTABLISHED && c != NULL) {
            close_connection(c); /* disconnected, or not connected at all */
        }
    }
}

static bool echo(struct service *s, struct connection *c, const struct ibv_wc *wc, struct trouble *trouble) {
    bool datagram = c->id->qp_type == IBV_QPT_UD;
    uint32_t skip = datagram ? FAULT_GRH : 0;
    struct ibv_sge sge = { (uintptr_t) c->side.buffer + skip, wc->byte_len - skip, c->side.mr->lkey };
    struct ibv_send_wr wr = {
        .wr_id = (uint64_t) (c - s->connections) << 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
    }, *bad;
    struct ibv_ah *ah = NULL;
    if (datagram) {
        struct ibv_wc copy = *wc;
        STEP(trouble, (ah = ibv_create_ah_from_wc(s->side.pd, &copy, (struct ibv_grh *) c->side.buffer, 1)) != NULL);
        wr.wr.ud.ah = ah;
        wr.wr.ud.remote_qpn = wc->src_qp;
        wr.wr.ud.remote_qkey = RDMA_UDP_QKEY;
    }
    int error = ibv_post_send(c->id->qp, &wr, &bad);
    if (ah != NULL) {
        CHECK_EQ(ibv_destroy_ah(ah), 0);
    }
    STEP_ZERO(trouble, error);
    return true;
}

static void handle_completions(struct service *s) {
    struct ibv_cq *cq;
    void *context;
    while (ibv_get_cq_event(s->side.channel, &cq, &context) == 0) {
        ibv_ack_cq_events(cq, 1);
    }
    CHECK_EQ(ibv_req_notify_cq(s->side.cq, 0), 0);
    struct ibv_wc wc;
    while (ibv_poll_cq(s->side.cq, 1, &wc) == 1) {
        struct connection *c = &s->connections[wc.wr_id >> 1];
        struct trouble trouble = { NULL, 0 };
        if (c->id == NULL || wc.qp_num != c->id->qp->qp_num) {
            continue; /* event of a connection that was here before */
        }
        if (wc.status != IBV_WC_SUCCESS) {
            close_connection(c);
            continue;
        }
        if ((wc.wr_id & 1) != 0) {
            if (!echo(s, c, &wc, &trouble)) {
                CHECK_EQ(receive_into(s, c), 0); /* only a datagram can be lost so */
            }
        } else {
            CHECK_EQ(receive_into(s, c), 0);
        }
    }
}

static int connections(const struct service *s) {
    int count = 0;
    for (int i = 0; i < MAX_CONNECTIONS; i++) {
        count += s->connections[i].id != NULL && s->connections[i].id->qp_type == IBV_QPT_RC;
    }
    return count;
}

/* Returns whether the other end of the control socket is open. */
static bool turn(struct service *s, int control) {
    struct pollfd waits[] = {
        { .fd = control, .events = POLLIN },
        { .fd = s->side.events->fd, .events = POLLIN },
        { .fd = s->side.channel->fd, .events = POLLIN },
    };
    poll(waits, 3, 100);
    handle_events(s);
    handle_completions(s);
    return waits[0].revents == 0;
}

void service_run(int control, bool joins) {
    struct service service = { 0 };
    struct trouble trouble = { NULL, 0 };
    while (!start(&service, joins, &trouble)) {
        CHECK(fault_plan->fired); /* only a planned failure is a reason */
        CHECK(trouble.call != NULL);
        stop(&service);
        fault_plan->armed = false;
        trouble.call = NULL;
    }
    const struct service_ports ports = {
        ntohs(rdma_get_src_port(service.tcp)), ntohs(rdma_get_src_port(service.udp)),
    };
    CHECK_EQ(write(control, &ports, sizeof(ports)), sizeof(ports));
    while (turn(&service, control)) {
    }
    uint64_t end = milliseconds() + (uint64_t) patience_ms();
    while (connections(&service) != 0) {
        CHECK(milliseconds() < end); /* the end of a connection was not told */
        turn(&service, control);
    }
    stop(&service);
}
