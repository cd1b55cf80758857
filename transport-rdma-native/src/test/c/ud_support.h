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
/* Ends that send datagrams, for the C tests: queue pair ends of pair.h that are not connected. */
#ifndef NETTY_RDMA_TEST_UD_SUPPORT_H
#define NETTY_RDMA_TEST_UD_SUPPORT_H

#include <arpa/inet.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

#define QKEY 0x11111111u
#define GRH 40

static inline struct options datagrams(void) {
    struct options options = defaults;
    options.type = IBV_QPT_UD;
    return options;
}

static inline int ud_to_init(struct end *end) {
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
    return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

static inline int ud_to(struct end *end, enum ibv_qp_state state) {
    struct ibv_qp_attr attr = { .qp_state = state };
    return ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | (state == IBV_QPS_RTS ? IBV_QP_SQ_PSN : 0));
}

static inline void ud_ready(struct end *end) {
    CHECK_EQ(ud_to_init(end), 0);
    CHECK_EQ(ud_to(end, IBV_QPS_RTR), 0);
    CHECK_EQ(ud_to(end, IBV_QPS_RTS), 0);
}

static inline void ud_open(struct end *end) {
    struct options options = datagrams();
    end_open(end, &options);
    ud_ready(end);
}

/* The way to the device that the tests use, with a global header on either link layer. */
static inline struct ibv_ah_attr own_address(const struct end *end) {
    struct ibv_port_attr port;
    end_query_port(end, &port);
    struct ibv_ah_attr attr = { .dlid = port.lid, .port_num = 1, .is_global = 1 };
    attr.grh.sgid_index = (uint8_t) end->gid_index;
    attr.grh.hop_limit = 3;
    CHECK_EQ(ibv_query_gid(end->context, 1, end->gid_index, &attr.grh.dgid), 0);
    return attr;
}

static inline struct ibv_ah *own_ah(const struct end *end) {
    struct ibv_ah_attr attr = own_address(end);
    struct ibv_ah *ah = ibv_create_ah(end->pd, &attr);
    CHECK(ah != NULL);
    return ah;
}

static inline int post_datagram_as(struct end *end, uint64_t wr_id, enum ibv_wr_opcode opcode, int flags, size_t offset,
                                   uint32_t length, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey) {
    struct ibv_sge sge = { (uintptr_t) end->buffer + offset, length, end->mr->lkey };
    struct ibv_send_wr wr = {
        .wr_id = wr_id, .sg_list = &sge, .num_sge = length > 0, .opcode = opcode, .send_flags = (unsigned) flags,
        .imm_data = htonl((uint32_t) wr_id),
        .wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = qkey },
    }, *bad;
    return end->context->ops.post_send(end->qp, &wr, &bad);
}

static inline int post_datagram(struct end *end, uint64_t wr_id, size_t offset, uint32_t length, struct ibv_ah *ah,
                                uint32_t qpn) {
    return post_datagram_as(end, wr_id, IBV_WR_SEND, 0, offset, length, ah, qpn, QKEY);
}

/* Sends and waits for the completion, which says nothing about the receiver. */
static inline void send_datagram(struct end *end, uint64_t wr_id, size_t offset, uint32_t length, struct ibv_ah *ah,
                                 uint32_t qpn) {
    CHECK_EQ(post_datagram(end, wr_id, offset, length, ah, qpn), 0);
    expect_wc(end->send_cq, wr_id, IBV_WC_SUCCESS);
}

static inline void fill(char *at, size_t length, unsigned seed) {
    for (size_t i = 0; i < length; i++) {
        at[i] = (char) (seed + i * 31 + i / 251);
    }
}

#endif
