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
 * Processes whose libraries are of different versions (LINK_VERSION), by each way that leads from one to the other: a
 * request of the connection manager for a connection or for datagrams, a queue pair number, a group, a question for an
 * address in a folder. None connects, and whoever asks learns why. The version is all that differs here: no other
 * message is ever read, so that nothing depends on what it would say.
 */
#include "folder_support.h"

#include "embedded/link/link.h"

#include <rdma/rdma_verbs.h>
#include <stdatomic.h>

#define REJECT_VERSION 31 /* IBA 12.6.7.2: invalid class version */
#define SIDR_VERSION 5    /* IBA 12.11.2.2: unsupported version */
#define MULTICAST_QPN 0xffffff
#define MULTICAST_LID 0xc000

/* Versions of libraries before LINK_VERSION 7, whatever they speak, and of the next one. */
static const uint32_t other_versions[] = { 1, LINK_VERSION + 1 };

static atomic_uint ended_links;

static void count_ended(struct link *link) {
    (void) link;
    ended_links++;
}

static void become(uint32_t version) {
    link_version = version;
    link_add_down_handler(count_ended);
}

static union ibv_gid the_group(void) {
    union ibv_gid gid = { .raw = { 0xff, 0x12, [14] = (uint8_t) getppid(), [15] = 77 } };
    return gid;
}

/* ---- queue pairs that are not connected by the connection manager ---- */

struct pair_of_qps {
    struct rdma_cm_id *rc, *ud;
    struct ibv_mr *mr;
    char memory[4096];
};

static struct rdma_cm_id *bound(struct rdma_event_channel *channel, enum rdma_port_space space) {
    struct rdma_cm_id *id;
    struct address address = address_of(test_address(), 0);
    CHECK_EQ(rdma_create_id(channel, &id, NULL, space), 0);
    CHECK_EQ(rdma_bind_addr(id, sockaddr_of(&address)), 0);
    return id;
}

static struct rdma_cm_id *with_qp(enum rdma_port_space space, enum ibv_qp_type type) {
    struct rdma_cm_id *id = bound(NULL, space);
    struct ibv_qp_init_attr attr = {
        .qp_type = type, .sq_sig_all = 1,
        .cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
    };
    CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
    return id;
}

static void open_qps(struct pair_of_qps *qps) {
    qps->rc = with_qp(RDMA_PS_TCP, IBV_QPT_RC);
    qps->ud = with_qp(RDMA_PS_UDP, IBV_QPT_UD);
    qps->mr = ibv_reg_mr(qps->ud->pd, qps->memory, sizeof(qps->memory), IBV_ACCESS_LOCAL_WRITE);
    CHECK(qps->mr != NULL);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(rdma_post_recv(qps->ud, NULL, qps->memory + 512 * i, 512, qps->mr), 0);
    }
    union ibv_gid gid = the_group();
    CHECK_EQ(ibv_attach_mcast(qps->ud->qp, &gid, MULTICAST_LID), 0);
}

static void connect_rc(struct pair_of_qps *qps, uint32_t qpn) {
    struct ibv_qp_attr to_rtr = {
        .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qpn, .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12, .ah_attr = { .dlid = 1, .port_num = 1 },
    };
    struct ibv_port_attr port;
    CHECK_EQ(ibv_query_port(qps->rc->verbs, 1, &port), 0);
    to_rtr.ah_attr.dlid = port.lid;
    CHECK_EQ(ibv_modify_qp(qps->rc->qp, &to_rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN
                           | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), 0);
    struct ibv_qp_attr to_rts = { .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 1, .max_rd_atomic = 1 };
    CHECK_EQ(ibv_modify_qp(qps->rc->qp, &to_rts, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT
                           | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC), 0);
}

static enum ibv_wc_status completion(struct ibv_cq *cq) {
    struct ibv_wc wc;
    CHECK_EVENTUALLY(ibv_poll_cq(cq, 1, &wc) == 1);
    return wc.status;
}

