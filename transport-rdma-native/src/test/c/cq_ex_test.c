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
/* Completion queues of ibv_create_cq_ex(3): batches, what is read of a completion, timestamps. */
#include <arpa/inet.h>

#include "check.h"
#include "pair.h"
#include "provider.h"
#include "ud_support.h"

#define TIMES (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define MAKES_NOTHING(error, call) CHECK((errno = 0, (call) == NULL) && errno == (error))

/* Two queue pairs that are connected to each other, with a queue for all their completions. */
struct both {
    struct end shared, a, b;
    struct ibv_cq_ex *cq;
};

static struct ibv_cq_ex *new_cq(struct ibv_context *context, uint32_t entries, uint64_t wc_flags) {
    struct ibv_cq_init_attr_ex attr = { .cqe = entries, .wc_flags = wc_flags };
    return ibv_create_cq_ex(context, &attr);
}

static void both_open(struct both *both, const struct options *options, uint64_t wc_flags) {
    end_open(&both->shared, options);
    both->cq = new_cq(both->shared.context, 64, wc_flags);
    CHECK(both->cq != NULL);
    struct end on = both->shared;
    on.send_cq = on.recv_cq = ibv_cq_ex_to_cq(both->cq);
    end_open_on(&both->a, &on, options);
    end_open_on(&both->b, &on, options);
}

static void both_connect(struct both *both) {
    end_connect(&both->a, both->b.qp->qp_num);
    end_connect(&both->b, both->a.qp->qp_num);
}

static void both_close(struct both *both) {
    CHECK_EQ(ibv_destroy_qp(both->a.qp), 0);
    CHECK_EQ(ibv_destroy_qp(both->b.qp), 0);
    CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(both->cq)), 0);
    end_close(&both->shared);
}

static int begin(struct ibv_cq_ex *cq) {
    struct ibv_poll_cq_attr attr = { 0 };
    return ibv_start_poll(cq, &attr);
}

/* Waits for a completion; in a batch afterwards. */
static void begin_with(struct ibv_cq_ex *cq, uint64_t wr_id, enum ibv_wc_status status) {
    CHECK_EVENTUALLY(begin(cq) == 0);
    CHECK_EQ(cq->wr_id, wr_id);
    CHECK_EQ(cq->status, status);
}

static void an_empty_queue_begins_no_batch(void) {
    struct both both;
    both_open(&both, &defaults, 0);
    both_connect(&both);
    CHECK_EQ(begin(both.cq), ENOENT);
    CHECK_EQ(begin(both.cq), ENOENT); /* a second batch does not wait for the first one's end */
    if (is_embedded()) { /* soft-RoCE's driver does not look at it */
        struct ibv_poll_cq_attr unknown = { .comp_mask = 1 };
        CHECK_EQ(ibv_start_poll(both.cq, &unknown), EINVAL);
    }
    pair_talk(&both.a, &both.b); /* polled by ibv_poll_cq() */
    both_close(&both);
}

static void a_batch_has_one_completion_after_the_other(void) {
    struct both both;
    both_open(&both, &defaults, IBV_WC_STANDARD_FLAGS);
    both_connect(&both);
    CHECK_EQ(post_recv(&both.b, 1, 0, 4096), 0);
    CHECK_EQ(post_send(&both.a, 2, IBV_WR_SEND_WITH_IMM, 0, 0, 100), 0);
    bool received = false, sent = false;
    while (!received || !sent) {
        CHECK_EVENTUALLY(begin(both.cq) == 0);
        do {
            CHECK_EQ(both.cq->status, IBV_WC_SUCCESS);
            if (both.cq->wr_id == 1) {
                CHECK(!received);
                received = true;
                CHECK_EQ(ibv_wc_read_opcode(both.cq), IBV_WC_RECV);
                CHECK_EQ(ibv_wc_read_byte_len(both.cq), 100);
                CHECK_EQ(ibv_wc_read_qp_num(both.cq), both.b.qp->qp_num);
                CHECK_EQ(ibv_wc_read_wc_flags(both.cq) & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM);
                CHECK_EQ(ntohl(ibv_wc_read_imm_data(both.cq)), 2);
            } else {
                CHECK(!sent);
                sent = true;
                CHECK_EQ(both.cq->wr_id, 2);
                CHECK_EQ(ibv_wc_read_opcode(both.cq), IBV_WC_SEND);
                CHECK_EQ(ibv_wc_read_qp_num(both.cq), both.a.qp->qp_num);
            }
        } while (ibv_next_poll(both.cq) == 0);
        ibv_end_poll(both.cq);
    }
    both_close(&both);
}

