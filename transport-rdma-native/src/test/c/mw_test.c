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
/* @Tag("stalls") */
/* Memory windows: what they open, for whom and until when, and how a peer gives one back. */
#include "check.h"
#include "pair.h"
#include "provider.h"

#define RIGHTS (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define REGION 65536u
#define START 8192u
#define LENGTH 4096u

/* `a` is the peer. Of the region nothing is open to it but by windows. `c` and `d` are a second pair, like them. */
static struct end a, b, c, d;
static struct ibv_mr *region;

static void open_all(void) {
    pair_open(&a, &b, &defaults);
    region = ibv_reg_mr(b.pd, b.buffer, REGION, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    CHECK(region != NULL);
}

static void close_all(void) {
    CHECK_EQ(ibv_dereg_mr(region), 0);
    pair_close(&a, &b);
}

static void open_second(void) {
    end_open(&c, &defaults);
    end_open_on(&d, &b, &defaults);
    end_connect(&c, d.qp->qp_num);
    end_connect(&d, c.qp->qp_num);
}

static void close_second(void) {
    CHECK_EQ(ibv_destroy_qp(d.qp), 0);
    end_close(&c);
}

static struct ibv_mw *alloc(enum ibv_mw_type type) {
    struct ibv_mw *mw = ibv_alloc_mw(b.pd, type);
    CHECK(mw != NULL);
    CHECK(mw->context == b.context && mw->pd == b.pd);
    CHECK_EQ(mw->type, type);
    return mw;
}

static struct ibv_mw_bind_info part(struct ibv_mr *mr, size_t offset, uint64_t length, unsigned access) {
    return (struct ibv_mw_bind_info) { mr, (uintptr_t) b.buffer + offset, length, access };
}

/* Binding through `b`, with the next key, which this notes as it is for the application to do. */
static int post_bind(uint64_t wr_id, struct ibv_mw *mw, struct ibv_mw_bind_info info) {
    struct ibv_send_wr wr = {
        .wr_id = wr_id, .opcode = IBV_WR_BIND_MW,
        .bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = info },
    }, *bad;
    int error = b.context->ops.post_send(b.qp, &wr, &bad);
    mw->rkey = error == 0 ? wr.bind_mw.rkey : mw->rkey;
    return error;
}

static int post_invalidate(struct end *end, uint64_t wr_id, enum ibv_wr_opcode opcode, uint32_t key) {
    struct ibv_send_wr wr = { .wr_id = wr_id, .opcode = opcode, .invalidate_rkey = key }, *bad;
    return end->context->ops.post_send(end->qp, &wr, &bad);
}

static void expect_op(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_opcode opcode) {
    struct ibv_wc wc = next_wc(cq);
    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.opcode, opcode);
}

static void bind_2(struct ibv_mw *mw, unsigned access) {
    CHECK_EQ(post_bind(1, mw, part(region, START, LENGTH, access)), 0);
    expect_op(b.send_cq, 1, IBV_WC_BIND_MW);
}

static void bind_1(struct ibv_mw *mw, struct ibv_mr *mr, size_t offset, uint64_t length) {
    uint32_t before = mw->rkey;
    struct ibv_mw_bind bind = {
        .wr_id = 1, .send_flags = IBV_SEND_SIGNALED, .bind_info = part(mr, mr == NULL ? 0 : offset, length, RIGHTS),
    };
    if (mr == NULL) {
        bind.bind_info.addr = 0; /* ibv_bind_mw() wants it so */
    }
    CHECK_EQ(ibv_bind_mw(b.qp, mw, &bind), 0);
    CHECK_EQ(mw->rkey, ibv_inc_rkey(before));
    expect_op(b.send_cq, 1, IBV_WC_BIND_MW);
}

static struct address at(const struct ibv_mw *mw) {
    return (struct address) { .rkey = mw->rkey, .buffer = (uintptr_t) b.buffer };
}

static void expect_access(struct end *peer, enum ibv_wr_opcode opcode, const struct address *to, size_t offset,
                          uint32_t length, enum ibv_wc_status status) {
    bool atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    CHECK_EQ(atomic ? post_atomic(peer, 9, opcode, 0, to, offset, 1, 0)
                    : post_rdma(peer, 9, opcode, 0, 0, length, to, offset), 0);
    expect_wc(peer->send_cq, 9, status);
}

/* ---- what a window opens ---- */

