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
 * Completion queues. They are private memory of the process, so no peer can forge a completion, or block a queue that
 * several peers share.
 *
 *   cq.c           create, destroy, poll, arm
 *   cq_entries.c   the entries, and the events that they cause
 *   cq_deferred.c  deferred doorbells of peers; the doorbell of the own engine
 *   cq_scan.c      finds the queue pairs for which peers have published work, and serves them in turn
 *   cq_engine.c    does the same on the engine, for completion queues that no thread polls
 *   cq_polled.c    publishes to peers whether a thread polls the queue
 *   cq_overdue.c   work that a peer marked as polling has not taken
 *
 * A thread that polls all the time does all work of the completion queue, in both directions, and peers ring no
 * doorbell. Otherwise the engine does the work, and peers ring its doorbell. The word on the notify area says whether
 * a thread polls. The word may be wrong for a while, because a thread does not announce that it stops polling. So a
 * process that publishes a request other than a message, to a peer marked as polling, checks whether the peer has taken
 * the request. If no thread polls there, it wakes the peer's engine.
 */
#ifndef NETTY_RDMA_EMBEDDED_CQ_H
#define NETTY_RDMA_EMBEDDED_CQ_H

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "channel.h"
#include "context.h"
#include "embedded/base/gate.h"
#include "embedded/link/engine.h"
#include "embedded/link/notify_area.h"

struct qp;
struct process;
struct bank_watch;

/* Tick on a peer's notify area, and the queue pair for which it announces work. `process` is NULL without a tick. */
struct cq_place {
    struct process *process;
    uint32_t bank, slot;
    struct qp *qp;
    void (*found)(struct cq_place *place); /* called when the tick has changed, before the work is done; may be NULL */
    STAILQ_ENTRY(cq_place) next_unfinished; /* guarded by `scan`, like the fields below */
    bool unfinished; /* is in the queue of places with more work than one call does */
    uint32_t worked_at; /* number of the last poll that found work here while the place was direct, or made it direct */
};

struct cqe {
    struct ibv_wc wc;
    /*
     * Counter of the work queue; its address identifies the queue. Places before `end` are free when this completion
     * has been polled.
     */
    _Atomic uint32_t *tail;
    uint32_t end;
    bool send;
    bool inlined; /* message data is in the queue pair: inline_recv.c */
};

/* Time of a completion: in nanoseconds by CLOCK_MONOTONIC_RAW, which is the device's clock, and CLOCK_REALTIME. */
struct cq_time {
    uint64_t raw, wall;
};

enum cq_arm { CQ_UNARMED, CQ_ARMED_SOLICITED, CQ_ARMED };

/* Number of queue pairs that each poll looks at directly. Each costs some 10 ns. */
#define CQ_DIRECT 4u

/* Number of polls between two checks of work published to peers. */
#define CQ_POLLS_PER_LOOK 16u

/* State of cq_polled.c. */
struct cq_polling {
    _Atomic uint32_t *polls;      /* counter on the notify area */
    _Atomic uint32_t quick_since; /* number of the poll since which polls come quickly */
    _Atomic uint32_t notified_at; /* number of the poll at which peers were notified */
    _Atomic uint32_t needed;      /* number of quick polls until peers are notified */
    _Atomic uint64_t polled_ns;
    _Atomic uint64_t first_round_ns; /* time from the mark as polled to the engine's first look */
    _Atomic uint32_t taken; /* number of completions, except the first of each poll; may miss some, like `polls` */
    _Atomic uint32_t taken_before; /* `taken` at the latest poll that looked whether polls come quickly */
    uint32_t work_at_round;  /* number of polls and of `taken` when the engine looked last */
    uint32_t polls_at_nudge; /* number of polls when the engine was nudged last */
};

/* State of cq_overdue.c. */
struct cq_overdue {
    struct qp *_Atomic expecting; /* queue pairs with work published to a peer marked as polling */
    _Atomic uint64_t next_look_ns;
    struct engine_timer timer;
    atomic_bool planned; /* `timer` is set, and has a reference */
    struct engine_timer count; /* timer that counts polls, while the queue is marked as polled */
    /* Timer `count` is set, and has a reference. The thread that sets this owns the fields below until it fires. */
    atomic_bool count_planned;
    uint32_t polls_at_plan;
    uint64_t count_gap_ns;
};

struct cq {
    union {
        struct ibv_cq ibv;
        struct ibv_cq_ex ex; /* begins with the same fields; complete if programs/cq_ex.c made it */
    };
    /* Fields read at each poll. */
    _Alignas(64) _Atomic uint32_t count;
    struct cq_polling polling;
    struct qp *_Atomic deferred; /* queue pairs whose peer has a deferred doorbell: cq_defer_doorbell() */
    _Atomic uint64_t *word; /* word on the notify area */
    struct cq_overdue overdue;
    struct gate scan;
    /* Fields guarded by `scan`. */
    struct cq_place *direct[CQ_DIRECT]; /* places that each poll looks at, even without a tick */
    unsigned num_direct;
    struct bank_watch *banks;
    struct bank_watch *cursor;
    unsigned turn;
    STAILQ_HEAD(, cq_place) unfinished;
    bool turn_taken; /* an unfinished place has had its turn in this scan */
    atomic_uint shared_queues; /* number of XRC queues whose receives complete here; read by polls that find nothing */

