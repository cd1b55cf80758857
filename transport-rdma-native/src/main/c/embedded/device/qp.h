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
 * Queue pairs: what the types share. All transmission, execution and completion of one queue pair is done by the owner
 * of its gate, on whatever thread that is: one that posts or polls, or the engine. What a type does in its own way is
 * in its table of operations: rc.h, ud.h.
 *
 *   qp.c           types; create, query, destroy
 *   qp_table.c     references, numbers
 *   qp_modify.c    the state machine
 *   qp_post.c      posting, to shared receive queues as well
 *   qp_wr.c        posting by the functions of struct ibv_qp_ex
 *   work_queue.c   the rings of what was posted
 *   qp_progress.c  the gate and its owner, errors, flushing, the engine's rounds
 *   qp_complete.c  completions, and the receives that messages take
 *   qp_target.c    handles of target queue pairs (XRC)
 *   srq.c          work queues that queue pairs share: create, query, destroy
 *   srq_take.c     the receives that queue pairs take from them
 *   xrcd.c         domains of XRC: which target queue pairs may use which shared receive queues
 *   mw.c           memory windows, which requests bind and invalidate
 *   inline_recv.c  messages and answers that travel in their completion
 */
#ifndef NETTY_RDMA_EMBEDDED_QP_H
#define NETTY_RDMA_EMBEDDED_QP_H

#include <stdatomic.h>

#include "context.h"
#include "cq.h"
#include "embedded/base/gate.h"
#include "embedded/link/peer.h"
#include "embedded/link/stream.h"
#include "pd.h"
#include "sge.h"
#include "work_queue.h"

/*
 * One call does about so many bytes of each: the peer's requests with the answers to them, answers that the peer gives,
 * and own requests; and no more, so that a fast peer keeps neither a poll nor the engine from everything else. What is
 * left over is taken up by a later call. A post may do more of its own requests (rc_progress.c).
 */
#define QP_BUDGET_BYTES (512u << 10)

/* A peer marked as polling may go without a poll for so long while it has work. */
#define QP_PATIENCE_NS UINT64_C(20000)

struct ah;
struct mw;
struct qp_ops;
struct ud;
struct xrc_domain;

/* Requests that the peer does not see, in the numbers above those of enum wire_op. */
enum qp_local_op {
    QP_OP_BIND_MW = 128,
    QP_OP_LOCAL_INV,
};

/* No number of a request: these have 32 bits. */
#define QP_NO_SRQN UINT64_MAX

struct send_wqe {
    uint64_t wr_id;
    union {
        struct {
            uint64_t remote_address;
            uint64_t operand[2];
            uint32_t rkey;
            uint32_t srqn; /* XRC; else 0 */
        };
        struct { /* UD */
            struct ah *ah; /* a reference */
            uint32_t remote_qpn, remote_qkey;
        };
        struct { /* QP_OP_BIND_MW: mw.h */
            uint64_t window_address, window_length;
            uint32_t window_key, window_region, window_access;
        };
    };
    uint32_t imm;
    uint32_t total;  /* bytes of the message */
    uint32_t done;   /* bytes staged; for a READ, bytes received */
    uint32_t end;    /* the stream's position after its last descriptor, once staged */
    uint8_t op;      /* enum wire_op or qp_local_op */
    bool signaled, solicited, fenced;
    bool inlined; /* its data are here in place of a list; or, behind the list, the answer to it: inline_recv.c */
    bool staged;
    bool answered; /* READ or atomic: the response is complete; local: done */
    uint8_t fault; /* enum ibv_wc_status found here; reported when the earlier ones are complete */
    uint8_t vendor_err; /* goes with it */
    uint16_t num_sge;
    struct sge_cursor cursor;
    struct ibv_sge sge[]; /* or inline data */
};

/* The peer's end as it introduced itself, before or after this end is ready for it. */
struct attachment {
    struct attachment *next;
    struct peer *peer;
    struct view *view;
    struct wire_place place;
    const struct wire_segment *segment;
    const struct wire_control *control;
    uint32_t src_qpn;
    uint32_t recv_cq, send_cq, recv_cq_id, send_cq_id;
    int recv_doorbell, send_doorbell;
    bool doorbells_counted; /* those of an attachment that is held */
};

