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
 * XRC where the specification leaves it open, or where it is a matter of this provider: overflow, peers of another
 * type, objects that go while messages come, forked children, and the connection manager.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "xrc_support.h"

static void a_completion_queue_that_overflows_fails_shared_queue_and_targets(void) {
    struct side a, b;
    side_open(&a, -1);
    side_open(&b, -1);
    struct ibv_cq *small = ibv_create_cq(b.context, 1, NULL, NULL, 0);
    CHECK(small != NULL);
    struct shared_queue queue = make_srq(&b, small);
    struct ibv_qp *initiator = make_initiator(&a, 0), *target = make_target(&b);
    connect_both(initiator, target, 7);
    for (uint64_t i = 0; i < 4; i++) {
        give_receive(&b, queue.srq, i, 0, 64);
        CHECK_EQ(post_to(&a, initiator, i, IBV_WR_SEND, 64, queue.number, NULL), 0);
    }
    bool of_cq = false, of_srq = false, of_qp = false;
    while (!of_cq || !of_srq || !of_qp) {
        struct ibv_async_event event = next_async(b.context);
        of_cq |= event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == small;
        of_srq |= event.event_type == IBV_EVENT_SRQ_ERR && event.element.srq == queue.srq;
        of_qp |= event.event_type == IBV_EVENT_QP_FATAL && event.element.qp == target;
        ibv_ack_async_event(&event);
    }
    expect_state(target, IBV_QPS_ERR);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
    CHECK_EQ(ibv_destroy_cq(small), 0);
    side_close(&a);
    side_close(&b);
}

