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
/* Queue pair ends for the C tests: see pair.h. */
#include "pair.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "provider.h"

const struct options defaults = {
    .type = IBV_QPT_RC,
    .send_wr = 64,
    .recv_wr = 64,
    .cqe = 256,
    .inline_data = 256,
    .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
    .timeout = 20,
    .retry_cnt = 7,
    .rnr_retry = 7,
    .min_rnr_timer = 1,
    .responder_resources = 16,
    .initiator_depth = 16,
    .sig_all = true,
};

uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

uint64_t patience_end_ns(void) {
    return now_ns() + (uint64_t) patience_ms() * 1000000;
}

static void open_qp(struct end *end) {
    const struct options *o = &end->options;
    struct ibv_qp_init_attr attr = {
        .send_cq = end->send_cq,
        .recv_cq = end->recv_cq,
        .cap = {
            .max_send_wr = (uint32_t) o->send_wr, .max_recv_wr = (uint32_t) o->recv_wr, .max_send_sge = 4,
            .max_recv_sge = 4, .max_inline_data = o->inline_data,
        },
        .srq = o->srq,
        .qp_type = o->type,
        .sq_sig_all = o->sig_all,
    };
    end->qp = ibv_create_qp(end->pd, &attr);
    CHECK(end->qp != NULL);
}

void end_open(struct end *end, const struct options *options) {
    memset(end, 0, sizeof(*end));
    end->options = *options;
    end->context = open_test_device(&end->gid_index);
    end->pd = ibv_alloc_pd(end->context);
    CHECK(end->pd != NULL);
    if (options->channel) {
        end->channel = ibv_create_comp_channel(end->context);
        CHECK(end->channel != NULL);
    }
    end->send_cq = end->recv_cq = ibv_create_cq(end->context, options->cqe, end, end->channel, 0);
    CHECK(end->send_cq != NULL);
    if (options->separate_cqs) {
        end->recv_cq = ibv_create_cq(end->context, options->cqe, end, end->channel, 0);
        CHECK(end->recv_cq != NULL);
    }
    end->buffer = aligned_alloc(4096, PAIR_BUFFER);
    CHECK(end->buffer != NULL);
    memset(end->buffer, 0, PAIR_BUFFER);
    end->mr = ibv_reg_mr(end->pd, end->buffer, PAIR_BUFFER, defaults.access);
    CHECK(end->mr != NULL);
    open_qp(end);
}

void end_open_on(struct end *end, const struct end *shared, const struct options *options) {
    *end = *shared;
    end->options = *options;
    open_qp(end);
}

void end_query_port(const struct end *end, struct ibv_port_attr *port) {
    CHECK_EQ(ibv_query_port(end->context, 1, port), 0);
}

struct address end_address(const struct end *end) {
    return (struct address) { end->qp->qp_num, end->mr->rkey, (uintptr_t) end->buffer };
}

void end_to_init(struct end *end) {
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = (unsigned) end->options.access,
    };
    CHECK_EQ(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT
                                    | IBV_QP_ACCESS_FLAGS), 0);
}

int end_to_rtr(struct end *end, uint32_t qpn) {
    struct ibv_port_attr port;
    end_query_port(end, &port);
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR, .path_mtu = port.active_mtu, .dest_qp_num = qpn,
        .max_dest_rd_atomic = (uint8_t) end->options.responder_resources,
        .min_rnr_timer = (uint8_t) end->options.min_rnr_timer, .ah_attr = { .dlid = port.lid, .port_num = 1 },
    };
    if (port.link_layer == IBV_LINK_LAYER_ETHERNET) { /* RoCE has no other address than the global one */
        attr.ah_attr.is_global = 1;
        attr.ah_attr.grh.sgid_index = (uint8_t) end->gid_index;
        attr.ah_attr.grh.hop_limit = 1;
        CHECK_EQ(ibv_query_gid(end->context, 1, end->gid_index, &attr.ah_attr.grh.dgid), 0);
    }
    int reliable = end->options.type == IBV_QPT_RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0;
    return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN
                                  | IBV_QP_RQ_PSN | reliable);
}

int end_to_rts(struct end *end) {
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTS, .timeout = (uint8_t) end->options.timeout,
        .retry_cnt = (uint8_t) end->options.retry_cnt, .rnr_retry = (uint8_t) end->options.rnr_retry,
        .max_rd_atomic = (uint8_t) end->options.initiator_depth,
    };
    int reliable = end->options.type != IBV_QPT_RC ? 0
            : IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | reliable);
}

void end_connect(struct end *end, uint32_t qpn) {
    end_to_init(end);
    CHECK_EQ(end_to_rtr(end, qpn), 0);
    CHECK_EQ(end_to_rts(end), 0);
}

void end_close(struct end *end) {
    if (end->qp != NULL) {
        CHECK_EQ(ibv_destroy_qp(end->qp), 0);
    }
    CHECK_EQ(ibv_dereg_mr(end->mr), 0);
    free(end->buffer);
    CHECK_EQ(ibv_destroy_cq(end->send_cq), 0);
    if (end->recv_cq != end->send_cq) {
        CHECK_EQ(ibv_destroy_cq(end->recv_cq), 0);
    }
    if (end->channel != NULL) {
        CHECK_EQ(ibv_destroy_comp_channel(end->channel), 0);
    }
    CHECK_EQ(ibv_dealloc_pd(end->pd), 0);
    CHECK_EQ(ibv_close_device(end->context), 0);
}

