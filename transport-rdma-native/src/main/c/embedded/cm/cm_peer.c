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
 * Messages from peers, and the death of peers. Runs on the engine thread. State changes are those of the handlers of
 * the kernel's cm.c and cma_ib_handler().
 *
 * Messages about unknown ids are normal, because ids vanish while messages travel. They are answered or ignored. Only a
 * message that no correct peer sends takes the link down.
 */
#include "cm.h"

#include <stdlib.h>

#define BUSY_RETRY_NS UINT64_C(20000000)
#define MAX_QPN 0xffffff

/* ---- messages ---- */

/* Returns the id that a message is for, if the peer has a right to speak of it. */
static struct cm_id *find(struct link *link, const struct cm_wire_ids *ids) {
    struct cm_id *id = cm_find(ids->to);
    if (id == NULL || id->link != link || (id->remote_handle != 0 && id->remote_handle != ids->from)) {
        return NULL;
    }
    return id;
}

static bool is_valid_endpoint(const struct cm_wire_endpoint *endpoint, size_t data_limit) {
    return endpoint->qpn <= MAX_QPN && endpoint->psn <= MAX_QPN && endpoint->retry_count <= 7
            && endpoint->rnr_retry_count <= 7 && endpoint->data_length <= data_limit;
}

/* Returns the maximum size of the user's data, which depends on the port space of the request. */
static size_t request_data_size(const struct cm_wire_req *request) {
    bool datagrams = request->port_space == RDMA_PS_UDP || request->port_space == RDMA_PS_IPOIB;
    return datagrams ? CM_SIDR_REQ_DATA : CM_REQ_DATA;
}

/* Makes the id of a request and its event. Returns 0 for success, or the reason to reject. */
static int take_request(struct link *link, struct cm_id *listener, const struct cm_wire_req *request) {
    if (listener->backlog == 0 || cm_pending_requests(listener, link) >= listener->backlog_of_peer) {
        /*
         * The kernel's ucma.c, too, counts requests that are not fetched, and drops those above the backlog. The peer
         * sends them again.
         */
        return CM_REJ_NO_RESOURCES;
    }
    struct cm_id *id = cm_new_id(listener->id.channel, listener->id.context, listener->id.ps, listener->id.qp_type);
    struct cm_event *event = id != NULL ? cm_new_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0) : NULL;
    if (event == NULL || !cm_count_request(event, link) || !cm_register(id)) {
        if (event != NULL) {
            cm_uncount_request(event);
        }
        free(event);
        if (id != NULL) {
            cm_free_id(id);
        }
        /* Without memory the kernel does not answer (cm_destroy_id() in cm.c), so that the request comes again. */
        return CM_REJ_NO_RESOURCES;
    }
    cm_attach_device(id);
    cm_address_from_wire(&request->destination, &id->id.route.addr.src_storage);
    cm_address_from_wire(&request->source, &id->id.route.addr.dst_storage);
    id->state = CM_CONNECT;
    id->conn = CM_CONN_REQ_RCVD;
    id->passive = true;
    id->remote = request->endpoint;
    id->remote_handle = request->ids.from;
    cm_attach(id, link_get(link));

    event->event.id = &id->id;
    event->event.listen_id = &listener->id;
    if (!cm_is_datagram(id)) {
        cm_set_event_endpoint(event, &request->endpoint);
    }
    cm_set_event_data(event, request->data, request->endpoint.data_length, request_data_size(request));
    listener->backlog--;
    cm_post_event(event);
    return 0;
}