/* A program with one request under way at a time answers inside the batch. */
static void requests_are_posted_inside_a_batch(void) {
    struct both both;
    both_open(&both, &defaults, IBV_WC_STANDARD_FLAGS);
    both_connect(&both);
    struct address to = end_address(&both.b);
    CHECK_EQ(post_rdma(&both.a, 0, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 64), 0);
    for (uint64_t i = 0; i < 200; i++) {
        begin_with(both.cq, i, IBV_WC_SUCCESS);
        CHECK_EQ(post_rdma(&both.a, i + 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 64), 0);
        ibv_end_poll(both.cq);
    }
    begin_with(both.cq, 200, IBV_WC_SUCCESS);
    ibv_end_poll(both.cq);
    both_close(&both);
}

static void a_failure_has_its_status(void) {
    struct both both;
    both_open(&both, &defaults, IBV_WC_STANDARD_FLAGS);
    both_connect(&both);
    CHECK_EQ(post_recv(&both.a, 9, 0, 8), 0);
    struct address to = end_address(&both.b);
    to.rkey ^= 0x5a5a00;
    CHECK_EQ(post_rdma(&both.a, 1, IBV_WR_RDMA_WRITE, 0, 0, 8, &to, 0), 0);
    begin_with(both.cq, 1, IBV_WC_REM_ACCESS_ERR);
    (void) ibv_wc_read_vendor_err(both.cq);
    ibv_end_poll(both.cq);
    begin_with(both.cq, 9, IBV_WC_WR_FLUSH_ERR);
    ibv_end_poll(both.cq);
    both_close(&both);
}

