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
/*
 * Memory that its owner unmaps, or truncates, while it is registered. A device has pinned the pages and goes on;
 * without one the request fails, and nobody else notices.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "provider.h"
#include "ud_support.h"

#define SIZE (1u << 20)

enum how { UNMAPPED, UNMAPPED_BEHIND, TRUNCATED, HOWS };

/* A region of SIZE bytes that goes away. */
struct gone {
    struct ibv_mr *mr;
    char *memory;
    int file;
};

static void gone_register(struct gone *gone, struct end *end, enum how how) {
    gone->file = how == TRUNCATED ? memfd_create("gone", MFD_CLOEXEC) : -1;
    if (how == TRUNCATED) {
        CHECK(gone->file >= 0);
        CHECK_EQ(ftruncate(gone->file, SIZE), 0);
    }
    gone->memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, how == TRUNCATED ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
                        gone->file, 0);
    CHECK(gone->memory != MAP_FAILED);
    memset(gone->memory, 7, SIZE);
    gone->mr = ibv_reg_mr(end->pd, gone->memory, SIZE, defaults.access);
    CHECK(gone->mr != NULL);
}

static void gone_go(struct gone *gone, enum how how) {
    switch (how) {
        case UNMAPPED: CHECK_EQ(munmap(gone->memory, SIZE), 0); break;
        case UNMAPPED_BEHIND: CHECK_EQ(munmap(gone->memory + SIZE / 2, SIZE / 2), 0); break;
        default: CHECK_EQ(ftruncate(gone->file, 0), 0);
    }
}

static void gone_close(struct gone *gone, enum how how) {
    CHECK_EQ(ibv_dereg_mr(gone->mr), 0);
    if (how == TRUNCATED) {
        close(gone->file);
    }
    if (how != UNMAPPED) {
        munmap(gone->memory, how == TRUNCATED ? SIZE : SIZE / 2);
    }
}

static struct address address_in(const struct gone *gone) {
    return (struct address) { 0, gone->mr->rkey, (uintptr_t) gone->memory };
}

static int post(struct end *end, uint64_t wr_id, enum ibv_wr_opcode opcode, int flags, const struct gone *gone,
                uint32_t length, const struct address *to) {
    struct ibv_sge sge = { (uintptr_t) gone->memory, length, gone->mr->lkey };
    struct ibv_send_wr wr = {
        .wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = (unsigned) flags,
    }, *bad;
    if (to != NULL) {
        wr.wr.rdma.remote_addr = to->buffer;
        wr.wr.rdma.rkey = to->rkey;
    }
    return ibv_post_send(end->qp, &wr, &bad);
}

static void expect_refusal(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status embedded, int vendor_err) {
    struct ibv_wc wc = next_wc(cq);
    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, is_embedded() ? embedded : IBV_WC_SUCCESS);
    if (is_embedded()) {
        CHECK_EQ(wc.vendor_err, vendor_err);
    }
}

static const uint32_t lengths[] = { 8, 64, 5000, SIZE };
#define LENGTHS (sizeof(lengths) / sizeof(*lengths))

/* Memory that is there in part is used in part: the first half takes what is short. */
static bool is_gone(enum how how, uint32_t length) {
    return how != UNMAPPED_BEHIND || length > SIZE / 2;
}

/* Calls the test with two new ends and every kind of memory. */
static void each(void (*test)(struct end *a, struct end *b, enum how how, uint32_t length)) {
    struct options options = defaults;
    options.separate_cqs = true;
    for (enum how how = UNMAPPED; how < HOWS; how++) {
        for (size_t i = 0; i < LENGTHS; i++) {
            struct end a, b, c, d;
            pair_open(&a, &b, &options);
            pair_open(&c, &d, &options);
            if (is_gone(how, lengths[i])) {
                test(&a, &b, how, lengths[i]);
            }
            pair_talk(&c, &d);
            pair_close(&c, &d);
            pair_close(&a, &b);
        }
    }
}

/* Nobody polls at the owner: its engine does it, where there is one. */
static void access_remotely(struct end *a, struct end *b, enum how how, uint32_t length, enum ibv_wr_opcode opcode) {
    struct gone gone;
    gone_register(&gone, b, how);
    struct address to = address_in(&gone);
    CHECK_EQ(post_rdma(a, 1, opcode, 0, 0, 8, &to, 0), 0);
    expect_wc(a->send_cq, 1, IBV_WC_SUCCESS);
    gone_go(&gone, how);
    CHECK_EQ(post_rdma(a, 2, opcode, 0, 0, length, &to, 0), 0);
    expect_refusal(a->send_cq, 2, IBV_WC_REM_OP_ERR, 0);
    if (is_embedded()) {
        expect_async(b->context, IBV_EVENT_QP_FATAL);
        expect_state(b->qp, IBV_QPS_ERR);
    }
    gone_close(&gone, how);
}

static void write_to_gone_memory(struct end *a, struct end *b, enum how how, uint32_t length) {
    access_remotely(a, b, how, length, IBV_WR_RDMA_WRITE);
}

static void a_write_to_gone_memory_fails_at_who_writes(void) {
    each(write_to_gone_memory);
}

static void read_from_gone_memory(struct end *a, struct end *b, enum how how, uint32_t length) {
    access_remotely(a, b, how, length, IBV_WR_RDMA_READ);
}

static void a_read_from_gone_memory_fails_at_who_reads(void) {
    each(read_from_gone_memory);
}

