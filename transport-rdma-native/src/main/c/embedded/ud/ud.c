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
/* Unreliable datagrams: see ud.h. */
#include "ud.h"

#include <errno.h>
#include <time.h>

#include "embedded/base/cancel.h"
#include "embedded/base/epoch.h"
#include "embedded/device/watch.h"

static const struct qp_transition ud_transitions[] = {
    { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0 },
    { IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY },
    { IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
    { IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_QKEY },
    { IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_QKEY },
    { IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_QKEY },
};

#define LINGER_NS UINT64_C(1000000000)
#define LINGER_STEP_NS 50000

static void create(struct qp *qp, void *unused) {
    (void) unused;
    struct ud *ud = ud_of(qp);
    STAILQ_INIT(&ud->queue);
    pthread_mutex_init(&ud->attaching, NULL);
}

static void destroy(struct qp *qp) {
    pthread_mutex_destroy(&ud_of(qp)->attaching);
}

static void close_flow(struct qp *qp, struct flow *flow, const void *unused) {
    (void) unused;
    flow_close(qp, flow);
}

static void leave_cqs(struct qp *qp) {
    flow_leave_cqs(qp);
}

static void detach(struct qp *qp) {
    struct ud *ud = ud_of(qp);
    flow_table_visit(qp, close_flow, NULL);
    ud->detached = ud->rx_flows;
    for (struct rx_flow *rx_flow = ud->detached; rx_flow != NULL; rx_flow = rx_flow->next) {
        flow_refuse(qp, rx_flow);
    }
    ud->rx_flows = NULL;
    ud->num_rx_flows = 0;
    atomic_store(&ud->announced, NULL);
    STAILQ_INIT(&ud->queue);
    ud_drop_sends(qp);
}

static void release(struct qp *qp, bool destroyed) {
    struct ud *ud = ud_of(qp);
    (void) destroyed;
    flow_free_incoming(ud->detached);
    ud->detached = NULL;
}

static bool run(struct qp *qp, unsigned work) {
    UNCANCELLED;
    bool left = false;
    epoch_enter();
    if ((work & QP_WORK_ALL) != 0) {
        left = ud_receive(qp);
    }
    left |= ud_send(qp);
    epoch_leave();
    /* Waiting datagrams are tried again by polls that find nothing, and by the engine's rounds, which end the wait. */
    if (ud_of(qp)->pending) {
        cq_defer_doorbell(qp->send_cq, qp);
        atomic_store(&qp->next_round_ns, engine_now_ns() + WATCH_ROUND_NS);
        watch_qp(qp, WATCH_ROUND_NS);
    } else {
        atomic_store(&qp->next_round_ns, 0);
    }
    return left;
}

/*
 * Waits until posted datagrams are sent, for a limited time, because a device has sent them before its queue pair is
 * destroyed.
 */
static void linger(struct qp *qp) {
    uint64_t end = engine_now_ns() + LINGER_NS;
    bool pending;
    do {
        qp_lock(qp);
        pending = ud_of(qp)->pending;
        qp_unlock(qp);
        if (pending) {
            nanosleep(&(struct timespec) { .tv_nsec = LINGER_STEP_NS }, NULL);
        }
    } while (pending && engine_now_ns() < end);
}

static int begin_destroy(struct qp *qp) {
    if (ud_is_attached(qp)) {
        return EBUSY; /* ibv_attach_mcast(3) */
    }
    linger(qp);
    return 0;
}

static const struct qp_ops ops = {
    .size = sizeof(struct ud),
    .needs_name = true,
    .transitions = ud_transitions,
    .num_transitions = sizeof(ud_transitions) / sizeof(ud_transitions[0]),
    .create = create,
    .destroy = destroy,
    .fill_send = ud_fill_send,
    .release_send = ud_release_send,
    .run = run,
    .begin_destroy = begin_destroy,
    .link_lost = flow_link_lost,
    .leave_cqs = leave_cqs,
    .detach = detach,
    .release = release,
};

void ud_init(void) {
    qp_set_ops(IBV_QPT_UD, &ops);
    flow_init();
}
