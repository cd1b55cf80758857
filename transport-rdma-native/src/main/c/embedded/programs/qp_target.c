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
 * Target queue pairs of XRC. The application has handles of a target, from ibv_create_qp_ex(3) and ibv_open_qp(3). Each
 * handle has its own context and events, and operations on it apply to the target. The target is destroyed with its
 * last handle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/base/cancel.h"
#include "embedded/device/presence.h"
#include "programs.h"
#include "xrcd.h"

/* Handle, without the state of its target. */
struct handle {
    struct qp qp; /* the application's handle; of its fields only `context` and `async` are used */
    struct xrc_target *target;
    struct handle *next; /* next handle of the target */
    struct ibv_xrcd *xrcd;
};

static struct handle *handle_of(const struct qp *qp) {
    return container_of(qp, struct handle, qp);
}

static void unlink_handle(struct xrc_target *target, struct handle *handle) {
    struct handle **link = &target->handles;
    while (*link != handle) {
        link = &(*link)->next;
    }
    *link = handle->next;
}

static void free_handle(struct handle *handle) {
    if (!context_is_inherited(handle->qp.ibv.context)) {
        presence_leave();
    }
    xrcd_add_objects(handle->xrcd, -1);
    pthread_mutex_destroy(&handle->qp.control);
    free(handle);
}

static int close_handle(struct qp *qp) {
    struct handle *handle = handle_of(qp);
    struct xrc_target *target = handle->target;
    if (context_is_inherited(qp->ibv.context)) { /* no lock is looked at here: fork.h */
        unlink_handle(target, handle);
        if (target->handles == NULL) {
            qp_destroy_inherited(&target->rc.qp);
        }
        free_handle(handle);
        return 0;
    }
    struct xrc_domain *domain = target->domain;
    xrcd_lock_targets(domain);
    xrcd_lock_names(domain);
    unlink_handle(target, handle);
    bool last = target->handles == NULL;
    xrcd_unlock_names(domain);
    target->closed = last;
    xrcd_unlock_targets(domain);
    async_retire(qp->context, &qp->async);
    if (last) {
        /*
         * Taken here, so that a search for users of a shared receive queue finds the target as long as it may be one.
         */
        xrcd_lock_targets(domain);
        qp_destroy(&target->rc.qp);
        xrcd_remove_target(domain, target);
        xrcd_unlock_targets(domain);
        qp_put(&target->rc.qp);
    }
    free_handle(handle);
    return 0;
}

static struct qp *meant(const struct qp *handle) {
    return &handle_of(handle)->target->rc.qp;
}

/* Operations of a handle. Nothing can be posted to it, because its own state is always RESET. */
static const struct qp_ops handle_ops = { .meant = meant, .close = close_handle };

/* Makes a handle without its target. NULL: errno. */
static struct handle *make_handle(struct ibv_context *context, struct ibv_xrcd *xrcd, void *qp_context) {
    struct handle *handle = aligned_alloc(64, (sizeof(*handle) + 63) & ~(size_t) 63);
    if (handle == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    memset(handle, 0, sizeof(*handle));
    handle->xrcd = xrcd;
    handle->qp.ops = &handle_ops;
    handle->qp.context = context_of(context);
    handle->qp.ibv.context = context;
    handle->qp.ibv.qp_context = qp_context;
    handle->qp.ibv.qp_type = IBV_QPT_XRC_RECV;
    pthread_mutex_init(&handle->qp.control, NULL);
    xrcd_add_objects(xrcd, 1);
    presence_enter(); /* the target's completion queue is no user */
    return handle;
}

/* Called with the lock of the domain's targets held. */
static struct ibv_qp *give(struct handle *handle, struct xrc_target *target) {
    handle->target = target;
    handle->qp.ibv.qp_num = handle->qp.ibv.handle = target->rc.qp.ibv.qp_num;
    xrcd_lock_names(target->domain);
    handle->next = target->handles;
    target->handles = handle;
    xrcd_unlock_names(target->domain);
    return &handle->qp.ibv;
}

struct ibv_qp *qp_create_target(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr) {
    UNCANCELLED;
    if (context_is_inherited(context)) {
        errno = EIO;
        return NULL;
    }
    struct handle *handle = make_handle(context, attr->xrcd, attr->qp_context);
    if (handle == NULL) {
        return NULL;
    }
    struct cq *cq = xrc_cq();
    int error = cq == NULL ? errno : 0;
    if (cq == NULL) {
        free_handle(handle);
        errno = error;
        return NULL;
    }
    struct xrc_domain *domain = xrcd_domain(attr->xrcd);
    const struct qp_parts parts = {
        .ibv.qp_type = IBV_QPT_XRC_RECV, .send_cq = cq, .recv_cq = cq, .argument = domain,
    };
    xrcd_lock_targets(domain);
    struct qp *target = qp_make(&parts);
    error = target == NULL ? errno : 0;
    struct ibv_qp *made = NULL;
    if (target != NULL) {
        xrcd_add_target(domain, target_of(target));
        made = give(handle, target_of(target));
    }
    xrcd_unlock_targets(domain);
    if (target == NULL) {
        free_handle(handle);
        errno = error;
        return NULL;
    }
    attr->cap = target->cap; /* nothing can be posted */
    made->pd = (attr->comp_mask & IBV_QP_INIT_ATTR_PD) != 0 ? attr->pd : NULL; /* librdmacm relies on `pd` */
    return made;
}

/* Returns 0 or errno. */
static int check(struct ibv_context *context, const struct ibv_qp_open_attr *attr) {
    uint32_t needed = IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_TYPE;
    if (context_is_inherited(context)) {
        return EIO;
    }
    if ((attr->comp_mask & ~(needed | IBV_QP_OPEN_ATTR_CONTEXT)) != 0) {
        return EOPNOTSUPP;
    }
    bool complete = (attr->comp_mask & needed) == needed && attr->xrcd != NULL && attr->xrcd->context == context;
    return complete && attr->qp_type == IBV_QPT_XRC_RECV ? 0 : EINVAL;
}

struct ibv_qp *qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr) {
    UNCANCELLED;
    int error = check(context, attr);
    if (error != 0) {
        errno = error;
        return NULL;
    }
    void *qp_context = (attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT) != 0 ? attr->qp_context : NULL;
    struct handle *handle = make_handle(context, attr->xrcd, qp_context);
    if (handle == NULL) {
        return NULL;
    }
    struct xrc_domain *domain = xrcd_domain(attr->xrcd);
    xrcd_lock_targets(domain);
    struct xrc_target *target = xrcd_find_target(domain, attr->qp_num);
    struct ibv_qp *opened = target == NULL || target->closed ? NULL : give(handle, target);
    xrcd_unlock_targets(domain);
    if (opened == NULL) {
        free_handle(handle);
        errno = EINVAL; /* the kernel's ib_open_qp() returns the same */
        return NULL;
    }
    opened->state = IBV_QPS_UNKNOWN; /* libibverbs reports the same, until this handle sets a state */
    return opened;
}

void qp_raise_to_handles(struct qp *qp, enum ibv_event_type event) {
    struct xrc_target *target = target_of(qp);
    xrcd_lock_names(target->domain);
    for (struct handle *handle = target->handles; handle != NULL; handle = handle->next) {
        async_raise(handle->qp.context, event, &handle->qp.ibv, &handle->qp.async);
    }
    xrcd_unlock_names(target->domain);
}
