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
 * Shared receive queues. Queue pairs take receives in the order of posting. A queue pair takes one when a message of
 * its peer begins, and keeps a copy until the message is complete. So the receive's place in the queue is free at once.
 */
#ifndef NETTY_RDMA_EMBEDDED_SRQ_H
#define NETTY_RDMA_EMBEDDED_SRQ_H

#include "qp.h"

struct srq;

/* Operations of a shared receive queue that is for XRC. */
struct srq_ops {
    void (*leave)(struct srq *srq);   /* keeps target queue pairs from taking receives, before the queue is destroyed */
    void (*release)(struct srq *srq); /* releases the objects that the queue refers to; also in the child of a fork() */
};

struct srq {
    struct ibv_srq ibv;
    const struct srq_ops *ops; /* NULL without XRC */
    struct pd *pd;
    struct context *context;
    atomic_int users; /* number of queue pairs */
    struct work_queue queue;
    /* Fields guarded by the queue's lock. */
    struct qp *waiting, **last_waiting; /* queue pairs that found no receive, the longest wait first */
    uint32_t limit;                     /* 0: not armed */
    struct async_source async;
};

static inline struct srq *srq_of(struct ibv_srq *srq) {
    return (struct srq *) srq;
}

/* Makes a queue at the beginning of a struct of this size. NULL: errno. */
struct srq *srq_make(struct ibv_pd *pd, const struct ibv_srq_init_attr *init, size_t size);
void srq_free(struct srq *srq);

/* Call of ibv_context_ops: qp_post.c. */
int srq_post_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/*
 * Copies the next receive to qp->taken. Returns false if there is none; the queue pair is then kicked when receives are
 * posted. Called with the queue pair's gate.
 */
bool srq_take(struct srq *srq, struct qp *qp);

/* Returns the queue pair that has waited longest, with a reference, or NULL if none waits or there is no receive. */
struct qp *srq_next_to_serve(struct srq *srq);

/* Removes a queue pair that does not wait any more. */
void srq_forget(struct srq *srq, struct qp *qp);

#endif
