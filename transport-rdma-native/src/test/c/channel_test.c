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
 * Completion channels: counted events, arming, acknowledgements, and no lost wake-up under load between two processes.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"
#include "embedded/cq.h"
#include "embedded/watch.h"
#include "pair.h"

#define MESSAGES 1000000u
#define WINDOW 256u

static void make_nonblocking(int fd) {
    CHECK_EQ(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

static int arm(struct ibv_cq *cq, int solicited_only) {
    return cq->context->ops.req_notify_cq(cq, solicited_only);
}

static bool is_readable(int fd) {
    struct pollfd p = { .fd = fd, .events = POLLIN };
    return poll(&p, 1, 0) == 1;
}

static void wait_readable(int fd) {
    struct pollfd p = { .fd = fd, .events = POLLIN };
    CHECK_EQ(poll(&p, 1, 60000), 1);
}

/* Takes the event that must come. */
static void expect_event(struct end *end, struct ibv_cq *expected) {
    struct ibv_cq *cq;
    void *context;
    do {
        wait_readable(end->channel->fd);
    } while (embedded_ibv_get_cq_event(end->channel, &cq, &context) != 0 && errno == EAGAIN);
    CHECK(cq == expected);
    CHECK(context == end);
    embedded_ibv_ack_cq_events(cq, 1);
}

static void expect_no_event(struct end *end) {
    struct ibv_cq *cq;
    void *context;
    errno = 0;
    CHECK_EQ(embedded_ibv_get_cq_event(end->channel, &cq, &context), -1);
    CHECK_EQ(errno, EAGAIN);
}

static struct options with_channel(void) {
    struct options options = defaults;
    options.channel = true;
    options.separate_cqs = true;
    return options;
}

static void pair_open_nonblocking(struct end *a, struct end *b, const struct options *options) {
    pair_open(a, b, options);
    make_nonblocking(a->channel->fd);
    make_nonblocking(b->channel->fd);
}

static void an_armed_queue_gets_one_event(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    expect_no_event(&b);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
    }
    CHECK_EQ(post_send(&a, 0, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.recv_cq, 0, IBV_WC_SUCCESS);
    expect_no_event(&b); /* was not armed */
    CHECK_EQ(arm(b.recv_cq, 0), 0);
    expect_no_event(&b); /* what came before does not count */
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_event(&b, b.recv_cq);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    expect_wc(b.recv_cq, 2, IBV_WC_SUCCESS);
    expect_no_event(&b); /* one per arm */
    pair_close(&a, &b);
}

/* Each peer holds it, and may write to it. The descriptor blocks, as the application has not said otherwise. */
static void a_full_descriptor_stops_nobody(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open(&a, &b, &options);
    const uint64_t most = UINT64_MAX - 1;
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        CHECK_EQ(write(b.channel->fd, &most, sizeof(most)), sizeof(most));
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_event(&b, b.recv_cq);
        CHECK(!is_readable(b.channel->fd));
    }
    pair_close(&a, &b);
}

static void events_are_counted(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(is_readable(b.channel->fd));
        expect_event(&b, b.recv_cq);
    }
    expect_no_event(&b);
    pair_close(&a, &b);
}

static void solicited_only_wakes_for_solicited_messages_and_errors(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
    }
    CHECK_EQ(arm(b.recv_cq, 1), 0);
    CHECK_EQ(post_send(&a, 0, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 0, IBV_WC_SUCCESS); /* executed, although nobody polls there */
    expect_no_event(&b);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, IBV_SEND_SOLICITED, 0, 8), 0);
    expect_event(&b, b.recv_cq);
    CHECK_EQ(arm(b.recv_cq, 1), 0);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    CHECK_EQ(embedded_ibv_modify_qp(b.qp, &attr, IBV_QP_STATE), 0);
    expect_event(&b, b.recv_cq);
    pair_close(&a, &b);
}

static void send_completions_wake_as_well(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    struct address to = end_address(&b);
    for (uint32_t length = 8; length <= 2 << 20; length *= 64) {
        CHECK_EQ(arm(a.send_cq, 0), 0);
        CHECK_EQ(post_rdma(&a, 1, IBV_WR_RDMA_WRITE, 0, 0, length, &to, 0), 0);
        expect_event(&a, a.send_cq);
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
        CHECK_EQ(arm(a.send_cq, 0), 0);
        CHECK_EQ(post_rdma(&a, 2, IBV_WR_RDMA_READ, 0, 0, length, &to, 0), 0);
        expect_event(&a, a.send_cq);
        expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    }
    pair_close(&a, &b);
}

