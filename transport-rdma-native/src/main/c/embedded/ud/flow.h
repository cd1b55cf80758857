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
 * Flows: one direction from a UD queue pair to another one, made for the first datagram to it. The sender owns a
 * segment (arena.h) and uses its request stream. The receiver owns a segment for the word that acknowledges.
 *
 *   sender                                receiver
 *   WIRE_FLOW_OPEN    segment          ->
 *                                      <- WIRE_FLOW_ACCEPT   segment; the completion queue to signal
 *   WIRE_FLOW_SLOT    its tick         ->
 *                                      <- WIRE_FLOW_ROOM     a full ring has room again, if the sender asked for this
 *   WIRE_FLOW_CLOSE                    -> or
 *                                      <- WIRE_FLOW_REFUSE   the queue pair does not exist, or has ended
 *
 * Work requests go out in order, so waiting for one receiver delays datagrams for all others. The delay is bounded: if
 * a process does not answer in time, the sender does not wait for it again until it has answered. Datagrams for it are
 * lost meanwhile.
 *
 * The sender knows the receiver's process, because it reached the process by the name of the queue pair's number. The
 * receiver takes datagrams from all processes, as from a network.
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
    FLOW_LOST, /* lost, as on a wire: there is no receiver, or the receiver does not take it */
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

/* Receiver's end; all fields belong to the gate's owner. Changes of `place` and the list also need `control`. */
struct rx_flow {
    struct rx_flow *next;
    atomic_bool announced; /* the flow is in ud.announced or ud.queue, for ud_receive() */
    struct rx_flow *next_announced; /* list of ud.announced, where the flow is first */
    STAILQ_ENTRY(rx_flow) queued;   /* list of ud.queue, where it is after that */
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
/* Begins to open the flow if there is none. Called for all of several receivers before flow_send() to the first one. */
void flow_prepare(struct qp *qp, uint32_t qpn);
void flow_close(struct qp *qp, struct flow *flow); /* tells the receiver */
void flow_free(struct qp *qp, struct flow *flow);
/* Time for which a datagram waits for a receiver that takes none. Written by tests only. */
extern _Atomic uint64_t flow_room_patience_ns;

/* Returns the flow that the receiver's message names, or NULL. */
struct flow *flow_find(const struct qp *qp, const struct link *link, const struct wire_flow *message);
/* Returns whether the time to wait for the receiver's answer is over. */
bool flow_is_overdue(const struct flow *flow);
/* Tells the sender how many of its datagrams were read, and wakes it if it has asked for that. */
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
