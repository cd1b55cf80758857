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
 * Datagrams and the process at the other end: one that lies, one that goes, and more of them than there are flows.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "embedded/base/sealed.h"
#include "embedded/link/link.h"
#include "flow_inside.h"

#define HALF (PAIR_BUFFER / 2)

/* ---- a sender that lies ---- */

struct liar {
    struct link *link;
    struct wire_arena *arena; /* arena of one segment */
    int arena_fd;
    struct wire_flow flow;
};

static void say(struct liar *liar, unsigned type, const void *body, size_t length, int *fds, int nfds) {
    int error = link_send(liar->link, type, body, length, fds, nfds);
    CHECK(error == 0 || error == EPIPE);
}

static void say_notify_area(struct liar *liar) {
    int fds[] = { own_notify_area_fd, own_doorbell.rung.fd };
    say(liar, WIRE_NOTIFY_AREA, NULL, 0, fds, 2);
}

static void say_open(struct liar *liar) {
    say(liar, WIRE_FLOW_OPEN, &liar->flow, sizeof(liar->flow), &liar->arena_fd, 1);
}

static void say_slot(struct liar *liar) {
    say(liar, WIRE_FLOW_SLOT, &liar->flow, sizeof(liar->flow), NULL, 0);
}

static void open_before_the_notify_area(struct liar *liar) {
    say_open(liar);
}

static void open_of_another_length(struct liar *liar) {
    say_notify_area(liar);
    say(liar, WIRE_FLOW_OPEN, &liar->flow, sizeof(liar->flow) - 1, &liar->arena_fd, 1);
}

static void open_without_memory(struct liar *liar) {
    say_notify_area(liar);
    say(liar, WIRE_FLOW_OPEN, &liar->flow, sizeof(liar->flow), NULL, 0);
}

static void open_with_memory_that_can_shrink(struct liar *liar) {
    int fd = memfd_create("unsealed", MFD_CLOEXEC);
    CHECK_EQ(ftruncate(fd, wire_arena_size(1)), 0);
    say_notify_area(liar);
    say(liar, WIRE_FLOW_OPEN, &liar->flow, sizeof(liar->flow), &fd, 1);
    close(fd);
}

static void open_with_no_segment(struct liar *liar) {
    liar->flow.place.segment = 1;
    say_notify_area(liar);
    say_open(liar);
}

static void open_twice(struct liar *liar) {
    say_notify_area(liar);
    say_open(liar);
    say_open(liar);
}

static void slot_beyond_the_notify_area(struct liar *liar) {
    say_notify_area(liar);
    say_open(liar);
    liar->flow.slot = NOTIFY_BANK_SLOTS;
    say_slot(liar);
}

static void slot_twice(struct liar *liar) {
    say_notify_area(liar);
    say_open(liar);
    say_slot(liar);
    say_slot(liar);
}

static void accept_of_a_completion_queue_beyond_the_notify_area(struct liar *liar) {
    liar->flow.cq = NOTIFY_CQS;
    say_notify_area(liar);
    say(liar, WIRE_FLOW_ACCEPT, &liar->flow, sizeof(liar->flow), &liar->arena_fd, 1);
}

static void accept_without_memory(struct liar *liar) {
    say_notify_area(liar);
    say(liar, WIRE_FLOW_ACCEPT, &liar->flow, sizeof(liar->flow), NULL, 0);
}

static void close_with_memory(struct liar *liar) {
    say_notify_area(liar);
    say(liar, WIRE_FLOW_CLOSE, &liar->flow, sizeof(liar->flow), &liar->arena_fd, 1);
}

static void (*const message_lies[])(struct liar *) = {
    open_before_the_notify_area, open_of_another_length, open_without_memory, open_with_memory_that_can_shrink,
    open_with_no_segment, open_twice,
    slot_beyond_the_notify_area, slot_twice, accept_of_a_completion_queue_beyond_the_notify_area, accept_without_memory,
    close_with_memory,
};
#define MESSAGE_LIES ((int) (sizeof(message_lies) / sizeof(message_lies[0])))