static void change_gone_memory(struct end *a, struct end *b, enum how how, uint32_t length) {
    struct gone gone;
    enum ibv_wr_opcode opcode = length == 8 ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
    if (length > 64) {
        return;
    }
    gone_register(&gone, b, how);
    struct address to = address_in(&gone);
    CHECK_EQ(post_atomic(a, 1, opcode, 0, &to, 0, 1, 2), 0);
    expect_wc(a->send_cq, 1, IBV_WC_SUCCESS);
    gone_go(&gone, how);
    CHECK_EQ(post_atomic(a, 2, opcode, 0, &to, 0, 1, 2), 0);
    expect_refusal(a->send_cq, 2, IBV_WC_REM_OP_ERR, 0);
    gone_close(&gone, how);
}

static void an_atomic_on_gone_memory_fails_at_who_asks(void) {
    each(change_gone_memory);
}

static void receive_into_gone_memory(struct end *a, struct end *b, enum how how, uint32_t length) {
    struct gone gone;
    gone_register(&gone, b, how);
    struct ibv_sge sge = { (uintptr_t) gone.memory, SIZE, gone.mr->lkey };
    struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;
    CHECK_EQ(ibv_post_recv(b->qp, &wr, &bad), 0);
    gone_go(&gone, how);
    CHECK_EQ(post_send(a, 2, IBV_WR_SEND, 0, 0, length), 0);
    expect_refusal(b->recv_cq, 1, IBV_WC_LOC_PROT_ERR, EFAULT);
    expect_refusal(a->send_cq, 2, IBV_WC_REM_OP_ERR, 0);
    gone_close(&gone, how);
}

static void a_message_for_gone_memory_fails_at_both_ends(void) {
    each(receive_into_gone_memory);
}

static void send_gone_memory(struct end *a, struct end *b, enum how how, uint32_t length) {
    struct gone gone;
    gone_register(&gone, a, how);
    CHECK_EQ(post_recv(b, 1, 0, SIZE), 0);
    gone_go(&gone, how);
    CHECK_EQ(post(a, 2, IBV_WR_SEND, 0, &gone, length, NULL), 0);
    expect_refusal(a->send_cq, 2, IBV_WC_LOC_PROT_ERR, EFAULT);
    gone_close(&gone, how);
}

static void a_message_of_gone_memory_fails_at_who_sends(void) {
    each(send_gone_memory);
}

static void read_to_gone_memory(struct end *a, struct end *b, enum how how, uint32_t length) {
    struct gone gone;
    gone_register(&gone, a, how);
    struct address from = end_address(b);
    gone_go(&gone, how);
    CHECK_EQ(post(a, 2, IBV_WR_RDMA_READ, 0, &gone, length, &from), 0);
    expect_refusal(a->send_cq, 2, IBV_WC_LOC_PROT_ERR, EFAULT);
    gone_close(&gone, how);
}

static void a_read_into_gone_memory_fails_at_who_reads(void) {
    each(read_to_gone_memory);
}

/* The processor copies inline data as it is posted: a device's library faults there. */
static void inline_data_of_gone_memory_is_refused(void) {
    if (!is_embedded()) {
        fprintf(stderr, "    skipped: a device's library, which faults there\n");
        return;
    }
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct gone gone;
    gone_register(&gone, &a, UNMAPPED);
    gone_go(&gone, UNMAPPED);
    CHECK_EQ(post(&a, 1, IBV_WR_SEND, IBV_SEND_INLINE, &gone, 64, NULL), EFAULT);
    pair_talk(&a, &b);
    gone_close(&gone, UNMAPPED);
    pair_close(&a, &b);
}

static void datagrams_of_and_for_gone_memory_fail_where_it_is_gone(void) {
    struct end a, b;
    ud_open(&a);
    ud_open(&b);
    struct ibv_ah *ah = own_ah(&a);
    struct gone gone;
    gone_register(&gone, &b, UNMAPPED);
    struct ibv_sge sge = { (uintptr_t) gone.memory, 2048, gone.mr->lkey };
    struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;
    CHECK_EQ(ibv_post_recv(b.qp, &wr, &bad), 0);
    gone_go(&gone, UNMAPPED);
    send_datagram(&a, 2, 0, 64, ah, b.qp->qp_num);
    expect_refusal(b.recv_cq, 1, IBV_WC_LOC_PROT_ERR, EFAULT);
    gone_close(&gone, UNMAPPED);

    gone_register(&gone, &a, UNMAPPED);
    gone_go(&gone, UNMAPPED);
    struct ibv_sge from = { (uintptr_t) gone.memory, 64, gone.mr->lkey };
    struct ibv_send_wr send = {
        .wr_id = 3, .sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
        .wr.ud = { .ah = ah, .remote_qpn = b.qp->qp_num, .remote_qkey = QKEY },
    }, *bad_send;
    CHECK_EQ(ibv_post_send(a.qp, &send, &bad_send), 0);
    expect_refusal(a.send_cq, 3, IBV_WC_LOC_PROT_ERR, EFAULT);
    gone_close(&gone, UNMAPPED);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&b);
}

int main(void) {
    RUN(a_write_to_gone_memory_fails_at_who_writes);
    RUN(a_read_from_gone_memory_fails_at_who_reads);
    RUN(an_atomic_on_gone_memory_fails_at_who_asks);
    RUN(a_message_for_gone_memory_fails_at_both_ends);
    RUN(a_message_of_gone_memory_fails_at_who_sends);
    RUN(a_read_into_gone_memory_fails_at_who_reads);
    RUN(inline_data_of_gone_memory_is_refused);
    RUN(datagrams_of_and_for_gone_memory_fail_where_it_is_gone);
    return 0;
}
