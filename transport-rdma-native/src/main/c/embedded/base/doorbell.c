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
/* Doorbells: see doorbell.h. */
#include "doorbell.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cancel.h"
#include "closer.h"

/*
 * Maximum number of datagrams taken by one call. An honest peer rings once for each sleep. If a hostile peer sends
 * more, the rest wakes the owner again.
 */
#define MAX_TAKEN 64

/*
 * Reads by preadv2(2) with RWF_NOWAIT, which fails for an eventfd with EOPNOTSUPP before Linux 5.8, and with ENOSYS in
 * QEMU's user emulation.
 */
static ssize_t read_nowait(int eventfd) {
    uint64_t count;
    const struct iovec to = { .iov_base = &count, .iov_len = sizeof(count) };
    return preadv2(eventfd, &to, 1, -1, RWF_NOWAIT);
}

static bool has_room(int eventfd) {
    struct pollfd fd = { .fd = eventfd, .events = POLLOUT };
    return poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT) != 0;
}

/*
 * Makes the doorbell readable for its owner. send(2) fails with EAGAIN if the socket's queue is full. That is ignored,
 * because the socket is readable then. The kernel never refuses the little memory that one datagram needs.
 */
void doorbell_ring(struct doorbell doorbell) {
    UNCANCELLED;
    if (doorbell.is_socket) {
        (void) !send(doorbell.fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
        return;
    }
    const uint64_t one = 1;
    /* A hostile process may have filled the eventfd. Its owner may never read it, and would not be woken any more. */
    if (has_room(doorbell.fd) || (read_nowait(doorbell.fd) > 0 && has_room(doorbell.fd))) {
        (void) !write(doorbell.fd, &one, sizeof(one));
    }
}

bool doorbell_can_nowait(struct doorbell doorbell) {
    UNCANCELLED;
    return !doorbell.is_socket && (read_nowait(doorbell.fd) >= 0 || errno == EAGAIN);
}

/*
 * Empties a socket. A result of 0 is an empty datagram, not an end. Before Linux 6.16 (own_doorbell.c) a hostile peer
 * may send descriptors with a datagram. recvmsg(2) closes descriptors for which there is no room, and waits for that;
 * so there is room for all.
 */
static bool take_datagrams(int socket) {
    bool taken = false, had_descriptors = false;
    for (int i = 0; i < MAX_TAKEN && !had_descriptors; i++) {
        char byte;
        _Alignas(struct cmsghdr) char control[CMSG_SPACE(CLOSER_MAX_RECEIVED * sizeof(int))];
        struct iovec to = { .iov_base = &byte, .iov_len = sizeof(byte) };
        struct msghdr message = {
            .msg_iov = &to, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
        };
        if (recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0) {
            break;
        }
        taken = true;
        had_descriptors = closer_close_received(&message);
    }
    return taken;
}

bool doorbell_clear(struct doorbell doorbell) {
    UNCANCELLED;
    if (doorbell.is_socket) {
        /* If closer_is_behind(), the doorbell stays rung until there is room. */
        return closer_is_behind() || take_datagrams(doorbell.fd);
    }
    ssize_t n = read_nowait(doorbell.fd);
    if (n < 0 && errno != EAGAIN) {
        struct pollfd fd = { .fd = doorbell.fd, .events = POLLIN };
        uint64_t count;
        n = poll(&fd, 1, 0) == 1 ? read(doorbell.fd, &count, sizeof(count)) : -1;
    }
    return n > 0;
}
