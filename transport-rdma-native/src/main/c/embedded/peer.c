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
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cq.h"
#include "sealed.h"
#include "wire.h"

struct tick_bank {
    struct tick_bank *next;
    uint32_t number;
    unsigned users;
    uint64_t taken[BOARD_GROUPS];
};
_Static_assert(BOARD_GROUP_SLOTS == 64, "a word of bits per group");

struct remote_cq {
    struct remote_cq *next;
    struct peer *peer;
    uint32_t index, id;
    unsigned users;
    int bell;
    _Atomic uint64_t rung; /* the word at the last ring */
    struct tick_bank *banks;
};

struct peer {
    struct link *link;
    atomic_uint refs;
    const struct board *_Atomic board;
    int bell;              /* of the engine */
    _Atomic uint64_t rung; /* the engine's word at the last ring */
    pthread_mutex_t lock;
    /* Under `lock`. */
    bool greeted; /* our board is sent */
    struct remote_cq *cqs;
};

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;

static struct peer *create(struct link *link) {
    struct peer *peer = calloc(1, sizeof(*peer));
    if (peer != NULL) {
        atomic_init(&peer->refs, 1);
        peer->link = link_get(link);
        peer->bell = -1;
        pthread_mutex_init(&peer->lock, NULL);
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

/* The link's reference goes with the link; queue pairs hold theirs. */
static void link_down(struct link *link) {
    pthread_mutex_lock(&slots_lock);
    struct peer *peer = link_slot(link, LINK_SLOT_QP);
    link_set_slot(link, LINK_SLOT_QP, NULL);
    pthread_mutex_unlock(&slots_lock);
    if (peer != NULL) {
        peer_put(peer);
    }
}

static void fork_child(void) {
    pthread_mutex_init(&slots_lock, NULL);
}

__attribute__((constructor)) static void init(void) {
    link_add_down_handler(link_down);
    pthread_atfork(NULL, NULL, fork_child);
}

struct peer *peer_get(struct peer *peer) {
    atomic_fetch_add(&peer->refs, 1);
    return peer;
}

void peer_put(struct peer *peer) {
    if (atomic_fetch_sub(&peer->refs, 1) != 1) {
        return;
    }
    const struct board *board = peer_board(peer);
    if (board != NULL) {
        munmap((void *) board, sizeof(*board));
        close(peer->bell);
    }
    link_put(peer->link);
    pthread_mutex_destroy(&peer->lock);
    free(peer);
}

const struct board *peer_board(const struct peer *peer) {
    return atomic_load_explicit(&peer->board, memory_order_acquire);
}

struct link *peer_link(const struct peer *peer) {
    return peer->link;
}

int peer_send(struct peer *peer, unsigned type, const void *body, size_t length, const int *fds, int nfds) {
    int error = 0;
    pthread_mutex_lock(&peer->lock);
    if (!peer->greeted) {
        const struct wire_board greeting = { .version = WIRE_VERSION, .size = sizeof(struct board) };
        const int greeting_fds[] = { own_board_fd, cq_engine_bell() };
        error = link_send(peer->link, WIRE_BOARD, &greeting, sizeof(greeting), greeting_fds, 2);
        peer->greeted = error == 0;
    }
    if (error == 0) {
        error = link_send(peer->link, type, body, length, fds, nfds);
    }
    pthread_mutex_unlock(&peer->lock);
    return error;
}

/* Anything else in its place could block the writer, or be a file that the peer may not write itself. */
static bool is_eventfd(int fd) {
    char path[32], target[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length < 0) {
        return true; /* no /proc */
    }
    target[length] = 0;
    return strstr(target, "[eventfd]") != NULL;
}

/* A bell that somebody has filled up must not stop the ringer. */
static void ring(int bell) {
    struct pollfd fd = { .fd = bell, .events = POLLOUT };
    const uint64_t one = 1;
    if (poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT) != 0) {
        (void) !write(bell, &one, sizeof(one));
    }
}

bool peer_received_board(struct peer *peer, const void *body, size_t length, int *fds, int nfds) {
    struct wire_board greeting;
    if (length != sizeof(greeting) || nfds != 2 || peer_board(peer) != NULL) {
        return false;
    }
    memcpy(&greeting, body, sizeof(greeting));
    if (greeting.version != WIRE_VERSION || greeting.size != sizeof(struct board) || !is_eventfd(fds[1])) {
        return false;
    }
    const struct board *board = sealed_map(fds[0], sizeof(*board));
    if (board == NULL) {
        return false;
    }
    peer->bell = fds[1];
    fds[1] = -1;
    atomic_store_explicit(&peer->board, board, memory_order_release);
    return true;
}

static struct remote_cq *find_cq(struct peer *peer, uint32_t index, uint32_t id) {
    struct remote_cq *cq = peer->cqs;
    while (cq != NULL && (cq->index != index || cq->id != id)) {
        cq = cq->next;
    }
    if (cq == NULL && (cq = calloc(1, sizeof(*cq))) != NULL) {
        *cq = (struct remote_cq) { .next = peer->cqs, .peer = peer, .index = index, .id = id, .bell = -1 };
        peer->cqs = cq;
    }
    return cq;
}

static struct tick_bank *find_bank(struct remote_cq *cq) {
    struct tick_bank *bank = cq->banks;
    while (bank != NULL && bank->users == BOARD_BANK_SLOTS) {
        bank = bank->next;
    }
    if (bank == NULL) {
        int number = board_claim_bank();
        bank = number < 0 ? NULL : calloc(1, sizeof(*bank));
        if (bank == NULL) {
            if (number >= 0) {
                board_release_bank(number);
            }
            return NULL;
        }
        bank->number = (uint32_t) number;
        bank->next = cq->banks;
        cq->banks = bank;
    }
    return bank;
}

static void drop_if_unused(struct peer *peer, struct remote_cq *cq) {
    if (cq->users != 0) {
        return;
    }
    struct remote_cq **link = &peer->cqs;
    while (*link != cq) {
        link = &(*link)->next;
    }
    *link = cq->next;
    if (cq->bell >= 0) {
        close(cq->bell);
    }
    free(cq);
}

bool peer_announce(struct peer *peer, uint32_t index, uint32_t id, int *bell, struct announcement *announcement) {
    if (index >= BOARD_CQS || (*bell >= 0 && !is_eventfd(*bell))) {
        return false;
    }
    pthread_mutex_lock(&peer->lock);
    struct remote_cq *cq = find_cq(peer, index, id);
    struct tick_bank *bank = cq == NULL ? NULL : find_bank(cq);
    if (bank != NULL) {
        unsigned g = 0;
        while (bank->taken[g] == UINT64_MAX) {
            g++;
        }
        unsigned s = (unsigned) __builtin_ctzll(~bank->taken[g]);
        bank->taken[g] |= UINT64_C(1) << s;
        bank->users++;
        cq->users++;
        *announcement = (struct announcement) { cq, bank->number, g * BOARD_GROUP_SLOTS + s };
        if (cq->bell < 0) {
            cq->bell = *bell;
            *bell = -1;
        }
    } else if (cq != NULL) {
        drop_if_unused(peer, cq);
    }
    pthread_mutex_unlock(&peer->lock);
    return bank != NULL;
}

void peer_renounce(struct announcement *announcement) {
    struct remote_cq *cq = announcement->cq;
    if (cq == NULL) {
        return;
    }
    struct peer *peer = cq->peer;
    pthread_mutex_lock(&peer->lock);
    struct tick_bank **link = &cq->banks;
    while ((*link)->number != announcement->bank) {
        link = &(*link)->next;
    }
    struct tick_bank *bank = *link;
    bank->taken[announcement->slot / BOARD_GROUP_SLOTS] &= ~(UINT64_C(1) << announcement->slot % BOARD_GROUP_SLOTS);
    if (--bank->users == 0) {
        *link = bank->next;
        board_release_bank((int) bank->number);
        free(bank);
    }
    cq->users--;
    drop_if_unused(peer, cq);
    pthread_mutex_unlock(&peer->lock);
    announcement->cq = NULL;
}

static void ring_engine(struct peer *peer, const struct board *board) {
    uint64_t word = atomic_load(&board->engine.word);
    if (BOARD_ENGINE_ASLEEP(word) && atomic_load(&peer->rung) != word && atomic_exchange(&peer->rung, word) != word) {
        ring(peer->bell);
    }
}

void peer_signal(const struct announcement *announcement, enum wake wake) {
    struct remote_cq *cq = announcement->cq;
    const struct board *board = peer_board(cq->peer);
    board_tick(announcement->bank, announcement->slot);
    uint64_t word = atomic_load(&board->cq[cq->index].word);
    enum board_cq_state state = BOARD_CQ_STATE(word);
    if (state == BOARD_CQ_POLLED) {
        return;
    }
    bool event = (state == BOARD_CQ_ARMED && wake >= WAKE_EVENT)
            || (state == BOARD_CQ_ARMED_SOLICITED && wake == WAKE_SOLICITED);
    if (!event || cq->bell < 0) {
        ring_engine(cq->peer, board);
    } else if (atomic_load(&cq->rung) != word && atomic_exchange(&cq->rung, word) != word) {
        ring(cq->bell);
    }
}

void peer_nudge(struct peer *peer) {
    if (peer_board(peer) != NULL) {
        ring(peer->bell);
    }
}
