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
 * A link as queue pairs use it: an exchange of notify areas, and then messages. Several links may lead to the same
 * process, by its ports and its blocks of queue pair numbers, and the process itself may have made some of them.
 */
#ifndef NETTY_RDMA_EMBEDDED_PEER_H
#define NETTY_RDMA_EMBEDDED_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "link.h"
#include "process.h"

struct peer;

void peer_init(void);

/* Returns the peer behind a link, made at the first use, with a reference; or NULL with errno. */
struct peer *peer_of_link(struct link *link);
struct peer *peer_get(struct peer *peer);
void peer_put(struct peer *peer);

/*
 * A queue pair's use of a peer, embedded in the struct that has the reference. At the end of a link only its queue
 * pairs are looked up. So a process that makes and ends many links does not slow down queue pairs of other links.
 */
struct peer_use {
    uint32_t qpn;
    struct peer_use *next, **previous; /* list of the peer; NULL: on none */
};
bool peer_use(struct peer *peer, struct peer_use *use, uint32_t qpn); /* false: the link went down */
void peer_end_use(struct peer *peer, struct peer_use *use); /* without the reference */

/*
 * Sets the function that is called for each use when the link went down, on the engine thread and without locks. It may
 * be called several times for a queue pair, which may no longer exist.
 */
void peer_set_lost_handler(void (*lost)(uint32_t qpn, const struct link *link));

/* Returns the process at the other end; NULL before its WIRE_NOTIFY_AREA. */
struct process *peer_process(const struct peer *peer);

struct link *peer_link(const struct peer *peer);

/* Returns the memory that is shared over this link. Called with a reference. */
struct arenas *peer_arenas(struct peer *peer);

/*
 * Notes that the doorbell of a completion queue was sent to the peer; returns whether it was. Only a few are
 * remembered. The peer may have lost the doorbell, or not kept it, and then says so in its answer.
 */
void peer_note_shown(struct peer *peer, uint32_t cq_id);
bool peer_was_shown(struct peer *peer, uint32_t cq_id);
/* Forgets that the doorbell was sent, because the peer says that it has no such doorbell. */
void peer_forget_shown(struct peer *peer, uint32_t cq_id);

/* Returns whether the peer has missed the time for an answer, and has not answered since. */
bool peer_is_silent(const struct peer *peer);
void peer_set_silent(struct peer *peer, bool silent);

/* Sends a message of wire.h, with the own notify area before the first one. Returns 0 or errno. */
int peer_send(struct peer *peer, unsigned type, const void *body, size_t length, const int *fds, int nfds);

/* Handles WIRE_NOTIFY_AREA. */
bool peer_received_notify_area(struct peer *peer, const struct link_message *incoming);

#endif
