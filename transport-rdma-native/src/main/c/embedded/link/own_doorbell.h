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
 * Doorbells of this process, and checks of doorbells that peers send. doorbell.h explains the two kinds.
 *
 * Without a folder (folder.h) a doorbell is an eventfd. It is lent to peers that could also stop this process by a
 * signal (link.h). With a folder, most peers are in other containers or of other users. Then a process has a socket
 * from which it reads, a socket by which it rings itself, and a descriptor of the first socket's file in the folder,
 * whose name is removed. By this file the process connects a new socket for each peer that it gives the doorbell. No
 * other process can make one.
 *
 * Peers that may not have the eventfd ring the engine instead, by a socket connected to one with an abstract name.
 * Any process of the network namespace may ring that socket in vain, as it may connect to this process (link.h).
 *
 * Threads: any. An own_doorbell does not change while it is open.
 */
#ifndef NETTY_RDMA_EMBEDDED_OWN_DOORBELL_H
#define NETTY_RDMA_EMBEDDED_OWN_DOORBELL_H

#include <stdbool.h>

#include "embedded/base/doorbell.h"
#include "link.h"

struct own_doorbell {
    struct doorbell heard; /* end that a sleeper waits for */
    struct doorbell rung;  /* end that this process rings; for an eventfd the same descriptor */
    int file;              /* file of the socket; -1 for an eventfd */
};

#define OWN_DOORBELL_NONE { .heard = { .fd = -1 }, .rung = { .fd = -1 }, .file = -1 }

/* Opens a doorbell. `flags`: flags of eventfd(2). Returns 0 or errno. */
int own_doorbell_open(struct own_doorbell *doorbell, int flags);

/* Opens a doorbell for any peers, which this process does not ring itself. Returns 0 or errno. */
int own_doorbell_open_for_peers(struct own_doorbell *doorbell);

/* Closes a doorbell, which may be none. Sockets are closed soon: closer.h. */
void own_doorbell_close(struct own_doorbell *doorbell);

/* Closes the copy in the child of a fork(): the parent's stays open. */
void own_doorbell_close_inherited(struct own_doorbell *doorbell);

/*
 * Returns a descriptor to send to a peer. The caller sends it, and then calls own_doorbell_lent(). Returns -1 with
 * errno on failure; a peer without the descriptor of a channel rings the engine.
 */
int own_doorbell_lend(const struct own_doorbell *doorbell, const struct link_peer *peer);
void own_doorbell_lent(const struct own_doorbell *doorbell, int fd);

/*
 * Checks a descriptor that a peer has sent as a doorbell. Returns false if it may not be used. Writing to another kind
 * of file could block, or change a file that the peer itself may not write. An eventfd is accepted only from a peer
 * that could stop this process anyway.
 */
bool doorbell_of_peer(const struct link_peer *peer, int fd, struct doorbell *doorbell);

#endif
