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
 * Datagrams and the process at the other end: one that lies, one that is stopped, one that dies. The others must not
 * notice, and no send may wait for it for long.
 */
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded/link.h"
#include "embedded/sealed.h"
#include "embedded/ud.h"
#include "ud_support.h"

#define HALF (PAIR_BUFFER / 2)

static const union ibv_gid crowded = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 1 } };

/* ---- a sender that lies ---- */

struct liar {
    struct link *link;
    struct wire_segment *segment;
    int segment_fd;
    struct wire_flow flow;
};

static void say(struct liar *liar, unsigned type, const void *body, size_t length, int *fds, int nfds) {
    int error = link_send(liar->link, type, body, length, fds, nfds);
    CHECK(error == 0 || error == EPIPE);
}

static void say_board(struct liar *liar) {
    struct wire_board greeting = { .version = WIRE_VERSION, .size = sizeof(struct board) };
    int fds[] = { own_board_fd, cq_engine_bell() };
    say(liar, WIRE_BOARD, &greeting, sizeof(greeting), fds, 2);
}

static void say_open(struct liar *liar) {
    say(liar, WIRE_FLOW_OPEN, &liar->flow, sizeof(liar->flow), &liar->segment_fd, 1);
}

static void say_slot(struct liar *liar) {
    say(liar, WIRE_FLOW_SLOT, &liar->flow, sizeof(liar->flow), NULL, 0);
}

static void open_before_the_board(struct liar *liar) {
    say_open(liar);
}

static void open_of_another_length(struct liar *liar) {
    say_board(liar);
    say(liar, WIRE_FLOW_OPEN, &liar->flow, sizeof(liar->flow) - 1, &liar->segment_fd, 1);
}

static void open_without_memory(struct liar *liar) {
    say_board(liar);
    say(liar, WIRE_FLOW_OPEN, &liar->flow, sizeof(liar->flow), NULL, 0);
}

static void open_with_memory_that_can_shrink(struct liar *liar) {
    int fd = memfd_create("unsealed", MFD_CLOEXEC);
    CHECK_EQ(ftruncate(fd, sizeof(struct wire_segment)), 0);
    say_board(liar);
    say(liar, WIRE_FLOW_OPEN, &liar->flow, sizeof(liar->flow), &fd, 1);
    close(fd);
}

static void open_twice(struct liar *liar) {
    say_board(liar);
    say_open(liar);
    say_open(liar);
}

static void slot_beyond_the_board(struct liar *liar) {
    say_board(liar);
    say_open(liar);
    liar->flow.slot = BOARD_BANK_SLOTS;
    say_slot(liar);
}

static void slot_twice(struct liar *liar) {
    say_board(liar);
    say_open(liar);
    say_slot(liar);
    say_slot(liar);
}

static void accept_of_a_completion_queue_beyond_the_board(struct liar *liar) {
    liar->flow.cq = BOARD_CQS;
    say_board(liar);
    say(liar, WIRE_FLOW_ACCEPT, &liar->flow, sizeof(liar->flow), &liar->segment_fd, 1);
}

static void accept_without_memory(struct liar *liar) {
    say_board(liar);
    say(liar, WIRE_FLOW_ACCEPT, &liar->flow, sizeof(liar->flow), NULL, 0);
}

static void close_with_memory(struct liar *liar) {
    say_board(liar);
    say(liar, WIRE_FLOW_CLOSE, &liar->flow, sizeof(liar->flow), &liar->segment_fd, 1);
}

