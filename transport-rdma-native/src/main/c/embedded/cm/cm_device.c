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
/* Device that all ids share, opened when one needs it. */
#include "cm.h"
#include "embedded/base/cancel.h"
#include "embedded/device/context.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock;
    struct ibv_context *context; /* context, never closed: librdmacm(7), ids share it */
    struct ibv_pd *pd;
    struct ibv_xrcd *xrcd; /* domain; NULL until it is needed */
    struct ibv_device_attr attr;
    union ibv_gid gid;
    unsigned generation; /* generation (fork_generation) of the process that opened the device */
} device = { .lock = PTHREAD_MUTEX_INITIALIZER };

int cm_open_device(void) {
    UNCANCELLED;
    int err = 0;
    pthread_mutex_lock(&device.lock);
    if (device.context == NULL || device.generation != fork_generation) {
        struct ibv_context *context = device_open_shared();
        struct ibv_pd *pd = NULL;
        err = context == NULL ? errno : embedded_ibv_query_device(context, &device.attr);
        if (err == 0) {
            err = embedded_ibv_query_gid(context, 1, 0, &device.gid) == 0 ? 0 : EIO;
        }
        if (err == 0) {
            pd = embedded_ibv_alloc_pd(context);
            err = pd == NULL ? ENOMEM : 0;
        }
        if (err == 0) {
            device.context = context;
            device.pd = pd;
            device.xrcd = NULL;
            device.generation = fork_generation;
        } else if (context != NULL) {
            embedded_ibv_close_device(context);
        }
    }
    pthread_mutex_unlock(&device.lock);
    return err;
}

/* Resets the lock, which another thread may have held. */
static void fork_child(void) {
    pthread_mutex_init(&device.lock, NULL);
}

void cm_device_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}

void embedded_unload(void) {
    pthread_mutex_lock(&device.lock);
    if (device.context != NULL && device.generation == fork_generation) {
        device_end_shared(device.context);
        device.context = NULL;
    }
    pthread_mutex_unlock(&device.lock);
}

void cm_attach_device(struct cm_id *id) {
    id->id.verbs = device.context;
    id->id.pd = device.pd;
    id->id.port_num = 1;
    id->id.route.addr.addr.ibaddr.sgid = device.gid;
    id->id.route.addr.addr.ibaddr.dgid = device.gid;
    id->id.route.addr.addr.ibaddr.pkey = htons(0xffff);
}

struct ibv_xrcd *cm_device_xrcd(void) {
    pthread_mutex_lock(&device.lock);
    if (device.xrcd == NULL) {
        struct ibv_xrcd_init_attr attr = {
            .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT,
        };
        device.xrcd = ibv_open_xrcd(device.context, &attr);
    }
    struct ibv_xrcd *xrcd = device.xrcd;
    pthread_mutex_unlock(&device.lock);
    return xrcd;
}

const struct ibv_device_attr *cm_device_attr(void) {
    return &device.attr;
}

struct ibv_context **embedded_rdma_get_devices(int *count) {
    struct ibv_context **list = NULL;
    int err = cm_open_device();
    if (err == 0) {
        list = calloc(2, sizeof(*list));
    }
    if (list != NULL) {
        list[0] = device.context;
    } else if (err != 0) {
        errno = err;
    }
    if (count != NULL) {
        *count = list != NULL ? 1 : 0;
    }
    return list;
}

void embedded_rdma_free_devices(struct ibv_context **list) {
    free(list);
}
