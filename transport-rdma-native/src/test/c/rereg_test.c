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
/* Changing what is there: ibv_rereg_mr(3), ibv_resize_cq(3). */
#include <sys/mman.h>

#include "check.h"
#include "pair.h"
#include "provider.h"

#define ALL (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define REREG_FAILS(code, error, ...) CHECK((errno = 0, ibv_rereg_mr(__VA_ARGS__)) == (code) && errno == (error))

static void write_to(struct end *a, struct end *b, char byte, size_t offset, enum ibv_wc_status status) {
    struct address to = end_address(b);
    a->buffer[0] = byte;
    CHECK_EQ(post_rdma(a, 1, IBV_WR_RDMA_WRITE, 0, 0, 1, &to, offset), 0);
    expect_wc(a->send_cq, 1, status);
}

static void a_region_moves_and_keeps_its_keys(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    char *elsewhere = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(elsewhere != MAP_FAILED);
    uint32_t lkey = b.mr->lkey, rkey = b.mr->rkey;
    CHECK_EQ(ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, elsewhere + 1, 4096, 0), 0);
    CHECK(b.mr->addr == elsewhere + 1);
    CHECK_EQ(b.mr->length, 4096);
    CHECK_EQ(b.mr->lkey, lkey);
    CHECK_EQ(b.mr->rkey, rkey);
    char *buffer = b.buffer;
    b.buffer = elsewhere;
    write_to(&a, &b, 7, 4096, IBV_WC_SUCCESS);
    CHECK_EQ(elsewhere[4096], 7);
    write_to(&a, &b, 8, 4097, IBV_WC_REM_ACCESS_ERR);
    CHECK_EQ(elsewhere[4097], 0);
    b.buffer = buffer;
    pair_close(&a, &b);
    munmap(elsewhere, 8192);
}

static void a_region_changes_what_peers_may_do(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    CHECK_EQ(ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL), 0);
    write_to(&a, &b, 5, 0, IBV_WC_SUCCESS);
    CHECK_EQ(b.buffer[0], 5);
    CHECK_EQ(ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE), 0);
    write_to(&a, &b, 6, 0, IBV_WC_REM_ACCESS_ERR);
    CHECK_EQ(b.buffer[0], 5);
    pair_close(&a, &b);
}

static void a_region_changes_its_protection_domain(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct ibv_pd *other = ibv_alloc_pd(b.context);
    CHECK(other != NULL);
    CHECK_EQ(ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0), 0);
    CHECK(b.mr->pd == other);
    CHECK_EQ(ibv_dealloc_pd(other), EBUSY);
    write_to(&a, &b, 6, 0, IBV_WC_REM_ACCESS_ERR);
    CHECK_EQ(ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_PD, b.pd, NULL, 0, 0), 0);
    CHECK_EQ(ibv_dealloc_pd(other), 0);
    pair_close(&a, &b);
}

static void a_change_that_is_wrong_says_whose_fault_it_is(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    struct ibv_mr *mr = b.mr;
    REREG_FAILS(IBV_REREG_MR_ERR_INPUT, EINVAL, mr, 8, NULL, NULL, 0, 0);
    REREG_FAILS(IBV_REREG_MR_ERR_INPUT, EINVAL, mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL, 4096, 0);
    REREG_FAILS(IBV_REREG_MR_ERR_INPUT, EINVAL, mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, b.buffer, 0, 0);
    REREG_FAILS(IBV_REREG_MR_ERR_INPUT, EINVAL, mr, IBV_REREG_MR_CHANGE_PD, b.pd, NULL, 0, IBV_ACCESS_LOCAL_WRITE);
    REREG_FAILS(IBV_REREG_MR_ERR_CMD, EINVAL, mr, 0, NULL, NULL, 0, 0);
    REREG_FAILS(IBV_REREG_MR_ERR_CMD, EINVAL, mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0);
    /* Domain of another context. */
    REREG_FAILS(IBV_REREG_MR_ERR_CMD, EINVAL, mr, IBV_REREG_MR_CHANGE_PD, a.pd, NULL, 0, 0);
    REREG_FAILS(IBV_REREG_MR_ERR_CMD, EINVAL, mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE);
    char *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(nothing != MAP_FAILED);
    REREG_FAILS(IBV_REREG_MR_ERR_CMD, EFAULT, mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, nothing, 4096, 0);
    CHECK(mr->addr == b.buffer);
    write_to(&a, &b, 9, 0, IBV_WC_SUCCESS);
    CHECK_EQ(b.buffer[0], 9);
    munmap(nothing, 4096);
    pair_close(&a, &b);
}

