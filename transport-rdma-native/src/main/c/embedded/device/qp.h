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
 * Queue pairs: the common part of all types. The owner of a queue pair's gate does all its transmission, execution and
 * completion. The owner may be a thread that posts or polls, or the engine. Each type has a table of its own operations
 * (rc.h, ud.h).
 *
 *   qp.c           types; create, query, destroy
 *   qp_table.c     references, numbers
 *   qp_modify.c    the state machine
 *   qp_post.c      posting, to shared receive queues as well
 *   work_queue.c   the rings of posted requests
 *   qp_progress.c  the gate and its owner, errors, flushing, the engine's rounds
 *   qp_complete.c  completions, and the receives that messages take
 *   srq.c          work queues that queue pairs share: create, query, destroy
 *   srq_take.c     the receives that queue pairs take from them
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
 * Limit of bytes that one call transfers of each kind: requests of the peer with the answers to them, answers of the
 * peer, and own requests. So a fast peer does not keep a poll or the engine from other work. A later call does the
 * rest. A post may do more of its own requests (rc_progress.c).
 */
#define QP_BUDGET_BYTES (512u << 10)

/* Time that a peer marked as polling may go without a poll while it has work. */
#define QP_PATIENCE_NS UINT64_C(20000)

/* Number of calls of qp_peer_is(), without progress of the peer, after which it says no more that the peer is late. */
#define QP_MAX_LOOKS 200u

struct ah;
struct mw;
struct qp_ops;

/* Requests that the peer does not see, numbered above enum wire_op. */
enum qp_local_op {
    QP_OP_BIND_MW = 128,
    QP_OP_LOCAL_INV,
};

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
            struct ah *ah; /* reference */
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
    bool inlined; /* data is here instead of the list; or the answer is here, behind the list (inline_recv.c) */
    bool staged;
    bool answered; /* READ or atomic: the response is complete; local: done */
    uint8_t fault; /* enum ibv_wc_status of an error on this side, reported when earlier requests are complete */
    uint8_t vendor_err; /* vendor_err of the completion with `fault` */
    uint16_t num_sge;
    struct sge_cursor cursor;
    struct ibv_sge sge[]; /* list, or inline data */
};

enum qp_work {
    QP_WORK_SEND = 1,      /* post_send was called */
    QP_WORK_ALL = 2,       /* the peer has published or acknowledged something, or a receive was posted */
    QP_WORK_WATCH = 4,     /* this is a round of the engine */
    QP_WORK_PEER_DOWN = 8, /* the peer's process died */
    QP_WORK_FATAL = 16,    /* a completion queue overflowed */
    QP_WORK_DOORBELL = 32, /* ring the deferred doorbell: cq_defer_doorbell() */
    QP_WORK_OVERDUE = 64,  /* check whether the peer has taken published work: cq_overdue.c */
    QP_WORK_NUDGE = 128,   /* the peer waits for work to be taken */
};

/*
 * Common part of all queue pairs. Each type embeds it in its own struct (rc.h, ud.h). The fields that each message uses
 * are at the end, next to the type's own.
 */
struct qp {
    union {
        struct ibv_qp ibv;
        struct ibv_qp_ex ex; /* begins with the same fields; complete if there is a `posting` */
    };
    struct qp *next_in_table;
    pthread_mutex_t control; /* guards modify, destroy, attach messages; taken before gates */
    struct engine_task again; /* unfinished work found outside of a poll */
    struct async_source async;
    struct mw *windows; /* windows of type 2 that are bound through this queue pair; mw.c */
    struct ibv_qp_cap cap;
    struct ibv_qp_attr attr;
    atomic_uint refs;
    atomic_bool destroyed;

    struct posting *posting; /* state of programs/qp_wr.c, guarded by the lock of sq; or NULL */
    const struct qp_ops *ops;
    struct pd *pd;
    struct cq *send_cq, *recv_cq;
    struct context *context;
    _Atomic int state; /* enum ibv_qp_state */
    atomic_bool waiting_for_receive; /* the peer's request waits for ibv_post_recv(3): RNR */
    atomic_bool in_message; /* a message was begun and not ended, in either direction (cq_scan.c) */

    /* Fields that polls look at: qp_has_work(). */
    _Atomic uint64_t seen_ack; /* the peer's word for our requests, as last looked at */
    const struct wire_control *_Atomic peek; /* control words of the peer, while attached */
    struct consumer requests, responses; /* streams of the peer */

