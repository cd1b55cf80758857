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
 * Meeting the peer's queue pair: how two ends that know each other's number come to share memory (wire.h). Each end
 * introduces itself when it reaches RTR; an introduction that comes too early is held until then. An introduction that
 * got lost, because the receiver was out of descriptors or memory, is repeated until it is answered.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/base/closer.h"
#include "embedded/device/ah.h"
#include "embedded/device/channel.h"
#include "embedded/device/watch.h"
#include "rc.h"

/*
 * Limit of introductions held for a queue pair that is not ready: the peer's, and a few from ends that are not its
 * peer.
 */
#define MAX_HELD 4

/*
 * Limit of introductions of one process that are held with their doorbells, because these could use up all descriptors.
 * Others are held without doorbells. Then the engine of their process is rung, unless the doorbell is known by another
 * queue pair.
 */
#define MAX_HELD_DOORBELLS 128

#define FIRST_INTRODUCE_GAP_NS UINT64_C(16000000)
#define MAX_INTRODUCE_GAP_NS UINT64_C(2000000000) /* long, because very many queue pairs may wait for slow peers */

static void close_doorbells(struct attachment *attachment) {
    int *doorbells[] = { &attachment->recv_doorbell, &attachment->send_doorbell };
    const bool may_signal = link_peer(peer_link(attachment->peer))->may_signal;
    for (int i = 0; i < 2; i++) {
        if (*doorbells[i] >= 0) {
            closer_close_from(*doorbells[i], may_signal);
            *doorbells[i] = -1;
        }
    }
    if (attachment->doorbells_counted) {
        attachment->doorbells_counted = false;
        link_discharge(peer_link(attachment->peer), LINK_KEPT_DOORBELLS, 1);
    }
}

static void count_doorbells(struct attachment *attachment) {
    if (attachment->recv_doorbell >= 0 || attachment->send_doorbell >= 0) {
        attachment->doorbells_counted =
                link_charge(peer_link(attachment->peer), LINK_KEPT_DOORBELLS, 1, MAX_HELD_DOORBELLS);
        if (!attachment->doorbells_counted) {
            close_doorbells(attachment);
        }
    }
}

static void free_attachment(struct attachment *attachment) {
    arenas_leave(peer_arenas(attachment->peer), attachment->view, &attachment->place);
    close_doorbells(attachment);
    peer_end_use(attachment->peer, &attachment->use);
    peer_put(attachment->peer);
    free(attachment);
}

void rc_release(struct qp *qp, bool destroyed) {
    struct rc *rc = rc_of(qp);
    while (destroyed && rc->held != NULL) {
        struct attachment *next = rc->held->next;
        free_attachment(rc->held);
        rc->held = next;
    }
}

void rc_prepare(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    qp->staged = rc->reading = qp->sq.done;
    rc->unanswered = 0;
    rc->nudged = rc->gave_room = false;
    rc->inbound = (struct inbound) { 0 };
    rc->stalled_since_ns = rc->rnr_since_ns = 0;
    rc->peer_gone = rc->faulted = rc->wished = rc->wishes_no_more = false;
    atomic_store(&rc->wishes, 0);
    atomic_store(&qp->waiting_for_receive, false);
}

static void bind_held(struct qp *qp);

static int open_segment(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    struct arena *arena;
    struct wire_segment *segment = arenas_claim(peer_arenas(rc->route), &arena);
    if (segment == NULL) {
        return errno;
    }
    qp_lock(qp);
    rc->segment = segment;
    rc->own = arena_control(arena, segment);
    rc->arena = arena;
    atomic_store(&rc->own->min_rnr_timer, qp->attr.min_rnr_timer);
    producer_init(&rc->out, rc->own, segment, WIRE_REQUESTS);
    rc->one_sided_end = rc->out.prod;
    producer_init(&rc->answers, rc->own, segment, WIRE_RESPONSES);
    qp_unlock(qp);
    return 0;
}

