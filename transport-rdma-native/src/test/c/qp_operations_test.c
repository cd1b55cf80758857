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
/* Each operation between two queue pairs of one process: data, completions, order. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

static void fill(char *at, size_t length, unsigned seed) {
    for (size_t i = 0; i < length; i++) {
        at[i] = (char) (seed + i * 31 + i / 251);
    }
}

static const uint32_t lengths[] = { 0, 1, 64, 200, 201, 4096, 32768, 32769, 65536, 100000, 1 << 20, (1 << 20) + 7 };
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static void send_carries_data_of_any_length(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    for (unsigned i = 0; i < LENGTHS; i++) {
        uint32_t length = lengths[i];
        fill(a.buffer, length, i);
        memset(b.buffer, 0x55, length + 1);
        CHECK_EQ(post_recv(&b, i, 0, PAIR_BUFFER), 0);
        CHECK_EQ(post_send(&a, 100 + i, i % 2 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM, 0, 0, length), 0);
        struct ibv_wc wc = next_wc(b.recv_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.opcode, IBV_WC_RECV);
        CHECK_EQ(wc.byte_len, length);
        CHECK_EQ(wc.qp_num, b.qp->qp_num);
        /* IBV_WC_GRH is of use with UD only, yet some providers set it. */
        CHECK_EQ(wc.wc_flags & ~IBV_WC_GRH, i % 2 ? 0 : IBV_WC_WITH_IMM);
        CHECK(i % 2 || wc.imm_data == htobe32(100 + i));
        CHECK_EQ(memcmp(a.buffer, b.buffer, length), 0);
        CHECK_EQ(b.buffer[length], 0x55);
        wc = next_wc(a.send_cq);
        CHECK_EQ(wc.wr_id, 100 + i);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_SEND);
    }
    pair_close(&a, &b);
}

static void write_places_data_and_completes_only_here(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct address to = end_address(&b);
    for (unsigned i = 0; i < LENGTHS; i++) {
        fill(a.buffer, lengths[i], i + 7);
        memset(b.buffer, 0, PAIR_BUFFER);
        CHECK_EQ(post_rdma(&a, i, IBV_WR_RDMA_WRITE, 0, 0, lengths[i], &to, 3), 0);
        struct ibv_wc wc = next_wc(a.send_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
        CHECK_EQ(memcmp(a.buffer, b.buffer + 3, lengths[i]), 0);
        CHECK_EQ(b.buffer[lengths[i] + 3], 0);
        expect_nothing(b.recv_cq);
    }
    pair_close(&a, &b);
}

static void write_with_immediate_takes_a_receive(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct address to = end_address(&b);
    for (unsigned i = 0; i < LENGTHS; i++) {
        fill(a.buffer, lengths[i], i + 9);
        CHECK_EQ(post_recv(&b, i, 0, 0), 0);
        CHECK_EQ(post_rdma(&a, 1000 + i, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, lengths[i], &to, 0), 0);
        struct ibv_wc wc = next_wc(b.recv_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.byte_len, lengths[i]);
        CHECK_EQ(wc.imm_data, htobe32(1000 + i));
        CHECK_EQ(wc.wc_flags & ~IBV_WC_GRH, IBV_WC_WITH_IMM);
        CHECK_EQ(memcmp(a.buffer, b.buffer, lengths[i]), 0);
        expect_wc(a.send_cq, 1000 + i, IBV_WC_SUCCESS);
    }
    pair_close(&a, &b);
}

static void read_fetches_data_of_any_length(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct address from = end_address(&b);
    for (unsigned i = 0; i < LENGTHS; i++) {
        fill(b.buffer, lengths[i], i + 3);
        memset(a.buffer, 0, PAIR_BUFFER);
        CHECK_EQ(post_rdma(&a, i, IBV_WR_RDMA_READ, 0, 5, lengths[i], &from, 0), 0);
        struct ibv_wc wc = next_wc(a.send_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RDMA_READ);
        CHECK_EQ(wc.byte_len, lengths[i]);
        CHECK_EQ(memcmp(a.buffer + 5, b.buffer, lengths[i]), 0);
        CHECK_EQ(a.buffer[lengths[i] + 5], 0);
    }
    pair_close(&a, &b);
}

static void atomics_change_the_target_and_return_what_was_there(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct address to = end_address(&b);
    uint64_t *target = (uint64_t *) (b.buffer + 64), *result = (uint64_t *) a.buffer;
    *target = 41;
    CHECK_EQ(post_atomic(&a, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to, 64, 1, 0), 0);
    struct ibv_wc wc = next_wc(a.send_cq);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.opcode, IBV_WC_FETCH_ADD);
    CHECK_EQ(*result, 41);
    CHECK_EQ(*target, 42);
    CHECK_EQ(post_atomic(&a, 2, IBV_WR_ATOMIC_CMP_AND_SWP, 0, &to, 64, 42, 77), 0);
    wc = next_wc(a.send_cq);
    CHECK_EQ(wc.opcode, IBV_WC_COMP_SWAP);
    CHECK_EQ(*result, 42);
    CHECK_EQ(*target, 77);
    CHECK_EQ(post_atomic(&a, 3, IBV_WR_ATOMIC_CMP_AND_SWP, 0, &to, 64, 1, 2), 0);
    expect_wc(a.send_cq, 3, IBV_WC_SUCCESS);
    CHECK_EQ(*result, 77);
    CHECK_EQ(*target, 77);
    pair_close(&a, &b);
}

