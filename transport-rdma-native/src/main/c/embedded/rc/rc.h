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
 * Connections: the state that RC, UC and XRC queue pairs have in addition to the common part (qp.h), and the operations
 * of RC. The operations of UC and XRC are in programs/. The owner of the queue pair's gate calls all functions, unless
 * a comment says otherwise.
 *
 * Each file uses only files below it:
 *
 *   rc.c           the operations of RC queue pairs
 *   rc_attach.c    attaching to the peer's queue pair
 *   rc_progress.c  the owner's work, timers, and a peer that does not receive
 *   rc_receive.c   execution of the peer's requests
 *   rc_send.c      work requests to descriptors, and their completion
 *   rc_answers.c   READs and atomics: answers to the peer, and its answers
 *   rc_device.c    memory of another device: WRITEs and READs of it, and references to it
 *   rc_peer.c      acknowledgements, checks that the peer takes its work, violations of the protocol
 */
#ifndef NETTY_RDMA_EMBEDDED_RC_H
#define NETTY_RDMA_EMBEDDED_RC_H

#include "embedded/device/qp.h"

/* Value of `srqn` that no request has: requests have 32 bits. */
#define RC_NO_SRQN UINT64_MAX

/* Peer's end, as its introduction described it. The introduction may come before this end is ready for it. */
struct attachment {
    struct attachment *next;
    struct peer *peer;
    struct peer_use use;
    struct view *view;
    struct wire_place place;
    const struct wire_segment *segment;
    const struct wire_control *control;
    uint32_t src_qpn;
    uint32_t recv_cq, send_cq, recv_cq_id, send_cq_id;
    int recv_doorbell, send_doorbell;
    bool doorbells_counted; /* doorbells of a held attachment are charged to the peer */
};

/* Request of the peer that is being executed. */
struct inbound {
    bool active;
    uint8_t op;
    uint32_t total, offset, rkey;
    uint64_t remote_address;
    struct sge_cursor cursor;
    bool inlined; /* the message goes to the completion */
    bool dropped; /* the rest of the message is skipped */
};

/* Connection: an RC queue pair, and the beginning of UC and XRC queue pairs. */
struct rc {
    struct qp qp;

    /* Fields of the gate's owner, unless said otherwise. */
    uint32_t reading; /* first READ or atomic not yet answered, or later */
    uint32_t unanswered;
    uint32_t taken_bytes;   /* bytes of responses that this call has taken */
    enum wake request_wake; /* urgency of the news that the peer must get before the owner leaves the gate */
    bool faulted; /* a work request failed here; nothing is staged after it */
    bool peer_gone; /* the peer's process died: sends fail; posted receives stay, as a device would not notice either */
    bool answered; /* the peer has answered the introduction; else it is sent again */
    bool gave_room; /* acknowledged a full stream after `room_after`, so that the peer can send more */
    bool nudged;    /* the peer was nudged since stuck_since_ns */
    bool wished; /* the wishes of this end were sent to the peer */
    bool wishes_no_more;
    _Atomic uint8_t wishes; /* WIRE_WISH_...: the peer's wishes for `out` and `answers`. Written by the engine. */
    uint32_t one_sided_end; /* the stream's position after the last request that is not a message */
    struct producer out, answers; /* our requests, our responses */
    struct wire_segment *segment; /* own segment, in an arena of the route's link, as long as there is a route */
    struct wire_control *own;     /* control words of the segment */
    struct attachment *attached;
    struct announcement to_recv_cq, to_send_cq; /* completion queues of the peer */
    struct inbound inbound;
    uint32_t lagging;        /* number of executed descriptors whose copy is still running: 0 or 1 */
    struct peer_copy lags;   /* the copy of this descriptor */
    struct wire_reference reference; /* payload of the descriptor that is being executed, if it is a reference */
    uint64_t srqn; /* number of `srq` with `named_receives`, or RC_NO_SRQN; else 0 */
    uint64_t sleeper; /* process_sleeper() at the latest acknowledgement; guarded by the gate */

    /* Timers, advanced by QP_WORK_WATCH. */
    uint64_t rnr_since_ns, stalled_since_ns;
    uint32_t rnr_at; /* the descriptor that the peer does not take, while rnr_since_ns is not 0 */
    uint32_t watched_progress;

