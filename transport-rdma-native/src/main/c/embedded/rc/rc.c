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
/* Operations of RC queue pairs: see rc.h. */
#include "rc.h"

#define PATH (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)

static const struct qp_transition rc_transitions[] = {
    { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0 },
    { IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
    { IBV_QPS_INIT, IBV_QPS_RTR,
      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
      IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | PATH },
    { IBV_QPS_RTR, IBV_QPS_RTS,
      IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
      IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATH },
    { IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATH },
    { IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
    { IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | PATH },
    { IBV_QPS_SQD, IBV_QPS_SQD, 0,
      IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT
              | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | PATH },
};

static const struct qp_ops ops = {
    .size = sizeof(struct rc),
    .peer_type = IBV_QPT_RC,
    .iwarp = true,
    .inline_recv = true,
    .transitions = rc_transitions,
    .num_transitions = sizeof(rc_transitions) / sizeof(rc_transitions[0]),
    .watch_posted = true,
    .fill_send = rc_fill_send,
    .run = rc_run,
    .prepare = rc_prepare,
    .detach = rc_detach,
    RC_OPS,
};

void rc_init(void) {
    qp_set_ops(IBV_QPT_RC, &ops);
    rc_attach_init();
}