static void lists_are_gathered_and_scattered(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    fill(a.buffer, 300000, 1);
    struct ibv_sge out[4], in[3];
    const uint32_t out_lengths[] = { 70000, 0, 1, 129999 }, in_lengths[] = { 3, 150000, 50000 };
    size_t at = 0;
    for (int i = 0; i < 4; at += out_lengths[i++]) {
        out[i] = (struct ibv_sge) { (uintptr_t) a.buffer + at, out_lengths[i], a.mr->lkey };
    }
    at = 0;
    for (int i = 0; i < 3; at += in_lengths[i++]) {
        in[i] = (struct ibv_sge) { (uintptr_t) b.buffer + at, in_lengths[i], b.mr->lkey };
    }
    struct ibv_recv_wr recv = { .sg_list = in, .num_sge = 3 }, *bad_recv;
    struct ibv_send_wr send = { .sg_list = out, .num_sge = 4, .opcode = IBV_WR_SEND }, *bad_send;
    CHECK_EQ(b.context->ops.post_recv(b.qp, &recv, &bad_recv), 0);
    CHECK_EQ(a.context->ops.post_send(a.qp, &send, &bad_send), 0);
    struct ibv_wc wc = next_wc(b.recv_cq);
    CHECK_EQ(wc.byte_len, 200000);
    CHECK_EQ(memcmp(a.buffer, b.buffer, 200000), 0);
    expect_wc(a.send_cq, 0, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void inline_data_may_change_after_the_post_and_needs_no_region(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    char local[256];
    for (uint32_t length = 0; length <= sizeof(local); length += 64) {
        fill(local, length, length);
        struct ibv_sge sge = { (uintptr_t) local, length, 0xdead };
        struct ibv_send_wr wr = {
            .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
        }, *bad;
        /* No receive is there yet, so the request stays queued while the source changes. */
        CHECK_EQ(a.context->ops.post_send(a.qp, &wr, &bad), 0);
        memset(local, 0, sizeof(local));
        CHECK_EQ(post_recv(&b, 1, 0, 4096), 0);
        expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
        fill(local, length, length);
        CHECK_EQ(memcmp(local, b.buffer, length), 0);
        expect_wc(a.send_cq, 0, IBV_WC_SUCCESS);
    }
    struct ibv_sge sge = { (uintptr_t) local, sizeof(local), 0 };
    struct ibv_sge two[2] = { sge, sge };
    struct ibv_send_wr wr = {
        .sg_list = two, .num_sge = 2, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
    }, *bad;
    CHECK_EQ(a.context->ops.post_send(a.qp, &wr, &bad), EINVAL);
    pair_close(&a, &b);
}

static void only_signaled_requests_complete(void) {
    struct end a, b;
    struct options options = defaults;
    options.sig_all = false;
    pair_open(&a, &b, &options);
    struct address to = end_address(&b);
    for (int round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 16; i++) {
            CHECK_EQ(post_rdma(&a, i, IBV_WR_RDMA_WRITE, i == 15 ? IBV_SEND_SIGNALED : 0, i, 1, &to, i), 0);
        }
        expect_wc(a.send_cq, 15, IBV_WC_SUCCESS);
        expect_nothing(a.send_cq);
    }
    pair_close(&a, &b);
}

static void chains_stop_at_the_bad_request(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct ibv_sge sge = { (uintptr_t) a.buffer, 8, a.mr->lkey };
    struct ibv_send_wr wr[3], *bad = NULL;
    for (int i = 0; i < 3; i++) {
        wr[i] = (struct ibv_send_wr) {
            .wr_id = (uint64_t) i, .next = i < 2 ? &wr[i + 1] : NULL, .sg_list = &sge, .num_sge = i == 1 ? 99 : 1,
            .opcode = IBV_WR_SEND,
        };
    }
    CHECK_EQ(post_recv(&b, 0, 0, 8), 0);
    CHECK_EQ(a.context->ops.post_send(a.qp, wr, &bad), EINVAL);
    CHECK(bad == &wr[1]);
    expect_wc(a.send_cq, 0, IBV_WC_SUCCESS);
    expect_wc(b.recv_cq, 0, IBV_WC_SUCCESS);
    expect_nothing(a.send_cq);
    pair_close(&a, &b);
}

/* A device may have more room than was asked for, and than it says. */
static void expect_room(int room, int asked) {
    CHECK(is_embedded() ? room == asked : room >= asked && room < 4 * asked);
}

static void queues_have_the_size_asked_for(void) {
    struct end a, b;
    struct options options = defaults;
    options.send_wr = 5;
    options.recv_wr = 3;
    pair_open(&a, &b, &options);
    int sends = 0, receives = 0;
    while (sends < 1000 && post_send(&a, (uint64_t) sends, IBV_WR_SEND, 0, 0, 8) == 0) {
        sends++;
    }
    expect_room(sends, options.send_wr);
    CHECK_EQ(post_send(&a, 1000, IBV_WR_SEND, 0, 0, 8), ENOMEM);
    /* The end receives nothing, as with soft-RoCE there is room again as soon as a message has come. */
    while (receives < 1000 && post_recv(&a, (uint64_t) receives, 0, 8) == 0) {
        receives++;
    }
    expect_room(receives, options.recv_wr);
    CHECK_EQ(post_recv(&a, 1000, 0, 8), ENOMEM);
    for (int i = 0; i < receives; i++) {
        CHECK_EQ(post_recv(&b, (uint64_t) i, 0, 8), 0);
    }
    int messages = sends < receives ? sends : receives;
    for (int i = 0; i < messages; i++) {
        expect_wc(b.recv_cq, (uint64_t) i, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, (uint64_t) i, IBV_WC_SUCCESS);
    }
    CHECK_EQ(post_send(&a, 1001, IBV_WR_SEND, 0, 0, 8), 0);
    CHECK_EQ(post_recv(&b, 1001, 0, 8), 0);
    pair_close(&a, &b);
}

/*
 * Posts receives with and without memory, in runs of different lengths, with the same ids or not; the queue is never
 * quite empty.
 */
static void receives_are_taken_in_order_whatever_they_are(void) {
    enum { ROUNDS = 200, AHEAD = 40 };
    struct end a, b;
    pair_open(&a, &b, &defaults);
    memset(a.buffer, 'x', 8);
    for (unsigned i = 0; i < ROUNDS + AHEAD; i++) {
        if (i < ROUNDS) {
            CHECK_EQ(post_recv(&b, i / 3, i * 8, i % 16 < 9 ? 0 : 8), 0);
        }
        if (i >= AHEAD) {
            unsigned done = i - AHEAD;
            bool empty = done % 16 < 9;
            b.buffer[done * 8] = 0;
            CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, empty ? 0 : 8), 0);
            expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
            expect_wc(b.recv_cq, done / 3, IBV_WC_SUCCESS);
            CHECK_EQ(b.buffer[done * 8], empty ? 0 : 'x');
        }
    }
    pair_close(&a, &b);
}