/* Called with the gate. */
static void close_segment(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    if (rc->segment != NULL) {
        const uint32_t published[WIRE_STREAMS] = { rc->out.prod, rc->answers.prod };
        atomic_store(&rc->own->dead, 1);
        arenas_release(peer_arenas(rc->route), rc->arena, rc->segment, published);
        rc->segment = NULL;
        rc->own = NULL;
    }
}

static int send_introduction(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    struct ibv_comp_channel *recv_channel = qp->recv_cq->ibv.channel, *send_channel = qp->send_cq->ibv.channel;
    struct wire_attach attach = {
        .src_qpn = qp->ibv.qp_num,
        .dst_qpn = qp->attr.dest_qp_num,
        .recv_cq = (uint32_t) qp->recv_cq->index,
        .send_cq = (uint32_t) qp->send_cq->index,
        .recv_cq_id = qp->recv_cq->id,
        .send_cq_id = qp->send_cq->id,
        .type = (uint32_t) qp->ibv.qp_type,
    };
    struct arenas *arenas = peer_arenas(rc->route);
    int fds[3], nfds = 0;
    fds[0] = arenas_begin_introduction(arenas, rc->arena, rc->segment, &attach.place);
    if (fds[0] >= 0) {
        attach.carries |= WIRE_ARENA;
        nfds++;
    }
    const struct link_peer *to = link_peer(peer_link(rc->route));
    bool recv_shown = peer_was_shown(rc->route, qp->recv_cq->id);
    bool send_shown = qp->send_cq == qp->recv_cq || peer_was_shown(rc->route, qp->send_cq->id);
    int to_recv = recv_shown ? -1 : channel_lend_doorbell(recv_channel, to);
    int to_send = send_shown ? -1 : channel_lend_doorbell(send_channel, to);
    if (to_recv >= 0) {
        attach.carries |= WIRE_RECV_DOORBELL;
        fds[nfds++] = to_recv;
    }
    if (to_send >= 0) {
        attach.carries |= WIRE_SEND_DOORBELL;
        fds[nfds++] = to_send;
    }
    int error = peer_send(rc->route, WIRE_ATTACH, &attach, sizeof(attach), fds, nfds);
    channel_doorbell_lent(recv_channel, to_recv);
    channel_doorbell_lent(send_channel, to_send);
    if (error == 0 && to_recv >= 0) {
        peer_note_shown(rc->route, qp->recv_cq->id);
    }
    if (error == 0 && to_send >= 0) {
        peer_note_shown(rc->route, qp->send_cq->id);
    }
    arenas_end_introduction(arenas, rc->arena, rc->segment, (attach.carries & WIRE_ARENA) != 0, error == 0);
    return error;
}

/*
 * Returns whether an error is a shortage, after which the message is sent again later. Memory or descriptors of this
 * process may be short. If too many descriptors of its user are in transit (unix(7), ETOOMANYREFS), messages wait in a
 * bounded queue.
 */
static bool is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/*
 * Finds the link over which the connection manager has exchanged the numbers, or else the link to the name of the
 * peer's number. Returns 0 or errno. EADDRNOTAVAIL: the peer could find this end only by the name of its number, and
 * the number has no name.
 */
static int find_link(const struct qp *qp, struct link **link) {
    if (!ah_leads_here(&qp->attr.ah_attr)) {
        return ECONNREFUSED;
    }
    int error = ah_find_link(&qp->attr.ah_attr, link);
    if (error == 0) {
        return 0;
    }
    if (qp->ibv.qp_num >= LINK_UNNAMED_QPN) {
        return error == ENOENT ? EADDRNOTAVAIL : error;
    }
    return link_connect_qpn(qp->attr.dest_qp_num, link);
}

static void leave_route(struct rc *rc) {
    peer_end_use(rc->route, &rc->route_use);
    peer_put(rc->route);
    rc->route = NULL;
}