void pair_open(struct end *a, struct end *b, const struct options *options) {
    end_open(a, options);
    end_open(b, options);
    end_connect(a, b->qp->qp_num);
    end_connect(b, a->qp->qp_num);
}

void pair_close(struct end *a, struct end *b) {
    end_close(a);
    end_close(b);
}

void pair_talk(struct end *from, struct end *to) {
    CHECK_EQ(post_recv(to, 1, 0, 64), 0);
    CHECK_EQ(post_send(from, 2, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(to->recv_cq, 1, IBV_WC_SUCCESS);
    expect_wc(from->send_cq, 2, IBV_WC_SUCCESS);
}

static struct ibv_sge sge_of(const struct end *end, size_t offset, uint32_t length) {
    return (struct ibv_sge) { (uintptr_t) end->buffer + offset, length, end->mr->lkey };
}

int post_recv(struct end *end, uint64_t wr_id, size_t offset, uint32_t length) {
    struct ibv_sge sge = sge_of(end, offset, length);
    struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = length > 0 }, *bad;
    return end->context->ops.post_recv(end->qp, &wr, &bad);
}

int post_rdma(struct end *end, uint64_t wr_id, enum ibv_wr_opcode opcode, int flags, size_t offset, uint32_t length,
              const struct address *to, size_t remote_offset) {
    struct ibv_sge sge = sge_of(end, offset, length);
    struct ibv_send_wr wr = {
        .wr_id = wr_id, .sg_list = &sge, .num_sge = length > 0, .opcode = opcode, .send_flags = (unsigned) flags,
        .imm_data = htobe32((uint32_t) wr_id),
    }, *bad;
    if (to != NULL) {
        wr.wr.rdma.remote_addr = to->buffer + remote_offset;
        wr.wr.rdma.rkey = to->rkey;
    }
    return end->context->ops.post_send(end->qp, &wr, &bad);
}

int post_send(struct end *end, uint64_t wr_id, enum ibv_wr_opcode opcode, int flags, size_t offset, uint32_t length) {
    return post_rdma(end, wr_id, opcode, flags, offset, length, NULL, 0);
}

int post_atomic(struct end *end, uint64_t wr_id, enum ibv_wr_opcode opcode, size_t offset, const struct address *to,
                size_t remote_offset, uint64_t compare_add, uint64_t swap) {
    struct ibv_sge sge = sge_of(end, offset, 8);
    struct ibv_send_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = opcode }, *bad;
    wr.wr.atomic.remote_addr = to->buffer + remote_offset;
    wr.wr.atomic.rkey = to->rkey;
    wr.wr.atomic.compare_add = compare_add;
    wr.wr.atomic.swap = swap;
    return end->context->ops.post_send(end->qp, &wr, &bad);
}

struct ibv_wc next_wc(struct ibv_cq *cq) {
    struct ibv_wc wc;
    uint64_t end = patience_end_ns();
    while (cq->context->ops.poll_cq(cq, 1, &wc) != 1) {
        CHECK(now_ns() < end);
        sched_yield();
    }
    return wc;
}

void expect_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status) {
    struct ibv_wc wc = next_wc(cq);
    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, status);
}

void expect_nothing(struct ibv_cq *cq) {
    struct ibv_wc wc;
    CHECK_EQ(cq->context->ops.poll_cq(cq, 1, &wc), 0);
}

void expect_state(struct ibv_qp *qp, enum ibv_qp_state state) {
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    uint64_t end = patience_end_ns();
    do {
        CHECK(now_ns() < end);
        CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
        sched_yield();
    } while (attr.qp_state != state);
}

struct ibv_async_event next_async(struct ibv_context *context) {
    struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
    struct ibv_async_event event;
    CHECK_EQ(poll(&fd, 1, patience_ms()), 1);
    CHECK_EQ(ibv_get_async_event(context, &event), 0);
    return event;
}

void expect_async(struct ibv_context *context, enum ibv_event_type type) {
    struct ibv_async_event event = next_async(context);
    CHECK_EQ(event.event_type, type);
    ibv_ack_async_event(&event);
}

pid_t spawn(void (*body)(int socket), int *socket) {
    int sockets[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    limit_receives(sockets[0], life_ms());
    fflush(stdout);
    pid_t child = fork_child();
    if (child == 0) {
        CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
        close(sockets[0]);
        body(sockets[1]);
        fflush(stdout);
        _exit(0); /* memory that the parent had before the fork is no leak of the child's */
    }
    close(sockets[1]);
    *socket = sockets[0];
    return child;
}

void expect_exit(pid_t child, int status) {
    int actual;
    CHECK_WITHIN(life_ms() + patience_ms(), waitpid(child, &actual, WNOHANG) == child);
    CHECK_EQ(actual, status);
}

void send_all(int socket, const void *data, size_t length) {
    CHECK_EQ(send(socket, data, length, MSG_NOSIGNAL), length);
}

void receive_all(int socket, void *data, size_t length) {
    CHECK_EQ(recv(socket, data, length, MSG_WAITALL), length);
}
