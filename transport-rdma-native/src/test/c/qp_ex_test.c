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
/* Posting by the functions of ibv_wr_post(3): what arrives, and that a batch with a fault is not posted at all. */
#include <arpa/inet.h>
#include <sys/mman.h>

#include "check.h"
#include "pair.h"
#include "provider.h"
#include "ud_support.h"

#define DATAGRAM_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define ALL_OPS (DATAGRAM_OPS | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM \
                 | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP \
                 | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
#define MAKES_NOTHING(error, call) CHECK((errno = 0, (call) == NULL) && errno == (error))

static struct ibv_qp_init_attr_ex attributes(const struct end *end, enum ibv_qp_type type, uint64_t ops) {
    return (struct ibv_qp_init_attr_ex) {
        .send_cq = end->send_cq, .recv_cq = end->recv_cq, .qp_type = type, .pd = end->pd, .sq_sig_all = 1,
        .cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 2, .max_recv_sge = 1, .max_inline_data = 64 },
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = ops,
    };
}

static struct options eight(enum ibv_qp_type type) {
    struct options options = defaults;
    options.type = type;
    return options;
}

/* Makes an extended queue pair in place of the end's. */
static struct ibv_qp_ex *replace_qp(struct end *end, uint64_t ops) {
    CHECK_EQ(ibv_destroy_qp(end->qp), 0);
    struct ibv_qp_init_attr_ex attr = attributes(end, end->options.type, ops);
    end->qp = ibv_create_qp_ex(end->context, &attr);
    CHECK(end->qp != NULL);
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(end->qp);
    CHECK(ex != NULL && &ex->qp_base == end->qp);
    return ex;
}

static struct ibv_qp_ex *connected(struct end *a, struct end *b) {
    struct options options = eight(IBV_QPT_RC);
    end_open(a, &options);
    end_open(b, &options);
    struct ibv_qp_ex *qp = replace_qp(a, ALL_OPS);
    end_connect(a, b->qp->qp_num);
    end_connect(b, a->qp->qp_num);
    return qp;
}

static void set_sge(struct ibv_qp_ex *qp, const struct end *end, size_t offset, uint32_t length) {
    ibv_wr_set_sge(qp, end->mr->lkey, (uintptr_t) end->buffer + offset, length);
}

/* ---- what arrives ---- */

