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
 * Connections as this end drives them: messages to the peer, timers for a silent peer, and events. State changes are
 * those of the kernel's cm.c.
 */
#include "cm.h"

#include <arpa/inet.h>
#include <string.h>

#define MS 1000000ull
#define RETRY_NS (1 * MS)
#define TIMEWAIT_NS (500 * MS) /* duration seen on soft-RoCE */
#define QPN_BUCKETS 4096

uint64_t cm_response_timeout_ns = 60000 * MS;
uint64_t cm_grace_ns = 10 * MS;

static struct cm_id *by_qpn[QPN_BUCKETS]; /* passive ids that are attached to a link */

static void on_timer(struct engine_timer *timer);

/* ---- ids on links ---- */

void cm_attach(struct cm_id *id, struct link *link) {
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

struct link *cm_hold_link(struct cm_id *id) {
    if (id->link == NULL) {
        return NULL;
    }
    link_hold(id->link);
    return link_get(id->link);
}

void cm_release_link(struct link *link) {
    if (link != NULL) {
        link_release(link);
        link_put(link);
    }
}

bool cm_is_stale(struct link *link, uint32_t qpn) {
    for (struct cm_id *id = qpn != 0 ? by_qpn[qpn % QPN_BUCKETS] : NULL; id != NULL; id = id->qpn_next) {
        if (id->remote.qpn == qpn && id->link == link && id->conn != CM_CONN_IDLE) {
            return true;
        }
    }
    return false;
}

void cm_forget_connections(void) {
    memset(by_qpn, 0, sizeof(by_qpn));
}

/* ---- sending ---- */

/* Sends a message. If that fails, the message is lost with the link, whose end is handled elsewhere. */
void cm_send_plain_on(struct link *link, enum cm_message type, uint32_t from, uint32_t to) {
    struct cm_wire_plain message = { .ids = { .from = from, .to = to } };
    link_send(link, type, &message, sizeof(message), NULL, 0);
}

void cm_send_reject_on(struct link *link, uint32_t from, uint32_t to, enum cm_reject_reason reason, const void *data,
                       size_t length) {
    struct cm_wire_rej message = { .ids = { .from = from, .to = to }, .reason = reason };
    if (length > 0) {
        memcpy(message.data, data, length);
    }
    link_send(link, CM_REJ, &message, sizeof(message), NULL, 0);
}

void cm_send_plain(struct cm_id *id, enum cm_message type) {
    if (id->link != NULL) {
        cm_send_plain_on(id->link, type, id->handle, id->remote_handle);
    }
}

void cm_send_reject(struct cm_id *id, enum cm_reject_reason reason, const void *data, size_t length) {
    if (id->link != NULL) {
        cm_send_reject_on(id->link, id->handle, id->remote_handle, reason, data, length);
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

/* Sends a reply. A failure is ignored, because the peer has gone then. */
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

void cm_post(struct cm_id *id, enum rdma_cm_event_type type, int status, const void *data, size_t length) {
    struct cm_event *event = cm_new_sure_event(id, type, status);
    if (event != NULL) {
        if (data != NULL) {
            cm_set_event_data(event, data, length, length);
        }
        cm_post_event(event);
    }
}

void cm_post_rejected(struct cm_id *id, int reason, const uint8_t *data) {
    static const uint8_t none[CM_REJ_DATA];
    id->conn = CM_CONN_IDLE;
    cm_detach(id);
    data = data != NULL ? data : none;
    if (cm_is_datagram(id)) { /* cma_sidr_rep_handler() in the kernel's cma.c */
        int status = reason == CM_REJ_INVALID_SERVICE_ID ? CM_SIDR_UNSUPPORTED
                : reason == CM_REJ_VERSION ? CM_SIDR_VERSION : CM_SIDR_REJECT;
        cm_post(id, RDMA_CM_EVENT_UNREACHABLE, status, data, CM_SIDR_REP_DATA);
    } else {
        cm_post(id, RDMA_CM_EVENT_REJECTED, reason, data, CM_REJ_DATA);
    }
}

/* Posts the event once in the life of an id, whichever side begins. */
void cm_post_disconnected(struct cm_id *id, int status) {
    if (id->state == CM_CONNECT) {
        id->state = CM_DISCONNECT;
        cm_post(id, RDMA_CM_EVENT_DISCONNECTED, status, NULL, 0);
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
    uint16_t port = ntohs(id->request.destination.port);
    int err = id->network.inode == 0 ? link_connect_port((int) id->id.ps, port, false, &link)
                                     : link_connect_port_in(&id->network, (int) id->id.ps, port, false, &link);
    if (err == 0) {
        cm_attach(id, link);
        err = link_send(link, CM_REQ, &id->request, sizeof(id->request), NULL, 0);
        if (err == EPIPE && link_is_up(link)) {
            /* The peer has ended the link, perhaps after a message with the reason. Its down handler comes next. */
            err = 0;
        }
        bool another_version = err == EPIPE && link_is_of_another_version(link);
        if (err != 0) {
            cm_detach(id);
        }
        if (another_version) {
            cm_post_rejected(id, CM_REJ_VERSION, NULL);
            return 0;
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
                cm_post_rejected(id, CM_REJ_INVALID_SERVICE_ID, NULL);
            }
            return 0;
        default:
            return err;
    }
}

/* Sends the request again in a moment, because there is no listener, or none any more. */
void cm_retry_request(struct cm_id *id) {
    uint64_t now = engine_now_ns();
    if (!id->asked_anew) { /* the remembered link may lead to a process that had the port before */
        id->asked_anew = true;
        link_forget(id->link);
    }
    cm_detach(id);
    if (now - id->tried_since_ns < cm_grace_ns) {
        engine_timer_set(&id->timer, now + RETRY_NS);
    } else {
        cm_post_rejected(id, CM_REJ_INVALID_SERVICE_ID, NULL);
    }
}

static void post_unreachable(struct cm_id *id, int err) {
    cm_send_reject(id, CM_REJ_TIMEOUT, NULL, 0);
    id->conn = CM_CONN_IDLE;
    cm_detach(id);
    cm_post(id, RDMA_CM_EVENT_UNREACHABLE, -err, NULL, 0);
}

/*
 * Posts an event for which no program waits. The event may be lost, as in the kernel, so that it takes no place from an
 * event that must not be lost.
 */
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
            cm_post_disconnected(id, -ETIMEDOUT);
            break;
        case CM_CONN_TIMEWAIT:
            id->conn = CM_CONN_IDLE;
            post_timewait_exit(id);
            break;
        default: /* other states: the timer was set for a state that is over */
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
