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
/* Messages of peers about flows, and the receiver's end of flows: see flow.h. Runs on the engine thread. */
#include "flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/device/channel.h"
#include "embedded/device/qp.h"
#include "ud.h"

#define MAX_RX_FLOWS 1024u /* limit of one queue pair; beyond it the oldest flow goes, and its sender opens another */

/* ---- the receiver's end ---- */

void flow_refuse(struct qp *qp, struct rx_flow *rx_flow) {
    const struct wire_flow message = { .src_qpn = rx_flow->src_qpn, .dst_qpn = qp->ibv.qp_num, .id = rx_flow->id };
    atomic_store(&rx_flow->own->dead, 1); /* dead now: by the time of the message there may be a new flow to be made */
    peer_send(rx_flow->peer, WIRE_FLOW_REFUSE, &message, sizeof(message), NULL, 0);
}

/* Called with control, without the gate. */
static void leave_cqs(struct rx_flow *rx_flow) {
    if (rx_flow->place.process != NULL) {
        cq_scan_remove(rx_flow->place.qp->recv_cq, &rx_flow->place);
        process_put(rx_flow->place.process);
        rx_flow->place.process = NULL;
    }
}

void flow_leave_cqs(struct qp *qp) {
    for (struct rx_flow *rx_flow = ud_of(qp)->rx_flows; rx_flow != NULL; rx_flow = rx_flow->next) {
        leave_cqs(rx_flow);
    }
}

/* Called with control and the gate. */
static void unlink_incoming(struct qp *qp, struct rx_flow *rx_flow) {
    struct ud *ud = ud_of(qp);
    ud_forget(ud, rx_flow);
    struct rx_flow **link = &ud->rx_flows;
    while (*link != rx_flow) {
        link = &(*link)->next;
    }
    *link = rx_flow->next;
    rx_flow->next = NULL;
    ud->num_rx_flows--;
}

static void free_incoming(struct rx_flow *rx_flow) {
    struct arenas *arenas = peer_arenas(rx_flow->peer);
    arenas_leave(arenas, rx_flow->view, &rx_flow->place_of_sender);
    arenas_release(arenas, rx_flow->arena, rx_flow->own_segment, (const uint32_t[WIRE_STREAMS]) { 0 });
    peer_end_use(rx_flow->peer, &rx_flow->use);
    peer_put(rx_flow->peer);
    free(rx_flow);
}

void flow_free_incoming(struct rx_flow *rx_flows) {
    while (rx_flows != NULL) {
        struct rx_flow *next = rx_flows->next;
        free_incoming(rx_flows);
        rx_flows = next;
    }
}

static struct rx_flow *find_incoming(const struct qp *qp, const struct link *link, uint32_t id) {
    struct rx_flow *rx_flow = ud_of(qp)->rx_flows;
    while (rx_flow != NULL && (rx_flow->id != id || peer_link(rx_flow->peer) != link)) {
        rx_flow = rx_flow->next;
    }
    return rx_flow;
}

/* Executes arrived datagrams, then ends the flow. Called with control, without the gate. */
static void end_incoming(struct qp *qp, struct rx_flow *rx_flow) {
    leave_cqs(rx_flow);
    qp_lock(qp);
    ud_drain(qp, rx_flow);
    unlink_incoming(qp, rx_flow);
    qp_unlock(qp);
    free_incoming(rx_flow);
}

/*
 * Makes an incoming flow with a reference to the peer. Returns NULL with errno, after the peer was told. EPROTO: the
 * segment is wrong.
 */
static struct rx_flow *make_incoming(struct peer *peer, const struct wire_flow *message, int arena_fd) {
    struct arenas *arenas = peer_arenas(peer);
    struct rx_flow *rx_flow = calloc(1, sizeof(*rx_flow));
    struct view *view;
    const struct wire_segment *segment = rx_flow == NULL ? NULL : arenas_view(arenas, &message->place, arena_fd, &view);
    if (segment == NULL) {
        int error = rx_flow == NULL ? ENOMEM : errno;
        arenas_decline(arenas, &message->place);
        free(rx_flow);
        errno = error;
        return NULL;
    }
    struct arena *arena;
    struct wire_segment *own = arenas_claim(arenas, &arena);
    if (own == NULL) {
        arenas_leave(arenas, view, &message->place);
        free(rx_flow);
        errno = ENOMEM;
        return NULL;
    }
    *rx_flow = (struct rx_flow) {
        .peer = peer_get(peer),
        .src_qpn = message->src_qpn,
        .id = message->id,
        .view = view,
        .place_of_sender = message->place,
        .sender = view_control(view, segment),
        .arena = arena,
        .own_segment = own,
        .own = arena_control(arena, own),
    };
    peer_use(peer, &rx_flow->use, message->dst_qpn);
    consumer_init(&rx_flow->requests, rx_flow->sender, segment, WIRE_REQUESTS);
    return rx_flow;
}