static void a_datagram_says_whose_it_is(void) {
    struct both both;
    struct options options = datagrams();
    both_open(&both, &options, IBV_WC_STANDARD_FLAGS);
    ud_ready(&both.a);
    ud_ready(&both.b);
    struct ibv_ah *ah = own_ah(&both.shared);
    CHECK_EQ(post_recv(&both.b, 1, 0, 256), 0);
    CHECK_EQ(post_datagram(&both.a, 2, 1024, 32, ah, both.b.qp->qp_num), 0);
    int seen = 0;
    while (seen < 2) {
        CHECK_EVENTUALLY(begin(both.cq) == 0);
        CHECK_EQ(both.cq->status, IBV_WC_SUCCESS);
        if (both.cq->wr_id == 1) {
            CHECK_EQ(ibv_wc_read_src_qp(both.cq), both.a.qp->qp_num);
            CHECK_EQ(ibv_wc_read_wc_flags(both.cq) & IBV_WC_GRH, IBV_WC_GRH);
            CHECK_EQ(ibv_wc_read_byte_len(both.cq), GRH + 32);
            CHECK_EQ(ibv_wc_read_sl(both.cq), 0);
        }
        seen++;
        ibv_end_poll(both.cq);
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    both_close(&both);
}

/* ---- times ---- */

static uint64_t device_now(struct ibv_context *context) {
    struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
    CHECK_EQ(ibv_query_rt_values_ex(context, &values), 0);
    CHECK_EQ(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
    return (uint64_t) values.raw_clock.tv_nsec;
}

/* Writes the byte at `offset` to the one behind it, and sees it there. */
static void write_flag(struct end *from, const struct end *to, size_t offset) {
    struct address address = end_address(to);
    CHECK_EQ(post_rdma(from, 0, IBV_WR_RDMA_WRITE, 0, offset, 1, &address, offset + 1), 0);
    CHECK_EVENTUALLY(*(volatile char *) &to->buffer[offset + 1] == 1);
}

/*
 * Waits, without a poll, until the completions of this end's requests are made: the peer has acknowledged them before
 * it answers. Only signaled requests complete here.
 */
static void await_completions(struct end *end, struct end *peer) {
    memset(end->buffer + 1000, 0, 3); /* both have the same */
    end->buffer[1000] = 1;
    write_flag(end, peer, 1000);
    write_flag(peer, end, 1001);
}

static struct options unsignaled(void) {
    struct options options = defaults;
    options.sig_all = false;
    return options;
}

static void completions_have_the_time_at_which_they_were_made(void) {
    struct both both;
    struct options options = unsignaled();
    both_open(&both, &options, TIMES);
    both_connect(&both);
    struct ibv_device_attr_ex device;
    CHECK_EQ(ibv_query_device_ex(both.shared.context, NULL, &device), 0);
    CHECK(device.completion_timestamp_mask != 0 && device.hca_core_clock != 0);
    struct address to = end_address(&both.b);
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    uint64_t before = device_now(both.shared.context), wall_before = (uint64_t) wall.tv_sec * 1000000000 + wall.tv_nsec;
    for (uint64_t i = 0; i < 8; i++) {
        CHECK_EQ(post_rdma(&both.a, i, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 8, &to, 64), 0);
    }
    await_completions(&both.a, &both.b);
    uint64_t made = device_now(both.shared.context), last = before, last_wall = wall_before;
    CHECK_EQ(ibv_resize_cq(ibv_cq_ex_to_cq(both.cq), 128), 0); /* resizing keeps the times */
    for (uint64_t i = 0; i < 8; i++) {
        begin_with(both.cq, i, IBV_WC_SUCCESS);
        uint64_t time = ibv_wc_read_completion_ts(both.cq), wall_time = ibv_wc_read_completion_wallclock_ns(both.cq);
        CHECK(time >= last && time <= made);
        CHECK(wall_time >= last_wall);
        last = time;
        last_wall = wall_time;
        ibv_end_poll(both.cq);
    }
    CHECK(last > before);
    both_close(&both);
}

static void a_queue_pair_that_goes_leaves_the_times_of_others(void) {
    struct both both;
    struct options options = unsignaled();
    both_open(&both, &options, TIMES);
    both_connect(&both);
    struct address to_b = end_address(&both.b), to_a = end_address(&both.a);
    CHECK_EQ(post_rdma(&both.a, 1, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 8, &to_b, 64), 0);
    await_completions(&both.a, &both.b);
    uint64_t between = device_now(both.shared.context);
    CHECK_EQ(post_rdma(&both.b, 2, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, 8, &to_a, 64), 0);
    await_completions(&both.b, &both.a);
    CHECK_EQ(ibv_destroy_qp(both.a.qp), 0);
    begin_with(both.cq, 2, IBV_WC_SUCCESS);
    CHECK(ibv_wc_read_completion_ts(both.cq) >= between);
    CHECK_EQ(ibv_next_poll(both.cq), ENOENT);
    ibv_end_poll(both.cq);
    struct end on = both.shared;
    end_open_on(&both.a, &on, &defaults);
    both_close(&both);
}

static void a_clock_that_is_not_known_is_not_read(void) {
    int gid_index;
    struct ibv_context *context = open_test_device(&gid_index);
    struct ibv_values_ex values = { .comp_mask = 2 };
    CHECK_EQ(ibv_query_rt_values_ex(context, &values), EINVAL);
    uint64_t first = device_now(context);
    CHECK(device_now(context) >= first);
    CHECK_EQ(ibv_close_device(context), 0);
}

/* ---- what cannot be had ---- */

static void what_a_queue_does_not_tell_is_refused(void) {
    struct end end;
    end_open(&end, &defaults);
    MAKES_NOTHING(EOPNOTSUPP, new_cq(end.context, 8, IBV_WC_EX_WITH_FLOW_TAG));
    MAKES_NOTHING(EOPNOTSUPP, new_cq(end.context, 8, IBV_WC_EX_WITH_CVLAN));
    MAKES_NOTHING(EOPNOTSUPP, new_cq(end.context, 8, UINT64_C(1) << 40));
    MAKES_NOTHING(EINVAL, new_cq(end.context, 0, 0));
    MAKES_NOTHING(EINVAL, new_cq(end.context, UINT32_MAX, 0));
    if (is_embedded()) {
        struct ibv_cq_init_attr_ex unknown = { .cqe = 8, .comp_mask = 4 };
        MAKES_NOTHING(EINVAL, ibv_create_cq_ex(end.context, &unknown));
        struct ibv_cq_init_attr_ex overrun = {
            .cqe = 8, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
        };
        MAKES_NOTHING(EOPNOTSUPP, ibv_create_cq_ex(end.context, &overrun));
    }
    struct ibv_cq *plain = end.send_cq;
    struct ibv_modify_cq_attr moderation = {
        .attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = { .cq_count = 4, .cq_period = 10 },
    };
    CHECK_EQ(ibv_modify_cq(plain, &moderation), EOPNOTSUPP);
    end_close(&end);
}

static void a_queue_is_of_a_parent_domain(void) {
    struct end end;
    end_open(&end, &defaults);
    struct ibv_parent_domain_init_attr of = { .pd = end.pd };
    struct ibv_pd *parent = ibv_alloc_parent_domain(end.context, &of);
    CHECK(parent != NULL);
    struct ibv_cq_init_attr_ex attr = { .cqe = 8, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = end.pd };
    MAKES_NOTHING(EINVAL, ibv_create_cq_ex(end.context, &attr)); /* a protection domain is none */
    attr.parent_domain = NULL;
    MAKES_NOTHING(EINVAL, ibv_create_cq_ex(end.context, &attr));
    attr.parent_domain = parent;
    struct ibv_cq_ex *cq = ibv_create_cq_ex(end.context, &attr);
    CHECK(cq != NULL);
    CHECK_EQ(ibv_dealloc_pd(parent), EBUSY);
    CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
    CHECK_EQ(ibv_dealloc_pd(parent), 0);
    end_close(&end);
}

static void a_basic_shared_queue_is_made_by_either_call(void) {
    struct end end;
    end_open(&end, &defaults);
    struct ibv_srq_init_attr_ex attr = {
        .attr = { .max_wr = 4, .max_sge = 1 }, .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
        .srq_type = IBV_SRQT_BASIC, .pd = end.pd,
    };
    struct ibv_srq *srq = ibv_create_srq_ex(end.context, &attr);
    CHECK(srq != NULL);
    uint32_t number;
    CHECK_EQ(ibv_get_srq_num(srq, &number), EOPNOTSUPP); /* only XRC has numbers */
    CHECK_EQ(ibv_destroy_srq(srq), 0);
    end_close(&end);
}

int main(void) {
    RUN(an_empty_queue_begins_no_batch);
    RUN(a_batch_has_one_completion_after_the_other);
    RUN(requests_are_posted_inside_a_batch);
    RUN(a_failure_has_its_status);
    RUN(a_datagram_says_whose_it_is);
    if (!is_soft_roce()) { /* has neither times nor domains */
        RUN(completions_have_the_time_at_which_they_were_made);
        RUN(a_queue_pair_that_goes_leaves_the_times_of_others);
        RUN(a_clock_that_is_not_known_is_not_read);
        RUN(a_queue_is_of_a_parent_domain);
    }
    RUN(what_a_queue_does_not_tell_is_refused);
    RUN(a_basic_shared_queue_is_made_by_either_call);
    return 0;
}
