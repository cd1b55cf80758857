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
 * Names of queue pair numbers that other users hold: who can be connected without one, and how a process that has none
 * is told so. Here bind(2) says so of every such name; sockets that hold 32,767 of them would take a second.
 */
#include "cm_support.h"
#include "embedded/groups/mcast.h"
#include "embedded/link/link.h"
#include "namespaces.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define MAX_TRIES 64 /* BLOCK_TRIES: link.c */
#define SIZE 32

static atomic_bool names_are_held, group_name_is_held, all_draw_the_same;
static atomic_int binds;       /* number of binds to names of queue pair numbers */
static atomic_int group_binds; /* number of binds to the name of the administrator of groups */

static bool has_part(const struct sockaddr_un *name, socklen_t length, const char *part) {
    return memmem(name->sun_path, length - offsetof(struct sockaddr_un, sun_path), part, strlen(part)) != NULL;
}

/* Replaces the C library's function, in this program. */
int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t length) {
    const struct sockaddr_un *name = address.__sockaddr_un__;
    if (name->sun_family == AF_UNIX && length > offsetof(struct sockaddr_un, sun_path)) {
        const bool is_block = has_part(name, length, "/q/"), is_group = has_part(name, length, "/cm/5a/");
        binds += is_block;
        group_binds += is_group;
        if ((is_block && names_are_held) || (is_group && group_name_is_held)) {
            errno = EADDRINUSE;
            return -1;
        }
    }
    return (int) syscall(SYS_bind, fd, name, length);
}

ssize_t getrandom(void *buffer, size_t length, unsigned flags) {
    static _Thread_local uint32_t state;
    if (!all_draw_the_same) {
        return syscall(SYS_getrandom, buffer, length, flags);
    }
    for (size_t i = 0; i < length; i++) {
        state = state * 1664525 + 1013904223; /* Numerical Recipes' generator: memory keys have to differ */
        ((uint8_t *) buffer)[i] = (uint8_t) (state >> 24);
    }
    return (ssize_t) length;
}

static bool has_name(const struct ibv_qp *qp) {
    return qp->qp_num < LINK_UNNAMED_QPN;
}

static struct ibv_qp_init_attr attributes(enum ibv_qp_type type, struct ibv_cq *cq) {
    return (struct ibv_qp_init_attr) {
        .send_cq = cq, .recv_cq = cq, .qp_type = type, .sq_sig_all = 1,
        .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = SIZE },
    };
}

/* ---- connections of the connection manager ---- */

struct side {
    bool names_are_held, all_draw_the_same;
    bool moves_itself; /* the program, and not the connection manager, moves the queue pair through its states */
    char says;         /* each server something else */
    uint16_t port;     /* port of a server; the system's choice is random, too */
};

struct connection {
    struct rdma_cm_id *id;
    struct ibv_qp *qp;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    char received[SIZE];
};

static void prepare(const struct side *side, struct connection *c) {
    c->cq = ibv_create_cq(c->id->verbs, 16, NULL, NULL, 0);
    CHECK(c->cq != NULL);
    struct ibv_qp_init_attr attr = attributes(IBV_QPT_RC, c->cq);
    int before = binds;
    if (side->moves_itself) {
        c->qp = ibv_create_qp(c->id->pd, &attr);
    } else {
        CHECK_EQ(rdma_create_qp(c->id, NULL, &attr), 0);
        c->qp = c->id->qp;
    }
    CHECK(c->qp != NULL);
    CHECK(binds <= before + MAX_TRIES);
    CHECK_EQ(has_name(c->qp), !side->names_are_held);
    c->mr = ibv_reg_mr(c->id->pd, c->received, SIZE, IBV_ACCESS_LOCAL_WRITE);
    CHECK(c->mr != NULL);
}

static void move_to(struct connection *c, enum ibv_qp_state state) {
    struct ibv_qp_attr attr = { .qp_state = state };
    int mask;
    CHECK_EQ(rdma_init_qp_attr(c->id, &attr, &mask), 0);
    CHECK_EQ(ibv_modify_qp(c->qp, &attr, mask), 0);
}

static void move_itself(const struct side *side, struct connection *c) {
    if (side->moves_itself) {
        move_to(c, IBV_QPS_INIT);
        move_to(c, IBV_QPS_RTR);
        move_to(c, IBV_QPS_RTS);
    }
}

