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
 * Life of an id: creation, options, destruction, and the table that finds an id by the handle that peers know. The
 * destruction of a channel is here too, because it destroys the ids of requests that were not fetched.
 */
#include "cm.h"
#include "embedded/base/cancel.h"
#include "embedded/device/presence.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INDEX_BITS 20
#define MAX_IDS (1u << INDEX_BITS)
#define GENERATIONS (1u << (32 - INDEX_BITS))

/*
 * Table of handles. A handle is index + generation, so that a late message does not reach the next id in the same
 * place.
 */
static struct {
    struct entry {
        struct cm_id *id;
        uint32_t generation;
        uint32_t next_free;
    } *entries;
    uint32_t used, size, first_free; /* entry 0 is never used */
} table;

bool cm_register(struct cm_id *id) {
    uint32_t index = table.first_free;
    if (index != 0) {
        table.first_free = table.entries[index].next_free;
    } else {
        if (table.used + 1 >= table.size) {
            uint32_t size = table.size == 0 ? 64 : table.size * 2;
            struct entry *entries = size > MAX_IDS ? NULL : realloc(table.entries, size * sizeof(*entries));
            if (entries == NULL) {
                return false;
            }
            memset(entries + table.size, 0, (size - table.size) * sizeof(*entries));
            table.entries = entries;
            table.size = size;
        }
        index = ++table.used;
    }
    struct entry *entry = &table.entries[index];
    entry->id = id;
    entry->generation = (entry->generation + 1) % GENERATIONS;
    id->handle = entry->generation << INDEX_BITS | index;
    return true;
}

struct cm_id *cm_find(uint32_t handle) {
    uint32_t index = handle % MAX_IDS;
    if (index == 0 || index > table.used || table.entries[index].generation != handle >> INDEX_BITS) {
        return NULL;
    }
    return table.entries[index].id;
}

static void unregister(struct cm_id *id) {
    uint32_t index = id->handle % MAX_IDS;
    if (index != 0) {
        table.entries[index].id = NULL;
        table.entries[index].next_free = table.first_free;
        table.first_free = index;
        id->handle = 0;
    }
}

static void free_multicasts(struct cm_id *id) {
    while (id->multicasts != NULL) {
        struct cm_multicast *next = id->multicasts->next;
        free(id->multicasts);
        id->multicasts = next;
    }
}

void cm_free_id(struct cm_id *id) {
    if (id->sync && id->id.channel != NULL) {
        embedded_rdma_destroy_event_channel(id->id.channel);
    }
    if (!cm_is_inherited(id)) { /* a thread that the child does not have may wait for an inherited id */
        pthread_cond_destroy(&id->released);
        presence_leave();
    }
    free_multicasts(id);
    for (int i = 0; i < CM_SPARE_EVENTS; i++) {
        free(id->spares[i]);
    }
    while (id->pending != NULL) { /* an inherited id has its counts still, others have dropped their events */
        struct cm_pending *next = id->pending->next;
        free(id->pending);
        id->pending = next;
    }
    free(id->id.route.path_rec);
    free(id->qp_init_attr);
    if (id->connect_len != 0) {
        free(id->connect);
    }
    free(id);
}

struct cm_id *cm_new_id(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                        enum ibv_qp_type qp_type) {
    struct cm_id *id = calloc(1, sizeof(*id));
    if (id == NULL) {
        return NULL;
    }
    presence_enter(); /* immediate where the engine makes the id, with cm_lock held: its listener is a user */
    pthread_cond_init(&id->released, NULL);
    id->generation = fork_generation;
    id->id.context = context;
    id->id.ps = ps;
    id->id.qp_type = qp_type;
    id->id.channel = channel;
    bool complete = true;
    for (int i = 0; i < CM_SPARE_EVENTS && complete; i++) {
        id->spares[i] = calloc(1, sizeof(*id->spares[i]));
        complete = id->spares[i] != NULL;
    }
    if (complete && channel == NULL) {
        id->sync = 1;
        id->id.channel = embedded_rdma_create_event_channel();
        complete = id->id.channel != NULL;
    }
    if (!complete) {
        cm_free_id(id);
        return NULL;
    }
    return id;
}

int cm_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **result, void *context,
                 enum rdma_port_space ps, enum ibv_qp_type qp_type) {
    UNCANCELLED;
    if (channel != NULL && cm_channel_is_inherited(channel)) {
        return cm_result(EIO);
    }
    struct cm_id *id = cm_new_id(channel, context, ps, qp_type);
    if (id == NULL) {
        return -1;
    }
    pthread_mutex_lock(&cm_lock);
    bool registered = cm_register(id);
    pthread_mutex_unlock(&cm_lock);
    if (!registered) {
        cm_free_id(id);
        return cm_result(ENOMEM);
    }
    *result = &id->id;
    return 0;
}

int embedded_rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                            enum rdma_port_space ps) {
    switch (ps) {
        case RDMA_PS_TCP:
        case RDMA_PS_IB:
            return cm_create_id(channel, id, context, ps, IBV_QPT_RC);
        case RDMA_PS_UDP:
        case RDMA_PS_IPOIB:
            return cm_create_id(channel, id, context, ps, IBV_QPT_UD);
        default:
            return cm_result(EINVAL);
    }
}

/* Removes the id from every table and list that leads to it, and ends its connection. Called with cm_lock held. */
static struct cm_id *withdraw(struct cm_id *id) {
    id->destroyed = true;
    cm_stop_asking(id);
    cm_end(id);
    cm_port_unbind(id);
    unregister(id);
    return cm_drop_events(cm_channel_of(id->id.channel), id);
}