static int reach(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    struct link *link;
    int error = find_link(qp, &link);
    if (error == 0) {
        rc->route = peer_of_link(link);
        error = rc->route == NULL ? errno : 0;
        link_put(link);
    }
    if (error == 0) {
        error = peer_use(rc->route, &rc->route_use, qp->ibv.qp_num) ? open_segment(qp) : EPIPE;
        if (error == 0) {
            error = send_introduction(qp);
            error = is_shortage(error) ? 0 : error;
        }
        if (error != 0) {
            qp_lock(qp);
            close_segment(qp);
            qp_unlock(qp);
            leave_route(rc);
        }
    }
    return error;
}

/*
 * Introduces this end. Returns 0 also if the peer cannot be reached now. To a verbs program that looks like lost
 * packets, which end in RETRY_EXC_ERR.
 */
static int announce(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    int error = reach(qp);
    if (error != 0 && error != ECONNREFUSED && error != EAGAIN && error != EPIPE) {
        return error;
    }
    rc->introduce_gap_ns = FIRST_INTRODUCE_GAP_NS;
    atomic_store(&qp->introduce_at_ns, engine_now_ns() + rc->introduce_gap_ns);
    watch_qp(qp, rc->introduce_gap_ns);
    return 0;
}

void rc_introduce_again(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    if (qp_state(qp) == IBV_QPS_ERR || (rc->route != NULL && !link_is_up(peer_link(rc->route)))) {
        atomic_store(&qp->introduce_at_ns, 0);
        return;
    }
    /* While messages wait, the last introduction is still on its way. */
    if (rc->route != NULL && !link_is_behind(peer_link(rc->route))) {
        send_introduction(qp);
    } else if (rc->route == NULL && reach(qp) == 0) {
        bind_held(qp);
    }
    if (rc->introduce_gap_ns < MAX_INTRODUCE_GAP_NS) {
        rc->introduce_gap_ns *= 2;
    }
    atomic_store(&qp->introduce_at_ns, engine_now_ns() + rc->introduce_gap_ns);
}

/* Tells the peer which ticks of this process announce work to it. The peer repeats its introduction until it knows. */
static void answer(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    const struct wire_slots slots = {
        .src_qpn = qp->ibv.qp_num,
        .dst_qpn = rc->attached->src_qpn,
        .recv_bank = rc->to_recv_cq.bank,
        .recv_slot = rc->to_recv_cq.slot,
        .send_bank = rc->to_send_cq.bank,
        .send_slot = rc->to_send_cq.slot,
        .wants = (process_lacks_doorbell(&rc->to_recv_cq) ? WIRE_RECV_DOORBELL : 0)
                | (process_lacks_doorbell(&rc->to_send_cq) ? WIRE_SEND_DOORBELL : 0),
    };
    int error = peer_send(rc->attached->peer, WIRE_SLOTS, &slots, sizeof(slots), NULL, 0);
    rc->answered = !is_shortage(error);
    if (rc->answered && error != 0 && error != EPIPE) { /* if the link is down, on_down() is about to come here */
        qp_fail(qp, IBV_EVENT_QP_FATAL);
    }
}

/* Called with the gate. */
static bool claim_announcements(struct qp *qp, struct attachment *a) {
    struct rc *rc = rc_of(qp);
    if (!process_announce(peer_process(a->peer), a->recv_cq, a->recv_cq_id, &a->recv_doorbell, &rc->to_recv_cq)) {
        return false;
    }
    if (a->send_cq_id == a->recv_cq_id) {
        rc->to_send_cq = rc->to_recv_cq;
        return true;
    }
    return process_announce(peer_process(a->peer), a->send_cq, a->send_cq_id, &a->send_doorbell, &rc->to_send_cq);
}

/* Takes the doorbells of an introduction that is repeated for these. Called with control of the queue pair. */
static void take_doorbells(struct rc *rc, struct attachment *a) {
    if (a->recv_doorbell >= 0) {
        process_take_doorbell(&rc->to_recv_cq, &a->recv_doorbell);
    }
    if (a->send_doorbell >= 0) {
        process_take_doorbell(&rc->to_send_cq, &a->send_doorbell);
    }
}

