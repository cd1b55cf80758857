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
 * The peer's side of connections: its messages, its silence, its death. State changes as in the handlers of the
 * kernel's cm.c and cma_ib_handler(). All of it runs on the engine thread but for the sending.
 *
 * Messages about unknown ids are normal (ids vanish while messages travel) and are answered or ignored; only what no
 * correct peer sends takes the link down.
 */
#include "cm_private.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define RETRY_NS (1 * MS)
#define BUSY_RETRY_NS (20 * MS)
#define TIMEWAIT_NS (500 * MS) /* as seen on soft-RoCE */
#define QPN_BUCKETS 4096
#define MAX_QPN 0xffffff

uint64_t cm_response_timeout_ns = 60000 * MS;
uint64_t cm_grace_ns = 10 * MS;

static struct cm_id *by_qpn[QPN_BUCKETS]; /* passive ids that are attached to a link */

static void on_timer(struct engine_timer *timer);

/* ---- ids on links ---- */

static void attach(struct cm_id *id, struct link *link) {
    struct cm_id *head = link_slot(link, LINK_SLOT_CM);
    id->link = link;
    id->link_previous = NULL;
    id->link_next = head;
    if (head != NULL) {
        head->link_previous = id;
    }
    link_set_slot(link, LINK_SLOT_CM, id);
    if (id->passive) {
        struct cm_id **bucket = &by_qpn[id->remote.qpn % QPN_BUCKETS];
        id->qpn_next = *bucket;
        *bucket = id;
    }
}

void cm_detach(struct cm_id *id) {
    if (id->link == NULL) {
        return;
    }
    if (id->link_next != NULL) {
        id->link_next->link_previous = id->link_previous;
    }
    if (id->link_previous != NULL) {
        id->link_previous->link_next = id->link_next;
    } else {
        link_set_slot(id->link, LINK_SLOT_CM, id->link_next);
    }
    if (id->passive) {
        struct cm_id **previous = &by_qpn[id->remote.qpn % QPN_BUCKETS];
        while (*previous != id) {
            previous = &(*previous)->qpn_next;
        }
        *previous = id->qpn_next;
    }
    link_put(id->link);
    id->link = NULL;
}

/* ---- sending ---- */

/* What cannot be sent is lost together with the link, whose end is handled by itself. */
static void send_plain(struct link *link, enum cm_message type, uint32_t from, uint32_t to) {
    struct cm_wire_plain message = { .ids = { .from = from, .to = to } };
    link_send(link, type, &message, sizeof(message), NULL, 0);
}

static void send_reject(struct link *link, uint32_t from, uint32_t to, enum cm_reject_reason reason, const void *data,
                        size_t length) {
    struct cm_wire_rej message = { .ids = { .from = from, .to = to }, .reason = reason };
    if (length > 0) {
        memcpy(message.data, data, length);
    }
    link_send(link, CM_REJ, &message, sizeof(message), NULL, 0);
}

void cm_send_plain(struct cm_id *id, enum cm_message type) {
    if (id->link != NULL) {
        send_plain(id->link, type, id->handle, id->remote_handle);
    }
}

void cm_send_reject(struct cm_id *id, enum cm_reject_reason reason, const void *data, size_t length) {
    if (id->link != NULL) {
        send_reject(id->link, id->handle, id->remote_handle, reason, data, length);
    }
}

int cm_send_reply(struct cm_id *id, const struct cm_wire_rep *reply) {
    struct cm_wire_rep message = *reply;
    message.ids.from = id->handle;
    message.ids.to = id->remote_handle;
    int err = link_send(id->link, CM_REP, &message, sizeof(message), NULL, 0);
    if (err == 0) {
        id->conn = CM_CONN_REP_SENT;
        id->timer.fire = on_timer;
        engine_timer_set(&id->timer, engine_now_ns() + cm_response_timeout_ns);
    }
    return err;
}

/* A peer that has gone does not matter. */
void cm_send_datagram_reply(struct cm_id *id, const struct cm_wire_rep *reply) {
    struct cm_wire_rep message = *reply;
    message.ids.from = id->handle;
    message.ids.to = id->remote_handle;
    if (id->link != NULL) {
        link_send(id->link, CM_REP, &message, sizeof(message), NULL, 0);
    }
    id->conn = CM_CONN_IDLE;
    cm_detach(id);
}

/* ---- events ---- */

static void post(struct cm_id *id, enum rdma_cm_event_type type, int status, const void *data, size_t length) {
    struct cm_event *event = cm_new_sure_event(id, type, status);
    if (event != NULL) {
        if (data != NULL) {
            cm_set_event_data(event, data, length, length);
        }
        cm_post_event(event);
    }
}

