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
 * Domains of XRC (IB specification, annex A14): a target queue pair executes what its peer sends for any shared receive
 * queue of its domain, whose number each request carries. The shared receive queue brings the protection domain and the
 * completion queue.
 *
 * Descriptors of the same file open the same domain, but only within this process: a target queue pair needs memory of
 * the process that has made it.
 */
#ifndef NETTY_RDMA_EMBEDDED_XRCD_H
#define NETTY_RDMA_EMBEDDED_XRCD_H

#include "embedded/device/srq.h"
#include "embedded/rc/rc.h"

struct xrc_domain;
struct handle;

struct xrc_srq {
    struct srq srq;
    struct ibv_xrcd *xrcd;
    uint32_t number;
    struct cq *cq; /* completion queue of the receives */
    _Atomic uint32_t polled; /* counter that identifies these completions by its address; its value says nothing */
    struct xrc_srq *next; /* next queue of the domain with a like number */
};

/* Target queue pair. */
struct xrc_target {
    struct rc rc;
    struct xrc_domain *domain;
    struct xrc_target *next; /* next target of the domain */
    struct handle *handles;  /* guarded by the lock of the domain's names: qp_target.c */
    bool closed;             /* no handle is left, and there will be none */
};

static inline struct xrc_target *target_of(const struct qp *qp) {
    return container_of(qp, struct xrc_target, rc.qp);
}

void xrcd_init(void);

/* Calls of the extended context, each with the signature and the behaviour of ibv_<name>_xrcd. */
struct ibv_xrcd *xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int xrcd_close(struct ibv_xrcd *xrcd);

struct xrc_domain *xrcd_domain(struct ibv_xrcd *xrcd);
/* Counts objects that were made with the domain: it cannot be closed while there are any. */
void xrcd_add_objects(struct ibv_xrcd *xrcd, int number);

/*
 * ---- shared receive queues, by their number. `names` is a lock that may be taken with gates, and before no other ----
 */

void xrcd_lock_names(struct xrc_domain *domain);
void xrcd_unlock_names(struct xrc_domain *domain);
void xrcd_add_srq(struct xrc_domain *domain, struct xrc_srq *srq);
void xrcd_remove_srq(struct xrc_domain *domain, struct xrc_srq *srq);
/* Returns NULL if there is none. The queue stays for as long as the target's gate is owned: xrcd_visit_targets(). */
struct xrc_srq *xrcd_find_srq(struct xrc_domain *domain, uint32_t number);

/* ---- target queue pairs. `targets` is a lock that is taken before gates and `control` ---- */

void xrcd_lock_targets(struct xrc_domain *domain);
void xrcd_unlock_targets(struct xrc_domain *domain);
/* Changes and lookups, called with the lock of targets held. */
void xrcd_add_target(struct xrc_domain *domain, struct xrc_target *target);
void xrcd_remove_target(struct xrc_domain *domain, struct xrc_target *target);
struct xrc_target *xrcd_find_target(struct xrc_domain *domain, uint32_t qpn);
/* Calls `visit` for all targets. Takes the lock. */
void xrcd_visit_targets(struct xrc_domain *domain, void (*visit)(struct qp *qp, void *argument), void *argument);
/* Calls `visit` for all shared receive queues of all domains. */
void xrcd_visit_srqs(void (*visit)(struct xrc_srq *srq, void *argument), void *argument);

/* ---- xrc_srq.c ---- */

/* Calls of the extended context: ibv_create_srq_ex(3), of XRC and others, and ibv_get_srq_num(3). */
struct ibv_srq *srq_create_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int srq_get_number(struct ibv_srq *srq, uint32_t *number);
/*
 * Selects the shared receive queue with this number, in the target queue pair's domain, for the next message. Returns
 * false if there is none; then the target has none. Called with the target's gate.
 */
bool xrc_srq_select(struct qp *target, uint32_t number);
/* Leaves the target queue pair without a shared receive queue. */
void xrc_srq_deselect(struct qp *target);
/* Fails all shared receive queues of XRC that use a completion queue, as it has overflowed. */
void xrc_srq_fail_users(struct cq *cq);

/* xrc_cq.c */
void xrc_cq_init(void);
/* Returns the completion queue of all targets, made at the first call, and kept until nobody polls. NULL: errno. */
struct cq *xrc_cq(void);

#endif