static int accept_flow(struct qp *qp, struct rx_flow *rx_flow) {
    struct arenas *arenas = peer_arenas(rx_flow->peer);
    struct ibv_comp_channel *channel = qp->recv_cq->ibv.channel;
    struct wire_flow message = {
        .src_qpn = rx_flow->src_qpn,
        .dst_qpn = qp->ibv.qp_num,
        .id = rx_flow->id,
        .cq = (uint32_t) qp->recv_cq->index,
        .cq_id = qp->recv_cq->id,
    };
    int fds[2], nfds = 0;
    fds[0] = arenas_begin_introduction(arenas, rx_flow->arena, rx_flow->own_segment, &message.place);
    if (fds[0] >= 0) {
        message.carries |= WIRE_ARENA;
        nfds++;
    }
    int doorbell = channel_lend_doorbell(channel, link_peer(peer_link(rx_flow->peer)));
    if (doorbell >= 0) {
        message.carries |= WIRE_RECV_DOORBELL;
        fds[nfds++] = doorbell;
    }
    int error = peer_send(rx_flow->peer, WIRE_FLOW_ACCEPT, &message, sizeof(message), fds, nfds);
    channel_doorbell_lent(channel, doorbell);
    arenas_end_introduction(arenas, rx_flow->arena, rx_flow->own_segment, (message.carries & WIRE_ARENA) != 0,
                            error == 0);
    return error;
}

static void make_place(struct qp *qp) {
    struct ud *ud = ud_of(qp);
    if (ud->num_rx_flows == MAX_RX_FLOWS) {
        struct rx_flow *last = ud->rx_flows;
        while (last->next != NULL) {
            last = last->next;
        }
        flow_refuse(qp, last);
        end_incoming(qp, last);
    }
}

/* Opens an incoming flow. Called with control. Returns 0 or errno. */
static int open_incoming(struct qp *qp, struct peer *peer, const struct wire_flow *message, int arena_fd) {
    struct ud *ud = ud_of(qp);
    if (atomic_load(&qp->destroyed) || !ud_may_receive(qp_state(qp))) {
        arenas_decline(peer_arenas(peer), &message->place);
        return ECONNREFUSED;
    }
    if (find_incoming(qp, peer_link(peer), message->id) != NULL) {
        return EPROTO;
    }
    make_place(qp);
    struct rx_flow *rx_flow = make_incoming(peer, message, arena_fd);
    if (rx_flow == NULL) {
        return errno;
    }
    int error = accept_flow(qp, rx_flow);
    if (error != 0) {
        free_incoming(rx_flow);
        return error;
    }
    qp_lock(qp);
    rx_flow->next = ud->rx_flows;
    ud->rx_flows = rx_flow;
    ud->num_rx_flows++;
    qp_unlock(qp);
    return 0;
}

/* ---- messages ---- */

struct subject {
    struct qp *qp; /* queue pair, with its control; NULL: there is no such UD queue pair */
    struct peer *peer;
    struct wire_flow message;
};

/* Begins to handle a message. `to_sender`: it is for the end that sends datagrams. Returns false if it is malformed. */
static bool begin(struct link *link, const struct link_message *incoming, bool to_sender, struct subject *subject) {
    if (incoming->length != sizeof(subject->message)) {
        return false;
    }
    memcpy(&subject->message, incoming->body, incoming->length);
    subject->peer = peer_of_link(link);
    /* WIRE_NOTIFY_AREA comes before anything else */
    if (subject->peer == NULL || peer_process(subject->peer) == NULL) {
        if (subject->peer != NULL) {
            peer_put(subject->peer);
        }
        return false;
    }
    struct qp *qp = qp_table_find(to_sender ? subject->message.src_qpn : subject->message.dst_qpn);
    if (qp != NULL && !is_ud(qp)) {
        qp_put(qp);
        qp = NULL;
    }
    subject->qp = qp;
    if (qp != NULL) {
        pthread_mutex_lock(&qp->control);
    }
    return true;
}

static void end(struct subject *subject) {
    if (subject->qp != NULL) {
        pthread_mutex_unlock(&subject->qp->control);
        qp_put(subject->qp);
    }
    peer_put(subject->peer);
}

static bool on_open(struct link *link, const struct link_message *incoming) {
    struct subject s;
    if (!begin(link, incoming, false, &s)) {
        return false;
    }
    bool with_arena = (s.message.carries & WIRE_ARENA) != 0;
    int error = ECONNREFUSED;
    if (incoming->nfds != with_arena) {
        error = EPROTO;
    } else if (s.qp == NULL) {
        arenas_decline(peer_arenas(s.peer), &s.message.place);
    } else {
        error = open_incoming(s.qp, s.peer, &s.message, with_arena ? incoming->fds[0] : -1);
    }
    if (error != 0 && error != EPROTO) {
        peer_send(s.peer, WIRE_FLOW_REFUSE, &s.message, sizeof(s.message), NULL, 0);
    }
    end(&s);
    return error != EPROTO;
}

