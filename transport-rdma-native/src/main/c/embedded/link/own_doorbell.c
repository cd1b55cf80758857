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
/* Doorbells of this process, and of peers: see own_doorbell.h. */
#include "own_doorbell.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "embedded/base/closer.h"
#include "embedded/base/fd_kind.h"
#include "folder.h"

static void close_if_open(int *fd, void (*close_fd)(int fd)) {
    if (*fd >= 0) {
        close_fd(*fd);
        *fd = -1;
    }
}

static void close_all(struct own_doorbell *doorbell, void (*close_fd)(int fd)) {
    if (doorbell->rung.fd != doorbell->heard.fd) {
        close_if_open(&doorbell->rung.fd, close_fd);
    }
    doorbell->rung.fd = -1;
    close_if_open(&doorbell->heard.fd, close_fd);
    close_if_open(&doorbell->file, close_fd);
}

void own_doorbell_close(struct own_doorbell *doorbell) {
    close_all(doorbell, doorbell->heard.is_socket ? closer_close : closer_close_own);
}

void own_doorbell_close_inherited(struct own_doorbell *doorbell) {
    close_all(doorbell, closer_close_inherited);
}

static int open_eventfd(struct own_doorbell *doorbell, int flags) {
    const int fd = eventfd(0, EFD_CLOEXEC | flags);
    if (fd < 0) {
        return errno;
    }
    doorbell->heard.fd = doorbell->rung.fd = fd;
    return 0;
}

/* Binds to an abstract name that the kernel chooses: unix(7), autobind. */
static int bind_abstract(int fd) {
    const struct sockaddr_un unnamed = { .sun_family = AF_UNIX };
    return bind(fd, (const struct sockaddr *) &unnamed, sizeof(unnamed.sun_family)) == 0 ? 0 : errno;
}

static int connect_to_heard(int fd, const struct own_doorbell *doorbell) {
    struct sockaddr_un address;
    socklen_t size = sizeof(address);
    if (doorbell->file >= 0) {
        address = folder_address_of_file(doorbell->file);
    } else if (getsockname(doorbell->heard.fd, (struct sockaddr *) &address, &size) != 0) {
        return errno;
    }
    return connect(fd, (const struct sockaddr *) &address, size) == 0 ? 0 : errno;
}

/* Opens a new socket that is connected to `heard`. Returns -1 with errno. */
static int open_connected(const struct own_doorbell *doorbell) {
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int err = fd < 0 ? errno : connect_to_heard(fd, doorbell);
    if (err != 0) {
        close_if_open(&fd, closer_close_own);
        errno = err;
    }
    return fd;
}

/* Opens `heard`. Returns 0 or errno. After an error, too, the caller closes the descriptors that are open. */
static int open_heard(struct own_doorbell *doorbell) {
    doorbell->heard = (struct doorbell) { .fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), .is_socket = true };
    if (doorbell->heard.fd < 0) {
        return errno;
    }
    closer_pass_rights(doorbell->heard.fd, false);
    if (!folder_is_used()) {
        return bind_abstract(doorbell->heard.fd);
    }
    doorbell->file = folder_bind_unnamed(doorbell->heard.fd);
    return doorbell->file < 0 ? errno : 0;
}

static int open_sockets(struct own_doorbell *doorbell, bool for_peers_alone) {
    *doorbell = (struct own_doorbell) OWN_DOORBELL_NONE;
    int err = open_heard(doorbell);
    if (err == 0 && !for_peers_alone) {
        doorbell->rung = (struct doorbell) { .fd = open_connected(doorbell), .is_socket = true };
        err = doorbell->rung.fd < 0 ? errno : 0;
    }
    if (err != 0) {
        own_doorbell_close(doorbell);
    }
    return err;
}

int own_doorbell_open_for_peers(struct own_doorbell *doorbell) {
    return open_sockets(doorbell, true);
}

int own_doorbell_open(struct own_doorbell *doorbell, int flags) {
    *doorbell = (struct own_doorbell) OWN_DOORBELL_NONE;
    int err = folder_start(NULL, 0); /* folder_start() settles who may be a peer */
    return err != 0 ? err : folder_is_used() ? open_sockets(doorbell, false) : open_eventfd(doorbell, flags);
}

int own_doorbell_lend(const struct own_doorbell *doorbell, const struct link_peer *peer) {
    if (doorbell->heard.is_socket) {
        return open_connected(doorbell);
    }
    errno = EPERM;
    return peer->may_signal ? doorbell->rung.fd : -1;
}

void own_doorbell_lent(const struct own_doorbell *doorbell, int fd) {
    if (fd >= 0 && doorbell->heard.is_socket) {
        closer_close(fd); /* the peer may have sent to its own socket */
    }
}

/* ---- doorbells of peers ---- */

static bool has_option(int fd, int option, int expected) {
    int value;
    socklen_t size = sizeof(value);
    return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

bool doorbell_of_peer(const struct link_peer *peer, int fd, struct doorbell *doorbell) {
    bool is_socket = has_option(fd, SO_DOMAIN, AF_UNIX) && has_option(fd, SO_TYPE, SOCK_DGRAM);
    *doorbell = (struct doorbell) { .fd = fd, .is_socket = is_socket };
    return is_socket || (peer->may_signal && fd_kind(fd) != FD_OTHER);
}