/* The request of the peer that is being executed. */
struct inbound {
    bool active;
    uint8_t op;
    uint32_t total, offset, rkey;
    uint64_t remote_address;
    struct sge_cursor cursor;
    bool inlined; /* goes to the completion */
    bool dropped; /* what is left of it is skipped */
};

enum qp_work {
    QP_WORK_SEND = 1,      /* post_send */
    QP_WORK_ALL = 2,       /* the peer has published or acknowledged something, or a receive was posted */
    QP_WORK_WATCH = 4,     /* the round of the engine */
    QP_WORK_PEER_DOWN = 8, /* the peer's process died */
    QP_WORK_FATAL = 16,    /* a completion queue overflowed */
    QP_WORK_DOORBELL = 32, /* the doorbell that cq_defer_doorbell() put off */
    QP_WORK_OVERDUE = 64,  /* check whether the peer has taken published work: cq_overdue.c */
    QP_WORK_NUDGE = 128,   /* the peer waits for work to be taken */
};

struct qp {
    union {
        struct ibv_qp ibv;
        struct ibv_qp_ex ex; /* begins with the same, and has the rest if there is a `posting` */
    };
    struct posting *posting; /* qp_wr.c, with the lock of sq; or NULL */
    const struct qp_ops *ops;
    struct pd *pd;
    struct cq *send_cq, *recv_cq;
    struct context *context;
    atomic_uint refs;
    _Atomic int state; /* enum ibv_qp_state */
    atomic_bool waiting_for_receive; /* the peer's request waits for post_recv: RNR */
    atomic_bool in_message; /* has begun one and not ended it, in either direction: cq_scan.c */
    _Atomic uint64_t seen_ack; /* the peer's word for our requests, as last looked at */
    const struct wire_control *_Atomic peek; /* the peer's, while attached */
    struct consumer requests, responses; /* the peer's */
    struct gate gate;
    struct work_queue sq, rq;
    uint8_t *inlined; /* `inline_recv` bytes for each place of rq, written by the gate's owner, read by polls */
    uint32_t inline_recv;
    struct srq *srq; /* in place of rq, or NULL; of a target queue pair: the one that the latest message is for */
    bool waits_for_shared; /* with the next one under the lock of srq */
    struct qp *next_waiting;

    /* The rest belongs to the gate's owner unless said otherwise. */
    struct producer out, answers; /* our requests, our responses */
    struct wire_segment *segment; /* ours, of a link's arenas: as long as there is a route */
    struct wire_control *own;     /* its control words */
    struct arena *arena;
    struct attachment *attached;
    bool answered; /* what is attached: if not, it comes again */
    struct announcement to_recv_cq, to_send_cq; /* of the peer */
    struct inbound inbound;
    struct receive_wqe *taken; /* room for the receive that was taken from srq for the message under way */
    bool has_taken;
    bool said_last; /* that no more will be taken from srq: IBV_EVENT_QP_LAST_WQE_REACHED */
    uint32_t staged;  /* first work request not completely staged */
    uint32_t reading; /* first READ or atomic not yet answered, or later */
    uint32_t unanswered;
    uint32_t taken_bytes;   /* of responses, by this call */
    enum wake request_wake; /* what the peer must be told of before the gate is left */
    bool failed; /* flushing */
    bool announces_drained; /* IBV_EVENT_SQ_DRAINED is owed */
    bool faulted; /* a work request failed here; nothing is staged after it */
    bool peer_gone; /* its process died: what is sent now fails; posted receives stay, as nothing tells a device */
    bool sq_sig_all;
    struct ibv_qp_cap cap;
    struct ibv_qp_attr attr;
    uint64_t srqn; /* of a target queue pair: the number of `srq`, or QP_NO_SRQN; else 0 */
    struct cq *receive_cq;          /* that receives complete on: recv_cq, or the one of `srq` of a target */
    _Atomic uint32_t *receive_tail; /* of these completions */