static void operations_stay_in_order(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct address to = end_address(&b);
    uint64_t *counter = (uint64_t *) (b.buffer + 8192);
    for (uint64_t round = 0; round < 200; round++) {
        *counter = 0;
        a.buffer[0] = (char) round;
        CHECK_EQ(post_recv(&b, round, 4096, 64), 0);
        CHECK_EQ(post_rdma(&a, 0, IBV_WR_RDMA_WRITE, 0, 0, 1, &to, 0), 0);
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_READ, 0, 512, 1, &to, 0), 0);
        CHECK_EQ(post_atomic(&a, 2, IBV_WR_ATOMIC_FETCH_AND_ADD, 1024, &to, 8192, round, 0), 0);
        CHECK_EQ(post_send(&a, 3, IBV_WR_SEND, 0, 0, 1), 0);
        for (uint64_t i = 0; i < 4; i++) {
            expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
        }
        expect_wc(b.recv_cq, round, IBV_WC_SUCCESS);
        CHECK_EQ(a.buffer[512], (char) round); /* the READ saw the WRITE before it */
        CHECK_EQ(*counter, round);
    }
    pair_close(&a, &b);
}

static void a_fenced_send_carries_what_the_read_before_it_fetched(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct address from = end_address(&b);
    for (uint64_t round = 1; round < 50; round++) {
        memset(b.buffer, (int) round, 200000);
        CHECK_EQ(post_recv(&b, round, 1 << 20, 200000), 0);
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_READ, 0, 0, 200000, &from, 0), 0);
        CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, IBV_SEND_FENCE, 0, 200000), 0);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
        expect_wc(b.recv_cq, round, IBV_WC_SUCCESS);
        CHECK_EQ(memcmp(b.buffer, b.buffer + (1 << 20), 200000), 0);
    }
    pair_close(&a, &b);
}