static const struct wire_desc desc_lies[] = {
    { .op = 0, .slab = WIRE_INLINE },
    { .op = WIRE_WRITE, .slab = WIRE_INLINE },
    { .op = WIRE_READ, .slab = WIRE_INLINE },
    { .op = WIRE_SEND, .slab = WIRE_INLINE, .length = WIRE_INLINE_SIZE + 1, .total = WIRE_INLINE_SIZE + 1 },
    { .op = WIRE_SEND, .slab = WIRE_REQUEST_SLAB - 1, .length = 2, .total = 2 },
    { .op = WIRE_SEND, .slab = 0x80000000u, .length = 8, .total = 8 },
    { .op = WIRE_SEND, .slab = 0, .length = UD_MTU + 1, .total = UD_MTU + 1 },
    { .op = WIRE_SEND, .slab = 0, .length = 0xffffffffu, .total = 0xffffffffu },
    { .op = WIRE_SEND, .slab = 0, .length = 8, .total = 9 },
    { .op = WIRE_SEND, .slab = 0, .length = 9, .total = 8 },
    { .op = WIRE_SEND, .flags = WIRE_GRH, .slab = 0, .length = 8, .total = 8 },
    { .op = WIRE_SEND, .flags = WIRE_MULTICAST, .slab = 0, .length = 8, .total = 8 },
};
#define DESC_LIES ((int) (sizeof(desc_lies) / sizeof(desc_lies[0])))

static void publish(struct liar *liar, const struct wire_desc *desc, uint32_t sequence) {
    struct wire_slot *slot = &liar->arena->segment[0].request[(sequence - 1) % WIRE_REQUEST_SLOTS];
    atomic_store(&liar->arena->control[0].begun[WIRE_REQUESTS], 1);
    memcpy(&slot->desc, desc, sizeof(*desc));
    slot->desc.rkey = QKEY;
    atomic_store(&slot->desc.sequence, sequence);
}

/* Descriptors of any kind, changing while they are read. */
static void make_noise(struct liar *liar) {
    uint32_t random = liar->flow.dst_qpn;
    for (int i = 0; i < 100000 && link_is_up(liar->link); i++) {
        random = random * 1664525 + 1013904223;
        struct wire_desc desc = {
            .op = WIRE_SEND + (random >> 12) % 2, .flags = random >> 16 & 63, .length = (random >> 20) % 300,
            .slab = random & 1 ? WIRE_INLINE : random >> 13, .total = (random >> 20) % 300,
        };
        publish(liar, &desc, 1 + random % 4);
        say_slot(liar); /* the second one is a lie, too */
    }
    link_abort(liar->link);
}

struct errand {
    int lie; /* -1: go home */
    uint32_t victim_qpn;
};

static void lie(int socket) {
    struct end unused; /* opens the provider */
    ud_open(&unused);
    uint32_t id = 1;
    for (;;) {
        struct errand errand;
        receive_all(socket, &errand, sizeof(errand));
        if (errand.lie < 0) {
            return;
        }
        void *memory;
        struct liar liar = { .flow = {
            .src_qpn = errand.victim_qpn, .dst_qpn = errand.victim_qpn, .id = id++, .carries = WIRE_ARENA,
            .place = { .segments = 1 },
        } };
        liar.arena_fd = sealed_create("lie", wire_arena_size(1), &memory);
        CHECK(liar.arena_fd >= 0);
        liar.arena = memory;
        CHECK_EQ(link_connect_qpn(errand.victim_qpn, &liar.link), 0);
        if (errand.lie < MESSAGE_LIES) {
            message_lies[errand.lie](&liar);
        } else {
            say_notify_area(&liar);
            say_open(&liar);
            if (errand.lie - MESSAGE_LIES < DESC_LIES) {
                publish(&liar, &desc_lies[errand.lie - MESSAGE_LIES], 1);
                say_slot(&liar);
            } else {
                make_noise(&liar);
            }
        }
        CHECK_EVENTUALLY(!link_is_up(liar.link)); /* the victim hangs up */
        link_put(liar.link);
        close(liar.arena_fd);
        munmap(memory, wire_arena_size(1));
        send_all(socket, "", 1);
    }
}