static void attach(struct qp *qp, struct attachment *attachment) {
    rc_of(qp)->attached = attachment;
    bool claimed = claim_announcements(qp, attachment);
    /* The doorbells of the first queue pair serve all, because one for each would use up the descriptors. */
    close_doorbells(attachment);
    if (!claimed) {
        qp_fail(qp, IBV_EVENT_QP_FATAL);
        return;
    }
    consumer_init(&qp->requests, attachment->control, attachment->segment, WIRE_REQUESTS);
    consumer_init(&qp->responses, attachment->control, attachment->segment, WIRE_RESPONSES);
    atomic_store(&qp->seen_ack, 0);
    atomic_store(&qp->peek, attachment->control);
    answer(qp);
}

/*
 * Returns whether an introduction is from the peer. Any process can claim to be the peer, but the peer is in the
 * process to which find_link() leads. If the introduction's segment is marked as dead, the peer was reset since, and
 * will introduce itself again.
 */
static bool is_from_peer(const struct qp *qp, const struct attachment *a) {
    const struct rc *rc = rc_of(qp);
    /* Acknowledgements go to the address, too. */
    return a->src_qpn == qp->attr.dest_qp_num && ah_leads_here(&qp->attr.ah_attr)
            && atomic_load(&a->control->dead) == 0
            && (rc->route == NULL || link_peer_is(link_peer(peer_link(rc->route)), link_peer(peer_link(a->peer))));
}

static struct attachment **find_held(struct qp *qp) {
    struct attachment **link = &rc_of(qp)->held;
    while (*link != NULL && !is_from_peer(qp, *link)) {
        link = &(*link)->next;
    }
    return link;
}

static void bind_held(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    enum ibv_qp_state state = qp_state(qp);
    struct attachment **link = find_held(qp);
    if ((state != IBV_QPS_RTR && !qp_sends_in(state)) || *link == NULL) {
        return;
    }
    if (rc->route == NULL) {
        if (reach(qp) != 0) {
            return; /* not attached until the introduction is repeated */
        }
        link = find_held(qp); /* held introductions may be from a process that is not the peer's */
        if (*link == NULL) {
            return;
        }
    }
    struct attachment *attachment = *link;
    qp_lock(qp);
    if (rc->attached == NULL && !qp->failed) {
        *link = attachment->next;
        attach(qp, attachment);
    }
    qp_unlock(qp);
    qp_kick(qp, QP_WORK_ALL);
}

int rc_introduce(struct qp *qp) {
    int error = announce(qp);
    if (error == 0) {
        bind_held(qp);
    }
    return error;
}

void rc_detach(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    atomic_store(&qp->peek, NULL);
    atomic_store(&qp->introduce_at_ns, 0);
    close_segment(qp);
    if (rc->attached != NULL) {
        if (rc->to_send_cq.cq != NULL && rc->to_send_cq.cq != rc->to_recv_cq.cq) {
            process_renounce(&rc->to_send_cq);
        }
        process_renounce(&rc->to_recv_cq);
        rc->to_send_cq.cq = NULL;
        free_attachment(rc->attached);
        rc->attached = NULL;
    }
    if (rc->route != NULL) {
        leave_route(rc);
    }
}

void rc_leave_cqs(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    struct {
        struct cq *cq;
        struct cq_place *place;
    } entries[] = { { qp->recv_cq, &rc->recv_cq_place }, { qp->send_cq, &rc->send_cq_place } };
    for (int i = 0; i < 2; i++) {
        struct cq_place *place = entries[i].place;
        if (place->process != NULL) {
            cq_scan_remove(entries[i].cq, place);
            process_put(place->process);
            place->process = NULL;
        }
    }
}

static bool is_connection(const struct qp *qp) {
    return qp->ops->introduce == rc_introduce;
}