    _Alignas(64) pthread_mutex_t lock;
    /* Fields guarded by `lock`. */
    struct cqe *ring;
    struct cq_time *times; /* times of the entries of the ring, or NULL if the application did not ask for times */
    uint32_t mask, head;
    enum cq_arm armed;
    atomic_bool overflowed; /* set under `lock` */

    int index;   /* index on the notify area */
    uint32_t id; /* never reused in this process */
    /*
     * Number of queue pairs, twice for those that use the queue for both directions, and of XRC shared receive queues.
     */
    atomic_int users;
    /* Fields of programs/cq_ex.c. `batch` is held during a batch, and guards `wc` and `time`. */
    pthread_mutex_t batch;
    struct ibv_wc wc;
    struct cq_time time;
    struct pd *domain; /* parent domain, or NULL */
    atomic_uint refs;
    atomic_bool destroyed; /* no thread polls any more, whatever the word on the notify area says */
    struct channel_member member;
    struct async_source async;
    struct engine_task overflow;
    struct cq *next_watched; /* guarded by the lock of watch.c */
    bool watched;
    unsigned engine_place; /* guarded by the lock of cq_engine.c */
};

static inline struct cq *cq_of(struct ibv_cq *cq) {
    return (struct cq *) cq;
}

static inline void cq_get(struct cq *cq) {
    atomic_fetch_add(&cq->refs, 1);
}

static inline void cq_put(struct cq *cq) {
    if (atomic_fetch_sub(&cq->refs, 1) == 1) {
        notify_area_release_cq(cq->index); /* not earlier: each holder of a reference may read the word */
        pthread_mutex_destroy(&cq->batch);
        pthread_mutex_destroy(&cq->lock);
        free(cq->ring);
        free(cq->times);
        free(cq);
    }
}

/* Calls of the hot path, for ibv_context_ops. */
int cq_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
int cq_req_notify(struct ibv_cq *cq, int solicited_only);

struct cq *cq_make(int entries); /* makes a queue without a context that the engine does not know yet; NULL: errno */
void cq_retire(struct cq *cq);   /* ends the queue's life as an object of the engine */

/* Functions of programs/xrc_cq.c, for completion queues that get the receives of target queue pairs (XRC). */
struct cq_target_ops {
    void (*poll)(void);        /* serves the targets, for a poll */
    void (*end_polling)(void); /* notes that the polling thread is about to sleep */
    void (*rest)(void);
    void (*overflowed)(struct cq *cq); /* called on the engine thread, after the queue's own queue pairs have failed */
};
void cq_set_target_ops(const struct cq_target_ops *ops);
void cq_rest_targets(void); /* called on the engine thread, when no thread polls and there are no targets */

/* Polls for one completion, with its time if the queue has times. */
int cq_poll_one(struct cq *cq, struct ibv_wc *wc, struct cq_time *time);

/* ---- cq_entries.c ---- */

/* Returns the size of the smallest ring that has room for `entries`. */
static inline uint32_t cq_ring_size(int entries) {
    uint32_t size = 1;
    while (size < (uint32_t) entries) {
        size *= 2;
    }
    return size;
}

/* Does ibv_resize_cq(3). Returns 0 or errno. */
int cq_resize(struct ibv_cq *cq, int entries);

/* Returns whether completions were lost. All later ones are lost as well. */
static inline bool cq_has_overflowed(const struct cq *cq) {
    return atomic_load_explicit(&cq->overflowed, memory_order_relaxed);
}

/* Appends a completion. `solicited`: it also raises an event of a queue armed for solicited ones, as errors do. */
void cq_push(struct cq *cq, const struct cqe *cqe, bool solicited);

/* Removes the completions of a work queue that goes away. */
void cq_purge(struct cq *cq, const _Atomic uint32_t *tail);

/* ---- cq_deferred.c ---- */

/* Wakes the own engine, which serves the completion queues that no thread polls. */
void cq_engine_ring(void);

/*
 * Rings the doorbell of the peer's send completion queue for an acknowledgement, but only when a poll finds nothing. By
 * then the application has often answered the message, and the answer has rung. So the peer wakes up once instead of
 * twice, and the answer does not wait for a system call. If the ring is lost, the peer's engine finds the
 * acknowledgement in its rounds. For a datagram queue pair, that poll tries again to send datagrams that wait for room.
 * Otherwise a thread that polls would wait until two engines get a processor.
 */