    struct gate gate;
    struct work_queue sq, rq;
    uint8_t *inlined; /* `inline_recv` bytes for each place of rq, written by the gate's owner, read by polls */
    uint32_t inline_recv;
    /* Shared queue in place of rq, or NULL; with `named_receives`, the queue of the latest message. */
    struct srq *srq;
    bool waits_for_shared; /* guarded by the lock of srq, as next_waiting */
    struct qp *next_waiting;
    struct qp *next_watched; /* watch.c */
    struct qp *next_deferred; /* list of cq_deferred.c */
    struct qp *next_expecting; /* list of cq_overdue.c */
    atomic_bool watched, doorbell_deferred, expecting;
    _Atomic uint64_t round_gap_ns; /* from one look to the next; set by the gate's owner */
    _Atomic uint64_t next_round_ns; /* 0: nothing to watch */
    _Atomic uint64_t introduce_at_ns; /* time to introduce this end again; 0: the peer has answered */

    /* Fields of the gate's owner. */
    struct cq *receive_cq;          /* completion queue of receives: recv_cq, or with `named_receives` that of `srq` */
    _Atomic uint32_t *receive_tail; /* counter for the completions of receives */
    struct receive_wqe *taken; /* room for a copy of the receive from srq that the message under way has taken */
    bool has_taken;
    bool said_last; /* IBV_EVENT_QP_LAST_WQE_REACHED was raised: no more receives will be taken from srq */
    bool failed; /* flushing */
    bool announces_drained; /* IBV_EVENT_SQ_DRAINED is still to be raised */
    bool sq_sig_all;
    uint32_t staged;  /* first work request not completely staged */
};

struct qp_transition {
    enum ibv_qp_state from, to;
    int required, optional; /* attributes: enum ibv_qp_attr_mask */
};

/*
 * Operations of queue pairs of one type. An operation that may be NULL does nothing then. `control` is held in all
 * calls that modify or destroy the queue pair.
 */
struct qp_ops {
    size_t size; /* size of the type's struct, which begins with struct qp */
    const struct qp_transition *transitions;
    size_t num_transitions;
    int ignored; /* attributes that may be given and have no effect: enum ibv_qp_attr_mask */
    bool watch_posted; /* work requests have timers once they are posted */
    bool unreliable;   /* connections repeat nothing, and neither end is told about errors of the other */
    enum ibv_qp_type peer_type; /* type of the other end of a connection; else 0 */
    bool iwarp;        /* an iWARP device has the type */
    bool needs_name;   /* the number must have a name, because senders know only the number, and no link */
    bool inline_recv;  /* messages and answers may travel in their completion */
    bool sends_only;   /* attributes of receives are ignored, as by the kernel */
    /*
     * Each message names the shared receive queue of its receive. No request can be posted to the queue pair, which is
     * made by ibv_create_qp_ex(3) and not by ibv_create_qp(3).
     */
    bool named_receives;

    /* Initialize the type's own state, which is zeroed before, and end it. Both may be NULL. `argument`: qp_parts. */
    void (*create)(struct qp *qp, void *argument);
    void (*destroy)(struct qp *qp);

    /*
     * Fills the type's part of a work request after the rest was checked and copied. Called with the lock of the queue.
     * Returns 0 or errno. The owner of the gate calls `release_send`, or the caller of `fill_send` if it does not post
     * the request. `release_send` may be NULL.
     */
    int (*fill_send)(const struct qp *qp, const struct ibv_send_wr *wr, struct send_wqe *wqe);
    void (*release_send)(struct send_wqe *wqe);

    /* Does the work of the gate's owner, except QP_WORK_FATAL and flushing. Returns true if some was left over. */
    bool (*run)(struct qp *qp, unsigned work);
    /*
     * Executes the work that the peer has published before the queue pair is set to ERR on demand. Called with the
     * gate; may be NULL.
     */
    void (*settle)(struct qp *qp);
    /* Tells the peer that the queue pair has failed. Called with the gate; may be NULL. */
    void (*failed)(struct qp *qp);

    /*
     * Go from INIT to RTR. `prepare` is called with the gate before the state changes. `introduce` is called without
     * the gate after that, and returns 0 or errno. Both may be NULL.
     */
    void (*prepare)(struct qp *qp);
    int (*introduce)(struct qp *qp);
    /* Introduces this end again in the engine's rounds, when introduce_at_ns has come; may be NULL. */
    void (*introduce_again)(struct qp *qp);
    /* Notes that attributes were changed by another transition. Called with the gate; may be NULL. */
    void (*modified)(struct qp *qp);
    /*
     * Tells the peer whether polls look at the queue pair itself. If they do, the peer needs no tick for work that
     * qp_has_work() finds. Called with the scan gate, while the queue pair has the place. NULL if each place has a
     * `found`.
     */
    void (*set_direct)(struct qp *qp, const struct cq_place *place, bool direct);
    /* Does ext_peer_is (verbs_api.h). Called with the gate; may be NULL. */
    bool (*peer_is)(struct qp *qp, enum ext_peer_state state);

