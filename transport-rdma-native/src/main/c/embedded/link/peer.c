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
/* Peer processes: see peer.h. */
#include "peer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

/* Number of doorbells that a peer is known to have been sent: one for each event loop of most machines. */
#define SHOWN_DOORBELLS 64u

/*
 * Peer behind a link. The link's slot keeps it, but has no reference to the link, or no link would ever be idle
 * (link.h). Every other holder of a peer has a reference to its link with it.
 */
struct peer {
    struct link *link;
    atomic_uint refs;
    struct process *_Atomic process; /* NULL before its WIRE_NOTIFY_AREA */
    atomic_bool silent;
    pthread_mutex_t lock;
    bool greeted; /* own notify area is sent; guarded by `lock`, as the following */
    struct peer_use *uses;
    uint64_t shown[SHOWN_DOORBELLS]; /* identifiers of completion queues, and 1 << 32; 0: none */
    unsigned next_shown;
    bool lost; /* the link went down, and the users were told */
    struct arenas arenas;
};

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

static struct peer *create(struct link *link) {
    struct peer *peer = calloc(1, sizeof(*peer));
    if (peer != NULL) {
        atomic_init(&peer->refs, 1);
        peer->link = link;
        pthread_mutex_init(&peer->lock, NULL);
        arenas_init(&peer->arenas, link);
        link_set_slot(link, LINK_SLOT_QP, peer);
    }
    return peer;
}

struct peer *peer_of_link(struct link *link) {
    pthread_mutex_lock(&slots_lock);
    struct peer *peer = link_slot(link, LINK_SLOT_QP);
    if (peer == NULL && link_is_up(link)) {
        peer = create(link);
        if (peer == NULL) {
            errno = ENOMEM;
        }
    } else if (peer == NULL) {
        errno = EPIPE;
    }
    if (peer != NULL) {
        peer_get(peer);
    }
    pthread_mutex_unlock(&slots_lock);
    return peer;
}

static void release(struct peer *peer) {
    if (atomic_fetch_sub(&peer->refs, 1) != 1) {
        return;
    }
    struct process *process = peer_process(peer);
    if (process != NULL) {
        process_put(process);
    }
    pthread_mutex_destroy(&peer->lock);
    arenas_free(&peer->arenas);
    free(peer);
}

/* ---- users ---- */

static void (*lost_handler)(uint32_t qpn, const struct link *link);

void peer_set_lost_handler(void (*lost)(uint32_t qpn, const struct link *link)) {
    lost_handler = lost;
}

bool peer_use(struct peer *peer, struct peer_use *use, uint32_t qpn) {
    pthread_mutex_lock(&peer->lock);
    bool lost = peer->lost;
    *use = (struct peer_use) { .qpn = qpn };
    if (!lost) {
        use->next = peer->uses;
        use->previous = &peer->uses;
        if (use->next != NULL) {
            use->next->previous = &use->next;
        }
        peer->uses = use;
    }
    pthread_mutex_unlock(&peer->lock);
    return !lost;
}

/* Called with the peer's lock. */
static void unlist(struct peer_use *use) {
    if (use->previous != NULL) {
        *use->previous = use->next;
        if (use->next != NULL) {
            use->next->previous = use->previous;
        }
        use->previous = NULL;
    }
}

void peer_end_use(struct peer *peer, struct peer_use *use) {
    pthread_mutex_lock(&peer->lock);
    unlist(use);
    pthread_mutex_unlock(&peer->lock);
}

/* Takes a use from the list. Returns false if there is none, nor will be. */
static bool take_use(struct peer *peer, uint32_t *qpn) {
    pthread_mutex_lock(&peer->lock);
    struct peer_use *use = peer->uses;
    if (use != NULL) {
        *qpn = use->qpn;
        unlist(use);
    }
    peer->lost = use == NULL;
    pthread_mutex_unlock(&peer->lock);
    return use != NULL;
}

static void link_down(struct link *link) {
    pthread_mutex_lock(&slots_lock);
    struct peer *peer = link_slot(link, LINK_SLOT_QP);
    link_set_slot(link, LINK_SLOT_QP, NULL);
    pthread_mutex_unlock(&slots_lock);
    if (peer != NULL) {
        uint32_t qpn;
        arenas_go_down(&peer->arenas);
        while (take_use(peer, &qpn)) {
            lost_handler(qpn, link);
        }
        release(peer);
    }
}

/* ---- messages about arenas ---- */

