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
/* RDMA_EMBEDDED_IWARP: the device as one of iWARP. Everything else of iWARP is as the other tests have it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

static struct end a, b;

static void the_device_says_what_it_is(void) {
    int count;
    struct ibv_device **devices = ibv_get_device_list(&count);
    CHECK_EQ(count, 1);
    CHECK_EQ(devices[0]->transport_type, IBV_TRANSPORT_IWARP);
    CHECK_EQ(devices[0]->node_type, IBV_NODE_RNIC);
    ibv_free_device_list(devices);
    pair_open(&a, &b, &defaults);
    struct ibv_device_attr attr;
    CHECK_EQ(ibv_query_device(a.context, &attr), 0);
    CHECK_EQ(attr.atomic_cap, IBV_ATOMIC_NONE);
    CHECK_EQ(attr.max_sge_rd, 1);
    CHECK_EQ(attr.max_mcast_grp, 0);
    CHECK_EQ(attr.max_ah, 0);
    CHECK_EQ(attr.device_cap_flags & IBV_DEVICE_RC_RNR_NAK_GEN, 0);
    struct ibv_port_attr port;
    end_query_port(&a, &port);
    CHECK_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
    pair_close(&a, &b);
}

static void messages_and_writes_and_reads_go(void) {
    pair_open(&a, &b, &defaults);
    pair_talk(&a, &b);
    struct address to = end_address(&b);
    memset(a.buffer, 'x', 100000);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 100000, &to, 7), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(a.buffer, b.buffer + 7, 100000), 0);
    memset(a.buffer, 0, 100000);
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, 0, 100000, &to, 7), 0);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(a.buffer, b.buffer + 7, 100000), 0);
    pair_close(&a, &b);
}

static void there_is_no_immediate_data_and_there_are_no_atomics(void) {
    pair_open(&a, &b, &defaults);
    struct address to = end_address(&b);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND_WITH_IMM, 0, 0, 8), EINVAL);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 8, &to, 0), EINVAL);
    CHECK_EQ(post_atomic(&a, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to, 0, 1, 0), EINVAL);
    CHECK_EQ(post_atomic(&a, 1, IBV_WR_ATOMIC_CMP_AND_SWP, 0, &to, 0, 1, 0), EINVAL);
    pair_talk(&a, &b);
    pair_close(&a, &b);
}

static void a_read_has_one_element(void) {
    pair_open(&a, &b, &defaults);
    struct address to = end_address(&b);
    struct ibv_sge sges[2] = {
        { (uintptr_t) a.buffer, 8, a.mr->lkey }, { (uintptr_t) a.buffer + 8, 8, a.mr->lkey },
    };
    struct ibv_send_wr wr = {
        .opcode = IBV_WR_RDMA_READ, .sg_list = sges, .num_sge = 2,
        .wr.rdma = { .remote_addr = to.buffer, .rkey = to.rkey },
    }, *bad;
    CHECK_EQ(ibv_post_send(a.qp, &wr, &bad), EINVAL);
    wr.num_sge = 1;
    CHECK_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
    expect_wc(a.send_cq, 0, IBV_WC_SUCCESS);
    wr.num_sge = 0; /* of nothing, into no memory */
    CHECK_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
    expect_wc(a.send_cq, 0, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void memory_to_read_into_needs_remote_write(void) {
    pair_open(&a, &b, &defaults);
    struct address to = end_address(&b);
    struct ibv_mr *local = ibv_reg_mr(a.pd, a.buffer, 4096, IBV_ACCESS_LOCAL_WRITE);
    CHECK(local != NULL);
    struct ibv_sge sge = { (uintptr_t) a.buffer, 8, local->lkey };
    struct ibv_send_wr wr = {
        .wr_id = 3, .opcode = IBV_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1,
        .wr.rdma = { .remote_addr = to.buffer, .rkey = to.rkey },
    }, *bad;
    CHECK_EQ(ibv_post_send(a.qp, &wr, &bad), 0);
    expect_wc(a.send_cq, 3, IBV_WC_LOC_PROT_ERR);
    CHECK_EQ(ibv_dereg_mr(local), 0);
    pair_close(&a, &b);
}

static void a_message_without_a_receive_ends_the_connection(void) {
    pair_open(&a, &b, &defaults); /* retries for ever, elsewhere */
    CHECK_EQ(post_send(&a, 4, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 4, IBV_WC_RNR_RETRY_EXC_ERR);
    pair_close(&a, &b);
}

static void there_are_reliable_connections_only(void) {
    static const enum ibv_qp_type types[] = { IBV_QPT_UC, IBV_QPT_UD };
    pair_open(&a, &b, &defaults);
    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct ibv_qp_init_attr attr = {
            .send_cq = a.send_cq, .recv_cq = a.recv_cq, .qp_type = types[i],
            .cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
        };
        CHECK(ibv_create_qp(a.pd, &attr) == NULL);
        CHECK_EQ(errno, EOPNOTSUPP);
    }
    struct ibv_ah_attr ah = { .port_num = 1, .dlid = 1 };
    CHECK(ibv_create_ah(a.pd, &ah) == NULL);
    CHECK_EQ(errno, EOPNOTSUPP);
    pair_close(&a, &b);
}

static void queue_pairs_with_functions_have_the_same_operations(void) {
    pair_open(&a, &b, &defaults);
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = a.send_cq, .recv_cq = a.recv_cq, .qp_type = IBV_QPT_RC, .pd = a.pd,
        .cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
    };
    CHECK(ibv_create_qp_ex(a.context, &attr) == NULL);
    CHECK_EQ(errno, EOPNOTSUPP);
    attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ;
    struct ibv_qp *qp = ibv_create_qp_ex(a.context, &attr);
    CHECK(qp != NULL);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    pair_close(&a, &b);
}

int main(int argc, char **argv) {
    (void) argc;
    if (getenv("RDMA_EMBEDDED_IWARP") == NULL) { /* the provider has looked already */
        setenv("RDMA_EMBEDDED_IWARP", "1", 1);
        execv("/proc/self/exe", argv);
        return 1;
    }
    RUN(the_device_says_what_it_is);
    RUN(messages_and_writes_and_reads_go);
    RUN(there_is_no_immediate_data_and_there_are_no_atomics);
    RUN(a_read_has_one_element);
    RUN(memory_to_read_into_needs_remote_write);
    RUN(a_message_without_a_receive_ends_the_connection);
    RUN(there_are_reliable_connections_only);
    RUN(queue_pairs_with_functions_have_the_same_operations);
    return 0;
}