static void post_rejected(struct cm_id *id, int reason, const uint8_t *data) {
    static const uint8_t none[CM_REJ_DATA];
    id->conn = CM_CONN_IDLE;
    cm_detach(id);
    data = data != NULL ? data : none;
    if (cm_is_datagram(id)) { /* cma_sidr_rep_handler() in the kernel's cma.c */
        int status = reason == CM_REJ_INVALID_SERVICE_ID ? CM_SIDR_UNSUPPORTED : CM_SIDR_REJECT;
        post(id, RDMA_CM_EVENT_UNREACHABLE, status, data, CM_SIDR_REP_DATA);
    } else {
        post(id, RDMA_CM_EVENT_REJECTED, reason, data, CM_REJ_DATA);
    }
}

/* Once in the life of an id, whoever begins. */
static void post_disconnected(struct cm_id *id, int status) {
    if (id->state == CM_CONNECT) {
        id->state = CM_DISCONNECT;
        post(id, RDMA_CM_EVENT_DISCONNECTED, status, NULL, 0);
    }
}

void cm_enter_timewait(struct cm_id *id) {
    id->conn = CM_CONN_TIMEWAIT;
    cm_detach(id);
    id->timer.fire = on_timer;
    engine_timer_set(&id->timer, engine_now_ns() + TIMEWAIT_NS);
}

/* ---- requests ---- */

int cm_send_request(struct cm_id *id) {
    uint64_t now = engine_now_ns(), deadline = id->tried_since_ns + cm_response_timeout_ns;
    struct link *link;
    int err = link_connect_port((int) id->id.ps, ntohs(id->request.destination.port), false, &link);
    if (err == 0) {
        attach(id, link);
        err = link_send(link, CM_REQ, &id->request, sizeof(id->request), NULL, 0);
        if (err != 0) {
            cm_detach(id);
        }
    }
    id->timer.fire = on_timer;
    switch (err) {
    case 0:
        id->conn = CM_CONN_REQ_SENT;
        engine_timer_set(&id->timer, deadline);
        return 0;
    case EAGAIN: /* more connections than the peer has accepted yet */
        id->conn = CM_CONN_REQ_SENT;
        engine_timer_set(&id->timer, now + RETRY_NS);
        return 0;
    case ECONNREFUSED:
    case EPIPE:
        id->conn = CM_CONN_REQ_SENT;
        if (now - id->tried_since_ns < cm_grace_ns) {
            engine_timer_set(&id->timer, now + RETRY_NS);
        } else {
            post_rejected(id, CM_REJ_INVALID_SERVICE_ID, NULL);
        }
        return 0;
    default:
        return err;
    }
}

/* No listener there, or no longer: perhaps again in a moment. */
static void try_again_or_give_up(struct cm_id *id) {
    uint64_t now = engine_now_ns();
    if (!id->asked_anew) { /* the remembered link may lead to a process that had the port before */
        id->asked_anew = true;
        link_forget(id->link);
    }
    cm_detach(id);
    if (now - id->tried_since_ns < cm_grace_ns) {
        engine_timer_set(&id->timer, now + RETRY_NS);
    } else {
        post_rejected(id, CM_REJ_INVALID_SERVICE_ID, NULL);
    }
}

static void post_unreachable(struct cm_id *id, int err) {
    cm_send_reject(id, CM_REJ_TIMEOUT, NULL, 0);
    id->conn = CM_CONN_IDLE;
    cm_detach(id);
    post(id, RDMA_CM_EVENT_UNREACHABLE, -err, NULL, 0);
}

