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
/* Fetching of events, with the steps that librdmacm does on the fetching thread. */
#include "cm.h"
#include "embedded/base/cancel.h"

#include <fcntl.h>
#include <poll.h>

/*
 * Moves the queue pair of the active side after the peer has accepted. The thread that fetches the event does it, as in
 * librdmacm.
 */
static void process_response(struct cm_event *event) {
    struct cm_id *id = event->owner;
    struct ibv_qp *qp = cm_use_qp(id);
    if (qp == NULL) {
        return; /* the user moves its queue pair and calls rdma_establish() */
    }
    pthread_mutex_lock(&cm_lock);
    struct link *held = cm_hold_link(id);
    pthread_mutex_unlock(&cm_lock);
    int err = cm_qp_connect(id, qp);
    cm_release_qp(id, qp);
    pthread_mutex_lock(&cm_lock);
    if (err == 0 && id->conn != CM_CONN_REP_RCVD) {
        err = ECONNRESET; /* the peer has gone since */
    }
    if (err == 0) {
        cm_send_plain(id, CM_RTU);
        id->conn = CM_CONN_ESTABLISHED;
        event->event.event = RDMA_CM_EVENT_ESTABLISHED;
    } else {
        if (id->conn == CM_CONN_REP_RCVD) {
            cm_send_reject(id, CM_REJ_CONSUMER, NULL, 0);
            id->conn = CM_CONN_IDLE;
        }
        id->connect_error = 1;
        event->event.event = RDMA_CM_EVENT_CONNECT_ERROR;
        event->event.status = -err;
    }
    pthread_mutex_unlock(&cm_lock);
    cm_release_link(held);
    if (err != 0) {
        cm_qp_error(id);
    }
}

/* Does the thread's part of an event. Returns false if the event is not for the user. */
static bool process(struct cm_event *event) {
    UNCANCELLED;
    struct cm_id *id = event->owner;
    switch (event->event.event) {
        case RDMA_CM_EVENT_CONNECT_REQUEST:
            if (id->sync && embedded_rdma_migrate_id(event->event.id, NULL) != 0) {
                embedded_rdma_destroy_id(event->event.id);
                return false;
            }
            return true;
        case RDMA_CM_EVENT_CONNECT_RESPONSE:
            process_response(event);
            return true;
        case RDMA_CM_EVENT_REJECTED:
            if (!id->connect_error) {
                cm_qp_error(id);
            }
            return !id->connect_error;
        case RDMA_CM_EVENT_DISCONNECTED:
            return !id->connect_error;
        case RDMA_CM_EVENT_MULTICAST_JOIN:
            event->process(event);
            return true;
        default:
            return true;
    }
}

static struct cm_event *wait_for_event(struct cm_channel *channel) {
    for (;;) {
        struct cm_event *event = cm_fetch_event(channel);
        if (event != NULL) {
            return event;
        }
        int flags = fcntl(channel->channel.fd, F_GETFL);
        if (flags < 0 || (flags & O_NONBLOCK) != 0) {
            errno = flags < 0 ? errno : EAGAIN;
            return NULL;
        }
        struct pollfd wait = { .fd = channel->channel.fd, .events = POLLIN };
        if (poll(&wait, 1, -1) < 0) {
            return NULL;
        }
    }
}

int embedded_rdma_get_cm_event(struct rdma_event_channel *public_channel, struct rdma_cm_event **result) {
    if (result == NULL) {
        return cm_result(EINVAL);
    }
    if (cm_channel_is_inherited(public_channel)) {
        return cm_result(EIO);
    }
    for (;;) {
        struct cm_event *event = wait_for_event(cm_channel_of(public_channel));
        if (event == NULL) {
            return -1;
        }
        if (process(event)) {
            *result = &event->event;
            return 0;
        }
        embedded_rdma_ack_cm_event(&event->event);
    }
}

int cm_complete(struct cm_id *id) {
    if (!id->sync) {
        return 0;
    }
    if (id->id.event != NULL) {
        embedded_rdma_ack_cm_event(id->id.event);
        id->id.event = NULL;
    }
    if (embedded_rdma_get_cm_event(id->id.channel, &id->id.event) != 0) {
        return -1;
    }
    int status = id->id.event->status;
    if (status != 0 && id->id.event->event == RDMA_CM_EVENT_REJECTED) {
        return cm_result(ECONNREFUSED);
    }
    return cm_result(status < 0 ? -status : status);
}

int embedded_rdma_migrate_id(struct rdma_cm_id *public_id, struct rdma_event_channel *target) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    if (cm_is_inherited(id) || (target != NULL && cm_channel_is_inherited(target))) {
        return cm_result(EIO);
    }
    if (id->sync && target == NULL) {
        return cm_result(EINVAL);
    }
    int sync = target == NULL;
    if (sync) {
        target = embedded_rdma_create_event_channel();
        if (target == NULL) {
            return -1;
        }
    }
    struct rdma_event_channel *own = NULL;
    if (id->sync) {
        if (id->id.event != NULL) {
            embedded_rdma_ack_cm_event(id->id.event);
            id->id.event = NULL;
        }
        own = id->id.channel;
    }
    pthread_mutex_lock(&cm_lock);
    cm_move_events(id, cm_channel_of(target));
    id->id.channel = target;
    id->sync = sync;
    int fetched = id->events_fetched;
    while (id->events_acked < fetched) {
        pthread_cond_wait(&id->released, &cm_lock);
    }
    pthread_mutex_unlock(&cm_lock);
    if (own != NULL) {
        embedded_rdma_destroy_event_channel(own);
    }
    return 0;
}
