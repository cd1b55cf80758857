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
 * ibv_wr_*(3). Requests are built one by one behind the head of the send queue, whose lock is held from ibv_wr_start()
 * on. ibv_wr_complete() moves the head if it finds no error in any of them. The code of ibv_post_send() checks and
 * copies a request after its setters were called: when the next request begins, or at the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/base/container_of.h"
#include "embedded/base/copy.h"
#include "embedded/base/iwarp.h"
#include "embedded/device/qp.h"
#include "programs.h"

#define DATAGRAM_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define UNRELIABLE_OPS (DATAGRAM_OPS | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM               \
                        | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV)
#define RELIABLE_OPS (UNRELIABLE_OPS | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP                 \
                      | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
#define IWARP_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ                       \
                   | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV)

struct posting {
    uint32_t head;         /* head of the queue, with the requests built so far */
    int error;             /* first error, after which nothing is built */
    bool building;         /* `wr` is being built, and not in the queue yet */
    struct ibv_send_wr wr;
    uint8_t *inline_data;  /* inline data of `wr`; stored behind the following */
    struct ibv_sge sges[];
};

static struct qp *qp_of_ex(struct ibv_qp_ex *ex) {
    return container_of(ex, struct qp, ex);
}

/* Finishes the request that was being built. */
static void finish(struct qp *qp) {
    struct posting *posting = qp->posting;
    if (posting->building && posting->error == 0) {
        posting->error = qp_fill_send(qp, &posting->wr, posting->head);
        posting->head += posting->error == 0;
    }
    posting->building = false;
}

/* Drops the requests that were built. */
static void drop(struct qp *qp) {
    uint32_t from = atomic_load_explicit(&qp->sq.head, memory_order_relaxed);
    for (uint32_t i = from; i != qp->posting->head && qp->ops->release_send != NULL; i++) {
        qp->ops->release_send(work_queue_at(&qp->sq, i));
    }
}

static void wr_start(struct ibv_qp_ex *ex) {
    struct qp *qp = qp_of_ex(ex);
    struct posting *posting = qp->posting;
    if (context_is_inherited(ex->qp_base.context)) { /* a thread that the child does not have may hold the lock */
        posting->error = EIO;
        return;
    }
    pthread_mutex_lock(&qp->sq.lock);
    posting->error = 0;
    posting->building = false;
    posting->head = atomic_load_explicit(&qp->sq.head, memory_order_relaxed);
    work_queue_begin(&qp->sq, posting->head);
}

static int wr_complete(struct ibv_qp_ex *ex) {
    struct qp *qp = qp_of_ex(ex);
    if (context_is_inherited(ex->qp_base.context)) {
        return EIO;
    }
    finish(qp);
    int error = qp->posting->error != 0 ? qp->posting->error : qp_takes_sends(qp) ? 0 : EINVAL;
    if (error != 0) {
        drop(qp);
    } else {
        atomic_store_explicit(&qp->sq.head, qp->posting->head, memory_order_release);
    }
    pthread_mutex_unlock(&qp->sq.lock);
    if (error == 0) {
        qp_posted_sends(qp);
    }
    return error;
}

static void wr_abort(struct ibv_qp_ex *ex) {
    struct qp *qp = qp_of_ex(ex);
    if (!context_is_inherited(ex->qp_base.context)) {
        drop(qp);
        pthread_mutex_unlock(&qp->sq.lock);
    }
}

/* ---- requests ---- */

static struct ibv_send_wr *build(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode) {
    struct qp *qp = qp_of_ex(ex);
    finish(qp);
    qp->posting->building = true;
    qp->posting->wr = (struct ibv_send_wr) {
        .wr_id = ex->wr_id, .opcode = opcode, .send_flags = ex->wr_flags & ~(unsigned) IBV_SEND_INLINE,
    };
    return &qp->posting->wr;
}

