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
 * The connection manager and the queue pairs it moves.
 */
#include <rdma/rdma_verbs.h>

#include "cm_support.h"

#include <endian.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static enum ibv_qp_state state_of(struct rdma_cm_id *id) {
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(id->qp, &attr, IBV_QP_STATE, &init), 0);
    return attr.qp_state;
}

static void create_qp_ex(struct rdma_cm_id *id) {
    struct ibv_qp_init_attr_ex attr = {
        .cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
        .comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_TSO,
    };
    CHECK(rdma_create_qp_ex(id, &attr) == -1 && errno == EOPNOTSUPP);
    CHECK(id->qp == NULL && id->send_cq == NULL && id->recv_cq == NULL);
    attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
    attr.send_cq = attr.recv_cq = NULL;
    CHECK_EQ(rdma_create_qp_ex(id, &attr), 0);
    CHECK(id->qp != NULL && ibv_qp_to_qp_ex(id->qp) != NULL);
    CHECK(attr.pd == id->pd && attr.send_cq == id->send_cq && attr.recv_cq == id->recv_cq);
    CHECK_EQ(state_of(id), IBV_QPS_INIT);
}

static void create_qp(struct rdma_cm_id *id) {
    struct ibv_qp_init_attr attr = {
        .cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
    };
    CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
    CHECK(id->qp != NULL && id->send_cq != NULL && id->recv_cq != NULL && id->send_cq != id->recv_cq);
    CHECK(attr.send_cq == id->send_cq && attr.recv_cq == id->recv_cq);
    CHECK_EQ(state_of(id), IBV_QPS_INIT);
}

static struct pair connect_queue_pairs_of(void (*create)(struct rdma_cm_id *id)) {
    struct pair p = { .server = new_channel(), .client = new_channel() };
    p.listener = new_listener(p.server, test_address(), 8);
    p.active = new_id(p.client);
    resolve(p.active, test_address(), port_of(p.listener));
    create(p.active);
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
                                     .rnr_retry_count = 7 };
    CHECK_EQ(rdma_connect(p.active, &param), 0);
    struct rdma_cm_event *event = expect(p.server, RDMA_CM_EVENT_CONNECT_REQUEST);
    CHECK_EQ(event->param.conn.qp_num, p.active->qp->qp_num);
    p.passive = event->id;
    create(p.passive);
    CHECK_EQ(rdma_accept(p.passive, &param), 0);
    rdma_ack_cm_event(event);
    CHECK_EQ(state_of(p.passive), IBV_QPS_RTS);
    event = expect(p.client, RDMA_CM_EVENT_ESTABLISHED);
    CHECK_EQ(event->param.conn.qp_num, p.passive->qp->qp_num);
    rdma_ack_cm_event(event);
    CHECK_EQ(state_of(p.active), IBV_QPS_RTS);
    expect_and_ack(p.server, RDMA_CM_EVENT_ESTABLISHED, 0);
    return p;
}

static struct pair connect_queue_pairs(void) {
    return connect_queue_pairs_of(create_qp);
}

static void free_queue_pairs(struct pair *p) {
    rdma_destroy_qp(p->active);
    rdma_destroy_qp(p->passive);
    CHECK(p->active->qp == NULL && p->active->send_cq == NULL && p->active->recv_cq_channel == NULL);
    free_pair(p);
}

static struct ibv_wc completion(struct ibv_cq *cq) {
    struct ibv_wc wc;
    int n = 0;
    CHECK_EVENTUALLY((n = ibv_poll_cq(cq, 1, &wc)) != 0);
    CHECK_EQ(n, 1);
    return wc;
}

static void post_receive(struct rdma_cm_id *id, struct ibv_mr *mr, uint64_t wr_id) {
    struct ibv_sge sge = { .addr = (uintptr_t) mr->addr, .length = (uint32_t) mr->length, .lkey = mr->lkey };
    struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;
    CHECK_EQ(ibv_post_recv(id->qp, &wr, &bad), 0);
}

