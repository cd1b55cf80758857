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
 * Doorbells: descriptors that a sleeping thread waits for and other threads ring. A full doorbell does not block the
 * thread that rings it, and an empty one does not block its reader. No function here relies on O_NONBLOCK for that,
 * because any holder of a descriptor can change the flag. The owner of an eventfd may watch it edge-triggered and never
 * read it, because each ring is an edge. link/own_doorbell.h says which of two kinds a process makes.
 *
 * An eventfd is the same descriptor for all, so each process that rings it can also read or fill it. A peer that reads
 * it steals a wake-up. No call writes to an eventfd without blocking if O_NONBLOCK is not set (pwritev2(2) with
 * RWF_NOWAIT fails with EOPNOTSUPP). So a peer that fills the eventfd between another process's check and its write
 * blocks that process. Eventfds are therefore for processes of one user in one PID namespace, which could also stop
 * each other with a signal, or ptrace(2).
 *
 * Between other processes a doorbell is a datagram socket. Only the owner has the reading end, and each peer gets its
 * own socket that is connected to it. send(2) with MSG_DONTWAIT never waits. A full queue means that the doorbell is
 * rung already. A peer that calls shutdown(2) or connect(2) on its socket does not change the reading end, or sockets
 * of other peers. With a socket pair whose writing end all peers hold, one peer could shut it down for all.
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
 * Returns whether doorbell_clear() is one system call that does not block if the doorbell is empty. Then other threads
 * may read at the same time.
 */
bool doorbell_can_nowait(struct doorbell doorbell);

/*
 * Empties the doorbell. Returns true if it was rung. Where doorbell_can_nowait() is false, the function polls an
 * eventfd and then reads it. No other thread of the process may read in between, or the call would wait for a ring with
 * the caller's locks held.
 */
bool doorbell_clear(struct doorbell doorbell);

#endif
