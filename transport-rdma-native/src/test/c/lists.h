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
/* Lists of pieces in any memory, for tests of peer memory. */
#ifndef NETTY_RDMA_TEST_LISTS_H
#define NETTY_RDMA_TEST_LISTS_H

#include <errno.h>

#include "check.h"
#include "pair.h"

/* Piece of a region, counted from its start. */
static inline struct ibv_sge piece_of(const struct ibv_mr *mr, size_t offset, uint32_t length) {
    return (struct ibv_sge) { (uintptr_t) mr->addr + offset, length, mr->lkey };
}

static inline struct address address_of(const struct ibv_mr *mr) {
    return (struct address) { 0, mr->rkey, (uintptr_t) mr->addr };
}

static inline int post_list(struct end *end, uint64_t wr_id, enum ibv_wr_opcode opcode, struct ibv_sge *sge, int num,
                            const struct address *to) {
    struct ibv_send_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = num, .opcode = opcode }, *bad;
    if (to != NULL) {
        wr.wr.rdma.remote_addr = to->buffer;
        wr.wr.rdma.rkey = to->rkey;
    }
    return ibv_post_send(end->qp, &wr, &bad);
}

static inline int post_receive_list(struct end *end, uint64_t wr_id, struct ibv_sge *sge, int num) {
    struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = num }, *bad;
    return ibv_post_recv(end->qp, &wr, &bad);
}

/* Expects the completion of a request whose memory in this process is gone. */
static inline void expect_fault(struct ibv_cq *cq, uint64_t wr_id) {
    struct ibv_wc wc = next_wc(cq);
    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, IBV_WC_LOC_PROT_ERR);
    CHECK_EQ(wc.vendor_err, EFAULT);
}

static inline void expect_refused(struct ibv_pd *pd, void *address, size_t length, int access, int error) {
    errno = 0;
    CHECK(ibv_reg_mr(pd, address, length, access) == NULL);
    CHECK_EQ(errno, error);
}

#endif
