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
/* The connection manager with datagrams: who is asked for a queue pair number, and groups. */
#include "cm_support.h"

#define REQUEST_DATA 180 /* 216 of a SIDR request less the RDMA CM's header of 36 */
#define REPLY_DATA 136
#define SIDR_UNSUPPORTED 1
#define SIDR_REJECT 2
#define UDP_QKEY 0x01234567

static struct rdma_cm_id *new_datagram_id(struct rdma_event_channel *channel) {
    struct rdma_cm_id *id;
    CHECK_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP), 0);
    CHECK_EQ(id->qp_type, IBV_QPT_UD);
    return id;
}

static struct rdma_cm_id *bound_id(struct rdma_event_channel *channel) {
    struct rdma_cm_id *id = new_datagram_id(channel);
    struct address address = address_of(test_address(), 0);
    CHECK_EQ(rdma_bind_addr(id, sockaddr_of(&address)), 0);
    return id;
}

static struct rdma_cm_id *listening(struct rdma_event_channel *channel) {
    struct rdma_cm_id *id = bound_id(channel);
    CHECK_EQ(rdma_listen(id, 8), 0);
    return id;
}

static struct rdma_cm_id *asking(struct rdma_event_channel *channel, uint16_t port, const void *data, uint8_t length) {
    struct rdma_cm_id *id = new_datagram_id(channel);
    resolve(id, test_address(), port);
    struct rdma_conn_param param = { .private_data = data, .private_data_len = length };
    CHECK_EQ(rdma_connect(id, &param), 0);
    return id;
}

static void make_qp(struct rdma_cm_id *id) {
    struct ibv_qp_init_attr attr = {
        .qp_type = IBV_QPT_UD, .sq_sig_all = 1,
        .cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
    };
    CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
}

static struct ibv_mr *receive_into(struct rdma_cm_id *id, char *buffer, uint32_t length) {
    struct ibv_mr *mr = ibv_reg_mr(id->pd, buffer, length, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr != NULL);
    struct ibv_sge sge = { (uintptr_t) buffer, length, mr->lkey };
    struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
    CHECK_EQ(ibv_post_recv(id->qp, &wr, &bad), 0);
    return mr;
}

static struct ibv_wc wait_for(struct ibv_cq *cq) {
    struct ibv_wc wc;
    CHECK_EVENTUALLY(ibv_poll_cq(cq, 1, &wc) == 1);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    return wc;
}

static void send_to(struct rdma_cm_id *id, struct ibv_mr *mr, uint32_t length, const struct rdma_ud_param *to) {
    struct ibv_ah_attr address = to->ah_attr;
    struct ibv_ah *ah = ibv_create_ah(id->pd, &address);
    CHECK(ah != NULL);
    struct ibv_sge sge = { (uintptr_t) mr->addr, length, mr->lkey };
    struct ibv_send_wr wr = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
        .wr.ud = { .ah = ah, .remote_qpn = to->qp_num, .remote_qkey = to->qkey },
    }, *bad;
    CHECK_EQ(ibv_post_send(id->qp, &wr, &bad), 0);
    wait_for(id->send_cq);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
}