static bool on_lost_open(struct link *link, const struct link_message *incoming) {
    struct subject s;
    if (!begin(link, incoming, false, &s)) {
        return false;
    }
    arenas_decline(peer_arenas(s.peer), &s.message.place);
    peer_send(s.peer, WIRE_FLOW_REFUSE, &s.message, sizeof(s.message), NULL, 0);
    end(&s);
    return true;
}

/* Called with the gate. Returns 0 or errno, EPROTO for messages that no honest peer sends. */
static int complete_opening(struct flow *flow, const struct wire_flow *message, int *fds) {
    struct arenas *arenas = peer_arenas(flow->peer);
    bool with_arena = (message->carries & WIRE_ARENA) != 0;
    int none = -1, *doorbell = (message->carries & WIRE_RECV_DOORBELL) != 0 ? &fds[with_arena] : &none;
    const struct wire_segment *segment = arenas_view(arenas, &message->place, with_arena ? fds[0] : -1, &flow->view);
    if (segment == NULL) {
        int error = errno;
        arenas_decline(arenas, &message->place);
        return error;
    }
    flow->receiver = view_control(flow->view, segment);
    flow->place = message->place;
    if (!process_announce(peer_process(flow->peer), message->cq, message->cq_id, doorbell, &flow->to_recv_cq)) {
        return ENOMEM;
    }
    arenas_answered(arenas, flow->arena);
    flow->state = FLOW_OPEN;
    flow->since_ns = 0;
    struct wire_flow slot = { .src_qpn = message->src_qpn, .dst_qpn = message->dst_qpn, .id = message->id };
    slot.bank = flow->to_recv_cq.bank;
    slot.slot = flow->to_recv_cq.slot;
    return peer_send(flow->peer, WIRE_FLOW_SLOT, &slot, sizeof(slot), NULL, 0);
}

/* Ends the opening. The datagram that waits for it is lost. Later datagrams find no flow and do not wait. */
static void end_opening(struct qp *qp, struct flow *flow) {
    if (flow_is_overdue(flow)) {
        flow_free(qp, flow);
    } else {
        flow->state = FLOW_REFUSED;
    }
}

/* Gives up for lack of memory or descriptors: waiting datagrams are lost. Called with the gate. */
static void give_up_opening(struct qp *qp, struct flow *flow, const struct wire_flow *message) {
    peer_send(flow->peer, WIRE_FLOW_CLOSE, message, sizeof(*message), NULL, 0);
    end_opening(qp, flow);
}

/*
 * Handles WIRE_FLOW_ACCEPT, with the control of s->qp, which is not destroyed. Returns false for messages that no
 * honest peer sends.
 */
static bool accepted(struct subject *s, int *fds) {
    bool valid = true;
    qp_lock(s->qp);
    struct flow *flow = flow_find(s->qp, peer_link(s->peer), &s->message);
    if (flow != NULL && flow->state == FLOW_OPENING) {
        peer_set_silent(s->peer, false);
        int error = complete_opening(flow, &s->message, fds);
        valid = error != EPROTO;
        if (error != 0) {
            give_up_opening(s->qp, flow, &s->message);
        }
    } else {
        arenas_decline(peer_arenas(s->peer), &s->message.place); /* the flow was closed, as the receiver will hear */
    }
    qp_unlock(s->qp);
    qp_kick(s->qp, QP_WORK_SEND);
    return valid;
}

static bool on_accept(struct link *link, const struct link_message *incoming) {
    struct subject s;
    if (!begin(link, incoming, true, &s)) {
        return false;
    }
    int expected = ((s.message.carries & WIRE_ARENA) != 0) + ((s.message.carries & WIRE_RECV_DOORBELL) != 0);
    bool valid = s.message.cq < NOTIFY_CQS && incoming->nfds == expected;
    if (valid && s.qp != NULL && !atomic_load(&s.qp->destroyed)) {
        valid = accepted(&s, incoming->fds);
    } else if (valid) {
        arenas_decline(peer_arenas(s.peer), &s.message.place);
    }
    end(&s);
    return valid;
}

static bool on_lost_accept(struct link *link, const struct link_message *incoming) {
    struct subject s;
    if (!begin(link, incoming, true, &s)) {
        return false;
    }
    arenas_decline(peer_arenas(s.peer), &s.message.place);
    if (s.qp != NULL && !atomic_load(&s.qp->destroyed)) {
        qp_lock(s.qp);
        struct flow *flow = flow_find(s.qp, link, &s.message);
        if (flow != NULL && flow->state == FLOW_OPENING) {
            peer_set_silent(s.peer, false); /* the peer has answered */
            give_up_opening(s.qp, flow, &s.message);
        }
        qp_unlock(s.qp);
        qp_kick(s.qp, QP_WORK_SEND);
    }
    end(&s);
    return true;
}

