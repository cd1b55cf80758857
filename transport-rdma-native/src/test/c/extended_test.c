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
/* The extended context, by which <infiniband/verbs.h> makes the newer calls, and what it has that makes no queue. */
#include <unistd.h>

#include "check.h"
#include "pair.h"
#include "provider.h"
#include "ud_support.h"

#define MAKES_NOTHING(error, call) CHECK((errno = 0, (call) == NULL) && errno == (error))

static void a_device_tells_the_same_by_either_query(void) {
    int gid_index;
    struct ibv_context *context = open_test_device(&gid_index);
    CHECK(verbs_get_ctx(context) != NULL);
    struct ibv_device_attr plain;
    struct ibv_device_attr_ex extended;
    memset(&extended, 0xff, sizeof(extended));
    CHECK_EQ(ibv_query_device(context, &plain), 0);
    CHECK_EQ(ibv_query_device_ex(context, NULL, &extended), 0);
    CHECK(memcmp(&plain.node_guid, &extended.orig_attr.node_guid, sizeof(plain.node_guid)) == 0);
    CHECK_EQ(extended.orig_attr.max_qp, plain.max_qp);
    CHECK_EQ(extended.orig_attr.max_cqe, plain.max_cqe);
    CHECK_EQ(extended.orig_attr.phys_port_cnt, plain.phys_port_cnt);
    CHECK_EQ(extended.phys_port_cnt_ex, plain.phys_port_cnt);
    CHECK_EQ((uint32_t) extended.device_cap_flags_ex, plain.device_cap_flags);
    CHECK_EQ(extended.odp_caps.general_caps, 0);
    CHECK_EQ(extended.max_dm_size, 0);
    CHECK_EQ(extended.raw_packet_caps, 0);
    CHECK_EQ(ibv_close_device(context), 0);
}

/* A program that was built with an older or a newer header has a shorter or a longer struct. */
static void the_caller_says_how_much_it_takes(void) {
    int gid_index;
    struct ibv_context *context = open_test_device(&gid_index);
    struct verbs_context *calls = verbs_get_ctx_op(context, query_device_ex);
    CHECK(calls != NULL);
    struct ibv_query_device_ex_input input = { .comp_mask = 1 };
    union {
        struct ibv_device_attr_ex attr;
        unsigned char bytes[sizeof(struct ibv_device_attr_ex) + 64];
    } room;
    CHECK_EQ(calls->query_device_ex(context, &input, &room.attr, sizeof(room.attr)), EINVAL);
    CHECK_EQ(calls->query_device_ex(context, NULL, &room.attr, sizeof(struct ibv_device_attr) - 1), EINVAL);
    memset(&room, 0xff, sizeof(room));
    CHECK_EQ(calls->query_device_ex(context, NULL, &room.attr, sizeof(struct ibv_device_attr)), 0);
    CHECK(room.attr.orig_attr.max_qp > 0);
    for (size_t i = sizeof(struct ibv_device_attr); i < sizeof(room); i++) {
        CHECK_EQ(room.bytes[i], 0xff);
    }
    CHECK_EQ(calls->query_device_ex(context, NULL, &room.attr, sizeof(room)), 0);
    CHECK_EQ(room.bytes[sizeof(room) - 1], 0);
    CHECK_EQ(room.attr.phys_port_cnt_ex, 1);

    struct ibv_port_attr port;
    memset(&port, 0xff, sizeof(port));
    CHECK_EQ(ibv_query_port(context, 1, &port), 0);
    CHECK_EQ(port.state, IBV_PORT_ACTIVE);
    CHECK(port.flags != 0xff && port.port_cap_flags2 != 0xffff);
    CHECK(ibv_query_port(context, 2, &port) != 0);
    CHECK_EQ(ibv_close_device(context), 0);
}

static void what_a_device_does_not_have_says_so(void) {
    struct end end;
    end_open(&end, &defaults);
    int descriptor = dup(end.context->cmd_fd);
    CHECK(descriptor >= 0);
    if (is_embedded()) {
        MAKES_NOTHING(EOPNOTSUPP, ibv_import_device(descriptor));
    }
    close(descriptor);
    struct ibv_alloc_dm_attr memory = { .length = 4096 };
    MAKES_NOTHING(EOPNOTSUPP, ibv_alloc_dm(end.context, &memory));
    struct ibv_wq_init_attr wq = { .wq_type = IBV_WQT_RQ, .pd = end.pd, .cq = end.recv_cq, .max_wr = 1, .max_sge = 1 };
    MAKES_NOTHING(EOPNOTSUPP, ibv_create_wq(end.context, &wq));
    struct ibv_counters_init_attr counters = { 0 };
    MAKES_NOTHING(EOPNOTSUPP, ibv_create_counters(end.context, &counters));
    MAKES_NOTHING(EOPNOTSUPP, ibv_alloc_null_mr(end.pd));
    if (is_embedded()) { /* the kernel's soft-RoCE has come to this one */
        struct ibv_sge sge = { (uintptr_t) end.buffer, 4096, end.mr->lkey };
        CHECK_EQ(ibv_advise_mr(end.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1), EOPNOTSUPP);
    }
    end_close(&end);
}

