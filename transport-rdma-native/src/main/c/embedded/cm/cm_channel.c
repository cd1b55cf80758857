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
 * Event channels: a list of events and an eventfd that counts them, which is the descriptor the user polls and makes
 * non-blocking with fcntl() as librdmacm(7) says.
 */
#include "cm_private.h"
#include "embedded/base/cancel.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;

static struct cm_channel *channel_of(struct rdma_event_channel *channel) {
    return container_of(channel, struct cm_channel, channel);
}

struct rdma_event_channel *embedded_rdma_create_event_channel(void) {
    struct cm_channel *channel = calloc(1, sizeof(*channel));
    if (channel == NULL) {
        return NULL;
    }
    channel->channel.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    if (channel->channel.fd < 0) {
        free(channel);
        return NULL;
    }
    channel->generation = fork_generation;
    return &channel->channel;
}

bool cm_channel_is_inherited(const struct rdma_event_channel *channel) {
    return container_of(channel, struct cm_channel, channel)->generation != fork_generation;
}

/* Not by way of the descriptor, whose count is the parent's too. */
static void release_inherited_events(struct cm_channel *channel) {
    for (struct cm_event *event = channel->first, *next; event != NULL; event = next) {
        next = event->next;
        if (event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
            cm_release_inherited(cm_of(event->event.id));
        }
        free(event);
    }
}

void embedded_rdma_destroy_event_channel(struct rdma_event_channel *public_channel) {
    UNCANCELLED;
    struct cm_channel *channel = channel_of(public_channel);
    if (cm_channel_is_inherited(public_channel)) {
        release_inherited_events(channel);
    } else {
        pthread_mutex_lock(&cm_lock);
        struct cm_id *requests = cm_drop_events(channel, NULL);
        pthread_mutex_unlock(&cm_lock);
        cm_destroy_requests(requests);
    }
    close(channel->channel.fd);
    free(channel);
}

static void init_event(struct cm_event *event, struct cm_id *id, enum rdma_cm_event_type type, int status) {
    event->event.id = &id->id;
    event->event.event = type;
    event->event.status = status;
    event->owner = id;
    event->generation = fork_generation;
}

struct cm_event *cm_new_event(struct cm_id *id, enum rdma_cm_event_type type, int status) {
    struct cm_event *event = calloc(1, sizeof(*event));
    if (event != NULL) {
        init_event(event, id, type, status);
    }
    return event;
}

struct cm_event *cm_new_sure_event(struct cm_id *id, enum rdma_cm_event_type type, int status) {
    struct cm_event *event = cm_new_event(id, type, status);
    for (int i = 0; event == NULL && i < CM_SPARE_EVENTS; i++) {
        event = id->spares[i];
        id->spares[i] = NULL;
        if (event != NULL) {
            memset(event, 0, sizeof(*event));
            init_event(event, id, type, status);
        }
    }
    return event;
}

void cm_free_event(struct cm_event *event) {
    for (int i = 0; i < CM_SPARE_EVENTS; i++) {
        if (event->owner->spares[i] == NULL) {
            event->owner->spares[i] = event;
            return;
        }
    }
    free(event);
}

void cm_set_event_data(struct cm_event *event, const void *data, size_t length, size_t delivered_length) {
    /* The kernel delivers the whole field of the message, whatever part of it the peer filled. */
    memcpy(event->data, data, length);
    event->event.param.conn.private_data = event->data;
    event->event.param.conn.private_data_len = (uint8_t) delivered_length;
}

void cm_set_event_endpoint(struct cm_event *event, const struct cm_wire_endpoint *remote) {
    struct rdma_conn_param *param = &event->event.param.conn;
    param->responder_resources = remote->initiator_depth; /* seen from this side: rdma_get_cm_event(3) */
    param->initiator_depth = remote->responder_resources;
    param->flow_control = remote->flow_control;
    param->retry_count = remote->retry_count;
    param->rnr_retry_count = remote->rnr_retry_count;
    param->srq = remote->srq;
    param->qp_num = remote->qpn;
}

static void append(struct cm_channel *channel, struct cm_event *event) {
    event->next = NULL;
    if (channel->last != NULL) {
        channel->last->next = event;
    } else {
        channel->first = event;
    }
    channel->last = event;
    eventfd_write(channel->channel.fd, 1);
}

