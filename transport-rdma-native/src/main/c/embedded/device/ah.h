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
/* Address handles: where a datagram goes, apart from the queue pair number. */
#ifndef NETTY_RDMA_EMBEDDED_AH_H
#define NETTY_RDMA_EMBEDDED_AH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "embedded/link/link.h"
#include "pd.h"

struct ah {
    struct ibv_ah ibv;
    struct ibv_ah_attr attr;
    atomic_uint refs; /* references of the application, and of each work request under way */
};

static inline struct ah *ah_of(struct ibv_ah *ah) {
    return (struct ah *) ah;
}

struct ah *ah_get(struct ah *ah);
void ah_put(struct ah *ah);

static inline bool gid_is_multicast(const union ibv_gid *gid) {
    return gid->raw[0] == 0xff;
}

static inline bool ah_is_multicast(const struct ah *ah) {
    return ah->attr.is_global && gid_is_multicast(&ah->attr.grh.dgid);
}

/* Returns whether packets sent to this address arrive at the device's port at all; a multicast address may. */
bool ah_leads_here(const struct ibv_ah_attr *attr);

/*
 * Makes the address lead over a link: the queue pair number that goes with it belongs to the link's peer, whether it
 * has a name or not. NULL: over a link that is down. The address stores the link in its global route, which means
 * nothing else as long as it has none, so that a program that gives the address to ibv_modify_qp(3) need not know.
 */
void ah_set_link(struct ibv_ah_attr *attr, const struct link *link);

/*
 * Finds the link of an address, with a reference. Returns 0 or errno: ENOENT = the address has none, ECONNREFUSED = it
 * is down.
 */
int ah_find_link(const struct ibv_ah_attr *attr, struct link **link);

/*
 * Makes the global routing header of a packet with so many bytes of data, as it arrives: version, traffic class and
 * flow label, payload length, next header, hop limit, source, destination (IB specification 8.3).
 */
void ah_make_grh(const struct ah *ah, uint32_t data_length, bool immediate, struct ibv_grh *grh);

#endif
