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
 * The device's contexts, and their asynchronous events.
 *
 * An event about a queue pair, a completion queue or a shared receive queue must be acknowledged before that object can
 * be destroyed (ibv_get_async_event(3)). An async_source in each such object counts its events.
 */
#ifndef NETTY_RDMA_EMBEDDED_CONTEXT_H
#define NETTY_RDMA_EMBEDDED_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "embedded/base/container_of.h"
#include "embedded/base/fork.h"
#include "embedded/embedded.h"

#define DEVICE_NAME "embedded0"
#define DEVICE_MAX_QP 65536
#define DEVICE_MAX_WR 16384
#define DEVICE_MAX_SGE 32
#define DEVICE_MAX_SRQ 65536
#define DEVICE_MAX_SRQ_WR 32768
#define DEVICE_MAX_INLINE 512
#define DEVICE_MAX_INLINE_RECV 64 /* limit of adapters with completions of 128 bytes */
#define DEVICE_MAX_CQE (1 << 20)
#define DEVICE_MAX_READS 64
#define DEVICE_MAX_AH (1 << 20)
#define DEVICE_MAX_MW 65536
#define DEVICE_LID 1

struct async_event;

struct context {
    struct verbs_context extended; /* the public context is its last member */
    unsigned generation; /* fork_generation at the creation */
    bool present;        /* counts as a user (presence.h) */
    struct context *next, **previous; /* list of device.c */
    atomic_int objects; /* number of protection domains, completion queues, channels */
    pthread_mutex_t lock;
    pthread_cond_t acknowledged;
    struct async_event *first, **last;
};

struct async_source {
    unsigned delivered, completed; /* events; guarded by the context's lock */
};

void device_init(void);

/* Opens the shared context of the ids, which does not count as a user (presence.h). NULL: errno. */
struct ibv_context *device_open_shared(void);

/* Ends the shared context of the ids. Objects that the application has made with it keep their memory. */
void device_end_shared(struct ibv_context *context);

/*
 * Sets the function that fills in the calls that <infiniband/verbs.h> finds by verbs_get_ctx_op(). Called before the
 * first context is made. A call that stays NULL fails there with EOPNOTSUPP, like a call that a driver lacks. Without
 * `fill` all of them stay NULL.
 */
void device_set_extended(void (*fill)(struct verbs_context *extended));

static inline struct context *context_of(struct ibv_context *context) {
    return container_of(context, struct context, extended.context);
}

/* Returns whether a fork has copied the context, and all objects made with it, from the parent. Calls fail with EIO. */
static inline bool context_is_inherited(struct ibv_context *context) {
    return context_of(context)->generation != fork_generation;
}

/* Queues an event about `element`. An event that is still undelivered is not queued again. Any thread. */
void async_raise(struct context *context, enum ibv_event_type type, void *element, struct async_source *source);

/* Forgets undelivered events about the source and waits until the delivered ones are acknowledged. */
void async_retire(struct context *context, struct async_source *source);

/* Notes that an event about the source is acknowledged. */
void async_acknowledge(struct context *context, struct async_source *source);

#endif