static void each_operation_does_what_post_send_does(void) {
    struct end a, b;
    struct ibv_qp_ex *qp = connected(&a, &b);
    struct address to = end_address(&b);
    fill(a.buffer, 256, 1);
    uint64_t *word = (uint64_t *) (b.buffer + 1024), *answers = (uint64_t *) (a.buffer + 2048);
    *word = 40;
    memset(b.buffer + 512, 9, 64);
    CHECK_EQ(post_recv(&b, 11, 4096, 64), 0);
    CHECK_EQ(post_recv(&b, 12, 8192, 64), 0);
    CHECK_EQ(post_recv(&b, 13, 0, 0), 0);
    ibv_wr_start(qp);
    qp->wr_id = 1;
    ibv_wr_send(qp);
    set_sge(qp, &a, 0, 64);
    qp->wr_id = 2;
    ibv_wr_send_imm(qp, htonl(77));
    struct ibv_sge parts[2] = {
        { (uintptr_t) a.buffer, 16, a.mr->lkey }, { (uintptr_t) a.buffer + 32, 16, a.mr->lkey },
    };
    ibv_wr_set_sge_list(qp, 2, parts);
    memset(parts, 0, sizeof(parts)); /* the list was copied */
    qp->wr_id = 3;
    ibv_wr_rdma_write(qp, to.rkey, to.buffer + 128);
    set_sge(qp, &a, 100, 20);
    qp->wr_id = 4;
    ibv_wr_rdma_write_imm(qp, to.rkey, to.buffer + 256, htonl(78));
    set_sge(qp, &a, 0, 8);
    qp->wr_id = 5;
    ibv_wr_rdma_read(qp, to.rkey, to.buffer + 512);
    set_sge(qp, &a, 3000, 64);
    qp->wr_id = 6;
    ibv_wr_atomic_fetch_add(qp, to.rkey, to.buffer + 1024, 2);
    set_sge(qp, &a, 2048, 8);
    qp->wr_id = 7;
    ibv_wr_atomic_cmp_swp(qp, to.rkey, to.buffer + 1024, 42, 5);
    set_sge(qp, &a, 2056, 8);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    for (uint64_t i = 1; i <= 7; i++) {
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    expect_wc(b.recv_cq, 11, IBV_WC_SUCCESS);
    struct ibv_wc wc = next_wc(b.recv_cq);
    CHECK_EQ(wc.wr_id, 12);
    CHECK_EQ(wc.byte_len, 32);
    CHECK_EQ(ntohl(wc.imm_data), 77);
    wc = next_wc(b.recv_cq);
    CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK_EQ(ntohl(wc.imm_data), 78);
    CHECK(memcmp(b.buffer + 4096, a.buffer, 64) == 0);
    CHECK(memcmp(b.buffer + 8192, a.buffer, 16) == 0);
    CHECK(memcmp(b.buffer + 8192 + 16, a.buffer + 32, 16) == 0);
    CHECK(memcmp(b.buffer + 128, a.buffer + 100, 20) == 0);
    CHECK(memcmp(b.buffer + 256, a.buffer, 8) == 0);
    CHECK(memcmp(a.buffer + 3000, b.buffer + 512, 64) == 0);
    CHECK_EQ(answers[0], 40);
    CHECK_EQ(answers[1], 42);
    CHECK_EQ(*word, 5);
    pair_close(&a, &b);
}

static void inline_data_are_copied_by_the_call(void) {
    struct end a, b;
    struct ibv_qp_ex *qp = connected(&a, &b);
    char text[] = "inline data", more[] = " of two";
    struct ibv_data_buf list[2] = { { text, strlen(text) }, { more, strlen(more) } };
    struct address to = end_address(&b);
    ibv_wr_start(qp);
    qp->wr_id = 1;
    ibv_wr_rdma_write(qp, to.rkey, to.buffer);
    ibv_wr_set_inline_data_list(qp, 2, list);
    memset(text, 'x', sizeof(text));
    memset(more, 'x', sizeof(more));
    qp->wr_id = 2;
    ibv_wr_rdma_write(qp, to.rkey, to.buffer + 100);
    ibv_wr_set_inline_data(qp, text, 4);
    memset(text, 'y', sizeof(text));
    CHECK_EQ(ibv_wr_complete(qp), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    CHECK(memcmp(b.buffer, "inline data of two", 18) == 0);
    CHECK(memcmp(b.buffer + 100, "xxxx", 4) == 0);
    pair_close(&a, &b);
}

static void flags_are_those_of_each_request(void) {
    struct end a, b;
    struct options options = eight(IBV_QPT_RC);
    end_open(&a, &options);
    end_open(&b, &options);
    CHECK_EQ(ibv_destroy_qp(a.qp), 0);
    struct ibv_qp_init_attr_ex attr = attributes(&a, IBV_QPT_RC, ALL_OPS);
    attr.sq_sig_all = 0;
    a.qp = ibv_create_qp_ex(a.context, &attr);
    CHECK(a.qp != NULL);
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(a.qp);
    end_connect(&a, b.qp->qp_num);
    end_connect(&b, a.qp->qp_num);
    struct address to = end_address(&b);
    ibv_wr_start(qp);
    for (uint64_t i = 0; i < 4; i++) {
        qp->wr_id = i;
        qp->wr_flags = i == 3 ? IBV_SEND_SIGNALED : 0;
        ibv_wr_rdma_write(qp, to.rkey, to.buffer);
        set_sge(qp, &a, 0, 8);
    }
    CHECK_EQ(ibv_wr_complete(qp), 0);
    expect_wc(a.send_cq, 3, IBV_WC_SUCCESS);
    expect_nothing(a.send_cq);
    pair_close(&a, &b);
}

static void a_datagram_has_its_address_set(void) {
    struct end a, b;
    struct options options = eight(IBV_QPT_UD);
    end_open(&a, &options);
    end_open(&b, &options);
    struct ibv_qp_ex *qp = replace_qp(&a, DATAGRAM_OPS);
    ud_ready(&a);
    ud_ready(&b);
    struct ibv_ah *ah = own_ah(&a);
    fill(a.buffer, 64, 5);
    CHECK_EQ(post_recv(&b, 1, 0, GRH + 64), 0);
    ibv_wr_start(qp);
    qp->wr_id = 2;
    ibv_wr_send_imm(qp, htonl(3));
    ibv_wr_set_ud_addr(qp, ah, b.qp->qp_num, QKEY);
    set_sge(qp, &a, 0, 64);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    struct ibv_wc wc = next_wc(b.recv_cq);
    CHECK_EQ(wc.wr_id, 1);
    CHECK_EQ(ntohl(wc.imm_data), 3);
    CHECK(memcmp(b.buffer + GRH, a.buffer, 64) == 0);

    if (is_embedded()) { /* soft-RoCE's driver takes the address handle on trust */
        ibv_wr_start(qp);
        ibv_wr_send(qp);
        ibv_wr_set_ud_addr(qp, ah, b.qp->qp_num, QKEY);
        set_sge(qp, &a, 0, 64);
        ibv_wr_send(qp);
        set_sge(qp, &a, 0, 64); /* without an address */
        CHECK_EQ(ibv_wr_complete(qp), EINVAL);
        ibv_wr_start(qp);
        ibv_wr_send(qp);
        ibv_wr_set_ud_addr(qp, ah, b.qp->qp_num, QKEY);
        set_sge(qp, &a, 0, 64);
        ibv_wr_send(qp);
        ibv_wr_abort(qp);
        settle();
        expect_nothing(a.send_cq);
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0); /* requests that were not posted do not keep the address handle */
    pair_close(&a, &b);
}

/* ---- what is not posted ---- */

static void write_once(struct end *a, struct ibv_qp_ex *qp, const struct address *to) {
    ibv_wr_start(qp);
    qp->wr_id = 99;
    ibv_wr_rdma_write(qp, to->rkey, to->buffer);
    set_sge(qp, a, 0, 8);
    CHECK_EQ(ibv_wr_complete(qp), 0);
    expect_wc(a->send_cq, 99, IBV_WC_SUCCESS);
}

static void what_is_aborted_was_never_posted(void) {
    struct end a, b;
    struct ibv_qp_ex *qp = connected(&a, &b);
    struct address to = end_address(&b);
    memset(a.buffer, 7, 8);
    for (int i = 0; i < 20; i++) { /* more than there is room for */
        ibv_wr_start(qp);
        ibv_wr_rdma_write(qp, to.rkey, to.buffer);
        set_sge(qp, &a, 0, 8);
        ibv_wr_rdma_write(qp, to.rkey, to.buffer + 8);
        set_sge(qp, &a, 0, 8);
        ibv_wr_abort(qp);
    }
    settle();
    expect_nothing(a.send_cq);
    CHECK_EQ(b.buffer[0], 0);
    write_once(&a, qp, &to);
    CHECK_EQ(b.buffer[0], 7);
    CHECK_EQ(b.buffer[8], 0);
    pair_close(&a, &b);
}

static void a_batch_with_a_fault_is_not_posted_at_all(void) {
    struct end a, b;
    struct ibv_qp_ex *qp = connected(&a, &b);
    struct address to = end_address(&b);
    memset(a.buffer, 7, 64);
    struct ibv_sge many[40] = { { 0 } };
    char data[4096] = { 0 };
    for (int fault = 0; fault < (is_embedded() ? 5 : 2); fault++) {
        ibv_wr_start(qp);
        ibv_wr_rdma_write(qp, to.rkey, to.buffer);
        set_sge(qp, &a, 0, 8);
        ibv_wr_rdma_write(qp, to.rkey, to.buffer + 8);
        switch (fault) {
            case 0: ibv_wr_set_sge_list(qp, 40, many); break;
            case 1: ibv_wr_set_inline_data(qp, data, sizeof(data)); break;
            case 2: ibv_wr_set_ud_addr(qp, NULL, 1, 1); break;
            case 3: ibv_wr_rdma_read(qp, to.rkey, to.buffer); ibv_wr_set_inline_data(qp, data, 4); break;
            default: {
                struct ibv_data_buf list[2] = { { data, 40 }, { data, SIZE_MAX - 8 } };
                ibv_wr_set_inline_data_list(qp, 2, list);
            }
        }
        ibv_wr_rdma_write(qp, to.rkey, to.buffer + 16);
        set_sge(qp, &a, 0, 8);
        int error = ibv_wr_complete(qp);
        CHECK(is_embedded() ? error == EINVAL : error != 0);
    }
    settle();
    expect_nothing(a.send_cq);
    CHECK_EQ(b.buffer[0], 0);
    write_once(&a, qp, &to);
    CHECK_EQ(b.buffer[0], 7);
    pair_close(&a, &b);
}

static void a_batch_that_does_not_fit_is_not_posted_at_all(void) {
    struct end a, b;
    struct ibv_qp_ex *qp = connected(&a, &b);
    struct address to = end_address(&b);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(a.qp, &attr, IBV_QP_CAP, &init), 0);
    for (uint32_t more = 0; more < 2; more++) {
        ibv_wr_start(qp);
        for (uint32_t i = 0; i < init.cap.max_send_wr + 1 - more; i++) {
            qp->wr_id = i;
            ibv_wr_rdma_write(qp, to.rkey, to.buffer);
            set_sge(qp, &a, 0, 8);
        }
        CHECK_EQ(ibv_wr_complete(qp), more == 0 ? ENOMEM : 0);
    }
    for (uint32_t i = 0; i < init.cap.max_send_wr; i++) {
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    expect_nothing(a.send_cq);
    pair_close(&a, &b);
}

static void a_setter_needs_a_request(void) {
    struct end a, b;
    struct ibv_qp_ex *qp = connected(&a, &b);
    ibv_wr_start(qp);
    set_sge(qp, &a, 0, 8);
    CHECK_EQ(ibv_wr_complete(qp), EINVAL);
    ibv_wr_start(qp);
    ibv_wr_set_inline_data(qp, "x", 1);
    CHECK_EQ(ibv_wr_complete(qp), EINVAL);
    ibv_wr_start(qp);
    CHECK_EQ(ibv_wr_complete(qp), 0); /* none is no fault */
    struct address to = end_address(&b);
    write_once(&a, qp, &to);
    pair_close(&a, &b);
}

static void memory_that_is_not_there_is_no_inline_data(void) {
    struct end a, b;
    struct ibv_qp_ex *qp = connected(&a, &b);
    struct address to = end_address(&b);
    char *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(nothing != MAP_FAILED);
    ibv_wr_start(qp);
    ibv_wr_rdma_write(qp, to.rkey, to.buffer);
    ibv_wr_set_inline_data(qp, nothing, 8);
    CHECK_EQ(ibv_wr_complete(qp), EFAULT);
    munmap(nothing, 4096);
    write_once(&a, qp, &to);
    pair_close(&a, &b);
}

static void a_queue_pair_that_cannot_send_takes_nothing(void) {
    struct end a;
    struct options options = eight(IBV_QPT_RC);
    end_open(&a, &options);
    struct ibv_qp_ex *qp = replace_qp(&a, ALL_OPS);
    ibv_wr_start(qp);
    ibv_wr_send(qp);
    set_sge(qp, &a, 0, 8);
    CHECK_EQ(ibv_wr_complete(qp), EINVAL);
    end_close(&a);
}

/* ---- what cannot be had ---- */

static void a_queue_pair_has_the_operations_of_its_type(void) {
    struct end end;
    end_open(&end, &defaults);
    struct ibv_qp_init_attr_ex attr = attributes(&end, IBV_QPT_UD, DATAGRAM_OPS | IBV_QP_EX_WITH_RDMA_READ);
    MAKES_NOTHING(EOPNOTSUPP, ibv_create_qp_ex(end.context, &attr));
    attr = attributes(&end, IBV_QPT_RC, IBV_QP_EX_WITH_TSO);
    MAKES_NOTHING(EOPNOTSUPP, ibv_create_qp_ex(end.context, &attr));
    attr = attributes(&end, IBV_QPT_RC, ALL_OPS);
    attr.comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
    MAKES_NOTHING(EOPNOTSUPP, ibv_create_qp_ex(end.context, &attr));
    attr = attributes(&end, IBV_QPT_RC, ALL_OPS);
    attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
    attr.create_flags = IBV_QP_CREATE_SCATTER_FCS;
    CHECK(ibv_create_qp_ex(end.context, &attr) == NULL);
    if (is_embedded()) {
        attr = attributes(&end, IBV_QPT_RC, ALL_OPS);
        attr.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        MAKES_NOTHING(EINVAL, ibv_create_qp_ex(end.context, &attr));
    }
    CHECK(ibv_qp_to_qp_ex(end.qp) == NULL); /* made by ibv_create_qp() */
    end_close(&end);
}

int main(void) {
    RUN(each_operation_does_what_post_send_does);
    RUN(flags_are_those_of_each_request);
    RUN(a_datagram_has_its_address_set);
    RUN(what_is_aborted_was_never_posted);
    RUN(a_batch_with_a_fault_is_not_posted_at_all);
    /*
     * The driver of soft-RoCE in libibverbs checks neither order, nor addresses, nor states, has a larger queue, and
     * does not tell the kernel that data are inline.
     */
    if (is_embedded()) {
        RUN(inline_data_are_copied_by_the_call);
        RUN(a_batch_that_does_not_fit_is_not_posted_at_all);
        RUN(a_setter_needs_a_request);
        RUN(memory_that_is_not_there_is_no_inline_data);
        RUN(a_queue_pair_that_cannot_send_takes_nothing);
    }
    RUN(a_queue_pair_has_the_operations_of_its_type);
    return 0;
}
