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
 * Memory windows: parts of memory regions with a key and access rights of their own, which can be opened and closed
 * while the region stays (IB specification 10.6.7). Type 2 windows are 2B: a window opens for one queue pair only,
 * which must have the same protection domain.
 *
 * The upper 24 bits of a key stay the same for a window, and each binding brings the others. Binding and invalidation
 * are requests of the send queue. The owner of the gate executes them in the order of the queue.
 */
#ifndef NETTY_RDMA_EMBEDDED_MW_H
#define NETTY_RDMA_EMBEDDED_MW_H

#include <stdbool.h>
#include <stdint.h>

#include "qp.h"

struct mw;

void mw_init(void);

/* Operations of contexts, each with the signature and the behaviour of ibv_<name>. */
struct ibv_mw *mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type);
int mw_dealloc(struct ibv_mw *mw);
int mw_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* Checks and copies IBV_WR_BIND_MW when it is posted: 0 or errno. */
int mw_fill_bind(const struct ibv_send_wr *wr, struct send_wqe *wqe);
/* Executes IBV_WR_BIND_MW. Returns false if the specification forbids it. */
bool mw_carry_out_bind(struct qp *qp, const struct send_wqe *wqe);
/*
 * Executes IBV_WR_LOCAL_INV, or the invalidation by a SEND of the peer. Returns false unless the key is of a window of
 * the queue pair.
 */
bool mw_invalidate(const struct qp *qp, uint32_t key);
/* Closes the windows of a queue pair that is being destroyed. */
void mw_close_all(struct qp *qp);

/*
 * Returns the address of a range in host memory that the peer of the queue pair may use by the key of a region or of a
 * window; else NULL. Called inside one epoch section. mw_leave() must follow. Until then *entered cannot be bound,
 * invalidated or freed, so the caller does nothing but a copy in between.
 */
void *mw_enter(const struct qp *qp, uint32_t key, uint64_t address, uint64_t length, int access, struct mw **entered);
void mw_leave(struct mw *entered); /* NULL: does nothing */
/* Returns whether mw_enter() would find such a range now, or mr_peer_range() in memory of another device. */
bool mw_allows(const struct qp *qp, uint32_t key, uint64_t address, uint64_t length, int access);

#endif