static void the_device_says_that_it_has_windows(void) {
    struct ibv_device_attr device;
    open_all();
    CHECK_EQ(ibv_query_device(b.context, &device), 0);
    CHECK(device.max_mw > 0);
    CHECK((device.device_cap_flags & IBV_DEVICE_MEM_WINDOW) != 0 || is_soft_roce());
    CHECK((device.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) != 0);
    CHECK((device.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A) == 0);
    CHECK(ibv_alloc_mw(b.pd, (enum ibv_mw_type) 3) == NULL);
    struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
    struct ibv_pd *pd = b.pd;
    CHECK(ibv_dealloc_pd(pd) != 0);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    close_all();
}

static void a_window_opens_a_part_until_it_is_invalidated(void) {
    open_all();
    struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
    bind_2(mw, RIGHTS | IBV_ACCESS_LOCAL_WRITE); /* rdma-core's tests do so */
    struct address to = at(mw);
    memset(a.buffer, 'x', LENGTH);
    expect_access(&a, IBV_WR_RDMA_WRITE, &to, START, LENGTH, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(b.buffer + START, a.buffer, LENGTH), 0);
    CHECK(b.buffer[START - 1] == 0 && b.buffer[START + LENGTH] == 0);
    memset(b.buffer + START, 'y', LENGTH);
    expect_access(&a, IBV_WR_RDMA_READ, &to, START, LENGTH, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(b.buffer + START, a.buffer, LENGTH), 0);
    expect_access(&a, IBV_WR_ATOMIC_FETCH_AND_ADD, &to, START + LENGTH - 8, 8, IBV_WC_SUCCESS);
    CHECK_EQ(b.buffer[START + LENGTH - 8], 'z');
    CHECK_EQ(post_invalidate(&b, 2, IBV_WR_LOCAL_INV, mw->rkey), 0);
    expect_op(b.send_cq, 2, IBV_WC_LOCAL_INV);
    expect_access(&a, IBV_WR_RDMA_WRITE, &to, START, 8, IBV_WC_REM_ACCESS_ERR);
    CHECK_EQ(b.buffer[START], 'y');
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    close_all();
}