    /*
     * Selects the shared receive queue with this number for the message that begins, if the number differs from the
     * last message's. Returns false if there is none. Called with the gate; NULL without `named_receives`.
     */
    bool (*select)(struct qp *qp, uint32_t srqn);

    /* Raises an asynchronous event. NULL: the event is raised for the queue pair itself. */
    void (*raise)(struct qp *qp, enum ibv_event_type event);

    /*
     * Returns the queue pair that a handle stands for; closes the handle: ibv_destroy_qp(3). NULL: the type has no
     * handles.
     */
    struct qp *(*meant)(const struct qp *handle);
    int (*close)(struct qp *handle);
    /*
     * Ends everything that the queue pair has by a link that went down, if anything. Called on the engine thread,
     * without locks. NULL: queue pairs of the type have no links.
     */
    void (*link_lost)(struct qp *qp, const struct link *link);
    /* Begins to destroy a queue pair, without `control`: 0 or EBUSY; may be NULL. */
    int (*begin_destroy)(struct qp *qp);
    /*
     * Removes the queue pair from the polls of its completion queues, for reset and destroy. Called without the gate.
     */
    void (*leave_cqs)(struct qp *qp);
    /* Goes back to the state before prepare(). Called after leave_cqs(), with the gate. */
    void (*detach)(struct qp *qp);
    /* Releases what remains. Called after detach(), with or without the gate. `destroyed`: this is not a reset. */
    void (*release)(struct qp *qp, bool destroyed);
};

static inline struct qp *qp_of(struct ibv_qp *qp) {
    return (struct qp *) qp;
}

/* Resolves a handle to its queue pair; returns others unchanged. */
static inline struct qp *qp_of_handle(struct ibv_qp *qp) {
    return qp_of(qp)->ops->meant == NULL ? qp_of(qp) : qp_of(qp)->ops->meant(qp_of(qp));
}

static inline enum ibv_qp_state qp_state(const struct qp *qp) {
    return (enum ibv_qp_state) atomic_load_explicit(&qp->state, memory_order_acquire);
}

/* Returns whether sends go on. In SQD only sends that have begun go on: IB specification 10.3.1. */
static inline bool qp_sends_in(enum ibv_qp_state state) {
    return state == IBV_QPS_RTS || state == IBV_QPS_SQD;
}

/* qp.c */
/* Sets the operations of all queue pairs of the type. */
void qp_set_ops(enum ibv_qp_type type, const struct qp_ops *ops);
struct qp_parts {
    struct ibv_qp ibv; /* part that the application sees: type, context, ... */
    struct pd *pd; /* NULL: the protection domain of each message's shared receive queue */
    struct cq *send_cq, *recv_cq;
    struct srq *srq;
    struct ibv_qp_cap cap;
    bool sq_sig_all;
    void *argument; /* argument of `create` */
};
struct qp *qp_make(const struct qp_parts *parts); /* NULL: errno */
int qp_destroy(struct qp *qp); /* does ibv_destroy_qp(3) except for its asynchronous events: 0 or EBUSY */
void qp_destroy_inherited(struct qp *qp); /* called in the child of a fork() */

/* qp_table.c */
void qp_table_init(void);
void qp_get(struct qp *qp);
void qp_put(struct qp *qp);
void qp_free(struct qp *qp); /* called for the last reference, and for queue pairs that are not complete */
int qp_table_add(struct qp *qp); /* gives the queue pair a number; 0 or errno */
void qp_table_remove(struct qp *qp);
struct qp *qp_table_find(uint32_t qpn); /* returns a reference, or NULL */
/*
 * Claims a number for another purpose, which need not have a name. Returns 0 and errno if there is none. After its
 * release a number is not used again for a while, like the numbers of queue pairs.
 */
uint32_t qp_table_claim_number(void);
void qp_table_release_number(uint32_t number);
/* Forgets the numbers with names, before link_rest() gives the names back. Called when there is no queue pair. */
void qp_table_rest(void);
/* Calls `visit` for all queue pairs, with the table's lock held. `visit` may take control and gates. */
void qp_table_visit(void (*visit)(struct qp *qp, const void *argument), const void *argument);

