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
/* Table of the members of multicast groups: see mcast_table.h. */
#include "mcast_table.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "embedded/base/sealed.h"
#include "embedded/link/link.h"

#define MAX_ENTRIES MCAST_MAX_GROUPS
#define MAX_QPN 0xffffffu

static void load_gid(const struct mcast_table *table, unsigned i, union ibv_gid *gid) {
    uint64_t halves[2] = { atomic_load(&table->entry[i].gid[0]), atomic_load(&table->entry[i].gid[1]) };
    memcpy(gid, halves, sizeof(*gid));
}

static bool is_of(const struct mcast_table *table, unsigned i, const union ibv_gid *gid) {
    union ibv_gid other;
    load_gid(table, i, &other);
    return memcmp(&other, gid, sizeof(other)) == 0;
}

/* ---- the writer ---- */

int mcast_registry_open(struct mcast_registry *registry) {
    void *memory;
    registry->fd = sealed_create("rdma-mcast", sizeof(*registry->table), &memory);
    if (registry->fd < 0) {
        return errno;
    }
    registry->table = memory;
    return 0;
}

void mcast_registry_close(struct mcast_registry *registry) {
    munmap(registry->table, sizeof(*registry->table));
    close(registry->fd);
    registry->table = NULL;
    registry->fd = -1;
}

static void begin_change(struct mcast_table *table) {
    atomic_fetch_add(&table->generation, 1);
}

static void end_change(struct mcast_table *table) {
    atomic_fetch_add(&table->generation, 1);
}

static unsigned count_of(const struct mcast_registry *registry) {
    return (unsigned) atomic_load(&registry->table->count);
}

static unsigned find_entry(const struct mcast_registry *registry, const struct link *registrant,
                           const union ibv_gid *gid, uint32_t qpn) {
    unsigned i = 0, count = count_of(registry);
    while (i < count
           && (registry->registrant[i] != registrant || atomic_load(&registry->table->entry[i].qpn) != qpn
               || !is_of(registry->table, i, gid))) {
        i++;
    }
    return i;
}

/* Returns whether two links have common limits: a process may have several links. */
static bool share_limits(const struct link *a, const struct link *b) {
    return a == b || (a != NULL && b != NULL && link_peers_share_limits(link_peer(a), link_peer(b)));
}

static bool is_full(const struct mcast_registry *registry, const struct link *registrant, const union ibv_gid *gid) {
    unsigned count = count_of(registry), of_peer = 0, of_group = 0, of_peer_in_group = 0;
    for (unsigned i = 0; i < count; i++) {
        bool is_peer = share_limits(registry->registrant[i], registrant), is_group = is_of(registry->table, i, gid);
        of_peer += is_peer;
        of_group += is_group;
        of_peer_in_group += is_peer && is_group;
    }
    bool may_be_many = registrant != NULL && !link_peer(registrant)->may_signal;
    return count == MAX_ENTRIES || of_peer >= MCAST_MAX_OF_PEER || of_group == MCAST_MAX_GROUP_MEMBERS
            || (may_be_many && of_peer_in_group >= MCAST_MAX_OF_USER_IN_GROUP);
}

int mcast_registry_add(struct mcast_registry *registry, const struct link *registrant, const union ibv_gid *gid,
                    uint32_t qpn) {
    struct mcast_table *table = registry->table;
    unsigned i = find_entry(registry, registrant, gid, qpn);
    if (i < count_of(registry)) {
        return 0; /* a member is announced twice around a change of the administrator */
    }
    if (is_full(registry, registrant, gid)) {
        return ENOMEM;
    }
    uint64_t halves[2];
    memcpy(halves, gid, sizeof(halves));
    begin_change(table);
    registry->registrant[i] = registrant;
    atomic_store(&table->entry[i].gid[0], halves[0]);
    atomic_store(&table->entry[i].gid[1], halves[1]);
    atomic_store(&table->entry[i].qpn, qpn);
    atomic_store(&table->count, i + 1);
    end_change(table);
    return 0;
}

static void remove_entry(struct mcast_registry *registry, unsigned i) {
    struct mcast_table *table = registry->table;
    unsigned last = count_of(registry) - 1;
    begin_change(table);
    registry->registrant[i] = registry->registrant[last];
    atomic_store(&table->entry[i].gid[0], atomic_load(&table->entry[last].gid[0]));
    atomic_store(&table->entry[i].gid[1], atomic_load(&table->entry[last].gid[1]));
    atomic_store(&table->entry[i].qpn, atomic_load(&table->entry[last].qpn));
    atomic_store(&table->count, last);
    end_change(table);
}

void mcast_registry_remove(struct mcast_registry *registry, const struct link *registrant, const union ibv_gid *gid,
                        uint32_t qpn) {
    unsigned i = find_entry(registry, registrant, gid, qpn);
    if (i < count_of(registry)) {
        remove_entry(registry, i);
    }
}

void mcast_registry_remove_all(struct mcast_registry *registry, const struct link *registrant) {
    for (unsigned i = count_of(registry); i-- > 0;) {
        if (registry->registrant[i] == registrant) {
            remove_entry(registry, i);
        }
    }
}

/* ---- readers ---- */

/* Adds a member once: a datagram must not arrive twice. */
static void add_once(struct mcast_members *members, uint32_t qpn) {
    for (uint32_t i = 0; i < members->count; i++) {
        if (members->qpn[i] == qpn) {
            return;
        }
    }
    members->qpn[members->count++] = qpn;
}

bool mcast_table_read(const struct mcast_table *table, struct mcast_members *members) {
    uint64_t generation = atomic_load(&table->generation);
    uint64_t count = atomic_load(&table->count);
    members->count = 0;
    for (unsigned i = 0; i < count && i < MAX_ENTRIES && members->count < MCAST_MAX_GROUP_MEMBERS; i++) {
        if (is_of(table, i, &members->gid)) {
            add_once(members, (uint32_t) (atomic_load(&table->entry[i].qpn) & MAX_QPN));
        }
    }
    members->generation = generation;
    return generation % 2 == 0 && atomic_load(&table->generation) == generation;
}
