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
 * Multicast groups of ids. An address becomes a group as in cma_set_mgid() of the kernel's cma.c, because some programs
 * compute the group too. The queue pair joins when the call is made, and the event is posted when it has joined. So no
 * thread waits for the administrator of groups, which may be stopped. As in librdmacm, the queue pair is attached when
 * the event is fetched, and an id that only sends is not attached. If the program makes its queue pair in between, the
 * fetching thread waits, as in ibv_attach_mcast().
 */
#include "cm.h"
#include "embedded/base/cancel.h"
#include "embedded/base/iwarp.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MULTICAST_QPN 0xffffff
#define FIRST_MULTICAST_LID 0xc000
#define MULTICAST_LIDS 0x3ffe

/* Group ff12:4001:ffff::224.1.2.3 or ff12:6001:ffff:...: scope link, signature of the RDMA CM, default partition. */
static void gid_of(const struct sockaddr *address, union ibv_gid *gid) {
    static const uint8_t prefix[] = { 0xff, 0x12, 0x40, 0x01, 0xff, 0xff };
    memset(gid, 0, sizeof(*gid));
    memcpy(gid->raw, prefix, sizeof(prefix));
    if (address->sa_family == AF_INET) {
        uint32_t bits = htonl(ntohl(((const struct sockaddr_in *) address)->sin_addr.s_addr) & 0x0fffffff);
        memcpy(gid->raw + 12, &bits, sizeof(bits));
        return;
    }
    const uint8_t *bytes = ((const struct sockaddr_in6 *) address)->sin6_addr.s6_addr;
    if (bytes[0] == 0xff && (bytes[1] & 0xf0) == 0x10 && bytes[2] == 0xa0 && bytes[3] == 0x1b) {
        memcpy(gid->raw, bytes, sizeof(gid->raw)); /* a group that the subnet administrator assigned */
        return;
    }
    gid->raw[2] = 0x60;
    memcpy(gid->raw + 6, bytes + 6, 10);
}

/* Chooses a new group, for which the wildcard asks. */
static int choose_gid(union ibv_gid *gid) {
    static const uint8_t prefix[] = { 0xff, 0x10, 0xa0, 0x1b };
    if (getrandom(gid->raw, sizeof(gid->raw), 0) != (ssize_t) sizeof(gid->raw)) {
        return errno;
    }
    memcpy(gid->raw, prefix, sizeof(prefix));
    return 0;
}

static uint16_t lid_of(const union ibv_gid *gid) {
    uint32_t hash = 0;
    for (size_t i = 0; i < sizeof(gid->raw); i++) {
        hash = hash * 31 + gid->raw[i];
    }
    return (uint16_t) (FIRST_MULTICAST_LID + hash % MULTICAST_LIDS);
}

/* Attaches the queue pair. Called on the thread that fetches the event. */
static void attach_qp(struct cm_event *event) {
    struct cm_multicast *multicast = event->multicast;
    struct ibv_qp *qp = multicast->send_only ? NULL : cm_use_qp(event->owner);
    if (qp != NULL) {
        int err = embedded_ibv_attach_mcast(qp, &multicast->member.gid, multicast->lid);
        cm_release_qp(event->owner, qp);
        multicast->attached = err == 0;
        if (err != 0) {
            event->event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
            event->event.status = -err;
        }
    }
    mcast_leave(&multicast->member); /* the member of the attached queue pair stays */
}

static void on_joined(struct mcast_member *member, int error) {
    struct cm_multicast *multicast = container_of(member, struct cm_multicast, member);
    pthread_mutex_lock(&cm_lock);
    struct cm_event *event = multicast->event;
    multicast->event = NULL;
    if (error != 0) {
        event->event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
        event->event.status = -error;
    }
    cm_post_event(event);
    pthread_mutex_unlock(&cm_lock);
}

/* Makes the present queue pair of the id join, if it is one of datagrams. Returns whether the event will come. */
static bool ask(struct cm_multicast *multicast) {
    struct ibv_qp *qp = multicast->send_only ? NULL : cm_use_qp(multicast->id);
    if (qp == NULL) {
        return false;
    }
    bool is_datagrams = qp->qp_type == IBV_QPT_UD;
    multicast->member.qpn = qp->qp_num;
    multicast->member.done = on_joined;
    cm_release_qp(multicast->id, qp);
    if (is_datagrams) {
        mcast_ask(&multicast->member);
    }
    return is_datagrams;
}