/* Packets of such a peer have opcodes of another service on a wire. */
static void a_peer_of_another_type_is_not_heard(void) {
    struct end end;
    struct side side;
    struct options options = defaults;
    options.timeout = 12;
    options.retry_cnt = 1;
    end_open(&end, &options);
    side_open(&side, -1);
    struct ibv_qp *target = make_target(&side);
    end_connect(&end, target->qp_num);
    connect_to(target, end.qp->qp_num, 0);
    CHECK_EQ(post_send(&end, 1, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(end.send_cq, 1, IBV_WC_RETRY_EXC_ERR);
    expect_state(target, IBV_QPS_RTS);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    end_close(&end);
    side_close(&side);
}

static void completions_of_a_shared_queue_go_with_it_and_not_with_the_target(void) {
    struct side a, b;
    side_open(&a, -1);
    side_open(&b, -1);
    struct shared_queue queues[] = { make_srq(&b, b.cq), make_srq(&b, b.cq) };
    struct ibv_qp *initiator = make_initiator(&a, 0), *target = make_target(&b);
    connect_both(initiator, target, 7);
    for (uint64_t i = 0; i < 2; i++) {
        give_receive(&b, queues[i].srq, 10 + i, 0, 64);
        send_to(&a, initiator, i, 64, queues[i].number);
        expect_wc(a.cq, i, IBV_WC_SUCCESS);
    }
    CHECK_EQ(ibv_destroy_qp(target), 0);
    CHECK_EQ(ibv_destroy_srq(queues[0].srq), 0);
    expect_wc(b.cq, 11, IBV_WC_SUCCESS);
    expect_nothing(b.cq);
    CHECK_EQ(ibv_destroy_srq(queues[1].srq), 0);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    side_close(&a);
    side_close(&b);
}

/* ---- objects that go while messages come ---- */

struct sender {
    struct side side;
    struct ibv_qp *qp;
    _Atomic uint32_t srqn;
    atomic_bool stopped;
    uint32_t refused, done;
};

static void *keep_sending(void *argument) {
    struct sender *sender = argument;
    while (!atomic_load(&sender->stopped)) {
        uint32_t length = sender->done % 3 == 0 ? 200000 : 64;
        send_to(&sender->side, sender->qp, sender->done, length, atomic_load(&sender->srqn));
        struct ibv_wc wc = next_wc(sender->side.cq);
        CHECK_EQ(wc.wr_id, sender->done);
        CHECK(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_REM_INV_REQ_ERR);
        sender->done++;
        if (wc.status != IBV_WC_SUCCESS) {
            sender->refused++;
            return NULL;
        }
    }
    return NULL;
}

static void *keep_receiving(void *argument) {
    struct sender *sender = argument; /* of which only `side`, and when to stop */
    struct ibv_wc wc;
    while (!atomic_load(&sender->stopped)) {
        if (ibv_poll_cq(sender->side.cq, 1, &wc) == 1) {
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        }
    }
    return NULL;
}

static void shared_queues_go_while_messages_come(void) {
    struct side receiver;
    struct sender sender = { 0 }, poller = { 0 };
    side_open(&sender.side, -1);
    side_open(&receiver, -1);
    poller.side = receiver;
    pthread_t threads[2];
    CHECK_EQ(pthread_create(&threads[0], NULL, keep_receiving, &poller), 0);
    for (int i = 0; i < 30; i++) {
        struct shared_queue queue = make_srq(&receiver, receiver.cq);
        struct ibv_qp *target = make_target(&receiver);
        sender.qp = make_initiator(&sender.side, 0);
        sender.done = sender.refused = 0;
        atomic_store(&sender.srqn, queue.number);
        atomic_store(&sender.stopped, false);
        connect_both(sender.qp, target, 7);
        for (uint64_t k = 0; k < 200; k++) {
            give_receive(&receiver, queue.srq, k, 0, 200000);
        }
        CHECK_EQ(pthread_create(&threads[1], NULL, keep_sending, &sender), 0);
        struct ibv_srq_attr left;
        uint64_t limit = patience_end_ns();
        struct ibv_qp_attr attr;
        struct ibv_qp_init_attr init;
        do { /* until the first message has begun, whenever that is */
            CHECK(now_ns() < limit);
            CHECK_EQ(ibv_query_qp(target, &attr, IBV_QP_STATE, &init), 0);
            CHECK_EQ(ibv_query_srq(queue.srq, &left), 0);
        } while (attr.qp_state != IBV_QPS_RTS);
        if (i % 2 == 0) {
            CHECK_EQ(ibv_destroy_srq(queue.srq), 0); /* messages under way and later ones are refused */
            CHECK_EQ(pthread_join(threads[1], NULL), 0);
            CHECK_EQ(sender.refused, 1);
            CHECK_EQ(ibv_destroy_qp(target), 0);
        } else {
            atomic_store(&sender.stopped, true);
            CHECK_EQ(pthread_join(threads[1], NULL), 0);
            CHECK_EQ(ibv_destroy_qp(target), 0);
            CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
        }
        CHECK_EQ(ibv_destroy_qp(sender.qp), 0);
    }
    atomic_store(&poller.stopped, true);
    CHECK_EQ(pthread_join(threads[0], NULL), 0);
    side_close(&sender.side);
    side_close(&receiver);
}

static void *open_and_close(void *argument) {
    const struct side *side = argument;
    for (int i = 0; i < 200; i++) {
        struct shared_queue queue = make_srq(side, side->cq);
        struct ibv_qp *target = make_target(side);
        struct ibv_qp_open_attr attr = {
            .comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
            .qp_num = target->qp_num, .xrcd = side->xrcd, .qp_type = IBV_QPT_XRC_RECV,
        };
        struct ibv_qp *opened = ibv_open_qp(side->context, &attr);
        CHECK(opened != NULL);
        CHECK_EQ(ibv_destroy_qp(i % 2 == 0 ? target : opened), 0);
        CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
        CHECK_EQ(ibv_destroy_qp(i % 2 == 0 ? opened : target), 0);
        struct ibv_xrcd *again = open_domain(side->context, -1, O_CREAT);
        CHECK(again != NULL);
        CHECK_EQ(ibv_close_xrcd(again), 0);
    }
    return NULL;
}

static void several_threads_use_a_domain(void) {
    struct side side;
    side_open(&side, -1);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, open_and_close, &side), 0);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    side_close(&side);
}

static struct side of_parent;
static struct shared_queue queue_of_parent;
static struct ibv_qp *target_of_parent, *opened_by_parent;

