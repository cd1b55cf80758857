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
 * Shared receive queues. A queue pair takes a receive when a message of its peer begins, in the order of posting, and
 * keeps a copy of it until the message is complete; so the receive's place in the queue is free at once.
 */
#ifndef NETTY_RDMA_EMBEDDED_SRQ_H
#define NETTY_RDMA_EMBEDDED_SRQ_H

#include "qp.h"

struct cq;
struct xrc_domain;

struct srq {
    struct ibv_srq ibv;
    struct pd *pd;
    struct context *context;
    atomic_int users; /* number of queue pairs */
    struct work_queue queue;
    /* Fields guarded by the queue's lock. */
    struct qp *waiting, **last_waiting; /* queue pairs that found no receive, the longest wait first */
    uint32_t limit;                     /* 0: not armed */
    struct async_source async;
    /* Fields for XRC: xrcd.h */
    struct xrc_domain *domain; /* NULL without XRC */
    struct ibv_xrcd *xrcd;
    uint32_t number;
    struct cq *cq; /* completion queue of the receives */
    _Atomic uint32_t polled; /* counter that identifies these completions by its address; its value says nothing */
    struct srq *next_of_domain;
};

static inline struct srq *srq_of(struct ibv_srq *srq) {
    return (struct srq *) srq;
}

/* Calls of the extended context: ibv_create_srq_ex(3), ibv_get_srq_num(3). */
struct ibv_srq *srq_create_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int srq_get_number(struct ibv_srq *srq, uint32_t *number);

/* Call of ibv_context_ops: qp_post.c. */
int srq_post_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/*
 * Copies the next receive to qp->taken, or returns false and kicks the queue pair when there are more. Called with the
 * queue pair's gate.
 */
bool srq_take(struct srq *srq, struct qp *qp);

/* Returns the queue pair that has waited longest, with a reference, or NULL if none waits or there is no receive. */
struct qp *srq_next_to_serve(struct srq *srq);

/*
 * Selects the shared receive queue with this number, in the target queue pair's domain, for the next message (XRC).
 * Returns false if there is none; then the target has none. Called with the target's gate.
 */
bool srq_select(struct qp *target, uint32_t number);
/* Leaves the target queue pair without a shared receive queue. */
void srq_deselect(struct qp *target);
/* Fails all shared receive queues that use a completion queue, as it has overflowed. */
void srq_fail_users(struct cq *cq);

/* Removes a queue pair that does not wait any more. */
void srq_forget(struct srq *srq, struct qp *qp);

#endif