/* ---- completion queues ---- */

static void a_completion_queue_grows_with_what_is_in_it(void) {
    struct options options = defaults;
    options.cqe = 4;
    options.separate_cqs = true;
    struct end a, b;
    pair_open(&a, &b, &options);
    struct address to = end_address(&b);
    int size = a.send_cq->cqe;
    for (int i = 0; i < size - 1; i++) { /* so that the ring has gone round when it is copied */
        CHECK_EQ(post_rdma(&a, 100, IBV_WR_RDMA_WRITE, 0, 0, 1, &to, 0), 0);
        expect_wc(a.send_cq, 100, IBV_WC_SUCCESS);
    }
    for (int i = 0; i < size; i++) {
        CHECK_EQ(post_rdma(&a, (uint64_t) i, IBV_WR_RDMA_WRITE, 0, 0, 1, &to, 0), 0);
    }
    CHECK_EQ(ibv_resize_cq(a.send_cq, 32), 0);
    CHECK(a.send_cq->cqe >= 32);
    for (int i = size; i < 32; i++) {
        CHECK_EQ(post_rdma(&a, (uint64_t) i, IBV_WR_RDMA_WRITE, 0, 0, 1, &to, 0), 0);
    }
    settle();
    for (uint64_t i = 0; i < 32; i++) {
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    CHECK_EQ(ibv_resize_cq(a.send_cq, 2), 0);
    CHECK(a.send_cq->cqe >= 2);
    pair_talk(&a, &b);
    pair_close(&a, &b);
}

static void a_completion_queue_has_room_for_what_is_in_it(void) {
    struct options options = defaults;
    options.cqe = 16;
    options.separate_cqs = true;
    options.sig_all = false;
    struct end a, b;
    pair_open(&a, &b, &options);
    struct address to = end_address(&b);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_EQ(post_rdma(&a, i, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 1, &to, 0), 0);
    }
    /* The peer has acknowledged them before it answers a message that came after them. */
    CHECK_EQ(post_recv(&b, 50, 64, 8), 0);
    CHECK_EQ(post_recv(&a, 51, 64, 8), 0);
    CHECK_EQ(post_send(&a, 52, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.recv_cq, 50, IBV_WC_SUCCESS);
    CHECK_EQ(post_send(&b, 53, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.recv_cq, 51, IBV_WC_SUCCESS);
    settle();
    CHECK_EQ(ibv_resize_cq(a.send_cq, 3), EINVAL);
    CHECK_EQ(ibv_resize_cq(a.send_cq, 0), EINVAL);
    struct ibv_device_attr device;
    CHECK_EQ(ibv_query_device(a.context, &device), 0);
    CHECK_EQ(ibv_resize_cq(a.send_cq, device.max_cqe + 1), EINVAL);
    CHECK_EQ(ibv_resize_cq(a.send_cq, 4), 0);
    for (uint64_t i = 0; i < 4; i++) {
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    pair_close(&a, &b);
}

static void a_gid_table_has_room_for_all_or_says_so(void) {
    int gid_index;
    struct ibv_context *context = open_test_device(&gid_index);
    struct ibv_gid_entry entries[64];
    ssize_t count = ibv_query_gid_table(context, entries, 64, 0);
    CHECK(count > 0);
    CHECK_EQ(ibv_query_gid_table(context, entries, 0, 0), -EINVAL);
    CHECK_EQ(ibv_query_gid_table(context, entries, (size_t) count - 1, 0), -EINVAL);
    CHECK_EQ(ibv_query_gid_table(context, entries, (size_t) count, 0), count);
    CHECK(ibv_query_gid_table(context, entries, 64, 1) < 0);
    CHECK_EQ(ibv_close_device(context), 0);
}

int main(void) {
    if (!is_soft_roce()) {
        /* The driver in libibverbs has no ibv_rereg_mr() before rdma-core 45, and that moves nothing. */
        RUN(a_region_moves_and_keeps_its_keys);
        RUN(a_region_changes_what_peers_may_do);
        RUN(a_region_changes_its_protection_domain);
        RUN(a_change_that_is_wrong_says_whose_fault_it_is);
    }
    RUN(a_completion_queue_grows_with_what_is_in_it);
    RUN(a_completion_queue_has_room_for_what_is_in_it);
    RUN(a_gid_table_has_room_for_all_or_says_so);
    return 0;
}