static pid_t liar_pid;
static int liar_socket;

static void a_sender_that_lies_is_hung_up_on(void) {
    struct end victim, friend;
    ud_open(&victim);
    ud_open(&friend);
    struct ibv_ah *ah = own_ah(&friend);
    for (int i = 0; i <= MESSAGE_LIES + DESC_LIES; i++) {
        CHECK_EQ(post_recv(&victim, 1, 0, 256), 0);
        struct errand errand = { i, victim.qp->qp_num };
        char done;
        send_all(liar_socket, &errand, sizeof(errand));
        receive_all(liar_socket, &done, 1);
        settle();
        struct ibv_wc wc;
        if (i == MESSAGE_LIES + DESC_LIES) {
            victim.context->ops.poll_cq(victim.recv_cq, 1, &wc); /* among the noise there may be something to receive */
            CHECK_EQ(post_recv(&victim, 1, 0, 256), 0);
        } else {
            expect_nothing(victim.recv_cq);
        }
        send_datagram(&friend, 2, 0, 20, ah, victim.qp->qp_num);
        expect_wc(victim.recv_cq, 1, IBV_WC_SUCCESS);
    }
    for (unsigned k = 256; k < PAIR_BUFFER; k++) {
        CHECK_EQ(victim.buffer[k], 0); /* nothing but what was offered */
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&victim);
    end_close(&friend);
}

/* ---- receivers ---- */

static void receive_or_lie(int socket) {
    struct end end;
    ud_open(&end);
    CHECK_EQ(post_recv(&end, 1, 0, 8192), 0);
    CHECK_EQ(post_recv(&end, 2, 0, 8192), 0);
    send_all(socket, &end.qp->qp_num, sizeof(end.qp->qp_num));
    char command;
    receive_all(socket, &command, 1);
    expect_wc(end.recv_cq, 1, IBV_WC_SUCCESS);
    qp_lock(qp_of(end.qp)); /* when it has told the truth */
    struct rx_flow *rx_flow = ud_of(qp_of(end.qp))->rx_flows;
    CHECK(rx_flow != NULL);
    atomic_store(&rx_flow->own->stream[WIRE_REQUESTS].ack, WIRE_ACK_WORD(1000, WIRE_OK));
    qp_unlock(qp_of(end.qp));
    send_all(socket, "", 1);
    receive_all(socket, &command, 1);
    expect_wc(end.recv_cq, 2, IBV_WC_SUCCESS);
    send_all(socket, "", 1);
}

static pid_t receiver_pid;
static int receiver_socket;
static uint32_t receiver_qpn;

