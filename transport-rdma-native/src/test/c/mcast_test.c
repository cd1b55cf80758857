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
/* @Tag("stalls") */
/* Multicast groups: who gets what is sent to them. */
#include "ud_support.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#define HALF (PAIR_BUFFER / 2)
#define MULTICAST_QPN 0xffffff
#define LID 0xc123

static union ibv_gid group(uint8_t number) {
    return (union ibv_gid) { .raw = { 0xff, 0x12, 0x77, [14] = (uint8_t) getpid(), [15] = number } };
}

static struct ibv_ah *group_ah(const struct end *end, const union ibv_gid *gid) {
    struct ibv_ah_attr attr = own_address(end);
    attr.dlid = LID;
    attr.grh.dgid = *gid;
    struct ibv_ah *ah = ibv_create_ah(end->pd, &attr);
    CHECK(ah != NULL);
    return ah;
}

static void expect_datagram(struct end *end, uint64_t wr_id, uint32_t length, const union ibv_gid *gid) {
    struct ibv_wc wc = next_wc(end->recv_cq);
    CHECK_EQ(wc.wr_id, wr_id);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.byte_len, GRH + length);
    CHECK_EQ(wc.wc_flags, IBV_WC_GRH);
    const struct ibv_grh *grh = (const struct ibv_grh *) (end->buffer + wr_id * 256);
    CHECK_EQ(memcmp(&grh->dgid, gid, sizeof(*gid)), 0);
}

static void open_separate(struct end *end) {
    struct options options = datagrams();
    options.separate_cqs = true;
    end_open(end, &options);
    ud_ready(end);
}

