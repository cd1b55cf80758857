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
 * Doorbells: descriptors that a sleeper waits for and others ring. There are two kinds, and no function here relies on
 * O_NONBLOCK, which any holder of a descriptor can change: a doorbell that is full does not block the thread that rings
 * it, and an empty one does not block its reader. The owner of an eventfd may watch it edge-triggered, and never read
 * it: each ring is an edge. link/own_doorbell.h says who makes which kind.
 *
 * An eventfd is one descriptor for all: every process that rings can also read or fill it. No call writes to an eventfd
 * without blocking whatever its flags (pwritev2(2) with RWF_NOWAIT is EOPNOTSUPP), so a peer that fills it between the
 * look and the write stops the writer; and a peer that reads it steals a wake-up. So eventfds are for processes of one
 * user in one PID namespace, which could as well stop each other with a signal, or ptrace(2).
 *
 * Between others a doorbell is a datagram socket, of which the owner alone has the reading end. Each peer is given a
 * socket of its own that is connected to it: send(2) with MSG_DONTWAIT never waits, a queue that is full belongs to a
 * doorbell that is rung, and nothing that a peer does to its socket (shutdown(2), connect(2)) changes the reading end
 * or the socket of another peer. The end of a socket pair that all peers hold could be shut down for all by any of
 * them.
 */
#ifndef NETTY_RDMA_EMBEDDED_DOORBELL_H
#define NETTY_RDMA_EMBEDDED_DOORBELL_H

#include <stdbool.h>

/* One end of a doorbell. */
struct doorbell {
    int fd;         /* descriptor; -1: none */
    bool is_socket; /* datagram socket, else an eventfd */
};

void doorbell_ring(struct doorbell doorbell);

/*
 * Returns whether doorbell_clear() of an empty doorbell is one call that empties it, during which other threads may
 * read.
 */
bool doorbell_can_nowait(struct doorbell doorbell);

/*
 * Empties the doorbell. Returns true if it was rung. Where doorbell_can_nowait() is false, this looks at an eventfd and
 * then reads it, so that no other thread of the process may read in between: the call would wait for a ring, with
 * whatever locks the caller holds.
 */
bool doorbell_clear(struct doorbell doorbell);

#endif
