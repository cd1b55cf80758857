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
/* The one device, its attributes, and contexts on it. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "context.h"
#include "cq.h"
#include "embedded/base/cancel.h"
#include "embedded/base/copy.h"
#include "embedded/base/fork.h"
#include "embedded/groups/mcast.h"
#include "embedded/link/engine.h"
#include "embedded/link/notify_area.h"
#include "embedded/link/wire.h"
#include "qp.h"
#include "srq.h"

/* Locally administered, so no real adapter has it; the same in every process, as all share one "adapter". */
#define NODE_GUID UINT64_C(0x02006e6574747901)
#define PORT_GUID UINT64_C(0x02006e6574747902)
#define SUBNET_PREFIX UINT64_C(0xfe80000000000000)
#define DEFAULT_PKEY 0xffff

/* The end of what the exported ibv_query_port may write: its struct has no port_cap_flags2 and what follows. */
#define COMPAT_PORT_ATTR_SIZE (offsetof(struct ibv_port_attr, flags) + 1)

/* No sysfs paths: programs that look there must find nothing rather than some other device. */
static struct ibv_device device = {
    .node_type = IBV_NODE_CA,
    .transport_type = IBV_TRANSPORT_IB,
    .name = "embedded0",
    .dev_name = "embedded0",
};

static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *contexts;

struct ibv_device **embedded_ibv_get_device_list(int *num_devices) {
    struct ibv_device **list = calloc(2, sizeof(*list));
    if (list == NULL) {
        errno = ENOMEM;
    } else {
        list[0] = &device;
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

struct ibv_context *embedded_ibv_open_device(struct ibv_device *dev) {
    UNCANCELLED;
    if (dev != &device) {
        errno = EINVAL;
        return NULL;
    }
    int error = copy_catch_faults();
    if (error == 0) {
        error = notify_area_open();
    }
    if (error == 0) {
        error = engine_start();
    }
    if (error == 0) {
        error = cq_engine_open();
    }
    if (error != 0) {
        errno = error;
        return NULL;
    }
    struct context *context = calloc(1, sizeof(*context));
    if (context == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    /* Not a counting semaphore: readable while anything is queued, see async.c. */
    context->ibv.async_fd = eventfd(0, EFD_CLOEXEC);
    if (context->ibv.async_fd < 0) {
        free(context);
        return NULL;
    }
    context->ibv.device = dev;
    context->ibv.cmd_fd = -1;
    context->ibv.num_comp_vectors = 1;
    context->ibv.ops.poll_cq = cq_poll;
    context->ibv.ops.req_notify_cq = cq_req_notify;
    context->ibv.ops.post_send = qp_post_send;
    context->ibv.ops.post_recv = qp_post_recv;
    context->ibv.ops.post_srq_recv = srq_post_recv;
    pthread_mutex_init(&context->ibv.mutex, NULL);
    pthread_mutex_init(&context->lock, NULL);
    pthread_cond_init(&context->acknowledged, NULL);
    context->last = &context->first;
    context->generation = fork_generation;
    pthread_mutex_lock(&contexts_lock);
    context->next = contexts;
    context->previous = &contexts;
    if (contexts != NULL) {
        contexts->previous = &context->next;
    }
    contexts = context;
    pthread_mutex_unlock(&contexts_lock);
    return &context->ibv;
}

int embedded_ibv_close_device(struct ibv_context *ibv) {
    UNCANCELLED;
    struct context *context = context_of(ibv);
    if (atomic_load(&context->objects) != 0) {
        /*
         * ibv_close_device(3) succeeds and releases none of them; programs rely on it (perftest leaves queues behind).
         */
        return 0;
    }
    pthread_mutex_lock(&contexts_lock);
    *context->previous = context->next;
    if (context->next != NULL) {
        context->next->previous = context->previous;
    }
    pthread_mutex_unlock(&contexts_lock);
    close(ibv->async_fd);
    if (!context_is_inherited(ibv)) { /* else a thread that the child does not have may wait for them */
        pthread_cond_destroy(&context->acknowledged);
        pthread_mutex_destroy(&context->lock);
        pthread_mutex_destroy(&ibv->mutex);
    }
    free(context);
    return 0;
}

int embedded_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr) {
    (void) context;
    *attr = (struct ibv_device_attr) {
        .fw_ver = "1.0",
        .node_guid = htobe64(NODE_GUID),
        .sys_image_guid = htobe64(NODE_GUID),
        .max_mr_size = UINT64_C(1) << 47,
        .page_size_cap = 4096,
        .hw_ver = 1,
        .max_qp = DEVICE_MAX_QP,
        .max_qp_wr = DEVICE_MAX_WR,
        .device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN,
        .max_sge = DEVICE_MAX_SGE,
        .max_sge_rd = DEVICE_MAX_SGE,
        .max_cq = NOTIFY_CQS,
        .max_cqe = DEVICE_MAX_CQE,
        .max_mr = 1 << 24,
        .max_pd = 1 << 20,
        .max_qp_rd_atom = DEVICE_MAX_READS,
        .max_res_rd_atom = DEVICE_MAX_READS * DEVICE_MAX_QP,
        .max_qp_init_rd_atom = DEVICE_MAX_READS,
        .atomic_cap = IBV_ATOMIC_GLOB, /* the owner's CPU executes them with its own atomic instructions */
        .max_srq = DEVICE_MAX_SRQ,
        .max_srq_wr = DEVICE_MAX_SRQ_WR,
        .max_srq_sge = DEVICE_MAX_SGE,
        .max_mcast_grp = MCAST_MAX_GROUPS,
        .max_mcast_qp_attach = MCAST_MAX_GROUP_MEMBERS,
        .max_total_mcast_qp_attach = MCAST_MAX_GROUPS,
        .max_ah = DEVICE_MAX_AH,
        .max_pkeys = 1,
        .phys_port_cnt = 1,
    };
    return 0;
}

int embedded_ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr) {
    (void) context;
    if (port != 1) {
        return EINVAL;
    }
    struct ibv_port_attr full = {
        .state = IBV_PORT_ACTIVE,
        .max_mtu = IBV_MTU_4096,
        .active_mtu = IBV_MTU_4096,
        .gid_tbl_len = 1,
        .max_msg_sz = WIRE_MAX_MESSAGE,
        .pkey_tbl_len = 1,
        .lid = DEVICE_LID, /* ibv_rc_pingpong refuses lid 0 on an InfiniBand link layer */
        .sm_lid = DEVICE_LID,
        .max_vl_num = 1,
        .active_width = 2,
        .active_speed = 4,
        .phys_state = 5,
        .link_layer = IBV_LINK_LAYER_INFINIBAND,
    };
    memcpy(attr, &full, COMPAT_PORT_ATTR_SIZE);
    return 0;
}

int embedded_ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid) {
    (void) context;
    if (port != 1 || index != 0) {
        errno = EINVAL;
        return -1;
    }
    gid->global.subnet_prefix = htobe64(SUBNET_PREFIX);
    gid->global.interface_id = htobe64(PORT_GUID);
    return 0;
}