    /* Timers, advanced by QP_WORK_WATCH. */
    uint64_t stalled_since_ns, rnr_since_ns;
    uint32_t rnr_at; /* the descriptor that is not taken, while rnr_since_ns is not 0 */
    uint32_t watched_progress;
    _Atomic uint64_t round_gap_ns; /* from one look to the next; set by the gate's owner */
    _Atomic uint64_t next_round_ns; /* 0: nothing to watch */
    atomic_bool watched;
    struct qp *next_watched; /* watch.c */
    atomic_bool doorbell_deferred;
    struct qp *next_deferred; /* cq_doorbell.c */
    uint64_t sleeper;      /* process_sleeper() at the latest acknowledgement; the gate's owner */
    atomic_bool expecting;
    struct qp *next_expecting; /* cq_overdue.c */
    /* Of the gate's owner. */
    uint32_t one_sided_end;     /* the stream's position after the last request that is no message */
    uint32_t expected_progress; /* the peer's, at the latest look */
    uint64_t stuck_since_ns;    /* no progress and no poll since then; 0: that is not known */
    uint32_t stuck_recv_polls, stuck_send_polls; /* of the peer's completion queues, then */
    bool gave_room;             /* for requests after this one, which the peer waited for */
    uint32_t room_after;
    bool nudged;                /* the peer, since then */
    uint32_t nudges;            /* so far */

    pthread_mutex_t control; /* modify, destroy, attach messages; taken before gates */
    atomic_bool destroyed;
    struct peer *route; /* the link that leads to the peer's number, from RTR on; under control */
    uint64_t introduce_gap_ns;
    _Atomic uint64_t introduce_at_ns; /* when to introduce this end again; 0: the peer has answered */
    struct attachment *held;
    struct cq_place recv_cq_place, send_cq_place; /* where the peer announces itself */
    struct engine_task again; /* unfinished work found outside of a poll */
    struct async_source async;
    struct qp *next_in_table;
    struct mw *windows; /* of type 2 that are bound through it; mw.c */
    bool unheard;        /* an unreliable connection's peer took nothing for long; the gate's owner: rc/uc.c */
    uint32_t unheard_at; /* what it had acknowledged by then */
    struct xrc_domain *domain; /* of a target queue pair */
    struct qp *target;  /* this is a handle of that target queue pair, and nothing but its name is used: qp_target.c */
    struct qp *handles; /* of a target queue pair, under the lock of its domain's names */
    struct qp *next_handle;
    struct qp *next_target; /* of its domain */
    bool closed;            /* no handle is left, and there will be none */
    struct ud *ud; /* what a UD queue pair has beside this; it does without much of the above */
};

struct qp_transition {
    enum ibv_qp_state from, to;
    int required, optional; /* attributes: enum ibv_qp_attr_mask */
};

/*
 * What queue pairs of one type do in their own way. Those that may be NULL do nothing then. `control` is held in all of
 * the calls from modifying and destroying.
 */
struct qp_ops {
    const struct qp_transition *transitions;
    size_t num_transitions;
    int ignored; /* attributes that may be given and say nothing: enum ibv_qp_attr_mask */
    bool watch_posted; /* work requests that are posted have timers */
    bool unreliable;   /* connections: nothing is repeated, and no error of the one end is told to the other */

    /* What the type has of its own: 0 or errno. `destroy` is called after a failure as well; both may be NULL. */
    int (*create)(struct qp *qp);
    void (*destroy)(struct qp *qp);

    /*
     * The type's part of a work request, when all else of it is checked and copied, with the lock of the queue: 0 or
     * errno. `release_send` is for the owner of the gate, or for who has filled it and does not post it;
     * it may be NULL.
     */
    int (*fill_send)(const struct qp *qp, const struct ibv_send_wr *wr, struct send_wqe *wqe);
    void (*release_send)(struct send_wqe *wqe);

    /* The work of the gate's owner, but for QP_WORK_FATAL and flushing. Returns true if some was left over. */
    bool (*run)(struct qp *qp, unsigned work);
    /* Before the queue pair is set to ERR on demand: does what the peer has done before. With the gate; may be NULL. */
    void (*settle)(struct qp *qp);
    /* The queue pair has failed: tells the peer. With the gate; may be NULL. */
    void (*failed)(struct qp *qp);

