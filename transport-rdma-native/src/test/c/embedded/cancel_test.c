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
 * pthread_cancel(3) of a thread that calls verbs: a call that works is not cut short, whose locks would stay taken for
 * ever, and one that waits for an event ends while it waits.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "check.h"
#include "embedded/embedded.h"
#include "ud_support.h"

struct call {
    void (*body)(void);
    sem_t asked;
    atomic_bool returned;
};

/* Runs with the request to end pending: the first cancellation point that is enabled obeys it. */
static void *run(void *argument) {
    struct call *call = argument;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    sem_wait(&call->asked);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    call->body();
    atomic_store(&call->returned, true);
    return NULL;
}

static bool cancelled_in(void (*body)(void)) {
    struct call call = { .body = body };
    pthread_t thread;
    void *result;
    CHECK_EQ(sem_init(&call.asked, 0, 0), 0);
    CHECK_EQ(pthread_create(&thread, NULL, run, &call), 0);
    CHECK_EQ(pthread_cancel(thread), 0);
    sem_post(&call.asked);
    CHECK_EQ(pthread_join(thread, &result), 0);
    CHECK_EQ(result == PTHREAD_CANCELED, !atomic_load(&call.returned));
    sem_destroy(&call.asked);
    return result == PTHREAD_CANCELED;
}

#define WORKS(body) CHECK(!cancelled_in(body))

static struct end a, b;
static struct options options;
static struct ibv_mr *mr;

static void open_ends(void) {
    pair_open(&a, &b, &options);
}

static void talk(void) {
    pair_talk(&a, &b);
    pair_talk(&b, &a);
}

/* Nobody polls at b: its engine is rung, and so is its channel. */
static void write_to_a_sleeper(void) {
    struct address to = end_address(&b);
    for (uint64_t i = 0; i < 8; i++) {
        CHECK_EQ(post_rdma(&a, i, IBV_WR_RDMA_WRITE, 0, 0, PAIR_BUFFER / 2, &to, PAIR_BUFFER / 2), 0);
    }
    for (uint64_t i = 0; i < 8; i++) {
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
}

static void wake_a_sleeper(void) {
    CHECK_EQ(post_recv(&b, 1, 0, 64), 0);
    CHECK_EQ(ibv_req_notify_cq(b.recv_cq, 0), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 64), 0);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
}

static void take_event(void) {
    struct ibv_cq *cq;
    void *context;
    CHECK_EQ(ibv_get_cq_event(b.channel, &cq, &context), 0);
    ibv_ack_cq_events(cq, 1);
}

static void register_memory(void) {
    mr = ibv_reg_mr(a.pd, a.buffer, 8192, defaults.access);
    CHECK(mr != NULL);
}

static void deregister_memory(void) {
    CHECK_EQ(ibv_dereg_mr(mr), 0);
}

static void fail_queue_pair(void) {
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    CHECK_EQ(post_recv(&a, 9, 0, 8), 0);
    CHECK_EQ(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
    expect_wc(a.recv_cq, 9, IBV_WC_WR_FLUSH_ERR);
    expect_state(a.qp, IBV_QPS_ERR);
}

static void close_ends(void) {
    pair_close(&a, &b);
}

static void calls_of_verbs_are_not_cut_short(void) {
    options = defaults;
    options.channel = true;
    WORKS(open_ends);
    WORKS(talk);
    WORKS(write_to_a_sleeper);
    WORKS(wake_a_sleeper);
    take_event();
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    WORKS(register_memory);
    WORKS(deregister_memory);
    talk();
    WORKS(fail_queue_pair);
    WORKS(close_ends);
    WORKS(open_ends);
    talk();
    close_ends();
}

static struct end from, to;
static struct ibv_ah *ah;
static union ibv_gid group;

static void open_datagrams(void) {
    ud_open(&from);
    ud_open(&to);
    ah = own_ah(&from);
}

static void exchange_datagrams(void) {
    CHECK_EQ(post_recv(&to, 1, 0, 256), 0);
    send_datagram(&from, 2, 0, 64, ah, to.qp->qp_num);
    expect_wc(to.recv_cq, 1, IBV_WC_SUCCESS);
}

static void join_and_leave(void) {
    group.raw[0] = 0xff;
    CHECK_EQ(ibv_attach_mcast(to.qp, &group, 0xc001), 0);
    CHECK_EQ(ibv_detach_mcast(to.qp, &group, 0xc001), 0);
}

static void close_datagrams(void) {
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&from);
    end_close(&to);
}