static void build_rdma(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t address, __be32 imm) {
    struct ibv_send_wr *wr = build(ex, opcode);
    wr->wr.rdma.rkey = rkey;
    wr->wr.rdma.remote_addr = address;
    wr->imm_data = imm;
}

static void build_atomic(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t address,
                         uint64_t compare_add, uint64_t swap) {
    struct ibv_send_wr *wr = build(ex, opcode);
    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.remote_addr = address;
    wr->wr.atomic.compare_add = compare_add;
    wr->wr.atomic.swap = swap;
}

static void wr_send(struct ibv_qp_ex *ex) {
    build(ex, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm) {
    build(ex, IBV_WR_SEND_WITH_IMM)->imm_data = imm;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address) {
    build_rdma(ex, IBV_WR_RDMA_WRITE, rkey, address, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, __be32 imm) {
    build_rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address, imm);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address) {
    build_rdma(ex, IBV_WR_RDMA_READ, rkey, address, 0);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, uint64_t compare, uint64_t swap) {
    build_atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, address, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, uint64_t add) {
    build_atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, address, add, 0);
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t key) {
    build(ex, IBV_WR_SEND_WITH_INV)->invalidate_rkey = key;
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t key) {
    build(ex, IBV_WR_LOCAL_INV)->invalidate_rkey = key;
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t key, const struct ibv_mw_bind_info *info) {
    struct ibv_send_wr *wr = build(ex, IBV_WR_BIND_MW);
    wr->bind_mw.mw = mw;
    wr->bind_mw.rkey = key;
    wr->bind_mw.bind_info = *info;
}

/* ---- attributes of a request ---- */

/* Returns the request to be set, or NULL; `fits`: the value is allowed. */
static struct ibv_send_wr *to_set(struct qp *qp, bool fits) {
    struct posting *posting = qp->posting;
    if (posting->error == 0 && !(posting->building && fits)) {
        posting->error = EINVAL;
    }
    return posting->error == 0 ? &posting->wr : NULL;
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey) {
    struct qp *qp = qp_of_ex(ex);
    struct ibv_send_wr *wr = to_set(qp, qp->ibv.qp_type == IBV_QPT_UD);
    if (wr != NULL) {
        wr->wr.ud.ah = ah;
        wr->wr.ud.remote_qpn = remote_qpn;
        wr->wr.ud.remote_qkey = remote_qkey;
    }
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t number) {
    struct qp *qp = qp_of_ex(ex);
    struct ibv_send_wr *wr = to_set(qp, qp->ibv.qp_type == IBV_QPT_XRC_SEND);
    if (wr != NULL) {
        wr->qp_type.xrc.remote_srqn = number;
    }
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_sge *list) {
    struct qp *qp = qp_of_ex(ex);
    struct ibv_send_wr *wr = to_set(qp, count <= qp->cap.max_send_sge);
    if (wr != NULL) {
        memcpy(qp->posting->sges, list, count * sizeof(*list));
        wr->sg_list = qp->posting->sges;
        wr->num_sge = (int) count;
    }
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t address, uint32_t length) {
    const struct ibv_sge sge = { address, length, lkey };
    wr_set_sge_list(ex, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_data_buf *list) {
    struct qp *qp = qp_of_ex(ex);
    struct posting *posting = qp->posting;
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        struct ibv_send_wr *wr = to_set(qp, list[i].length <= qp->cap.max_inline_data - total);
        if (wr == NULL) {
            return;
        }
        if (!copy_memory(posting->inline_data + total, list[i].addr, list[i].length)) {
            posting->error = EFAULT;
            return;
        }
        total += list[i].length;
    }
    struct ibv_send_wr *wr = to_set(qp, true);
    if (wr != NULL) {
        posting->sges[0] = (struct ibv_sge) { (uintptr_t) posting->inline_data, (uint32_t) total, 0 };
        wr->sg_list = posting->sges;
        wr->num_sge = total > 0;
        wr->send_flags |= IBV_SEND_INLINE;
    }
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *address, size_t length) {
    const struct ibv_data_buf data = { address, length };
    wr_set_inline_data_list(ex, 1, &data);
}

