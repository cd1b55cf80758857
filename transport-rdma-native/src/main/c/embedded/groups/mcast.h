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
 * Subnet administrator's part in multicast (IB specification 15.2.5.17): the members of each group. A process of the
 * user has that role, the first that asked for it; when it dies another one takes over, and all others tell it their
 * members anew. The administrator alone writes the table of members, in shared memory, so senders see new members at
 * once.
 */
#ifndef NETTY_RDMA_EMBEDDED_MCAST_H
#define NETTY_RDMA_EMBEDDED_MCAST_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define MCAST_MAX_GROUPS 8192u /* limit of groups, and of members of all groups together */
#define MCAST_MAX_GROUP_MEMBERS 512u
#define MCAST_MAX_OF_PEER 2048u /* limit of memberships of one process, or of all of another user */
#define MCAST_MAX_OF_USER_IN_GROUP (MCAST_MAX_GROUP_MEMBERS / 2) /* another user must not take all */

/*
 * Members of a group as a sender remembers them, so that it reads the table only when that has changed. Begins as
 * zeros.
 */
struct mcast_members {
    union ibv_gid gid;
    uint64_t era;        /* number of the table among those that this process has seen */
    uint64_t generation; /* generation of the table */
    uint32_t count;
    uint32_t qpn[MCAST_MAX_GROUP_MEMBERS];
};

void mcast_init(void);

/*
 * A queue pair that is a member, or asks to be one. The owner sets the first three fields, and keeps the struct where
 * it is until mcast_leave() has returned. A queue pair may be a group's member several times, for several owners.
 */
struct mcast_member {
    union ibv_gid gid;
    uint32_t qpn;
    void (*done)(struct mcast_member *member, int error); /* NULL: none */

    /* Fields of mcast.c: */
    struct mcast_member *next; /* list of all members of this process */
    enum { MCAST_NO_MEMBER, MCAST_ASKING, MCAST_JOINED } state;
    bool told;            /* the present administrator was told */
    int error;            /* reason why it is no member */
    uint32_t cookie;      /* number of the request */
    uint64_t deadline_ns; /* time until which the administrator has to answer */
};

/*
 * Asks for a membership. Never blocks. Calls `done` once, with 0 or errno, when all senders know, at most two seconds
 * later, perhaps before the return; on any thread, under a lock, so it must not call functions of this file. ENOMEM:
 * the group or the table is full, or has enough members of this process or user. EACCES: another user holds the
 * administrator's name, or did within the last second. ETIMEDOUT: the administrator has not answered.
 */
void mcast_ask(struct mcast_member *member);

/* Asks, and waits for the result. Not called on the engine thread. `done` is NULL. */
int mcast_join(struct mcast_member *member);

/*
 * Ends a membership, or what is left of a request: from the return on `done` is not called. Never blocks: senders learn
 * of it later, so the queue pair has to refuse what they still send.
 */
void mcast_leave(struct mcast_member *member);

/* Gives the administrator's role back, or its link, if this process has no members. Called on the engine thread. */
void mcast_rest(void);

/*
 * Finds the members of a group. Never blocks. Returns false while the table is not known: try again. Where that has
 * lasted for a second without a break, whoever asked, and while another user holds the administrator's name, a group
 * has no members: otherwise each datagram would wait for a process that does not answer.
 */
bool mcast_find_members(const union ibv_gid *gid, struct mcast_members *members);

#endif