static void calls_for_datagrams_are_not_cut_short(void) {
    WORKS(open_datagrams);
    WORKS(exchange_datagrams);
    WORKS(join_and_leave);
    exchange_datagrams();
    join_and_leave();
    WORKS(close_datagrams);
}

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *active, *passive;

static struct rdma_cm_event *expect(enum rdma_cm_event_type type) {
    struct rdma_cm_event *event;
    CHECK_EQ(rdma_get_cm_event(channel, &event), 0);
    CHECK_EQ(event->event, type);
    return event;
}

static void expect_and_ack(enum rdma_cm_event_type type) {
    CHECK_EQ(rdma_ack_cm_event(expect(type)), 0);
}

static void open_channel(void) {
    channel = rdma_create_event_channel();
    CHECK(channel != NULL);
}

static void make_queue_pair(struct rdma_cm_id *id) {
    struct ibv_qp_init_attr attr = {
        .cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 }, .qp_type = IBV_QPT_RC,
    };
    CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
}

static void listen_and_request(void) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    CHECK_EQ(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(listener, (struct sockaddr *) &address), 0);
    CHECK_EQ(rdma_listen(listener, 4), 0);
    address.sin_port = rdma_get_src_port(listener);
    CHECK_EQ(rdma_create_id(channel, &active, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_resolve_addr(active, NULL, (struct sockaddr *) &address, 1000), 0);
    expect_and_ack(RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK_EQ(rdma_resolve_route(active, 1000), 0);
    expect_and_ack(RDMA_CM_EVENT_ROUTE_RESOLVED);
    make_queue_pair(active);
    CHECK_EQ(rdma_connect(active, NULL), 0);
}

static void accept_request(void) {
    struct rdma_cm_event *event = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    passive = event->id;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    make_queue_pair(passive);
    CHECK_EQ(rdma_accept(passive, NULL), 0);
}

static void disconnect(void) {
    CHECK_EQ(rdma_disconnect(active), 0);
    CHECK_EQ(rdma_disconnect(passive), 0);
}

static void destroy_ids(void) {
    rdma_destroy_qp(active);
    rdma_destroy_qp(passive);
    CHECK_EQ(rdma_destroy_id(active), 0);
    CHECK_EQ(rdma_destroy_id(passive), 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

static void close_channel(void) {
    rdma_destroy_event_channel(channel);
}

/* An event that is there is fetched without waiting. */
static void await_event(void) {
    settle();
}

static void calls_of_the_connection_manager_are_not_cut_short(void) {
    WORKS(open_channel);
    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            WORKS(listen_and_request);
        } else {
            listen_and_request();
        }
        await_event();
        if (i == 0) {
            WORKS(accept_request);
        } else {
            accept_request();
        }
        expect_and_ack(RDMA_CM_EVENT_ESTABLISHED);
        expect_and_ack(RDMA_CM_EVENT_ESTABLISHED);
        if (i == 0) {
            WORKS(disconnect);
            WORKS(destroy_ids);
        } else {
            disconnect();
            destroy_ids();
        }
    }
    WORKS(close_channel);
}

static void wait_for_completion_event(void) {
    struct ibv_cq *cq;
    void *context;
    ibv_get_cq_event(b.channel, &cq, &context);
}

static void wait_for_async_event(void) {
    struct ibv_async_event event;
    ibv_get_async_event(b.context, &event);
}

static void wait_for_cm_event(void) {
    struct rdma_cm_event *event;
    rdma_get_cm_event(channel, &event);
}

static void who_waits_for_an_event_can_be_cancelled_and_another_gets_it(void) {
    options = defaults;
    options.channel = true;
    open_ends();
    open_channel();
    CHECK(cancelled_in(wait_for_completion_event));
    CHECK(cancelled_in(wait_for_async_event));
    CHECK(cancelled_in(wait_for_cm_event));
    wake_a_sleeper();
    take_event();
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    listen_and_request();
    accept_request();
    expect_and_ack(RDMA_CM_EVENT_ESTABLISHED);
    expect_and_ack(RDMA_CM_EVENT_ESTABLISHED);
    disconnect();
    destroy_ids();
    close_channel();
    close_ends();
}

int main(void) {
    RUN(calls_of_verbs_are_not_cut_short);
    RUN(calls_for_datagrams_are_not_cut_short);
    RUN(calls_of_the_connection_manager_are_not_cut_short);
#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer keeps its marks of frames that the end of a thread has skipped */
    RUN(who_waits_for_an_event_can_be_cancelled_and_another_gets_it);
#else
    (void) who_waits_for_an_event_can_be_cancelled_and_another_gets_it;
#endif
    return 0;
}