    /* Checks that the peer takes its work. */
    uint32_t room_after;
    uint32_t expected_progress; /* progress of the peer at the latest look */
    uint64_t stuck_since_ns;    /* time since which there is no progress and no poll; 0: not known */
    uint32_t stuck_recv_polls, stuck_send_polls; /* polls of the peer's completion queues at that time */
    uint32_t nudges;            /* number of nudges so far */
    uint32_t awaited_after;     /* progress of the peer at the latest call of rc_peer_is() */
    uint32_t looks;             /* number of calls of rc_peer_is() since the peer has made progress */

    /* Attaching: rc_attach.c. */
    struct arena *arena;
    struct peer *route; /* link that leads to the peer's number, from RTR on; guarded by `control` */
    struct peer_use route_use;
    uint64_t introduce_gap_ns;
    struct attachment *held;
    struct cq_place recv_cq_place, send_cq_place; /* places where the peer announces work */
};

static inline struct rc *rc_of(const struct qp *qp) {
    return container_of(qp, struct rc, qp);
}

/* rc.c */
void rc_init(void);

/* Entries of the function table that are the same for all types that send like RC queue pairs. */
#define RC_OPS                                                                                          \
    .settle = rc_settle, .failed = rc_failed, .introduce = rc_introduce,                                \
    .introduce_again = rc_introduce_again, .modified = rc_modified, .set_direct = rc_set_direct,        \
    .peer_is = rc_peer_is, .link_lost = rc_link_lost, .leave_cqs = rc_leave_cqs, .release = rc_release

/* rc_attach.c */
void rc_attach_init(void);
/* All called with `control` held. */
void rc_prepare(struct qp *qp); /* called on entering RTR, with the gate */
int rc_introduce(struct qp *qp);  /* introduces this end to the peer, and uses the peer's introduction; 0 or errno */
void rc_introduce_again(struct qp *qp);
void rc_detach(struct qp *qp);  /* goes back to the state before rc_prepare(); called with the gate */
void rc_release(struct qp *qp, bool destroyed); /* drops held introductions, when the queue pair is destroyed */
void rc_link_lost(struct qp *qp, const struct link *link); /* without `control` */
void rc_leave_cqs(struct qp *qp); /* removes it from polls; called before rc_detach(), without the gate */

/* rc_progress.c */
bool rc_run(struct qp *qp, unsigned work);
void rc_settle(struct qp *qp);
void rc_failed(struct qp *qp);
void rc_modified(struct qp *qp);

/* rc_send.c */
int rc_fill_send(const struct qp *qp, const struct ibv_send_wr *wr, struct send_wqe *wqe);
bool rc_stage(struct qp *qp, uint32_t budget); /* returns true if some work was left over */
void rc_complete_sends(struct qp *qp);
/* Completes the oldest work request with the status and flushes the others. */
void rc_fail_send(struct qp *qp, enum ibv_wc_status status);
/* Executes a request that the peer does not see: BIND_MW, LOCAL_INV. Returns false if it fails. */
bool rc_carry_out(struct qp *qp, struct send_wqe *wqe);
/* Takes the peer's acknowledgements and responses, and makes their completions. Returns true if some are left. */
bool rc_take_results(struct qp *qp);

/* rc_receive.c */
bool rc_execute(struct qp *qp); /* returns true if some work was left over */

/* rc_answers.c */
enum outcome {
    OUTCOME_DONE,
    OUTCOME_UNFINISHED, /* the budget is used up, and a part of the request is left */
    OUTCOME_BLOCKED,
    OUTCOME_INVALID,
    OUTCOME_ACCESS_ERROR,
    OUTCOME_SOURCE_GONE,     /* memory that the peer had lent is gone */
    OUTCOME_OPERATION_ERROR, /* the receive was completed with the reason */
    OUTCOME_DEVICE,          /* internal to rc_answers.c */
    OUTCOME_MEMORY_GONE,     /* the key covers the range, but the memory is gone: copy.h */
};
/* Answers a READ or atomic. Takes the bytes of the answer from the budget. */
enum outcome rc_respond(struct qp *qp, const struct wire_desc *desc, uint32_t *budget);
bool rc_is_reading(struct qp *qp); /* whether a part of an answer has come */
bool rc_take_responses(struct qp *qp); /* returns true if some are left */
bool rc_take_answer_acks(struct qp *qp); /* returns true if there was anything new */

/*
 * rc_device.c: copy a piece of the peer's WRITE to memory of another device, and find a piece for its READ there.
 * Called within an epoch section, after the key was not found among regions of host memory and windows.
 */
enum outcome rc_write_device(struct qp *qp, const uint8_t *payload, uint32_t length);
enum outcome rc_find_device(struct qp *qp, uint32_t length, struct peer_range *range);