static void accepted_request_tells_where_to_send(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = listening(server);
    struct rdma_cm_id *active = asking(client, port_of(listener), "question", 9);

    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    CHECK(event->listen_id == listener);
    CHECK_EQ(event->param.ud.private_data_len, REQUEST_DATA);
    char padded[REQUEST_DATA] = "question";
    CHECK_EQ(memcmp(event->param.ud.private_data, padded, sizeof(padded)), 0);
    struct rdma_cm_id *passive = event->id;
    CHECK_EQ(passive->qp_type, IBV_QPT_UD);
    CHECK_EQ(rdma_get_src_port(passive), rdma_get_src_port(listener));
    make_qp(passive);
    char received[200] = "", sent[200] = "datagram";
    struct ibv_mr *to = receive_into(passive, received, sizeof(received));
    struct rdma_conn_param param = { .private_data = "answer", .private_data_len = 7, .qp_num = passive->qp->qp_num };
    CHECK_EQ(rdma_accept(passive, &param), 0);
    CHECK_EQ(rdma_ack_cm_event(event), 0);

    event = expect(client, RDMA_CM_EVENT_ESTABLISHED);
    CHECK_EQ(event->status, 0);
    CHECK_EQ(event->param.ud.qp_num, passive->qp->qp_num);
    CHECK_EQ(event->param.ud.qkey, UDP_QKEY);
    CHECK_EQ(event->param.ud.ah_attr.port_num, active->port_num);
    CHECK_EQ(event->param.ud.private_data_len, REPLY_DATA);
    CHECK_EQ(strcmp(event->param.ud.private_data, "answer"), 0);
    make_qp(active);
    struct ibv_mr *from = ibv_reg_mr(active->pd, sent, sizeof(sent), 0);
    CHECK(from != NULL);
    send_to(active, from, 100, &event->param.ud);
    struct ibv_wc wc = wait_for(passive->recv_cq);
    CHECK_EQ(wc.byte_len, 140);
    CHECK_EQ(wc.src_qp, active->qp->qp_num);
    CHECK_EQ(strcmp(received + 40, "datagram"), 0);
    CHECK_EQ(rdma_ack_cm_event(event), 0);

    expect_nothing(server); /* the accepting end hears no more of it */
    param = (struct rdma_conn_param) { .qp_num = passive->qp->qp_num };
    CHECK_EQ(rdma_accept(passive, &param), -1); /* once; a failure takes the queue pair along */
    CHECK_EQ(errno, EINVAL);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(passive->qp, &attr, IBV_QP_STATE, &init), 0);
    CHECK_EQ(attr.qp_state, IBV_QPS_ERR);
    CHECK_EQ(ibv_dereg_mr(from), 0);
    CHECK_EQ(ibv_dereg_mr(to), 0);
    rdma_destroy_qp(active);
    rdma_destroy_qp(passive);
    CHECK_EQ(rdma_destroy_id(active), 0);
    expect_nothing(server);
    CHECK_EQ(rdma_destroy_id(passive), 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void rejection_is_unreachable(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = listening(server);
    struct rdma_cm_id *active = asking(client, port_of(listener), NULL, 0);
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    CHECK_EQ(rdma_reject(passive, "no", 3), 0);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    CHECK_EQ(rdma_destroy_id(passive), 0);
    event = expect(client, RDMA_CM_EVENT_UNREACHABLE);
    CHECK_EQ(event->status, SIDR_REJECT);
    CHECK_EQ(event->param.ud.private_data_len, REPLY_DATA);
    CHECK_EQ(strcmp(event->param.ud.private_data, "no"), 0);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    CHECK_EQ(rdma_destroy_id(active), 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void request_that_is_destroyed_is_rejected(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = listening(server);
    struct rdma_cm_id *active = asking(client, port_of(listener), NULL, 0);
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *passive = event->id;
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    CHECK_EQ(rdma_destroy_id(passive), 0);
    expect_and_ack(client, RDMA_CM_EVENT_UNREACHABLE, SIDR_REJECT);
    CHECK_EQ(rdma_destroy_id(active), 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void nobody_listens_is_unreachable(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *gone = listening(server);
    uint16_t port = port_of(gone);
    CHECK_EQ(rdma_destroy_id(gone), 0);
    struct rdma_cm_id *active = asking(client, port, NULL, 0);
    expect_and_ack(client, RDMA_CM_EVENT_UNREACHABLE, SIDR_UNSUPPORTED);
    CHECK_EQ(rdma_destroy_id(active), 0);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

/* A listener for connections at the same number is another one. */
static void port_spaces_are_apart(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *connections = new_listener(server, test_address(), 8);
    struct rdma_cm_id *active = asking(client, port_of(connections), NULL, 0);
    expect_and_ack(client, RDMA_CM_EVENT_UNREACHABLE, SIDR_UNSUPPORTED);
    expect_nothing(server);
    CHECK_EQ(rdma_destroy_id(active), 0);
    CHECK_EQ(rdma_destroy_id(connections), 0);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void private_data_has_its_limits(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = listening(server);
    char data[255] = { 0 };
    memset(data, 'x', REQUEST_DATA);
    struct rdma_cm_id *active = new_datagram_id(client);
    resolve(active, test_address(), port_of(listener));
    struct rdma_conn_param param = { .private_data = data, .private_data_len = REQUEST_DATA + 1 };
    CHECK_EQ(rdma_connect(active, &param), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK_EQ(rdma_destroy_id(active), 0);
    active = asking(client, port_of(listener), data, REQUEST_DATA);
    struct rdma_cm_event *event = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST);
    CHECK_EQ(memcmp(event->param.ud.private_data, data, REQUEST_DATA), 0);
    struct rdma_cm_id *passive = event->id;
    param = (struct rdma_conn_param) { .private_data = data, .private_data_len = REPLY_DATA + 1, .qp_num = 5 };
    CHECK_EQ(rdma_accept(passive, &param), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    expect_and_ack(client, RDMA_CM_EVENT_UNREACHABLE, SIDR_REJECT); /* fails as any accept */
    CHECK_EQ(rdma_destroy_id(passive), 0);
    CHECK_EQ(rdma_destroy_id(active), 0);
    CHECK_EQ(rdma_destroy_id(listener), 0);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

/* ---- groups ---- */

/* Group of this run: another run at the same time would hear what is sent, and be heard. */
static const char *group_text(void) {
    static char text[INET_ADDRSTRLEN];
    unsigned pid = (unsigned) getpid();
    snprintf(text, sizeof(text), "239.193.%u.%u", pid >> 8 & 0xff, pid & 0xff);
    return text;
}

static int join(struct rdma_cm_id *id, const char *text, void *context) {
    struct address address = address_of(text, 0);
    return rdma_join_multicast(id, sockaddr_of(&address), context);
}

static int leave(struct rdma_cm_id *id, const char *text) {
    struct address address = address_of(text, 0);
    return rdma_leave_multicast(id, sockaddr_of(&address));
}

static void members_of_a_group_receive(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *a = bound_id(channel), *b = bound_id(channel);
    make_qp(a);
    make_qp(b);
    char received[200] = "", sent[200] = "to all";
    struct ibv_mr *to = receive_into(b, received, sizeof(received));
    struct ibv_mr *from = ibv_reg_mr(a->pd, sent, sizeof(sent), 0);
    CHECK(from != NULL);
    CHECK_EQ(join(b, group_text(), sent), 0);
    struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_MULTICAST_JOIN);
    CHECK_EQ(event->status, 0);
    CHECK(event->id == b);
    CHECK(event->param.ud.private_data == sent); /* the context */
    CHECK_EQ(event->param.ud.qp_num, 0xffffff);
    CHECK_EQ(event->param.ud.qkey, UDP_QKEY);
    CHECK_EQ(event->param.ud.ah_attr.is_global, 1);
    CHECK_EQ(event->param.ud.ah_attr.grh.dgid.raw[0], DEVICE_OR_SOFT_ROCE(0xff, 0));
    CHECK_EQ(rdma_ack_cm_event(event), 0);

    struct address address = address_of(group_text(), 0);
    struct rdma_cm_join_mc_attr_ex send_only = {
        .comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
        .join_flags = DEVICE_OR_SOFT_ROCE(RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, RDMA_MC_JOIN_FLAG_FULLMEMBER),
        .addr = sockaddr_of(&address),
    };
    CHECK_EQ(rdma_join_multicast_ex(a, &send_only, NULL), 0);
    event = expect(channel, RDMA_CM_EVENT_MULTICAST_JOIN);
    CHECK(event->id == a);
    char own[200] = "";
    struct ibv_mr *own_mr = receive_into(a, own, sizeof(own));
    send_to(a, from, 50, &event->param.ud);
    CHECK_EQ(rdma_ack_cm_event(event), 0);
    struct ibv_wc wc = wait_for(b->recv_cq);
    CHECK_EQ(wc.byte_len, 90);
    CHECK_EQ(wc.src_qp, a->qp->qp_num);
    CHECK_EQ(strcmp(received + 40, "to all"), 0);
    if (!is_soft_roce()) {
        settle();
        CHECK_EQ(ibv_poll_cq(a->recv_cq, 1, &wc), 0); /* the end only sends */
    }
    CHECK_EQ(leave(b, group_text()), 0);
    CHECK_EQ(leave(b, group_text()), -1);
    CHECK_EQ(errno, EADDRNOTAVAIL);
    CHECK_EQ(leave(a, group_text()), 0);
    CHECK_EQ(ibv_dereg_mr(from), 0);
    CHECK_EQ(ibv_dereg_mr(to), 0);
    CHECK_EQ(ibv_dereg_mr(own_mr), 0);
    rdma_destroy_qp(a);
    rdma_destroy_qp(b);
    CHECK_EQ(rdma_destroy_id(a), 0);
    CHECK_EQ(rdma_destroy_id(b), 0);
    rdma_destroy_event_channel(channel);
}

static void joining_is_checked(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *unbound = new_datagram_id(channel), *tcp = new_listener(channel, test_address(), 1);
    CHECK_EQ(join(unbound, group_text(), NULL), -1);
    CHECK_EQ(join(tcp, group_text(), NULL), -1);
    struct rdma_cm_id *a = bound_id(channel);
    struct address address = address_of(group_text(), 0);
    struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS, .addr = sockaddr_of(&address) };
    CHECK_EQ(rdma_join_multicast_ex(a, &attr, NULL), -1);
    CHECK_EQ(errno, EINVAL);
    CHECK_EQ(leave(a, group_text()), -1);
    CHECK_EQ(errno, EADDRNOTAVAIL);
    CHECK_EQ(join(a, group_text(), NULL), 0);
    CHECK_EQ(rdma_destroy_id(a), 0); /* destroyed with its event unread, and in the group */
    expect_nothing(channel);
    CHECK_EQ(rdma_destroy_id(unbound), 0);
    CHECK_EQ(rdma_destroy_id(tcp), 0);
    rdma_destroy_event_channel(channel);
}

int main(void) {
    RUN(accepted_request_tells_where_to_send);
    RUN(rejection_is_unreachable);
    RUN(request_that_is_destroyed_is_rejected);
    RUN(nobody_listens_is_unreachable);
    RUN(port_spaces_are_apart);
    RUN(private_data_has_its_limits);
    RUN(members_of_a_group_receive);
    RUN(joining_is_checked);
    return 0;
}
