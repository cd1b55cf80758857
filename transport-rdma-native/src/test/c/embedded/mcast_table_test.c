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
/* The registry of multicast members as only its inside can be tested. */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded/groups/mcast_table.h"
#include "embedded/link/link_private.h"
#include "embedded/ud/ud.h"
#include "few_descriptors.h"
#include "ud_support.h"

#define LID 0xc123

static const union ibv_gid gid = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 7 } };
static const union ibv_gid other_gid = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 8 } };

/* ---- the table ---- */

static uint32_t members_of(const struct mcast_registry *registry) {
    struct mcast_members members = { .gid = gid };
    CHECK(mcast_table_read(registry->table, &members));
    return members.count;
}

/* A process whose link broke tells of its members on a new one, perhaps before the end of the old one is noticed. */
static void the_end_of_one_registrant_takes_nothing_from_another(void) {
    static struct mcast_registry registry;
    static const struct link links[2];
    const struct link *one = &links[0], *two = &links[1];
    CHECK_EQ(mcast_registry_open(&registry), 0);
    CHECK_EQ(mcast_registry_add(&registry, one, &gid, 5), 0);
    CHECK_EQ(mcast_registry_add(&registry, one, &gid, 5), 0);
    CHECK_EQ(mcast_registry_add(&registry, two, &gid, 5), 0);
    CHECK_EQ(members_of(&registry), 1); /* members get a datagram once */
    mcast_registry_remove_all(&registry, one);
    CHECK_EQ(members_of(&registry), 1);
    mcast_registry_remove(&registry, one, &gid, 5);
    CHECK_EQ(members_of(&registry), 1);
    mcast_registry_remove(&registry, two, &gid, 5);
    CHECK_EQ(members_of(&registry), 0);
    close(registry.fd);
}

static union ibv_gid group_of(unsigned i) {
    return (union ibv_gid) { .raw = { 0xff, 0x12, 0x40, 0x1b, [14] = (uint8_t) (i / 256), (uint8_t) i } };
}

/* Fills the places of two processes, with each member in a group of its own. */
static void fill_places_of(struct mcast_registry *registry, const struct link *one, const struct link *two) {
    for (unsigned i = 0; i < MCAST_MAX_OF_PEER; i++) {
        union ibv_gid own = group_of(i);
        CHECK_EQ(mcast_registry_add(registry, i % 2 == 0 ? one : two, &own, i), 0);
    }
    union ibv_gid first = group_of(0), next = group_of(MCAST_MAX_OF_PEER);
    CHECK_EQ(mcast_registry_add(registry, one, &next, MCAST_MAX_OF_PEER), ENOMEM);
    CHECK_EQ(mcast_registry_add(registry, two, &next, MCAST_MAX_OF_PEER), ENOMEM);
    CHECK_EQ(mcast_registry_add(registry, one, &first, 0), 0); /* said twice */
}

static void links_of_a_process_or_of_another_user_share_a_limit(void) {
    static struct mcast_registry registry;
    const uid_t user = geteuid(), other_user = user + 1;
    const struct link links[] = {
        { .peer = { .uid = user, .pid = 1, .may_signal = true } },
        { .peer = { .uid = user, .pid = 1, .may_signal = true } },
        { .peer = { .uid = other_user, .pid = 2 } }, { .peer = { .uid = other_user, .pid = 3 } },
        { .peer = { .uid = user, .pid = 4, .may_signal = true } },
    };
    CHECK_EQ(mcast_registry_open(&registry), 0);
    fill_places_of(&registry, &links[0], &links[1]);
    fill_places_of(&registry, &links[2], &links[3]);
    union ibv_gid next = group_of(MCAST_MAX_OF_PEER); /* another process of this user, and this process, have places */
    CHECK_EQ(mcast_registry_add(&registry, &links[4], &next, 1), 0);
    CHECK_EQ(mcast_registry_add(&registry, NULL, &next, 2), 0);
    close(registry.fd);
}

/* ---- with an administrator in another process ---- */

static void administrate(int socket) {
    struct end end;
    char c;
    ud_open(&end);
    CHECK_EQ(post_recv(&end, 1, 0, 256), 0);
    CHECK_EQ(ibv_attach_mcast(end.qp, &gid, LID), 0);
    send_all(socket, &end.qp->qp_num, sizeof(end.qp->qp_num));
    expect_wc(end.recv_cq, 1, IBV_WC_SUCCESS);
    send_all(socket, "", 1);
    receive_all(socket, &c, 1); /* waits to be killed */
}

