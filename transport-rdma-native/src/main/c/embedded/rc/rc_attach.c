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

/* Limit of introductions held for a queue pair that is not ready: its peer's, and a few from ends that are mistaken. */
#define MAX_HELD 4

/*
 * Limit of introductions of one process that are held with their doorbells: it could use up our descriptors. Others are
 * held without, and the engine of their process is rung, unless the doorbell is known by another queue pair.
 */
#define MAX_HELD_DOORBELLS 128

#define FIRST_INTRODUCE_GAP_NS UINT64_C(16000000)
#define MAX_INTRODUCE_GAP_NS UINT64_C(2000000000) /* long, as there may be very many whose peer takes its time */

static void close_doorbells(struct attachment *attachment) {
    int *doorbells[] = { &attachment->recv_doorbell, &attachment->send_doorbell };
    for (int i = 0; i < 2; i++) {
        if (*doorbells[i] >= 0) {
            closer_close(*doorbells[i]);
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
    peer_put(attachment->peer);
    free(attachment);
}

void rc_release(struct qp *qp, bool destroyed) {
    while (destroyed && qp->held != NULL) {
        struct attachment *next = qp->held->next;
        free_attachment(qp->held);
        qp->held = next;
    }
}

void rc_prepare(struct qp *qp) {
    qp->staged = qp->reading = qp->sq.done;
    qp->unanswered = 0;
    qp->nudged = qp->gave_room = false;
    qp->inbound = (struct inbound) { 0 };
    qp->stalled_since_ns = qp->rnr_since_ns = 0;
    qp->peer_gone = qp->faulted = qp->unheard = false;
    atomic_store(&qp->waiting_for_receive, false);
}

static void bind_held(struct qp *qp);

static int open_segment(struct qp *qp) {
    struct arena *arena;
    struct wire_segment *segment = arenas_claim(peer_arenas(qp->route), &arena);
    if (segment == NULL) {
        return errno;
    }
    qp_lock(qp);
    qp->segment = segment;
    qp->own = arena_control(arena, segment);
    qp->arena = arena;
    atomic_store(&qp->own->min_rnr_timer, qp->attr.min_rnr_timer);
    producer_init(&qp->out, qp->own, segment, WIRE_REQUESTS);
    qp->one_sided_end = qp->out.prod;
    producer_init(&qp->answers, qp->own, segment, WIRE_RESPONSES);
    qp_unlock(qp);
    return 0;
}

/* Called with the gate. */
static void close_segment(struct qp *qp) {
    if (qp->segment != NULL) {
        const uint32_t published[WIRE_STREAMS] = { qp->out.prod, qp->answers.prod };
        atomic_store(&qp->own->dead, 1);
        arenas_release(peer_arenas(qp->route), qp->arena, qp->segment, published);
        qp->segment = NULL;
        qp->own = NULL;
    }
}

static int send_introduction(struct qp *qp) {
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
    struct arenas *arenas = peer_arenas(qp->route);
    int fds[3], nfds = 0;
    fds[0] = arenas_begin_introduction(arenas, qp->arena, qp->segment, &attach.place);
    if (fds[0] >= 0) {
        attach.carries |= WIRE_ARENA;
        nfds++;
    }
    const struct link_peer *to = link_peer(peer_link(qp->route));
    int to_recv = channel_lend_doorbell(recv_channel, to);
    int to_send = qp->send_cq != qp->recv_cq ? channel_lend_doorbell(send_channel, to) : -1;
    if (to_recv >= 0) {
        attach.carries |= WIRE_RECV_DOORBELL;
        fds[nfds++] = to_recv;
    }
    if (to_send >= 0) {
        attach.carries |= WIRE_SEND_DOORBELL;
        fds[nfds++] = to_send;
    }
    int error = peer_send(qp->route, WIRE_ATTACH, &attach, sizeof(attach), fds, nfds);
    channel_doorbell_lent(recv_channel, to_recv);
    channel_doorbell_lent(send_channel, to_send);
    arenas_end_introduction(arenas, qp->arena, qp->segment, (attach.carries & WIRE_ARENA) != 0, error == 0);
    return error;
}

/*
 * Whether an error is a shortage: the message is sent again later. Descriptors may be short besides memory: of this
 * process, or on their way for all processes of its user (unix(7), ETOOMANYREFS), which then wait in a bounded queue.
 */
static bool is_shortage(int error) {
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/*
 * Finds the link over which the connection manager learnt the peer's number, or else the link to the name of the
 * number. Returns 0 or errno. EADDRNOTAVAIL: the peer can find this end by the name of its number only, and it has
 * none.
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

static int reach(struct qp *qp) {
    struct link *link;
    int error = find_link(qp, &link);
    if (error == 0) {
        qp->route = peer_of_link(link);
        error = qp->route == NULL ? errno : 0;
        link_put(link);
    }
    if (error == 0) {
        error = open_segment(qp);
        if (error == 0) {
            error = send_introduction(qp);
            error = is_shortage(error) ? 0 : error;
        }
        if (error != 0) {
            qp_lock(qp);
            close_segment(qp);
            qp_unlock(qp);
            peer_put(qp->route);
            qp->route = NULL;
        }
    }
    return error;
}

/*
 * Introduces this end. Returns 0 also where the peer cannot be reached now: to a verbs program that is lost packets,
 * which end in RETRY_EXC_ERR.
 */
static int announce(struct qp *qp) {
    int error = reach(qp);
    if (error != 0 && error != ECONNREFUSED && error != EAGAIN && error != EPIPE) {
        return error;
    }
    qp->introduce_gap_ns = FIRST_INTRODUCE_GAP_NS;
    atomic_store(&qp->introduce_at_ns, engine_now_ns() + qp->introduce_gap_ns);
    watch_qp(qp, qp->introduce_gap_ns);
    return 0;
}

void rc_introduce_again(struct qp *qp) {
    if (qp_state(qp) == IBV_QPS_ERR || (qp->route != NULL && !link_is_up(peer_link(qp->route)))) {
        atomic_store(&qp->introduce_at_ns, 0);
        return;
    }
    /* While messages wait, the last introduction is still on its way. */
    if (qp->route != NULL && !link_is_behind(peer_link(qp->route))) {
        send_introduction(qp);
    } else if (qp->route == NULL && reach(qp) == 0) {
        bind_held(qp);
    }
    if (qp->introduce_gap_ns < MAX_INTRODUCE_GAP_NS) {
        qp->introduce_gap_ns *= 2;
    }
    atomic_store(&qp->introduce_at_ns, engine_now_ns() + qp->introduce_gap_ns);
}

/* Tells the peer on which of our ticks it finds out about us. The peer introduces itself again until it knows. */
static void answer(struct qp *qp) {
    const struct wire_slots slots = {
        .src_qpn = qp->ibv.qp_num,
        .dst_qpn = qp->attached->src_qpn,
        .recv_bank = qp->to_recv_cq.bank,
        .recv_slot = qp->to_recv_cq.slot,
        .send_bank = qp->to_send_cq.bank,
        .send_slot = qp->to_send_cq.slot,
    };
    int error = peer_send(qp->attached->peer, WIRE_SLOTS, &slots, sizeof(slots), NULL, 0);
    qp->answered = !is_shortage(error);
    if (qp->answered && error != 0 && error != EPIPE) { /* if the link is down, on_down() is about to come here */
        qp_fail(qp, IBV_EVENT_QP_FATAL);
    }
}

/* Called with the gate. */
static bool claim_announcements(struct qp *qp, struct attachment *a) {
    if (!process_announce(peer_process(a->peer), a->recv_cq, a->recv_cq_id, &a->recv_doorbell, &qp->to_recv_cq)) {
        return false;
    }
    if (a->send_cq_id == a->recv_cq_id) {
        qp->to_send_cq = qp->to_recv_cq;
        return true;
    }
    return process_announce(peer_process(a->peer), a->send_cq, a->send_cq_id, &a->send_doorbell, &qp->to_send_cq);
}

static void attach(struct qp *qp, struct attachment *attachment) {
    qp->attached = attachment;
    bool claimed = claim_announcements(qp, attachment);
    /* The doorbells of the first queue pair are kept for all: one for each would use up the descriptors. */
    close_doorbells(attachment);
    if (!claimed) {
        qp_fail(qp, IBV_EVENT_QP_FATAL);
        return;
    }
    consumer_init(&qp->requests, attachment->control, attachment->segment, WIRE_REQUESTS);
    consumer_init(&qp->responses, attachment->control, attachment->segment, WIRE_RESPONSES);
    atomic_store(&qp->seen_ack, 0);
    qp->unheard = false;
    atomic_store(&qp->peek, attachment->control);
    answer(qp);
}

/*
 * Whether an introduction is from the peer, as anybody can claim to be: ours went to the process of the link that was
 * found. A peer that is dead already was reset after it introduced itself, and will come again.
 */
static bool is_from_peer(const struct qp *qp, const struct attachment *a) {
    /* Acknowledgements go to the address, too. */
    return a->src_qpn == qp->attr.dest_qp_num && ah_leads_here(&qp->attr.ah_attr)
            && atomic_load(&a->control->dead) == 0
            && (qp->route == NULL || link_peer_is(link_peer(peer_link(qp->route)), link_peer(peer_link(a->peer))));
}

static struct attachment **find_held(struct qp *qp) {
    struct attachment **link = &qp->held;
    while (*link != NULL && !is_from_peer(qp, *link)) {
        link = &(*link)->next;
    }
    return link;
}

static void bind_held(struct qp *qp) {
    enum ibv_qp_state state = qp_state(qp);
    struct attachment **link = find_held(qp);
    if ((state != IBV_QPS_RTR && !qp_sends_in(state)) || *link == NULL) {
        return;
    }
    if (qp->route == NULL) {
        if (reach(qp) != 0) {
            return; /* not attached till the introduction is repeated */
        }
        link = find_held(qp); /* held introductions may be from a process that is not the peer's */
        if (*link == NULL) {
            return;
        }
    }
    struct attachment *attachment = *link;
    qp_lock(qp);
    if (qp->attached == NULL && !qp->failed) {
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
    atomic_store(&qp->peek, NULL);
    atomic_store(&qp->introduce_at_ns, 0);
    close_segment(qp);
    if (qp->attached != NULL) {
        if (qp->to_send_cq.cq != NULL && qp->to_send_cq.cq != qp->to_recv_cq.cq) {
            process_renounce(&qp->to_send_cq);
        }
        process_renounce(&qp->to_recv_cq);
        qp->to_send_cq.cq = NULL;
        free_attachment(qp->attached);
        qp->attached = NULL;
    }
    if (qp->route != NULL) {
        peer_put(qp->route);
        qp->route = NULL;
    }
}

void rc_leave_cqs(struct qp *qp) {
    struct {
        struct cq *cq;
        struct cq_place *place;
    } entries[] = { { qp->recv_cq, &qp->recv_cq_place }, { qp->send_cq, &qp->send_cq_place } };
    for (int i = 0; i < 2; i++) {
        struct cq_place *place = entries[i].place;
        if (place->process != NULL) {
            cq_scan_remove(entries[i].cq, place);
            process_put(place->process);
            place->process = NULL;
        }
    }
}

static bool join_cq(struct qp *qp, struct cq *cq, struct cq_place *place, struct process *process, uint32_t bank,
                 uint32_t slot) {
    *place = (struct cq_place) { .process = process_get(process), .bank = bank, .slot = slot, .qp = qp };
    return cq_scan_add(cq, place);
}

/* ---- messages of the peer, on the engine thread ---- */

static bool on_notify_area(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) body;
    struct peer *peer = peer_of_link(link);
    bool valid = peer != NULL && peer_received_notify_area(peer, length, fds, nfds);
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
 * Whether the introduction is repeated: our answer may be on its way. A peer that was reset meanwhile has marked the
 * segment that we are attached to.
 */
static bool is_repeated(const struct qp *qp, const struct attachment *attachment) {
    return qp->attached != NULL && is_same_end(qp->attached, attachment)
            && atomic_load(&qp->attached->control->dead) == 0;
}

static void hold(struct qp *qp, struct attachment *attachment) {
    int count = 0;
    struct attachment **link = &qp->held;
    while (*link != NULL) {
        struct attachment *other = *link;
        if (is_same_end(other, attachment) || ++count == MAX_HELD) {
            *link = other->next;
            free_attachment(other);
        } else {
            link = &other->next;
        }
    }
    attachment->next = qp->held;
    qp->held = attachment;
}

static bool is_well_formed(const struct wire_attach *message, const struct peer *peer, int nfds) {
    int expected = ((message->carries & WIRE_ARENA) != 0) + ((message->carries & WIRE_RECV_DOORBELL) != 0)
            + ((message->carries & WIRE_SEND_DOORBELL) != 0);
    return nfds == expected && message->recv_cq < NOTIFY_CQS && message->send_cq < NOTIFY_CQS
            && peer_process(peer) != NULL;
}

/*
 * Reads an introduction. Takes the reference to the peer over. Returns NULL, with errno, if it is of no use: the peer
 * was told then.
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
    if (atomic_load(&qp->destroyed)) {
        free_attachment(attachment);
    } else if (is_repeated(qp, attachment)) {
        if (!qp->answered) {
            qp_lock(qp);
            answer(qp);
            qp_unlock(qp);
        }
        free_attachment(attachment);
    } else {
        hold(qp, attachment);
        bind_held(qp);
        if (qp->held == attachment) { /* not bound yet */
            count_doorbells(attachment);
        }
    }
}

/* Whether the peer may be of this type: enum ibv_qp_type. Messages of another type are no packets of this service. */
static bool is_service_of(const struct qp *qp, uint32_t peer_type) {
    enum ibv_qp_type type = qp->ibv.qp_type;
    return qp->ops->introduce == rc_introduce
            && peer_type == (uint32_t) (type == IBV_QPT_XRC_SEND ? IBV_QPT_XRC_RECV
                                        : type == IBV_QPT_XRC_RECV ? IBV_QPT_XRC_SEND : type);
}

static bool on_attach(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    struct wire_attach message;
    struct peer *peer = length == sizeof(message) ? peer_of_link(link) : NULL;
    if (peer == NULL) {
        return false;
    }
    memcpy(&message, body, sizeof(message));
    if (!is_well_formed(&message, peer, nfds)) {
        peer_put(peer);
        return false;
    }
    struct qp *qp = qp_table_find(message.dst_qpn);
    bool honest = true;
    if (qp == NULL || !is_service_of(qp, message.type)) {
        /* No such queue pair any more: the peer will find out by its timer, as on a wire. */
        arenas_decline(peer_arenas(peer), &message.place);
        peer_put(peer);
    } else {
        struct attachment *attachment = read_attach(peer, &message, fds);
        honest = attachment != NULL || errno != EPROTO; /* out of memory or mappings: as if the wire had lost it */
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

static bool on_lost_attach(struct link *link, const void *body, size_t length) {
    struct wire_attach message;
    struct peer *peer = length == sizeof(message) ? peer_of_link(link) : NULL;
    if (peer == NULL) {
        return false;
    }
    memcpy(&message, body, sizeof(message));
    arenas_decline(peer_arenas(peer), &message.place);
    peer_put(peer);
    return true;
}

static bool on_slots(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    struct wire_slots message;
    if (length != sizeof(message) || nfds != 0) {
        return false;
    }
    memcpy(&message, body, sizeof(message));
    if (message.recv_bank >= NOTIFY_BANKS || message.send_bank >= NOTIFY_BANKS || message.recv_slot >= NOTIFY_BANK_SLOTS
            || message.send_slot >= NOTIFY_BANK_SLOTS) {
        return false;
    }
    struct peer *peer = peer_of_link(link);
    struct qp *qp = qp_table_find(message.dst_qpn);
    bool known = peer != NULL && peer_process(peer) != NULL;
    if (known && qp != NULL) {
        pthread_mutex_lock(&qp->control);
        if (!atomic_load(&qp->destroyed) && qp->route == peer && qp->attr.dest_qp_num == message.src_qpn) {
            struct process *process = peer_process(peer);
            atomic_store(&qp->introduce_at_ns, 0);
            arenas_answered(peer_arenas(peer), qp->arena);
            rc_leave_cqs(qp);
            bool added = join_cq(qp, qp->recv_cq, &qp->recv_cq_place, process, message.recv_bank, message.recv_slot);
            if (added && qp->send_cq != qp->recv_cq) {
                added = join_cq(qp, qp->send_cq, &qp->send_cq_place, process, message.send_bank, message.send_slot);
            }
            qp_kick(qp, added ? QP_WORK_ALL : QP_WORK_FATAL);
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

/* Makes the engine work: a nudge says that no thread polls, so only the peer can have the work done. */
static bool on_nudge(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    struct wire_nudge message;
    if (length != sizeof(message) || nfds != 0) {
        return false;
    }
    memcpy(&message, body, sizeof(message));
    struct qp *qp = qp_table_find(message.dst_qpn);
    if (qp != NULL) {
        pthread_mutex_lock(&qp->control);
        bool of_peer = qp->attached != NULL
                && link_peer_is(link_peer(peer_link(qp->attached->peer)), link_peer(link));
        pthread_mutex_unlock(&qp->control);
        if (of_peer) {
            qp_kick(qp, QP_WORK_NUDGE);
        }
        qp_put(qp);
    }
    return true;
}

static void fail_if_on(struct qp *qp, const void *link) {
    pthread_mutex_lock(&qp->control);
    for (struct attachment **held = &qp->held, *attachment; (attachment = *held) != NULL;) {
        if (peer_link(attachment->peer) == link) {
            *held = attachment->next;
            free_attachment(attachment);
        } else {
            held = &attachment->next;
        }
    }
    bool affected = (qp->route != NULL && peer_link(qp->route) == link)
            || (qp->attached != NULL && peer_link(qp->attached->peer) == link);
    pthread_mutex_unlock(&qp->control);
    if (affected) {
        qp_kick(qp, QP_WORK_PEER_DOWN);
    }
}

static void on_down(struct link *link) {
    qp_table_visit(fail_if_on, link);
}

void rc_attach_init(void) {
    link_set_handler(WIRE_NOTIFY_AREA, on_notify_area);
    link_set_handler(WIRE_ATTACH, on_attach);
    link_set_lost_handler(WIRE_ATTACH, on_lost_attach);
    link_set_handler(WIRE_SLOTS, on_slots);
    link_set_handler(WIRE_NUDGE, on_nudge);
    link_add_down_handler(on_down);
}
