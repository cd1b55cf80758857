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
 * Public names of libibverbs that the programs of the conformance suite call beside those in verbs_api.h and forward.c.
 */
#include "embedded/embedded.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Function of libibverbs' private interface (34), which is not in the public header, but called by ibv_devinfo. */
EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index, unsigned int *type);

EXPORT __be64 ibv_get_device_guid(struct ibv_device *device) {
    struct ibv_device_attr attr;
    struct ibv_context *context = embedded_ibv_open_device(device);
    if (context == NULL) {
        return 0;
    }
    embedded_ibv_query_device(context, &attr);
    embedded_ibv_close_device(context);
    return attr.node_guid;
}

EXPORT int ibv_get_device_index(struct ibv_device *device) {
    (void) device;
    return 0;
}

EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey) {
    __be16 only;
    if (embedded_ibv_query_pkey(context, port, 0, &only) != 0 || pkey != only) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
                                    uint32_t flags, size_t entry_size) {
    /* the kernel: UVERBS_METHOD_QUERY_GID_TABLE. Room for too few is an error. */
    int err = max == 0 || entry_size == 0 ? EINVAL
            : embedded__ibv_query_gid_ex(context, 1, 0, entries, flags, entry_size);
    return err != 0 ? -err : 1;
}

EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index, unsigned int *type) {
    union ibv_gid gid;
    if (index > INT32_MAX || embedded_ibv_query_gid(context, port, (int) index, &gid) != 0) {
        errno = EINVAL;
        return -1;
    }
    *type = 0; /* IBV_GID_TYPE_SYSFS_IB_ROCE_V1 */
    return 0;
}

/* Does nothing, as registered pages are not pinned for a device; embedded/base/fork.h has the effects of a fork(). */
EXPORT int ibv_fork_init(void) {
    return 0;
}

EXPORT enum ibv_fork_status ibv_is_fork_initialized(void) {
    return IBV_FORK_UNNEEDED;
}

EXPORT int ibv_dontfork_range(void *base, size_t size);
EXPORT int ibv_dontfork_range(void *base, size_t size) {
    (void) base;
    (void) size;
    return 0;
}

EXPORT int ibv_dofork_range(void *base, size_t size);
EXPORT int ibv_dofork_range(void *base, size_t size) {
    (void) base;
    (void) size;
    return 0;
}

EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags) {
    (void) qp;
    (void) op;
    (void) flags;
    return 0;
}
