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
 * What this process knows of a peer process, per link: its board, its bells, and which ticks of the own board announce work to
 * which of its completion queues.
 */
#ifndef NETTY_RDMA_EMBEDDED_PEER_H
#define NETTY_RDMA_EMBEDDED_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "board.h"
#include "link.h"

struct peer;
struct remote_cq; /* one of the peer's completion queues */

/* Ticks announce to whom; wakes say how urgently. */
enum wake {
    WAKE_NONE,      /* nothing to announce */
    WAKE_WORK,      /* makes no completion there: the engine may do it if nobody polls */
    WAKE_EVENT,     /* makes a completion */
    WAKE_SOLICITED, /* and the sender asked for attention */
};

struct announcement {
    struct remote_cq *cq;
    uint32_t bank, slot;
};

/* The peer behind a link, made at the first use. Returns a reference, or NULL with errno. */
struct peer *peer_of_link(struct link *link);
struct peer *peer_get(struct peer *peer);
void peer_put(struct peer *peer);

/* The peer's board; NULL before its WIRE_BOARD. */
const struct board *peer_board(const struct peer *peer);

struct link *peer_link(const struct peer *peer);

/* Sends a message of wire.h, and the own board before the first one. Returns 0 or errno. */
int peer_send(struct peer *peer, unsigned type, const void *body, size_t length, const int *fds, int nfds);

/* Handles WIRE_BOARD. */
bool peer_received_board(struct peer *peer, const void *body, size_t length, int *fds, int nfds);

/*
 * Claims a slot that announces work to the peer's completion queue (index, id). *bell is the descriptor of its channel or -1,
 * set to -1 if it was kept. Returns false without memory or with no bank left.
 */
bool peer_announce(struct peer *peer, uint32_t index, uint32_t id, int *bell, struct announcement *announcement);
void peer_renounce(struct announcement *announcement);

/* Counts up the slot, for who polls; peer_signal() must follow. */
static inline void peer_hint(const struct announcement *announcement) {
    board_tick(announcement->bank, announcement->slot);
}

/* Counts up the slot and rings whoever sleeps. */
void peer_signal(const struct announcement *announcement, enum wake wake);

/* Rings the engine of the peer in any case: it seems not to know that it has work. */
void peer_nudge(struct peer *peer);

#endif
