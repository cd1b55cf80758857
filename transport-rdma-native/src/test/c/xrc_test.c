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
/* XRC: IB specification volume 1, annex A14; ibv_open_xrcd(3), ibv_create_srq_ex(3), ibv_open_qp(3). */
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "xrc_support.h"

static int create_file(void) {
    int fd = memfd_create("domain", MFD_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

static void messages_go_to_the_shared_queue_that_they_name(void) {
    static const uint32_t lengths[] = { 0, 1, 64, 300, 4096, 70000, 200000 };
    struct side a, b;
    side_open(&a, -1);
    side_open(&b, -1);
    struct ibv_cq *other_cq = ibv_create_cq(b.context, 64, NULL, NULL, 0);
    CHECK(other_cq != NULL);
    struct shared_queue queues[] = { make_srq(&b, b.cq), make_srq(&b, other_cq) };
    CHECK(queues[0].number != queues[1].number);
    struct ibv_qp *initiator = make_initiator(&a, 0), *target = make_target(&b);
    connect_both(initiator, target, 7);
    for (unsigned i = 0; i < 4 * sizeof(lengths) / sizeof(lengths[0]); i++) {
        uint32_t length = lengths[i / 4], which = i % 3 == 0;
        bool imm = i % 2 == 1;
        memset(a.buffer, (int) i + 1, SIDE_BUFFER);
        memset(b.buffer, 0, SIDE_BUFFER);
        give_receive(&b, queues[which].srq, i, 4096, 200000);
        CHECK_EQ(post_to(&a, initiator, 100 + i, imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, length, queues[which].number,
                         NULL), 0);
        struct ibv_wc wc = next_wc(which == 0 ? b.cq : other_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.wr_id, i);
        CHECK_EQ(wc.opcode, IBV_WC_RECV);
        CHECK_EQ(wc.byte_len, length);
        CHECK_EQ(wc.qp_num, target->qp_num);
        CHECK_EQ((wc.wc_flags & IBV_WC_WITH_IMM) != 0, imm);
        CHECK(!imm || wc.imm_data == htobe32(100 + i));
        CHECK_EQ(memcmp(a.buffer, b.buffer + 4096, length), 0);
        CHECK_EQ(b.buffer[4096 + length], 0);
        expect_wc(a.cq, 100 + i, IBV_WC_SUCCESS);
    }
    expect_nothing(b.cq);
    expect_nothing(other_cq);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    CHECK_EQ(ibv_destroy_cq(other_cq), EBUSY);
    CHECK_EQ(ibv_destroy_srq(queues[0].srq), 0);
    CHECK_EQ(ibv_destroy_srq(queues[1].srq), 0);
    CHECK_EQ(ibv_destroy_cq(other_cq), 0);
    side_close(&a);
    side_close(&b);
}

static void operations_have_the_rights_of_the_shared_queue(void) {
    struct side a, b;
    side_open(&a, -1);
    side_open(&b, -1);
    struct ibv_pd *other_pd = ibv_alloc_pd(b.context);
    CHECK(other_pd != NULL);
    struct side other = b;
    other.pd = other_pd;
    struct shared_queue queue = make_srq(&b, b.cq), stranger = make_srq(&other, b.cq);
    struct ibv_qp *initiator = make_initiator(&a, 0), *target = make_target(&b);
    connect_both(initiator, target, 7);
    struct address to = { .rkey = b.mr->rkey, .buffer = (uintptr_t) b.buffer };
    memset(a.buffer, 7, 100000);
    CHECK_EQ(post_to(&a, initiator, 1, IBV_WR_RDMA_WRITE, 100000, queue.number, &to), 0);
    expect_wc(a.cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(a.buffer, b.buffer, 100000), 0);
    give_receive(&b, queue.srq, 2, 0, 0);
    CHECK_EQ(post_to(&a, initiator, 3, IBV_WR_RDMA_WRITE_WITH_IMM, 70000, queue.number, &to), 0);
    struct ibv_wc wc = next_wc(b.cq);
    CHECK_EQ(wc.wr_id, 2);
    CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK_EQ(wc.byte_len, 70000);
    CHECK_EQ(wc.qp_num, target->qp_num);
    expect_wc(a.cq, 3, IBV_WC_SUCCESS);
    memset(b.buffer, 9, 100000);
    CHECK_EQ(post_to(&a, initiator, 4, IBV_WR_RDMA_READ, 100000, queue.number, &to), 0);
    expect_wc(a.cq, 4, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(a.buffer, b.buffer, 100000), 0);
    uint64_t value = 41;
    memcpy(b.buffer, &value, 8);
    CHECK_EQ(post_to(&a, initiator, 5, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, queue.number, &to), 0);
    expect_wc(a.cq, 5, IBV_WC_SUCCESS);
    CHECK_EQ(memcmp(a.buffer, &value, 8), 0);
    CHECK_EQ(b.buffer[0], 42);
    /* The same key, for a shared queue of another protection domain. */
    CHECK_EQ(post_to(&a, initiator, 6, IBV_WR_RDMA_READ, 8, stranger.number, &to), 0);
    expect_wc(a.cq, 6, IBV_WC_REM_ACCESS_ERR);
    expect_state(target, IBV_QPS_ERR);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
    CHECK_EQ(ibv_destroy_srq(stranger.srq), 0);
    CHECK_EQ(ibv_dealloc_pd(other_pd), 0);
    side_close(&a);
    side_close(&b);
}

static void a_number_that_is_none_of_the_domain_is_refused(void) {
    for (int i = 0; i < 4; i++) {
        struct side a, b, stranger;
        side_open(&a, -1);
        side_open(&b, -1);
        side_open(&stranger, -1);
        struct shared_queue queue = make_srq(&b, b.cq), other = make_srq(&stranger, stranger.cq);
        const uint32_t wrong[] = { 0, UINT32_MAX, other.number, queue.number };
        struct ibv_qp *initiator = make_initiator(&a, 0), *target = make_target(&b);
        connect_both(initiator, target, 7);
        give_receive(&b, queue.srq, 1, 0, 64);
        give_receive(&stranger, other.srq, 2, 0, 64);
        send_to(&a, initiator, 3, 64, queue.number);
        expect_wc(b.cq, 1, IBV_WC_SUCCESS);
        expect_wc(a.cq, 3, IBV_WC_SUCCESS);
        if (wrong[i] == queue.number) { /* number of a shared receive queue */
            CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
        }
        send_to(&a, initiator, 4, 64, wrong[i]);
        expect_wc(a.cq, 4, IBV_WC_REM_INV_REQ_ERR);
        expect_state(initiator, IBV_QPS_ERR);
        expect_state(target, IBV_QPS_ERR);
        struct ibv_async_event event;
        do {
            event = next_async(b.context);
            CHECK(event.element.qp == target);
            ibv_ack_async_event(&event);
        } while (event.event_type == IBV_EVENT_COMM_EST);
        CHECK_EQ(event.event_type, IBV_EVENT_QP_REQ_ERR);
        expect_nothing(b.cq);
        expect_nothing(stranger.cq);
        CHECK_EQ(ibv_destroy_qp(target), 0);
        CHECK_EQ(ibv_destroy_qp(initiator), 0);
        if (wrong[i] != queue.number) {
            CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
        }
        CHECK_EQ(ibv_destroy_srq(other.srq), 0);
        side_close(&a);
        side_close(&b);
        side_close(&stranger);
    }
}

static void a_shared_queue_without_receives_holds_up_its_messages_only(void) {
    struct side a, b;
    side_open(&a, -1);
    side_open(&b, -1);
    struct shared_queue empty = make_srq(&b, b.cq), full = make_srq(&b, b.cq);
    struct ibv_qp *initiators[3], *targets[3];
    for (int i = 0; i < 3; i++) {
        initiators[i] = make_initiator(&a, 0);
        targets[i] = make_target(&b);
        connect_both(initiators[i], targets[i], i == 2 ? 0 : 7);
    }
    send_to(&a, initiators[0], 1, 64, empty.number);
    for (uint64_t i = 0; i < 20; i++) {
        give_receive(&b, full.srq, 100 + i, 0, 64);
        send_to(&a, initiators[1], 2, 64, full.number);
        struct ibv_wc wc = next_wc(b.cq);
        CHECK_EQ(wc.wr_id, 100 + i);
        CHECK_EQ(wc.qp_num, targets[1]->qp_num);
        expect_wc(a.cq, 2, IBV_WC_SUCCESS);
    }
    send_to(&a, initiators[2], 3, 64, empty.number);
    expect_wc(a.cq, 3, IBV_WC_RNR_RETRY_EXC_ERR);
    give_receive(&b, empty.srq, 4, 0, 64);
    struct ibv_wc wc = next_wc(b.cq);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.wr_id, 4);
    CHECK_EQ(wc.qp_num, targets[0]->qp_num);
    expect_wc(a.cq, 1, IBV_WC_SUCCESS);
    /* A message waits while its shared queue goes. */
    send_to(&a, initiators[0], 5, 64, empty.number);
    settle();
    CHECK_EQ(ibv_destroy_srq(empty.srq), 0);
    expect_wc(a.cq, 5, IBV_WC_REM_INV_REQ_ERR);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(ibv_destroy_qp(initiators[i]), 0);
        CHECK_EQ(ibv_destroy_qp(targets[i]), 0);
    }
    CHECK_EQ(ibv_destroy_srq(full.srq), 0);
    side_close(&a);
    side_close(&b);
}

