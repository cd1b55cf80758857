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
 * Work requests go out in order, so waiting for one receiver delays all others. That is bounded: the sender does not
 * wait again for a process that did not answer in time until it has answered; datagrams for it are lost meanwhile.
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
    uint32_t length; /* of the payload: these, after a GRH if the flags say so */
};

enum flow_result {
    FLOW_SENT,
    FLOW_WAIT, /* try again when the queue pair is kicked, or in a millisecond or two */
    FLOW_LOST, /* as on a wire: no receiver, or one that does not take it */
};

enum flow_state { FLOW_UNREACHED, FLOW_OPENING, FLOW_OPEN, FLOW_REFUSED };

/* All of the gate's owner. */
struct flow {
    struct flow *next; /* flow_table.c */
    uint64_t used;
    uint32_t qpn; /* where it leads */
    uint32_t id;  /* in this process, never reused */
    enum flow_state state;
    uint64_t since_ns; /* when it was made; when an open one was first found full, 0 if it is not */
    uint32_t full_at;  /* the position in the stream then */
    struct peer *peer; /* NULL before it is reached; with it the segment */
    struct arena *arena;
    struct wire_segment *segment;
    struct wire_control *own; /* of that */
    struct view *view; /* of the receiver's arena, while `receiver` is not NULL */
    struct wire_place place;
    const struct wire_control *receiver; /* its acknowledgements */
    struct producer out;
    struct announcement to_recv_cq;
};

/* The receiver's end. `place` and the list belong to `control` as well. */
struct rx_flow {
    struct rx_flow *next;
    atomic_bool announced; /* it is among those that ud_receive() is to look at */
    struct rx_flow *next_announced; /* in ud.announced, and then */
    STAILQ_ENTRY(rx_flow) queued;   /* in ud.queue */
    struct peer *peer;
    uint32_t src_qpn, id;
    bool broken; /* the sender has violated the protocol: its link is about to go down */
    struct view *view; /* of the sender's arena */
    struct wire_place place_of_sender; /* there */
    const struct wire_control *sender;
    struct arena *arena;
    struct wire_segment *own_segment;
    struct wire_control *own; /* of that */
    struct consumer requests;
    struct cq_place place; /* where the sender announces it; no process before WIRE_FLOW_SLOT */
};

/* flow.c: by the owner of the gate */
enum flow_result flow_send(struct qp *qp, uint32_t qpn, const struct datagram *datagram, const uint8_t *payload);
/* Begins to open the flow, unless that was done: before flow_send() to one of many. */
void flow_prepare(struct qp *qp, uint32_t qpn);
void flow_close(struct qp *qp, struct flow *flow); /* tells the receiver */
void flow_free(struct qp *qp, struct flow *flow);
/* How long a datagram waits for a receiver that has stopped to take any. Written by tests only. */
extern _Atomic uint64_t flow_room_patience_ns;

/* The flow that the receiver's message names, or NULL. */
struct flow *flow_find(const struct qp *qp, const struct link *link, const struct wire_flow *message);
/* Whether senders have given up waiting for its answer. */
bool flow_is_overdue(const struct flow *flow);
/* Tells the sender how far it was read, and wakes it if it asked for that. */
void flow_acknowledge(struct qp *qp, struct rx_flow *rx_flow);

/* flow_message.c */
void flow_init(void);
void flow_refuse(struct qp *qp, struct rx_flow *rx_flow); /* tells the sender */
/* Removes all of them from the completion queues' scans: with control, without the gate. */
void flow_leave_cqs(struct qp *qp);
/* Frees a chain of those that are on no list any more, and that polls do not come to. */
void flow_free_incoming(struct rx_flow *rx_flows);

#endif