static void all_members_receive_and_no_others(void) {
    struct end a, b, c, d;
    struct end *ends[] = { &a, &b, &c, &d };
    union ibv_gid gid = group(1), other = group(2);
    for (int i = 0; i < 4; i++) {
        open_separate(ends[i]);
        for (unsigned r = 0; r < 4; r++) {
            CHECK_EQ(post_recv(ends[i], r, r * 256, 256), 0);
        }
    }
    CHECK_EQ(ibv_attach_mcast(b.qp, &gid, LID), 0);
    CHECK_EQ(ibv_attach_mcast(c.qp, &gid, LID), 0);
    CHECK_EQ(ibv_attach_mcast(c.qp, &gid, LID), 0); /* once more changes nothing */
    CHECK_EQ(ibv_attach_mcast(d.qp, &other, LID), 0);
    struct ibv_ah *ah = group_ah(&a, &gid);
    send_datagram(&a, 9, HALF, 50, ah, MULTICAST_QPN); /* a sender need not be a member */
    expect_datagram(&b, 0, 50, &gid);
    expect_datagram(&c, 0, 50, &gid);

    CHECK_EQ(ibv_detach_mcast(b.qp, &gid, LID), 0);
    CHECK_EQ(ibv_detach_mcast(b.qp, &gid, LID), EINVAL);
    send_datagram(&a, 10, HALF, 60, ah, MULTICAST_QPN);
    expect_datagram(&c, 1, 60, &gid);
    settle();
    expect_nothing(a.recv_cq);
    expect_nothing(b.recv_cq);
    expect_nothing(d.recv_cq);
    CHECK_EQ(ibv_detach_mcast(c.qp, &gid, LID), 0);
    CHECK_EQ(ibv_detach_mcast(d.qp, &other, LID), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    for (int i = 0; i < 4; i++) {
        end_close(ends[i]);
    }
}

static void sender_that_is_a_member_receives_its_own(void) {
    struct end a;
    union ibv_gid gid = group(3);
    open_separate(&a);
    CHECK_EQ(post_recv(&a, 0, 0, 256), 0);
    CHECK_EQ(ibv_attach_mcast(a.qp, &gid, LID), 0);
    struct ibv_ah *ah = group_ah(&a, &gid);
    send_datagram(&a, 9, HALF, 50, ah, MULTICAST_QPN);
    expect_datagram(&a, 0, 50, &gid);
    CHECK_EQ(ibv_detach_mcast(a.qp, &gid, LID), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

static void member_checks_the_queue_key_and_its_receives(void) {
    struct end a, b, c;
    union ibv_gid gid = group(4);
    open_separate(&a);
    open_separate(&b);
    open_separate(&c);
    CHECK_EQ(ibv_attach_mcast(b.qp, &gid, LID), 0);
    CHECK_EQ(ibv_attach_mcast(c.qp, &gid, LID), 0);
    struct ibv_ah *ah = group_ah(&a, &gid);
    CHECK_EQ(post_recv(&b, 0, 0, 256), 0); /* c has none */
    CHECK_EQ(post_datagram_as(&a, 1, IBV_WR_SEND, 0, HALF, 50, ah, MULTICAST_QPN, QKEY ^ 1), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    send_datagram(&a, 2, HALF, 70, ah, MULTICAST_QPN);
    expect_datagram(&b, 0, 70, &gid);
    expect_nothing(c.recv_cq);
    CHECK_EQ(ibv_detach_mcast(b.qp, &gid, LID), 0);
    CHECK_EQ(ibv_detach_mcast(c.qp, &gid, LID), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&b);
    end_close(&c);
}

static void attaching_is_checked(void) {
    struct end a, rc;
    open_separate(&a);
    end_open(&rc, &defaults);
    union ibv_gid gid = group(5), unicast;
    CHECK_EQ(ibv_query_gid(a.context, 1, a.gid_index, &unicast), 0);
    CHECK_EQ(ibv_attach_mcast(a.qp, &unicast, LID), EINVAL);
    CHECK_EQ(ibv_attach_mcast(rc.qp, &gid, LID), EINVAL);
    CHECK_EQ(ibv_detach_mcast(a.qp, &gid, LID), EINVAL);
    if (!is_soft_roce()) { /* Ethernet has no LIDs */
        CHECK_EQ(ibv_attach_mcast(a.qp, &gid, 1), EINVAL);
        CHECK_EQ(ibv_attach_mcast(a.qp, &gid, 0xffff), EINVAL);
    }
    CHECK_EQ(ibv_attach_mcast(a.qp, &gid, LID), 0);
    CHECK_EQ(ibv_destroy_qp(a.qp), EBUSY);
    CHECK_EQ(ibv_detach_mcast(a.qp, &gid, LID), 0);
    end_close(&a);
    end_close(&rc);
}

static void member_of_another_process(int socket) {
    struct end b;
    union ibv_gid gid;
    receive_all(socket, &gid, sizeof(gid));
    open_separate(&b);
    for (unsigned r = 0; r < 8; r++) {
        CHECK_EQ(post_recv(&b, r, r * 256, 256), 0);
    }
    CHECK_EQ(ibv_attach_mcast(b.qp, &gid, LID), 0);
    char c = 1;
    send_all(socket, &c, 1);
    uint32_t length;
    for (unsigned r = 0;; r++) {
        receive_all(socket, &length, sizeof(length));
        if (length == 0) {
            break;
        }
        expect_datagram(&b, r, length, &gid);
        send_all(socket, &c, 1);
    }
    CHECK_EQ(ibv_detach_mcast(b.qp, &gid, LID), 0);
    end_close(&b);
}

static void start_member(pid_t *child, int *socket, const union ibv_gid *gid) {
    char c;
    *child = spawn(member_of_another_process, socket);
    send_all(*socket, gid, sizeof(*gid));
    receive_all(*socket, &c, 1);
}

static void expect_arrives_there(int socket, uint32_t length) {
    char c;
    send_all(socket, &length, sizeof(length));
    receive_all(socket, &c, 1);
}

static void stop_member(pid_t child, int socket) {
    uint32_t end = 0;
    send_all(socket, &end, sizeof(end));
    expect_exit(child, 0);
    close(socket);
}

/* Whoever was first keeps the list of members of the embedded provider: here the other process, which is killed. */
static void members_of_other_processes_come_and_go(void) {
    union ibv_gid gid = group(6);
    pid_t first, second, third;
    int first_socket, second_socket, third_socket;
    start_member(&first, &first_socket, &gid);
    start_member(&second, &second_socket, &gid);
    third = spawn(member_of_another_process, &third_socket); /* children come before the provider's use here */

    struct end a;
    open_separate(&a);
    struct ibv_ah *ah = group_ah(&a, &gid);
    for (unsigned r = 0; r < 8; r++) {
        CHECK_EQ(post_recv(&a, r, r * 256, 256), 0);
    }
    CHECK_EQ(ibv_attach_mcast(a.qp, &gid, LID), 0);
    send_datagram(&a, 1, HALF, 11, ah, MULTICAST_QPN);
    expect_arrives_there(first_socket, 11);
    expect_arrives_there(second_socket, 11);
    expect_datagram(&a, 0, 11, &gid);

    CHECK_EQ(kill(first, SIGKILL), 0);
    expect_exit(first, SIGKILL);
    close(first_socket);
    char c;
    send_all(third_socket, &gid, sizeof(gid));
    receive_all(third_socket, &c, 1); /* the process has joined, whoever is the administrator now */
    /*
     * The death may not be noticed here yet, and the others tell the new one of themselves. Till then, what is sent may
     * miss them.
     */
    const uint32_t length = 22;
    send_all(third_socket, &length, sizeof(length));
    struct pollfd third_has_it = { .fd = third_socket, .events = POLLIN };
    struct ibv_wc wc;
    bool arrived = false;
    uint64_t limit = patience_end_ns();
    do {
        CHECK(now_ns() < limit);
        send_datagram(&a, 2, HALF, length, ah, MULTICAST_QPN);
        poll(&third_has_it, 1, 5);
        arrived |= a.context->ops.poll_cq(a.recv_cq, 1, &wc) == 1;
    } while (!arrived || third_has_it.revents == 0);
    CHECK_EQ(wc.byte_len, GRH + length);
    receive_all(third_socket, &c, 1);
    stop_member(third, third_socket);
    CHECK_EQ(kill(second, SIGKILL), 0);
    expect_exit(second, SIGKILL);
    close(second_socket);
    CHECK_EQ(ibv_detach_mcast(a.qp, &gid, LID), 0);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

int main(void) {
    if (is_soft_roce()) {
        RUN(attaching_is_checked);
        /*
         * Packets of the group are the host's, which must have joined it as well: rdma_join_multicast(), cm_ud_test.c.
         */
        fprintf(stderr, "  skipped: groups that only queue pairs are members of\n");
        return 0;
    }
    RUN(members_of_other_processes_come_and_go);
    RUN(all_members_receive_and_no_others);
    RUN(sender_that_is_a_member_receives_its_own);
    RUN(member_checks_the_queue_key_and_its_receives);
    RUN(attaching_is_checked);
    return 0;
}