/*
 * Ends the copy that rc_write_device() has left running. Copies of the pieces of a long WRITE overlap: the latest one
 * is still running when rc_write_device() returns, and its piece is not acknowledged before this call. Returns false if
 * the memory is gone.
 */
bool rc_end_lagging(struct qp *qp);

/* Pieces of a device's memory that are copied to a slab at a time, and published one after the other. */
struct rc_pieces {
    uint32_t count, size, offset; /* number of pieces, and their bytes and place in the slab together */
    struct peer_copy copies[WIRE_DEVICE_PIECES];
};
/*
 * Claims room for a range, or for its first part, and begins to copy. OUTCOME_BLOCKED: there is no room.
 * OUTCOME_MEMORY_GONE: no copy is running.
 */
enum outcome rc_begin_pieces(struct producer *to, const struct peer_range *from, uint32_t length,
                             struct rc_pieces *pieces);
static inline uint32_t rc_piece_size(const struct rc_pieces *pieces, uint32_t index) {
    uint32_t left = pieces->size - index * WIRE_DEVICE_CHUNK;
    return left < WIRE_DEVICE_CHUNK ? left : WIRE_DEVICE_CHUNK;
}
/* Waits for a piece, which is published next. Returns false if a copy failed, after waiting for all other pieces. */
bool rc_end_piece(struct producer *to, const struct rc_pieces *pieces, uint32_t index);

/*
 * References to memory that one end has lent to the other (lending.h), instead of payload. A WRITE, message or answer
 * is then copied once, from device to device.
 *
 * The following two find the next piece of a request, or of the answer that is being given, and refer to it. They
 * return false if its bytes have to go by host memory. *length becomes the size of the piece.
 */
bool rc_refer_request(struct qp *qp, struct send_wqe *wqe, void *reference, uint32_t *length);
bool rc_refer_answer(struct qp *qp, void *reference, uint32_t *length);
/* Takes a descriptor without payload in the peer's memory. Returns false if it is not a reference. */
bool rc_take_reference(struct qp *qp, const struct consumer *from, const struct wire_desc *desc,
                       const uint8_t **payload);
/* Copy the memory of the latest reference to its target. */
enum outcome rc_place_reference(struct qp *qp, uint32_t length);
int rc_place_referred_answer(struct qp *qp, struct send_wqe *wqe, uint32_t length); /* like sge_scatter_lent() */
/* Tells the peer once that the targets of its bytes are memory of a device. */
void rc_wish(struct qp *qp);

/* rc_peer.c */
/* Acknowledges the consumed part of the peer's stream, and wakes the peer if it asked for that or `wake` says so. */
void rc_acknowledge(struct qp *qp, enum wire_stream stream, enum wire_status status, enum wake wake);
/*
 * Announces published work of `streams` (WIRE_DIRECT_...). Polls of the peer get a tick if they need one, and a
 * sleeping peer is woken. Returns the result of process_ring().
 */
bool rc_signal(const struct qp *qp, uint32_t streams, enum wake wake);
/*
 * Announces work to polls of the peer only. The tick may become visible before the work, so rc_signal() must follow,
 * unless the work was published by a sequentially consistent store.
 */
void rc_hint(const struct qp *qp, uint32_t streams);
void rc_set_direct(struct qp *qp, const struct cq_place *place, bool direct);
bool rc_peer_is(struct qp *qp, enum ext_peer_state state);
/* Asks the peer to wake this end when the peer has made progress with the own stream. */
void rc_want(struct qp *qp, enum wire_stream stream);
/* Ends the link to a peer that has broken the protocol, and fails the queue pair. */
void rc_violation(struct qp *qp);
/*
 * Returns whether the peer owes work that its application does not wait for (WRITE, READ, atomic). A message may wait
 * for a poll there, because only that application needs it. If the engine took messages, a delayed application would
 * find all its receives consumed.
 */
static inline bool rc_awaits_one_sided(const struct qp *qp) {
    const struct rc *rc = rc_of(qp);
    return rc->one_sided_end - rc->out.acked - 1 < rc->out.prod - rc->out.acked;
}
/* Starts the checks that a peer marked as polling takes the published work (cq_overdue.c). */
void rc_expect(struct qp *qp);
/*
 * Checks whether the peer has taken published work, and nudges the peer if nothing happens there. Called after taking
 * results and acknowledgements.
 */
void rc_check_overdue(struct qp *qp);

#endif