static void (*const message_lies[])(struct liar *) = {
    open_before_the_board, open_of_another_length, open_without_memory, open_with_memory_that_can_shrink, open_twice,
    slot_beyond_the_board, slot_twice, accept_of_a_completion_queue_beyond_the_board, accept_without_memory,
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
    struct wire_slot *slot = &liar->segment->request[(sequence - 1) % WIRE_REQUEST_SLOTS];
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
        struct liar liar = { .flow = { .src_qpn = errand.victim_qpn, .dst_qpn = errand.victim_qpn, .id = id++ } };
        liar.segment_fd = sealed_create("lie", sizeof(struct wire_segment), &memory);
        CHECK(liar.segment_fd >= 0);
        liar.segment = memory;
        CHECK_EQ(link_connect_qpn(errand.victim_qpn, &liar.link), 0);
        if (errand.lie < MESSAGE_LIES) {
            message_lies[errand.lie](&liar);
        } else {
            say_board(&liar);
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
        close(liar.segment_fd);
        munmap(memory, sizeof(struct wire_segment));
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

static unsigned flows_of(const struct end *end) {
    struct qp *qp = qp_of(end->qp);
    qp_lock(qp);
    unsigned count = qp->ud->flows.count;
    qp_unlock(qp);
    return count;
}

static bool is_open(const struct end *end, uint32_t qpn) {
    struct qp *qp = qp_of(end->qp);
    qp_lock(qp);
    const struct flow *flow = flow_table_find(&qp->ud->flows, qpn);
    bool open = flow != NULL && flow->state == FLOW_OPEN;
    qp_unlock(qp);
    return open;
}

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
    struct inflow *inflow = qp_of(end.qp)->ud->inflows;
    CHECK(inflow != NULL);
    atomic_store(&inflow->own->stream[WIRE_REQUESTS].ack, WIRE_ACK_WORD(1000, WIRE_OK));
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

static void receive_all_there_is(int socket) {
    struct end end;
    struct options options = datagrams();
    options.recv_wr = 4096;
    options.cqe = 4096;
    end_open(&end, &options);
    ud_ready(&end);
    send_all(socket, &end.qp->qp_num, sizeof(end.qp->qp_num));
    char last = 0;
    while (!last) {
        CHECK_EQ(post_recv(&end, 1, 0, 8192), 0);
        struct ibv_wc wc = next_wc(end.recv_cq);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        last = end.buffer[GRH];
    }
    send_all(socket, "", 1);
    receive_all(socket, &last, 1); /* to be killed */
}

static pid_t sleeper_pid;
static int sleeper_socket;
static uint32_t sleeper_qpn;

static void a_process_that_is_stopped_stops_nobody(void) {
    enum { COUNT = 500 };
    struct end a, friend;
    ud_open(&a);
    ud_open(&friend);
    struct ibv_ah *ah = own_ah(&a);
    for (int round = 0; round < 2; round++) { /* at first it is unknown, then known */
        CHECK_EQ(kill(sleeper_pid, SIGSTOP), 0);
        int status;
        CHECK_EQ(waitpid(sleeper_pid, &status, WUNTRACED), sleeper_pid);
        memset(a.buffer, 0, 4096);
        for (unsigned i = 0; i < COUNT; i++) {
            send_datagram(&a, i, 0, 4096, ah, sleeper_qpn);
        }
        CHECK_EQ(post_recv(&friend, 1, 0, 256), 0);
        send_datagram(&a, 1, 0, 20, ah, friend.qp->qp_num);
        expect_wc(friend.recv_cq, 1, IBV_WC_SUCCESS);
        CHECK_EQ(kill(sleeper_pid, SIGCONT), 0);
        a.buffer[0] = (char) round;
        CHECK_EVENTUALLY((send_datagram(&a, 2, 0, 20, ah, sleeper_qpn), is_open(&a, sleeper_qpn)));
    }
    struct pollfd heard = { .fd = sleeper_socket, .events = POLLIN };
    CHECK_EVENTUALLY((send_datagram(&a, 3, 0, 20, ah, sleeper_qpn), poll(&heard, 1, 0) == 1));

    CHECK_EQ(kill(sleeper_pid, SIGKILL), 0);
    expect_exit(sleeper_pid, SIGKILL);
    for (unsigned i = 0; i < COUNT; i++) {
        send_datagram(&a, i, 0, 4096, ah, sleeper_qpn);
    }
    CHECK_EVENTUALLY(flows_of(&a) == 1); /* the friend's */
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&friend);
}

/* ---- receivers that are slow: none of these may take a second for each datagram ---- */

#define CROWD 100

/* Until the test has something to say. Nobody polls meanwhile. */
static void await_turn(int socket) {
    char turn;
    receive_all(socket, &turn, 1);
}

/* Queue pairs that are in a group as well, of a process that is to be stopped. */
static void be_a_crowd(int socket) {
    struct end end, more;
    await_turn(socket);
    ud_open(&end);
    struct options options = datagrams();
    for (int i = 0; i < CROWD; i++) {
        end_open_on(&more, &end, &options);
        ud_ready(&more);
        CHECK_EQ(ibv_attach_mcast(more.qp, &crowded, 0xc000), 0);
        send_all(socket, &more.qp->qp_num, sizeof(more.qp->qp_num));
    }
    await_turn(socket); /* to be killed */
}

static pid_t crowd_pid;
static int crowd_socket;

static void a_process_that_is_stopped_is_waited_for_once(void) {
    uint32_t qpns[CROWD];
    struct end a, friend;
    struct options options = datagrams();
    options.send_wr = 2 * CROWD;
    end_open(&a, &options);
    ud_ready(&a);
    ud_open(&friend);
    CHECK_EQ(ibv_attach_mcast(a.qp, &crowded, 0xc000), 0); /* somebody who is not stopped keeps the list of members */
    send_all(crowd_socket, "", 1);
    for (int i = 0; i < CROWD; i++) {
        receive_all(crowd_socket, &qpns[i], sizeof(qpns[i]));
    }
    CHECK_EQ(kill(crowd_pid, SIGSTOP), 0);
    int status, fds = open_fds();
    CHECK_EQ(waitpid(crowd_pid, &status, WUNTRACED), crowd_pid);
    struct ibv_ah *ah = own_ah(&a);
    for (int i = 0; i < CROWD; i++) {
        CHECK_EQ(post_datagram(&a, 1, 0, 20, ah, qpns[i]), 0);
    }
    CHECK_EQ(post_recv(&friend, 1, 0, 256), 0);
    CHECK_EQ(post_datagram(&a, 1, 0, 20, ah, friend.qp->qp_num), 0);
    for (int i = 0; i <= CROWD; i++) {
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    }
    expect_wc(friend.recv_cq, 1, IBV_WC_SUCCESS);
    CHECK(open_fds() < fds + CROWD); /* none for each that does not answer */

    CHECK_EQ(kill(crowd_pid, SIGCONT), 0);
    CHECK_EVENTUALLY((send_datagram(&a, 2, 0, 20, ah, qpns[CROWD - 1]), is_open(&a, qpns[CROWD - 1])));
    CHECK_EQ(ibv_detach_mcast(a.qp, &crowded, 0xc000), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&friend);
}

static void a_group_waits_once_for_members_of_a_process_that_is_stopped(void) {
    struct end a, friend;
    ud_open(&a);
    ud_open(&friend);
    CHECK_EQ(ibv_attach_mcast(friend.qp, &crowded, 0xc000), 0); /* behind the others in the table */
    CHECK_EQ(kill(crowd_pid, SIGSTOP), 0);
    int status;
    CHECK_EQ(waitpid(crowd_pid, &status, WUNTRACED), crowd_pid);
    struct ibv_ah_attr attr = own_address(&a);
    attr.grh.dgid = crowded;
    attr.dlid = 0xc000;
    struct ibv_ah *ah = ibv_create_ah(a.pd, &attr);
    CHECK(ah != NULL);
    CHECK_EQ(post_recv(&friend, 1, 0, 256), 0);
    send_datagram(&a, 1, 0, 20, ah, UD_MULTICAST_QPN);
    expect_wc(friend.recv_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(kill(crowd_pid, SIGKILL), 0);
    expect_exit(crowd_pid, SIGKILL);
    CHECK_EQ(ibv_detach_mcast(friend.qp, &crowded, 0xc000), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&friend);
}

/* Says every now and then that it has taken one more datagram. */
static void dawdle(int socket) {
    struct end end;
    await_turn(socket);
    ud_open(&end);
    CHECK_EQ(post_recv(&end, 1, 0, 8192), 0);
    send_all(socket, &end.qp->qp_num, sizeof(end.qp->qp_num));
    expect_wc(end.recv_cq, 1, IBV_WC_SUCCESS);
    qp_lock(qp_of(end.qp)); /* it takes no more */
    struct inflow *inflow = qp_of(end.qp)->ud->inflows;
    struct pollfd heard = { .fd = socket, .events = POLLIN };
    for (uint32_t taken = 2; poll(&heard, 1, 150) == 0; taken++) {
        atomic_store(&inflow->own->stream[WIRE_REQUESTS].ack, WIRE_ACK_WORD(taken, WIRE_OK));
    }
    await_turn(socket);
}

static pid_t dawdler_pid;
static int dawdler_socket;

static void a_receiver_that_takes_a_datagram_now_and_then_holds_up_nobody(void) {
    enum { COUNT = 600 };
    uint32_t qpn;
    send_all(dawdler_socket, "", 1);
    receive_all(dawdler_socket, &qpn, sizeof(qpn));
    struct end a, friend;
    struct options options = datagrams();
    options.send_wr = options.cqe = 2 * COUNT;
    end_open(&a, &options);
    ud_ready(&a);
    ud_open(&friend);
    struct ibv_ah *ah = own_ah(&a);
    CHECK_EQ(post_recv(&friend, 1, 0, 256), 0);
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(post_datagram(&a, 1, 0, 20, ah, qpn), 0);
    }
    CHECK_EQ(post_datagram(&a, 1, 0, 20, ah, friend.qp->qp_num), 0);
    expect_wc(friend.recv_cq, 1, IBV_WC_SUCCESS);
    send_all(dawdler_socket, "", 1);
    expect_exit(dawdler_pid, 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&friend);
}

/* ---- without descriptors ---- */

static struct rlimit allow_fds(rlim_t count) {
    struct rlimit before;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &(struct rlimit) { count, before.rlim_max }), 0);
    return before;
}

