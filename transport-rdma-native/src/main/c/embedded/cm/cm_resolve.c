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
 * Bind, listen and resolve. Only addresses of this host resolve, as the peers are processes of it.
 */
#include "cm_private.h"
#include "embedded/base/cancel.h"
#include "embedded/device/context.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEFAULT_BACKLOG 1024 /* max_backlog of the kernel's ucma.c */

/*
 * Whether a socket may have the address: unlike a list of addresses that covers all of 127.0.0.0/8, and scopes. For a
 * moment it stays true, as a connection that is made then outlives an address that goes then: a server's many
 * connections lead to one address.
 */
static int check_local(const struct sockaddr *address) {
    static __thread struct sockaddr_in6 known; /* the longest of all */
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
    close(fd);
    if (err == 0) {
        known = copy;
        known_until_ns = now + CM_KNOWN_NS;
    }
    return err;
}

/* ---- bind and listen ---- */

/* With cm_lock. `reachable`: others shall be able to connect to the port. */
static int bind_to(struct cm_id *id, const struct sockaddr *address, bool reachable) {
    struct sockaddr_storage *source = &id->id.route.addr.src_storage;
    struct sockaddr_storage old = *source;
    bool family_only = id->family_only;
    memset(source, 0, sizeof(*source));
    memcpy(source, address, cm_address_size(address));
    if (!id->family_only_set) {
        id->family_only = address->sa_family == AF_INET; /* as the kernel: an IPv4 address keeps to its family */
    }
    int err = cm_port_bind(id, reachable);
    if (err != 0) {
        *source = old;
        id->family_only = family_only;
        return err;
    }
    id->state = CM_ADDR_BOUND;
    return 0;
}

int embedded_rdma_bind_addr(struct rdma_cm_id *public_id, struct sockaddr *address) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    if (cm_is_inherited(id)) {
        return cm_result(EIO);
    }
    if (cm_address_size(address) == 0) {
        return cm_result(EINVAL);
    }
    bool any = cm_address_is_any(address);
    int err = any ? 0 : check_local(address);
    if (err == 0) {
        err = cm_open_device();
    }
    if (err != 0) {
        return cm_result(err);
    }
    pthread_mutex_lock(&cm_lock);
    err = id->state != CM_IDLE ? EINVAL : bind_to(id, address, true);
    if (err == 0 && !any) {
        cm_attach_device(id);
    }
    pthread_mutex_unlock(&cm_lock);
    return cm_result(err);
}

int embedded_rdma_listen(struct rdma_cm_id *public_id, int backlog) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    int err = cm_is_inherited(id) ? EIO : cm_open_device();
    if (err != 0) {
        return cm_result(err);
    }
    pthread_mutex_lock(&cm_lock);
    if (id->state == CM_IDLE) {
        struct sockaddr_in any = { .sin_family = AF_INET };
        err = bind_to(id, (struct sockaddr *) &any, true);
    }
    if (err == 0) {
        err = id->state == CM_ADDR_BOUND ? cm_port_listen(id) : EINVAL;
    }
    if (err == 0) {
        id->backlog = backlog > 0 && backlog < DEFAULT_BACKLOG ? backlog : DEFAULT_BACKLOG;
        id->state = CM_LISTEN;
    }
    pthread_mutex_unlock(&cm_lock);
    return cm_result(err);
}

/* ---- resolve ---- */

static void set_loopback(struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        ((struct sockaddr_in *) address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        ((struct sockaddr_in6 *) address)->sin6_addr = in6addr_loopback;
    }
}

static bool is_multicast(const struct sockaddr *address) {
    return address->sa_family == AF_INET
            ? IN_MULTICAST(ntohl(((const struct sockaddr_in *) address)->sin_addr.s_addr))
            : IN6_IS_ADDR_MULTICAST(&((const struct sockaddr_in6 *) address)->sin6_addr);
}

