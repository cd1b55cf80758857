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
 * Flows: one way from a UD queue pair to another one, made when the first datagram is to go there. The sender owns a
 * segment (arena.h) of which it uses the request stream; the receiver owns one for the word that acknowledges.
 *
 *   sender                                receiver
 *   WIRE_FLOW_OPEN    segment          ->
 *                                      <- WIRE_FLOW_ACCEPT   segment; the completion queue to signal
 *   WIRE_FLOW_SLOT    the tick to see  ->
 *                                      <- WIRE_FLOW_ROOM     a full ring has room again, if the sender wanted to know
 *   WIRE_FLOW_CLOSE                    -> or
 *                                      <- WIRE_FLOW_REFUSE   no such queue pair, or no longer
 *
 * Work requests go out in order, so waiting for one receiver delays all others. The delay is bounded: the sender does
 * not wait again for a process that did not answer in time until it has answered; datagrams for it are lost meanwhile.
 *
 * The sender knows whom it talks to, as it reached the process by the name that the number is bound to; the receiver
 * takes datagrams from everybody, as from a network.
 */
#ifndef NETTY_RDMA_EMBEDDED_FLOW_H
#define NETTY_RDMA_EMBEDDED_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "embedded/device/cq.h"
#include "embedded/link/peer.h"
#include "embedded/link/stream.h"
#include "flow_table.h"

struct qp;

struct datagram {
    uint8_t op;     /* WIRE_SEND or WIRE_SEND_IMM */
    uint8_t flags;  /* WIRE_... */
    uint8_t sl;
    uint32_t qkey, imm;
    uint32_t total;  /* bytes of data */
    uint32_t length; /* bytes of the payload: the data, after a GRH if the flags say so */
};

enum flow_result {
    FLOW_SENT,
    FLOW_WAIT, /* try again when the queue pair is kicked, or in a millisecond or two */
    FLOW_LOST, /* lost as on a wire: no receiver, or one that does not take it */
};

enum flow_state { FLOW_UNREACHED, FLOW_OPENING, FLOW_OPEN, FLOW_REFUSED };

/* Sender's end; all fields belong to the gate's owner. */
struct flow {
    struct flow *next; /* list of flow_table.c */
    uint64_t used;
    uint32_t qpn; /* number of the receiver */
    uint32_t id;  /* unique in this process, never reused */
    enum flow_state state;
    uint64_t since_ns; /* time of creation; for an open flow, when it was first found full, 0 if it is not */
    uint32_t full_at;  /* position in the stream at that time */
    struct peer *peer; /* NULL before the receiver is reached; set together with the segment */
    struct peer_use use;
    struct arena *arena;
    struct wire_segment *segment;
    struct wire_control *own; /* control words of the segment */
    struct view *view; /* mapping of the receiver's arena, while `receiver` is not NULL */
    struct wire_place place;
    const struct wire_control *receiver; /* control words of the receiver, for its acknowledgements */
    struct producer out;
    struct announcement to_recv_cq;
};

/* Receiver's end; all fields belong to the gate's owner, `place` and the list to `control` as well. */
struct rx_flow {
    struct rx_flow *next;
    atomic_bool announced; /* flow is among those that ud_receive() is to look at */
    struct rx_flow *next_announced; /* list of ud.announced, first */
    STAILQ_ENTRY(rx_flow) queued;   /* list of ud.queue, then */
    struct peer *peer;
    struct peer_use use;
    uint32_t src_qpn, id;
    bool broken; /* the sender has violated the protocol: its link is about to go down */
    struct view *view; /* mapping of the sender's arena */
    struct wire_place place_of_sender; /* place of the segment there */
    const struct wire_control *sender;
    struct arena *arena;
    struct wire_segment *own_segment;
    struct wire_control *own; /* control words of the segment */
    struct consumer requests;
    struct cq_place place; /* place where the sender announces datagrams; no process before WIRE_FLOW_SLOT */
};

/* flow.c: called by the owner of the gate */
enum flow_result flow_send(struct qp *qp, uint32_t qpn, const struct datagram *datagram, const uint8_t *payload);
/* Begins to open the flow, unless that was done. Called before flow_send() to one of many. */
void flow_prepare(struct qp *qp, uint32_t qpn);
void flow_close(struct qp *qp, struct flow *flow); /* tells the receiver */
void flow_free(struct qp *qp, struct flow *flow);
/* Time that a datagram waits for a receiver that has stopped to take any. Written by tests only. */
extern _Atomic uint64_t flow_room_patience_ns;

/* Returns the flow that the receiver's message names, or NULL. */
struct flow *flow_find(const struct qp *qp, const struct link *link, const struct wire_flow *message);
/* Returns whether senders have given up waiting for the receiver's answer. */
bool flow_is_overdue(const struct flow *flow);
/* Tells the sender how far its datagrams were read, and wakes it if it asked for that. */
void flow_acknowledge(struct qp *qp, struct rx_flow *rx_flow);

/* flow_message.c */
void flow_init(void);
void flow_link_lost(struct qp *qp, const struct link *link); /* ends the flows on it; called without locks */
void flow_refuse(struct qp *qp, struct rx_flow *rx_flow); /* tells the sender */
/* Removes all flows from the completion queues' scans. Called with control, without the gate. */
void flow_leave_cqs(struct qp *qp);
/* Frees a chain of incoming flows that are on no list any more, and that polls do not come to. */
void flow_free_incoming(struct rx_flow *rx_flows);

#endif
