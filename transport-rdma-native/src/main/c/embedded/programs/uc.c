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
 * Operations of UC queue pairs, which have no READs and no atomics. Messages are sent as by RC queue pairs: rc.h. A
 * receiver drops what it cannot take (rc_receive.c). A send is complete when the peer has consumed it. Then the sender
 * may go, as on a wire. A message that the peer does not take (it is gone, it is stopped, or it was never there) counts
 * as sent after a time, because a device gets no error either.
 */
#include <errno.h>

#include "embedded/base/epoch.h"
#include "embedded/rc/rc.h"
#include "programs.h"

_Atomic uint64_t uc_patience_ns = UINT64_C(4000000000);

/* UC queue pair. */
struct uc {
    struct rc rc;
    bool unheard;        /* the peer took nothing for long; guarded by the gate */
    uint32_t unheard_at; /* stream position that the peer had acknowledged by then */
    const struct attachment *unheard_of; /* the peer's end then; NULL: it had not introduced itself */
};

#define PATH (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)

static const struct qp_transition uc_transitions[] = {
    { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
    { IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
    { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
      IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | PATH },
    { IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_ACCESS_FLAGS | PATH },
    { IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS | PATH },
    { IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
    { IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS | PATH },
    { IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_AV | PATH },
    { IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS },
};

static int fill_send(const struct qp *qp, const struct ibv_send_wr *wr, struct send_wqe *wqe) {
    bool answered = wqe->op >= WIRE_READ && wqe->op < QP_OP_BIND_MW;
    return answered ? EINVAL : rc_fill_send(qp, wr, wqe);
}

/* ---- sends that the peer does not take ---- */

static struct uc *uc_of(const struct qp *qp) {
    return container_of(qp, struct uc, rc.qp);
}

static bool is_lost(struct qp *qp) {
    struct uc *uc = uc_of(qp);
    const struct rc *rc = &uc->rc;
    if (uc->unheard && (rc->out.acked != uc->unheard_at || rc->attached != uc->unheard_of)) {
        uc->unheard = false;
    }
    return uc->unheard || rc->peer_gone || (rc->attached != NULL && atomic_load(&rc->attached->control->dead) != 0);
}

static void prepare(struct qp *qp) {
    uc_of(qp)->unheard = false;
    rc_prepare(qp);
}

/*
 * Finds the faults of a request that was not staged, which a device finds out without a peer. Called within an epoch
 * section.
 */
static enum ibv_wc_status find_fault(struct qp *qp, struct send_wqe *wqe) {
    if (wqe->op >= QP_OP_BIND_MW) {
        return rc_carry_out(qp, wqe) ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR;
    }
    if (!wqe->inlined && !sge_allows(&qp->pd->ibv, wqe->sge, wqe->num_sge, wqe->total, 0)) {
        wqe->vendor_err = EACCES;
        return IBV_WC_LOC_PROT_ERR;
    }
    return IBV_WC_SUCCESS;
}

/* Completes outstanding requests. Staged ones are on their way, the others are lost. */
static void complete_unheard(struct qp *qp) {
    bool drains = qp_state(qp) == IBV_QPS_SQD;
    uint32_t end = drains ? qp->staged + qp_is_staging(qp) : atomic_load_explicit(&qp->sq.head, memory_order_acquire);
    epoch_enter();
    while (qp->sq.done != end) {
        struct send_wqe *wqe = work_queue_at(&qp->sq, qp->sq.done);
        enum ibv_wc_status status = wqe->fault != 0 ? (enum ibv_wc_status) wqe->fault
                : wqe->staged ? IBV_WC_SUCCESS : find_fault(qp, wqe);
        if (status != IBV_WC_SUCCESS) {
            rc_fail_send(qp, status);
            break;
        }
        qp_complete_send(qp, IBV_WC_SUCCESS);
    }
    epoch_leave();
}

/* Skips completed requests, which are not staged any more. */
static void skip_completed(struct qp *qp) {
    if ((int32_t) (qp->sq.done - qp->staged) > 0) {
        qp->staged = qp->sq.done;
    }
}

static bool run(struct qp *qp, unsigned work) {
    struct rc *rc = rc_of(qp);
    bool left = rc_run(qp, work);
    if (qp_state(qp) == IBV_QPS_SQE) {
        qp_flush_sends(qp);
        skip_completed(qp);
    }
    if (qp->failed || !qp_sends_in(qp_state(qp)) || !qp_has_outstanding(qp)) {
        return left;
    }
    if ((work & QP_WORK_WATCH) != 0 && rc->stalled_since_ns != 0
            && engine_now_ns() - rc->stalled_since_ns >= uc_patience_ns) {
        struct uc *uc = uc_of(qp);
        uc->unheard = true;
        uc->unheard_at = rc->out.acked;
        uc->unheard_of = rc->attached;
    }
    if (is_lost(qp)) {
        complete_unheard(qp);
        skip_completed(qp);
        left = qp->announces_drained; /* the next call announces it */
    }
    return left;
}

static const struct qp_ops ops = {
    .size = sizeof(struct uc),
    .peer_type = IBV_QPT_UC,
    .transitions = uc_transitions,
    .num_transitions = sizeof(uc_transitions) / sizeof(uc_transitions[0]),
    .watch_posted = true,
    .unreliable = true,
    .fill_send = fill_send,
    .run = run,
    .prepare = prepare,
    .detach = rc_detach,
    RC_OPS,
};

void uc_init(void) {
    qp_set_ops(IBV_QPT_UC, &ops);
}