static void post_receive(struct connection *c) {
    struct ibv_sge sge = { .addr = (uintptr_t) c->received, .length = SIZE, .lkey = c->mr->lkey };
    struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
    CHECK_EQ(ibv_post_recv(c->qp, &wr, &bad), 0);
}

static void send_byte(struct connection *c, char byte) {
    struct ibv_sge sge = { .addr = (uintptr_t) &byte, .length = 1 };
    struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE };
    struct ibv_send_wr *bad;
    CHECK_EQ(ibv_post_send(c->qp, &wr, &bad), 0);
}

/* Polls for a send and the receive of its answer, or for a receive and the answer to it. */
static void complete_both(struct connection *c) {
    struct ibv_wc wc;
    for (int i = 0; i < 2; i++) {
        CHECK_EVENTUALLY(ibv_poll_cq(c->cq, 1, &wc) == 1);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    }
}

static void release(const struct side *side, struct connection *c) {
    if (side->moves_itself) {
        CHECK_EQ(ibv_destroy_qp(c->qp), 0);
    } else {
        rdma_destroy_qp(c->id);
    }
    CHECK_EQ(ibv_dereg_mr(c->mr), 0);
    CHECK_EQ(ibv_destroy_cq(c->cq), 0);
    CHECK_EQ(rdma_destroy_id(c->id), 0);
}

static void begin(const struct side *side) {
    names_are_held = side->names_are_held;
    all_draw_the_same = side->all_draw_the_same;
}