/* Nobody waits for it: it may be lost, as in the kernel, rather than take the place of one that may not. */
static void post_timewait_exit(struct cm_id *id) {
    struct cm_event *event = cm_new_event(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    if (event != NULL) {
        cm_post_event(event);
    }
}

static void on_timer(struct engine_timer *timer) {
    struct cm_id *id = container_of(timer, struct cm_id, timer);
    pthread_mutex_lock(&cm_lock);
    uint64_t now = engine_now_ns();
    if (id->destroyed) {
        pthread_mutex_unlock(&cm_lock);
        return;
    }
    switch (id->conn) {
    case CM_CONN_REQ_SENT:
        if (now - id->tried_since_ns >= cm_response_timeout_ns) {
            post_unreachable(id, ETIMEDOUT);
        } else if (id->link == NULL) {
            int err = cm_send_request(id);
            if (err != 0) {
                post_unreachable(id, err);
            }
        }
        break;
    case CM_CONN_REP_SENT:
        post_unreachable(id, ETIMEDOUT);
        break;
    case CM_CONN_DREQ_SENT:
        cm_enter_timewait(id);
        post_disconnected(id, -ETIMEDOUT);
        break;
    case CM_CONN_TIMEWAIT:
        id->conn = CM_CONN_IDLE;
        post_timewait_exit(id);
        break;
    default: /* set for a state that is over */
        break;
    }
    pthread_mutex_unlock(&cm_lock);
}

void cm_end(struct cm_id *id) {
    switch (id->conn) {
    case CM_CONN_REQ_SENT:
        cm_send_reject(id, CM_REJ_TIMEOUT, NULL, 0);
        break;
    case CM_CONN_REQ_RCVD:
    case CM_CONN_REP_SENT:
    case CM_CONN_REP_RCVD:
        cm_send_reject(id, CM_REJ_CONSUMER, NULL, 0);
        break;
    case CM_CONN_ESTABLISHED:
        cm_send_plain(id, CM_DREQ);
        break;
    case CM_CONN_DREQ_RCVD:
        cm_send_plain(id, CM_DREP);
        break;
    default:
        break;
    }
    id->conn = CM_CONN_IDLE;
    cm_detach(id);
}

/* ---- messages ---- */

/* The id that a message is for, if the peer has a right to speak of it. */
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

/* A queue pair that takes part in another connection: the peer has forgotten that one. IBA 12.9.8.3.1 */
static bool is_stale(struct link *link, uint32_t qpn) {
    for (struct cm_id *id = qpn != 0 ? by_qpn[qpn % QPN_BUCKETS] : NULL; id != NULL; id = id->qpn_next) {
        if (id->remote.qpn == qpn && id->link == link && id->conn != CM_CONN_IDLE) {
            return true;
        }
    }
    return false;
}

/* Of the user, at most; the port space tells what kind of request it is. */
static size_t request_data_size(const struct cm_wire_req *request) {
    bool datagrams = request->port_space == RDMA_PS_UDP || request->port_space == RDMA_PS_IPOIB;
    return datagrams ? CM_SIDR_REQ_DATA : CM_REQ_DATA;
}

/* Makes the id of a request and its event. Returns 0 for success, else the reason to reject. */
static int take_request(struct link *link, struct cm_id *listener, const struct cm_wire_req *request) {
    if (listener->backlog == 0) {
        /* The kernel's ucma.c, too, counts requests not yet fetched, and drops what is too many: it comes again. */
        return CM_REJ_NO_RESOURCES;
    }
    struct cm_id *id = cm_new_id(listener->id.channel, listener->id.context, listener->id.ps, listener->id.qp_type);
    struct cm_event *event = id != NULL ? cm_new_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0) : NULL;
    if (event == NULL || !cm_register(id)) {
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
    attach(id, link_get(link));

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

static bool on_request(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    (void) nfds;
    const struct cm_wire_req *request = body;
    struct sockaddr_storage address;
    if (length != sizeof(*request) || request->ids.from == 0
            || !is_valid_endpoint(&request->endpoint, request_data_size(request))
            || !cm_address_from_wire(&request->source, &address)
            || !cm_address_from_wire(&request->destination, &address)) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *listener = cm_port_listener((int) request->port_space, &request->destination);
    int reason;
    if (listener == NULL) {
        /* The kernel listens at ports; what then fits no address it rejects as an application would (cma.c). */
        reason = cm_port_is_listened((int) request->port_space, request->destination.port) ? CM_REJ_CONSUMER
                                                                                           : CM_REJ_INVALID_SERVICE_ID;
    } else if (!cm_is_datagram(listener) && is_stale(link, request->endpoint.qpn)) {
        reason = CM_REJ_STALE_CONN;
    } else {
        reason = take_request(link, listener, request);
    }
    if (reason != 0) {
        send_reject(link, 0, request->ids.from, (enum cm_reject_reason) reason, NULL, 0);
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

static uint8_t smaller(uint8_t a, uint8_t b) {
    return a < b ? a : b;
}

/* The peer has told where to send datagrams to: a connection it is not, to the user it is called established. */
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
    param->qkey = RDMA_UDP_QKEY; /* librdmacm has no other: its struct rdma_conn_param cannot say one */
    cm_post_event(event);
}

static bool on_reply(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    (void) nfds;
    const struct cm_wire_rep *reply = body;
    if (length != sizeof(*reply) || reply->ids.from == 0 || !is_valid_endpoint(&reply->endpoint, CM_REP_DATA)) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = find(link, &reply->ids);
    if (id == NULL) {
        send_reject(link, reply->ids.to, reply->ids.from, CM_REJ_INVALID_COMM_ID, NULL, 0);
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

static bool on_ready_to_use(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    (void) nfds;
    const struct cm_wire_plain *message = body;
    if (length != sizeof(*message)) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = find(link, &message->ids);
    if (id != NULL && id->conn == CM_CONN_REP_SENT) {
        id->conn = CM_CONN_ESTABLISHED;
        post(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

/* A peer that gives up before it was answered does not know our handle. */
static struct cm_id *find_by_remote(struct link *link, uint32_t remote_handle) {
    for (struct cm_id *id = link_slot(link, LINK_SLOT_CM); id != NULL; id = id->link_next) {
        if (id->passive && id->remote_handle == remote_handle) {
            return id;
        }
    }
    return NULL;
}

static bool on_reject(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    (void) nfds;
    const struct cm_wire_rej *message = body;
    if (length != sizeof(*message) || message->reason == 0 || message->reason > UINT16_MAX) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = message->ids.to != 0 ? find(link, &message->ids) : find_by_remote(link, message->ids.from);
    switch (id != NULL ? id->conn : CM_CONN_NONE) {
    case CM_CONN_REQ_SENT:
        if (message->reason == CM_REJ_INVALID_SERVICE_ID) {
            try_again_or_give_up(id);
            break;
        }
        if (message->reason == CM_REJ_NO_RESOURCES) {
            cm_detach(id);
            engine_timer_set(&id->timer, engine_now_ns() + BUSY_RETRY_NS);
            break;
        }
        post_rejected(id, (int) message->reason, message->data);
        break;
    case CM_CONN_REQ_RCVD: /* the user has not accepted yet, and will fail when trying to; with UD nobody tells */
        id->conn = cm_is_datagram(id) ? CM_CONN_REQ_RCVD : CM_CONN_IDLE;
        cm_detach(id);
        break;
    case CM_CONN_REP_SENT:
    case CM_CONN_REP_RCVD:
        post_rejected(id, (int) message->reason, message->data);
        break;
    case CM_CONN_ESTABLISHED: /* it crossed our ready-to-use: the kernel tells it as well, and the connection is over */
        cm_enter_timewait(id);
        post(id, RDMA_CM_EVENT_REJECTED, (int) message->reason, message->data, CM_REJ_DATA);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

static bool on_disconnect_request(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    (void) nfds;
    const struct cm_wire_plain *message = body;
    if (length != sizeof(*message)) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = find(link, &message->ids);
    switch (id != NULL ? id->conn : CM_CONN_TIMEWAIT) {
    case CM_CONN_REP_SENT:
    case CM_CONN_ESTABLISHED:
    case CM_CONN_DREQ_SENT:
        id->conn = CM_CONN_DREQ_RCVD; /* the queue pair stays as it is until the user disconnects, too */
        post_disconnected(id, 0);
        break;
    case CM_CONN_TIMEWAIT:
        send_plain(link, CM_DREP, message->ids.to, message->ids.from);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&cm_lock);
    return true;
}

static bool on_disconnect_reply(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    (void) nfds;
    const struct cm_wire_plain *message = body;
    if (length != sizeof(*message)) {
        return false;
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *id = find(link, &message->ids);
    if (id != NULL && (id->conn == CM_CONN_DREQ_SENT || id->conn == CM_CONN_DREQ_RCVD)) {
        cm_enter_timewait(id);
        post_disconnected(id, 0);
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
            try_again_or_give_up(id);
            break;
        case CM_CONN_REP_SENT:
        case CM_CONN_REP_RCVD:
            post_rejected(id, CM_REJ_CONSUMER, NULL); /* what the kernel of a dying process sends */
            break;
        case CM_CONN_ESTABLISHED: /* the kernel of a dying process asks to disconnect, and answers when asked */
        case CM_CONN_DREQ_RCVD:
            id->conn = CM_CONN_DREQ_RCVD;
            cm_detach(id);
            post_disconnected(id, 0);
            break;
        case CM_CONN_DREQ_SENT:
            cm_enter_timewait(id);
            post_disconnected(id, 0);
            break;
        default:
            id->conn = id->conn == CM_CONN_REQ_RCVD && cm_is_datagram(id) ? CM_CONN_REQ_RCVD : CM_CONN_IDLE;
            cm_detach(id);
            break;
        }
    }
    pthread_mutex_unlock(&cm_lock);
}

void cm_peer_init(void) {
    link_set_handler(CM_REQ, on_request);
    link_set_handler(CM_REP, on_reply);
    link_set_handler(CM_RTU, on_ready_to_use);
    link_set_handler(CM_REJ, on_reject);
    link_set_handler(CM_DREQ, on_disconnect_request);
    link_set_handler(CM_DREP, on_disconnect_reply);
    link_add_down_handler(on_link_down);
}

void cm_peer_forget(void) {
    memset(by_qpn, 0, sizeof(by_qpn));
}