static bool on_request(struct link *link, const struct link_message *incoming) {
    const struct cm_wire_req *request = link_body(incoming, sizeof(*request));
    struct sockaddr_storage address;
    if (request == NULL || request->ids.from == 0
            || !is_valid_endpoint(&request->endpoint, request_data_size(request))
            || !cm_address_from_wire(&request->source, &address)
            || !cm_address_from_wire(&request->destination, &address)) {
        return false;
    }
    /* A peer that shares a folder has asked for the address. If it is not here, another namespace has it now. */
    bool is_here = !link_uses_folder() || cm_address_leads_here((struct sockaddr *) &address);
    pthread_mutex_lock(&cm_lock);
    struct cm_id *listener =
            is_here ? cm_port_listener((int) request->port_space, &request->destination) : NULL;
    int reason;
    if (listener == NULL) {
        /*
         * The kernel listens at ports. It rejects a request that fits no address there as an application would (cma.c).
         */
        reason = cm_port_is_listened((int) request->port_space, request->destination.port) ? CM_REJ_CONSUMER
                                                                                           : CM_REJ_INVALID_SERVICE_ID;
    } else if ((listener->id.qp_type == IBV_QPT_XRC_RECV) != (request->endpoint.xrc != 0)) {
        reason = CM_REJ_CONSUMER; /* cma_ib_check_req_qp_type() in the kernel's cma.c does the same */
    } else if (!cm_is_datagram(listener) && cm_is_stale(link, request->endpoint.qpn)) {
        reason = CM_REJ_STALE_CONN;
    } else {
        reason = take_request(link, listener, request);
    }
    if (reason != 0) {
        cm_send_reject_on(link, 0, request->ids.from, (enum cm_reject_reason) reason, NULL, 0);
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

static uint8_t smaller(uint8_t a, uint8_t b) {
    return a < b ? a : b;
}

/*
 * Handles a SIDR reply: the peer's queue pair number and key. There is no connection, but librdmacm reports
 * ESTABLISHED.
 */
static void take_datagram_reply(struct cm_id *id, const struct cm_wire_rep *reply) {
    struct cm_event *event = id->conn == CM_CONN_REQ_SENT ? cm_new_sure_event(id, RDMA_CM_EVENT_ESTABLISHED, 0) : NULL;
    if (event == NULL) {
        return;
    }
    id->conn = CM_CONN_IDLE;
    cm_detach(id);
    size_t length = reply->endpoint.data_length < CM_SIDR_REP_DATA ? reply->endpoint.data_length : CM_SIDR_REP_DATA;
    cm_set_event_data(event, reply->data, length, CM_SIDR_REP_DATA);
    struct rdma_ud_param *param = &event->event.param.ud;
    cm_fill_address(id, &param->ah_attr);
    param->qp_num = reply->endpoint.qpn;
    param->qkey = RDMA_UDP_QKEY; /* the only key of librdmacm: its struct rdma_conn_param has no field for one */
    cm_post_event(event);
}

static bool on_reply(struct link *link, const struct link_message *incoming) {
    const struct cm_wire_rep *reply = link_body(incoming, sizeof(*reply));
    if (reply == NULL || reply->ids.from == 0 || !is_valid_endpoint(&reply->endpoint, CM_REP_DATA)) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = find(link, &reply->ids);
    if (id == NULL) {
        cm_send_reject_on(link, reply->ids.to, reply->ids.from, CM_REJ_INVALID_COMM_ID, NULL, 0);
    } else if (cm_is_datagram(id)) {
        take_datagram_reply(id, reply);
    } else if (id->conn == CM_CONN_REQ_SENT) {
        id->conn = CM_CONN_REP_RCVD;
        id->remote_handle = reply->ids.from;
        id->remote = reply->endpoint;
        id->local.responder_resources = smaller(id->local.responder_resources, reply->endpoint.initiator_depth);
        id->local.initiator_depth = smaller(id->local.initiator_depth, reply->endpoint.responder_resources);
        struct cm_event *event = cm_new_sure_event(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
        if (event != NULL) {
            cm_set_event_endpoint(event, &reply->endpoint);
            cm_set_event_data(event, reply->data, reply->endpoint.data_length, CM_REP_DATA);
            cm_post_event(event);
        }
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

static bool on_ready_to_use(struct link *link, const struct link_message *incoming) {
    const struct cm_wire_plain *message = link_body(incoming, sizeof(*message));
    if (message == NULL) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = find(link, &message->ids);
    if (id != NULL && id->conn == CM_CONN_REP_SENT) {
        id->conn = CM_CONN_ESTABLISHED;
        cm_post(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

/* Finds an id by the peer's handle. A peer that gives up before the answer does not know the handle of this side. */
static struct cm_id *find_by_remote(struct link *link, uint32_t remote_handle) {
    for (struct cm_id *id = link_slot(link, LINK_SLOT_CM); id != NULL; id = id->link_next) {
        if (id->passive && id->remote_handle == remote_handle) {
            return id;
        }
    }
    return NULL;
}

static bool on_reject(struct link *link, const struct link_message *incoming) {
    const struct cm_wire_rej *message = link_body(incoming, sizeof(*message));
    if (message == NULL || message->reason == 0 || message->reason > UINT16_MAX) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = message->ids.to != 0 ? find(link, &message->ids) : find_by_remote(link, message->ids.from);
    switch (id != NULL ? id->conn : CM_CONN_NONE) {
        case CM_CONN_REQ_SENT:
            if (message->reason == CM_REJ_INVALID_SERVICE_ID) {
                cm_retry_request(id);
                break;
            }
            if (message->reason == CM_REJ_NO_RESOURCES) {
                cm_detach(id);
                engine_timer_set(&id->timer, engine_now_ns() + BUSY_RETRY_NS);
                break;
            }
            cm_post_rejected(id, (int) message->reason, message->data);
            break;
        /* The user has not accepted yet, and a later accept will fail. With UD the user is not told. */
        case CM_CONN_REQ_RCVD:
            id->conn = cm_is_datagram(id) ? CM_CONN_REQ_RCVD : CM_CONN_IDLE;
            cm_detach(id);
            break;
        case CM_CONN_REP_SENT:
        case CM_CONN_REP_RCVD:
            cm_post_rejected(id, (int) message->reason, message->data);
            break;
        /* The rejection crossed our ready-to-use. The kernel reports it too, and the connection is over. */
        case CM_CONN_ESTABLISHED:
            cm_enter_timewait(id);
            cm_post(id, RDMA_CM_EVENT_REJECTED, (int) message->reason, message->data, CM_REJ_DATA);
            break;
        default:
            break;
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

static bool on_disconnect_request(struct link *link, const struct link_message *incoming) {
    const struct cm_wire_plain *message = link_body(incoming, sizeof(*message));
    if (message == NULL) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = find(link, &message->ids);
    switch (id != NULL ? id->conn : CM_CONN_TIMEWAIT) {
        case CM_CONN_REP_SENT:
        case CM_CONN_ESTABLISHED:
        case CM_CONN_DREQ_SENT:
            id->conn = CM_CONN_DREQ_RCVD; /* the queue pair stays as it is until the user disconnects too */
            cm_post_disconnected(id, 0);
            break;
        case CM_CONN_TIMEWAIT:
            cm_send_plain_on(link, CM_DREP, message->ids.to, message->ids.from);
            break;
        default:
            break;
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

static bool on_disconnect_reply(struct link *link, const struct link_message *incoming) {
    const struct cm_wire_plain *message = link_body(incoming, sizeof(*message));
    if (message == NULL) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = find(link, &message->ids);
    if (id != NULL && (id->conn == CM_CONN_DREQ_SENT || id->conn == CM_CONN_DREQ_RCVD)) {
        cm_enter_timewait(id);
        cm_post_disconnected(id, 0);
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

/* ---- death of the peer ---- */

static void on_link_down(struct link *link) {
    pthread_mutex_lock(&cm_lock);
    struct cm_id *next, *id = link_slot(link, LINK_SLOT_CM);
    for (; id != NULL; id = next) {
        next = id->link_next;
        switch (id->conn) {
            case CM_CONN_REQ_SENT:
                if (link_is_of_another_version(link)) {
                    cm_post_rejected(id, CM_REJ_VERSION, NULL);
                } else {
                    cm_retry_request(id);
                }
                break;
            case CM_CONN_REP_SENT:
            case CM_CONN_REP_RCVD:
                cm_post_rejected(id, CM_REJ_CONSUMER, NULL); /* the kernel of a dying process sends this rejection */
                break;
            case CM_CONN_ESTABLISHED: /* the kernel of a dying process asks to disconnect, and answers when asked */
            case CM_CONN_DREQ_RCVD:
                id->conn = CM_CONN_DREQ_RCVD;
                cm_detach(id);
                cm_post_disconnected(id, 0);
                break;
            case CM_CONN_DREQ_SENT:
                cm_enter_timewait(id);
                cm_post_disconnected(id, 0);
                break;
            default:
                id->conn = id->conn == CM_CONN_REQ_RCVD && cm_is_datagram(id) ? CM_CONN_REQ_RCVD : CM_CONN_IDLE;
                cm_detach(id);
                break;
        }
    }
    pthread_mutex_unlock(&cm_lock);
}

void cm_init(void) {
    cm_device_init();
    cm_id_init();
    cm_ask_init();
    link_set_handler(CM_REQ, on_request);
    link_set_handler(CM_REP, on_reply);
    link_set_handler(CM_RTU, on_ready_to_use);
    link_set_handler(CM_REJ, on_reject);
    link_set_handler(CM_DREQ, on_disconnect_request);
    link_set_handler(CM_DREP, on_disconnect_reply);
    link_add_down_handler(on_link_down);
}
