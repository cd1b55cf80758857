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
/* Ids that join groups, and leave them, while the administrator of groups is stopped. */
#include "cm_support.h"
#include "embedded/groups/mcast.h"
#include "namespaces.h"

/* The first to join keeps the list. */
static void keep_the_list(const void *unused) {
    (void) unused;
    int gid_index;
    struct ibv_context *context = open_test_device(&gid_index);
    static struct mcast_member member = { .gid = { .raw = { 0xff, 0x12, [15] = 1 } }, .qpn = 5 };
    CHECK_EQ(mcast_join(&member), 0);
    say(0);
    is_told();
    CHECK_EQ(ibv_close_device(context), 0);
}

static struct child administrator;

static void stop_administrator(void) {
    int status;
    CHECK_EQ(kill(administrator.pid, SIGSTOP), 0);
    CHECK_EQ(waitpid(administrator.pid, &status, WUNTRACED), administrator.pid);
}

static uint32_t count_members(const union ibv_gid *gid) {
    static struct mcast_members members;
    CHECK_EVENTUALLY(mcast_find_members(gid, &members));
    return members.count;
}

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static struct address group;

static void make_id_qp(void) {
    struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_UD, .cap = { 4, 4, 1, 1, 0 } };
    CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
}

static void open_id(void) {
    channel = new_channel();
    struct address address = address_of(test_address(), 0);
    group = address_of("239.193.7.7", 0);
    CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP), 0);
    CHECK_EQ(rdma_bind_addr(id, sockaddr_of(&address)), 0);
    make_id_qp();
}

static void close_id(void) {
    rdma_destroy_qp(id);
    CHECK_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
}

static union ibv_gid joined_gid(void) {
    struct rdma_cm_event *event = next_event(channel);
    CHECK_EQ(event->event, RDMA_CM_EVENT_MULTICAST_JOIN);
    CHECK_EQ(event->status, 0);
    union ibv_gid joined = event->param.ud.ah_attr.grh.dgid;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    return joined;
}

/* No call waits: lane stalls. */
static void ids_join_and_leave_without_waiting_for_the_administrator(void) {
    open_id();
    stop_administrator();
    CHECK_EQ(rdma_join_multicast(id, sockaddr_of(&group), NULL), 0);
    expect_nothing(channel);
    CHECK_EQ(rdma_leave_multicast(id, sockaddr_of(&group)), 0);
    CHECK_EQ(rdma_join_multicast(id, sockaddr_of(&group), NULL), 0);
    expect_nothing(channel);
    CHECK_EQ(kill(administrator.pid, SIGCONT), 0);
    union ibv_gid joined = joined_gid();
    CHECK_EQ(count_members(&joined), 1);

    stop_administrator();
    CHECK_EQ(rdma_leave_multicast(id, sockaddr_of(&group)), 0);
    CHECK_EQ(count_members(&joined), 1); /* the administrator does not know yet */
    CHECK_EQ(rdma_join_multicast(id, sockaddr_of(&group), NULL), 0);
    close_id();
    CHECK_EQ(kill(administrator.pid, SIGCONT), 0);
    CHECK_EVENTUALLY(count_members(&joined) == 0);
}

static void id_is_told_of_an_administrator_that_does_not_answer(void) {
    open_id();
    stop_administrator();
    CHECK_EQ(rdma_join_multicast(id, sockaddr_of(&group), NULL), 0);
    expect_and_ack(channel, RDMA_CM_EVENT_MULTICAST_ERROR, -ETIMEDOUT);
    CHECK_EQ(kill(administrator.pid, SIGCONT), 0);
    CHECK_EQ(rdma_leave_multicast(id, sockaddr_of(&group)), 0);
    CHECK_EQ(rdma_join_multicast(id, sockaddr_of(&group), NULL), 0);
    joined_gid();
    CHECK_EQ(rdma_leave_multicast(id, sockaddr_of(&group)), 0);
    close_id();
}

static void the_queue_pair_of_the_id_when_the_event_is_fetched_is_the_member(void) {
    open_id();
    CHECK_EQ(rdma_join_multicast(id, sockaddr_of(&group), NULL), 0);
    rdma_destroy_qp(id);
    union ibv_gid joined = joined_gid();
    CHECK_EVENTUALLY(count_members(&joined) == 0);
    CHECK_EQ(rdma_leave_multicast(id, sockaddr_of(&group)), 0);

    CHECK_EQ(rdma_join_multicast(id, sockaddr_of(&group), NULL), 0);
    make_id_qp();
    joined_gid();
    CHECK_EQ(count_members(&joined), 1);
    CHECK_EQ(rdma_leave_multicast(id, sockaddr_of(&group)), 0);
    CHECK_EVENTUALLY(count_members(&joined) == 0);
    close_id();
}

int main(void) {
    administrator = begin_child(keep_the_list, NULL);
    CHECK_EQ(hear(&administrator), 0);
    static struct mcast_members members;
    const union ibv_gid any = { .raw = { 0xff } };
    CHECK_EVENTUALLY(mcast_find_members(&any, &members)); /* the table, which stays */
    RUN(ids_join_and_leave_without_waiting_for_the_administrator);
    RUN(id_is_told_of_an_administrator_that_does_not_answer);
    RUN(the_queue_pair_of_the_id_when_the_event_is_fetched_is_the_member);
    end_child(&administrator);
    return 0;
}