/* Returns a reference to the connection with this number, or NULL. */
static struct qp *find(uint32_t qpn) {
    struct qp *qp = qp_table_find(qpn);
    if (qp != NULL && !is_connection(qp)) {
        qp_put(qp);
        qp = NULL;
    }
    return qp;
}

static bool join_cq(struct qp *qp, struct cq *cq, struct cq_place *place, struct process *process, uint32_t bank,
                 uint32_t slot) {
    *place = (struct cq_place) { .process = process_get(process), .bank = bank, .slot = slot, .qp = qp };
    return cq_scan_add(cq, place);
}

/* ---- messages of the peer, on the engine thread ---- */

static bool on_notify_area(struct link *link, const struct link_message *incoming) {
    struct peer *peer = peer_of_link(link);
    bool valid = peer != NULL && peer_received_notify_area(peer, incoming);
    if (peer != NULL) {
        peer_put(peer);
    }
    return valid;
}

static bool is_same_end(const struct attachment *a, const struct attachment *b) {
    return a->src_qpn == b->src_qpn
            && link_peer_is(link_peer(peer_link(a->peer)), link_peer(peer_link(b->peer)));
}

/*
 * Returns whether the introduction is a repetition, which was sent before the answer arrived. A peer that was reset
 * since has marked the attached segment as dead, and then the introduction is a new one.
 */
static bool is_repeated(const struct qp *qp, const struct attachment *attachment) {
    const struct rc *rc = rc_of(qp);
    return rc->attached != NULL && is_same_end(rc->attached, attachment)
            && atomic_load(&rc->attached->control->dead) == 0;
}

static void hold(struct qp *qp, struct attachment *attachment) {
    struct rc *rc = rc_of(qp);
    int count = 0;
    struct attachment **link = &rc->held;
    while (*link != NULL) {
        struct attachment *other = *link;
        if (is_same_end(other, attachment) || ++count == MAX_HELD) {
            *link = other->next;
            free_attachment(other);
        } else {
            link = &other->next;
        }
    }
    attachment->next = rc->held;
    rc->held = attachment;
}

static bool is_well_formed(const struct wire_attach *message, const struct peer *peer, int nfds) {
    int expected = ((message->carries & WIRE_ARENA) != 0) + ((message->carries & WIRE_RECV_DOORBELL) != 0)
            + ((message->carries & WIRE_SEND_DOORBELL) != 0);
    return nfds == expected && message->recv_cq < NOTIFY_CQS && message->send_cq < NOTIFY_CQS
            && peer_process(peer) != NULL;
}

/*
 * Reads an introduction. Takes the reference to the peer over. Returns NULL with errno if the introduction cannot be
 * used; the peer has been told then.
 */
static struct attachment *read_attach(struct peer *peer, const struct wire_attach *message, int *fds) {
    bool with_arena = (message->carries & WIRE_ARENA) != 0;
    struct view *view;
    struct attachment *attachment = calloc(1, sizeof(*attachment));
    const struct wire_segment *segment = attachment == NULL ? NULL
            : arenas_view(peer_arenas(peer), &message->place, with_arena ? fds[0] : -1, &view);
    if (segment == NULL) {
        int error = attachment == NULL ? ENOMEM : errno;
        arenas_decline(peer_arenas(peer), &message->place);
        peer_put(peer);
        free(attachment);
        errno = error;
        return NULL;
    }
    *attachment = (struct attachment) {
        .peer = peer,
        .view = view,
        .place = message->place,
        .segment = segment,
        .control = view_control(view, segment),
        .src_qpn = message->src_qpn,
        .recv_cq = message->recv_cq,
        .send_cq = message->send_cq,
        .recv_cq_id = message->recv_cq_id,
        .send_cq_id = message->send_cq_id,
        .recv_doorbell = -1,
        .send_doorbell = -1,
    };
    peer_use(peer, &attachment->use, message->dst_qpn);
    int next = with_arena;
    if ((message->carries & WIRE_RECV_DOORBELL) != 0) {
        attachment->recv_doorbell = fds[next];
        fds[next++] = -1;
    }
    if ((message->carries & WIRE_SEND_DOORBELL) != 0) {
        attachment->send_doorbell = fds[next];
        fds[next] = -1;
    }
    return attachment;
}

