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
 * Links without the provider: what a process says that speaks with sockets alone. None of these fails the program, as
 * the other side may be under attack; who needs an answer asks for it.
 */
#ifndef NETTY_RDMA_TEST_RAW_LINK_H
#define NETTY_RDMA_TEST_RAW_LINK_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "check.h"
#include "embedded/link/link.h"

static const uint32_t raw_hello[] = { LINK_HELLO, 0, 0x4e52444d, LINK_VERSION };

/* Makes an abstract address (unix(7)); `name` is without the NUL that it begins with. */
static inline socklen_t raw_address(const char *name, struct sockaddr_un *address) {
    *address = (struct sockaddr_un) { .sun_family = AF_UNIX };
    size_t length = strlen(name);
    CHECK(length < sizeof(address->sun_path));
    memcpy(address->sun_path + 1, name, length);
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

/* Returns -1 with errno. */
static inline int raw_connect_to(const char *name) {
    struct sockaddr_un address;
    const socklen_t size = raw_address(name, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *) &address, size) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    if (fd >= 0) {
        limit_receives(fd, patience_ms());
    }
    return fd;
}

/* Takes an abstract name, as another user may. Returns -1 with errno. */
static inline int raw_squat(const char *name) {
    struct sockaddr_un address;
    const socklen_t size = raw_address(name, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *) &address, size) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* Waits for the other side's greeting, and answers it. Returns whether it lets this process in. */
static inline bool raw_greet(int fd) {
    char greeting[64];
    return recv(fd, greeting, sizeof(greeting), 0) == sizeof(raw_hello)
            && send(fd, raw_hello, sizeof(raw_hello), MSG_NOSIGNAL) == sizeof(raw_hello);
}

#endif
