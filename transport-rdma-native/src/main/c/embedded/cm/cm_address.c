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
/* Internet addresses: their parts, and their form in messages. */
#include "cm.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANY_PORT 9 /* port for connect(2) of a datagram socket, which sends nothing */

size_t cm_address_size(const struct sockaddr *address) {
    switch (address != NULL ? address->sa_family : AF_UNSPEC) {
        case AF_INET:
            return sizeof(struct sockaddr_in);
        case AF_INET6:
            return sizeof(struct sockaddr_in6);
        default:
            return 0;
    }
}

uint16_t *cm_address_port(struct sockaddr *address) {
    return address->sa_family == AF_INET ? &((struct sockaddr_in *) address)->sin_port
                                         : &((struct sockaddr_in6 *) address)->sin6_port;
}

static const void *bytes_of(const struct sockaddr *address, size_t *size) {
    if (address->sa_family == AF_INET) {
        *size = sizeof(struct in_addr);
        return &((const struct sockaddr_in *) address)->sin_addr;
    }
    *size = sizeof(struct in6_addr);
    return &((const struct sockaddr_in6 *) address)->sin6_addr;
}

bool cm_address_is_any(const struct sockaddr *address) {
    static const uint8_t zero[sizeof(struct in6_addr)];
    size_t size;
    const void *bytes = bytes_of(address, &size);
    return memcmp(bytes, zero, size) == 0;
}

static bool has_scope(const struct in6_addr *address) {
    return IN6_IS_ADDR_LINKLOCAL(address) || IN6_IS_ADDR_MC_LINKLOCAL(address);
}

void cm_address_copy(struct sockaddr_storage *to, const struct sockaddr *address) {
    memset(to, 0, sizeof(*to));
    memcpy(to, address, cm_address_size(address));
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) to;
    if (to->ss_family == AF_INET6 && !has_scope(&in6->sin6_addr)) {
        in6->sin6_scope_id = 0;
    }
}

bool cm_address_is_group(const struct sockaddr *address) {
    return address->sa_family == AF_INET
            ? IN_MULTICAST(ntohl(((const struct sockaddr_in *) address)->sin_addr.s_addr))
            : IN6_IS_ADDR_MULTICAST(&((const struct sockaddr_in6 *) address)->sin6_addr);
}

bool cm_address_equal(const struct sockaddr *a, const struct sockaddr *b) {
    size_t size, other_size;
    const void *bytes = bytes_of(a, &size), *other = bytes_of(b, &other_size);
    if (size != other_size || memcmp(bytes, other, size) != 0) {
        return false;
    }
    /* A scope only distinguishes link-local addresses, as in the kernel. Java gives ::1 the scope of lo, C does not. */
    return a->sa_family != AF_INET6 || !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *) a)->sin6_addr)
            || ((const struct sockaddr_in6 *) a)->sin6_scope_id == ((const struct sockaddr_in6 *) b)->sin6_scope_id;
}

void cm_address_to_wire(const struct sockaddr *address, struct cm_wire_address *wire) {
    memset(wire, 0, sizeof(*wire));
    size_t size;
    const void *bytes = bytes_of(address, &size);
    wire->family = address->sa_family;
    wire->port = *cm_address_port((struct sockaddr *) address);
    memcpy(wire->bytes, bytes, size);
    if (address->sa_family == AF_INET6) {
        wire->scope = ((const struct sockaddr_in6 *) address)->sin6_scope_id;
    }
}

bool cm_address_from_wire(const struct cm_wire_address *wire, struct sockaddr_storage *address) {
    memset(address, 0, sizeof(*address));
    if (wire->family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *) address;
        in->sin_family = AF_INET;
        in->sin_port = wire->port;
        memcpy(&in->sin_addr, wire->bytes, sizeof(in->sin_addr));
        return true;
    }
    if (wire->family == AF_INET6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *) address;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = wire->port;
        memcpy(&in6->sin6_addr, wire->bytes, sizeof(in6->sin6_addr));
        in6->sin6_scope_id = has_scope(&in6->sin6_addr) ? wire->scope : 0;
        return true;
    }
    return false;
}

/* ---- addresses of this network namespace ---- */

/* udp(7): a socket may be bound to a broadcast address, but connected to one only with SO_BROADCAST. */
static bool is_broadcast(int fd, const struct sockaddr *address) {
    struct sockaddr_in to;
    if (address->sa_family != AF_INET) {
        return false;
    }
    memcpy(&to, address, sizeof(to));
    to.sin_port = htons(ANY_PORT);
    return to.sin_addr.s_addr == htonl(INADDR_BROADCAST) /* without a route there may be another error */
            || (connect(fd, (struct sockaddr *) &to, sizeof(to)) != 0 && errno == EACCES);
}

/* Binds a socket to find out. Unlike a list of addresses, this covers all of 127.0.0.0/8, and scopes. */
int cm_address_check_local(const struct sockaddr *address) {
    static __thread struct sockaddr_in6 known; /* longest address */
    static __thread uint64_t known_until_ns;
    struct sockaddr_in6 copy;
    size_t size = cm_address_size(address);
    memset(&copy, 0, sizeof(copy));
    memcpy(&copy, address, size);
    *cm_address_port((struct sockaddr *) &copy) = 0;
    uint64_t now = engine_now_ns();
    if (now < known_until_ns && memcmp(&copy, &known, sizeof(copy)) == 0) {
        return 0;
    }
    int fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return errno;
    }
    int err = bind(fd, (struct sockaddr *) &copy, (socklen_t) size) == 0 ? 0 : errno;
    if (err == 0 && is_broadcast(fd, (struct sockaddr *) &copy)) {
        err = EADDRNOTAVAIL; /* no host has the address: the socket was bound to the wildcard */
    }
    close(fd);
    if (err == 0) {
        known = copy;
        known_until_ns = now + CM_KNOWN_NS;
    }
    return err;
}

int cm_address_route(const struct sockaddr *destination, struct sockaddr_storage *source) {
    struct sockaddr_in6 copy; /* longest address */
    socklen_t size = (socklen_t) cm_address_size(destination);
    memset(&copy, 0, sizeof(copy));
    memcpy(&copy, destination, size);
    *cm_address_port((struct sockaddr *) &copy) = htons(ANY_PORT);
    int fd = socket(destination->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return errno;
    }
    memset(source, 0, sizeof(*source));
    int err = connect(fd, (struct sockaddr *) &copy, size) != 0
            || getsockname(fd, (struct sockaddr *) source, &size) != 0 ? errno : 0;
    close(fd);
    if (err == 0) {
        *cm_address_port((struct sockaddr *) source) = 0;
    }
    return err;
}

bool cm_address_is_loopback(const struct sockaddr *address) {
    return address->sa_family == AF_INET
            ? ntohl(((const struct sockaddr_in *) address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
            : IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *) address)->sin6_addr);
}

/* Checks the route as well as the address: with net.ipv4.ip_nonlocal_bind (ip(7)) a socket may have any address. */
bool cm_address_leads_here(const struct sockaddr *address) {
    struct sockaddr_storage source;
    return cm_address_check_local(address) == 0
            && (cm_address_is_loopback(address) || cm_address_is_any(address)
                || (cm_address_route(address, &source) == 0
                    && cm_address_equal((const struct sockaddr *) &source, address)));
}