static void a_message_that_is_too_long_fails_its_receive(void) {
    struct side a, b;
    side_open(&a, -1);
    side_open(&b, -1);
    struct shared_queue queue = make_srq(&b, b.cq);
    struct ibv_qp *initiator = make_initiator(&a, 0), *target = make_target(&b);
    connect_both(initiator, target, 7);
    give_receive(&b, queue.srq, 1, 0, 64);
    send_to(&a, initiator, 2, 65, queue.number);
    struct ibv_wc wc = next_wc(b.cq);
    CHECK_EQ(wc.wr_id, 1);
    CHECK_EQ(wc.status, IBV_WC_LOC_LEN_ERR);
    CHECK_EQ(wc.qp_num, target->qp_num);
    expect_wc(a.cq, 2, IBV_WC_REM_INV_REQ_ERR);
    /* A target that is reset can be connected again, and other numbers are of no harm to the shared queue. */
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
    CHECK_EQ(ibv_modify_qp(target, &attr, IBV_QP_STATE), 0);
    CHECK_EQ(ibv_modify_qp(initiator, &attr, IBV_QP_STATE), 0);
    connect_both(initiator, target, 7);
    give_receive(&b, queue.srq, 3, 0, 65);
    send_to(&a, initiator, 4, 65, queue.number);
    expect_wc(b.cq, 3, IBV_WC_SUCCESS);
    expect_wc(a.cq, 4, IBV_WC_SUCCESS);
    CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    side_close(&a);
    side_close(&b);
}

