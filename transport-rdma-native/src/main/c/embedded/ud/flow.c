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
/* Sender's end of flows: see flow.h. */
#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/device/qp.h"
#include "ud.h"

#define MAX_FLOWS 1024u /* limit of one queue pair; above it the flow that was used longest ago is closed */

/*
 * Time that a datagram waits for an answer of the receiver's process, and for room. On a busy machine the answering
 * threads wait for a processor, for some 100 ms where all of them poll.
 */
#define ANSWER_PATIENCE_NS UINT64_C(1000000000)

_Atomic uint64_t flow_room_patience_ns = UINT64_C(200000000);

static _Atomic uint32_t next_id = 1;

void flow_free(struct qp *qp, struct flow *flow) {
    flow_table_remove(&ud_of(qp)->flows, flow);
    if (flow->to_recv_cq.cq != NULL) {
        process_renounce(&flow->to_recv_cq);
    }
    if (flow->receiver != NULL) {
        arenas_leave(peer_arenas(flow->peer), flow->view, &flow->place);
    }
    if (flow->peer != NULL) {
        const uint32_t published[WIRE_STREAMS] = { flow->out.prod };
        arenas_release(peer_arenas(flow->peer), flow->arena, flow->segment, published);
        peer_end_use(flow->peer, &flow->use);
        peer_put(flow->peer);
    }
    free(flow);
}

static int send_message(const struct qp *qp, const struct flow *flow, enum wire_message type,
                        struct wire_flow *message, const int *fds, int nfds) {
    message->src_qpn = qp->ibv.qp_num;
    message->dst_qpn = flow->qpn;
    message->id = flow->id;
    return peer_send(flow->peer, type, message, sizeof(*message), fds, nfds);
}

void flow_close(struct qp *qp, struct flow *flow) {
    if (flow->peer != NULL && flow->state != FLOW_REFUSED) {
        struct wire_flow message = { 0 };
        /* A failure means that the link is down, which closes the flow as well. */
        send_message(qp, flow, WIRE_FLOW_CLOSE, &message, NULL, 0);
    }
    flow_free(qp, flow);
}

struct flow *flow_find(const struct qp *qp, const struct link *link, const struct wire_flow *message) {
    struct flow *flow = flow_table_find(&ud_of(qp)->flows, message->dst_qpn);
    bool same = flow != NULL && flow->id == message->id && flow->peer != NULL && peer_link(flow->peer) == link;
    return same ? flow : NULL;
}

static bool is_past(const struct flow *flow, uint64_t patience_ns) {
    return engine_now_ns() - flow->since_ns >= patience_ns;
}

bool flow_is_overdue(const struct flow *flow) {
    return is_past(flow, ANSWER_PATIENCE_NS);
}

/* Makes a flow. NULL without memory. */
static struct flow *make(struct qp *qp, uint32_t qpn) {
    struct flow_table *table = &ud_of(qp)->flows;
    if (table->count == MAX_FLOWS) {
        flow_close(qp, flow_table_oldest(table));
    }
    struct flow *flow = calloc(1, sizeof(*flow));
    if (flow != NULL) {
        *flow = (struct flow) { .qpn = qpn, .id = atomic_fetch_add(&next_id, 1), .since_ns = engine_now_ns() };
        flow_table_add(table, flow);
    }
    return flow;
}

/* Sends the introduction. Returns 0 or errno. */
static int introduce(struct qp *qp, struct flow *flow) {
    struct arenas *arenas = peer_arenas(flow->peer);
    flow->segment = arenas_claim(arenas, &flow->arena);
    if (flow->segment == NULL) {
        return errno;
    }
    flow->own = arena_control(flow->arena, flow->segment);
    producer_init(&flow->out, flow->own, flow->segment, WIRE_REQUESTS);
    struct wire_flow message = { 0 };
    int fd = arenas_begin_introduction(arenas, flow->arena, flow->segment, &message.place);
    message.carries = fd >= 0 ? WIRE_ARENA : 0;
    int error = send_message(qp, flow, WIRE_FLOW_OPEN, &message, &fd, fd >= 0);
    arenas_end_introduction(arenas, flow->arena, flow->segment, fd >= 0, error == 0);
    if (error != 0) {
        arenas_release(arenas, flow->arena, flow->segment, (const uint32_t[WIRE_STREAMS]) { 0 });
    }
    return error;
}

/* Reaches the receiver's process. Returns 0 or errno. */
static int reach(struct qp *qp, struct flow *flow) {
    struct link *link;
    int error = link_connect_qpn(flow->qpn, &link);
    if (error == 0) {
        flow->peer = peer_of_link(link);
        error = flow->peer == NULL ? errno : 0;
        link_put(link);
    }
    if (error == 0) {
        error = peer_use(flow->peer, &flow->use, qp->ibv.qp_num) ? introduce(qp, flow) : EPIPE;
        if (error != 0) {
            peer_end_use(flow->peer, &flow->use);
            peer_put(flow->peer);
            flow->peer = NULL;
        }
    }
    if (error == 0) {
        flow->state = FLOW_OPENING;
    }
    return error;
}

/* Returns whether to wait longer for the receiver's next step. The wait began at since_ns. */
static bool waits_for(const struct flow *flow, uint64_t patience_ns) {
    if (is_past(flow, patience_ns)) {
        peer_set_silent(flow->peer, true);
    }
    return !peer_is_silent(flow->peer);
}