/* The lowest number that is free. */
static rlim_t next_fd(void) {
    int fd = dup(0);
    CHECK(fd >= 0);
    close(fd);
    return (rlim_t) fd;
}

static void receive_without_descriptors(int socket) {
    struct end end;
    await_turn(socket);
    ud_open(&end);
    CHECK_EQ(post_recv(&end, 1, 0, 8192), 0);
    send_all(socket, &end.qp->qp_num, sizeof(end.qp->qp_num));
    expect_wc(end.recv_cq, 1, IBV_WC_SUCCESS);
    struct options options = datagrams();
    struct end other;
    end_open_on(&other, &end, &options);
    ud_ready(&other);
    CHECK_EQ(post_recv(&other, 2, 0, 8192), 0);
    struct rlimit before = allow_fds(next_fd());
    send_all(socket, &other.qp->qp_num, sizeof(other.qp->qp_num));
    await_turn(socket);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    send_all(socket, "", 1);
    expect_wc(end.recv_cq, 2, IBV_WC_SUCCESS);
}

static pid_t poor_pid;
static int poor_socket;

static void a_receiver_without_descriptors_says_so(void) {
    struct end a;
    ud_open(&a);
    struct ibv_ah *ah = own_ah(&a);
    uint32_t qpn;
    send_all(poor_socket, "", 1);
    receive_all(poor_socket, &qpn, sizeof(qpn));
    send_datagram(&a, 1, 0, 20, ah, qpn); /* so that there is a link */
    receive_all(poor_socket, &qpn, sizeof(qpn));
    send_datagram(&a, 2, 0, 20, ah, qpn);
    CHECK_EQ(flows_of(&a), 1);
    char done;
    send_all(poor_socket, "", 1);
    receive_all(poor_socket, &done, 1);
    send_datagram(&a, 3, 0, 20, ah, qpn);
    expect_exit(poor_pid, 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

static void receive_with_a_channel(int socket) {
    struct options options = datagrams();
    options.channel = true;
    struct end end, other;
    await_turn(socket);
    end_open(&end, &options);
    ud_ready(&end);
    end_open_on(&other, &end, &options);
    ud_ready(&other);
    CHECK_EQ(post_recv(&end, 1, 0, 8192), 0);
    CHECK_EQ(post_recv(&other, 2, 0, 8192), 0);
    send_all(socket, &end.qp->qp_num, sizeof(end.qp->qp_num));
    send_all(socket, &other.qp->qp_num, sizeof(other.qp->qp_num));
    expect_wc(end.recv_cq, 1, IBV_WC_SUCCESS);
    expect_wc(end.recv_cq, 2, IBV_WC_SUCCESS);
}

static pid_t channel_pid;
static int channel_socket;

static void a_sender_without_descriptors_loses_a_datagram_and_no_more(void) {
    uint32_t first, second;
    send_all(channel_socket, "", 1);
    receive_all(channel_socket, &first, sizeof(first));
    receive_all(channel_socket, &second, sizeof(second));
    struct end a;
    ud_open(&a);
    struct ibv_ah *ah = own_ah(&a);
    send_datagram(&a, 1, 0, 20, ah, first); /* so that there is a link */
    struct rlimit before = allow_fds(next_fd() + 1); /* the answer has the acknowledgements, and the channel's bell */
    send_datagram(&a, 2, 0, 20, ah, second);
    CHECK_EQ(flows_of(&a), 1);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    send_datagram(&a, 3, 0, 20, ah, second);
    expect_exit(channel_pid, 0);
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
            send_datagram(&a, i, HALF, 20, ah, peers[i].qp->qp_num);
            expect_wc(shared.recv_cq, i, IBV_WC_SUCCESS);
        }
        for (unsigned i = 0; i < COUNT; i++) {
            CHECK_EQ(post_recv(&a, i, 0, 256), 0);
            send_datagram(&peers[i], i, HALF, 20, back, a.qp->qp_num);
            struct ibv_wc wc = next_wc(a.recv_cq);
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
    sleeper_pid = spawn(receive_all_there_is, &sleeper_socket);
    crowd_pid = spawn(be_a_crowd, &crowd_socket);
    dawdler_pid = spawn(dawdle, &dawdler_socket);
    channel_pid = spawn(receive_with_a_channel, &channel_socket);
    poor_pid = spawn(receive_without_descriptors, &poor_socket);
    receive_all(receiver_socket, &receiver_qpn, sizeof(receiver_qpn));
    receive_all(sleeper_socket, &sleeper_qpn, sizeof(sleeper_qpn));
    RUN(a_sender_that_lies_is_hung_up_on);
    RUN(a_receiver_that_lies_is_hung_up_on);
    RUN(a_process_that_is_stopped_stops_nobody);
    RUN(a_process_that_is_stopped_is_waited_for_once);
    RUN(a_group_waits_once_for_members_of_a_process_that_is_stopped);
    RUN(a_receiver_that_takes_a_datagram_now_and_then_holds_up_nobody);
    RUN(a_receiver_without_descriptors_says_so);
    RUN(a_sender_without_descriptors_loses_a_datagram_and_no_more);
    RUN(flows_of_destroyed_queue_pairs_leave_nothing);
    RUN(more_peers_than_there_are_flows_are_reached);
    struct errand home = { -1, 0 };
    send_all(liar_socket, &home, sizeof(home));
    expect_exit(liar_pid, 0);
    return 0;
}