static void connected_queue_pairs_carry_data(void) {
    struct pair p = connect_queue_pairs();
    char in[64] = { 0 }, out[64] = "over the connection";
    struct ibv_mr *to = ibv_reg_mr(p.passive->pd, in, sizeof(in), IBV_ACCESS_LOCAL_WRITE);
    struct ibv_mr *from = ibv_reg_mr(p.active->pd, out, sizeof(out), 0);
    CHECK(to != NULL && from != NULL);
    post_receive(p.passive, to, 1);
    struct ibv_sge sge = { .addr = (uintptr_t) out, .length = sizeof(out), .lkey = from->lkey };
    struct ibv_send_wr wr = { .wr_id = 2, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
    CHECK_EQ(ibv_post_send(p.active->qp, &wr, &bad), 0);
    struct ibv_wc wc = completion(p.passive->recv_cq);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.byte_len, sizeof(out));
    CHECK(strcmp(in, out) == 0);
    CHECK_EQ(completion(p.active->send_cq).status, IBV_WC_SUCCESS);
    ibv_dereg_mr(to);
    ibv_dereg_mr(from);
    free_queue_pairs(&p);
}

/* The other side finds out by its event alone, as with soft-RoCE (Linux 6.1). */
static void a_disconnect_flushes_the_own_queue_pair_only(void) {
    struct pair p = connect_queue_pairs();
    char buffer[64];
    struct ibv_mr *mr = ibv_reg_mr(p.active->pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);
    post_receive(p.active, mr, 1);
    post_receive(p.passive, mr, 2);
    CHECK_EQ(rdma_disconnect(p.active), 0);
    CHECK_EQ(state_of(p.active), IBV_QPS_ERR);
    CHECK_EQ(completion(p.active->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
    expect_and_ack(p.server, RDMA_CM_EVENT_DISCONNECTED, 0);
    struct ibv_wc wc;
    CHECK_EQ(state_of(p.passive), IBV_QPS_RTS);
    CHECK_EQ(ibv_poll_cq(p.passive->recv_cq, 1, &wc), 0);
    CHECK_EQ(rdma_disconnect(p.passive), 0);
    CHECK_EQ(state_of(p.passive), IBV_QPS_ERR);
    CHECK_EQ(completion(p.passive->recv_cq).wr_id, 2);
    expect_and_ack(p.client, RDMA_CM_EVENT_DISCONNECTED, 0);
    ibv_dereg_mr(mr);
    free_queue_pairs(&p);
}

static void a_rejected_queue_pair_goes_to_error(void) {
    struct rdma_event_channel *client = new_channel();
    struct rdma_cm_id *active = new_id(client);
    resolve(active, test_address(), 1);
    create_qp(active);
    struct rdma_conn_param param = { 0 };
    CHECK_EQ(rdma_connect(active, &param), 0);
    expect_and_ack(client, RDMA_CM_EVENT_REJECTED, REJECT_NO_LISTENER);
    CHECK_EQ(state_of(active), IBV_QPS_ERR);
    CHECK_EQ(rdma_disconnect(active), 0);
    rdma_destroy_qp(active);
    rdma_destroy_id(active);
    rdma_destroy_event_channel(client);
}

static void a_peer_that_left_before_establishment_is_a_connect_error(void) {
    struct rdma_event_channel *server = new_channel(), *client = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 8), *active = new_id(client);
    resolve(active, test_address(), port_of(listener));
    create_qp(active);
    struct rdma_conn_param param = { 0 };
    CHECK_EQ(rdma_connect(active, &param), 0);
    struct rdma_cm_id *passive = accept_next(server);
    struct pollfd readable = { .fd = client->fd, .events = POLLIN };
    CHECK_EQ(poll(&readable, 1, patience_ms()), 1); /* accepted; not yet fetched */
    rdma_destroy_id(passive);
    settle();
    struct rdma_cm_event *event = expect(client, RDMA_CM_EVENT_CONNECT_ERROR);
    CHECK(event->status < 0);
    rdma_ack_cm_event(event);
    expect_nothing(client); /* consequences of it are not reported again */
    CHECK_EQ(state_of(active), IBV_QPS_ERR);
    rdma_destroy_qp(active);
    rdma_destroy_id(active);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
    rdma_destroy_event_channel(client);
}

static void creation_checks_what_it_is_given(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1, .max_recv_wr = 1 }, .qp_type = IBV_QPT_RC };
    if (is_embedded()) { /* librdmacm does not look */
        CHECK_EQ(rdma_create_qp(id, NULL, &attr), -1); /* no device yet */
        CHECK_EQ(errno, EINVAL);
    }
    resolve(id, test_address(), 9);
    struct ibv_context **devices = rdma_get_devices(NULL);
    CHECK(devices != NULL);
    int mine = 0;
    while (devices[mine] != NULL && devices[mine] != id->verbs) {
        mine++;
    }
    CHECK(devices[mine] == id->verbs && id->verbs != NULL);
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *other = ibv_open_device(list[0]);
    struct ibv_pd *foreign = ibv_alloc_pd(other);
    CHECK_EQ(rdma_create_qp(id, foreign, &attr), -1);
    CHECK_EQ(errno, EINVAL);
    attr.cap.max_send_wr = 1u << 30;
    CHECK_EQ(rdma_create_qp(id, NULL, &attr), -1);
    CHECK(id->qp == NULL && id->send_cq == NULL && id->recv_cq == NULL && id->send_cq_channel == NULL);
    attr = (struct ibv_qp_init_attr) { .cap = { .max_send_wr = 1, .max_recv_wr = 1 }, .qp_type = IBV_QPT_RC };
    CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
    CHECK_EQ(rdma_create_qp(id, NULL, &attr), -1);
    CHECK_EQ(errno, EINVAL);
    rdma_destroy_qp(id);
    ibv_dealloc_pd(foreign);
    ibv_close_device(other);
    ibv_free_device_list(list);
    rdma_free_devices(devices);
    rdma_destroy_id(id);
    rdma_destroy_event_channel(channel);
}

