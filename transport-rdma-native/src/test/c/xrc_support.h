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
/* One side of XRC connections: a domain with its memory and completion queues, and objects made in it. */
#ifndef NETTY_RDMA_TEST_XRC_SUPPORT_H
#define NETTY_RDMA_TEST_XRC_SUPPORT_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

#define SIDE_BUFFER (1u << 20)

struct side {
    struct ibv_context *context;
    int gid_index;
    struct ibv_pd *pd;
    struct ibv_xrcd *xrcd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    char *buffer;
};

struct shared_queue {
    struct ibv_srq *srq;
    uint32_t number;
};

/* NULL: errno. */
static inline struct ibv_xrcd *open_domain(struct ibv_context *context, int fd, int oflags) {
    struct ibv_xrcd_init_attr attr = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = oflags,
    };
    return ibv_open_xrcd(context, &attr);
}

static inline void side_open(struct side *side, int fd) {
    side->context = open_test_device(&side->gid_index);
    side->pd = ibv_alloc_pd(side->context);
    CHECK(side->pd != NULL);
    side->xrcd = open_domain(side->context, fd, O_CREAT);
    CHECK(side->xrcd != NULL);
    side->channel = ibv_create_comp_channel(side->context);
    CHECK(side->channel != NULL);
    side->cq = ibv_create_cq(side->context, 1024, side, side->channel, 0);
    CHECK(side->cq != NULL);
    side->buffer = aligned_alloc(4096, SIDE_BUFFER);
    CHECK(side->buffer != NULL);
    memset(side->buffer, 0, SIDE_BUFFER);
    side->mr = ibv_reg_mr(side->pd, side->buffer, SIDE_BUFFER, defaults.access);
    CHECK(side->mr != NULL);
}

static inline void side_close(struct side *side) {
    CHECK_EQ(ibv_close_xrcd(side->xrcd), 0);
    CHECK_EQ(ibv_dereg_mr(side->mr), 0);
    free(side->buffer);
    CHECK_EQ(ibv_destroy_cq(side->cq), 0);
    CHECK_EQ(ibv_destroy_comp_channel(side->channel), 0);
    CHECK_EQ(ibv_dealloc_pd(side->pd), 0);
    CHECK_EQ(ibv_close_device(side->context), 0);
}

static inline struct ibv_srq_init_attr_ex srq_attributes(const struct side *side, struct ibv_cq *cq) {
    return (struct ibv_srq_init_attr_ex) {
        .attr = { .max_wr = 256, .max_sge = 2 }, .srq_type = IBV_SRQT_XRC, .pd = side->pd, .xrcd = side->xrcd, .cq = cq,
        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
    };
}

static inline struct shared_queue make_srq(const struct side *side, struct ibv_cq *cq) {
    struct ibv_srq_init_attr_ex attr = srq_attributes(side, cq);
    struct shared_queue queue = { .srq = ibv_create_srq_ex(side->context, &attr) };
    CHECK(queue.srq != NULL);
    CHECK_EQ(ibv_get_srq_num(queue.srq, &queue.number), 0);
    return queue;
}

static inline struct ibv_qp *make_target(const struct side *side) {
    struct ibv_qp_init_attr_ex attr = {
        .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = side->xrcd,
    };
    struct ibv_qp *qp = ibv_create_qp_ex(side->context, &attr);
    CHECK(qp != NULL);
    return qp;
}

static inline struct ibv_qp *make_initiator(const struct side *side, uint64_t operations) {
    struct ibv_qp_init_attr_ex attr = {
        .qp_type = IBV_QPT_XRC_SEND, .send_cq = side->cq, .sq_sig_all = 1, .pd = side->pd,
        .cap = { .max_send_wr = 128, .max_send_sge = 2 }, .send_ops_flags = operations,
        .comp_mask = IBV_QP_INIT_ATTR_PD | (operations != 0 ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
    };
    struct ibv_qp *qp = ibv_create_qp_ex(side->context, &attr);
    CHECK(qp != NULL);
    return qp;
}

/* Connects the queue pair to RTS; `rnr_retry` gives the retries. */
static inline void connect_to(struct ibv_qp *qp, uint32_t qpn, int rnr_retry) {
    const struct end of_device = { .context = qp->context };
    struct ibv_port_attr port;
    end_query_port(&of_device, &port);
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = (unsigned) defaults.access,
    };
    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
    attr = (struct ibv_qp_attr) {
        .qp_state = IBV_QPS_RTR, .path_mtu = port.active_mtu, .dest_qp_num = qpn, .max_dest_rd_atomic = 4,
        .min_rnr_timer = 1, .ah_attr = { .dlid = port.lid, .port_num = 1 },
    };
    bool receives = qp->qp_type == IBV_QPT_XRC_RECV;
    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
                           | (receives ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)), 0);
    attr = (struct ibv_qp_attr) {
        .qp_state = IBV_QPS_RTS, .timeout = 17, .retry_cnt = 7, .rnr_retry = (uint8_t) rnr_retry, .max_rd_atomic = 4,
    };
    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT
                           | (receives ? 0 : IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)), 0);
}

static inline void connect_both(struct ibv_qp *initiator, struct ibv_qp *target, int rnr_retry) {
    connect_to(initiator, target->qp_num, rnr_retry);
    connect_to(target, initiator->qp_num, 0);
}

static inline void give_receive(const struct side *side, struct ibv_srq *srq, uint64_t id, size_t offset,
                                uint32_t length) {
    struct ibv_sge sge = { (uintptr_t) side->buffer + offset, length, side->mr->lkey };
    struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = length > 0 }, *bad;
    CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
}

/* Sends from the beginning of the side's buffer. */
static inline int post_to(const struct side *side, struct ibv_qp *qp, uint64_t id, enum ibv_wr_opcode opcode,
                          uint32_t length, uint32_t srqn, const struct address *to) {
    struct ibv_sge sge = { (uintptr_t) side->buffer, length, side->mr->lkey };
    struct ibv_send_wr wr = {
        .wr_id = id, .sg_list = &sge, .num_sge = length > 0, .opcode = opcode, .imm_data = htobe32((uint32_t) id),
        .qp_type.xrc.remote_srqn = srqn,
    }, *bad;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = to->buffer;
        wr.wr.atomic.rkey = to->rkey;
        wr.wr.atomic.compare_add = 1;
    } else if (to != NULL) {
        wr.wr.rdma.remote_addr = to->buffer;
        wr.wr.rdma.rkey = to->rkey;
    }
    return ibv_post_send(qp, &wr, &bad);
}

static inline void send_to(const struct side *side, struct ibv_qp *qp, uint64_t id, uint32_t length, uint32_t srqn) {
    CHECK_EQ(post_to(side, qp, id, IBV_WR_SEND, length, srqn, NULL), 0);
}

static inline bool has_xrc(void) {
    int unused;
    struct ibv_context *context = open_test_device(&unused);
    struct ibv_device_attr attr;
    CHECK_EQ(ibv_query_device(context, &attr), 0);
    CHECK_EQ(ibv_close_device(context), 0);
    return (attr.device_cap_flags & IBV_DEVICE_XRC) != 0;
}

#endif