static bool on_slot(struct link *link, const struct link_message *incoming) {
    struct subject s;
    if (incoming->nfds != 0 || !begin(link, incoming, false, &s)) {
        return false;
    }
    bool valid = s.message.bank < NOTIFY_BANKS && s.message.slot < NOTIFY_BANK_SLOTS;
    struct rx_flow *rx_flow = s.qp == NULL ? NULL : find_incoming(s.qp, link, s.message.id);
    if (rx_flow != NULL && rx_flow->place.process != NULL) {
        valid = false;
    } else if (rx_flow != NULL && valid) {
        arenas_answered(peer_arenas(s.peer), rx_flow->arena);
        rx_flow->place = (struct cq_place) {
            .process = process_get(peer_process(s.peer)), .bank = s.message.bank, .slot = s.message.slot, .qp = s.qp,
            .found = ud_found,
        };
        if (cq_scan_add(s.qp->recv_cq, &rx_flow->place)) {
            ud_announce(ud_of(s.qp), rx_flow);
            qp_kick(s.qp, QP_WORK_ALL);
        } else {
            flow_refuse(s.qp, rx_flow);
            end_incoming(s.qp, rx_flow);
        }
    }
    end(&s);
    return valid;
}

static bool on_room(struct link *link, const struct link_message *incoming) {
    struct subject s;
    if (incoming->nfds != 0 || !begin(link, incoming, true, &s)) {
        return false;
    }
    if (s.qp != NULL && !atomic_load(&s.qp->destroyed)) {
        qp_kick(s.qp, QP_WORK_SEND);
    }
    end(&s);
    return true;
}

static bool on_refuse(struct link *link, const struct link_message *incoming) {
    struct subject s;
    if (incoming->nfds != 0 || !begin(link, incoming, true, &s)) {
        return false;
    }
    if (s.qp != NULL && !atomic_load(&s.qp->destroyed)) {
        qp_lock(s.qp);
        struct flow *flow = flow_find(s.qp, link, &s.message);
        if (flow != NULL) {
            peer_set_silent(s.peer, false);
        }
        if (flow != NULL && flow->state == FLOW_OPENING) {
            end_opening(s.qp, flow);
        } else if (flow != NULL) {
            flow_free(s.qp, flow);
        }
        qp_unlock(s.qp);
        qp_kick(s.qp, QP_WORK_SEND);
    }
    end(&s);
    return true;
}

static bool on_close(struct link *link, const struct link_message *incoming) {
    struct subject s;
    if (incoming->nfds != 0 || !begin(link, incoming, false, &s)) {
        return false;
    }
    struct rx_flow *rx_flow = s.qp == NULL ? NULL : find_incoming(s.qp, link, s.message.id);
    if (rx_flow != NULL) {
        end_incoming(s.qp, rx_flow);
    }
    end(&s);
    return true;
}

/* ---- death of the peer ---- */

static void free_if_on(struct qp *qp, struct flow *flow, const void *link) {
    if (flow->peer == NULL || peer_link(flow->peer) != link) {
        return;
    }
    if (link_is_of_another_version(link)) {
        flow->state = FLOW_REFUSED; /* a new flow would be refused as well, again and again */
    } else {
        flow_free(qp, flow);
    }
}

void flow_link_lost(struct qp *qp, const struct link *link) {
    pthread_mutex_lock(&qp->control);
    if (!atomic_load(&qp->destroyed)) {
        for (struct rx_flow *rx_flow = ud_of(qp)->rx_flows, *next; rx_flow != NULL; rx_flow = next) {
            next = rx_flow->next;
            if (peer_link(rx_flow->peer) == link) {
                end_incoming(qp, rx_flow);
            }
        }
        qp_lock(qp);
        flow_table_visit(qp, free_if_on, link);
        qp_unlock(qp);
        qp_kick(qp, QP_WORK_SEND);
    }
    pthread_mutex_unlock(&qp->control);
}

void flow_init(void) {
    link_set_handler(WIRE_FLOW_OPEN, on_open);
    link_set_lost_handler(WIRE_FLOW_OPEN, on_lost_open);
    link_set_handler(WIRE_FLOW_ACCEPT, on_accept);
    link_set_lost_handler(WIRE_FLOW_ACCEPT, on_lost_accept);
    link_set_handler(WIRE_FLOW_SLOT, on_slot);
    link_set_handler(WIRE_FLOW_ROOM, on_room);
    link_set_handler(WIRE_FLOW_REFUSE, on_refuse);
    link_set_handler(WIRE_FLOW_CLOSE, on_close);
}