static void destroy_requests(struct cm_id *ids) {
    while (ids != NULL) {
        struct cm_id *id = ids;
        ids = id->port_next;
        id->port_next = NULL;
        embedded_rdma_destroy_id(&id->id);
    }
}

static void release_inherited(struct cm_id *id) {
    if (id->id.event != NULL) {
        embedded_rdma_ack_cm_event(id->id.event);
    }
    cm_free_id(id);
}

int embedded_rdma_destroy_id(struct rdma_cm_id *public_id) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    if (cm_is_inherited(id)) {
        release_inherited(id);
        return 0;
    }
    for (struct cm_multicast *multicast = id->multicasts; multicast != NULL; multicast = multicast->next) {
        cm_end_joining(multicast);
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_id *requests = withdraw(id);
    pthread_mutex_unlock(&cm_lock);
    engine_timer_cancel(&id->timer); /* cancelled without cm_lock, which the callback takes */
    destroy_requests(requests);
    if (id->id.event != NULL) {
        embedded_rdma_ack_cm_event(id->id.event);
    }
    pthread_mutex_lock(&cm_lock);
    while (id->events_acked < id->events_fetched) {
        pthread_cond_wait(&id->released, &cm_lock);
    }
    pthread_mutex_unlock(&cm_lock);
    cm_free_id(id);
    return 0;
}

/* ---- the end of channels, with the ids of requests that were not fetched ---- */

/* Frees events. Does not read the descriptor, because its count is the parent's too. */
static void release_inherited_events(struct cm_channel *channel) {
    for (struct cm_event *event = channel->first, *next; event != NULL; event = next) {
        next = event->next;
        if (event->event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
            release_inherited(cm_of(event->event.id));
        }
        free(event);
    }
}

void embedded_rdma_destroy_event_channel(struct rdma_event_channel *public_channel) {
    UNCANCELLED;
    struct cm_channel *channel = cm_channel_of(public_channel);
    if (cm_channel_is_inherited(public_channel)) {
        release_inherited_events(channel);
    } else {
        pthread_mutex_lock(&cm_lock);
        struct cm_id *requests = cm_drop_events(channel, NULL);
        pthread_mutex_unlock(&cm_lock);
        destroy_requests(requests);
    }
    close(channel->channel.fd);
    free(channel);
}

/* ---- options ---- */

static int set_id_option(struct cm_id *id, int name, const void *value, size_t length) {
    switch (name) {
        case RDMA_OPTION_ID_TOS:
            if (length != sizeof(uint8_t)) {
                return EINVAL;
            }
            id->type_of_service = *(const uint8_t *) value; /* kept: no packets leave the host */
            return 0;
        case RDMA_OPTION_ID_REUSEADDR:
            if (length != sizeof(int)) {
                return EINVAL;
            }
            if (id->state == CM_LISTEN || (*(const int *) value == 0 && id->state != CM_IDLE)) {
                return EINVAL;
            }
            id->reuse_address = *(const int *) value != 0;
            return 0;
        case RDMA_OPTION_ID_AFONLY:
            if (length != sizeof(int) || (id->state != CM_IDLE && id->state != CM_ADDR_BOUND)) {
                return EINVAL;
            }
            id->family_only = *(const int *) value != 0;
            id->family_only_set = true;
            return 0;
        case RDMA_OPTION_ID_ACK_TIMEOUT:
            if (length != sizeof(uint8_t) || (id->id.qp_type != IBV_QPT_RC && id->id.qp_type != IBV_QPT_XRC_SEND)) {
                return EINVAL;
            }
            id->ack_timeout = *(const uint8_t *) value; /* values above 31 fail when they are used, as in the kernel */
            id->ack_timeout_set = true;
            return 0;
        default:
            return ENOSYS;
    }
}

int embedded_rdma_set_option(struct rdma_cm_id *public_id, int level, int name, void *value, size_t length) {
    UNCANCELLED;
    if (level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH) {
        /* No path record would fit. The kernel returns EINVAL for a record that does not fit. */
        return cm_result(EINVAL);
    }
    if (level != RDMA_OPTION_ID) {
        return cm_result(ENOSYS);
    }
    if (value == NULL) {
        return cm_result(EFAULT);
    }
    struct cm_id *id = cm_of(public_id);
    if (cm_is_inherited(id)) {
        return cm_result(EIO);
    }
    pthread_mutex_lock(&cm_lock);
    int err = set_id_option(id, name, value, length);
    pthread_mutex_unlock(&cm_lock);
    return cm_result(err);
}

/* ---- ports ---- */

static uint16_t port_of(struct sockaddr *address) {
    return cm_address_size(address) != 0 ? *cm_address_port(address) : 0;
}

uint16_t embedded_rdma_get_src_port(struct rdma_cm_id *id) {
    return port_of(&id->route.addr.src_addr);
}

uint16_t embedded_rdma_get_dst_port(struct rdma_cm_id *id) {
    return port_of(&id->route.addr.dst_addr);
}

uint64_t embedded_ext_peer(struct rdma_cm_id *public_id) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    pthread_mutex_lock(&cm_lock);
    uint64_t number = id->link != NULL ? link_peer_number(link_peer(id->link)) : 0;
    pthread_mutex_unlock(&cm_lock);
    return number;
}

/* ---- fork ---- */

static void fork_prepare(void) {
    pthread_mutex_lock(&cm_lock);
}

static void fork_parent(void) {
    pthread_mutex_unlock(&cm_lock);
}

/* Forgets the parent's ids, which nothing refers to any more. */
static void fork_child(void) {
    memset(&table, 0, sizeof(table));
    cm_port_forget();
    cm_forget_connections();
    cm_forget_questions();
    pthread_mutex_unlock(&cm_lock);
}

void cm_id_init(void) {
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}
