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

/* Returns whether the address leads to the port of this device. A multicast address does not. */
bool ah_leads_here(const struct ibv_ah_attr *attr);

/*
 * Makes the address lead over a link: a queue pair number used with it is a number of the link's peer, even if the
 * number has no name. NULL: over a link that is down. The link is stored in `grh.dgid`, which has no other meaning
 * while `is_global` is 0. So a program passes the link to ibv_modify_qp(3) with the address, without knowing of it.
 */
void ah_set_link(struct ibv_ah_attr *attr, const struct link *link);

/*
 * Finds the link of an address, and adds a reference to it. Returns 0, ENOENT if the address has no link, or
 * ECONNREFUSED if the link is down.
 */
int ah_find_link(const struct ibv_ah_attr *attr, struct link **link);

/*
 * Makes the global routing header of a packet with so many bytes of data, as it arrives: version, traffic class and
 * flow label, payload length, next header, hop limit, source, destination (IB specification 8.3).
 */
void ah_make_grh(const struct ah *ah, uint32_t data_length, bool immediate, struct ibv_grh *grh);

#endif
