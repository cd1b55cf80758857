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
/* Attributes of the device, its port and its tables: constants. */
#include "attributes.h"

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "context.h"
#include "embedded/base/clock.h"
#include "embedded/base/iwarp.h"
#include "embedded/groups/mcast.h"
#include "embedded/link/notify_area.h"
#include "embedded/link/wire.h"

/* GUID that is locally administered, so no real adapter has it. All processes share it, as they share one "adapter". */
#define NODE_GUID UINT64_C(0x02006e6574747901)
#define PORT_GUID UINT64_C(0x02006e6574747902)
#define SUBNET_PREFIX UINT64_C(0xfe80000000000000)
#define DEFAULT_PKEY 0xffff

/* Size that the exported ibv_query_port may write: its struct has no port_cap_flags2 and no later fields. */
#define COMPAT_PORT_ATTR_SIZE (offsetof(struct ibv_port_attr, flags) + 1)

int embedded_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr) {
    (void) context;
    *attr = (struct ibv_device_attr) {
        .fw_ver = "1.0",
        .node_guid = htobe64(NODE_GUID),
        .sys_image_guid = htobe64(NODE_GUID),
        .max_mr_size = UINT64_C(1) << 47,
        .page_size_cap = 4096,
        .vendor_id = 0xffffff, /* the id of no company, as in soft-RoCE. Programs take 0 for a failure. */
        .hw_ver = 1,
        .max_qp = DEVICE_MAX_QP,
        .max_qp_wr = DEVICE_MAX_WR,
        .device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B
                | IBV_DEVICE_XRC,
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
        .max_mw = DEVICE_MAX_MW,
        .max_pkeys = 1,
        .phys_port_cnt = 1,
    };
    if (iwarp_is_on()) {
        attr->device_cap_flags &= ~(unsigned) (IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_XRC);
        attr->atomic_cap = IBV_ATOMIC_NONE;
        attr->max_sge_rd = 1;
        attr->max_mcast_grp = attr->max_mcast_qp_attach = attr->max_total_mcast_qp_attach = 0;
        attr->max_ah = 0;
    }
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
        .link_layer = iwarp_is_on() ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND,
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
        errno = EINVAL; /* libibverbs returns EINVAL, and sets it as well */
        return EINVAL;
    }
    memset(entry, 0, entry_size);
    memcpy(entry, &full, entry_size < sizeof(full) ? entry_size : sizeof(full));
    return 0;
}

int attributes_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                                 struct ibv_device_attr_ex *attr, size_t size) {
    if ((input != NULL && input->comp_mask != 0) || size < sizeof(attr->orig_attr)) {
        return EINVAL;
    }
    struct ibv_device_attr_ex full = { 0 };
    embedded_ibv_query_device(context, &full.orig_attr);
    full.device_cap_flags_ex = full.orig_attr.device_cap_flags; /* ibv_query_device_ex(3): these flags and more */
    full.completion_timestamp_mask = UINT64_MAX;
    full.hca_core_clock = 1000000; /* kHz: the clock counts nanoseconds */
    full.phys_port_cnt_ex = full.orig_attr.phys_port_cnt;
    memset(attr, 0, size);
    memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
    return 0;
}

/* Reads the clock; its count is in tv_nsec alone, as with adapters. */
int attributes_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values) {
    (void) context;
    if ((values->comp_mask & ~(uint32_t) IBV_VALUES_MASK_RAW_CLOCK) != 0) {
        return EINVAL;
    }
    if ((values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) != 0) {
        values->raw_clock.tv_sec = 0;
        values->raw_clock.tv_nsec = (long) clock_ns(CLOCK_MONOTONIC_RAW);
    }
    return 0;
}

int attributes_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size) {
    struct ibv_port_attr full = { 0 };
    int error = embedded_ibv_query_port(context, port, (struct _compat_ibv_port_attr *) &full);
    if (error == 0) {
        memset(attr, 0, size);
        memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
    }
    return error;
}