/* qp_post.c */
int qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
int qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* qp_post.c; called with the lock of sq held */
/* Returns whether requests may be posted in this state. */
bool qp_takes_sends(const struct qp *qp);
/* Checks the request and copies it to the place of the index `head`: 0 or errno. */
int qp_fill_send(struct qp *qp, const struct ibv_send_wr *wr, uint32_t head);
/* Starts posted requests. Called without the lock, after the head of the queue was set. */
void qp_posted_sends(struct qp *qp);

/* qp_progress.c */
/*
 * Does the work now, or leaves it to the thread that owns the gate. Returns true if some work was left over for a later
 * call.
 */
bool qp_progress(struct qp *qp, unsigned work);
/* Calls `peer_is`. Returns false if another thread has the gate. */
bool qp_peer_is(struct qp *qp, enum ext_peer_state state);
/* Does work like qp_progress(), outside of polls. The engine does the work that is left over. */
void qp_kick(struct qp *qp, unsigned work);
/* Own the gate for control operations. */
void qp_lock(struct qp *qp);
void qp_unlock(struct qp *qp);
/* Sets the queue pair to ERR. Requests are flushed before the owner leaves the gate. `event`: IBV_EVENT_... or -1. */
void qp_fail(struct qp *qp, int event);
/* Sets the queue pair to ERR on demand, after executing the work that the peer has published. Called with the gate. */
void qp_to_error(struct qp *qp);
/* Returns whether the peer owes an acknowledgement or an answer, or requests wait to be sent. */
bool qp_has_outstanding(const struct qp *qp);
/* Returns whether a work request has been staged in part. */
bool qp_is_staging(const struct qp *qp);
/* Raises an asynchronous event about the queue pair. */
void qp_raise(struct qp *qp, enum ibv_event_type event);
/* Fails all queue pairs that use a completion queue that has overflowed. */
void qp_fail_users(struct cq *cq);
/* Does a round of the engine. Returns when to look again, or 0 if the queue pair is not watched any more. */
uint64_t qp_round(struct qp *qp, uint64_t now_ns);

/* Returns whether the peer seems to have published or acknowledged something. Polls use it as a hint. */
static inline bool qp_has_work(const struct qp *qp) {
    const struct wire_control *peer = atomic_load_explicit(&qp->peek, memory_order_acquire);
    return peer != NULL
            && (consumer_ready(&qp->requests)
                || atomic_load_explicit(&peer->stream[WIRE_REQUESTS].ack, memory_order_relaxed)
                    != atomic_load_explicit(&qp->seen_ack, memory_order_relaxed)
                || consumer_ready(&qp->responses));
}

/* qp_complete.c; all called by the gate's owner */
void qp_complete_send(struct qp *qp, enum ibv_wc_status status); /* completes the oldest request */
void qp_flush_sends(struct qp *qp);
/*
 * Completes the oldest request with the status and flushes the others, also those that are posted later. Receives go
 * on. This is the state SQE of unreliable types: IB specification 10.3.1.6.
 */
void qp_fail_sends(struct qp *qp, enum ibv_wc_status status);
/*
 * Returns the receive that the next message takes, valid until qp_finish_receive(). Returns NULL if none is posted;
 * posting a receive then kicks the queue pair.
 */
const struct receive_wqe *qp_next_receive(struct qp *qp);
const struct receive_wqe *qp_current_receive(const struct qp *qp); /* returns the receive of the message under way */
void qp_finish_receive(struct qp *qp);
/* Completes the current receive with an error. */
void qp_fail_receive(struct qp *qp, enum ibv_wc_status status, int vendor_err);
void qp_flush_receives(struct qp *qp);

/* inline_recv.c */
/* Returns the place of the message that has taken the receive. */
static inline uint8_t *inline_slot(const struct qp *qp, uint32_t index) {
    return qp->inlined + (size_t) (index & qp->rq.mask) * qp->inline_recv;
}
/*
 * Keeps a piece of the answer to a READ or atomic behind the request until its completion is polled. Returns false if
 * the answer is too long, or the request makes no completion. The caller has checked the request's memory, and owns the
 * gate.
 */
bool inline_keep_answer(const struct qp *qp, struct send_wqe *wqe, const uint8_t *payload, uint32_t length);
/* Copies the message to the receive's memory, or the answer to the request's memory. Called by polls. */
void inline_place(const struct cqe *cqe, struct ibv_wc *wc);

#endif
