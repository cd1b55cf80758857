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
 * The table of the members of multicast groups (mcast.h): memory that one process writes and all others read.
 */
#ifndef NETTY_RDMA_EMBEDDED_MCAST_TABLE_H
#define NETTY_RDMA_EMBEDDED_MCAST_TABLE_H

#include <stdatomic.h>

#include "mcast.h"

struct link;

/* Table in shared memory, read while it is written: the generation is odd meanwhile, and different afterwards. */
struct mcast_table {
    _Atomic uint64_t generation;
    _Atomic uint64_t count;
    struct {
        _Atomic uint64_t gid[2], qpn;
    } entry[MCAST_MAX_GROUPS];
};

/* Writer's side of the table. One thread at a time. */
struct mcast_registry {
    struct mcast_table *table; /* NULL: this process has none */
    int fd;
    const struct link *registrant[MCAST_MAX_GROUPS]; /* link that wants the entry, and is up; NULL: this process */
};

/* Makes the table. Returns 0 or errno. */
int mcast_registry_open(struct mcast_registry *registry);
void mcast_registry_close(struct mcast_registry *registry); /* called without members of this process */

/*
 * Adds a member. Returns 0, also if the registrant has added it already; or ENOMEM if the table or the group is full,
 * or has enough members of the registrant's process or user. Others may have added the same member: a removal takes
 * away only its registrant's.
 */
int mcast_registry_add(struct mcast_registry *registry, const struct link *registrant, const union ibv_gid *gid,
                    uint32_t qpn);
void mcast_registry_remove(struct mcast_registry *registry, const struct link *registrant, const union ibv_gid *gid,
                        uint32_t qpn);
void mcast_registry_remove_all(struct mcast_registry *registry, const struct link *registrant);

/*
 * Reads the members of members->gid. Another process writes the table, so its content is only compared and bounded.
 * Returns false if it changed meanwhile.
 */
bool mcast_table_read(const struct mcast_table *table, struct mcast_members *members);

#endif