static void a_domain_is_named_by_its_file(void) {
    struct side a, b;
    int file = create_file(), other = create_file();
    side_open(&a, file);
    side_open(&b, -1);
    CHECK(open_domain(b.context, other, 0) == NULL && errno == EAGAIN);
    CHECK(open_domain(b.context, file, O_CREAT | O_EXCL) == NULL && errno == EINVAL);
    int closed = dup(file);
    close(closed);
    CHECK(open_domain(b.context, closed, O_CREAT) == NULL && errno == EBADF);
    struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD, .fd = file };
    CHECK(ibv_open_xrcd(b.context, &attr) == NULL && errno == EINVAL);
    attr.comp_mask = 1u << 7;
    CHECK(ibv_open_xrcd(b.context, &attr) == NULL && errno == EOPNOTSUPP);
    int again = dup(file);
    struct ibv_xrcd *same = open_domain(b.context, again, 0);
    CHECK(same != NULL);
    close(again);
    struct ibv_xrcd *fresh = open_domain(b.context, other, O_CREAT | O_EXCL);
    CHECK(fresh != NULL);
    CHECK_EQ(ibv_close_xrcd(fresh), 0);

    /* A target of the one and a shared queue of the other know each other, of another context as they are. */
    struct ibv_xrcd *own = b.xrcd;
    b.xrcd = same;
    struct shared_queue queue = make_srq(&b, b.cq);
    struct ibv_qp *target = make_target(&a), *initiator = make_initiator(&b, 0);
    connect_both(initiator, target, 7);
    give_receive(&b, queue.srq, 1, 0, 64);
    send_to(&b, initiator, 2, 64, queue.number);
    struct ibv_wc first = next_wc(b.cq), second = next_wc(b.cq);
    CHECK_EQ(first.status, IBV_WC_SUCCESS);
    CHECK_EQ(second.status, IBV_WC_SUCCESS);
    CHECK_EQ(first.wr_id + second.wr_id, 3);
    CHECK_EQ(ibv_close_xrcd(a.xrcd), EBUSY);
    CHECK_EQ(ibv_close_xrcd(same), EBUSY);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_close_xrcd(same), EBUSY);
    CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
    CHECK_EQ(ibv_close_xrcd(same), 0);
    b.xrcd = own;
    side_close(&a);
    side_close(&b);
    close(file);
    close(other);
}