int embedded_ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey) {
    (void) context;
    if (port != 1 || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = htobe16(DEFAULT_PKEY);
    return 0;
}

int embedded__ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
                               uint32_t flags, size_t entry_size) {
    struct ibv_gid_entry full = { .gid_index = index, .port_num = port, .gid_type = IBV_GID_TYPE_IB };
    if (flags != 0 || port > UINT8_MAX || index > INT32_MAX
            || embedded_ibv_query_gid(context, (uint8_t) port, (int) index, &full.gid) != 0) {
        errno = EINVAL; /* libibverbs returns it, and sets it as well */
        return EINVAL;
    }
    memset(entry, 0, entry_size);
    memcpy(entry, &full, entry_size < sizeof(full) ? entry_size : sizeof(full));
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
        case IBV_EVENT_SRQ_LIMIT_REACHED:
            context = context_of(event->element.srq->context);
            source = &srq_of(event->element.srq)->async;
            break;
        default:
            context = context_of(event->element.qp->context);
            source = &qp_of(event->element.qp)->async;
    }
    if (!context_is_inherited(&context->ibv)) {
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
        context->ibv.ops.poll_cq = inherited_poll_cq;
        context->ibv.ops.req_notify_cq = inherited_req_notify;
        context->ibv.ops.post_send = inherited_post_send;
        context->ibv.ops.post_recv = inherited_post_recv;
        context->ibv.ops.post_srq_recv = inherited_post_srq_recv;
    }
    pthread_mutex_unlock(&contexts_lock);
}

void device_init(void) {
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}
