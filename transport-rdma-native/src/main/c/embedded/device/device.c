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
/* Device, of which there is one, and contexts on it. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "context.h"
#include "cq.h"
#include "embedded/base/cancel.h"
#include "embedded/base/copy.h"
#include "embedded/base/fork.h"
#include "embedded/base/iwarp.h"
#include "embedded/link/folder.h"
#include "embedded/link/notify_area.h"
#include "mw.h"
#include "presence.h"
#include "qp.h"
#include "srq.h"

/*
 * No sysfs paths: programs that look there must find nothing, instead of another device. `driver` is in the place where
 * libibverbs has the driver's operations. By these, drivers' libraries recognize their devices (efadv_query_device(3)
 * of any device).
 */
static struct {
    struct ibv_device ibv;
    const void *driver;
} device = {
    .ibv = {
        .node_type = IBV_NODE_CA,
        .transport_type = IBV_TRANSPORT_IB,
        .name = DEVICE_NAME,
        .dev_name = DEVICE_NAME,
    },
};

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *contexts;
static void (*fill_extended)(struct verbs_context *extended);

int embedded_configure(const char *folder, const char *users, const char *groups) {
    return folder_configure(folder, users, groups);
}

int embedded_start(char *reason, size_t reason_size) {
    int error = folder_start(reason, reason_size);
    return error != 0 ? error : notify_area_is_allowed(reason, reason_size); /* the area is the largest memory of all */
}

void embedded_describe(char *text, size_t size) {
    folder_describe(text, size);
}

/*
 * Starts the provider. Prints once what is wrong with the environment, as libibverbs does, because errno cannot tell
 * it.
 */
static int start(void) {
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char reason[1024];
    int error = embedded_start(reason, sizeof(reason));
    if (error != 0 && !atomic_flag_test_and_set(&told)) {
        fprintf(stderr, "rdma_embedded: %s\n", reason);
    }
    return error;
}

struct ibv_device **embedded_ibv_get_device_list(int *num_devices) {
    int error = start();
    struct ibv_device **list = error == 0 ? calloc(2, sizeof(*list)) : NULL;
    if (list == NULL) {
        errno = error != 0 ? error : ENOMEM;
    } else {
        list[0] = &device.ibv;
    }
    if (num_devices != NULL) {
        *num_devices = list != NULL;
    }
    return list;
}

void embedded_ibv_free_device_list(struct ibv_device **list) {
    free(list);
}

const char *embedded_ibv_get_device_name(struct ibv_device *dev) {
    return dev->name;
}

void device_set_extended(void (*fill)(struct verbs_context *extended)) {
    fill_extended = fill;
}