static void a_target_is_opened_by_its_number_and_lives_until_all_have_closed_it(void) {
    struct side a, b, c;
    int file = create_file();
    side_open(&a, -1);
    side_open(&b, file);
    side_open(&c, file);
    struct shared_queue queue = make_srq(&c, c.cq);
    struct ibv_qp *initiator = make_initiator(&a, 0), *target = make_target(&b);
    struct ibv_qp_open_attr attr = {
        .comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE | IBV_QP_OPEN_ATTR_CONTEXT,
        .qp_num = target->qp_num, .xrcd = c.xrcd, .qp_context = &c, .qp_type = IBV_QPT_XRC_RECV,
    };
    struct ibv_qp *opened = ibv_open_qp(c.context, &attr);
    CHECK(opened != NULL);
    CHECK_EQ(opened->qp_num, target->qp_num);
    CHECK(opened->qp_context == &c);
    CHECK(opened->context == c.context);
    connect_to(initiator, target->qp_num, 7);
    connect_to(opened, initiator->qp_num, 0);
    struct ibv_qp_attr state;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(target, &state, IBV_QP_STATE | IBV_QP_DEST_QPN, &init), 0);
    CHECK_EQ(state.qp_state, IBV_QPS_RTS);
    CHECK_EQ(state.dest_qp_num, initiator->qp_num);
    CHECK_EQ(init.qp_type, IBV_QPT_XRC_RECV);

    struct ibv_qp_open_attr wrong = attr;
    wrong.qp_num = initiator->qp_num;
    CHECK(ibv_open_qp(c.context, &wrong) == NULL && errno == EINVAL);
    wrong = attr;
    wrong.comp_mask &= ~(uint32_t) IBV_QP_OPEN_ATTR_TYPE;
    CHECK(ibv_open_qp(c.context, &wrong) == NULL && errno == EINVAL);
    wrong = attr;
    wrong.xrcd = a.xrcd;
    CHECK(ibv_open_qp(a.context, &wrong) == NULL && errno == EINVAL);

    CHECK_EQ(ibv_destroy_qp(target), 0);
    give_receive(&c, queue.srq, 1, 0, 64);
    send_to(&a, initiator, 2, 64, queue.number);
    expect_wc(c.cq, 1, IBV_WC_SUCCESS);
    expect_wc(a.cq, 2, IBV_WC_SUCCESS);
    struct ibv_qp *third = ibv_open_qp(c.context, &attr);
    CHECK(third != NULL);
    send_to(&a, initiator, 3, 64, 0);
    expect_wc(a.cq, 3, IBV_WC_REM_INV_REQ_ERR);
    int errors = 0; /* events of the target are events of both */
    while (errors < 2) {
        struct ibv_async_event event = next_async(c.context);
        CHECK(event.element.qp == opened || event.element.qp == third);
        errors += event.event_type == IBV_EVENT_QP_REQ_ERR;
        ibv_ack_async_event(&event);
    }
    CHECK_EQ(ibv_destroy_qp(opened), 0);
    CHECK_EQ(ibv_destroy_qp(third), 0);
    CHECK(ibv_open_qp(c.context, &attr) == NULL && errno == EINVAL);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
    side_close(&a);
    side_close(&b);
    side_close(&c);
    close(file);
}

