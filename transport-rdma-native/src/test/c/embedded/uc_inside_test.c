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
 * Unreliable connections where soft-RoCE leaves the specification, or is not as sure: receives of dropped messages, the
 * state SQE, senders that go, and peers that take nothing.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "embedded/programs/programs.h"
#include "pair.h"

static const uint64_t unlimited_ns = UINT64_C(3600000000000), short_ns = 50000000;

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

static void the_receive_of_a_dropped_message_is_for_the_next_one(void) {
    static const uint32_t too_long[] = { 65, 300, 200000 }; /* inline, in one piece, in several */
    struct end a, b;
    open_pair(&a, &b);
    CHECK_EQ(post_recv(&b, 1, 0, 64), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, too_long[i]), 0);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    }
    expect_nothing(b.recv_cq);
    CHECK_EQ(post_send(&a, 3, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    expect_wc(a.send_cq, 3, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void a_write_with_immediate_data_without_a_receive_is_dropped(void) {
    struct end a, b;
    open_pair(&a, &b);
    struct address to = end_address(&b);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 200000, &to, 0), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(post_recv(&b, 2, 0, 64), 0);
    expect_nothing(b.recv_cq);
    CHECK_EQ(post_rdma(&a, 3, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 200000, &to, 0), 0);
    struct ibv_wc wc = next_wc(b.recv_cq);
    CHECK_EQ(wc.wr_id, 2);
    CHECK_EQ(wc.imm_data, htobe32(3));
    expect_wc(a.send_cq, 3, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void messages_dropped_for_want_of_shared_receives_take_none_of_those_that_follow(void) {
    struct end a, b, owner;
    struct options options = unreliable(), shared = options;
    struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
    end_open(&owner, &options);
    struct ibv_srq *srq = shared.srq = ibv_create_srq(owner.pd, &attr);
    CHECK(srq != NULL);
    end_open_on(&b, &owner, &shared);
    end_open(&a, &options);
    end_connect(&a, b.qp->qp_num);
    end_connect(&b, a.qp->qp_num);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 64), 0);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    for (uint64_t i = 0; i < 3; i++) {
        struct ibv_sge sge = { (uintptr_t) b.buffer, 64, b.mr->lkey };
        struct ibv_recv_wr wr = { .wr_id = 10 + i, .sg_list = &sge, .num_sge = 1 }, *bad;
        CHECK_EQ(b.context->ops.post_srq_recv(srq, &wr, &bad), 0);
    }
    expect_nothing(b.recv_cq);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 64), 0);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
        expect_wc(b.recv_cq, 10 + i, IBV_WC_SUCCESS);
    }
    end_close(&a);
    CHECK_EQ(ibv_destroy_qp(b.qp), 0);
    CHECK_EQ(ibv_destroy_srq(srq), 0);
    end_close(&owner);
}

static void what_is_sent_arrives_though_the_sender_is_gone(void) {
    for (int i = 0; i < 20; i++) {
        struct end a, b;
        open_pair(&a, &b);
        for (uint64_t k = 0; k < 40; k++) {
            CHECK_EQ(post_recv(&b, k, 0, 70000), 0);
        }
        for (uint64_t k = 0; k < 40; k++) {
            CHECK_EQ(post_send(&a, k, IBV_WR_SEND, 0, 0, k % 2 == 0 ? 64 : 70000), 0);
        }
        for (uint64_t k = 0; k < 40; k++) {
            expect_wc(a.send_cq, k, IBV_WC_SUCCESS);
        }
        end_close(&a);
        for (uint64_t k = 0; k < 40; k++) {
            expect_wc(b.recv_cq, k, IBV_WC_SUCCESS);
        }
        end_close(&b);
    }
}

