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
 * Doorbells: eventfds that several processes hold, so that each of them may read or fill one, or change whether it
 * blocks. These functions do not rely on O_NONBLOCK: a doorbell that is full does not block the thread that rings it,
 * and an empty one does not block its reader.
 *
 * What remains: no call writes to an eventfd without blocking whatever its flags (pwritev2(2) with RWF_NOWAIT is
 * EOPNOTSUPP), so a peer that fills it between the look and the write still stops the writer; and one that reads our
 * doorbells steals our wake-ups. One of the same user could as well stop us with a signal, or ptrace(2) us; one of
 * another user is a peer only if it is listed (link/trust.h), and docs/security.md says so to who lists it.
 */
#ifndef NETTY_RDMA_EMBEDDED_DOORBELL_H
#define NETTY_RDMA_EMBEDDED_DOORBELL_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cancel.h"

static inline void doorbell_ring(int doorbell) {
    UNCANCELLED;
    struct pollfd fd = { .fd = doorbell, .events = POLLOUT };
    const uint64_t one = 1;
    if (poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT) != 0) { /* else it is readable: rung enough */
        (void) !write(doorbell, &one, sizeof(one));
    }
}

/* preadv2(2), RWF_NOWAIT. For an eventfd that is EOPNOTSUPP before Linux 5.8, and ENOSYS in QEMU's user emulation. */
static inline ssize_t doorbell_read_nowait(int doorbell) {
    uint64_t count;
    const struct iovec to = { .iov_base = &count, .iov_len = sizeof(count) };
    return preadv2(doorbell, &to, 1, -1, RWF_NOWAIT);
}

/* Of an empty doorbell: whether doorbell_clear() is one call, beside which other threads may read. */
static inline bool doorbell_can_nowait(int doorbell) {
    UNCANCELLED;
    return doorbell_read_nowait(doorbell) >= 0 || errno == EAGAIN;
}

/*
 * Returns true if it was rung. Where doorbell_can_nowait() is false, this looks and then reads, so that no other thread
 * of the process may read in between: it would wait for a ring, with whatever locks it holds.
 */
static inline bool doorbell_clear(int doorbell) {
    UNCANCELLED;
    ssize_t n = doorbell_read_nowait(doorbell);
    if (n < 0 && errno != EAGAIN) {
        struct pollfd fd = { .fd = doorbell, .events = POLLIN };
        uint64_t count;
        n = poll(&fd, 1, 0) == 1 ? read(doorbell, &count, sizeof(count)) : -1;
    }
    return n > 0;
}

#endif