static void each_end_has_attributes_of_its_own(void) {
    struct side side;
    side_open(&side, -1);
    struct ibv_port_attr port;
    CHECK_EQ(ibv_query_port(side.context, 1, &port), 0);
    const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    const int rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    const int rtr_target = rtr | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    const int rts = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT;
    const int rts_initiator = rts | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    for (int i = 0; i < 2; i++) {
        struct ibv_qp *qp = i == 0 ? make_initiator(&side, 0) : make_target(&side);
        struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
        CHECK_EQ(ibv_modify_qp(qp, &attr, init | IBV_QP_QKEY), EINVAL);
        CHECK_EQ(ibv_modify_qp(qp, &attr, init), 0);
        attr = (struct ibv_qp_attr) {
            .qp_state = IBV_QPS_RTR, .path_mtu = port.active_mtu, .dest_qp_num = qp->qp_num,
            .ah_attr = { .dlid = port.lid, .port_num = 1 },
        };
        CHECK_EQ(ibv_modify_qp(qp, &attr, rtr & ~IBV_QP_DEST_QPN), EINVAL);
        CHECK_EQ(ibv_modify_qp(qp, &attr, rtr), i == 0 ? 0 : EINVAL);
        if (i == 1) {
            CHECK_EQ(ibv_modify_qp(qp, &attr, rtr_target), 0);
        }
        attr = (struct ibv_qp_attr) { .qp_state = IBV_QPS_RTS, .timeout = 14 };
        CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), EINVAL);
        CHECK_EQ(ibv_modify_qp(qp, &attr, rts), i == 0 ? EINVAL : 0);
        if (i == 0) {
            CHECK_EQ(ibv_modify_qp(qp, &attr, rts_initiator), 0);
        }
        CHECK_EQ(qp->state, IBV_QPS_RTS);
        struct ibv_qp_init_attr unused;
        CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &unused), 0);
        CHECK_EQ(attr.qp_state, IBV_QPS_RTS);
        CHECK_EQ(ibv_destroy_qp(qp), 0);
    }
    /* Attributes of the other end may be given, and say nothing: modify_qp_mask() in the kernel's uverbs_cmd.c. */
    struct ibv_qp *initiator = make_initiator(&side, 0);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
    CHECK_EQ(ibv_modify_qp(initiator, &attr, init), 0);
    attr = (struct ibv_qp_attr) {
        .qp_state = IBV_QPS_RTR, .path_mtu = port.active_mtu, .dest_qp_num = initiator->qp_num,
        .ah_attr = { .dlid = port.lid, .port_num = 1 },
    };
    CHECK_EQ(ibv_modify_qp(initiator, &attr, rtr_target), 0);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    side_close(&side);
}

