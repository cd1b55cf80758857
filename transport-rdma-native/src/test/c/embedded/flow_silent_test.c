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
 * Datagrams for a process that is stopped, slow, or without descriptors. The others must not notice, and no send may
 * wait for it for long.
 */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "few_descriptors.h"
#include "flow_inside.h"

static const union ibv_gid crowded = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 1 } };

/* Waits until the test has something to say. Nobody polls meanwhile. */
static void await_turn(int socket) {
    char turn;
    receive_all(socket, &turn, 1);
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
    receive_all(socket, &last, 1); /* waits to be killed */
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
    await_turn(socket); /* waits to be killed */
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
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK(is_silent(&a, qpns[0])); /* one wait marks the peer as silent */
    for (int i = 0; i < CROWD; i++) {
        expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    }
    expect_wc(friend.recv_cq, 1, IBV_WC_SUCCESS);
    CHECK_EVENTUALLY(open_fds() < fds + CROWD); /* none for each that does not answer */

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

/* Opens the end when it is its turn, tells its number, and receives the first datagram. */
static void receive_in_turn(int socket, struct end *end) {
    await_turn(socket);
    ud_open(end);
    CHECK_EQ(post_recv(end, 1, 0, 8192), 0);
    send_all(socket, &end->qp->qp_num, sizeof(end->qp->qp_num));
    expect_wc(end->recv_cq, 1, IBV_WC_SUCCESS);
}

/* Datagrams that find no room at first: one after the other, they take longer than the limit of a wait. */
#define WITHOUT_ROOM 400

static int dawdle_ms(void) {
    return 3 * patience_ms() / 2 / WITHOUT_ROOM;
}

/* Says every now and then that it has taken one more datagram. */
static void dawdle(int socket) {
    struct end end;
    receive_in_turn(socket, &end);
    qp_lock(qp_of(end.qp)); /* the receiver takes no more */
    send_all(socket, "", 1);
    struct rx_flow *rx_flow = ud_of(qp_of(end.qp))->rx_flows;
    struct pollfd heard = { .fd = socket, .events = POLLIN };
    for (uint32_t taken = 2; poll(&heard, 1, dawdle_ms()) == 0; taken++) {
        atomic_store(&rx_flow->own->stream[WIRE_REQUESTS].ack, WIRE_ACK_WORD(taken, WIRE_OK));
    }
    await_turn(socket);
}

static pid_t dawdler_pid;
static int dawdler_socket;

static void a_receiver_that_takes_a_datagram_now_and_then_holds_up_nobody(void) {
    uint32_t qpn;
    uint64_t room_patience_ns = flow_room_patience_ns;
    flow_room_patience_ns = 5 * (uint64_t) dawdle_ms() * 1000000; /* the receiver is in time, if not very late */
    send_all(dawdler_socket, "", 1);
    receive_all(dawdler_socket, &qpn, sizeof(qpn));
    struct end a, friend;
    struct options options = datagrams();
    options.send_wr = options.cqe = 2 * ((int) WIRE_REQUEST_SLOTS + WITHOUT_ROOM);
    end_open(&a, &options);
    ud_ready(&a);
    ud_open(&friend);
    struct ibv_ah *ah = own_ah(&a);
    CHECK_EQ(post_recv(&friend, 1, 0, 256), 0);
    char stopped;
    send_datagram(&a, 1, 0, 20, ah, qpn);
    receive_all(dawdler_socket, &stopped, 1); /* a faster sender would find room for all before that */
    for (unsigned i = 0; i < WIRE_REQUEST_SLOTS + WITHOUT_ROOM; i++) {
        CHECK_EQ(post_datagram(&a, 1, 0, 20, ah, qpn), 0);
    }
    CHECK_EQ(post_datagram(&a, 1, 0, 20, ah, friend.qp->qp_num), 0);
    expect_wc(friend.recv_cq, 1, IBV_WC_SUCCESS);
    flow_room_patience_ns = room_patience_ns;
    send_all(dawdler_socket, "", 1);
    expect_exit(dawdler_pid, 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&friend);
}

/* ---- without descriptors ---- */

static void receive_without_descriptors(int socket) {
    struct end end;
    receive_in_turn(socket, &end);
    struct options options = datagrams();
    struct end other;
    end_open_on(&other, &end, &options);
    ud_ready(&other);
    CHECK_EQ(post_recv(&other, 2, 0, 8192), 0);
    struct rlimit before = leave_descriptors(0);
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
    CHECK_EVENTUALLY(flows_of(&a) == 1); /* at once, unless it says so after we have given it up */
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
    /* The answer has the acknowledgements, and the channel's doorbell. */
    struct rlimit before = leave_descriptors(1);
    send_datagram(&a, 2, 0, 20, ah, second);
    CHECK_EVENTUALLY(flows_of(&a) == 1); /* at once, unless the answer comes after we have given it up */
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    send_datagram(&a, 3, 0, 20, ah, second);
    expect_exit(channel_pid, 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

int main(void) {
    sleeper_pid = spawn(receive_all_there_is, &sleeper_socket);
    crowd_pid = spawn(be_a_crowd, &crowd_socket);
    dawdler_pid = spawn(dawdle, &dawdler_socket);
    channel_pid = spawn(receive_with_a_channel, &channel_socket);
    poor_pid = spawn(receive_without_descriptors, &poor_socket);
    receive_all(sleeper_socket, &sleeper_qpn, sizeof(sleeper_qpn));
    RUN(a_process_that_is_stopped_stops_nobody);
    RUN(a_process_that_is_stopped_is_waited_for_once);
    RUN(a_group_waits_once_for_members_of_a_process_that_is_stopped);
    RUN(a_receiver_that_takes_a_datagram_now_and_then_holds_up_nobody);
    RUN(a_receiver_without_descriptors_says_so);
    RUN(a_sender_without_descriptors_loses_a_datagram_and_no_more);
    return 0;
}
