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
 * Completion queues that are polled by the functions of struct ibv_cq_ex. A batch takes one completion at a time,
 * because the application may post in a batch, and requests that complete at once need room.
 */
#include <errno.h>
#include <stdlib.h>

#include "embedded/base/container_of.h"
#include "embedded/device/cq.h"
#include "embedded/device/pd.h"
#include "programs.h"

#define TIMES (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static struct cq *cq_of_ex(struct ibv_cq_ex *ex) {
    return container_of(ex, struct cq, ex);
}

/* Polls for one completion. Returns 0, or ENOENT if there is none. */
static int next_poll(struct ibv_cq_ex *ex) {
    struct cq *cq = cq_of_ex(ex);
    if (cq_poll_one(cq, &cq->wc, &cq->time) == 0) {
        return ENOENT;
    }
    ex->wr_id = cq->wc.wr_id;
    ex->status = cq->wc.status;
    return 0;
}

static void end_poll(struct ibv_cq_ex *ex) {
    if (!context_is_inherited(ex->context)) { /* a child that was forked in the batch has not taken the lock */
        pthread_mutex_unlock(&cq_of_ex(ex)->batch);
    }
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr) {
    if (attr->comp_mask != 0) {
        return EINVAL;
    }
    if (context_is_inherited(ex->context)) {
        return EIO;
    }
    pthread_mutex_lock(&cq_of_ex(ex)->batch);
    int error = next_poll(ex);
    if (error != 0) {
        end_poll(ex);
    }
    return error;
}

static int next_of_batch(struct ibv_cq_ex *ex) {
    return context_is_inherited(ex->context) ? EIO : next_poll(ex);
}

#define READ(type, name, value)                                                                                       \
    static type read_##name(struct ibv_cq_ex *ex) {                                                                   \
        const struct cq *cq = cq_of_ex(ex);                                                                           \
        return value;                                                                                                 \
    }

READ(enum ibv_wc_opcode, opcode, cq->wc.opcode)
READ(uint32_t, vendor_err, cq->wc.vendor_err)
READ(uint32_t, byte_len, cq->wc.byte_len)
READ(__be32, imm_data, cq->wc.imm_data) /* union with the invalidated key */
READ(uint32_t, qp_num, cq->wc.qp_num)
READ(uint32_t, src_qp, cq->wc.src_qp)
READ(unsigned int, wc_flags, cq->wc.wc_flags)
READ(uint32_t, slid, cq->wc.slid)
READ(uint8_t, sl, cq->wc.sl)
READ(uint8_t, dlid_path_bits, cq->wc.dlid_path_bits)
READ(uint64_t, completion_ts, cq->time.raw)
READ(uint64_t, completion_wallclock_ns, cq->time.wall)

/* Returns 0 or errno. */
static int check(const struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr) {
    if ((attr->wc_flags & ~(uint64_t) (IBV_WC_STANDARD_FLAGS | TIMES)) != 0) {
        return EOPNOTSUPP;
    }
    if (attr->cqe > DEVICE_MAX_CQE
            || (attr->comp_mask & ~(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)) != 0) {
        return EINVAL;
    }
    /*
     * Entries that were not polled are never overwritten. A single thread is not alone, because the engine works beside
     * it.
     */
    if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0
            && (attr->flags & ~(uint32_t) IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0) {
        return EOPNOTSUPP;
    }
    if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) == 0) {
        return 0;
    }
    struct ibv_pd *parent = attr->parent_domain;
    return parent != NULL && parent->context == context && pd_of(parent)->of != NULL ? 0 : EINVAL;
}

struct ibv_cq_ex *cq_create_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr) {
    int error = check(context, attr);
    if (error != 0) {
        errno = error;
        return NULL;
    }
    struct ibv_cq *made = embedded_ibv_create_cq(context, (int) attr->cqe, attr->cq_context, attr->channel,
                                                 (int) attr->comp_vector);
    if (made == NULL) {
        return NULL;
    }
    struct cq *cq = cq_of(made);
    if ((attr->wc_flags & TIMES) != 0) {
        cq->times = malloc((cq->mask + 1) * sizeof(*cq->times));
        if (cq->times == NULL) {
            embedded_ibv_destroy_cq(made);
            errno = ENOMEM;
            return NULL;
        }
    }
    if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0) {
        cq->domain = pd_of(attr->parent_domain);
        atomic_fetch_add(&cq->domain->objects, 1);
    }
    struct ibv_cq_ex *ex = &cq->ex;
    ex->start_poll = start_poll;
    ex->next_poll = next_of_batch;
    ex->end_poll = end_poll;
    ex->read_opcode = read_opcode;
    ex->read_vendor_err = read_vendor_err;
    ex->read_byte_len = read_byte_len;
    ex->read_imm_data = read_imm_data;
    ex->read_qp_num = read_qp_num;
    ex->read_src_qp = read_src_qp;
    ex->read_wc_flags = read_wc_flags;
    ex->read_slid = read_slid;
    ex->read_sl = read_sl;
    ex->read_dlid_path_bits = read_dlid_path_bits;
    ex->read_completion_ts = read_completion_ts;
    ex->read_completion_wallclock_ns = read_completion_wallclock_ns;
    return ex;
}