static void what_is_not_posted_or_made_so_is_refused(void) {
    struct side a, b;
    side_open(&a, -1);
    side_open(&b, -1);
    struct ibv_qp *initiator = make_initiator(&a, 0), *target = make_target(&b);
    connect_both(initiator, target, 7);
    struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
    CHECK(ibv_post_recv(initiator, &wr, &bad) != 0);
    CHECK(ibv_post_recv(target, &wr, &bad) != 0);
    CHECK(post_to(&b, target, 1, IBV_WR_SEND, 0, 0, NULL) != 0);
    struct ibv_srq_init_attr_ex attr = srq_attributes(&a, a.cq);
    attr.comp_mask &= ~(uint32_t) IBV_SRQ_INIT_ATTR_CQ;
    CHECK(ibv_create_srq_ex(a.context, &attr) == NULL && errno == EINVAL);
    attr = srq_attributes(&a, a.cq);
    attr.comp_mask &= ~(uint32_t) IBV_SRQ_INIT_ATTR_PD;
    CHECK(ibv_create_srq_ex(a.context, &attr) == NULL && errno == EINVAL);
    attr = srq_attributes(&a, a.cq);
    attr.attr.max_wr = UINT32_MAX;
    CHECK(ibv_create_srq_ex(a.context, &attr) == NULL && errno == EINVAL);
    struct ibv_qp_init_attr_ex lost = { .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = a.pd };
    CHECK(ibv_create_qp_ex(a.context, &lost) == NULL && errno == EINVAL);
    struct shared_queue queue = make_srq(&a, a.cq);
    struct ibv_qp_init_attr plain = {
        .qp_type = IBV_QPT_RC, .send_cq = a.cq, .recv_cq = a.cq, .srq = queue.srq, .cap = { 1, 1, 1, 1, 0 },
    };
    CHECK(ibv_create_qp(a.pd, &plain) == NULL && errno == EINVAL);
    struct ibv_srq_attr query;
    CHECK_EQ(ibv_query_srq(queue.srq, &query), 0);
    CHECK_EQ(query.max_wr, 256);
    CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    side_close(&a);
    side_close(&b);
}

static void requests_are_built_by_functions(void) {
    struct side a, b;
    side_open(&a, -1);
    side_open(&b, -1);
    struct shared_queue queues[] = { make_srq(&b, b.cq), make_srq(&b, b.cq) };
    struct ibv_qp *initiator = make_initiator(&a, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ);
    struct ibv_qp *target = make_target(&b);
    connect_both(initiator, target, 7);
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(initiator);
    CHECK(ex != NULL);
    give_receive(&b, queues[0].srq, 10, 0, 64);
    give_receive(&b, queues[1].srq, 11, 0, 64);
    ibv_wr_start(ex);
    for (uint64_t i = 0; i < 2; i++) {
        ex->wr_id = i;
        ibv_wr_send(ex);
        ibv_wr_set_xrc_srqn(ex, queues[i].number);
        ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t) a.buffer, 64);
    }
    ex->wr_id = 2;
    ibv_wr_rdma_read(ex, b.mr->rkey, (uintptr_t) b.buffer);
    ibv_wr_set_xrc_srqn(ex, queues[0].number);
    ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t) a.buffer, 4096);
    CHECK_EQ(ibv_wr_complete(ex), 0);
    expect_wc(b.cq, 10, IBV_WC_SUCCESS);
    expect_wc(b.cq, 11, IBV_WC_SUCCESS);
    for (uint64_t i = 0; i < 3; i++) {
        expect_wc(a.cq, i, IBV_WC_SUCCESS);
    }
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(ibv_destroy_srq(queues[i].srq), 0);
    }
    side_close(&a);
    side_close(&b);
}