void cm_post_event(struct cm_event *event) {
    append(channel_of(event->owner->id.channel), event);
}

/* Unlinks the event after `previous` (NULL: the first). The read cannot block: the count is that of the list. */
static struct cm_event *take(struct cm_channel *channel, struct cm_event *previous) {
    struct cm_event *event = previous != NULL ? previous->next : channel->first;
    if (previous != NULL) {
        previous->next = event->next;
    } else {
        channel->first = event->next;
    }
    if (channel->last == event) {
        channel->last = previous;
    }
    eventfd_t one;
    eventfd_read(channel->channel.fd, &one);
    return event;
}

struct cm_id *cm_drop_events(struct cm_channel *channel, struct cm_id *owner) {
    struct cm_id *requests = NULL;
    struct cm_event *previous = NULL, *event = channel->first;
    while (event != NULL) {
        struct cm_event *next = event->next;
        if (owner == NULL || event->owner == owner) {
            take(channel, previous);
            if (event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
                struct cm_id *request = cm_of(event->event.id);
                request->port_next = requests;
                requests = request;
            }
            cm_free_event(event);
        } else {
            previous = event;
        }
        event = next;
    }
    return requests;
}

void cm_drop_multicast_events(struct cm_id *id, const struct cm_multicast *multicast) {
    struct cm_channel *channel = channel_of(id->id.channel);
    struct cm_event *previous = NULL, *event = channel->first;
    while (event != NULL) {
        struct cm_event *next = event->next;
        if (event->multicast == multicast) {
            cm_free_event(take(channel, previous));
        } else {
            previous = event;
        }
        event = next;
    }
}

/* What the active side does when it learns that it was accepted, as librdmacm: on the thread that fetches the event. */
static void process_response(struct cm_event *event) {
    struct cm_id *id = event->owner;
    if (id->id.qp == NULL) {
        return; /* the user moves its queue pair and calls rdma_establish() */
    }
    int err = cm_qp_connect(id);
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
    if (err != 0) {
        cm_qp_error(id);
    }
}

/* Returns false if the event is not for the user. */
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
        cm_multicast_joined(event);
        return true;
    default:
        return true;
    }
}

/* The next event, or NULL. */
static struct cm_event *fetch(struct cm_channel *channel) {
    UNCANCELLED;
    pthread_mutex_lock(&cm_lock);
    struct cm_event *event = channel->first == NULL ? NULL : take(channel, NULL);
    if (event != NULL) {
        event->owner->events_fetched++;
        if (event->multicast != NULL) {
            cm_multicast_fetched(event->multicast, false);
        }
        if (event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
            event->owner->backlog++;
        }
    }
    pthread_mutex_unlock(&cm_lock);
    return event;
}

static struct cm_event *wait_for_event(struct cm_channel *channel) {
    for (;;) {
        struct cm_event *event = fetch(channel);
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
        struct cm_event *event = wait_for_event(channel_of(public_channel));
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

int embedded_rdma_ack_cm_event(struct rdma_cm_event *public_event) {
    UNCANCELLED;
    if (public_event == NULL) {
        return cm_result(EINVAL);
    }
    struct cm_event *event = container_of(public_event, struct cm_event, event);
    if (event->generation != fork_generation) {
        free(event);
        return 0;
    }
    pthread_mutex_lock(&cm_lock);
    event->owner->events_acked++;
    if (event->multicast != NULL) {
        cm_multicast_fetched(event->multicast, true);
    }
    pthread_cond_broadcast(&event->owner->acked);
    cm_free_event(event);
    pthread_mutex_unlock(&cm_lock);
    return 0;
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
    struct cm_channel *from = channel_of(id->id.channel);
    struct cm_event *previous = NULL, *event = from->first;
    while (event != NULL) {
        struct cm_event *next = event->next;
        if (event->owner == id) {
            append(channel_of(target), take(from, previous));
        } else {
            previous = event;
        }
        event = next;
    }
    id->id.channel = target;
    id->sync = sync;
    int fetched = id->events_fetched;
    while (id->events_acked < fetched) {
        pthread_cond_wait(&id->acked, &cm_lock);
    }
    pthread_mutex_unlock(&cm_lock);
    if (own != NULL) {
        embedded_rdma_destroy_event_channel(own);
    }
    return 0;
}