/* Takes the attachment over. Called with control of the queue pair. */
static void take(struct qp *qp, struct attachment *attachment) {
    struct rc *rc = rc_of(qp);
    if (atomic_load(&qp->destroyed)) {
        free_attachment(attachment);
    } else if (is_repeated(qp, attachment)) {
        take_doorbells(rc, attachment);
        if (!rc->answered) {
            qp_lock(qp);
            answer(qp);
            qp_unlock(qp);
        }
        free_attachment(attachment);
    } else {
        hold(qp, attachment);
        bind_held(qp);
        if (rc->held == attachment) { /* not bound yet */
            count_doorbells(attachment);
        }
    }
}

static bool on_attach(struct link *link, const struct link_message *incoming) {
    const struct wire_attach *message = incoming->body;
    struct peer *peer = incoming->length == sizeof(*message) ? peer_of_link(link) : NULL;
    if (peer == NULL) {
        return false;
    }
    if (!is_well_formed(message, peer, incoming->nfds)) {
        peer_put(peer);
        return false;
    }
    struct qp *qp = find(message->dst_qpn);
    bool honest = true;
    /* Messages of another type are no packets of this service. */
    if (qp == NULL || message->type != (uint32_t) qp->ops->peer_type) {
        /* The queue pair does not exist (any more): the peer notices it by its timer, as on a wire. */
        arenas_decline(peer_arenas(peer), &message->place);
        peer_put(peer);
    } else {
        struct attachment *attachment = read_attach(peer, message, incoming->fds);
        honest = attachment != NULL || errno != EPROTO; /* out of memory or mappings: like a loss on the wire */
        if (attachment != NULL) {
            pthread_mutex_lock(&qp->control);
            take(qp, attachment);
            pthread_mutex_unlock(&qp->control);
        }
    }
    if (qp != NULL) {
        qp_put(qp);
    }
    return honest;
}

static bool on_lost_attach(struct link *link, const struct link_message *incoming) {
    const struct wire_attach *message = link_body(incoming, sizeof(*message));
    struct peer *peer = message != NULL ? peer_of_link(link) : NULL;
    if (peer == NULL) {
        return false;
    }
    arenas_decline(peer_arenas(peer), &message->place);
    peer_put(peer);
    return true;
}

/*
 * Introduces this end again, with doorbells that the peer has lost or not kept, and wants. A failure does not matter:
 * without these doorbells the peer rings this process's engine.
 */
static void send_doorbells(struct qp *qp, uint32_t wants) {
    const struct { uint32_t flag; const struct cq *cq; } all[] = {
        { WIRE_RECV_DOORBELL, qp->recv_cq }, { WIRE_SEND_DOORBELL, qp->send_cq },
    };
    bool has_any = false;
    for (int i = 0; i < 2; i++) {
        if ((wants & all[i].flag) != 0 && all[i].cq->ibv.channel != NULL) {
            peer_forget_shown(rc_of(qp)->route, all[i].cq->id);
            has_any = true;
        }
    }
    if (has_any) {
        send_introduction(qp);
    }
}