static void an_armed_completion_queue_and_the_limit_of_a_shared_queue_wake(void) {
    struct side a, b;
    side_open(&a, -1);
    side_open(&b, -1);
    struct shared_queue queue = make_srq(&b, b.cq);
    struct ibv_qp *initiator = make_initiator(&a, 0), *target = make_target(&b);
    connect_both(initiator, target, 7);
    struct ibv_srq_attr limit = { .srq_limit = 20 };
    for (uint64_t i = 0; i < 40; i++) {
        give_receive(&b, queue.srq, i, 0, 64);
    }
    CHECK_EQ(ibv_modify_srq(queue.srq, &limit, IBV_SRQ_LIMIT), 0);
    for (uint64_t i = 0; i < 40; i++) {
        CHECK_EQ(ibv_req_notify_cq(b.cq, 0), 0);
        send_to(&a, initiator, 100 + i, 64, queue.number);
        struct pollfd fd = { .fd = b.channel->fd, .events = POLLIN };
        CHECK_EQ(poll(&fd, 1, patience_ms()), 1);
        struct ibv_cq *cq;
        void *cq_context;
        CHECK_EQ(ibv_get_cq_event(b.channel, &cq, &cq_context), 0);
        CHECK(cq == b.cq && cq_context == &b);
        ibv_ack_cq_events(cq, 1);
        expect_wc(b.cq, i, IBV_WC_SUCCESS);
        expect_wc(a.cq, 100 + i, IBV_WC_SUCCESS);
    }
    struct ibv_async_event event;
    do {
        event = next_async(b.context);
        ibv_ack_async_event(&event);
    } while (event.event_type == IBV_EVENT_COMM_EST);
    CHECK_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    CHECK(event.element.srq == queue.srq);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
    side_close(&a);
    side_close(&b);
}

/* ---- other processes ---- */

#define CHILDREN 3
#define MESSAGES 300u

struct invitation {
    uint32_t target, srqn[2];
};

static void send_many(int socket) {
    struct side side;
    struct invitation invitation;
    side_open(&side, -1);
    struct ibv_qp *initiator = make_initiator(&side, 0);
    send_all(socket, &initiator->qp_num, sizeof(initiator->qp_num));
    receive_all(socket, &invitation, sizeof(invitation));
    connect_to(initiator, invitation.target, 7);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        uint32_t length = i % 10 == 0 ? 20000 : 64;
        memcpy(side.buffer, &i, sizeof(i));
        send_to(&side, initiator, i, length, invitation.srqn[i % 2]);
        expect_wc(side.cq, i, IBV_WC_SUCCESS);
    }
    char done = 1;
    send_all(socket, &done, 1);
    receive_all(socket, &done, 1);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    side_close(&side);
}

