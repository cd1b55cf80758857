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
/* Common part of the tests of completion channels: arming, and events awaited with a bound. */
#ifndef NETTY_RDMA_TEST_CHANNEL_SUPPORT_H
#define NETTY_RDMA_TEST_CHANNEL_SUPPORT_H

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"
#include "pair.h"

static inline void make_nonblocking(int fd) {
    CHECK_EQ(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

static inline int arm(struct ibv_cq *cq, int solicited_only) {
    return cq->context->ops.req_notify_cq(cq, solicited_only);
}

static inline bool is_readable(int fd) {
    struct pollfd p = { .fd = fd, .events = POLLIN };
    return poll(&p, 1, 0) == 1;
}

static inline void wait_readable(int fd) {
    struct pollfd p = { .fd = fd, .events = POLLIN };
    CHECK_EQ(poll(&p, 1, patience_ms()), 1);
}

/* Takes the event that must come. */
static inline void expect_event(struct end *end, struct ibv_cq *expected) {
    struct ibv_cq *cq;
    void *context;
    do {
        wait_readable(end->channel->fd);
    } while (ibv_get_cq_event(end->channel, &cq, &context) != 0 && errno == EAGAIN);
    CHECK(cq == expected);
    CHECK(context == end);
    ibv_ack_cq_events(cq, 1);
}

static inline void expect_no_event(struct end *end) {
    struct ibv_cq *cq;
    void *context;
    errno = 0;
    CHECK_EQ(ibv_get_cq_event(end->channel, &cq, &context), -1);
    CHECK_EQ(errno, EAGAIN);
}

static inline struct options with_channel(void) {
    struct options options = defaults;
    options.channel = true;
    options.separate_cqs = true;
    return options;
}

static inline void pair_open_nonblocking(struct end *a, struct end *b, const struct options *options) {
    pair_open(a, b, options);
    make_nonblocking(a->channel->fd);
    make_nonblocking(b->channel->fd);
}

/* ---- several threads that block on one channel ---- */

#define TAKERS 4
#define EVENTS 20000

static atomic_int taken;

static inline void *take_events(void *argument) {
    struct end *end = argument;
    do {
        struct ibv_cq *cq;
        void *context;
        CHECK_EQ(ibv_get_cq_event(end->channel, &cq, &context), 0);
        ibv_ack_cq_events(cq, 1);
    } while (atomic_fetch_add(&taken, 1) < EVENTS); /* beyond these there is one for each thread */
    return NULL;
}

static inline void threads_that_block_on_one_channel_take_each_event_once(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open(&a, &b, &options);
    pthread_t threads[TAKERS];
    for (int i = 0; i < TAKERS; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, take_events, &b), 0);
    }
    for (int i = 0; i < EVENTS + TAKERS; i++) {
        CHECK_EQ(post_recv(&b, (uint64_t) i, 0, 8), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        CHECK_EQ(post_send(&a, (uint64_t) i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(b.recv_cq, (uint64_t) i, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, (uint64_t) i, IBV_WC_SUCCESS);
    }
    CHECK_EVENTUALLY(atomic_load(&taken) == EVENTS + TAKERS);
    for (int i = 0; i < TAKERS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    pair_close(&a, &b);
}

#endif