static void both_directions_work_at_once(void) {
    struct end a, b;
    struct options options = defaults;
    options.separate_cqs = true;
    pair_open(&a, &b, &options);
    struct address to_a = end_address(&a), to_b = end_address(&b);
    fill(a.buffer, 1 << 20, 1);
    fill(b.buffer, 1 << 20, 2);
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, 1 << 20, &to_b, 2 << 20), 0);
        CHECK_EQ(post_rdma(&b, 2, IBV_WR_RDMA_READ, 0, 3 << 20, 1 << 20, &to_a, 0), 0);
        CHECK_EQ(post_rdma(&b, 3, IBV_WR_RDMA_WRITE, 0, 0, 1 << 20, &to_a, 2 << 20), 0);
    }
    for (int i = 0; i < 8; i++) {
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        expect_wc(b.send_cq, 2, IBV_WC_SUCCESS);
        expect_wc(b.send_cq, 3, IBV_WC_SUCCESS);
    }
    CHECK_EQ(memcmp(a.buffer, b.buffer + (2 << 20), 1 << 20), 0);
    CHECK_EQ(memcmp(a.buffer, b.buffer + (3 << 20), 1 << 20), 0);
    CHECK_EQ(memcmp(b.buffer, a.buffer + (2 << 20), 1 << 20), 0);
    pair_close(&a, &b);
}

static void a_queue_pair_can_be_its_own_peer(void) {
    struct end a;
    end_open(&a, &defaults);
    end_connect(&a, a.qp->qp_num);
    fill(a.buffer, 100000, 5);
    CHECK_EQ(post_recv(&a, 1, 1 << 20, 100000), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 100000), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(a.buffer, a.buffer + (1 << 20), 100000), 0);
    end_close(&a);
}

int main(void) {
    RUN(send_carries_data_of_any_length);
    RUN(write_places_data_and_completes_only_here);
    RUN(write_with_immediate_takes_a_receive);
    RUN(read_fetches_data_of_any_length);
    RUN(atomics_change_the_target_and_return_what_was_there);
    RUN(lists_are_gathered_and_scattered);
    RUN(inline_data_may_change_after_the_post_and_needs_no_region);
    RUN(only_signaled_requests_complete);
    RUN(chains_stop_at_the_bad_request);
    RUN(queues_have_the_size_asked_for);
    RUN(receives_are_taken_in_order_whatever_they_are);
    RUN(operations_stay_in_order);
    RUN(a_fenced_send_carries_what_the_read_before_it_fetched);
    RUN(both_directions_work_at_once);
    RUN(a_queue_pair_can_be_its_own_peer);
    return 0;
}