/* Attributes for a queue pair without the connection manager, of the port that the local address belongs to. */
static void a_bound_id_knows_port_and_gid_of_its_device(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    resolve(id, test_address(), 9);
    struct ibv_device_attr device;
    struct ibv_port_attr port;
    CHECK_EQ(ibv_query_device(id->verbs, &device), 0);
    CHECK(id->port_num >= 1 && id->port_num <= device.phys_port_cnt);
    CHECK_EQ(ibv_query_port(id->verbs, id->port_num, &port), 0);
    CHECK_EQ(port.state, IBV_PORT_ACTIVE);
    bool found = false;
    union ibv_gid gid;
    for (int i = 0; i < port.gid_tbl_len && !found; i++) {
        found = ibv_query_gid(id->verbs, id->port_num, i, &gid) == 0
                && memcmp(&gid, &id->route.addr.addr.ibaddr.sgid, sizeof(gid)) == 0;
    }
    CHECK(found);
    __be16 key;
    CHECK(port.pkey_tbl_len >= 1);
    CHECK_EQ(ibv_query_pkey(id->verbs, id->port_num, 0, &key), 0);
    CHECK_EQ(be16toh(key), 0xffff);
    CHECK_EQ(ibv_query_pkey(id->verbs, id->port_num, port.pkey_tbl_len, &key), -1);
    if (port.link_layer != IBV_LINK_LAYER_ETHERNET) {
        CHECK_EQ(be16toh(id->route.addr.addr.ibaddr.pkey), 0xffff);
    }
    rdma_destroy_id(id);
    rdma_destroy_event_channel(channel);
}

/* rsockets put one queue and one channel in both places of the id: they must be destroyed once. */
static void one_completion_queue_may_serve_both_directions(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    resolve(id, test_address(), 9);
    id->recv_cq_channel = id->send_cq_channel = ibv_create_comp_channel(id->verbs);
    id->recv_cq = id->send_cq = ibv_create_cq(id->verbs, 4, id, id->recv_cq_channel, 0);
    CHECK(id->recv_cq != NULL);
    struct ibv_qp_init_attr attr = {
        .send_cq = id->send_cq, .recv_cq = id->recv_cq,
        .cap = { .max_send_wr = 1, .max_recv_wr = 1 }, .qp_type = IBV_QPT_RC,
    };
    CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
    rdma_destroy_qp(id);
    CHECK(id->recv_cq == NULL && id->recv_cq_channel == NULL);
    /* librdmacm leaves the pointers of the other direction as they were. */
    CHECK(!is_embedded() || (id->send_cq == NULL && id->send_cq_channel == NULL));
    rdma_destroy_id(id);
    rdma_destroy_event_channel(channel);
}

#define CONNECTORS 4
#define CONNECTIONS 25