/* Longer than one descriptor, so that the answer and the copy go piece by piece. */
static void a_large_window_is_read_and_written(void) {
    open_all();
    struct ibv_mr *large = ibv_reg_mr(b.pd, b.buffer, PAIR_BUFFER, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    CHECK(large != NULL);
    struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
    CHECK_EQ(post_bind(1, mw, part(large, 0, PAIR_BUFFER, RIGHTS)), 0);
    expect_op(b.send_cq, 1, IBV_WC_BIND_MW);
    struct address to = at(mw);
    for (uint32_t i = 0; i < PAIR_BUFFER; i++) {
        a.buffer[i] = (char) (i * 31 + (i >> 12));
    }
    expect_access(&a, IBV_WR_RDMA_WRITE, &to, 0, PAIR_BUFFER, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(a.buffer, b.buffer, PAIR_BUFFER), 0);
    memset(a.buffer, 0, PAIR_BUFFER);
    expect_access(&a, IBV_WR_RDMA_READ, &to, 0, PAIR_BUFFER, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(a.buffer, b.buffer, PAIR_BUFFER), 0);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    CHECK_EQ(ibv_dereg_mr(large), 0);
    close_all();
}

static void what_a_window_does_not_open_is_refused(void) {
    static const struct {
        enum ibv_wr_opcode opcode;
        size_t offset;
        uint32_t length, key_change;
        unsigned access;
    } cases[] = {
        { IBV_WR_RDMA_WRITE, START - 1, 8, 0, RIGHTS },
        { IBV_WR_RDMA_WRITE, START + LENGTH - 7, 8, 0, RIGHTS },
        { IBV_WR_RDMA_WRITE, START, LENGTH + 1, 0, RIGHTS },
        { IBV_WR_RDMA_READ, 0, 8, 0, RIGHTS },
        { IBV_WR_RDMA_READ, START, LENGTH + 1, 0, RIGHTS },
        { IBV_WR_RDMA_WRITE, START, 8, 1, RIGHTS },
        { IBV_WR_RDMA_READ, START, 8, 255, RIGHTS },
        { IBV_WR_RDMA_WRITE, START, 8, 0, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC },
        { IBV_WR_RDMA_READ, START, 8, 0, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC },
        { IBV_WR_ATOMIC_FETCH_AND_ADD, START, 8, 0, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE },
    };
    enum { OUTSIDE = 5 }; /* of the window; soft-RoCE looks at the bounds of the region only */
    for (size_t i = is_soft_roce() ? OUTSIDE : 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_all();
        struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
        bind_2(mw, cases[i].access);
        memset(a.buffer, 'x', REGION);
        struct address to = at(mw);
        to.rkey = (to.rkey & ~0xffu) | ((to.rkey + cases[i].key_change) & 0xffu);
        expect_access(&a, cases[i].opcode, &to, cases[i].offset, cases[i].length, IBV_WC_REM_ACCESS_ERR);
        for (uint32_t k = 0; k < REGION; k++) {
            CHECK_EQ(b.buffer[k], 0);
        }
        CHECK_EQ(ibv_dealloc_mw(mw), 0);
        close_all();
    }
}

/* ---- for whom ---- */

static void type_1_is_for_all_queue_pairs_of_the_domain_and_moves(void) {
    open_all();
    open_second();
    struct ibv_mw *mw = alloc(IBV_MW_TYPE_1);
    bind_1(mw, region, START, LENGTH);
    struct address first = at(mw);
    expect_access(&a, IBV_WR_RDMA_WRITE, &first, START, LENGTH, IBV_WC_SUCCESS);
    expect_access(&c, IBV_WR_RDMA_WRITE, &first, START, LENGTH, IBV_WC_SUCCESS);
    bind_1(mw, region, 0, START);
    struct address second = at(mw);
    expect_access(&c, IBV_WR_RDMA_WRITE, &second, 0, START, IBV_WC_SUCCESS);
    expect_access(&c, IBV_WR_RDMA_READ, &first, START, 8, IBV_WC_REM_ACCESS_ERR);
    bind_1(mw, is_embedded() ? NULL : region, 0, 0); /* soft-RoCE looks into the region all the same */
    CHECK_EQ(ibv_dereg_mr(region), 0);
    second.rkey = mw->rkey;
    expect_access(&a, IBV_WR_RDMA_READ, &second, 0, 8, IBV_WC_REM_ACCESS_ERR);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    region = ibv_reg_mr(b.pd, b.buffer, REGION, 0);
    close_second();
    close_all();
}

static void type_2_is_for_the_queue_pair_that_it_was_bound_through(void) {
    open_all();
    open_second();
    struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
    bind_2(mw, RIGHTS);
    struct address to = at(mw);
    expect_access(&c, IBV_WR_RDMA_READ, &to, START, 8, IBV_WC_REM_ACCESS_ERR);
    expect_access(&a, IBV_WR_RDMA_READ, &to, START, 8, IBV_WC_SUCCESS);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    close_second();
    close_all();
}

static void addresses_may_begin_at_zero(void) {
    open_all();
    struct ibv_mw *mw = alloc(IBV_MW_TYPE_2), *other = alloc(IBV_MW_TYPE_1);
    bind_2(mw, RIGHTS | IBV_ACCESS_ZERO_BASED);
    struct address to = { .rkey = mw->rkey };
    memset(a.buffer, 'x', LENGTH);
    expect_access(&a, IBV_WR_RDMA_WRITE, &to, 0, LENGTH, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(b.buffer + START, a.buffer, LENGTH), 0);
    struct ibv_mw_bind bind = { .bind_info = part(region, START, LENGTH, RIGHTS | IBV_ACCESS_ZERO_BASED) };
    CHECK_EQ(ibv_bind_mw(b.qp, other, &bind), EINVAL);
    if (!is_soft_roce()) {
        expect_access(&a, IBV_WR_RDMA_READ, &to, LENGTH, 1, IBV_WC_REM_ACCESS_ERR);
    }
    CHECK_EQ(ibv_dealloc_mw(other), 0);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    close_all();
}

/* Atomic operations do not reach memory that is not aligned either, whatever the address says. */
static void so_may_those_of_a_region(void) {
    if (!is_embedded()) {
        fprintf(stderr, "    skipped: the flag changes nothing for soft-RoCE\n");
        return;
    }
    open_all();
    struct ibv_mr *mr = ibv_reg_mr(b.pd, b.buffer + 4, 64, defaults.access | IBV_ACCESS_ZERO_BASED);
    CHECK(mr != NULL);
    struct address to = { .rkey = mr->rkey };
    a.buffer[0] = 'x';
    expect_access(&a, IBV_WR_RDMA_WRITE, &to, 63, 1, IBV_WC_SUCCESS);
    CHECK_EQ(b.buffer[67], 'x');
    expect_access(&a, IBV_WR_ATOMIC_FETCH_AND_ADD, &to, 0, 8, IBV_WC_REM_INV_REQ_ERR);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    close_all();
}

/* ---- until when ---- */

/* Each message lends the window anew, and the answer gives it back. All requests of a round are in one list. */
static void a_peer_gives_windows_back(void) {
    open_all();
    struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
    for (uint64_t i = 0; i < 600; i++) { /* each key part twice */
        char *lent = b.buffer + START;
        struct ibv_sge sge = { (uintptr_t) b.buffer, sizeof(uint32_t), b.mr->lkey };
        struct ibv_send_wr wrs[2] = {
            { .wr_id = 1, .next = &wrs[1], .opcode = IBV_WR_BIND_MW,
              .bind_mw = { mw, ibv_inc_rkey(mw->rkey), part(region, START, LENGTH, IBV_ACCESS_REMOTE_WRITE) } },
            { .wr_id = 2, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 },
        }, *bad;
        uint32_t key = wrs[0].bind_mw.rkey;
        memcpy(b.buffer, &key, sizeof(key));
        CHECK_EQ(post_recv(&a, i, 0, 64), 0);
        CHECK_EQ(post_recv(&b, i, 0, 64), 0);
        CHECK_EQ(b.context->ops.post_send(b.qp, wrs, &bad), 0);
        mw->rkey = key;
        expect_op(a.recv_cq, i, IBV_WC_RECV);
        struct address to = { .buffer = (uintptr_t) b.buffer };
        memcpy(&to.rkey, a.buffer, sizeof(to.rkey));
        memcpy(a.buffer + 64, &i, sizeof(i));
        CHECK_EQ(post_rdma(&a, 3, IBV_WR_RDMA_WRITE, 0, 64, sizeof(i), &to, START), 0);
        CHECK_EQ(post_invalidate(&a, 4, IBV_WR_SEND_WITH_INV, to.rkey), 0);
        expect_op(a.send_cq, 3, IBV_WC_RDMA_WRITE);
        expect_op(a.send_cq, 4, IBV_WC_SEND);
        expect_op(b.send_cq, 1, IBV_WC_BIND_MW);
        expect_op(b.send_cq, 2, IBV_WC_SEND);
        struct ibv_wc wc = next_wc(b.recv_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.opcode, IBV_WC_RECV);
        /* The library of soft-RoCE hands on the flag as the kernel has it: IB_WC_WITH_INVALIDATE of ib_verbs.h. */
        CHECK_EQ(wc.wc_flags & (IBV_WC_WITH_INV | IBV_WC_WITH_IMM | IBV_WC_IP_CSUM_OK),
                 DEVICE_OR_SOFT_ROCE(IBV_WC_WITH_INV, IBV_WC_IP_CSUM_OK));
        CHECK_EQ(wc.invalidated_rkey, key);
        CHECK_EQ(memcmp(lent, &i, sizeof(i)), 0);
    }
    if (is_embedded()) { /* the owner may have been about to do the same; soft-RoCE uses what is not there any more */
        CHECK_EQ(post_invalidate(&b, 5, IBV_WR_LOCAL_INV, mw->rkey), 0);
        expect_op(b.send_cq, 5, IBV_WC_LOCAL_INV);
    }
    struct address to = at(mw);
    expect_access(&a, IBV_WR_RDMA_WRITE, &to, START, 8, IBV_WC_REM_ACCESS_ERR);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    close_all();
}

static void a_peer_gives_back_what_it_has_only(void) {
    for (int i = 0; i < 4; i++) {
        open_all();
        struct ibv_mw *type_1 = alloc(IBV_MW_TYPE_1), *type_2 = alloc(IBV_MW_TYPE_2);
        bind_1(type_1, region, 0, 64);
        bind_2(type_2, RIGHTS);
        const uint32_t keys[] = { type_1->rkey, ibv_inc_rkey(type_2->rkey), region->rkey, 0xdeadbeef };
        CHECK_EQ(post_recv(&b, 7, 0, 64), 0);
        CHECK_EQ(post_invalidate(&a, 6, IBV_WR_SEND_WITH_INV, keys[i]), 0);
        struct ibv_wc wc = next_wc(b.recv_cq);
        CHECK_EQ(wc.wr_id, 7);
        CHECK_EQ(wc.status, IBV_WC_REM_INV_REQ_ERR);
        if (!is_soft_roce()) { /* soft-RoCE leaves the peer without an answer */
            expect_wc(a.send_cq, 6, IBV_WC_REM_ACCESS_ERR);
        }
        expect_state(b.qp, IBV_QPS_ERR);
        CHECK_EQ(ibv_dealloc_mw(type_1), 0);
        CHECK_EQ(ibv_dealloc_mw(type_2), 0);
        close_all();
    }
}

static void a_region_stays_while_windows_are_bound_to_it(void) {
    open_all();
    struct ibv_mw *type_1 = alloc(IBV_MW_TYPE_1), *type_2 = alloc(IBV_MW_TYPE_2);
    bind_1(type_1, region, 0, 64);
    bind_2(type_2, RIGHTS);
    CHECK_EQ(ibv_dereg_mr(region), DEVICE_OR_SOFT_ROCE(EBUSY, EINVAL));
    CHECK_EQ(post_invalidate(&b, 2, IBV_WR_LOCAL_INV, type_2->rkey), 0);
    expect_op(b.send_cq, 2, IBV_WC_LOCAL_INV);
    CHECK_EQ(ibv_dereg_mr(region), DEVICE_OR_SOFT_ROCE(EBUSY, EINVAL));
    if (is_embedded()) { /* soft-RoCE does not look */
        CHECK_EQ(ibv_rereg_mr(region, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_CMD);
        CHECK_EQ(errno, EBUSY);
    }
    struct address to = at(type_1);
    expect_access(&a, IBV_WR_RDMA_READ, &to, 0, 64, IBV_WC_SUCCESS); /* the failed requests had no effect */
    CHECK_EQ(ibv_dealloc_mw(type_1), 0); /* bound as it is */
    expect_access(&a, IBV_WR_RDMA_READ, &to, 0, 64, IBV_WC_REM_ACCESS_ERR);
    CHECK_EQ(ibv_dealloc_mw(type_2), 0);
    close_all();
}

static void destroying_the_queue_pair_closes_its_windows(void) {
    if (!is_embedded()) {
        fprintf(stderr, "    skipped: soft-RoCE's windows keep the queue pair that they are bound through\n");
        return;
    }
    open_all();
    struct ibv_mw *first = alloc(IBV_MW_TYPE_2), *second = alloc(IBV_MW_TYPE_2), *third = alloc(IBV_MW_TYPE_2);
    bind_2(first, RIGHTS);
    bind_2(second, RIGHTS);
    bind_2(third, RIGHTS);
    CHECK_EQ(ibv_dealloc_mw(second), 0); /* between the others */
    CHECK_EQ(ibv_dereg_mr(region), EBUSY);
    CHECK_EQ(ibv_destroy_qp(b.qp), 0);
    b.qp = NULL;
    CHECK_EQ(ibv_dereg_mr(region), 0);
    CHECK_EQ(ibv_dealloc_mw(third), 0);
    CHECK_EQ(ibv_dealloc_mw(first), 0);
    pair_close(&a, &b);
}

static struct ibv_qp_ex *replace_qp(struct end *end) {
    CHECK_EQ(ibv_destroy_qp(end->qp), 0);
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = end->send_cq, .recv_cq = end->recv_cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1, .pd = end->pd,
        .cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_BIND_MW
                | IBV_QP_EX_WITH_LOCAL_INV,
    };
    end->qp = ibv_create_qp_ex(end->context, &attr);
    CHECK(end->qp != NULL);
    return ibv_qp_to_qp_ex(end->qp);
}

/* ibv_wr_post(3) */
static void windows_are_bound_and_invalidated_by_functions_too(void) {
    end_open(&a, &defaults);
    end_open(&b, &defaults);
    struct ibv_qp_ex *peer = replace_qp(&a), *own = replace_qp(&b);
    end_connect(&a, b.qp->qp_num);
    end_connect(&b, a.qp->qp_num);
    region = ibv_reg_mr(b.pd, b.buffer, REGION, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
    struct ibv_mw_bind_info info = part(region, START, LENGTH, RIGHTS);
    for (uint32_t i = 0; i < 2; i++) { /* given back by the peer, then taken back */
        uint32_t key = ibv_inc_rkey(mw->rkey);
        ibv_wr_start(own);
        own->wr_id = 1;
        own->wr_flags = IBV_SEND_SIGNALED;
        ibv_wr_bind_mw(own, mw, key, &info);
        CHECK_EQ(ibv_wr_complete(own), 0);
        expect_op(b.send_cq, 1, IBV_WC_BIND_MW);
        mw->rkey = key;
        struct address to = at(mw);
        expect_access(&a, IBV_WR_RDMA_WRITE, &to, START, 8, IBV_WC_SUCCESS);
        struct ibv_qp_ex *ex = i == 0 ? peer : own;
        CHECK_EQ(post_recv(&b, 3, 0, 8), 0);
        ibv_wr_start(ex);
        ex->wr_id = 2;
        ex->wr_flags = IBV_SEND_SIGNALED;
        if (i == 0) {
            ibv_wr_send_inv(ex, key);
        } else {
            ibv_wr_local_inv(ex, key);
        }
        CHECK_EQ(ibv_wr_complete(ex), 0);
        expect_op(i == 0 ? a.send_cq : b.send_cq, 2, i == 0 ? IBV_WC_SEND : IBV_WC_LOCAL_INV);
        if (i == 0) {
            CHECK_EQ(next_wc(b.recv_cq).invalidated_rkey, key);
        }
    }
    struct address to = at(mw);
    expect_access(&a, IBV_WR_RDMA_WRITE, &to, START, 8, IBV_WC_REM_ACCESS_ERR);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    close_all();
}

/* ---- what cannot be bound or invalidated ---- */

static void expect_refused(uint64_t wr_id, enum ibv_wc_status status) {
    CHECK_EQ(post_send(&b, wr_id + 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.send_cq, wr_id, status);
    expect_wc(b.send_cq, wr_id + 1, IBV_WC_WR_FLUSH_ERR);
    expect_state(b.qp, IBV_QPS_ERR);
}

static void bindings_that_are_not_allowed_fail(void) {
    enum { NO_BIND, NO_WRITE, BEFORE, BEHIND, LONG, NOTHING, BOUND, OTHER_WINDOW, RIGHT, FOREIGN, ZERO, GONE, CASES };
    for (int i = 0; i < (is_embedded() ? CASES : RIGHT); i++) {
        open_all();
        struct ibv_mr *no_bind = ibv_reg_mr(b.pd, b.buffer, REGION, defaults.access);
        struct ibv_mr *no_write = ibv_reg_mr(b.pd, b.buffer, REGION, IBV_ACCESS_MW_BIND);
        struct ibv_mr *zero = !is_embedded() ? NULL
                : ibv_reg_mr(b.pd, b.buffer, REGION, IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED);
        struct ibv_pd *pd = ibv_alloc_pd(b.context);
        CHECK(pd != NULL);
        struct ibv_mr *foreign = ibv_reg_mr(pd, b.buffer, REGION, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
        struct ibv_mr gone = { .lkey = region->lkey ^ 0x5a5a00 };
        struct ibv_mw *mw = alloc(IBV_MW_TYPE_2), *other = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
        CHECK(no_bind != NULL && no_write != NULL && foreign != NULL && other != NULL);
        if (i == BOUND) {
            bind_2(mw, RIGHTS);
        }
        struct ibv_mw_bind_info info = part(region, START, LENGTH, IBV_ACCESS_REMOTE_WRITE);
        switch (i) {
            case NO_BIND: info.mr = no_bind; break;
            case NO_WRITE: info.mr = no_write; break;
            case BEFORE: info.addr = (uintptr_t) b.buffer - 1; break;
            case BEHIND: info.addr = (uintptr_t) b.buffer + REGION - LENGTH + 1; break;
            case LONG: info.length = (uint64_t) 1 << 40; break;
            case NOTHING: info.length = 0; break;
            case RIGHT: info.mw_access_flags |= 1u << 19; break;
            case FOREIGN: info.mr = foreign; break;
            case ZERO: info = (struct ibv_mw_bind_info) { zero, 0, LENGTH, IBV_ACCESS_REMOTE_READ }; break;
            case GONE: info.mr = &gone; break;
            default: break;
        }
        fprintf(stderr, "    case %d\n", i);
        CHECK_EQ(post_bind(3, i == OTHER_WINDOW ? other : mw, info), 0);
        expect_refused(3, IBV_WC_MW_BIND_ERR);
        CHECK_EQ(ibv_dealloc_mw(mw), 0);
        CHECK_EQ(ibv_dealloc_mw(other), 0);
        CHECK_EQ(ibv_dereg_mr(foreign), 0);
        CHECK_EQ(ibv_dealloc_pd(pd), 0);
        CHECK(zero == NULL || ibv_dereg_mr(zero) == 0);
        CHECK_EQ(ibv_dereg_mr(no_write), 0);
        CHECK_EQ(ibv_dereg_mr(no_bind), 0);
        close_all();
    }
}

static void only_windows_of_type_2_are_invalidated_by_their_key(void) {
    for (int i = 0; i < 4; i++) {
        open_all();
        struct ibv_mw *type_1 = alloc(IBV_MW_TYPE_1), *type_2 = alloc(IBV_MW_TYPE_2);
        bind_1(type_1, region, 0, 64);
        bind_2(type_2, RIGHTS);
        const uint32_t keys[] = { type_1->rkey, ibv_inc_rkey(type_2->rkey), region->rkey, 0xdeadbeef };
        CHECK_EQ(post_invalidate(&b, 3, IBV_WR_LOCAL_INV, keys[i]), 0);
        expect_refused(3, DEVICE_OR_SOFT_ROCE(IBV_WC_MW_BIND_ERR, IBV_WC_LOC_QP_OP_ERR));
        CHECK_EQ(ibv_dealloc_mw(type_1), 0);
        CHECK_EQ(ibv_dealloc_mw(type_2), 0);
        close_all();
    }
}

static void windows_are_invalidated_through_their_queue_pair_only(void) {
    if (!is_embedded()) {
        fprintf(stderr, "    skipped: soft-RoCE does not look\n");
        return;
    }
    open_all();
    open_second();
    struct ibv_mw *mw = alloc(IBV_MW_TYPE_2);
    bind_2(mw, RIGHTS);
    CHECK_EQ(post_invalidate(&d, 3, IBV_WR_LOCAL_INV, mw->rkey), 0);
    expect_wc(d.send_cq, 3, IBV_WC_MW_BIND_ERR);
    struct address to = at(mw);
    expect_access(&a, IBV_WR_RDMA_READ, &to, START, 8, IBV_WC_SUCCESS);
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    close_second();
    close_all();
}

static void posting_checks_what_it_can(void) {
    open_all();
    struct ibv_mw *type_1 = alloc(IBV_MW_TYPE_1), *type_2 = alloc(IBV_MW_TYPE_2);
    struct ibv_mw_bind bind = { .bind_info = part(region, START, LENGTH, RIGHTS) };
    CHECK_EQ(ibv_bind_mw(b.qp, type_2, &bind), EINVAL);
    bind.bind_info.mr = a.mr; /* region of another domain */
    CHECK_EQ(ibv_bind_mw(b.qp, type_1, &bind), EPERM);
    if (is_embedded()) { /* rdma-core's soft-RoCE library looks into both */
        CHECK_EQ(post_bind(1, type_2, part(NULL, START, LENGTH, RIGHTS)), EINVAL);
        struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW }, *bad = NULL;
        CHECK_EQ(b.context->ops.post_send(b.qp, &wr, &bad), EINVAL);
        CHECK(bad == &wr);
    }
    CHECK_EQ(ibv_dealloc_mw(type_1), 0);
    CHECK_EQ(ibv_dealloc_mw(type_2), 0);
    close_all();
}

int main(void) {
    RUN(the_device_says_that_it_has_windows);
    RUN(a_window_opens_a_part_until_it_is_invalidated);
    RUN(a_large_window_is_read_and_written);
    RUN(what_a_window_does_not_open_is_refused);
    RUN(type_1_is_for_all_queue_pairs_of_the_domain_and_moves);
    RUN(type_2_is_for_the_queue_pair_that_it_was_bound_through);
    RUN(addresses_may_begin_at_zero);
    RUN(so_may_those_of_a_region);
    RUN(a_peer_gives_windows_back);
    RUN(a_peer_gives_back_what_it_has_only);
    RUN(a_region_stays_while_windows_are_bound_to_it);
    RUN(destroying_the_queue_pair_closes_its_windows);
    RUN(windows_are_bound_and_invalidated_by_functions_too);
    RUN(bindings_that_are_not_allowed_fail);
    RUN(only_windows_of_type_2_are_invalidated_by_their_key);
    RUN(windows_are_invalidated_through_their_queue_pair_only);
    RUN(posting_checks_what_it_can);
    return 0;
}
