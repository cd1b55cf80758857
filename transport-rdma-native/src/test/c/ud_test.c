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
/* Datagrams between UD queue pairs of one process: data, addresses, what is dropped and what fails. */
#include "ud_support.h"

#include <endian.h>

#define HALF (PAIR_BUFFER / 2)

static struct options separate(void) {
    struct options options = datagrams();
    options.separate_cqs = true;
    return options;
}

static void open_two(struct end *a, struct end *b) {
    struct options options = separate();
    end_open(a, &options);
    end_open(b, &options);
    ud_ready(a);
    ud_ready(b);
}

static uint32_t mtu(const struct end *end) {
    struct ibv_port_attr port;
    end_query_port(end, &port);
    return 128u << port.active_mtu;
}

static void datagram_carries_data_and_its_origin(void) {
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    const uint32_t lengths[] = { 0, 1, 64, 152, 153, 192, 193, 1000, mtu(&a) };
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        uint32_t length = lengths[i];
        bool imm = i % 2 == 0;
        fill(a.buffer, length, i);
        memset(b.buffer, 0x55, GRH + length + 1);
        CHECK_EQ(post_recv(&b, i, 0, GRH + length), 0);
        CHECK_EQ(post_datagram_as(&a, 100 + i, imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, 0, 0, length, ah, b.qp->qp_num,
                                  QKEY), 0);
        struct ibv_wc wc = next_wc(a.send_cq);
        CHECK_EQ(wc.wr_id, 100 + i);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_SEND);
        wc = next_wc(b.recv_cq);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RECV);
        CHECK_EQ(wc.byte_len, GRH + length);
        CHECK_EQ(wc.qp_num, b.qp->qp_num);
        CHECK_EQ(wc.src_qp, a.qp->qp_num);
        CHECK_EQ(wc.pkey_index, 0);
        CHECK_EQ(wc.wc_flags, IBV_WC_GRH | (imm ? IBV_WC_WITH_IMM : 0));
        CHECK(!imm || wc.imm_data == htonl(100 + i));
        CHECK_EQ(memcmp(a.buffer, b.buffer + GRH, length), 0);
        CHECK_EQ(b.buffer[GRH + length], 0x55);
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void global_header_has_both_gids(void) {
    if (is_soft_roce()) {
        fprintf(stderr, "    skipped: with RoCE over IPv4 it is an IPv4 header\n");
        return;
    }
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah_attr attr = own_address(&a);
    attr.grh.traffic_class = 0xa5;
    attr.grh.flow_label = 0x12345;
    attr.sl = 3;
    struct ibv_ah *ah = ibv_create_ah(a.pd, &attr);
    CHECK(ah != NULL);
    CHECK_EQ(post_recv(&b, 1, 0, 100), 0);
    send_datagram(&a, 2, 0, 10, ah, b.qp->qp_num);
    struct ibv_wc wc = next_wc(b.recv_cq);
    const struct ibv_grh *grh = (const struct ibv_grh *) b.buffer;
    CHECK_EQ(ntohl(grh->version_tclass_flow), 0x6a512345);
    CHECK_EQ(ntohs(grh->paylen), 36); /* 24 of headers and CRC, 10 of data, padded */
    CHECK_EQ(grh->next_hdr, 0x1b);
    CHECK_EQ(grh->hop_limit, 3);
    CHECK_EQ(memcmp(&grh->dgid, &attr.grh.dgid, sizeof(grh->dgid)), 0);
    CHECK_EQ(memcmp(&grh->sgid, &attr.grh.dgid, sizeof(grh->sgid)), 0);
    CHECK_EQ(wc.sl, 3);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void without_global_route_there_is_no_header(void) {
    if (is_soft_roce()) {
        fprintf(stderr, "    skipped: RoCE has global routes only\n");
        return;
    }
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah_attr attr = own_address(&a);
    attr.is_global = 0;
    struct ibv_ah *ah = ibv_create_ah(a.pd, &attr);
    CHECK(ah != NULL);
    fill(a.buffer, 10, 1);
    CHECK_EQ(post_recv(&b, 1, 0, 100), 0);
    send_datagram(&a, 2, 0, 10, ah, b.qp->qp_num);
    struct ibv_wc wc = next_wc(b.recv_cq);
    CHECK_EQ(wc.wc_flags, 0);
    CHECK_EQ(wc.byte_len, GRH + 10); /* the place of the header is left free all the same */
    CHECK_EQ(wc.slid, attr.dlid);
    CHECK_EQ(memcmp(a.buffer, b.buffer + GRH, 10), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void answer_goes_where_the_completion_says(void) {
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    CHECK_EQ(post_recv(&b, 1, 0, 100), 0);
    CHECK_EQ(post_recv(&a, 2, HALF, 100), 0);
    send_datagram(&a, 3, 0, 10, ah, b.qp->qp_num);
    struct ibv_wc wc = next_wc(b.recv_cq);
    struct ibv_ah *back = ibv_create_ah_from_wc(b.pd, &wc, (struct ibv_grh *) b.buffer, 1);
    CHECK(back != NULL);
    struct ibv_ah_attr attr;
    CHECK_EQ(ibv_init_ah_from_wc(b.context, 1, &wc, (struct ibv_grh *) b.buffer, &attr), 0);
    CHECK_EQ(attr.is_global, 1);
    CHECK_EQ(attr.port_num, 1);
    send_datagram(&b, 4, 0, 20, back, wc.src_qp);
    wc = next_wc(a.recv_cq);
    CHECK_EQ(wc.byte_len, GRH + 20);
    CHECK_EQ(wc.src_qp, b.qp->qp_num);
    CHECK_EQ(ibv_destroy_ah(back), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void inline_data_may_change_after_the_post(void) {
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(post_recv(&b, i, i * 256, 256), 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        memset(a.buffer, (int) i, 200);
        CHECK_EQ(post_datagram_as(&a, i, IBV_WR_SEND, IBV_SEND_INLINE, 0, 200, ah, b.qp->qp_num, QKEY), 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        CHECK_EQ(b.buffer[i * 256 + GRH], i);
        CHECK_EQ(b.buffer[i * 256 + GRH + 199], i);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void queue_pair_may_send_to_itself(void) {
    struct end a;
    struct options options = separate();
    end_open(&a, &options);
    ud_ready(&a);
    struct ibv_ah *ah = own_ah(&a);
    fill(a.buffer, 500, 3);
    CHECK_EQ(post_recv(&a, 1, HALF, 1000), 0);
    send_datagram(&a, 2, 0, 500, ah, a.qp->qp_num);
    struct ibv_wc wc = next_wc(a.recv_cq);
    CHECK_EQ(wc.src_qp, a.qp->qp_num);
    CHECK_EQ(memcmp(a.buffer, a.buffer + HALF + GRH, 500), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

/* The next good datagram arrives, and takes the first receive, whatever was dropped before. */
static void expect_next_arrives(struct end *a, struct end *b, struct ibv_ah *ah, uint64_t first_receive) {
    send_datagram(a, 99, 0, 8, ah, b->qp->qp_num);
    struct ibv_wc wc = next_wc(b->recv_cq);
    CHECK_EQ(wc.wr_id, first_receive);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.byte_len, GRH + 8);
    expect_nothing(b->recv_cq);
}

static void datagram_to_nobody_is_lost(void) {
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    struct end gone;
    ud_open(&gone);
    uint32_t gone_qpn = gone.qp->qp_num;
    end_close(&gone);
    CHECK_EQ(post_recv(&b, 1, 0, 100), 0);
    for (unsigned i = 0; i < 5; i++) {
        send_datagram(&a, i, 0, 8, ah, gone_qpn);
        send_datagram(&a, i, 0, 8, ah, 0xfffff0 + i); /* number of no process at all */
    }
    expect_next_arrives(&a, &b, ah, 1);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void wrong_queue_key_is_dropped(void) {
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    CHECK_EQ(post_recv(&b, 1, 0, 100), 0);
    CHECK_EQ(post_datagram_as(&a, 7, IBV_WR_SEND, 0, 0, 8, ah, b.qp->qp_num, QKEY + 1), 0);
    expect_wc(a.send_cq, 7, IBV_WC_SUCCESS);
    expect_next_arrives(&a, &b, ah, 1);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void queue_key_with_the_high_bit_means_the_own_one(void) {
    if (is_soft_roce()) {
        fprintf(stderr, "    skipped: soft-RoCE sends it as it is\n");
        return;
    }
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    CHECK_EQ(post_recv(&b, 1, 0, 100), 0);
    CHECK_EQ(post_datagram_as(&a, 7, IBV_WR_SEND, 0, 0, 8, ah, b.qp->qp_num, 0x80000000u), 0);
    expect_wc(a.send_cq, 7, IBV_WC_SUCCESS);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    struct ibv_qp_attr attr = { .qkey = QKEY + 5 };
    CHECK_EQ(ibv_modify_qp(b.qp, &attr, IBV_QP_QKEY), 0);
    CHECK_EQ(post_recv(&b, 2, 0, 100), 0);
    CHECK_EQ(post_datagram_as(&a, 8, IBV_WR_SEND, 0, 0, 8, ah, b.qp->qp_num, 0x80000000u), 0);
    expect_wc(a.send_cq, 8, IBV_WC_SUCCESS);
    CHECK_EQ(post_datagram_as(&a, 9, IBV_WR_SEND, 0, 0, 9, ah, b.qp->qp_num, QKEY + 5), 0);
    expect_wc(a.send_cq, 9, IBV_WC_SUCCESS);
    struct ibv_wc wc = next_wc(b.recv_cq);
    CHECK_EQ(wc.wr_id, 2);
    CHECK_EQ(wc.byte_len, GRH + 9);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void without_a_receive_it_is_dropped(void) {
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    for (unsigned i = 0; i < 300; i++) { /* more than the provider keeps anywhere */
        send_datagram(&a, i, 0, 1024, ah, b.qp->qp_num);
    }
    settle();
    CHECK_EQ(post_recv(&b, 1, 0, 100), 0);
    expect_next_arrives(&a, &b, ah, 1);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void longer_than_the_receive_is_dropped(void) {
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    CHECK_EQ(post_recv(&b, 1, 0, GRH + 99), 0);
    send_datagram(&a, 1, 0, 100, ah, b.qp->qp_num);
    if (is_soft_roce()) {
        expect_wc(b.recv_cq, 1, IBV_WC_LOC_QP_OP_ERR);
    } else {
        expect_next_arrives(&a, &b, ah, 1);
        expect_state(b.qp, IBV_QPS_RTS);
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void longer_than_the_mtu_fails_here(void) {
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    CHECK_EQ(post_recv(&a, 1, HALF, 100), 0);
    CHECK_EQ(post_recv(&b, 2, 0, 100000), 0);
    CHECK_EQ(post_datagram(&a, 3, 0, mtu(&a) + 1, ah, b.qp->qp_num), 0);
    if (is_soft_roce()) { /* IBA C10-93.1.1 */
        expect_wc(a.send_cq, 3, IBV_WC_SUCCESS);
        expect_next_arrives(&a, &b, ah, 2);
    } else {
        expect_wc(a.send_cq, 3, IBV_WC_LOC_LEN_ERR);
        expect_state(a.qp, IBV_QPS_SQE);
        CHECK_EQ(post_datagram(&a, 4, 0, 8, ah, b.qp->qp_num), 0);
        expect_wc(a.send_cq, 4, IBV_WC_WR_FLUSH_ERR);
        struct ibv_ah *back = own_ah(&b); /* handle in its own protection domain */
        send_datagram(&b, 5, 0, 8, back, a.qp->qp_num);
        expect_wc(a.recv_cq, 1, IBV_WC_SUCCESS); /* receives are not concerned */
        CHECK_EQ(ibv_destroy_ah(back), 0);
        struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE };
        CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
        expect_next_arrives(&a, &b, ah, 2);
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void send_of_foreign_memory_fails(void) {
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    struct ibv_sge sge = { (uintptr_t) a.buffer, 8, a.mr->lkey ^ 0x5a5a00 };
    struct ibv_send_wr wr = {
        .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
        .wr.ud = { .ah = ah, .remote_qpn = b.qp->qp_num, .remote_qkey = QKEY },
    }, *bad;
    CHECK_EQ(a.context->ops.post_send(a.qp, &wr, &bad), 0);
    expect_wc(a.send_cq, 1, DEVICE_OR_SOFT_ROCE(IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR));
    expect_state(a.qp, DEVICE_OR_SOFT_ROCE(IBV_QPS_SQE, IBV_QPS_ERR));
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void what_datagrams_cannot_do_is_refused(void) {
    struct end a;
    ud_open(&a);
    struct ibv_ah *ah = own_ah(&a);
    const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD };
    for (unsigned i = 0; i < 3 && !is_soft_roce(); i++) { /* soft-RoCE accepts them */
        CHECK_EQ(post_datagram_as(&a, 1, opcodes[i], 0, 0, 8, ah, a.qp->qp_num, QKEY), EINVAL);
    }
    struct ibv_ah_attr attr = own_address(&a);
    attr.port_num = 2;
    CHECK(ibv_create_ah(a.pd, &attr) == NULL);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

static void states_are_those_of_datagrams(void) {
    struct end a;
    struct options options = datagrams();
    end_open(&a, &options);
    struct ibv_ah *ah = own_ah(&a);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT), EINVAL); /* no queue key */
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), EINVAL);
    CHECK_EQ(ud_to_init(&a), 0);
    CHECK_EQ(post_recv(&a, 1, 0, 100), 0);
    bool refuses = !is_soft_roce(); /* that, too, but it completes what it refused when the queue pair fails */
    CHECK(!refuses || post_datagram(&a, 1, 0, 8, ah, a.qp->qp_num) == EINVAL);
    CHECK_EQ(ud_to(&a, IBV_QPS_RTR), 0);
    CHECK(!refuses || post_datagram(&a, 1, 0, 8, ah, a.qp->qp_num) == EINVAL);
    CHECK_EQ(ud_to(&a, IBV_QPS_RTS), 0);
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(a.qp, &attr, IBV_QP_QKEY, &init), 0);
    CHECK_EQ(attr.qkey, QKEY);
    CHECK_EQ(init.qp_type, IBV_QPT_UD);
    CHECK_EQ(ud_to(&a, IBV_QPS_ERR), 0);
    expect_wc(a.recv_cq, 1, IBV_WC_WR_FLUSH_ERR);
    CHECK_EQ(post_datagram(&a, 2, 0, 8, ah, a.qp->qp_num), 0);
    expect_wc(a.send_cq, 2, IBV_WC_WR_FLUSH_ERR);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

static void receiver_that_was_reset_can_be_reached_again(void) {
    struct end a, b;
    open_two(&a, &b);
    struct ibv_ah *ah = own_ah(&a);
    for (unsigned i = 0; i < 20; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 100), 0);
        expect_next_arrives(&a, &b, ah, i);
        CHECK_EQ(ud_to(&b, IBV_QPS_RESET), 0);
        send_datagram(&a, 7, 0, 16, ah, b.qp->qp_num);
        ud_ready(&b);
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    pair_close(&a, &b);
}

static void shared_receives_take_datagrams_too(void) {
    struct end a, b, c;
    ud_open(&a);
    struct ibv_srq_init_attr shared = { .attr = { .max_wr = 16, .max_sge = 1 } };
    struct options options = separate();
    struct ibv_ah *ah = own_ah(&a);
    end_open(&b, &options);
    options.srq = ibv_create_srq(b.pd, &shared);
    CHECK(options.srq != NULL);
    end_open_on(&c, &b, &options);
    ud_ready(&c);
    send_datagram(&a, 1, 0, 20, ah, c.qp->qp_num); /* nobody waits for a receive */
    settle();
    struct ibv_sge sge = { (uintptr_t) b.buffer, 256, b.mr->lkey };
    for (uint64_t i = 0; i < 5; i++) {
        struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;
        CHECK_EQ(b.context->ops.post_srq_recv(options.srq, &wr, &bad), 0);
        send_datagram(&a, i, 0, 30, ah, c.qp->qp_num);
        struct ibv_wc wc = next_wc(c.recv_cq);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.byte_len, GRH + 30);
    }
    CHECK_EQ(ibv_destroy_qp(c.qp), 0);
    CHECK_EQ(ibv_destroy_srq(options.srq), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&b);
}

static void domain_with_an_address_handle_is_in_use(void) {
    struct end a;
    ud_open(&a);
    struct ibv_pd *pd = ibv_alloc_pd(a.context);
    struct ibv_ah_attr attr = own_address(&a);
    struct ibv_ah *ah = ibv_create_ah(pd, &attr);
    CHECK(ah != NULL);
    CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    CHECK_EQ(ibv_dealloc_pd(pd), 0);
    end_close(&a);
}

/* No datagram is lost with the application's own flow control, and one sender's messages stay in order. */
static void many_keep_their_order(void) {
    enum { SENDERS = 3, ROUNDS = 400, WINDOW = 16 };
    struct end b, a[SENDERS];
    struct options options = separate();
    end_open(&b, &options);
    ud_ready(&b);
    struct ibv_ah *ah = own_ah(&b);
    for (int s = 0; s < SENDERS; s++) {
        end_open_on(&a[s], &b, &options);
        ud_ready(&a[s]);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < WINDOW * SENDERS; i++) {
            CHECK_EQ(post_recv(&b, i, HALF + i * 4096, 4096), 0);
        }
        for (unsigned i = 0; i < WINDOW; i++) {
            for (int s = 0; s < SENDERS; s++) {
                CHECK_EQ(post_datagram_as(&a[s], i, IBV_WR_SEND_WITH_IMM, 0, 0, 700, ah, b.qp->qp_num, QKEY), 0);
            }
        }
        unsigned next[SENDERS] = { 0 };
        for (unsigned i = 0; i < WINDOW * SENDERS; i++) {
            struct ibv_wc wc = next_wc(b.recv_cq);
            CHECK_EQ(wc.wr_id, i);
            int s = 0;
            while (s < SENDERS && a[s].qp->qp_num != wc.src_qp) {
                s++;
            }
            CHECK(s < SENDERS);
            CHECK_EQ(ntohl(wc.imm_data), next[s]++);
        }
        for (unsigned i = 0; i < WINDOW * SENDERS; i++) {
            CHECK_EQ(next_wc(b.send_cq).status, IBV_WC_SUCCESS);
        }
    }
    for (int s = 0; s < SENDERS; s++) {
        CHECK_EQ(ibv_destroy_qp(a[s].qp), 0);
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&b);
}

int main(void) {
    RUN(datagram_carries_data_and_its_origin);
    RUN(global_header_has_both_gids);
    RUN(without_global_route_there_is_no_header);
    RUN(answer_goes_where_the_completion_says);
    RUN(inline_data_may_change_after_the_post);
    RUN(queue_pair_may_send_to_itself);
    RUN(datagram_to_nobody_is_lost);
    RUN(wrong_queue_key_is_dropped);
    RUN(queue_key_with_the_high_bit_means_the_own_one);
    RUN(without_a_receive_it_is_dropped);
    RUN(longer_than_the_receive_is_dropped);
    RUN(longer_than_the_mtu_fails_here);
    RUN(send_of_foreign_memory_fails);
    RUN(what_datagrams_cannot_do_is_refused);
    RUN(states_are_those_of_datagrams);
    RUN(receiver_that_was_reset_can_be_reached_again);
    RUN(shared_receives_take_datagrams_too);
    RUN(domain_with_an_address_handle_is_in_use);
    RUN(many_keep_their_order);
    return 0;
}
