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
 * Connections as the user drives them: connect, accept, reject, disconnect. State changes as in rdma_connect(),
 * rdma_accept(), rdma_reject() and rdma_disconnect() of the kernel's cma.c and of librdmacm.
 */
#include "cm.h"
#include "embedded/base/cancel.h"
#include "embedded/base/random.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RETRY 7 /* three bits in a REQ */

static uint8_t at_most(uint8_t value, int limit) {
    return value < limit ? value : (uint8_t) limit;
}

static uint32_t random_psn(void) {
    return random_start() & 0xffffff;
}

/* Fills in the user's data. If the id has data of its own in id->connect, as with rsockets, they come first. */
static int fill_data(struct cm_id *id, const struct rdma_conn_param *param, uint8_t *data, size_t limit,
                     uint8_t *length) {
    size_t own = param != NULL && param->private_data != NULL ? param->private_data_len : 0;
    if (id->connect_len + own > limit) {
        return EINVAL;
    }
    if (id->connect_len > 0) {
        memcpy(data, id->connect, id->connect_len);
    }
    if (own > 0) {
        memcpy(data + id->connect_len, param->private_data, own);
    }
    *length = (uint8_t) (id->connect_len + own);
    return 0;
}

static int check_param(struct cm_id *id, const struct rdma_conn_param *param) {
    const struct ibv_device_attr *attr = cm_device_attr();
    if (param == NULL) {
        return id->id.qp != NULL ? 0 : EINVAL;
    }
    if (id->id.ps == RDMA_PS_TCP
            && ((param->responder_resources != RDMA_MAX_RESP_RES && param->responder_resources > attr->max_qp_rd_atom)
                || (param->initiator_depth != RDMA_MAX_INIT_DEPTH
                    && param->initiator_depth > attr->max_qp_init_rd_atom))) {
        return EINVAL;
    }
    return 0;
}

static void fill_endpoint(struct cm_id *id, const struct rdma_conn_param *param) {
    const struct ibv_device_attr *attr = cm_device_attr();
    struct cm_wire_endpoint *local = &id->local;
    memset(local, 0, sizeof(*local));
    /* The default is the limit of the device, and on the passive side at most the value that the peer asked for. */
    int responder = id->passive && id->remote.initiator_depth < attr->max_qp_rd_atom ? id->remote.initiator_depth
                                                                                      : attr->max_qp_rd_atom;
    int initiator = id->passive && id->remote.responder_resources < attr->max_qp_init_rd_atom
                            ? id->remote.responder_resources
                            : attr->max_qp_init_rd_atom;
    local->responder_resources = at_most(UINT8_MAX, responder);
    local->initiator_depth = at_most(UINT8_MAX, initiator);
    local->retry_count = MAX_RETRY;
    local->rnr_retry_count = MAX_RETRY;
    if (param != NULL) {
        if (param->responder_resources != RDMA_MAX_RESP_RES) {
            local->responder_resources = param->responder_resources;
        }
        if (param->initiator_depth != RDMA_MAX_INIT_DEPTH) {
            local->initiator_depth = param->initiator_depth;
        }
        local->flow_control = param->flow_control;
        local->retry_count = at_most(param->retry_count, MAX_RETRY);
        local->rnr_retry_count = at_most(param->rnr_retry_count, MAX_RETRY);
        local->qpn = param->qp_num & 0xffffff;
        local->srq = param->srq;
    }
    if (id->id.qp != NULL) {
        local->qpn = id->id.qp->qp_num;
        local->srq = id->id.qp->srq != NULL;
    }
    local->xrc = id->id.qp_type == IBV_QPT_XRC_SEND;
    local->psn = random_psn();
}

int embedded_rdma_connect(struct rdma_cm_id *public_id, struct rdma_conn_param *param) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    int err = cm_is_inherited(id) ? EIO : check_param(id, param);
    if (err != 0) {
        return cm_result(err);
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_wire_req *request = &id->request;
    memset(request, 0, sizeof(*request));
    if (id->state != CM_ROUTE_RESOLVED) {
        err = EINVAL;
    }
    if (err == 0) {
        fill_endpoint(id, param);
        err = fill_data(id, param, request->data, cm_is_datagram(id) ? CM_SIDR_REQ_DATA : CM_REQ_DATA,
                        &id->local.data_length);
    }
    if (err == 0) {
        request->ids.from = id->handle;
        request->port_space = id->id.ps;
        cm_address_to_wire(&id->id.route.addr.src_addr, &request->source);
        cm_address_to_wire(&id->id.route.addr.dst_addr, &request->destination);
        request->endpoint = id->local;
        id->tried_since_ns = engine_now_ns();
        id->asked_anew = false;
        err = cm_send_request(id);
    }
    if (err == 0) {
        id->state = CM_CONNECT;
        if (id->connect_len != 0) {
            free(id->connect);
            id->connect_len = 0;
        }
    }
    pthread_mutex_unlock(&cm_lock);
    CANCELLABLE;
    return err != 0 ? cm_result(err) : cm_complete(id);
}

