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
/* Multicast groups that a UD queue pair is attached to: see ud.h. */
#include "ud.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/base/cancel.h"

static unsigned find_group(const struct ud *ud, const union ibv_gid *gid) {
    unsigned i = 0;
    while (i < ud->num_groups && memcmp(&ud->group[i]->gid, gid, sizeof(*gid)) != 0) {
        i++;
    }
    return i;
}

bool ud_is_attached(struct qp *qp) {
    struct ud *ud = ud_of(qp);
    pthread_mutex_lock(&ud->attaching);
    bool attached = ud->num_groups > 0;
    pthread_mutex_unlock(&ud->attaching);
    return attached;
}

bool ud_is_member(const struct ud *ud, const union ibv_gid *gid) {
    return find_group(ud, gid) < ud->num_groups;
}

/* Returns whether a group is valid, as is_valid_mcast_lid() and ib_attach_mcast() of the kernel's verbs.c say. */
static bool is_valid(const struct qp *qp, const union ibv_gid *gid, uint16_t lid) {
    return is_ud(qp) && gid_is_multicast(gid) && lid >= 0xc000 && lid != 0xffff;
}

static void add_group(struct ud *ud, struct mcast_member *member) {
    qp_lock(&ud->qp);
    ud->group[ud->num_groups++] = member;
    qp_unlock(&ud->qp);
}

static void remove_group(struct ud *ud, unsigned i) {
    struct mcast_member *member = ud->group[i];
    mcast_leave(member);
    qp_lock(&ud->qp);
    ud->group[i] = ud->group[--ud->num_groups];
    qp_unlock(&ud->qp);
    free(member);
}

/* Called with ud->attaching held. */
static int attach(struct ud *ud, const union ibv_gid *gid) {
    if (ud->num_groups == UD_MAX_GROUPS) {
        return ENOMEM;
    }
    if (ud_is_member(ud, gid)) {
        return 0;
    }
    struct mcast_member *member = calloc(1, sizeof(*member));
    if (member == NULL) {
        return ENOMEM;
    }
    member->gid = *gid;
    member->qpn = ud->qp.ibv.qp_num;
    add_group(ud, member); /* first: senders may know of it before this process hears so */
    int error = mcast_join(member);
    if (error != 0) {
        remove_group(ud, ud->num_groups - 1);
    }
    return error;
}

/* Called with ud->attaching held. */
static int detach(struct ud *ud, const union ibv_gid *gid) {
    unsigned i = find_group(ud, gid);
    if (i == ud->num_groups) {
        return EINVAL;
    }
    remove_group(ud, i);
    return 0;
}

static int change(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid,
                  int (*membership)(struct ud *ud, const union ibv_gid *gid)) {
    struct qp *qp = qp_of(ibv);
    if (context_is_inherited(ibv->context)) {
        return EIO;
    }
    if (!is_valid(qp, gid, lid)) {
        return EINVAL;
    }
    struct ud *ud = ud_of(qp);
    pthread_mutex_lock(&ud->attaching);
    int error = membership(ud, gid);
    pthread_mutex_unlock(&ud->attaching);
    return error;
}

int embedded_ibv_attach_mcast(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid) {
    UNCANCELLED;
    return change(ibv, gid, lid, attach);
}

int embedded_ibv_detach_mcast(struct ibv_qp *ibv, const union ibv_gid *gid, uint16_t lid) {
    UNCANCELLED;
    return change(ibv, gid, lid, detach);
}