/* The receiver is likely to answer, which rings as well; see cq_owe_ring(). */
static void an_acknowledgement_rings_once_the_receiver_has_had_its_chance_to_answer(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    CHECK_EQ(post_recv(&b, 0, 0, 8), 0);
    expect_nothing(b.recv_cq);
    atomic_store(&watch_suspended, true); /* else it would be found a moment later */
    CHECK_EQ(arm(a.send_cq, 0), 0);
    CHECK_EQ(post_send(&a, 1, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(b.recv_cq, 0, IBV_WC_SUCCESS);
    CHECK(!is_readable(a.channel->fd));
    expect_nothing(b.recv_cq);
    expect_event(&a, a.send_cq);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    atomic_store(&watch_suspended, false);
    pair_close(&a, &b);
}

static void an_acknowledgement_rings_even_if_the_receiver_never_polls_again(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open_nonblocking(&a, &b, &options);
    for (uint64_t i = 0; i < 8; i++) {
        CHECK_EQ(post_recv(&b, i, 0, 8), 0);
        expect_nothing(b.recv_cq);
        CHECK_EQ(arm(a.send_cq, 0), 0);
        CHECK_EQ(post_send(&a, i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(b.recv_cq, i, IBV_WC_SUCCESS);
        expect_event(&a, a.send_cq);
        expect_wc(a.send_cq, i, IBV_WC_SUCCESS);
    }
    pair_close(&a, &b);
}

struct destroyer {
    struct ibv_cq *cq;
    atomic_bool done;
};

static void *destroy(void *argument) {
    struct destroyer *d = argument;
    CHECK_EQ(embedded_ibv_destroy_cq(d->cq), 0);
    atomic_store(&d->done, true);
    return NULL;
}

static void destroying_a_queue_waits_for_acknowledgement(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open(&a, &b, &options);
    CHECK_EQ(post_recv(&b, 0, 0, 8), 0);
    CHECK_EQ(arm(b.recv_cq, 0), 0);
    CHECK_EQ(post_send(&a, 0, IBV_WR_SEND, 0, 0, 8), 0);
    struct ibv_cq *cq;
    void *context;
    CHECK_EQ(embedded_ibv_get_cq_event(b.channel, &cq, &context), 0); /* blocking */
    CHECK_EQ(embedded_ibv_destroy_qp(b.qp), 0);
    struct destroyer d = { .cq = b.recv_cq };
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, destroy, &d), 0);
    poll(NULL, 0, 20);
    CHECK(!atomic_load(&d.done));
    embedded_ibv_ack_cq_events(cq, 1);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(embedded_ibv_destroy_comp_channel(b.channel), EBUSY);
    b.recv_cq = b.send_cq;
    struct ibv_qp_init_attr attr = { .send_cq = b.send_cq, .recv_cq = b.send_cq, .qp_type = IBV_QPT_RC };
    b.qp = embedded_ibv_create_qp(b.pd, &attr);
    CHECK(b.qp != NULL);
    pair_close(&a, &b);
}

static void destroying_a_queue_keeps_the_wake_up_of_another(void) {
    struct end a, b, c, d;
    struct options options = defaults;
    options.channel = true;
    pair_open_nonblocking(&a, &b, &options);
    struct end shared = b;
    shared.send_cq = shared.recv_cq = embedded_ibv_create_cq(b.context, 16, &b, b.channel, 0);
    CHECK(shared.recv_cq != NULL);
    end_open_on(&c, &shared, &options);
    end_open_on(&d, &a, &options);
    end_connect(&c, d.qp->qp_num);
    end_connect(&d, c.qp->qp_num);
    atomic_store(&watch_suspended, true); /* else it would be found a moment later */
    CHECK_EVENTUALLY(BOARD_ENGINE_ASLEEP(atomic_load(&own_board->engine.word)) && !is_readable(cq_engine_bell()));

    CHECK_EQ(post_recv(&c, 0, 0, 8), 0);
    CHECK_EQ(arm(shared.recv_cq, 0), 0);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    CHECK_EQ(embedded_ibv_modify_qp(c.qp, &attr, IBV_QP_STATE), 0); /* an event that nobody takes */
    CHECK_EQ(post_recv(&b, 1, 0, 8), 0);
    CHECK_EQ(arm(b.recv_cq, 0), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    CHECK_EQ(embedded_ibv_destroy_qp(c.qp), 0);
    CHECK_EQ(embedded_ibv_destroy_cq(shared.recv_cq), 0);
    expect_event(&b, b.recv_cq);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);

    atomic_store(&watch_suspended, false);
    CHECK_EQ(embedded_ibv_destroy_qp(d.qp), 0);
    pair_close(&a, &b);
}

#define TAKERS 4
#define EVENTS 20000

static atomic_int taken;
static atomic_bool stop;

static void *take_events(void *argument) {
    struct end *end = argument;
    do {
        struct ibv_cq *cq;
        void *context;
        CHECK_EQ(embedded_ibv_get_cq_event(end->channel, &cq, &context), 0);
        embedded_ibv_ack_cq_events(cq, 1);
        atomic_fetch_add(&taken, 1);
    } while (!atomic_load(&stop));
    return NULL;
}

static void threads_that_block_on_one_channel_take_each_event_once(void) {
    struct end a, b;
    struct options options = with_channel();
    pair_open(&a, &b, &options);
    pthread_t threads[TAKERS];
    for (int i = 0; i < TAKERS; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, take_events, &b), 0);
    }
    for (int i = 0; i < EVENTS + TAKERS; i++) {
        if (i == EVENTS) {
            CHECK_EVENTUALLY(atomic_load(&taken) == EVENTS);
            atomic_store(&stop, true); /* one more for each */
        }
        CHECK_EQ(post_recv(&b, (uint64_t) i, 0, 8), 0);
        CHECK_EQ(arm(b.recv_cq, 0), 0);
        CHECK_EQ(post_send(&a, (uint64_t) i, IBV_WR_SEND, 0, 0, 8), 0);
        expect_wc(b.recv_cq, (uint64_t) i, IBV_WC_SUCCESS);
        expect_wc(a.send_cq, (uint64_t) i, IBV_WC_SUCCESS);
    }
    for (int i = 0; i < TAKERS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    CHECK_EQ(atomic_load(&taken), EVENTS + TAKERS);
    pair_close(&a, &b);
}

/* ---- a million messages, the receiver asleep in between ---- */

/* Opens an end with all its receives posted, and connects it with the one at the other end of the socket. */
static void open_loaded(int socket, struct end *end, struct address *peer, const struct options *options) {
    atomic_store(&watch_suspended, true);
    end_open(end, options);
    make_nonblocking(end->channel->fd);
    end_to_init(end);
    for (int i = 0; i < options->recv_wr; i++) {
        CHECK_EQ(post_recv(end, 0, 0, 0), 0);
    }
    struct address own = end_address(end);
    send_all(socket, &own, sizeof(own));
    receive_all(socket, peer, sizeof(*peer));
    CHECK_EQ(end_to_rtr(end, peer->qpn), 0);
    CHECK_EQ(end_to_rts(end), 0);
}

static struct options load_options(void) {
    struct options options = defaults;
    options.channel = true;
    options.send_wr = options.recv_wr = 2 * WINDOW;
    options.cqe = 8 * WINDOW;
    options.sig_all = false;
    return options;
}

/*
 * Receives all messages and sends one back for each WINDOW / 2. Never polls without having armed, always sleeps when
 * empty; only the descriptor wakes it.
 */
static void receive_asleep(int socket) {
    struct end end;
    struct address peer;
    struct options options = load_options();
    open_loaded(socket, &end, &peer, &options);
    uint32_t received = 0, answered = 0, slept = 0;
    while (received < MESSAGES) {
        CHECK_EQ(arm(end.recv_cq, 0), 0);
        bool any = false;
        struct ibv_wc wc[16];
        int n;
        while ((n = end.context->ops.poll_cq(end.recv_cq, 16, wc)) > 0) {
            any = true;
            for (int i = 0; i < n; i++) {
                CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
                if (wc[i].opcode != IBV_WC_RECV_RDMA_WITH_IMM) {
                    continue;
                }
                CHECK_EQ(be32toh(wc[i].imm_data), received);
                received++;
                CHECK_EQ(post_recv(&end, 0, 0, 0), 0);
            }
        }
        for (; answered + WINDOW / 2 <= received; answered += WINDOW / 2) {
            CHECK_EQ(post_rdma(&end, answered, IBV_WR_RDMA_WRITE_WITH_IMM,
                               answered % 1024 == 0 ? IBV_SEND_SIGNALED : 0, 0, 8, &peer, 0), 0);
        }
        if (any || received == MESSAGES) {
            continue;
        }
        slept++;
        wait_readable(end.channel->fd);
        struct ibv_cq *cq;
        void *context;
        while (embedded_ibv_get_cq_event(end.channel, &cq, &context) == 0) {
            embedded_ibv_ack_cq_events(cq, 1);
        }
        CHECK_EQ(errno, EAGAIN);
    }
    printf("    slept %u times\n", slept);
    CHECK(slept > 100);
    char done;
    receive_all(socket, &done, 1);
    end_close(&end);
}

static void no_wake_up_is_lost_in_a_million_messages(void) {
    int socket;
    pid_t child = spawn(receive_asleep, &socket);
    struct end end;
    struct address peer;
    struct options options = load_options();
    open_loaded(socket, &end, &peer, &options);
    uint32_t sent = 0, credit = 2 * WINDOW, random = 1;
    while (sent < MESSAGES) {
        struct ibv_wc wc[16];
        int n = end.context->ops.poll_cq(end.send_cq, 16, wc);
        for (int i = 0; i < n; i++) {
            CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
            if (wc[i].opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
                credit += WINDOW / 2;
                CHECK_EQ(post_recv(&end, 0, 0, 0), 0);
            }
        }
        /* Bursts of changing size with gaps, so that the receiver falls asleep at every possible point. */
        random = random * 1664525 + 1013904223;
        for (uint32_t burst = random >> 28; burst > 0 && credit > 0 && sent < MESSAGES; burst--, credit--, sent++) {
            CHECK_EQ(post_rdma(&end, sent, IBV_WR_RDMA_WRITE_WITH_IMM, sent % 32 == 31 ? IBV_SEND_SIGNALED : 0, 0,
                               sent % 512, &peer, 0), 0);
        }
        for (volatile uint32_t gap = (random >> 20) % 64; gap > 0; gap--) {
        }
        if (credit == 0) {
            /* Sleep, too, until credit comes. */
            CHECK_EQ(arm(end.send_cq, 0), 0);
            n = end.context->ops.poll_cq(end.send_cq, 1, wc);
            if (n == 1) {
                CHECK_EQ(wc[0].status, IBV_WC_SUCCESS);
                if (wc[0].opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
                    credit += WINDOW / 2;
                    CHECK_EQ(post_recv(&end, 0, 0, 0), 0);
                }
            } else {
                wait_readable(end.channel->fd);
            }
            struct ibv_cq *cq;
            void *context;
            while (embedded_ibv_get_cq_event(end.channel, &cq, &context) == 0) {
                embedded_ibv_ack_cq_events(cq, 1);
            }
        }
    }
    const char done = 1;
    send_all(socket, &done, 1);
    atomic_store(&watch_suspended, false); /* nobody polls here any more, and not all may have gone out */
    expect_exit(child, 0);
    end_close(&end);
}

int main(void) {
    RUN(no_wake_up_is_lost_in_a_million_messages);
    RUN(an_armed_queue_gets_one_event);
    RUN(a_full_descriptor_stops_nobody);
    RUN(events_are_counted);
    RUN(solicited_only_wakes_for_solicited_messages_and_errors);
    RUN(send_completions_wake_as_well);
    RUN(an_acknowledgement_rings_once_the_receiver_has_had_its_chance_to_answer);
    RUN(an_acknowledgement_rings_even_if_the_receiver_never_polls_again);
    RUN(destroying_a_queue_waits_for_acknowledgement);
    RUN(destroying_a_queue_keeps_the_wake_up_of_another);
    RUN(threads_that_block_on_one_channel_take_each_event_once);
    return 0;
}