static bool on_slots(struct link *link, const struct link_message *incoming) {
    const struct wire_slots *message = link_body(incoming, sizeof(*message));
    if (message == NULL || message->recv_bank >= NOTIFY_BANKS || message->send_bank >= NOTIFY_BANKS
            || message->recv_slot >= NOTIFY_BANK_SLOTS || message->send_slot >= NOTIFY_BANK_SLOTS) {
        return false;
    }
    struct peer *peer = peer_of_link(link);
    struct qp *qp = find(message->dst_qpn);
    bool known = peer != NULL && peer_process(peer) != NULL;
    if (known && qp != NULL) {
        struct rc *rc = rc_of(qp);
        pthread_mutex_lock(&qp->control);
        if (!atomic_load(&qp->destroyed) && rc->route == peer && qp->attr.dest_qp_num == message->src_qpn) {
            struct process *process = peer_process(peer);
            bool is_first = atomic_exchange(&qp->introduce_at_ns, 0) != 0;
            arenas_answered(peer_arenas(peer), rc->arena);
            rc_leave_cqs(qp);
            bool added = join_cq(qp, qp->recv_cq, &rc->recv_cq_place, process, message->recv_bank, message->recv_slot);
            if (added && qp->send_cq != qp->recv_cq) {
                added = join_cq(qp, qp->send_cq, &rc->send_cq_place, process, message->send_bank, message->send_slot);
            }
            qp_kick(qp, added ? QP_WORK_ALL : QP_WORK_FATAL);
            if (is_first) {
                send_doorbells(qp, message->wants);
            }
        }
        pthread_mutex_unlock(&qp->control);
    }
    if (qp != NULL) {
        qp_put(qp);
    }
    if (peer != NULL) {
        peer_put(peer);
    }
    return known;
}

/* Finds the queue pair of this number if the process behind the link has its other end. */
static struct qp *find_of_peer(uint32_t qpn, const struct link *link) {
    struct qp *qp = find(qpn);
    if (qp == NULL) {
        return NULL;
    }
    const struct rc *rc = rc_of(qp);
    pthread_mutex_lock(&qp->control);
    bool of_peer = rc->attached != NULL && link_peer_is(link_peer(peer_link(rc->attached->peer)), link_peer(link));
    pthread_mutex_unlock(&qp->control);
    if (!of_peer) {
        qp_put(qp);
    }
    return of_peer ? qp : NULL;
}

/* Does the peer's work on the engine: the peer nudges because no thread polls here. */
static bool on_nudge(struct link *link, const struct link_message *incoming) {
    const struct wire_nudge *message = link_body(incoming, sizeof(*message));
    struct qp *qp = message == NULL ? NULL : find_of_peer(message->dst_qpn, link);
    if (qp != NULL) {
        qp_kick(qp, QP_WORK_NUDGE);
        qp_put(qp);
    }
    return message != NULL;
}

static bool on_wish(struct link *link, const struct link_message *incoming) {
    const struct wire_wish *message = link_body(incoming, sizeof(*message));
    struct qp *qp = message == NULL ? NULL : find_of_peer(message->dst_qpn, link);
    if (qp != NULL) {
        uint32_t known = message->wishes & (WIRE_WISH_LONG | WIRE_WISH_REFERENCES);
        atomic_store_explicit(&rc_of(qp)->wishes, (uint8_t) known, memory_order_relaxed);
        qp_put(qp);
    }
    return message != NULL;
}

void rc_link_lost(struct qp *qp, const struct link *link) {
    struct rc *rc = rc_of(qp);
    pthread_mutex_lock(&qp->control);
    for (struct attachment **held = &rc->held, *attachment; (attachment = *held) != NULL;) {
        if (peer_link(attachment->peer) == link) {
            *held = attachment->next;
            free_attachment(attachment);
        } else {
            held = &attachment->next;
        }
    }
    bool affected = (rc->route != NULL && peer_link(rc->route) == link)
            || (rc->attached != NULL && peer_link(rc->attached->peer) == link);
    pthread_mutex_unlock(&qp->control);
    if (affected) {
        qp_kick(qp, QP_WORK_PEER_DOWN);
    }
}

void rc_attach_init(void) {
    link_set_handler(WIRE_NOTIFY_AREA, on_notify_area);
    link_set_handler(WIRE_ATTACH, on_attach);
    link_set_lost_handler(WIRE_ATTACH, on_lost_attach);
    link_set_handler(WIRE_SLOTS, on_slots);
    link_set_handler(WIRE_NUDGE, on_nudge);
    link_set_handler(WIRE_WISH, on_wish);
}
