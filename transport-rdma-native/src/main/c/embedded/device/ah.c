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
/* Address handles: see ah.h. */
#include "ah.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/base/iwarp.h"

#define GRH_VERSION 6u
#define NEXT_HEADER_BTH 0x1b
#define TRANSPORT_BYTES 24u /* base and datagram transport headers, invariant CRC: counted by the GRH's length */
#define IMMEDIATE_BYTES 4u

/* "netty-rd" in place of the subnet prefix. The interface id is then the number of a link of this process. */
#define LINK_PREFIX UINT64_C(0x6e657474792d7264)

struct ah *ah_get(struct ah *ah) {
    atomic_fetch_add(&ah->refs, 1);
    return ah;
}

void ah_put(struct ah *ah) {
    if (atomic_fetch_sub(&ah->refs, 1) == 1) {
        free(ah);
    }
}

struct ibv_ah *embedded_ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr) {
    if (context_is_inherited(pd->context)) {
        errno = EIO;
        return NULL;
    }
    if (iwarp_is_on()) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    /* Checks of the kernel for a device (rdma_check_ah_attr() in verbs.c): port, and a source GID that exists. */
    if (attr->port_num != 1 || (attr->is_global && attr->grh.sgid_index != 0)) {
        errno = EINVAL;
        return NULL;
    }
    struct ah *ah = calloc(1, sizeof(*ah));
    if (ah == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    ah->ibv.context = pd->context;
    ah->ibv.pd = pd;
    ah->attr = *attr;
    atomic_init(&ah->refs, 1);
    atomic_fetch_add(&pd_of(pd)->objects, 1);
    return &ah->ibv;
}

int embedded_ibv_destroy_ah(struct ibv_ah *ibv) {
    atomic_fetch_sub(&pd_of(ibv->pd)->objects, 1);
    ah_put(ah_of(ibv));
    return 0;
}

static bool is_own_gid(const union ibv_gid *gid) {
    union ibv_gid own;
    return embedded_ibv_query_gid(NULL, 1, 0, &own) == 0 && memcmp(&own, gid, sizeof(own)) == 0;
}

int embedded_ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh,
                                 struct ibv_ah_attr *attr) {
    (void) context;
    memset(attr, 0, sizeof(*attr));
    attr->dlid = wc->slid;
    attr->sl = wc->sl;
    attr->src_path_bits = wc->dlid_path_bits;
    attr->port_num = port;
    if ((wc->wc_flags & IBV_WC_GRH) != 0) {
        /* libibverbs also looks for the destination among the port's GIDs, which fails for a multicast message. */
        if (!is_own_gid(&grh->dgid)) {
            errno = EINVAL;
            return -1;
        }
        uint32_t word = ntohl(grh->version_tclass_flow);
        attr->is_global = 1;
        attr->grh.dgid = grh->sgid;
        attr->grh.sgid_index = 0;
        attr->grh.flow_label = word & 0xfffff;
        attr->grh.traffic_class = (uint8_t) (word >> 20);
        attr->grh.hop_limit = grh->hop_limit;
    }
    return 0;
}

struct ibv_ah *embedded_ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port) {
    struct ibv_ah_attr attr;
    if (embedded_ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr) != 0) {
        return NULL;
    }
    return embedded_ibv_create_ah(pd, &attr);
}

bool ah_leads_here(const struct ibv_ah_attr *attr) {
    return attr->dlid == DEVICE_LID && (!attr->is_global || is_own_gid(&attr->grh.dgid));
}

void ah_set_link(struct ibv_ah_attr *attr, const struct link *link) {
    attr->grh.dgid.global.subnet_prefix = htobe64(LINK_PREFIX);
    attr->grh.dgid.global.interface_id = htobe64(link != NULL ? link_number(link) : 0);
}

int ah_find_link(const struct ibv_ah_attr *attr, struct link **link) {
    if (attr->is_global || attr->grh.dgid.global.subnet_prefix != htobe64(LINK_PREFIX)) {
        return ENOENT;
    }
    *link = link_find(be64toh(attr->grh.dgid.global.interface_id));
    return *link != NULL ? 0 : ECONNREFUSED;
}

void ah_make_grh(const struct ah *ah, uint32_t data_length, bool immediate, struct ibv_grh *grh) {
    const struct ibv_global_route *route = &ah->attr.grh;
    uint32_t length = TRANSPORT_BYTES + (immediate ? IMMEDIATE_BYTES : 0) + ((data_length + 3) & ~3u);
    grh->version_tclass_flow = htonl(GRH_VERSION << 28 | (uint32_t) route->traffic_class << 20
                                     | (route->flow_label & 0xfffff));
    grh->paylen = htons((uint16_t) length);
    grh->next_hdr = NEXT_HEADER_BTH;
    grh->hop_limit = route->hop_limit;
    embedded_ibv_query_gid(NULL, 1, 0, &grh->sgid);
    grh->dgid = route->dgid;
}
