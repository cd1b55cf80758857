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
 * Event channels: a list of events, and an eventfd that is readable while the list is not empty. The user polls this
 * descriptor, and may make it non-blocking with fcntl(), as librdmacm(7) says.
 */
#include "cm.h"
#include "embedded/base/cancel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;

struct rdma_event_channel *embedded_rdma_create_event_channel(void) {
    struct cm_channel *channel = calloc(1, sizeof(*channel));
    if (channel == NULL) {
        return NULL;
    }
    channel->channel.fd = eventfd(0, EFD_CLOEXEC);
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
    /* The kernel delivers the whole field of the message, even if the peer filled only a part of it. */
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
        eventfd_write(channel->channel.fd, 1);
    }
    channel->last = event;
}

void cm_post_event(struct cm_event *event) {
    append(cm_channel_of(event->owner->id.channel), event);
}

/* Unlinks the event after `previous` (NULL: the first). The read cannot block: the list had an event. */
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
    if (channel->first == NULL) {
        eventfd_t one;
        eventfd_read(channel->channel.fd, &one);
    }
    return event;
}

/* Returns the place of the peer's count, or the place for a new one. */
static struct cm_pending **find_pending(struct cm_pending **place, uint64_t peer) {
    while (*place != NULL && (*place)->peer != peer) {
        place = &(*place)->next;
    }
    return place;
}

int cm_pending_requests(const struct cm_id *listener, const struct link *link) {
    struct cm_pending *first = listener->pending;
    const struct cm_pending *pending = *find_pending(&first, link_peer_number(link_peer(link)));
    return pending != NULL ? pending->count : 0;
}

bool cm_count_request(struct cm_event *event, const struct link *link) {
    uint64_t peer = link_peer_number(link_peer(link));
    struct cm_pending **place = find_pending(&event->owner->pending, peer);
    if (*place == NULL && (*place = calloc(1, sizeof(**place))) != NULL) {
        (*place)->peer = peer;
    }
    event->pending = *place;
    if (event->pending != NULL) {
        event->pending->count++;
    }
    return event->pending != NULL;
}

void cm_uncount_request(struct cm_event *event) {
    struct cm_pending *pending = event->pending;
    event->pending = NULL;
    if (pending != NULL && --pending->count == 0) {
        *find_pending(&event->owner->pending, pending->peer) = pending->next;
        free(pending);
    }
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
                cm_uncount_request(event);
            }
            cm_free_event(event);
        } else {
            previous = event;
        }
        event = next;
    }
    return requests;
}

static void drop_multicast_events(const struct cm_multicast *multicast) {
    struct cm_channel *channel = cm_channel_of(multicast->id->id.channel);
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

void cm_end_joining(struct cm_multicast *multicast) {
    mcast_leave(&multicast->member);
    pthread_mutex_lock(&cm_lock);
    if (multicast->event != NULL) {
        cm_free_event(multicast->event);
        multicast->event = NULL;
    }
    drop_multicast_events(multicast);
    pthread_mutex_unlock(&cm_lock);
}

void cm_move_events(struct cm_id *id, struct cm_channel *to) {
    struct cm_channel *from = cm_channel_of(id->id.channel);
    struct cm_event *previous = NULL, *event = from->first;
    while (event != NULL) {
        struct cm_event *next = event->next;
        if (event->owner == id) {
            append(to, take(from, previous));
        } else {
            previous = event;
        }
        event = next;
    }
}

struct cm_event *cm_fetch_event(struct cm_channel *channel) {
    UNCANCELLED;
    pthread_mutex_lock(&cm_lock);
    struct cm_event *event = channel->first == NULL ? NULL : take(channel, NULL);
    if (event != NULL) {
        event->owner->events_fetched++;
        if (event->multicast != NULL) {
            event->multicast->fetched++;
        }
        if (event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
            event->owner->backlog++;
            cm_uncount_request(event);
        }
    }
    pthread_mutex_unlock(&cm_lock);
    return event;
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
        event->multicast->acked++;
    }
    pthread_cond_broadcast(&event->owner->released);
    cm_free_event(event);
    pthread_mutex_unlock(&cm_lock);
    return 0;
}
