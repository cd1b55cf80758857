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
 * Unreliable datagrams: the state that a UD queue pair has in addition to the common part (qp.h).
 *
 *   ud.c            the operations of the type (qp.h)
 *   ud_group.c      the multicast groups that a queue pair is attached to
 *   ud_send.c       work requests to datagrams, for one receiver or the members of a group
 *   ud_receive.c    datagrams to receives
 *   flow.c          the sender's end of flows; flow_table.c finds the flow to a receiver
 *   flow_message.c  messages of peers about flows
 *
 * A send is complete when it is staged, even if the datagram is lost later. A datagram for a stopped process waits for
 * a bounded time. After that, datagrams for the process are dropped at once until it continues.
 */
#ifndef NETTY_RDMA_EMBEDDED_UD_H
#define NETTY_RDMA_EMBEDDED_UD_H

#include "embedded/device/ah.h"
#include "embedded/device/qp.h"
#include "embedded/groups/mcast.h"
#include "flow.h"

#define UD_MTU 4096u /* MTU of the port */
#define UD_GRH_BYTES 40u
#define UD_MULTICAST_QPN 0xffffffu
#define UD_MAX_GROUPS 64u /* limit of one queue pair */

struct ud {
    struct qp qp;
    struct rx_flow *_Atomic announced; /* new entries of `queue`, added by any thread */

    /* Fields of the gate's owner. Changes of the incoming flows also need `control`, changes of groups `attaching`. */
    struct flow_table flows;
    struct rx_flow *rx_flows; /* incoming flows, the latest opened first */
    unsigned num_rx_flows;
    struct rx_flow *detached; /* incoming flows between detaching and releasing: qp_ops */
    STAILQ_HEAD(, rx_flow) queue; /* incoming flows that may have datagrams, to be served in turn */
    struct mcast_member *group[UD_MAX_GROUPS];
    unsigned num_groups;
    /*
     * Guards the groups. Its holder waits for answers, which the engine handles, and the engine may wait for `control`.
     */
    pthread_mutex_t attaching;

    /* Rest of the work request at the head, if it waits for a receiver. */
    bool pending;
    uint64_t since_ns; /* time of the first try */
    uint32_t next;     /* index of the next receiver */
    bool prepared;     /* the ways to all receivers are being opened */
    uint32_t qpn;      /* the receiver, if the request is not for a group */
    struct mcast_members members;
    struct datagram datagram;
    _Alignas(struct ibv_grh) uint8_t payload[UD_GRH_BYTES + UD_MTU];
};

/* ud.c */
void ud_init(void);

/* Returns whether the type of the queue pair is UD. */
static inline bool is_ud(const struct qp *qp) {
    return qp->ibv.qp_type == IBV_QPT_UD;
}

static inline struct ud *ud_of(const struct qp *qp) {
    return container_of(qp, struct ud, qp);
}

static inline bool ud_may_receive(enum ibv_qp_state state) {
    return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQE;
}

/* ud_group.c */
bool ud_is_attached(struct qp *qp); /* attached to any group */
bool ud_is_member(const struct ud *ud, const union ibv_gid *gid); /* called with the gate, or `attaching` */

/* ud_send.c */
int ud_fill_send(const struct qp *qp, const struct ibv_send_wr *wr, struct send_wqe *wqe);
void ud_release_send(struct send_wqe *wqe);
bool ud_send(struct qp *qp);
void ud_drop_sends(struct qp *qp); /* releases requests without completions */

/* ud_receive.c */
bool ud_receive(struct qp *qp);
/* Announces that the flow may have datagrams; QP_WORK_ALL must follow. Any thread. */
void ud_announce(struct ud *ud, struct rx_flow *rx_flow);
void ud_found(struct cq_place *place); /* does the same for a flow's place */
/* Removes the announcement of a flow that is ending. Called with the gate. */
void ud_forget(struct ud *ud, struct rx_flow *rx_flow);
void ud_drain(struct qp *qp, struct rx_flow *rx_flow); /* takes datagrams that have arrived on a flow that ends */

#endif
