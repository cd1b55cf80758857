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
/* Steps that may fail: see steps.h. */
#include "steps.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#define ACK_TIMEOUT 17 /* half a second */
#define RETRIES 3

static const char *name_of(enum rdma_cm_event_type type) {
    switch (type) {
        case RDMA_CM_EVENT_ADDR_ERROR: return "ADDR_ERROR";
        case RDMA_CM_EVENT_CONNECT_ERROR: return "CONNECT_ERROR";
        case RDMA_CM_EVENT_UNREACHABLE: return "UNREACHABLE";
        case RDMA_CM_EVENT_REJECTED: return "REJECTED";
        case RDMA_CM_EVENT_DISCONNECTED: return "DISCONNECTED";
        case RDMA_CM_EVENT_MULTICAST_ERROR: return "MULTICAST_ERROR";
        default: return "another event";
    }
}

void note(struct trouble *trouble, const char *call, int error) {
    if (trouble->call == NULL) {
        CHECK(error != 0); /* one that fails says why */
        *trouble = (struct trouble) { call, error };
    }
}

uint64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

struct sockaddr_in address_at(const char *text, uint16_t port) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    CHECK_EQ(inet_pton(AF_INET, text, &address.sin_addr), 1);
    return address;
}

bool side_open(struct side *side, struct ibv_context *context, struct trouble *trouble) {
    STEP(trouble, (side->pd = ibv_alloc_pd(context)) != NULL);
    STEP(trouble, (side->channel = ibv_create_comp_channel(context)) != NULL);
    STEP(trouble, (side->cq = ibv_create_cq(context, 128, NULL, side->channel, 0)) != NULL);
    if (side->buffer == NULL) {
        side->buffer = calloc(2, FAULT_MESSAGE);
        CHECK(side->buffer != NULL);
    }
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    STEP(trouble, (side->mr = ibv_reg_mr(side->pd, side->buffer, 2 * FAULT_MESSAGE, access)) != NULL);
    return true;
}

bool side_resolve(struct side *side, enum rdma_port_space space, const char *address, uint16_t port,
                  struct trouble *trouble) {
    STEP(trouble, (side->events = rdma_create_event_channel()) != NULL);
    CHECK_EQ(fcntl(side->events->fd, F_SETFL, O_NONBLOCK), 0);
    STEP(trouble, rdma_create_id(side->events, &side->id, NULL, space) == 0);
    struct sockaddr_in to = address_at(address, port);
    STEP(trouble, rdma_resolve_addr(side->id, NULL, (struct sockaddr *) &to, 1000) == 0);
    if (!side_await(side, RDMA_CM_EVENT_ADDR_RESOLVED, trouble)) {
        return false;
    }
    STEP(trouble, rdma_resolve_route(side->id, 1000) == 0);
    return side_await(side, RDMA_CM_EVENT_ROUTE_RESOLVED, trouble);
}

bool side_create_qp(struct side *side, struct trouble *trouble) {
    uint8_t timeout = ACK_TIMEOUT;
    struct ibv_qp_init_attr attr = {
        .send_cq = side->cq, .recv_cq = side->cq,
        .cap = { .max_send_wr = 128, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 }, /* a ring is mapped */
        .qp_type = side->id->qp_type, .sq_sig_all = 1,
    };
    STEP(trouble, side->id->qp_type == IBV_QPT_UD
                  || rdma_set_option(side->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1) == 0);
    STEP(trouble, rdma_create_qp(side->id, side->pd, &attr) == 0);
    return true;
}

void side_close(struct side *side) {
    if (side->id != NULL) {
        if (side->id->qp != NULL) {
            rdma_destroy_qp(side->id);
        }
        CHECK_EQ(rdma_destroy_id(side->id), 0);
    }
    if (side->mr != NULL) {
        CHECK_EQ(ibv_dereg_mr(side->mr), 0);
    }
    if (side->cq != NULL) {
        CHECK_EQ(ibv_destroy_cq(side->cq), 0);
    }
    if (side->channel != NULL) {
        CHECK_EQ(ibv_destroy_comp_channel(side->channel), 0);
    }
    if (side->pd != NULL) {
        CHECK_EQ(ibv_dealloc_pd(side->pd), 0);
    }
    if (side->events != NULL) {
        rdma_destroy_event_channel(side->events);
    }
    free(side->buffer);
    memset(side, 0, sizeof(*side));
}

