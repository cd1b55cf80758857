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
 * Operations of XRC queue pairs (IB specification, annex A14): initiators, which send only, and targets, which receive
 * only, each message for the shared receive queue that it names. Both send as RC queue pairs: rc.h. Required and
 * ignored attributes are those of the kernel: qp_state_table in verbs.c, modify_qp_mask() in uverbs_cmd.c.
 */
#include "embedded/rc/rc.h"
#include "programs.h"
#include "xrcd.h"

#define PATH (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)

/* ---- initiators ---- */

static const struct qp_transition initiator_transitions[] = {
    { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
    { IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
    { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
      IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | PATH },
    { IBV_QPS_RTR, IBV_QPS_RTS,
      IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
      IBV_QP_ACCESS_FLAGS | PATH },
    { IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS | PATH },
    { IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
    { IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS | PATH },
    { IBV_QPS_SQD, IBV_QPS_SQD, 0,
      IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT
              | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | PATH },
};

static int fill_initiator_send(const struct qp *qp, const struct ibv_send_wr *wr, struct send_wqe *wqe) {
    int error = rc_fill_send(qp, wr, wqe);
    wqe->srqn = wr->qp_type.xrc.remote_srqn;
    return error;
}

static bool run_initiator(struct qp *qp, unsigned work) {
    if (rc_of(qp)->attached != NULL && !qp->failed && consumer_ready(&qp->requests)) {
        rc_violation(qp); /* a target cannot send */
    }
    return rc_run(qp, work);
}

static const struct qp_ops initiator_ops = {
    .size = sizeof(struct rc),
    .peer_type = IBV_QPT_XRC_RECV,
    .sends_only = true,
    .transitions = initiator_transitions,
    .num_transitions = sizeof(initiator_transitions) / sizeof(initiator_transitions[0]),
    .ignored = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
    .watch_posted = true,
    .fill_send = fill_initiator_send,
    .run = run_initiator,
    .prepare = rc_prepare,
    .detach = rc_detach,
    RC_OPS,
};

/* ---- targets ---- */

static const struct qp_transition target_transitions[] = {
    { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
    { IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
    { IBV_QPS_INIT, IBV_QPS_RTR,
      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
      IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | PATH },
    { IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT, IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATH },
    { IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATH },
    { IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
    { IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATH },
    { IBV_QPS_SQD, IBV_QPS_SQD, 0,
      IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_MAX_DEST_RD_ATOMIC
              | IBV_QP_MIN_RNR_TIMER | PATH },
};

static void create_target(struct qp *qp, void *domain) {
    target_of(qp)->domain = domain;
    rc_of(qp)->srqn = RC_NO_SRQN;
}

/* Runs a target, which fails like an RC queue pair when a completion queue that it uses overflows. */
static bool run_target(struct qp *qp, unsigned work) {
    bool left = rc_run(qp, work);
    if (qp->srq != NULL && cq_has_overflowed(qp->receive_cq)) {
        qp_fail(qp, IBV_EVENT_QP_FATAL);
    }
    return left;
}

static void detach_target(struct qp *qp) {
    xrc_srq_deselect(qp);
    rc_detach(qp);
}

static const struct qp_ops target_ops = {
    .size = sizeof(struct xrc_target),
    .peer_type = IBV_QPT_XRC_SEND,
    .named_receives = true,
    .create = create_target,
    .transitions = target_transitions,
    .num_transitions = sizeof(target_transitions) / sizeof(target_transitions[0]),
    .ignored = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY,
    .run = run_target,
    .select = xrc_srq_select,
    .raise = qp_raise_to_handles,
    .prepare = rc_prepare,
    .detach = detach_target,
    RC_OPS,
};

void xrc_init(void) {
    xrcd_init();
    xrc_cq_init();
    qp_set_ops(IBV_QPT_XRC_SEND, &initiator_ops);
    qp_set_ops(IBV_QPT_XRC_RECV, &target_ops);
}