/* Undoes an accept: the peer is rejected, as rdma_accept() of the kernel does for any failure. */
static int fail_accept(struct cm_id *id, int err) {
    cm_qp_error(id);
    pthread_mutex_lock(&cm_lock);
    if (id->conn == CM_CONN_REQ_RCVD) {
        cm_send_reject(id, CM_REJ_CONSUMER, NULL, 0);
        id->conn = CM_CONN_IDLE;
    }
    pthread_mutex_unlock(&cm_lock);
    return cm_result(err);
}

/* Tells the peer the queue pair for its datagrams. There is no connection, so nothing else is to do. */
static int accept_datagrams(struct cm_id *id, const struct rdma_conn_param *param) {
    struct cm_wire_rep reply;
    memset(&reply, 0, sizeof(reply));
    int err = fill_data(id, param, reply.data, CM_SIDR_REP_DATA, &reply.endpoint.data_length);
    pthread_mutex_lock(&cm_lock);
    if (id->state != CM_CONNECT || id->conn != CM_CONN_REQ_RCVD) {
        err = EINVAL;
    }
    if (err == 0) {
        reply.endpoint.qpn = id->id.qp != NULL ? id->id.qp->qp_num : param != NULL ? param->qp_num & 0xffffff : 0;
        cm_send_datagram_reply(id, &reply);
    }
    pthread_mutex_unlock(&cm_lock);
    return err != 0 ? fail_accept(id, err) : 0;
}

int embedded_rdma_accept(struct rdma_cm_id *public_id, struct rdma_conn_param *param) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    int err = cm_is_inherited(id) ? EIO : check_param(id, param);
    if (err != 0) {
        return cm_result(err);
    }
    if (cm_is_datagram(id)) {
        return accept_datagrams(id, param);
    }
    struct cm_wire_rep reply;
    memset(&reply, 0, sizeof(reply));
    pthread_mutex_lock(&cm_lock);
    bool valid = id->state == CM_CONNECT && id->conn == CM_CONN_REQ_RCVD && id->passive;
    struct link *held = NULL;
    if (valid) {
        fill_endpoint(id, param);
        held = cm_hold_link(id);
    }
    pthread_mutex_unlock(&cm_lock);
    if (!valid) {
        return cm_result(EINVAL);
    }
    err = fill_data(id, param, reply.data, CM_REP_DATA, &id->local.data_length);
    if (err == 0) {
        struct ibv_qp *qp = cm_use_qp(id);
        err = qp == NULL ? 0 : cm_qp_connect(id, qp);
        cm_release_qp(id, qp);
    }
    if (err == 0) {
        pthread_mutex_lock(&cm_lock);
        reply.endpoint = id->local;
        err = id->conn != CM_CONN_REQ_RCVD ? EINVAL : cm_send_reply(id, &reply);
        pthread_mutex_unlock(&cm_lock);
    }
    cm_release_link(held);
    if (err != 0) {
        return fail_accept(id, err);
    }
    CANCELLABLE;
    return cm_complete(id);
}

int embedded_rdma_reject(struct rdma_cm_id *public_id, const void *data, uint8_t length) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    int err = 0;
    if (cm_is_inherited(id)) {
        return cm_result(EIO);
    }
    if (data == NULL) {
        length = 0;
    }
    pthread_mutex_lock(&cm_lock);
    switch (id->conn) {
        case CM_CONN_REQ_SENT:
        case CM_CONN_REQ_RCVD:
        case CM_CONN_REP_SENT:
        case CM_CONN_REP_RCVD:
            if (length > (cm_is_datagram(id) ? CM_SIDR_REP_DATA : CM_REJ_DATA)) {
                err = EINVAL;
            } else {
                cm_send_reject(id, CM_REJ_CONSUMER, data, length);
                id->conn = CM_CONN_IDLE;
            }
            break;
        default:
            err = EINVAL;
    }
    pthread_mutex_unlock(&cm_lock);
    return cm_result(err);
}

int embedded_rdma_disconnect(struct rdma_cm_id *public_id) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    if (cm_is_inherited(id) || id->id.verbs == NULL) {
        return cm_result(cm_is_inherited(id) ? EIO : EINVAL);
    }
    int err = cm_qp_error(id);
    if (err != 0) {
        return cm_result(err);
    }
    pthread_mutex_lock(&cm_lock);
    if (id->conn == CM_CONN_NONE) {
        err = EINVAL;
    } else if (id->conn == CM_CONN_ESTABLISHED) {
        cm_send_plain(id, CM_DREQ);
        id->conn = CM_CONN_DREQ_SENT;
        engine_timer_set(&id->timer, engine_now_ns() + cm_response_timeout_ns);
    } else if (id->conn == CM_CONN_DREQ_RCVD) {
        cm_send_plain(id, CM_DREP);
        cm_enter_timewait(id);
    } /* other states: the connection is over or has not begun, which is no error */
    pthread_mutex_unlock(&cm_lock);
    CANCELLABLE;
    return err != 0 ? cm_result(err) : cm_complete(id);
}