static void send_datagram(struct pair_of_qps *qps, uint32_t qpn, const union ibv_gid *group) {
    struct ibv_port_attr port;
    CHECK_EQ(ibv_query_port(qps->ud->verbs, 1, &port), 0);
    struct ibv_ah_attr attr = { .dlid = port.lid, .port_num = 1 };
    if (group != NULL) {
        attr.is_global = 1;
        attr.dlid = MULTICAST_LID;
        attr.grh.dgid = *group;
    }
    struct ibv_ah *ah = ibv_create_ah(qps->ud->pd, &attr);
    CHECK(ah != NULL);
    struct ibv_sge sge = { (uintptr_t) qps->memory + 2048, 64, qps->mr->lkey };
    struct ibv_send_wr wr = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
        .wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = RDMA_UDP_QKEY },
    }, *bad;
    CHECK_EQ(ibv_post_send(qps->ud->qp, &wr, &bad), 0);
    CHECK_EQ(completion(qps->ud->send_cq), IBV_WC_SUCCESS);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
}

static void close_qps(struct pair_of_qps *qps) {
    union ibv_gid gid = the_group();
    CHECK_EQ(ibv_detach_mcast(qps->ud->qp, &gid, MULTICAST_LID), 0);
    rdma_destroy_qp(qps->ud);
    rdma_destroy_qp(qps->rc);
    CHECK_EQ(ibv_dereg_mr(qps->mr), 0);
    CHECK_EQ(rdma_destroy_id(qps->ud), 0);
    CHECK_EQ(rdma_destroy_id(qps->rc), 0);
}

/* ---- whoever is asked ---- */

/* Says how it is to be reached; when it is told, how many requests and datagrams have come. */
static void be_asked(const void *version) {
    become(*(const uint32_t *) version);
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *connections = bound(channel, RDMA_PS_TCP), *datagrams = bound(channel, RDMA_PS_UDP);
    CHECK_EQ(rdma_listen(connections, 8), 0);
    CHECK_EQ(rdma_listen(datagrams, 8), 0);
    struct pair_of_qps qps;
    open_qps(&qps);
    say(port_of(connections));
    say(port_of(datagrams));
    say((int) qps.rc->qp->qp_num);
    say((int) qps.ud->qp->qp_num);
    CHECK(is_told());
    settle();
    int requests = 0, received = 0;
    struct rdma_cm_event *event;
    while (rdma_get_cm_event(channel, &event) == 0) {
        requests += event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
        CHECK_EQ(rdma_destroy_id(event->id), 0);
        rdma_ack_cm_event(event);
    }
    for (struct ibv_wc wc; ibv_poll_cq(qps.ud->recv_cq, 1, &wc) == 1;) {
        received++;
    }
    say(requests);
    say(received);
    close_qps(&qps);
    CHECK_EQ(rdma_destroy_id(connections), 0);
    CHECK_EQ(rdma_destroy_id(datagrams), 0);
    rdma_destroy_event_channel(channel);
}

struct asked {
    uint32_t version; /* version of the asking process */
    int port, datagram_port, rc_qpn, ud_qpn;
};

static struct child begin_asked(const uint32_t *version, struct asked *asked) {
    struct child child = begin_child(be_asked, version);
    asked->port = hear(&child);
    asked->datagram_port = hear(&child);
    asked->rc_qpn = hear(&child);
    asked->ud_qpn = hear(&child);
    return child;
}

/* ---- whoever asks ---- */

static struct rdma_cm_id *ask_for(struct rdma_event_channel *channel, enum rdma_port_space space, int port) {
    struct rdma_cm_id *id;
    CHECK_EQ(rdma_create_id(channel, &id, NULL, space), 0);
    resolve(id, test_address(), (uint16_t) port);
    struct rdma_conn_param param = { .qp_num = fresh_qpn() };
    CHECK_EQ(rdma_connect(id, &param), 0);
    return id;
}

