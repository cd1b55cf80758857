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
 * Calls of unmodified programs that Java does not make. They are in the preloadable object and in tests, not in the JNI
 * library. The folders below know of it by what its constructor registers, and by the operations of its types of queue
 * pairs (qp_ops), of shared receive queues (srq_ops) and of XRC's completion queue (cq_target_ops).
 *
 *   programs.c   the constructor, and the table of the extended context, by which programs call most of this
 *   cm_ep.c      librdmacm's synchronous endpoints, and its shared receive queues
 *   qp_wr.c      posting by the functions of struct ibv_qp_ex
 *   cq_ex.c      polling by the functions of struct ibv_cq_ex, and timestamps
 *   uc.c         queue pairs of the type UC, and their sends that the peer does not take
 *   xrc.c        queue pairs of the types of XRC
 *   qp_target.c  handles of target queue pairs (XRC)
 *   xrc_cq.c     the completion queue of all targets
 *   xrc_srq.c    shared receive queues of XRC
 *   xrcd.c       domains of XRC: which target queue pairs may use which shared receive queues
 */
#ifndef NETTY_RDMA_EMBEDDED_PROGRAMS_H
#define NETTY_RDMA_EMBEDDED_PROGRAMS_H

#include "embedded/device/qp.h"

/* cm_ep.c: public functions of librdmacm, with their names and behaviour. */
int embedded_rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *info, struct ibv_pd *pd,
                            struct ibv_qp_init_attr *attr);
void embedded_rdma_destroy_ep(struct rdma_cm_id *id);
int embedded_rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id);
int embedded_rdma_establish(struct rdma_cm_id *id);
int embedded_rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int embedded_rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr);
void embedded_rdma_destroy_srq(struct rdma_cm_id *id);

/* qp_wr.c */
/* Does ibv_create_qp_ex(3), for the extended context. */
struct ibv_qp *qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* Does ibv_qp_to_qp_ex(3): NULL if the queue pair was made without these operations. */
struct ibv_qp_ex *qp_to_ex(struct ibv_qp *qp);

/* cq_ex.c */
/* Does ibv_create_cq_ex(3), for the extended context. */
struct ibv_cq_ex *cq_create_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);

/* uc.c */
void uc_init(void);
/*
 * Time after which an unreliable connection's peer that takes nothing counts as gone; up to then it may only be late,
 * as when it is about to attach itself, or has no processor. A device would not wait at all. Written by tests only.
 */
extern _Atomic uint64_t uc_patience_ns;

/* xrc.c */
void xrc_init(void);

/* qp_target.c */
struct ibv_qp *qp_create_target(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* Does ibv_open_qp(3), for the extended context. */
struct ibv_qp *qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr);
/* Raises an event of a target queue pair on all its handles. */
void qp_raise_to_handles(struct qp *qp, enum ibv_event_type event);

#endif