/* Waits for a flow that is not open yet. */
static enum flow_result await_opening(struct qp *qp, struct flow *flow) {
    if (flow->state == FLOW_UNREACHED) {
        int error = reach(qp, flow);
        if (error != 0 && error != EAGAIN) { /* EAGAIN: the process has more connections to accept first */
            flow_free(qp, flow);
            return FLOW_LOST;
        }
    }
    if (flow->peer == NULL) {
        return flow_is_overdue(flow) ? FLOW_LOST : FLOW_WAIT;
    }
    return waits_for(flow, ANSWER_PATIENCE_NS) ? FLOW_WAIT : FLOW_LOST;
}

/* Takes the receiver's acknowledgement. Returns false if it is invalid. */
static bool take_ack(struct flow *flow) {
    uint64_t word = atomic_load(&flow->receiver->stream[WIRE_REQUESTS].ack);
    if (WIRE_ACK_COUNT(word) == flow->out.acked) {
        return true;
    }
    bool valid = producer_acked(&flow->out, WIRE_ACK_COUNT(word));
    /*
     * Ends the wait only when all that filled the ring is acknowledged. Otherwise each datagram would begin a wait of
     * its own, if the receiver takes one now and then.
     */
    if (flow->since_ns != 0 && (int32_t) (flow->out.acked - flow->full_at) >= 0) {
        flow->since_ns = 0;
        peer_set_silent(flow->peer, false);
    }
    return valid;
}

static struct wire_slot *claim(struct flow *flow, uint32_t length, uint32_t *offset) {
    struct wire_slot *slot = producer_slot(&flow->out);
    *offset = WIRE_INLINE;
    if (slot != NULL && length > WIRE_INLINE_SIZE) {
        *offset = producer_claim(&flow->out, length);
        slot = *offset == WIRE_INLINE ? NULL : slot;
    }
    return slot;
}

/* Returns a slot, or NULL and in *result what becomes of the datagram. */
static struct wire_slot *find_room(struct qp *qp, struct flow *flow, uint32_t length, uint32_t *offset,
                                   enum flow_result *result) {
    struct wire_slot *slot = NULL;
    *result = FLOW_LOST;
    for (int look = 0; slot == NULL && look < 2; look++) {
        if (!take_ack(flow)) {
            link_abort(peer_link(flow->peer));
            flow_free(qp, flow);
            return NULL;
        }
        slot = claim(flow, length, offset);
        if (slot == NULL && look == 0) {
            /* take_ack() again: the acknowledgement may be there by now. */
            producer_want(&flow->out, flow->own, WIRE_REQUESTS);
        }
    }
    if (slot == NULL) {
        if (flow->since_ns == 0) {
            flow->since_ns = engine_now_ns();
            flow->full_at = flow->out.prod;
        }
        *result = waits_for(flow, flow_room_patience_ns) ? FLOW_WAIT : FLOW_LOST;
    }
    return slot;
}

void flow_prepare(struct qp *qp, uint32_t qpn) {
    struct flow *flow = flow_table_find(&ud_of(qp)->flows, qpn);
    if (flow == NULL && (flow = make(qp, qpn)) != NULL) {
        await_opening(qp, flow);
    }
}

enum flow_result flow_send(struct qp *qp, uint32_t qpn, const struct datagram *datagram, const uint8_t *payload) {
    struct flow_table *table = &ud_of(qp)->flows;
    struct flow *flow = flow_table_find(table, qpn);
    if (flow != NULL && flow->state == FLOW_REFUSED) {
        flow_free(qp, flow);
        return FLOW_LOST;
    }
    if (flow != NULL && flow->state == FLOW_OPEN && atomic_load(&flow->receiver->dead) != 0) {
        flow_close(qp, flow);
        flow = NULL;
    }
    if (flow == NULL) {
        flow = make(qp, qpn);
    }
    if (flow == NULL) {
        return FLOW_LOST;
    }
    flow_table_use(table, flow);
    if (flow->state != FLOW_OPEN) {
        return await_opening(qp, flow);
    }
    uint32_t offset;
    enum flow_result result;
    struct wire_slot *slot = find_room(qp, flow, datagram->length, &offset, &result);
    if (slot == NULL) {
        return result;
    }
    uint8_t *to = offset == WIRE_INLINE ? slot->payload : flow->out.slab + offset;
    producer_copy(&flow->out, to, payload, datagram->length);
    struct wire_desc *desc = &slot->desc;
    desc->op = datagram->op;
    desc->flags = datagram->flags;
    desc->reserved = datagram->sl;
    desc->length = datagram->length;
    desc->slab = offset;
    desc->total = datagram->total;
    desc->imm = datagram->imm;
    desc->rkey = datagram->qkey;
    producer_publish(&flow->out, slot);
    process_signal(&flow->to_recv_cq, (datagram->flags & WIRE_SOLICITED) != 0 ? WAKE_SOLICITED : WAKE_EVENT);
    return FLOW_SENT;
}

void flow_acknowledge(struct qp *qp, struct rx_flow *rx_flow) {
    if (consumer_acknowledge(&rx_flow->requests, rx_flow->own, rx_flow->sender, WIRE_REQUESTS, WIRE_OK)) {
        const struct wire_flow message = {
            .src_qpn = rx_flow->src_qpn, .dst_qpn = qp->ibv.qp_num, .id = rx_flow->id,
        };
        peer_send(rx_flow->peer, WIRE_FLOW_ROOM, &message, sizeof(message), NULL, 0);
    }
}
