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
/* Work requests to datagrams: see ud.h. */
#include "ud.h"

#include <errno.h>
#include <string.h>

/*
 * Limit of datagrams that one call sends. Without it, a post or a poll would not return while the receiver takes as
 * fast as this end sends.
 */
#define BUDGET_DATAGRAMS 256

/* Time that a datagram for a group waits for its receivers: several processes may be silent. */
#define PATIENCE_NS UINT64_C(1000000000)

/*
 * Time that a datagram waits for a single receiver. The flow must give up earlier, and note that the process is silent,
 * or the next receiver there would be waited for as long. This limit counts if the flow begins anew.
 */
#define SINGLE_PATIENCE_NS (2 * PATIENCE_NS)

int ud_fill_send(const struct qp *qp, const struct ibv_send_wr *wr, struct send_wqe *wqe) {
    if (wqe->op > WIRE_SEND_IMM || wr->wr.ud.ah == NULL || !pd_is_same(wr->wr.ud.ah->pd, qp->ibv.pd)) {
        return EINVAL;
    }
    wqe->remote_qpn = wr->wr.ud.remote_qpn;
    wqe->remote_qkey = wr->wr.ud.remote_qkey;
    wqe->ah = ah_get(ah_of(wr->wr.ud.ah));
    return 0;
}

void ud_release_send(struct send_wqe *wqe) {
    ah_put(wqe->ah);
}

static bool gather(struct qp *qp, struct send_wqe *wqe, uint8_t *to) {
    if (wqe->inlined) {
        memcpy(to, wqe->sge, wqe->total);
        return true;
    }
    wqe->vendor_err = (uint8_t) sge_gather(&qp->pd->ibv, wqe->sge, wqe->num_sge, &wqe->cursor, to, wqe->total,
                                            false);
    return wqe->vendor_err == 0;
}

/* Prepares the datagram as it arrives, which is the same for all receivers. */
static enum ibv_wc_status prepare(struct qp *qp, struct send_wqe *wqe) {
    struct ud *ud = ud_of(qp);
    const struct ah *ah = wqe->ah;
    if (wqe->total > UD_MTU) {
        return IBV_WC_LOC_LEN_ERR;
    }
    uint32_t header = ah->attr.is_global ? UD_GRH_BYTES : 0;
    if (!gather(qp, wqe, ud->payload + header)) {
        return IBV_WC_LOC_PROT_ERR;
    }
    if (header != 0) {
        ah_make_grh(ah, wqe->total, wqe->op == WIRE_SEND_IMM, (struct ibv_grh *) ud->payload);
    }
    bool own_qkey = (wqe->remote_qkey & 0x80000000u) != 0; /* IB specification 10.2.5: the queue pair's own key */
    ud->datagram = (struct datagram) {
        .op = wqe->op,
        .flags = (uint8_t) (WIRE_FIRST | WIRE_LAST | (wqe->solicited ? WIRE_SOLICITED : 0)
                            | (header != 0 ? WIRE_GRH : 0) | (ah_is_multicast(ah) ? WIRE_MULTICAST : 0)),
        .sl = ah->attr.sl,
        .qkey = own_qkey ? qp->attr.qkey : wqe->remote_qkey,
        .imm = wqe->imm,
        .total = wqe->total,
        .length = header + wqe->total,
    };
    ud->pending = true;
    ud->next = 0;
    ud->prepared = false;
    ud->since_ns = engine_now_ns();
    return IBV_WC_SUCCESS;
}

static bool is_late(const struct ud *ud, uint64_t patience_ns) {
    return engine_now_ns() - ud->since_ns >= patience_ns;
}

/* Finds the receivers. Returns false if the members of the group are not known yet. */
static bool find_receivers(struct ud *ud, const struct send_wqe *wqe, const uint32_t **qpns, uint32_t *count) {
    if (ah_is_multicast(wqe->ah) && wqe->remote_qpn == UD_MULTICAST_QPN) {
        if (ud->next == 0 && !mcast_find_members(&wqe->ah->attr.grh.dgid, &ud->members)) {
            return false;
        }
        *qpns = ud->members.qpn;
        *count = ud->members.count;
        return true;
    }
    ud->qpn = wqe->remote_qpn;
    *qpns = &ud->qpn;
    *count = ah_leads_here(&wqe->ah->attr) ? 1 : 0;
    return true;
}

/* Opens flows to the other receivers now, so that the waits for them run at the same time. */
static void prepare_others(struct qp *qp, const uint32_t *qpns, uint32_t count) {
    struct ud *ud = ud_of(qp);
    for (uint32_t i = ud->next + 1; i < count && !ud->prepared; i++) {
        flow_prepare(qp, qpns[i]);
    }
    ud->prepared = true;
}

/* Transmits the datagram. Returns false if it has to wait. */
static bool transmit(struct qp *qp, const struct send_wqe *wqe) {
    struct ud *ud = ud_of(qp);
    const uint32_t *qpns = NULL;
    uint32_t count;
    if (!find_receivers(ud, wqe, &qpns, &count)) {
        return false;
    }
    uint64_t patience_ns = count == 1 ? SINGLE_PATIENCE_NS : PATIENCE_NS;
    for (; ud->next < count; ud->next++) {
        if (flow_send(qp, qpns[ud->next], &ud->datagram, ud->payload) == FLOW_WAIT && !is_late(ud, patience_ns)) {
            prepare_others(qp, qpns, count);
            return false;
        }
    }
    return true;
}

bool ud_send(struct qp *qp) {
    struct ud *ud = ud_of(qp);
    int budget = BUDGET_DATAGRAMS;
    bool waits = false;
    while (!waits && budget-- > 0 && !qp->failed && qp_state(qp) == IBV_QPS_RTS
            && qp->sq.done != atomic_load_explicit(&qp->sq.head, memory_order_acquire)) {
        struct send_wqe *wqe = work_queue_at(&qp->sq, qp->sq.done);
        enum ibv_wc_status status = ud->pending ? IBV_WC_SUCCESS : prepare(qp, wqe);
        if (status != IBV_WC_SUCCESS) {
            qp_fail_sends(qp, status);
        } else if (transmit(qp, wqe)) {
            ud->pending = false;
            qp_complete_send(qp, IBV_WC_SUCCESS);
        } else {
            waits = true;
        }
    }
    if (qp->failed || qp_state(qp) == IBV_QPS_SQE) {
        ud->pending = false;
        qp_flush_sends(qp);
    }
    return !waits && budget < 0;
}

void ud_drop_sends(struct qp *qp) {
    ud_of(qp)->pending = false;
    for (uint32_t i = qp->sq.done, head = atomic_load(&qp->sq.head); i != head; i++) {
        ah_put(((struct send_wqe *) work_queue_at(&qp->sq, i))->ah);
    }
}