/* With cm_lock. */
static int set_addresses(struct cm_id *id, const struct sockaddr *source, const struct sockaddr *destination) {
    int err = 0;
    if (id->state == CM_IDLE) {
        struct sockaddr_storage own;
        memset(&own, 0, sizeof(own));
        memcpy(&own, source, cm_address_size(source));
        err = bind_to(id, (struct sockaddr *) &own, false);
    }
    if (err != 0) {
        return err;
    }
    if (id->state != CM_ADDR_BOUND || id->id.route.addr.src_addr.sa_family != destination->sa_family) {
        return EINVAL;
    }
    struct sockaddr *bound = &id->id.route.addr.src_addr;
    if (cm_address_is_any(bound)) { /* for a local destination the route's source is the destination itself */
        uint16_t port = *cm_address_port(bound);
        memcpy(bound, destination, cm_address_size(destination));
        *cm_address_port(bound) = port;
        if (is_multicast(destination)) {
            set_loopback(bound);
        }
    }
    memcpy(&id->id.route.addr.dst_storage, destination, cm_address_size(destination));
    cm_attach_device(id);
    return 0;
}

int embedded_rdma_resolve_addr(struct rdma_cm_id *public_id, struct sockaddr *source, struct sockaddr *destination,
                               int timeout_ms) {
    UNCANCELLED;
    (void) timeout_ms; /* nothing to wait for */
    struct cm_id *id = cm_of(public_id);
    size_t size = cm_address_size(destination);
    if (cm_is_inherited(id)) {
        return cm_result(EIO);
    }
    if (size == 0 || (source != NULL && source->sa_family != destination->sa_family)) {
        return cm_result(EINVAL);
    }
    struct sockaddr_storage target, none;
    memset(&target, 0, sizeof(target));
    memcpy(&target, destination, size);
    if (cm_address_is_any(destination)) {
        set_loopback((struct sockaddr *) &target); /* as cma_resolve_loopback() */
    }
    memset(&none, 0, sizeof(none));
    none.ss_family = destination->sa_family;
    if (source == NULL) {
        source = (struct sockaddr *) &none;
    } else if (!cm_address_is_any(source)) {
        int err = check_local(source);
        if (err != 0) {
            return cm_result(err);
        }
    }
    int status = check_local((struct sockaddr *) &target);
    if (status == 0) {
        status = cm_open_device();
    } else if (status == EADDRNOTAVAIL) {
        status = ENODEV; /* what the kernel says where the route leads through no RDMA device */
    }
    struct cm_event *event = cm_new_event(id, status == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR,
                                          -status);
    if (event == NULL) {
        return cm_result(ENOMEM);
    }
    pthread_mutex_lock(&cm_lock);
    int err = status != 0 ? (id->state == CM_IDLE || id->state == CM_ADDR_BOUND ? 0 : EINVAL)
                          : set_addresses(id, source, (struct sockaddr *) &target);
    if (err == 0) {
        if (status == 0) {
            id->state = CM_ADDR_RESOLVED;
        }
        cm_post_event(event);
    }
    pthread_mutex_unlock(&cm_lock);
    if (err != 0) {
        free(event);
        return cm_result(err);
    }
    CANCELLABLE;
    return cm_complete(id);
}

static struct ibv_sa_path_rec *make_path(const struct cm_id *id) {
    struct ibv_sa_path_rec *path = calloc(1, sizeof(*path));
    if (path != NULL) {
        path->sgid = id->id.route.addr.addr.ibaddr.sgid;
        path->dgid = id->id.route.addr.addr.ibaddr.dgid;
        path->slid = path->dlid = htons(DEVICE_LID);
        path->reversible = 1;
        path->numb_path = 1;
        path->pkey = htons(0xffff);
        path->mtu_selector = path->rate_selector = path->packet_life_time_selector = 2; /* exactly */
        path->mtu = IBV_MTU_4096;
        path->rate = IBV_RATE_100_GBPS;
    }
    return path;
}

int embedded_rdma_resolve_route(struct rdma_cm_id *public_id, int timeout_ms) {
    UNCANCELLED;
    (void) timeout_ms;
    struct cm_id *id = cm_of(public_id);
    if (cm_is_inherited(id)) {
        return cm_result(EIO);
    }
    struct cm_event *event = cm_new_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
    struct ibv_sa_path_rec *path = make_path(id);
    int err = event == NULL || path == NULL ? ENOMEM : 0;
    pthread_mutex_lock(&cm_lock);
    if (err == 0 && id->state != CM_ADDR_RESOLVED) {
        err = EINVAL;
    }
    if (err == 0) {
        id->state = CM_ROUTE_RESOLVED;
        id->id.route.path_rec = path;
        id->id.route.num_paths = 1;
        cm_post_event(event);
    }
    pthread_mutex_unlock(&cm_lock);
    if (err != 0) {
        free(event);
        free(path);
        return cm_result(err);
    }
    CANCELLABLE;
    return cm_complete(id);
}