void cq_defer_doorbell(struct cq *cq, struct qp *qp);

void cq_ring_all_deferred(struct cq *cq);

/* Rings deferred doorbells. Called at each poll that finds nothing. */
static inline void cq_ring_deferred(struct cq *cq) {
    if (atomic_load_explicit(&cq->deferred, memory_order_relaxed) != NULL) {
        cq_ring_all_deferred(cq);
    }
}

/* ---- cq_polled.c ---- */

void cq_polling_init(struct cq *cq);

/* Returns whether the queue is marked as polled. */
static inline bool cq_is_polled(const struct cq *cq) {
    return !atomic_load(&cq->destroyed) && NOTIFY_CQ_STATE(atomic_load(cq->word)) == NOTIFY_CQ_POLLED;
}

/* Notes the time of a poll of a queue that is not marked as polled, and marks it after enough quick polls. */
void cq_mark_if_lasting(struct cq *cq, uint64_t word);

/*
 * Notes that the engine had to do the work of a polling thread. Removes the mark the second time, if there were few
 * polls in between. After one delay the thread may still be polling, so the mark stays. Called on the engine.
 */
void cq_was_nudged(struct cq *cq);

/* Removes the mark because the polling thread is about to sleep. Peers ring the engine from now on. */
void cq_end_polling(struct cq *cq);

/*
 * Checks, in the engine's rounds, whether polling has stopped: if there were hardly any polls since the last call,
 * peers ring the engine from now on. Returns false if the queue is still marked as polled.
 */
bool cq_rest(struct cq *cq);

/* ---- cq_overdue.c ---- */

/* Switch for tests: stops the checks, so that no check hides a lost wake-up. */
extern atomic_bool cq_overdue_suspended;

void cq_overdue_init(struct cq *cq);

/*
 * Make the completion queue check the queue pair until its peer has taken everything. If there is no progress for some
 * 20 microseconds, the peer is nudged. Called with the queue pair's gate, after work was published. If claiming returns
 * true, the caller adds the queue pair. If the queue pair is checked already, claiming is cheap and returns false.
 */
bool cq_claim_overdue(struct qp *qp);
void cq_add_overdue(struct cq *cq, struct qp *qp);

/* Returns whether there is work to check. Called by polls. */
static inline bool cq_expects(const struct cq *cq) {
    return atomic_load_explicit(&cq->overdue.expecting, memory_order_relaxed) != NULL;
}
void cq_look_for_overdue(struct cq *cq);

/* Counts a poll, and its completions. Called at each poll. */
static inline void cq_note_poll(struct cq *cq, uint32_t completions) {
    uint32_t polls = atomic_load_explicit(cq->polling.polls, memory_order_relaxed) + 1;
    atomic_store_explicit(cq->polling.polls, polls, memory_order_relaxed);
    uint64_t word = atomic_load_explicit(cq->word, memory_order_relaxed);
    if (NOTIFY_CQ_STATE(word) == NOTIFY_CQ_IDLE) {
        cq_mark_if_lasting(cq, word);
    }
    if (polls % CQ_POLLS_PER_LOOK == 0 && cq_expects(cq)) {
        cq_look_for_overdue(cq);
    }
    if (completions > 1) {
        uint32_t taken = atomic_load_explicit(&cq->polling.taken, memory_order_relaxed) + completions - 1;
        atomic_store_explicit(&cq->polling.taken, taken, memory_order_relaxed);
    }
}

/*
 * Hands the checks over to the engine because no thread polls any more. Called after the word on the notify area has
 * changed.
 */
void cq_overdue_to_engine(struct cq *cq);
/* Ends the checks, when no queue pair is left. */
void cq_overdue_end(struct cq *cq);

/* ---- cq_scan.c ---- */

/* Number of polls without work after which another queue pair may become direct in its place. Tests set it to 0. */
extern atomic_uint cq_cold_polls;

/* Executes work that peers have announced. Called by polls. Does nothing if another thread is doing it. */
void cq_scan_try(struct cq *cq);

/* Executes all work that peers have announced before the call. Called to arm. Returns whether this thread found any. */
bool cq_scan(struct cq *cq);

/* Returns whether the peer of a direct connection is in this state: `peer_is` of struct qp_ops. */
bool cq_peer_is(struct cq *cq, enum ext_peer_state state);

/* Adds the place. The caller keeps it valid until it is removed. Returns false without memory. */
bool cq_scan_add(struct cq *cq, struct cq_place *place);
void cq_scan_remove(struct cq *cq, struct cq_place *place);

/* ---- cq_engine.c ---- */

void cq_engine_init(void);
/* Makes the engine listen to the process's doorbell, which must be open. Returns 0 or errno. */
int cq_engine_open(void);
void cq_engine_close(void); /* called on the engine thread, when there are no completion queues */
void cq_engine_add(struct cq *cq);
void cq_engine_remove(struct cq *cq);

#endif