    /* From INIT to RTR: with the gate before the state changes, without it after that, 0 or errno. Both may be NULL. */
    void (*prepare)(struct qp *qp);
    int (*introduce)(struct qp *qp);
    /* For the engine's rounds, when introduce_at_ns has come; may be NULL. */
    void (*introduce_again)(struct qp *qp);

    /* Tells the application of an asynchronous event, in place of doing it for the queue pair itself; may be NULL. */
    void (*raise)(struct qp *qp, enum ibv_event_type event);

    /* Of a handle: ibv_destroy_qp(3); may be NULL. */
    int (*close)(struct qp *handle);
    /* Before a queue pair is destroyed, without `control`: 0 or EBUSY; may be NULL. */
    int (*begin_destroy)(struct qp *qp);
    /* Reset, destroy: polls do not come to it any more, without the gate. */
    void (*leave_cqs)(struct qp *qp);
    /* After that, with the gate: back to before prepare(). */
    void (*detach)(struct qp *qp);
    /* After that, with or without the gate: what remains. `destroyed`: for good. */
    void (*release)(struct qp *qp, bool destroyed);
};

static inline struct qp *qp_of(struct ibv_qp *qp) {
    return (struct qp *) qp;
}

/* What is meant by it: a handle stands for its target. */
static inline struct qp *qp_meant(struct ibv_qp *qp) {
    struct qp *target = qp_of(qp)->target;
    return target != NULL ? target : qp_of(qp);
}

static inline enum ibv_qp_state qp_state(const struct qp *qp) {
    return (enum ibv_qp_state) atomic_load_explicit(&qp->state, memory_order_acquire);
}

/* In SQD only what has begun goes on: IB specification 10.3.1. */
static inline bool qp_sends_in(enum ibv_qp_state state) {
    return state == IBV_QPS_RTS || state == IBV_QPS_SQD;
}

/* qp.c */
void qp_set_ops(enum ibv_qp_type type, const struct qp_ops *ops); /* of all queue pairs of the type */
struct qp_parts {
    struct ibv_qp ibv; /* as the application sees it: type, context, ... */
    struct pd *pd; /* NULL: of each message's shared receive queue, in this domain */
    struct xrc_domain *domain;
    struct cq *send_cq, *recv_cq;
    struct srq *srq;
    struct ibv_qp_cap cap;
    bool sq_sig_all;
};
struct qp *qp_make(const struct qp_parts *parts); /* NULL: errno */
int qp_destroy(struct qp *qp); /* ibv_destroy_qp(3) but for its asynchronous events: 0 or EBUSY */
void qp_destroy_inherited(struct qp *qp); /* in the child of a fork() */

/* qp_table.c */
void qp_table_init(void);
void qp_get(struct qp *qp);
void qp_put(struct qp *qp);
void qp_free(struct qp *qp); /* for the last reference, and for those that are not complete */
int qp_table_add(struct qp *qp); /* gives it a number; 0 or errno */
void qp_table_remove(struct qp *qp);
struct qp *qp_table_find(uint32_t qpn); /* with a reference, or NULL */
/*
 * A number for something else, which need not have a name: 0 and errno if there is none. It is not used again for a
 * while, as those of queue pairs.
 */
uint32_t qp_table_claim_number(void);
void qp_table_release_number(uint32_t number);
void qp_table_rest(void); /* forgets the numbers, before link_rest() gives them back: there is no queue pair */
/* Calls `visit` for all, with the table's lock; it may take control and gates. */
void qp_table_visit(void (*visit)(struct qp *qp, const void *argument), const void *argument);

/* qp_post.c */
int qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* qp_post.c, with the lock of sq */
/* Whether requests may be posted in this state. */
bool qp_takes_sends(const struct qp *qp);
/* Checks the request and copies it to the place of the index `head`: 0 or errno. */
int qp_fill_send(struct qp *qp, const struct ibv_send_wr *wr, uint32_t head);
/* After the head of the queue was set, without the lock. */
void qp_posted_sends(struct qp *qp);

