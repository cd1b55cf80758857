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
 * Datagrams to receives: see ud.h. A faulty datagram is dropped without a message to its sender, and the receive stays
 * posted (IB specification 9.9.3, faults of class D).
 */
#include "embedded/base/container_of.h"
#include "embedded/base/epoch.h"
#include "embedded/device/srq.h"
#include "ud.h"

#include <string.h>

/* Number of datagrams that one call takes, roughly. */
#define BUDGET_DATAGRAMS 256

/* Returns whether no honest end of this provider would send the datagram. */
static bool is_malformed(const struct wire_desc *desc) {
    uint32_t header = (desc->flags & WIRE_GRH) != 0 ? UD_GRH_BYTES : 0;
    return (desc->op != WIRE_SEND && desc->op != WIRE_SEND_IMM) || desc->total > UD_MTU
            || desc->length != desc->total + header || ((desc->flags & WIRE_MULTICAST) != 0 && header == 0);
}

static bool is_for(const struct qp *qp, const struct wire_desc *desc, const uint8_t *payload) {
    if (!ud_may_receive(qp_state(qp)) || desc->rkey != qp->attr.qkey) {
        return false;
    }
    if ((desc->flags & WIRE_MULTICAST) == 0) {
        return true;
    }
    union ibv_gid gid;
    memcpy(&gid, payload + offsetof(struct ibv_grh, dgid), sizeof(gid));
    return ud_is_member(ud_of(qp), &gid);
}

/* Places a datagram. Returns the result of sge_scatter(). */
static int place(const struct qp *qp, const struct receive_wqe *wqe, const struct wire_desc *desc,
                 const uint8_t *payload) {
    static const uint8_t no_header[UD_GRH_BYTES];
    const struct ibv_pd *pd = qp->srq != NULL ? qp->srq->ibv.pd : qp->ibv.pd;
    struct sge_cursor cursor = { 0 };
    bool header = (desc->flags & WIRE_GRH) != 0;
    /* A device leaves the place of the header undefined if there is none. */
    int error = header ? 0 : sge_scatter(pd, wqe->sge, wqe->num_sge, &cursor, no_header, sizeof(no_header));
    return error != 0 ? error : sge_scatter(pd, wqe->sge, wqe->num_sge, &cursor, payload, desc->length);
}

static void deliver(struct qp *qp, const struct rx_flow *rx_flow, const struct wire_desc *desc,
                    const uint8_t *payload) {
    const struct receive_wqe *wqe = qp->failed || !is_for(qp, desc, payload) ? NULL : qp_next_receive(qp);
    if (wqe == NULL || desc->total + UD_GRH_BYTES > wqe->length) {
        return;
    }
    int error = place(qp, wqe, desc, payload);
    bool imm = desc->op == WIRE_SEND_IMM;
    qp_finish_receive(qp);
    const struct cqe cqe = {
        .wc = {
            .wr_id = wqe->wr_id,
            .status = error == 0 ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR,
            .opcode = IBV_WC_RECV,
            .vendor_err = (uint32_t) error,
            .byte_len = desc->total + UD_GRH_BYTES,
            .imm_data = imm ? desc->imm : 0,
            .qp_num = qp->ibv.qp_num,
            .src_qp = rx_flow->src_qpn,
            .wc_flags = (imm ? IBV_WC_WITH_IMM : 0) | ((desc->flags & WIRE_GRH) != 0 ? IBV_WC_GRH : 0),
            .slid = DEVICE_LID,
            .sl = (uint8_t) desc->reserved,
        },
        .tail = &qp->rq.tail,
        .end = qp->rq.done,
    };
    cq_push(qp->recv_cq, &cqe, (desc->flags & WIRE_SOLICITED) != 0);
    if (error != 0) {
        qp_fail(qp, -1);
    }
}

/*
 * Takes at most as many datagrams as an honest sender can have published at a time, because other flows wait for their
 * turn. Returns their number.
 */
static int take(struct qp *qp, struct rx_flow *rx_flow) {
    int count = 0;
    while (count < (int) WIRE_REQUEST_SLOTS && !rx_flow->broken && consumer_ready(&rx_flow->requests)) {
        struct wire_desc desc;
        const uint8_t *payload;
        if (!consumer_read(&rx_flow->requests, &desc, &payload) || is_malformed(&desc)) {
            rx_flow->broken = true;
            link_abort(peer_link(rx_flow->peer));
            break;
        }
        deliver(qp, rx_flow, &desc, payload);
        consumer_advance(&rx_flow->requests);
        count++;
    }
    if (count > 0) {
        flow_acknowledge(qp, rx_flow);
    }
    return count;
}

/* ---- flows take turns, so that a flooding sender only delays the others ---- */

void ud_announce(struct ud *ud, struct rx_flow *rx_flow) {
    if (atomic_exchange(&rx_flow->announced, true)) {
        return;
    }
    rx_flow->next_announced = atomic_load(&ud->announced);
    while (!atomic_compare_exchange_weak(&ud->announced, &rx_flow->next_announced, rx_flow)) {
    }
}

void ud_found(struct cq_place *place) {
    ud_announce(ud_of(place->qp), container_of(place, struct rx_flow, place));
}

/* Moves announced flows to the queue. The latest is the first of the stack, and becomes the last of the queue. */
static void collect(struct ud *ud) {
    struct rx_flow *latest = atomic_exchange(&ud->announced, NULL);
    STAILQ_HEAD(, rx_flow) in_turn = STAILQ_HEAD_INITIALIZER(in_turn);
    for (; latest != NULL; latest = latest->next_announced) {
        STAILQ_INSERT_HEAD(&in_turn, latest, queued);
    }
    STAILQ_CONCAT(&ud->queue, &in_turn);
}

void ud_forget(struct ud *ud, struct rx_flow *rx_flow) {
    collect(ud);
    struct rx_flow *other;
    STAILQ_FOREACH(other, &ud->queue, queued) {
        if (other == rx_flow) {
            STAILQ_REMOVE(&ud->queue, rx_flow, rx_flow, queued);
            break;
        }
    }
}

bool ud_receive(struct qp *qp) {
    struct ud *ud = ud_of(qp);
    struct rx_flow *rx_flow;
    collect(ud);
    for (int budget = BUDGET_DATAGRAMS; budget > 0 && (rx_flow = STAILQ_FIRST(&ud->queue)) != NULL;) {
        STAILQ_REMOVE_HEAD(&ud->queue, queued);
        /*
         * Cleared before the look, so that a later announcement queues the flow again. The exchange makes published
         * datagrams visible.
         */
        atomic_exchange(&rx_flow->announced, false);
        budget -= take(qp, rx_flow);
        if (!rx_flow->broken && consumer_ready(&rx_flow->requests) && !atomic_exchange(&rx_flow->announced, true)) {
            STAILQ_INSERT_TAIL(&ud->queue, rx_flow, queued);
        }
    }
    return !STAILQ_EMPTY(&ud->queue);
}

void ud_drain(struct qp *qp, struct rx_flow *rx_flow) {
    epoch_enter();
    take(qp, rx_flow);
    epoch_leave();
}