/* Answers one message with its own. */
static void serve(const void *argument) {
    const struct side *side = argument;
    begin(side);
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *listener = new_id(channel);
    struct address address = address_of(test_address(), side->port);
    CHECK_EQ(rdma_bind_addr(listener, sockaddr_of(&address)), 0);
    CHECK_EQ(rdma_listen(listener, 4), 0);
    say(0);
    struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct connection c = { .id = event->id };
    prepare(side, &c);
    struct rdma_conn_param param = { .qp_num = c.qp->qp_num, .retry_count = 7, .rnr_retry_count = 7 };
    move_itself(side, &c);
    post_receive(&c);
    CHECK_EQ(rdma_accept(c.id, &param), 0);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    expect_and_ack(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
    say((int) c.qp->qp_num);
    struct ibv_wc wc;
    CHECK_EVENTUALLY(ibv_poll_cq(c.cq, 1, &wc) == 1);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    send_byte(&c, (char) (c.received[0] + side->says));
    CHECK_EVENTUALLY(ibv_poll_cq(c.cq, 1, &wc) == 1);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    is_told();
    release(side, &c);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(channel);
}

static void connect_to(const struct side *side, uint16_t port, struct rdma_event_channel *channel,
                       struct connection *c) {
    c->id = new_id(channel);
    resolve(c->id, test_address(), port);
    prepare(side, c);
    struct rdma_conn_param param = { .qp_num = c->qp->qp_num, .retry_count = 7, .rnr_retry_count = 7 };
    CHECK_EQ(rdma_connect(c->id, &param), 0);
    if (side->moves_itself) {
        expect_and_ack(channel, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
        move_itself(side, c);
        CHECK_EQ(rdma_establish(c->id), 0);
    } else {
        expect_and_ack(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
    }
    post_receive(c);
}

struct clients {
    struct side side;
    uint16_t ports[2];
    char answers[2];
};

static void connect_and_ask(const void *argument) {
    const struct clients *clients = argument;
    begin(&clients->side);
    struct rdma_event_channel *channel = new_channel();
    struct connection c[2] = { 0 };
    for (int i = 0; i < 2; i++) {
        connect_to(&clients->side, clients->ports[i], channel, &c[i]);
    }
    for (int i = 0; i < 2; i++) {
        send_byte(&c[i], 'a');
        complete_both(&c[i]);
        CHECK_EQ(c[i].received[0], 'a' + clients->answers[i]);
    }
    for (int i = 0; i < 2; i++) {
        release(&clients->side, &c[i]);
    }
    rdma_destroy_event_channel(channel);
}

/* Connects one client and two servers, each a process. Returns whether the servers have the same number. */
static bool connect_all(const struct side *client, const struct side *server) {
    struct child servers[2], clients;
    struct clients ask = { .side = *client };
    for (int i = 0; i < 2; i++) {
        struct side side = *server;
        side.says = ask.answers[i] = (char) (i + 1);
        side.port = ask.ports[i] = (uint16_t) (20000 + 2 * (getpid() % 5000) + i);
        servers[i] = begin_child(serve, &side);
        CHECK_EQ(hear(&servers[i]), 0);
    }
    clients = begin_child(connect_and_ask, &ask);
    bool are_same = hear(&servers[0]) == hear(&servers[1]);
    end_child(&clients);
    for (int i = 1; i >= 0; i--) {
        end_child(&servers[i]);
    }
    return are_same;
}

static const struct side with_names = { .names_are_held = false };
static const struct side without = { .names_are_held = true };

static void the_connection_manager_connects_processes_without_names(void) {
    connect_all(&without, &without);
    connect_all(&without, &with_names);
    connect_all(&with_names, &without);
}

static void programs_that_move_their_queue_pairs_themselves_need_no_names_either(void) {
    const struct side side = { .names_are_held = true, .moves_itself = true };
    connect_all(&side, &side);
}

/* Two processes without names may have the same numbers. */
static void processes_with_the_same_numbers_are_told_apart(void) {
    const struct side side = { .names_are_held = true, .all_draw_the_same = true };
    CHECK(connect_all(&side, &side));
}

/* ---- everything else ---- */

struct device {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
};

static struct device open_device(void) {
    struct device device;
    int gid_index;
    device.context = open_test_device(&gid_index);
    device.pd = ibv_alloc_pd(device.context);
    device.cq = ibv_create_cq(device.context, 16, NULL, NULL, 0);
    CHECK(device.pd != NULL && device.cq != NULL);
    return device;
}

/* NULL: other users hold the names. */
static struct ibv_qp *make_qp(const struct device *device, enum ibv_qp_type type) {
    struct ibv_qp_init_attr attr = attributes(type, device->cq);
    int before = binds;
    struct ibv_qp *qp = ibv_create_qp(device->pd, &attr);
    CHECK(qp != NULL || errno == EADDRNOTAVAIL);
    CHECK(binds <= before + MAX_TRIES);
    return qp;
}

static bool gets_a_name(const struct device *device) {
    struct ibv_qp *qp = make_qp(device, IBV_QPT_RC);
    CHECK(qp != NULL);
    bool named = has_name(qp);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
    return named;
}

static int to_rtr(struct ibv_qp *qp, uint32_t peer) {
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
    attr = (struct ibv_qp_attr) {
        .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer, .ah_attr = { .dlid = 1, .port_num = 1 },
    };
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
                                            | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static void make_without_names(const void *unused) {
    (void) unused;
    struct device device = open_device();
    names_are_held = true;
    for (int i = 0; i < 1000; i++) { /* of which some block is new */
        CHECK(!gets_a_name(&device));
        CHECK(make_qp(&device, IBV_QPT_UD) == NULL);
    }
    CHECK(binds > 0);
    names_are_held = false;
    CHECK_EVENTUALLY(gets_a_name(&device)); /* names are looked for again */
    struct ibv_qp *qp = make_qp(&device, IBV_QPT_UD);
    CHECK(qp != NULL && has_name(qp));
    CHECK_EQ(ibv_destroy_qp(qp), 0);
}

static void names_that_are_held_are_looked_for_a_bounded_number_of_times(void) {
    struct child child = begin_child(make_without_names, NULL);
    end_child(&child);
}

static void connect_by_number(const void *unused) {
    (void) unused;
    struct device device = open_device();
    names_are_held = true;
    struct ibv_qp *unnamed = make_qp(&device, IBV_QPT_RC);
    CHECK_EQ(to_rtr(unnamed, unnamed->qp_num), EADDRNOTAVAIL);
    CHECK_EQ(unnamed->state, IBV_QPS_INIT);
    names_are_held = false;
    struct ibv_qp *named = NULL;
    CHECK_EVENTUALLY((named = make_qp(&device, IBV_QPT_RC)) != NULL && has_name(named));
    CHECK_EQ(to_rtr(named, unnamed->qp_num), 0); /* unreachable like a number that nobody has */
    CHECK_EQ(ibv_destroy_qp(named), 0);
    CHECK_EQ(ibv_destroy_qp(unnamed), 0);
}

static void a_queue_pair_without_a_name_is_not_connected_by_its_number(void) {
    struct child child = begin_child(connect_by_number, NULL);
    end_child(&child);
}

/* ---- groups ---- */

#define LOOKS 1000
#define DATAGRAMS 20
#define LID 0xc000

static const union ibv_gid gid = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 9 } };

static struct ibv_qp *make_datagram_qp(const struct device *device) {
    struct ibv_qp *qp = make_qp(device, IBV_QPT_UD);
    CHECK(qp != NULL);
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
    attr.qp_state = IBV_QPS_RTR;
    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    attr.qp_state = IBV_QPS_RTS;
    CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
    return qp;
}

static void send_to_group(const struct device *device, struct ibv_qp *qp) {
    struct ibv_ah_attr attr = { .dlid = LID, .port_num = 1, .is_global = 1, .grh = { .dgid = gid } };
    struct ibv_ah *ah = ibv_create_ah(device->pd, &attr);
    CHECK(ah != NULL);
    char byte = 1;
    struct ibv_sge sge = { .addr = (uintptr_t) &byte, .length = 1 };
    struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
                              .wr.ud = { .ah = ah, .remote_qpn = 0xffffff } }, *bad;
    struct ibv_wc wc;
    for (int i = 0; i < DATAGRAMS; i++) {
        CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
        CHECK_EVENTUALLY(ibv_poll_cq(device->cq, 1, &wc) == 1);
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    }
    CHECK_EQ(ibv_destroy_ah(ah), 0);
}

static void use_groups_without_an_administrator(const void *unused) {
    (void) unused;
    struct device device = open_device();
    struct ibv_qp *qp = make_datagram_qp(&device);
    static struct mcast_members members;
    group_name_is_held = true;
    int before = group_binds;
    for (int i = 0; i < LOOKS; i++) {
        CHECK(mcast_find_members(&gid, &members)); /* the datagram is not to wait */
        CHECK_EQ(members.count, 0);
    }
    CHECK(group_binds > before && group_binds < before + LOOKS);
    send_to_group(&device, qp);
    CHECK_EQ(ibv_attach_mcast(qp, &gid, LID), EACCES);
    group_name_is_held = false;
    CHECK_EVENTUALLY(ibv_attach_mcast(qp, &gid, LID) == 0);
    CHECK(mcast_find_members(&gid, &members));
    CHECK_EQ(members.count, 1);
    CHECK_EQ(ibv_detach_mcast(qp, &gid, LID), 0);
    CHECK_EQ(ibv_destroy_qp(qp), 0);
}

static void groups_have_no_members_while_the_administrators_name_is_held(void) {
    struct child child = begin_child(use_groups_without_an_administrator, NULL);
    end_child(&child);
}

static void be_a_member(const void *unused) {
    (void) unused;
    struct device device = open_device();
    CHECK_EQ(ibv_attach_mcast(make_datagram_qp(&device), &gid, LID), 0);
    say(0);
    is_told();
}

static void lose_the_administrator(const void *unused) {
    (void) unused;
    struct device device = open_device();
    CHECK_EQ(ibv_attach_mcast(make_datagram_qp(&device), &gid, LID), 0);
    group_name_is_held = true;
    int before = group_binds;
    say(0);
    CHECK_EVENTUALLY(group_binds > before + 1); /* tries in vain, several times at once */
    settle();
    group_name_is_held = false;
    before = group_binds;
    CHECK_EVENTUALLY(group_binds > before);
    static struct mcast_members members;
    CHECK_EVENTUALLY(mcast_find_members(&gid, &members) && members.count == 1);
}

static void members_look_for_an_administrator_again_after_another_user_had_the_name(void) {
    struct child administrator = begin_child(be_a_member, NULL);
    CHECK_EQ(hear(&administrator), 0);
    struct child member = begin_child(lose_the_administrator, NULL);
    CHECK_EQ(hear(&member), 0);
    kill_child(&administrator);
    end_child(&member);
}

int main(void) {
    RUN(the_connection_manager_connects_processes_without_names);
    RUN(programs_that_move_their_queue_pairs_themselves_need_no_names_either);
    RUN(processes_with_the_same_numbers_are_told_apart);
    RUN(names_that_are_held_are_looked_for_a_bounded_number_of_times);
    RUN(a_queue_pair_without_a_name_is_not_connected_by_its_number);
    RUN(groups_have_no_members_while_the_administrators_name_is_held);
    RUN(members_look_for_an_administrator_again_after_another_user_had_the_name);
    return 0;
}