static void a_receiver_that_lies_is_hung_up_on(void) {
    struct end a;
    ud_open(&a);
    struct ibv_ah *ah = own_ah(&a);
    char done;
    send_datagram(&a, 1, 0, 20, ah, receiver_qpn);
    send_all(receiver_socket, "", 1);
    receive_all(receiver_socket, &done, 1);
    send_datagram(&a, 2, 0, 20, ah, receiver_qpn); /* is lost, as it met the lie */
    CHECK_EVENTUALLY(flows_of(&a) == 0);
    send_datagram(&a, 3, 0, 30, ah, receiver_qpn);
    send_all(receiver_socket, "", 1);
    receive_all(receiver_socket, &done, 1);
    expect_exit(receiver_pid, 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

/* ---- bounds ---- */

static void flows_of_destroyed_queue_pairs_leave_nothing(void) {
    struct end a, b;
    ud_open(&a);
    struct ibv_ah *ah = own_ah(&a);
    struct options options = datagrams();
    for (int i = 0; i < 50; i++) {
        end_open_on(&b, &a, &options);
        ud_ready(&b);
        CHECK_EQ(post_recv(&b, 1, 0, 256), 0);
        CHECK_EQ(post_datagram(&a, 2, HALF, 20, ah, b.qp->qp_num), 0);
        for (int k = 0; k < 2; k++) { /* of one completion queue */
            CHECK_EQ(next_wc(a.send_cq).status, IBV_WC_SUCCESS);
        }
        CHECK_EQ(ibv_destroy_qp(b.qp), 0);
    }
    CHECK_EVENTUALLY(flows_of(&a) == 0); /* their receivers have said that they go */
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

/* The flow that was used longest ago makes place for a new one, at either end. */
/*
 * Sends a datagram until it is received, and returns the completion. One is lost where the engine of a busy machine
 * gets no processor for ANSWER_PATIENCE_NS (flow.c), and one that is not there after five times as long is lost.
 */
static struct ibv_wc deliver(struct end *from, uint64_t wr_id, struct ibv_ah *ah, uint32_t qpn, struct ibv_cq *cq) {
    struct ibv_wc wc;
    uint64_t end = patience_end_ns();
    for (;;) {
        CHECK(now_ns() < end);
        send_datagram(from, wr_id, HALF, 20, ah, qpn);
        for (uint64_t lost = now_ns() + UINT64_C(5000000000); now_ns() < lost; sched_yield()) {
            if (cq->context->ops.poll_cq(cq, 1, &wc) == 1) {
                CHECK_EQ(wc.status, IBV_WC_SUCCESS);
                return wc;
            }
        }
    }
}

static void more_peers_than_there_are_flows_are_reached(void) {
    enum { COUNT = 1100 };
    static struct end peers[COUNT];
    struct end a, shared;
    ud_open(&a);
    ud_open(&shared);
    struct ibv_ah *ah = own_ah(&a), *back = own_ah(&shared);
    struct options options = datagrams();
    options.send_wr = options.recv_wr = 1;
    for (int i = 0; i < COUNT; i++) {
        end_open_on(&peers[i], &shared, &options);
        ud_ready(&peers[i]);
    }
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < COUNT; i++) {
            CHECK_EQ(post_recv(&peers[i], i, 0, 256), 0);
            struct ibv_wc wc = deliver(&a, i, ah, peers[i].qp->qp_num, shared.recv_cq);
            CHECK_EQ(wc.wr_id, i);
        }
        for (unsigned i = 0; i < COUNT; i++) {
            CHECK_EQ(post_recv(&a, i, 0, 256), 0);
            struct ibv_wc wc = deliver(&peers[i], i, back, a.qp->qp_num, a.recv_cq);
            CHECK_EQ(wc.src_qp, peers[i].qp->qp_num);
        }
    }
    CHECK_EQ(flows_of(&a), 1024);
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(ibv_destroy_qp(peers[i].qp), 0);
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    CHECK_EQ(ibv_destroy_ah(back), 0);
    end_close(&a);
    end_close(&shared);
}

int main(void) {
    liar_pid = spawn(lie, &liar_socket);
    receiver_pid = spawn(receive_or_lie, &receiver_socket);
    receive_all(receiver_socket, &receiver_qpn, sizeof(receiver_qpn));
    RUN(a_sender_that_lies_is_hung_up_on);
    RUN(a_receiver_that_lies_is_hung_up_on);
    RUN(flows_of_destroyed_queue_pairs_leave_nothing);
    RUN(more_peers_than_there_are_flows_are_reached);
    struct errand home = { -1, 0 };
    send_all(liar_socket, &home, sizeof(home));
    expect_exit(liar_pid, 0);
    return 0;
}