struct rdma_cm_event *side_await_event(struct side *side, enum rdma_cm_event_type type, struct trouble *trouble) {
    struct rdma_cm_event *event;
    uint64_t end = milliseconds() + (uint64_t) patience_ms();
    while (rdma_get_cm_event(side->events, &event) != 0) {
        if (errno != EAGAIN) {
            note(trouble, "rdma_get_cm_event", errno);
        }
        struct pollfd wait = { .fd = side->events->fd, .events = POLLIN };
        poll(&wait, 1, 100);
        CHECK(milliseconds() < end); /* the event was lost */
    }
    if (event->event != type) {
        note(trouble, name_of(event->event), event->status != 0 ? abs(event->status) : ECONNRESET);
        CHECK_EQ(rdma_ack_cm_event(event), 0);
        return NULL;
    }
    return event;
}

bool side_await(struct side *side, enum rdma_cm_event_type type, struct trouble *trouble) {
    struct rdma_cm_event *event = side_await_event(side, type, trouble);
    if (event == NULL) {
        return false;
    }
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    return true;
}

static bool is_disconnected(struct side *side) {
    struct pollfd ready = { .fd = side->events->fd, .events = POLLIN };
    struct rdma_cm_event *event;
    if (poll(&ready, 1, 0) != 1 || rdma_get_cm_event(side->events, &event) != 0) {
        return false;
    }
    bool disconnected = event->event == RDMA_CM_EVENT_DISCONNECTED;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    return disconnected;
}

bool side_complete(struct side *side, struct ibv_qp *qp, int count, struct ibv_wc *last, struct trouble *trouble) {
    uint64_t end = milliseconds() + (uint64_t) patience_ms();
    while (count > 0) {
        struct ibv_wc wc;
        int polled = ibv_poll_cq(side->cq, 1, &wc);
        CHECK(polled >= 0);
        if (polled == 0) {
            CHECK(milliseconds() < end); /* a completion was lost */
            if (side->events != NULL && is_disconnected(side)) {
                note(trouble, "DISCONNECTED", ECONNRESET);
                return false;
            }
            sched_yield();
            continue;
        }
        if (wc.status != IBV_WC_SUCCESS) {
            struct ibv_qp_attr attr;
            struct ibv_qp_init_attr init;
            CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
            CHECK_EQ(attr.qp_state, IBV_QPS_ERR);
            note(trouble, "completion", wc.status);
            return false;
        }
        if (last != NULL) {
            *last = wc;
        }
        count--;
    }
    return true;
}

int side_receive(struct side *side, struct ibv_qp *qp, size_t offset, uint32_t length) {
    struct ibv_sge sge = { (uintptr_t) side->buffer + offset, length, side->mr->lkey };
    struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
    return ibv_post_recv(qp, &wr, &bad);
}

int side_send(struct side *side, struct ibv_qp *qp, enum ibv_wr_opcode opcode, size_t offset, uint32_t length,
              const struct place *place) {
    struct ibv_sge sge = { (uintptr_t) side->buffer + offset, length, side->mr->lkey };
    struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode }, *bad;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = place->address;
        wr.wr.atomic.rkey = place->key;
        wr.wr.atomic.compare_add = 1;
    } else if (place != NULL) {
        wr.wr.rdma.remote_addr = place->address;
        wr.wr.rdma.rkey = place->key;
    }
    return ibv_post_send(qp, &wr, &bad);
}

bool side_echo(struct side *side, uint32_t length, struct trouble *trouble) {
    static _Atomic unsigned seed;
    memset(side->buffer, (int) (++seed % 251), length);
    memset(side->buffer + FAULT_MESSAGE, 0xff, length);
    STEP_ZERO(trouble, side_receive(side, side->id->qp, FAULT_MESSAGE, length));
    STEP_ZERO(trouble, side_send(side, side->id->qp, IBV_WR_SEND, 0, length, NULL));
    if (!side_complete(side, side->id->qp, 2, NULL, trouble)) {
        return false;
    }
    CHECK(memcmp(side->buffer, side->buffer + FAULT_MESSAGE, length) == 0);
    return true;
}

bool side_connect(struct side *side, uint16_t port, struct place *place, struct trouble *trouble) {
    if (!side_resolve(side, RDMA_PS_TCP, "127.0.0.1", port, trouble)
            || !side_open(side, side->id->verbs, trouble)
            || !side_create_qp(side, trouble)) {
        return false;
    }
    struct rdma_conn_param param = {
        .responder_resources = 4, .initiator_depth = 4, .retry_count = RETRIES, .rnr_retry_count = 7,
    };
    STEP(trouble, rdma_connect(side->id, &param) == 0);
    struct rdma_cm_event *event = side_await_event(side, RDMA_CM_EVENT_ESTABLISHED, trouble);
    if (event == NULL) {
        return false;
    }
    memcpy(place, event->param.conn.private_data, sizeof(*place));
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    return true;
}