/* Makes a context. NULL: errno. */
static struct ibv_context *make_context(bool present) {
    int error = copy_catch_faults();
    if (error != 0) {
        errno = error;
        return NULL;
    }
    struct context *context = calloc(1, sizeof(*context));
    if (context == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    /* No counting semaphore: readable while anything is queued, see async.c. */
    struct ibv_context *ibv = &context->extended.context;
    ibv->async_fd = eventfd(0, EFD_CLOEXEC);
    if (ibv->async_fd < 0) {
        free(context);
        return NULL;
    }
    ibv->device = &device.ibv;
    /* The device takes no commands. Programs duplicate the descriptor for ibv_import_device(3), which reports that. */
    ibv->cmd_fd = ibv->async_fd;
    ibv->num_comp_vectors = 1;
    ibv->ops.poll_cq = cq_poll;
    ibv->ops.req_notify_cq = cq_req_notify;
    ibv->ops.post_send = qp_post_send;
    ibv->ops.post_recv = qp_post_recv;
    ibv->ops.post_srq_recv = srq_post_recv;
    ibv->ops.alloc_mw = mw_alloc;
    ibv->ops.dealloc_mw = mw_dealloc;
    ibv->ops.bind_mw = mw_bind;
    if (fill_extended != NULL) {
        fill_extended(&context->extended);
    }
    pthread_mutex_init(&ibv->mutex, NULL);
    pthread_mutex_init(&context->lock, NULL);
    pthread_cond_init(&context->acknowledged, NULL);
    context->last = &context->first;
    context->generation = fork_generation;
    context->present = present;
    pthread_mutex_lock(&contexts_lock);
    context->next = contexts;
    context->previous = &contexts;
    if (contexts != NULL) {
        contexts->previous = &context->next;
    }
    contexts = context;
    pthread_mutex_unlock(&contexts_lock);
    return ibv;
}

struct ibv_context *device_open_shared(void) {
    int error = start();
    if (error != 0) {
        errno = error;
        return NULL;
    }
    return make_context(false);
}

static void unlist(struct context *context) {
    pthread_mutex_lock(&contexts_lock);
    *context->previous = context->next;
    if (context->next != NULL) {
        context->next->previous = context->previous;
    }
    pthread_mutex_unlock(&contexts_lock);
}

void device_end_shared(struct ibv_context *ibv) {
    unlist(context_of(ibv));
    close(ibv->async_fd);
}

struct ibv_context *embedded_ibv_open_device(struct ibv_device *dev) {
    UNCANCELLED;
    if (dev != &device.ibv) {
        errno = EINVAL;
        return NULL;
    }
    presence_enter();
    int error = presence_open();
    struct ibv_context *context = error == 0 ? make_context(true) : NULL;
    if (context == NULL) {
        error = error != 0 ? error : errno;
        presence_leave();
        errno = error;
    }
    return context;
}

int embedded_ibv_close_device(struct ibv_context *ibv) {
    UNCANCELLED;
    struct context *context = context_of(ibv);
    if (atomic_load(&context->objects) != 0) {
        /* ibv_close_device(3) succeeds and releases none of them. Programs rely on that (perftest leaves queues). */
        return 0;
    }
    unlist(context);
    close(ibv->async_fd);
    if (!context_is_inherited(ibv)) { /* a thread that the child does not have may wait for an inherited one */
        pthread_cond_destroy(&context->acknowledged);
        pthread_mutex_destroy(&context->lock);
        pthread_mutex_destroy(&ibv->mutex);
        if (context->present) {
            presence_leave();
        }
    }
    free(context);
    return 0;
}

void embedded_ibv_ack_async_event(struct ibv_async_event *event) {
    struct context *context;
    struct async_source *source;
    switch (event->event_type) {
        case IBV_EVENT_CQ_ERR:
            context = context_of(event->element.cq->context);
            source = &cq_of(event->element.cq)->async;
            break;
        case IBV_EVENT_SRQ_ERR:
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            context = context_of(event->element.srq->context);
            source = &srq_of(event->element.srq)->async;
            break;
        default:
            context = context_of(event->element.qp->context);
            source = &qp_of(event->element.qp)->async;
    }
    if (!context_is_inherited(&context->extended.context)) {
        async_acknowledge(context, source);
    }
}

/* ---- fork ---- */

static int inherited_poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc) {
    (void) cq;
    (void) entries;
    (void) wc;
    errno = EIO;
    return -1;
}

static int inherited_req_notify(struct ibv_cq *cq, int solicited_only) {
    (void) cq;
    (void) solicited_only;
    return EIO;
}

static int inherited_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr) {
    (void) qp;
    *bad_wr = wr;
    return EIO;
}

static int inherited_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr) {
    (void) qp;
    *bad_wr = wr;
    return EIO;
}

static int inherited_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr) {
    (void) srq;
    *bad_wr = wr;
    return EIO;
}

static void fork_prepare(void) {
    pthread_mutex_lock(&contexts_lock);
}

static void fork_parent(void) {
    pthread_mutex_unlock(&contexts_lock);
}

static void fork_child(void) {
    for (struct context *context = contexts; context != NULL; context = context->next) {
        struct ibv_context_ops *ops = &context->extended.context.ops;
        ops->poll_cq = inherited_poll_cq;
        ops->req_notify_cq = inherited_req_notify;
        ops->post_send = inherited_post_send;
        ops->post_recv = inherited_post_recv;
        ops->post_srq_recv = inherited_post_srq_recv;
    }
    pthread_mutex_unlock(&contexts_lock);
}

void device_init(void) {
    if (iwarp_is_on()) {
        device.ibv.node_type = IBV_NODE_RNIC;
        device.ibv.transport_type = IBV_TRANSPORT_IWARP;
    }
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}