static void ask_and_be_refused(const void *argument) {
    const struct asked *asked = argument;
    become(asked->version);
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = ask_for(channel, RDMA_PS_TCP, asked->port);
    expect_and_ack(channel, RDMA_CM_EVENT_REJECTED, REJECT_VERSION);
    CHECK_EQ(rdma_destroy_id(id), 0);
    id = ask_for(channel, RDMA_PS_UDP, asked->datagram_port);
    expect_and_ack(channel, RDMA_CM_EVENT_UNREACHABLE, SIDR_VERSION);
    CHECK_EQ(rdma_destroy_id(id), 0);

    struct pair_of_qps qps;
    open_qps(&qps);
    connect_rc(&qps, (uint32_t) asked->rc_qpn);
    CHECK_EQ(rdma_post_send(qps.rc, NULL, qps.memory, 64, qps.mr, 0), 0);
    CHECK_EQ(completion(qps.rc->send_cq), IBV_WC_RETRY_EXC_ERR);

    unsigned before = ended_links;
    send_datagram(&qps, (uint32_t) asked->ud_qpn, NULL);
    CHECK(ended_links - before <= 2); /* the link of the queue pair above may end late */

    /* Each version has the members of its own. */
    union ibv_gid gid = the_group();
    before = ended_links;
    send_datagram(&qps, MULTICAST_QPN, &gid);
    CHECK_EQ(completion(qps.ud->recv_cq), IBV_WC_SUCCESS);
    CHECK(ended_links - before <= 1);
    close_qps(&qps);
    rdma_destroy_event_channel(channel);
}

static void expect_refusals(uint32_t asking, uint32_t asked_version) {
    struct asked asked = { .version = asking };
    struct child child = begin_asked(&asked_version, &asked);
    run_in_child(ask_and_be_refused, &asked);
    tell(&child);
    CHECK_EQ(hear(&child), 0);
    CHECK_EQ(hear(&child), 0);
    end_child(&child);
}

static void another_version_is_refused_by_each_way(void) {
    for (size_t i = 0; i < sizeof(other_versions) / sizeof(*other_versions); i++) {
        expect_refusals(LINK_VERSION, other_versions[i]);
        expect_refusals(other_versions[i], LINK_VERSION);
    }
}

static void ask_and_be_heard(const void *argument) {
    const struct asked *asked = argument;
    become(asked->version);
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *first = ask_for(channel, RDMA_PS_TCP, asked->port);
    struct rdma_cm_id *second = ask_for(channel, RDMA_PS_UDP, asked->datagram_port);
    struct pair_of_qps qps;
    open_qps(&qps);
    send_datagram(&qps, (uint32_t) asked->ud_qpn, NULL);
    union ibv_gid gid = the_group();
    send_datagram(&qps, MULTICAST_QPN, &gid);
    CHECK_EQ(completion(qps.ud->recv_cq), IBV_WC_SUCCESS);
    CHECK_EQ(ended_links, 0);
    say(0);
    CHECK(is_told());
    close_qps(&qps);
    CHECK_EQ(rdma_destroy_id(first), 0);
    CHECK_EQ(rdma_destroy_id(second), 0);
    rdma_destroy_event_channel(channel);
}

/* The same ways, of which each leads to the other process if the version is the same, whichever that is. */
static void another_version_meets_its_own(void) {
    const uint32_t version = LINK_VERSION + 1;
    struct asked asked = { .version = version };
    struct child child = begin_asked(&version, &asked);
    struct child asking = begin_child(ask_and_be_heard, &asked);
    CHECK_EQ(hear(&asking), 0);
    tell(&child);
    CHECK_EQ(hear(&child), 2);
    CHECK_EQ(hear(&child), 2);
    tell(&asking);
    end_child(&asking);
    end_child(&child);
}

/* ---- in a folder ---- */

static void serve_as_another_version(const void *service) {
    become(LINK_VERSION + 1);
    serve(service);
}

static void client_of_another_version(const void *unused) {
    (void) unused;
    enter_network(OF_C);
    CHECK_EQ(fail_to_connect(OF_A), EPROTONOSUPPORT);
    converse(OF_B, OF_C, "b");
}

static void an_address_of_another_version_is_told_apart_from_none(void) {
    const struct service a = { .network = OF_A, .name = "a" }, b = { .network = OF_B, .name = "b" };
    if (!has_namespaces()) {
        fprintf(stderr, "    skipped: other namespaces, which this system lets this user not make\n");
        return;
    }
    make_folder();
    struct child other = begin_child(serve_as_another_version, &a), same = begin_service(&b);
    CHECK_EQ(hear(&other), 0);
    run_in_child(client_of_another_version, NULL);
    kill_child(&other);
    kill_child(&same);
    remove_folder();
}

int main(void) {
    RUN(another_version_is_refused_by_each_way);
    RUN(another_version_meets_its_own);
    RUN(an_address_of_another_version_is_told_apart_from_none);
    return 0;
}