static void use_what_is_the_parents(int socket) {
    (void) socket;
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    struct ibv_srq_init_attr_ex srq = srq_attributes(&of_parent, of_parent.cq);
    CHECK(open_domain(of_parent.context, -1, O_CREAT) == NULL && errno == EIO);
    CHECK(ibv_create_srq_ex(of_parent.context, &srq) == NULL && errno == EIO);
    CHECK_EQ(ibv_query_qp(target_of_parent, &attr, IBV_QP_STATE, &init), EIO);
    CHECK_EQ(ibv_destroy_qp(target_of_parent), 0);
    CHECK_EQ(ibv_destroy_qp(opened_by_parent), 0);
    CHECK_EQ(ibv_destroy_srq(queue_of_parent.srq), 0);
    side_close(&of_parent);
    struct side own; /* and what it makes itself is its own */
    side_open(&own, -1);
    struct shared_queue queue = make_srq(&own, own.cq);
    struct ibv_qp *initiator = make_initiator(&own, 0), *target = make_target(&own);
    connect_both(initiator, target, 7);
    give_receive(&own, queue.srq, 1, 0, 64);
    send_to(&own, initiator, 2, 64, queue.number);
    struct ibv_wc first = next_wc(own.cq), second = next_wc(own.cq);
    CHECK_EQ(first.wr_id + second.wr_id, 3);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_destroy_qp(target), 0);
    CHECK_EQ(ibv_destroy_srq(queue.srq), 0);
    side_close(&own);
}

static void a_forked_child_releases_its_copies_only(void) {
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    side_open(&of_parent, fd);
    queue_of_parent = make_srq(&of_parent, of_parent.cq);
    target_of_parent = make_target(&of_parent);
    struct ibv_qp_open_attr attr = {
        .comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
        .qp_num = target_of_parent->qp_num, .xrcd = of_parent.xrcd, .qp_type = IBV_QPT_XRC_RECV,
    };
    opened_by_parent = ibv_open_qp(of_parent.context, &attr);
    CHECK(opened_by_parent != NULL);
    /* AddressSanitizer's allocator, unlike glibc's, stays locked in the child if the engine allocates at the fork. */
    settle();
    int socket;
    pid_t child = spawn(use_what_is_the_parents, &socket);
    expect_exit(child, 0);
    close(socket);
    struct side peer;
    side_open(&peer, -1);
    struct ibv_qp *initiator = make_initiator(&peer, 0);
    connect_both(initiator, target_of_parent, 7);
    give_receive(&of_parent, queue_of_parent.srq, 1, 0, 64);
    send_to(&peer, initiator, 2, 64, queue_of_parent.number);
    expect_wc(of_parent.cq, 1, IBV_WC_SUCCESS);
    expect_wc(peer.cq, 2, IBV_WC_SUCCESS);
    CHECK_EQ(ibv_destroy_qp(initiator), 0);
    CHECK_EQ(ibv_destroy_qp(target_of_parent), 0);
    CHECK_EQ(ibv_destroy_qp(opened_by_parent), 0);
    CHECK_EQ(ibv_destroy_srq(queue_of_parent.srq), 0);
    side_close(&peer);
    side_close(&of_parent);
    close(fd);
}

/* ---- the connection manager ---- */

static struct rdma_cm_id *make_endpoint(int flags, enum ibv_qp_type type, const char *port,
                                        struct ibv_qp_init_attr *attr) {
    struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_IB, .ai_qp_type = type }, *info;
    struct rdma_cm_id *id;
    CHECK_EQ(rdma_getaddrinfo(test_address(), port, &hints, &info), 0);
    CHECK_EQ(rdma_create_ep(&id, info, NULL, attr), 0);
    rdma_freeaddrinfo(info);
    return id;
}

struct connector {
    struct rdma_cm_id *id;
    int error;
};

static void *connect_endpoint(void *argument) {
    struct connector *connector = argument;
    connector->error = rdma_connect(connector->id, NULL) == 0 ? 0 : errno;
    return NULL;
}

static void *disconnect_endpoint(void *argument) {
    struct connector *connector = argument;
    connector->error = rdma_disconnect(connector->id) == 0 ? 0 : errno;
    return NULL;
}