static struct cm_event *make_event(struct cm_id *id, struct cm_multicast *multicast) {
    struct cm_event *event = cm_new_event(id, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
    if (event != NULL) {
        event->multicast = multicast;
        event->process = attach_qp;
        struct rdma_ud_param *param = &event->event.param.ud;
        param->private_data = multicast->context; /* rdma_join_multicast(3) */
        param->qp_num = MULTICAST_QPN;
        param->qkey = RDMA_UDP_QKEY;
        param->ah_attr.dlid = multicast->lid;
        param->ah_attr.port_num = id->id.port_num;
        param->ah_attr.is_global = 1;
        param->ah_attr.grh.dgid = multicast->member.gid;
        param->ah_attr.grh.hop_limit = 1;
    }
    return event;
}

static int join(struct cm_id *id, const struct sockaddr *address, bool send_only, void *context) {
    UNCANCELLED;
    size_t size = cm_address_size(address);
    if (cm_is_inherited(id) || size == 0 || !cm_is_datagram(id)) {
        return cm_is_inherited(id) ? EIO : EINVAL;
    }
    if (iwarp_is_on()) {
        return ENOSYS; /* rdma_join_multicast() of the kernel's cma.c says ENOSYS */
    }
    struct cm_multicast *multicast = calloc(1, sizeof(*multicast));
    if (multicast == NULL) {
        return ENOMEM;
    }
    memcpy(&multicast->address, address, size);
    multicast->id = id;
    multicast->send_only = send_only;
    multicast->context = context;
    int err = 0;
    if (cm_address_is_any(address)) {
        err = choose_gid(&multicast->member.gid);
    } else {
        gid_of(address, &multicast->member.gid);
    }
    multicast->lid = lid_of(&multicast->member.gid);
    pthread_mutex_lock(&cm_lock);
    if (err == 0 && (id->id.verbs == NULL || (id->state != CM_ADDR_BOUND && id->state != CM_ADDR_RESOLVED))) {
        err = EINVAL;
    }
    struct cm_event *event = err == 0 ? make_event(id, multicast) : NULL;
    if (event != NULL) {
        multicast->next = id->multicasts;
        id->multicasts = multicast;
        multicast->event = event;
    } else {
        err = err != 0 ? err : ENOMEM;
    }
    pthread_mutex_unlock(&cm_lock);
    if (err != 0) {
        free(multicast);
    } else if (!ask(multicast)) {
        on_joined(&multicast->member, 0);
    }
    return err;
}

int embedded_rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *address, void *context) {
    int err = join(cm_of(id), address, false, context);
    return err != 0 ? cm_result(err) : cm_complete(cm_of(id));
}

int embedded_rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr, void *context) {
    uint32_t needed = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
    if (attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED) {
        return cm_result(ENOTSUP);
    }
    if ((attr->comp_mask & needed) != needed || attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) {
        return cm_result(EINVAL);
    }
    int err = join(cm_of(id), attr->addr, attr->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, context);
    return err != 0 ? cm_result(err) : cm_complete(cm_of(id));
}

int embedded_rdma_leave_multicast(struct rdma_cm_id *public_id, struct sockaddr *address) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    size_t size = cm_address_size(address);
    if (cm_is_inherited(id) || size == 0) {
        return cm_result(cm_is_inherited(id) ? EIO : EINVAL);
    }
    pthread_mutex_lock(&cm_lock);
    struct cm_multicast **link = &id->multicasts;
    while (*link != NULL && memcmp(&(*link)->address, address, size) != 0) {
        link = &(*link)->next;
    }
    struct cm_multicast *multicast = *link;
    if (multicast != NULL) {
        *link = multicast->next;
    }
    pthread_mutex_unlock(&cm_lock);
    if (multicast == NULL) {
        return cm_result(EADDRNOTAVAIL);
    }
    cm_end_joining(multicast);
    struct ibv_qp *qp = multicast->attached ? cm_use_qp(id) : NULL;
    int err = qp == NULL ? 0 : embedded_ibv_detach_mcast(qp, &multicast->member.gid, multicast->lid);
    cm_release_qp(id, qp);
    if (id->sync && id->id.event != NULL
            && container_of(id->id.event, struct cm_event, event)->multicast == multicast) {
        embedded_rdma_ack_cm_event(id->id.event); /* the program cannot acknowledge it */
        id->id.event = NULL;
    }
    pthread_mutex_lock(&cm_lock);
    while (multicast->acked != multicast->fetched) {
        pthread_cond_wait(&id->released, &cm_lock);
    }
    pthread_mutex_unlock(&cm_lock);
    free(multicast);
    return cm_result(err);
}