static bool receive_place(struct link *link, const struct link_message *incoming,
                          bool (*handle)(struct arenas *arenas, const struct wire_place *place)) {
    const struct wire_place *place = link_body(incoming, sizeof(*place));
    struct peer *peer = place != NULL ? peer_of_link(link) : NULL;
    if (peer == NULL) {
        return false;
    }
    bool valid = handle(&peer->arenas, place);
    peer_put(peer);
    return valid;
}

static bool on_leave(struct link *link, const struct link_message *incoming) {
    return receive_place(link, incoming, arenas_left);
}

static bool on_arena_end(struct link *link, const struct link_message *incoming) {
    return receive_place(link, incoming, arenas_ended);
}

/* ---- */

static void fork_child(void) {
    pthread_mutex_init(&slots_lock, NULL);
}

void peer_init(void) {
    link_set_handler(WIRE_LEAVE, on_leave);
    link_set_handler(WIRE_ARENA_END, on_arena_end);
    link_add_down_handler(link_down);
    pthread_atfork(NULL, NULL, fork_child);
}

struct peer *peer_get(struct peer *peer) {
    atomic_fetch_add(&peer->refs, 1);
    link_get(peer->link);
    return peer;
}

void peer_put(struct peer *peer) {
    struct link *link = peer->link;
    release(peer);
    link_put(link); /* put last: from then on the link may be closed as idle, which ends the peer */
}

struct process *peer_process(const struct peer *peer) {
    return atomic_load_explicit(&peer->process, memory_order_acquire);
}

struct link *peer_link(const struct peer *peer) {
    return peer->link;
}

struct arenas *peer_arenas(struct peer *peer) {
    return &peer->arenas;
}

/* Returns the place of a completion queue, or NULL. Called with the lock. */
static uint64_t *find_shown(struct peer *peer, uint32_t cq_id) {
    for (unsigned i = 0; i < SHOWN_DOORBELLS; i++) {
        if (peer->shown[i] == (UINT64_C(1) << 32 | cq_id)) {
            return &peer->shown[i];
        }
    }
    return NULL;
}

void peer_note_shown(struct peer *peer, uint32_t cq_id) {
    pthread_mutex_lock(&peer->lock);
    if (find_shown(peer, cq_id) == NULL) {
        peer->shown[peer->next_shown++ % SHOWN_DOORBELLS] = UINT64_C(1) << 32 | cq_id;
    }
    pthread_mutex_unlock(&peer->lock);
}

bool peer_was_shown(struct peer *peer, uint32_t cq_id) {
    pthread_mutex_lock(&peer->lock);
    bool shown = find_shown(peer, cq_id) != NULL;
    pthread_mutex_unlock(&peer->lock);
    return shown;
}

void peer_forget_shown(struct peer *peer, uint32_t cq_id) {
    pthread_mutex_lock(&peer->lock);
    uint64_t *place = find_shown(peer, cq_id);
    if (place != NULL) {
        *place = 0;
    }
    pthread_mutex_unlock(&peer->lock);
}

bool peer_is_silent(const struct peer *peer) {
    return atomic_load_explicit(&peer->silent, memory_order_relaxed);
}

void peer_set_silent(struct peer *peer, bool silent) {
    atomic_store_explicit(&peer->silent, silent, memory_order_relaxed);
}

int peer_send(struct peer *peer, unsigned type, const void *body, size_t length, const int *fds, int nfds) {
    int error = 0;
    pthread_mutex_lock(&peer->lock);
    if (!peer->greeted) {
        const struct link_peer *to = link_peer(peer->link);
        const int area_fds[] = { own_notify_area_fd, own_doorbell_lend(doorbell_for(to), to) };
        error = area_fds[1] < 0 ? errno : link_send(peer->link, WIRE_NOTIFY_AREA, NULL, 0, area_fds, 2);
        own_doorbell_lent(doorbell_for(to), area_fds[1]);
        peer->greeted = error == 0;
    }
    if (error == 0) {
        error = link_send(peer->link, type, body, length, fds, nfds);
    }
    pthread_mutex_unlock(&peer->lock);
    return error;
}

bool peer_received_notify_area(struct peer *peer, const struct link_message *incoming) {
    if (incoming->length != 0 || incoming->nfds != 2 || peer_process(peer) != NULL) {
        return false;
    }
    struct process *process =
            process_of_notify_area(link_peer(peer->link), incoming->fds[0], &incoming->fds[1]);
    atomic_store_explicit(&peer->process, process, memory_order_release);
    return process != NULL; /* without memory for the process, nothing that follows on this link could be handled */
}