static void connect_by_the_connection_manager(enum ibv_qp_type listens_as, bool fits) {
    struct ibv_qp_init_attr passive = { .cap = { .max_recv_wr = 1, .max_recv_sge = 1 } };
    struct ibv_qp_init_attr active = { .cap = { .max_send_wr = 1, .max_send_sge = 1 }, .sq_sig_all = 1 };
    if (listens_as != IBV_QPT_XRC_RECV) {
        passive.cap.max_send_wr = passive.cap.max_send_sge = 1;
    }
    struct rdma_cm_id *listener = make_endpoint(RAI_PASSIVE, listens_as, "0", &passive), *id;
    CHECK_EQ(rdma_listen(listener, 1), 0);
    char port[8];
    snprintf(port, sizeof(port), "%u", be16toh(rdma_get_src_port(listener)));
    struct connector connector = { make_endpoint(0, IBV_QPT_XRC_SEND, port, &active), 0 };
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, connect_endpoint, &connector), 0);
    if (!fits) {
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(connector.error, ECONNREFUSED);
        rdma_destroy_ep(connector.id);
        rdma_destroy_ep(listener);
        return;
    }
    CHECK_EQ(rdma_get_request(listener, &id), 0);
    CHECK_EQ(id->qp->qp_type, IBV_QPT_XRC_RECV);
    struct ibv_srq_init_attr attr = { .attr = { .max_wr = 64, .max_sge = 1 } }; /* more than the completion queue has */
    CHECK_EQ(rdma_create_srq(id, NULL, &attr), 0);
    CHECK(id->recv_cq->cqe >= 64);
    uint32_t number;
    CHECK_EQ(ibv_get_srq_num(id->srq, &number), 0);
    char received[16] = "", sent[16] = "hello";
    struct ibv_mr *mr = rdma_reg_msgs(id, received, sizeof(received)), *sent_mr;
    CHECK(mr != NULL);
    CHECK_EQ(rdma_post_recv(id, NULL, received, sizeof(received), mr), 0);
    CHECK_EQ(rdma_accept(id, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(connector.error, 0);
    sent_mr = rdma_reg_msgs(connector.id, sent, sizeof(sent));
    struct ibv_sge sge = { (uintptr_t) sent, sizeof(sent), sent_mr->lkey };
    struct ibv_send_wr wr = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .qp_type.xrc.remote_srqn = number,
    }, *bad;
    CHECK_EQ(ibv_post_send(connector.id->qp, &wr, &bad), 0);
    struct ibv_wc wc;
    CHECK_EQ(rdma_get_recv_comp(id, &wc), 1);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(strcmp(received, sent), 0);
    CHECK_EQ(rdma_get_send_comp(connector.id, &wc), 1);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    /* Each end waits for the other one. */
    CHECK_EQ(pthread_create(&thread, NULL, disconnect_endpoint, &connector), 0);
    CHECK_EQ(rdma_disconnect(id), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(connector.error, 0);
    rdma_dereg_mr(mr);
    rdma_dereg_mr(sent_mr);
    rdma_destroy_ep(id);
    rdma_destroy_ep(connector.id);
    rdma_destroy_ep(listener);
}

/* Counts eventfds: of completion channels, among others. */
static int count_eventfds(void) {
    int count = 0;
    for (int fd = 0; fd < 1024; fd++) {
        char path[32], target[32] = "";
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        count += readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "eventfd") != NULL;
    }
    return count;
}

static void the_connection_manager_connects_initiators_with_targets(void) {
    int before = 0;
    for (int i = 0; i < 4; i++) {
        connect_by_the_connection_manager(IBV_QPT_XRC_RECV, true);
        before = i == 0 ? count_eventfds() : before;
        CHECK_EVENTUALLY(count_eventfds() <= before);
    }
}

static void a_listener_for_another_type_refuses(void) {
    connect_by_the_connection_manager(IBV_QPT_RC, false);
}

int main(void) {
    RUN(a_forked_child_releases_its_copies_only);
    RUN(a_completion_queue_that_overflows_fails_shared_queue_and_targets);
    RUN(a_peer_of_another_type_is_not_heard);
    RUN(completions_of_a_shared_queue_go_with_it_and_not_with_the_target);
    RUN(shared_queues_go_while_messages_come);
    RUN(several_threads_use_a_domain);
    RUN(the_connection_manager_connects_initiators_with_targets);
    RUN(a_listener_for_another_type_refuses);
    return 0;
}