static void only_operations_that_are_not_answered_can_be_posted(void) {
    struct end a, b;
    open_pair(&a, &b);
    struct address to = end_address(&b);
    CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_READ, 0, 0, 8, &to, 0), EINVAL);
    CHECK_EQ(post_atomic(&a, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &to, 0, 1, 0), EINVAL);
    CHECK_EQ(post_atomic(&a, 1, IBV_WR_ATOMIC_CMP_AND_SWP, 0, &to, 0, 1, 0), EINVAL);
    expect_nothing(a.send_cq);
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = a.send_cq, .recv_cq = a.recv_cq, .cap = { .max_send_wr = 1, .max_send_sge = 1 },
        .qp_type = IBV_QPT_UC, .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .pd = a.pd,
        .send_ops_flags = IBV_QP_EX_WITH_RDMA_READ,
    };
    CHECK(ibv_create_qp_ex(a.context, &attr) == NULL);
    CHECK_EQ(errno, EOPNOTSUPP);
    attr.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    struct ibv_qp *qp = ibv_create_qp_ex(a.context, &attr);
    CHECK(qp != NULL);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    pair_close(&a, &b);
}

/* IB specification 10.3.1.6: an error of the send queue leaves the receive queue as it is. */
static void a_local_error_stops_the_send_queue_until_it_is_started_again(void) {
    struct end a, b;
    open_pair(&a, &b);
    uint32_t lkey = a.mr->lkey;
    CHECK_EQ(post_recv(&b, 1, 0, 70000), 0);
    a.mr->lkey ^= 1;
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 70000), 0);
    a.mr->lkey = lkey;
    expect_wc(a.send_cq, 2, IBV_WC_LOC_PROT_ERR);
    expect_state(a.qp, IBV_QPS_SQE);
    CHECK_EQ(post_send(&a, 3, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(a.send_cq, 3, IBV_WC_WR_FLUSH_ERR);
    pair_talk(&b, &a);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
    CHECK_EQ(post_send(&a, 4, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(a.send_cq, 4, IBV_WC_SUCCESS);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    pair_close(&a, &b);
}

static void a_receive_that_is_not_allowed_fails_its_end_only(void) {
    struct end a, b;
    open_pair(&a, &b);
    uint32_t lkey = b.mr->lkey;
    b.mr->lkey ^= 1;
    CHECK_EQ(post_recv(&b, 1, 0, 64), 0);
    b.mr->lkey = lkey;
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(b.recv_cq, 1, IBV_WC_LOC_PROT_ERR);
    expect_state(b.qp, IBV_QPS_ERR);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    CHECK_EQ(post_send(&a, 3, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(a.send_cq, 3, IBV_WC_SUCCESS);
    expect_state(a.qp, IBV_QPS_RTS);
    pair_close(&a, &b);
}

static void sends_to_nobody_count_as_sent_but_faults_of_the_sender_are_found(void) {
    struct end end, gone;
    struct options options = unreliable();
    end_open(&end, &options);
    end_open(&gone, &options);
    uint32_t qpn = gone.qp->qp_num;
    end_close(&gone);
    end_connect(&end, qpn);
    uc_patience_ns = short_ns;
    for (uint64_t i = 0; i < 64; i++) {
        CHECK_EQ(post_send(&end, i, IBV_WR_SEND, 0, 0, 70000), 0);
    }
    for (uint64_t i = 0; i < 64; i++) {
        expect_wc(end.send_cq, i, IBV_WC_SUCCESS);
    }
    uc_patience_ns = unlimited_ns;
    CHECK_EQ(post_send(&end, 70, IBV_WR_SEND, 0, 0, 70000), 0); /* at once, now that nobody is known to be there */
    expect_wc(end.send_cq, 70, IBV_WC_SUCCESS);
    uint32_t lkey = end.mr->lkey;
    end.mr->lkey ^= 1;
    CHECK_EQ(post_send(&end, 71, IBV_WR_SEND, 0, 0, 64), 0);
    end.mr->lkey = lkey;
    expect_wc(end.send_cq, 71, IBV_WC_LOC_PROT_ERR);
    expect_state(end.qp, IBV_QPS_SQE);
    end_close(&end);
}

/* ---- a peer of another process ---- */

static void receive(int socket) {
    struct end end;
    struct options options = unreliable();
    uint32_t qpn;
    end_open(&end, &options);
    send_all(socket, &end.qp->qp_num, sizeof(end.qp->qp_num));
    receive_all(socket, &qpn, sizeof(qpn));
    end_connect(&end, qpn);
    for (uint64_t i = 0; i < 64; i++) {
        CHECK_EQ(post_recv(&end, i, 0, 70000), 0);
    }
    char go = 1;
    send_all(socket, &go, 1);
    receive_all(socket, &go, 1);
    struct ibv_wc wc;
    do { /* of those before the last one, some are lost */
        wc = next_wc(end.recv_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    } while (wc.byte_len != 8);
    end_close(&end);
}

static pid_t connect_to_child(struct end *end, int *to_child) {
    struct options options = unreliable();
    uint32_t qpn;
    char ready;
    pid_t child = spawn(receive, to_child);
    int socket = *to_child;
    end_open(end, &options);
    receive_all(socket, &qpn, sizeof(qpn));
    send_all(socket, &end->qp->qp_num, sizeof(end->qp->qp_num));
    end_connect(end, qpn);
    receive_all(socket, &ready, 1);
    CHECK_EQ(post_send(end, 1, IBV_WR_SEND, 0, 0, 64), 0); /* attached */
    expect_wc(end->send_cq, 1, IBV_WC_SUCCESS);
    return child;
}

static void a_peer_that_is_stopped_holds_up_no_sender_and_takes_messages_again_later(void) {
    struct end end;
    int socket;
    pid_t child = connect_to_child(&end, &socket);
    CHECK_EQ(kill(child, SIGSTOP), 0);
    int status;
    CHECK_EQ(waitpid(child, &status, WUNTRACED), child);
    uc_patience_ns = short_ns;
    for (uint64_t i = 0; i < 60; i++) { /* more than is on its way at a time */
        CHECK_EQ(post_send(&end, i, IBV_WR_SEND, 0, 0, 70000), 0);
    }
    for (uint64_t i = 0; i < 60; i++) {
        expect_wc(end.send_cq, i, IBV_WC_SUCCESS);
    }
    CHECK_EQ(kill(child, SIGCONT), 0);
    char go = 1;
    send_all(socket, &go, 1);
    /*
     * A message that was cut off is none; the next one is whole. Nobody tells whether the peer has room for it again.
     */
    uint64_t limit = now_ns() + (uint64_t) life_ms() * 1000000;
    while (waitpid(child, &status, WNOHANG) == 0) {
        CHECK(now_ns() < limit);
        CHECK_EQ(post_send(&end, 100, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(end.send_cq, 100, IBV_WC_SUCCESS);
    }
    uc_patience_ns = unlimited_ns;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(socket);
    end_close(&end);
}

static void a_peer_that_died_holds_up_no_sender(void) {
    struct end end;
    int socket;
    pid_t child = connect_to_child(&end, &socket);
    CHECK_EQ(kill(child, SIGKILL), 0);
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    for (uint64_t i = 0; i < 60; i++) {
        CHECK_EQ(post_send(&end, i, IBV_WR_SEND, 0, 0, 70000), 0);
    }
    for (uint64_t i = 0; i < 60; i++) {
        expect_wc(end.send_cq, i, IBV_WC_SUCCESS);
    }
    expect_state(end.qp, IBV_QPS_RTS);
    close(socket);
    end_close(&end);
}

int main(void) {
    uc_patience_ns = unlimited_ns;
    RUN(a_peer_that_is_stopped_holds_up_no_sender_and_takes_messages_again_later);
    RUN(a_peer_that_died_holds_up_no_sender);
    RUN(the_receive_of_a_dropped_message_is_for_the_next_one);
    RUN(a_write_with_immediate_data_without_a_receive_is_dropped);
    RUN(messages_dropped_for_want_of_shared_receives_take_none_of_those_that_follow);
    RUN(what_is_sent_arrives_though_the_sender_is_gone);
    RUN(only_operations_that_are_not_answered_can_be_posted);
    RUN(a_local_error_stops_the_send_queue_until_it_is_started_again);
    RUN(a_receive_that_is_not_allowed_fails_its_end_only);
    RUN(sends_to_nobody_count_as_sent_but_faults_of_the_sender_are_found);
    return 0;
}
