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
 * Completion queues: private memory of the process, so no peer can forge a completion or wedge a queue that it shares
 * with others.
 *
 * cq.c holds entries, arming and overflow; cq_scan.c finds the queue pairs that peers have given work; cq_engine.c does
 * that on the engine for completion queues that nobody polls.
 */
#ifndef NETTY_RDMA_EMBEDDED_CQ_H
#define NETTY_RDMA_EMBEDDED_CQ_H

#include <stdatomic.h>

#include "board.h"
#include "channel.h"
#include "context.h"
#include "engine.h"
#include "gate.h"

struct inflow;
struct qp;
struct process;
struct bank_watch;

/* A tick on a peer's board, and for whom it announces work. The process is NULL where there is none. */
struct cq_place {
    struct process *process;
    uint32_t bank, slot;
    struct qp *qp;
    struct inflow *inflow; /* of a datagram queue pair, else NULL */
};

struct cqe {
    struct ibv_wc wc;
    struct qp *qp;
    uint32_t end; /* polling it frees the queue pair's slots before this index */
    bool send;
    bool inlined; /* its message is in the queue pair: inline_recv.c */
};

enum cq_arm { CQ_UNARMED, CQ_ARMED_SOLICITED, CQ_ARMED };

struct cq {
    struct ibv_cq ibv;
    /* Read at each poll. */
    _Alignas(64) _Atomic uint32_t count;
    atomic_bool polled; /* since the last look of watch.c */
    struct qp *_Atomic owing; /* queue pairs whose peer waits for a ring: see cq_owe_ring() */
    _Atomic uint64_t *word; /* on the board */
    struct gate scan;
    /* Under `scan`. */
    struct qp *hot; /* the last one with work is the likeliest to have more */
    struct bank_watch *banks;
    struct bank_watch *cursor;
    unsigned turn;
    bool unfinished;

    _Alignas(64) pthread_mutex_t lock;
    /* Under `lock`. */
    struct cqe *ring;
    uint32_t mask, head;
    enum cq_arm armed;
    bool overflowed;

    int index;   /* on the board */
    uint32_t id; /* never reused in this process */
    atomic_int users; /* queue pairs, twice if for both directions */
    atomic_uint refs;
    atomic_bool destroyed; /* the word on the board may be another's by now */
    struct channel_member member;
    struct async_source async;
    struct engine_task overflow;
    struct cq *next_watched; /* under the lock of watch.c */
    bool watched;
    unsigned engine_place; /* under the lock of cq_engine.c */
};

static inline struct cq *cq_of(struct ibv_cq *cq) {
    return (struct cq *) cq;
}

void cq_get(struct cq *cq);
void cq_put(struct cq *cq);

/* The hot path, for ibv_context_ops. */
int cq_poll(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
int cq_req_notify(struct ibv_cq *cq, int solicited_only);

/* Appends a completion. `solicited`: it wakes a solicited-only arm; errors always do. */
void cq_push(struct cq *cq, const struct cqe *cqe, bool solicited);

/*
 * Rings the peer's send completion queue, for an acknowledgement, when the completions that are here now were polled and
 * the next poll finds none. By then the application has often answered the message, which rang already: one wake-up of the
 * peer instead of two, and no system call before the answer. Nothing depends on it: the peer's engine looks at
 * what it has outstanding every now and then. For a datagram queue pair: tries again then what waits for room, without
 * which one who polls would wait for two engines to get a processor.
 */
void cq_owe_ring(struct cq *cq, struct qp *qp);

/* Removes the completions of a queue pair that goes away. */
void cq_purge(struct cq *cq, const struct qp *qp);

/* Lets peers ring again for an armed completion queue, and executes what they announced so far. */
void cq_rearm(struct cq *cq);

/* If nobody has polled since the last call: has peers ring the engine from now on. Returns false if somebody has. */
bool cq_rest(struct cq *cq);

static inline bool cq_is_polled(const struct cq *cq) {
    return !atomic_load(&cq->destroyed) && BOARD_CQ_STATE(atomic_load(cq->word)) == BOARD_CQ_POLLED;
}

/* Executes what peers have announced, for poll: cheap, skipped if another thread is at it. */
void cq_scan_try(struct cq *cq);

/*
 * The same for arming: looks at everything that was announced before the call. Returns true if this thread found
 * anything.
 */
bool cq_scan(struct cq *cq);

/* Keeps the place until it is removed. Returns false without memory. */
bool cq_scan_add(struct cq *cq, const struct cq_place *place);
void cq_scan_remove(struct cq *cq, const struct cq_place *place);

/* Opens the engine's bell. Returns 0 or errno. */
int cq_engine_open(void);
int cq_engine_bell(void);
void cq_engine_ring(void);
void cq_engine_add(struct cq *cq);
void cq_engine_remove(struct cq *cq);

#endif