static void initiators_of_several_processes_share_queues(void) {
    int sockets[CHILDREN];
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = spawn(send_many, &sockets[i]);
    }
    struct side side;
    side_open(&side, -1);
    struct shared_queue queues[] = { make_srq(&side, side.cq), make_srq(&side, side.cq) };
    struct ibv_qp *targets[CHILDREN];
    uint32_t received[CHILDREN] = { 0 };
    for (uint64_t i = 0; i < 64; i++) {
        give_receive(&side, queues[i % 2].srq, i, i / 2 * 20000 % (SIDE_BUFFER - 20000), 20000);
    }
    for (int i = 0; i < CHILDREN; i++) {
        uint32_t qpn;
        targets[i] = make_target(&side);
        receive_all(sockets[i], &qpn, sizeof(qpn));
        connect_to(targets[i], qpn, 0);
        struct invitation invitation = { targets[i]->qp_num, { queues[0].number, queues[1].number } };
        send_all(sockets[i], &invitation, sizeof(invitation));
    }
    for (uint32_t i = 0; i < CHILDREN * MESSAGES; i++) {
        struct ibv_wc wc = next_wc(side.cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        int from = 0;
        while (targets[from]->qp_num != wc.qp_num) {
            CHECK(++from < CHILDREN);
        }
        CHECK_EQ(received[from] % 2, wc.wr_id % 2); /* in order, whatever their queue */
        CHECK_EQ(wc.byte_len, received[from] % 10 == 0 ? 20000 : 64);
        received[from]++;
        give_receive(&side, queues[wc.wr_id % 2].srq, wc.wr_id, wc.wr_id / 2 * 20000 % (SIDE_BUFFER - 20000), 20000);
    }
    for (int i = 0; i < CHILDREN; i++) {
        char done;
        receive_all(sockets[i], &done, 1);
        CHECK_EQ(received[i], MESSAGES);
        send_all(sockets[i], &done, 1);
        expect_exit(children[i], 0);
        close(sockets[i]);
        CHECK_EQ(ibv_destroy_qp(targets[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(ibv_destroy_srq(queues[i].srq), 0);
    }
    side_close(&side);
}

static void be_killed(int socket) {
    struct side side;
    side_open(&side, -1);
    struct shared_queue queue = make_srq(&side, side.cq);
    struct ibv_qp *initiator = make_initiator(&side, 0), *target = make_target(&side);
    uint32_t peer[3], own[] = { initiator->qp_num, target->qp_num, queue.number };
    give_receive(&side, queue.srq, 1, 0, 64);
    send_all(socket, own, sizeof(own));
    receive_all(socket, peer, sizeof(peer));
    connect_to(initiator, peer[1], 7);
    connect_to(target, peer[0], 0);
    send_to(&side, initiator, 2, 64, peer[2]);
    expect_wc(side.cq, 2, IBV_WC_SUCCESS);
    send_to(&side, initiator, 3, 64, peer[2]); /* waits for a receive */
    char ready = 1;
    send_all(socket, &ready, 1);
    for (;;) {
        pause();
    }
}

static void the_death_of_a_peer_fails_initiators_and_leaves_targets(void) {
    int socket;
    pid_t child = spawn(be_killed, &socket);
    struct side side;
    side_open(&side, -1);
    struct shared_queue queue = make_srq(&side, side.cq);
    struct ibv_qp *initiator = make_initiator(&side, 0), *target = make_target(&side);
    uint32_t peer[3], own[] = { initiator->qp_num, target->qp_num, queue.number };
    give_receive(&side, queue.srq, 1, 0, 64);
    receive_all(socket, peer, sizeof(peer));
    connect_to(initiator, peer[1], 7);
    connect_to(target, peer[0], 0);
    send_all(socket, own, sizeof(own));
    expect_wc(side.cq, 1, IBV_WC_SUCCESS);
    char ready;
    receive_all(socket, &ready, 1);
    CHECK_EQ(kill(child, SIGKILL), 0);
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    send_to(&side, initiator, 4, 64, peer[2]);
    struct ibv_wc wc = next_wc(side.cq);
    CHECK_EQ(wc.wr_id, 4);
    CHECK_EQ(wc.status, IBV_WC_RETRY_EXC_ERR);
    expect_state(initiator, IBV_QPS_ERR);
    expect_state(target, IBV_QPS_RTS);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    side_close(&side);
    close(socket);
}

/* soft-RoCE's library has no such call, an iWARP device no such queue pairs. */
static void a_device_without_xrc_opens_no_domain(void) {
    int unused;
    struct ibv_context *context = open_test_device(&unused);
    struct ibv_xrcd_init_attr attr = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT
    };
    errno = 0;
    CHECK(ibv_open_xrcd(context, &attr) == NULL);
    CHECK(errno == EOPNOTSUPP || errno == ENOSYS);
    CHECK_EQ(ibv_close_device(context), 0);
}

int main(void) {
    if (!has_xrc()) {
        RUN(a_device_without_xrc_opens_no_domain);
        return 0;
    }
    RUN(initiators_of_several_processes_share_queues);
    RUN(the_death_of_a_peer_fails_initiators_and_leaves_targets);
    RUN(messages_go_to_the_shared_queue_that_they_name);
    RUN(operations_have_the_rights_of_the_shared_queue);
    RUN(a_number_that_is_none_of_the_domain_is_refused);
    RUN(a_shared_queue_without_receives_holds_up_its_messages_only);
    RUN(a_message_that_is_too_long_fails_its_receive);
    RUN(a_domain_is_named_by_its_file);
    RUN(a_target_is_opened_by_its_number_and_lives_until_all_have_closed_it);
    RUN(each_end_has_attributes_of_its_own);
    RUN(what_is_not_posted_or_made_so_is_refused);
    RUN(requests_are_built_by_functions);
    RUN(an_armed_completion_queue_and_the_limit_of_a_shared_queue_wake);
    return 0;
}