static pid_t administrator;
static int administrator_socket;

static void stop_administrator(void) {
    int status;
    CHECK_EQ(kill(administrator, SIGSTOP), 0);
    CHECK_EQ(waitpid(administrator, &status, WUNTRACED), administrator);
}

/* Datagrams may be lost: those to a process that takes longer than a second to answer are (ud_send.c). */
static bool another_arrives(struct end *end, struct ibv_ah *ah) {
    send_datagram(end, 2, 0, 20, ah, UD_MULTICAST_QPN);
    struct pollfd arrival = { .fd = administrator_socket, .events = POLLIN };
    return poll(&arrival, 1, 10) == 1;
}

static struct ibv_ah *group_ah(struct end *end) {
    struct ibv_ah_attr attr = own_address(end);
    attr.dlid = LID;
    attr.grh.dgid = gid;
    struct ibv_ah *ah = ibv_create_ah(end->pd, &attr);
    CHECK(ah != NULL);
    return ah;
}

static void a_sender_that_had_no_descriptors_asks_again(void) {
    struct end a;
    ud_open(&a);
    struct ibv_ah *ah = group_ah(&a);
    stop_administrator();
    CHECK_EQ(post_datagram(&a, 1, 0, 20, ah, UD_MULTICAST_QPN), 0); /* has a link now, and asks for the table */
    struct rlimit before = leave_descriptors(0);
    CHECK_EQ(kill(administrator, SIGCONT), 0);
    expect_wc(a.send_cq, 1, IBV_WC_SUCCESS);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_WITHIN(patience_ms() / 10, another_arrives(&a, ah));
    char c;
    receive_all(administrator_socket, &c, 1);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

static uint32_t count_members(const union ibv_gid *group) {
    static struct mcast_members members;
    CHECK_EVENTUALLY(mcast_find_members(group, &members));
    return members.count;
}

static void senders_wait_for_a_silent_administrator_once(void) {
    static struct mcast_members members;
    struct end a;
    ud_open(&a);
    struct ibv_ah *ah = group_ah(&a);
    mcast_rest(); /* forgets the table that this process has by now */
    stop_administrator();
    if (mcast_find_members(&gid, &members)) {
        fprintf(stderr, "  skipped: another process of this user keeps the list of members\n");
    } else {
        send_datagram(&a, 1, 0, 20, ah, UD_MULTICAST_QPN);
        for (int i = 0; i < 1000; i++) {
            CHECK(mcast_find_members(&gid, &members)); /* further ones are not to wait */
            CHECK_EQ(members.count, 0);
        }
    }
    CHECK_EQ(kill(administrator, SIGCONT), 0);
    CHECK_EVENTUALLY(count_members(&gid) == 1);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
}

static void joining_that_timed_out_does_not_happen_later(void) {
    struct end a;
    ud_open(&a);
    stop_administrator();
    int error = ibv_attach_mcast(a.qp, &gid, LID);
    CHECK_EQ(kill(administrator, SIGCONT), 0);
    if (error == 0) {
        fprintf(stderr, "  skipped: another process of this user keeps the list of members\n");
        CHECK_EQ(ibv_detach_mcast(a.qp, &gid, LID), 0);
    } else {
        CHECK_EQ(error, ETIMEDOUT);
        /* The administrator has by now taken up the earlier requests. */
        CHECK_EVENTUALLY(ibv_attach_mcast(a.qp, &other_gid, LID) == 0); /* a slow one times out again */
        static struct mcast_members members;
        CHECK_EVENTUALLY(mcast_find_members(&gid, &members));
        for (uint32_t i = 0; i < members.count; i++) {
            CHECK(members.qpn[i] != a.qp->qp_num);
        }
        CHECK_EQ(ibv_detach_mcast(a.qp, &other_gid, LID), 0);
    }
    end_close(&a);
}

int main(void) {
    administrator = spawn(administrate, &administrator_socket);
    uint32_t qpn;
    receive_all(administrator_socket, &qpn, sizeof(qpn));
    RUN(the_end_of_one_registrant_takes_nothing_from_another);
    RUN(links_of_a_process_or_of_another_user_share_a_limit);
    RUN(a_sender_that_had_no_descriptors_asks_again);
    RUN(senders_wait_for_a_silent_administrator_once);
    RUN(joining_that_timed_out_does_not_happen_later);
    CHECK_EQ(kill(administrator, SIGKILL), 0);
    expect_exit(administrator, SIGKILL);
    return 0;
}