/* ---- queue pairs ---- */

/* Returns the operations that ibv_post_send(3) lists for the type. */
static uint64_t operations_of(enum ibv_qp_type type) {
    if (iwarp_is_on()) {
        return type == IBV_QPT_RC ? IWARP_OPS : 0;
    }
    switch (type) {
        case IBV_QPT_RC:
        case IBV_QPT_XRC_SEND: return RELIABLE_OPS;
        case IBV_QPT_UC: return UNRELIABLE_OPS;
        case IBV_QPT_UD: return DATAGRAM_OPS;
        default: return 0;
    }
}

/* Returns 0 or errno. */
static int check(const struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr) {
    uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS
            | IBV_QP_INIT_ATTR_XRCD;
    uint64_t ops = operations_of(attr->qp_type);
    if ((attr->comp_mask & ~known) != 0
            || ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && attr->create_flags != 0)
            || ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 && (attr->send_ops_flags & ~ops) != 0)) {
        return EOPNOTSUPP;
    }
    if (attr->qp_type == IBV_QPT_XRC_RECV) {
        bool has_xrcd = (attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) != 0 && attr->xrcd != NULL;
        return has_xrcd && attr->xrcd->context == context ? 0 : EINVAL;
    }
    bool has_domain = (attr->comp_mask & IBV_QP_INIT_ATTR_PD) != 0 && attr->pd != NULL;
    return has_domain && attr->pd->context == context ? 0 : EINVAL;
}

/* Adds the state for posting. Returns false without memory. */
static bool add_posting(struct qp *qp) {
    /* At least one element, because inline data take one. */
    size_t sges = (qp->cap.max_send_sge + 1) * sizeof(struct ibv_sge);
    struct posting *posting = calloc(1, sizeof(*posting) + sges + qp->cap.max_inline_data);
    if (posting == NULL) {
        return false;
    }
    posting->inline_data = (uint8_t *) posting->sges + sges;
    qp->posting = posting;
    struct ibv_qp_ex *ex = &qp->ex;
    ex->wr_start = wr_start;
    ex->wr_complete = wr_complete;
    ex->wr_abort = wr_abort;
    ex->wr_send = wr_send;
    ex->wr_send_imm = wr_send_imm;
    ex->wr_rdma_write = wr_rdma_write;
    ex->wr_rdma_write_imm = wr_rdma_write_imm;
    ex->wr_rdma_read = wr_rdma_read;
    ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
    ex->wr_send_inv = wr_send_inv;
    ex->wr_local_inv = wr_local_inv;
    ex->wr_bind_mw = wr_bind_mw;
    ex->wr_set_ud_addr = wr_set_ud_addr;
    ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
    ex->wr_set_sge = wr_set_sge;
    ex->wr_set_sge_list = wr_set_sge_list;
    ex->wr_set_inline_data = wr_set_inline_data;
    ex->wr_set_inline_data_list = wr_set_inline_data_list;
    return true;
}

struct ibv_qp *qp_create_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr) {
    int error = check(context, attr);
    if (error != 0) {
        errno = error;
        return NULL;
    }
    if (attr->qp_type == IBV_QPT_XRC_RECV) {
        return qp_create_target(context, attr);
    }
    /* The struct begins as the other one does: ibv_create_qp_ex() in verbs.h relies on it as well. */
    struct ibv_qp *made = embedded_ibv_create_qp(attr->pd, (struct ibv_qp_init_attr *) attr);
    bool posts = (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
    if (made != NULL && posts && !add_posting(qp_of(made))) {
        embedded_ibv_destroy_qp(made);
        errno = ENOMEM;
        return NULL;
    }
    return made;
}

struct ibv_qp_ex *qp_to_ex(struct ibv_qp *ibv) {
    struct qp *qp = qp_of(ibv);
    return qp->posting == NULL ? NULL : &qp->ex;
}