/* ---- domains ---- */

static struct ibv_pd *parent_of(const struct end *end, struct ibv_td *td) {
    struct ibv_parent_domain_init_attr attr = { .pd = end->pd, .td = td };
    struct ibv_pd *parent = ibv_alloc_parent_domain(end->context, &attr);
    CHECK(parent != NULL);
    return parent;
}

static void domains_end_in_their_order(void) {
    struct end end;
    end_open(&end, &defaults);
    struct ibv_td_init_attr thread = { 0 }, unknown = { .comp_mask = 1 };
    if (is_soft_roce()) {
        MAKES_NOTHING(EOPNOTSUPP, ibv_alloc_td(end.context, &thread));
        end_close(&end);
        return;
    }
    MAKES_NOTHING(EINVAL, ibv_alloc_td(end.context, &unknown));
    struct ibv_td *td = ibv_alloc_td(end.context, &thread);
    CHECK(td != NULL);
    struct ibv_pd *parent = parent_of(&end, td), *grandparent;
    struct ibv_parent_domain_init_attr attr = { .pd = parent };
    CHECK((grandparent = ibv_alloc_parent_domain(end.context, &attr)) != NULL);
    CHECK_EQ(ibv_dealloc_td(td), EBUSY);
    CHECK_EQ(ibv_dealloc_pd(parent), EBUSY);
    CHECK_EQ(ibv_dealloc_pd(grandparent), 0);
    struct ibv_mr *mr = ibv_reg_mr(parent, end.buffer, 4096, 0);
    CHECK(mr != NULL);
    CHECK_EQ(ibv_dealloc_pd(parent), EBUSY);
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    CHECK_EQ(ibv_dealloc_pd(parent), 0);
    CHECK_EQ(ibv_dealloc_td(td), 0);
    end_close(&end);
}

static void a_parent_domain_is_of_one_protection_domain(void) {
    if (is_soft_roce()) {
        return;
    }
    struct end end, other;
    end_open(&end, &defaults);
    end_open(&other, &defaults);
    struct ibv_parent_domain_init_attr none = { 0 };
    MAKES_NOTHING(EINVAL, ibv_alloc_parent_domain(end.context, &none));
    struct ibv_parent_domain_init_attr unknown = { .pd = end.pd, .comp_mask = 1u << 31 };
    MAKES_NOTHING(EINVAL, ibv_alloc_parent_domain(end.context, &unknown));
    if (is_embedded()) {
        struct ibv_parent_domain_init_attr elsewhere = { .pd = other.pd };
        MAKES_NOTHING(EINVAL, ibv_alloc_parent_domain(end.context, &elsewhere));
        struct ibv_parent_domain_init_attr memory = {
            .pd = end.pd, .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
        };
        MAKES_NOTHING(EOPNOTSUPP, ibv_alloc_parent_domain(end.context, &memory));
    }
    end_close(&other);
    end_close(&end);
}

/* ibv_alloc_parent_domain(3): "completely interchangeable with the struct ibv_pd used to create it". */
static void what_parent_domains_make_works_with_what_the_protection_domain_made(void) {
    if (is_soft_roce()) {
        return;
    }
    struct options options = datagrams();
    struct end end, shared;
    end_open(&shared, &options);
    struct ibv_pd *protection = shared.pd, *parent = parent_of(&shared, NULL), *sibling = parent_of(&shared, NULL);
    shared.pd = parent;
    end_open_on(&end, &shared, &options); /* the queue pair; its memory is of the protection domain */
    ud_ready(&end);
    struct ibv_mr *of_sibling = ibv_reg_mr(sibling, end.buffer, PAIR_BUFFER, IBV_ACCESS_LOCAL_WRITE);
    CHECK(of_sibling != NULL);
    struct ibv_ah_attr attr = own_address(&end);
    struct ibv_ah *ah = ibv_create_ah(protection, &attr);
    CHECK(ah != NULL);
    fill(end.buffer, 64, 3);
    CHECK_EQ(post_recv(&end, 1, 1024, GRH + 64), 0);
    end.mr = of_sibling;
    send_datagram(&end, 2, 0, 64, ah, end.qp->qp_num);
    expect_wc(end.recv_cq, 1, IBV_WC_SUCCESS);
    CHECK(memcmp(end.buffer, end.buffer + 1024 + GRH, 64) == 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    CHECK_EQ(ibv_dereg_mr(of_sibling), 0);
    CHECK_EQ(ibv_destroy_qp(end.qp), 0);
    CHECK_EQ(ibv_dealloc_pd(parent), 0);
    CHECK_EQ(ibv_dealloc_pd(sibling), 0);
    shared.pd = protection;
    end_close(&shared);
}

int main(void) {
    RUN(a_device_tells_the_same_by_either_query);
    RUN(the_caller_says_how_much_it_takes);
    RUN(what_a_device_does_not_have_says_so);
    RUN(domains_end_in_their_order);
    RUN(a_parent_domain_is_of_one_protection_domain);
    RUN(what_parent_domains_make_works_with_what_the_protection_domain_made);
    return 0;
}