/* qp_wr.c */
/* ibv_create_qp_ex(3), for the extended context. */
struct ibv_qp *qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* NULL if the queue pair was made without operations for it: ibv_qp_to_qp_ex(3). */
struct ibv_qp_ex *qp_to_ex(struct ibv_qp *qp);

/* qp_target.c */
struct ibv_qp *qp_create_target(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* ibv_open_qp(3), for the extended context. */
struct ibv_qp *qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr);
/* An event of a target queue pair is one of all its handles. */
void qp_raise_to_handles(struct qp *qp, enum ibv_event_type event);

/* qp_progress.c */
/* Does the work now, or leaves it to the thread that is at it. Returns true if some was left over for a later call. */
bool qp_progress(struct qp *qp, unsigned work);
/* The same outside of polls: the engine does what is left over. */
void qp_kick(struct qp *qp, unsigned work);
/* For control operations: with the gate. */
void qp_lock(struct qp *qp);
void qp_unlock(struct qp *qp);
/* To ERR; the rest is flushed before the gate is left. `event`: IBV_EVENT_... or -1. */
void qp_fail(struct qp *qp, int event);
/* The same on demand: what the peer has done before is done. With the gate. */
void qp_to_error(struct qp *qp);
/* Whether the peer has something to acknowledge or to answer, or is to get it. */
bool qp_has_outstanding(const struct qp *qp);
/* Whether a work request has been staged in part. */
bool qp_is_staging(const struct qp *qp);
/* An asynchronous event about it. */
void qp_raise(struct qp *qp, enum ibv_event_type event);
/* The completion queue has overflowed: all queue pairs that use it fail. */
void qp_fail_users(struct cq *cq);
/* The round of the engine: returns when to look again, or 0 if it is not watched any more. */
uint64_t qp_round(struct qp *qp, uint64_t now_ns);

/*
 * Tells the peer whether the polls that come to the place look at the queue pair itself: if so, no tick need announce
 * what qp_has_work() finds. With the scan gate, while the queue pair has the place.
 */
void qp_set_direct(struct qp *qp, const struct cq_place *place, bool direct);

/* A hint, for polls: the peer seems to have done something. */
static inline bool qp_has_work(const struct qp *qp) {
    const struct wire_control *peer = atomic_load_explicit(&qp->peek, memory_order_acquire);
    return peer != NULL
            && (consumer_ready(&qp->requests)
                || atomic_load_explicit(&peer->stream[WIRE_REQUESTS].ack, memory_order_relaxed)
                    != atomic_load_explicit(&qp->seen_ack, memory_order_relaxed)
                || consumer_ready(&qp->responses));
}

/* qp_complete.c, all by the gate's owner */
void qp_complete_send(struct qp *qp, enum ibv_wc_status status); /* the oldest one */
void qp_flush_sends(struct qp *qp);
/*
 * The oldest one gets the status, the others are flushed, as are those that are posted later; receives go on: the state
 * SQE of unreliable types, IB specification 10.3.1.6.
 */
void qp_fail_sends(struct qp *qp, enum ibv_wc_status status);
/* The receive that the next message takes, until qp_finish_receive(); or NULL: posting one kicks the queue pair. */
const struct receive_wqe *qp_next_receive(struct qp *qp);
const struct receive_wqe *qp_current_receive(const struct qp *qp); /* of the message that is being received */
void qp_finish_receive(struct qp *qp);
/* Completes the current receive with an error. */
void qp_fail_receive(struct qp *qp, enum ibv_wc_status status, int vendor_err);
void qp_flush_receives(struct qp *qp);

/* inline_recv.c */
/* Where the message goes that has taken the receive. */
static inline uint8_t *inline_slot(const struct qp *qp, uint32_t index) {
    return qp->inlined + (size_t) (index & qp->rq.mask) * qp->inline_recv;
}
/*
 * A piece of the answer to a READ or atomic stays behind the request, until its completion is polled, if the answer is
 * short enough: false if not. The request's memory was checked. By the gate's owner.
 */
bool inline_keep_answer(const struct qp *qp, struct send_wqe *wqe, const uint8_t *payload, uint32_t length);
/* For polls: copies the message to the receive's memory, or the answer to the request's. */
void inline_place(const struct cqe *cqe, struct ibv_wc *wc);

#endif
