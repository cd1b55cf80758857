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
/* Unreliable connections, of which soft-RoCE has all that is here: IB specification 9.8. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

static struct options unreliable(void) {
    struct options options = defaults;
    options.type = IBV_QPT_UC;
    options.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    return options;
}

static void open_pair(struct end *a, struct end *b) {
    struct options options = unreliable();
    pair_open(a, b, &options);
}

/* Waits until the last byte of the range is that value; messages sent before have come or are lost then. */
static void await_byte(const struct end *end, size_t last, char value) {
    uint64_t limit = patience_end_ns();
    struct ibv_wc unused;
    while (*(volatile const char *) &end->buffer[last] != value) {
        CHECK(now_ns() < limit);
        CHECK_EQ(end->context->ops.poll_cq(end->recv_cq, 1, &unused), 0);
    }
}

static void messages_of_all_sizes_arrive(void) {
    static const uint32_t lengths[] = { 0, 1, 64, 300, 4096, 70000, 1 << 20 };
    struct end a, b;
    open_pair(&a, &b);
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        bool imm = i % 2 == 1;
        memset(a.buffer, (int) i + 1, lengths[i]);
        memset(b.buffer, 0, 1 << 20);
        CHECK_EQ(post_recv(&b, i, 0, 1 << 20), 0);
        CHECK_EQ(post_send(&a, 100 + i, imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, 0, 0, lengths[i]), 0);
        struct ibv_wc wc = next_wc(b.recv_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.opcode, IBV_WC_RECV);
        CHECK_EQ(wc.byte_len, lengths[i]);
        CHECK_EQ((wc.wc_flags & IBV_WC_WITH_IMM) != 0, imm);
        CHECK(!imm || wc.imm_data == htobe32(100 + i));
        CHECK_EQ(memcmp(a.buffer, b.buffer, lengths[i]), 0);
        expect_wc(a.send_cq, 100 + i, IBV_WC_SUCCESS);
    }
    pair_close(&a, &b);
}

static void writes_arrive_with_and_without_immediate_data(void) {
    struct end a, b;
    open_pair(&a, &b);
    struct address to = end_address(&b);
    memset(a.buffer, 7, 200000);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 100000, &to, 4096), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    await_byte(&b, 4096 + 99999, 7);
    CHECK_EQ(memcmp(a.buffer, b.buffer + 4096, 100000), 0);
    CHECK_EQ(post_recv(&b, 2, 0, 0), 0);
    CHECK_EQ(post_rdma(&a, 3, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 200000, &to, 1 << 20), 0);
    struct ibv_wc wc = next_wc(b.recv_cq);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.wr_id, 2);
    CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK_EQ(wc.byte_len, 200000);
    CHECK_EQ(wc.imm_data, htobe32(3));
    CHECK_EQ(memcmp(a.buffer, b.buffer + (1 << 20), 200000), 0);
    expect_wc(a.send_cq, 3, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void a_message_without_a_receive_is_lost_and_nobody_is_told(void) {
    struct end a, b;
    open_pair(&a, &b);
    struct address to = end_address(&b);
    a.buffer[0] = 1;
    a.buffer[64] = 2;
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 64), 0);
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_WRITE, 0, 64, 1, &to, 4096), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    await_byte(&b, 4096, 2);
    CHECK_EQ(post_recv(&b, 3, 0, 64), 0);
    expect_nothing(b.recv_cq);
    CHECK_EQ(b.buffer[0], 0);
    pair_talk(&b, &a);
    CHECK_EQ(post_send(&a, 4, IBV_WR_SEND, 0, 64, 64), 0);
    expect_wc(b.recv_cq, 3, IBV_WC_SUCCESS);
    CHECK_EQ(b.buffer[0], 2);
    expect_wc(a.send_cq, 4, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void a_write_with_a_wrong_key_is_lost_and_the_next_one_arrives(void) {
    struct end a, b;
    open_pair(&a, &b);
    struct address to = end_address(&b), wrong = to;
    wrong.rkey ^= 1;
    memset(a.buffer, 5, 8);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &wrong, 0), 0);
    CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 8), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    await_byte(&b, 15, 5);
    CHECK_EQ(b.buffer[0], 0);
    expect_state(a.qp, IBV_QPS_RTS);
    expect_state(b.qp, IBV_QPS_RTS);
    pair_close(&a, &b);
}

static void attributes_of_reliable_connections_are_refused(void) {
    struct end end;
    struct options options = unreliable();
    end_open(&end, &options);
    end_to_init(&end);
    end.options.type = IBV_QPT_RC;
    CHECK_EQ(end_to_rtr(&end, end.qp->qp_num), EINVAL);
    end.options.type = IBV_QPT_UC;
    CHECK_EQ(end_to_rtr(&end, end.qp->qp_num), 0);
    end.options.type = IBV_QPT_RC;
    CHECK_EQ(end_to_rts(&end), EINVAL);
    end.options.type = IBV_QPT_UC;
    CHECK_EQ(end_to_rts(&end), 0);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(end.qp, &attr, IBV_QP_STATE, &init), 0);
    CHECK_EQ(init.qp_type, IBV_QPT_UC);
    end_close(&end);
}

int main(void) {
    RUN(messages_of_all_sizes_arrive);
    RUN(writes_arrive_with_and_without_immediate_data);
    RUN(a_message_without_a_receive_is_lost_and_nobody_is_told);
    RUN(a_write_with_a_wrong_key_is_lost_and_the_next_one_arrives);
    RUN(attributes_of_reliable_connections_are_refused);
    return 0;
}