static void queue_pairs_of_ids_share_receives(void) {
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    struct rdma_cm_id *listener = new_listener(channel, test_address(), 1);
    resolve(id, test_address(), port_of(listener));
    struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
    struct ibv_pd *pd = ibv_alloc_pd(id->verbs);
    CHECK(pd != NULL);
    CHECK_EQ(rdma_create_srq(id, pd, &srq), 0);
    CHECK(id->srq != NULL && id->srq->pd == pd && srq.attr.max_wr >= 4);
    struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1, .max_send_sge = 1 }, .qp_type = IBV_QPT_RC };
    attr.send_cq = attr.recv_cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
    CHECK(attr.send_cq != NULL);
    CHECK_EQ(rdma_create_qp(id, pd, &attr), 0);
    CHECK(id->qp->srq == id->srq); /* without having been asked for */
    rdma_destroy_qp(id);
    CHECK_EQ(ibv_destroy_cq(attr.send_cq), 0);
    rdma_destroy_srq(id);
    CHECK(id->srq == NULL);
    CHECK_EQ(ibv_dealloc_pd(pd), 0);
    rdma_destroy_id(id);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(channel);
}

static void *connect_often(void *listener) {
    struct rdma_event_channel *channel = new_channel();
    for (int i = 0; i < CONNECTIONS; i++) {
        struct rdma_cm_id *id = new_id(channel);
        resolve(id, test_address(), port_of(listener));
        create_qp(id);
        struct rdma_conn_param param = { 0 };
        CHECK_EQ(rdma_connect(id, &param), 0);
        expect_and_ack(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
        CHECK_EQ(rdma_disconnect(id), 0);
        expect_and_ack(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
        rdma_destroy_qp(id);
        rdma_destroy_id(id);
    }
    rdma_destroy_event_channel(channel);
    return NULL;
}

static void many_threads_may_connect_at_once(void) {
    struct rdma_event_channel *server = new_channel();
    struct rdma_cm_id *listener = new_listener(server, test_address(), 64);
    pthread_t threads[CONNECTORS];
    for (int i = 0; i < CONNECTORS; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, connect_often, listener), 0);
    }
    int ended = 0;
    while (ended < CONNECTORS * CONNECTIONS) {
        struct rdma_cm_event *event = next_event(server);
        struct rdma_cm_id *id = event->id;
        enum rdma_cm_event_type type = event->event;
        if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
            create_qp(id);
            CHECK_EQ(rdma_accept(id, NULL), 0);
        }
        rdma_ack_cm_event(event);
        if (type == RDMA_CM_EVENT_DISCONNECTED) {
            CHECK_EQ(rdma_disconnect(id), 0);
            rdma_destroy_qp(id);
            rdma_destroy_id(id);
            ended++;
        }
    }
    for (int i = 0; i < CONNECTORS; i++) {
        pthread_join(threads[i], NULL);
    }
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(server);
}

static void queue_pairs_of_ids_post_by_functions(void) {
    struct pair p = connect_queue_pairs_of(create_qp_ex);
    char buffer[16] = { 0 }, message[8] = "by hand";
    struct ibv_mr *mr = rdma_reg_msgs(p.passive, buffer, sizeof(buffer));
    struct ibv_mr *sent = rdma_reg_msgs(p.active, message, sizeof(message));
    CHECK(mr != NULL && sent != NULL);
    CHECK_EQ(rdma_post_recv(p.passive, NULL, buffer, sizeof(buffer), mr), 0);
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(p.active->qp);
    ibv_wr_start(qp);
    ibv_wr_send(qp);
    ibv_wr_set_sge(qp, sent->lkey, (uintptr_t) message, sizeof(message));
    CHECK_EQ(ibv_wr_complete(qp), 0);
    CHECK_EQ(completion(p.active->send_cq).status, IBV_WC_SUCCESS);
    struct ibv_wc wc = completion(p.passive->recv_cq);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    CHECK_EQ(wc.byte_len, 8);
    CHECK(strcmp(buffer, "by hand") == 0);
    CHECK_EQ(rdma_dereg_mr(sent), 0);
    CHECK_EQ(rdma_dereg_mr(mr), 0);
    free_queue_pairs(&p);
}

int main(void) {
    RUN(connected_queue_pairs_carry_data);
    RUN(queue_pairs_of_ids_post_by_functions);
    RUN(a_disconnect_flushes_the_own_queue_pair_only);
    RUN(a_rejected_queue_pair_goes_to_error);
    RUN(a_peer_that_left_before_establishment_is_a_connect_error);
    RUN(creation_checks_what_it_is_given);
    RUN(a_bound_id_knows_port_and_gid_of_its_device);
    RUN(one_completion_queue_may_serve_both_directions);
    RUN(queue_pairs_of_ids_share_receives);
    RUN(many_threads_may_connect_at_once);
    return 0;
}
