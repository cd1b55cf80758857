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
 * Addresses of ids: bind, listen and resolve. Only addresses of this host resolve, as the peers are processes of it.
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

/* ---- the device ---- */

static struct {
    pthread_mutex_t lock;
    struct ibv_context *context; /* never closed: librdmacm(7), ids share it */
    struct ibv_pd *pd;
    struct ibv_device_attr attr;
    union ibv_gid gid;
    unsigned generation; /* of the process that opened it */
} device = { .lock = PTHREAD_MUTEX_INITIALIZER };

int cm_open_device(void) {
    UNCANCELLED;
    int err = 0;
    pthread_mutex_lock(&device.lock);
    if (device.context == NULL || device.generation != fork_generation) {
        struct ibv_context *context = NULL;
        struct ibv_pd *pd = NULL;
        struct ibv_device **list = embedded_ibv_get_device_list(NULL);
        if (list != NULL && list[0] != NULL) {
            context = embedded_ibv_open_device(list[0]);
        }
        err = context == NULL ? errno : embedded_ibv_query_device(context, &device.attr);
        if (err == 0) {
            err = embedded_ibv_query_gid(context, 1, 0, &device.gid) == 0 ? 0 : EIO;
        }
        if (err == 0) {
            pd = embedded_ibv_alloc_pd(context);
            err = pd == NULL ? ENOMEM : 0;
        }
        if (err == 0) {
            device.context = context;
            device.pd = pd;
            device.generation = fork_generation;
        } else if (context != NULL) {
            embedded_ibv_close_device(context);
        }
        if (list != NULL) {
            embedded_ibv_free_device_list(list);
        }
    }
    pthread_mutex_unlock(&device.lock);
    return err;
}

/* Another thread may have held the lock. */
static void fork_child(void) {
    pthread_mutex_init(&device.lock, NULL);
}

void cm_address_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}

void cm_attach_device(struct cm_id *id) {
    id->id.verbs = device.context;
    id->id.pd = device.pd;
    id->id.port_num = 1;
    id->id.route.addr.addr.ibaddr.sgid = device.gid;
    id->id.route.addr.addr.ibaddr.dgid = device.gid;
    id->id.route.addr.addr.ibaddr.pkey = htons(0xffff);
}

struct ibv_context *cm_device_context(void) {
    return device.context;
}

const struct ibv_device_attr *cm_device_attr(void) {
    return &device.attr;
}

/* ---- addresses ---- */

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

bool cm_address_equal(const struct sockaddr *a, const struct sockaddr *b) {
    size_t size, other_size;
    const void *bytes = bytes_of(a, &size), *other = bytes_of(b, &other_size);
    if (size != other_size || memcmp(bytes, other, size) != 0) {
        return false;
    }
    /* As in the kernel, a scope only tells link-local addresses apart; Java gives ::1 the scope of lo, C does not. */
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
        in6->sin6_scope_id = wire->scope;
        memcpy(&in6->sin6_addr, wire->bytes, sizeof(in6->sin6_addr));
        return true;
    }
    return false;
}

/* Whether a socket may have the address: unlike a list of addresses that covers all of 127.0.0.0/8, and scopes. */
static int check_local(const struct sockaddr *address) {
    struct sockaddr_storage copy;
    size_t size = cm_address_size(address);
    memset(&copy, 0, sizeof(copy));
    memcpy(&copy, address, size);
    *cm_address_port((struct sockaddr *) &copy) = 0;
    int fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return errno;
    }
    int err = bind(fd, (struct sockaddr *) &copy, (socklen_t) size) == 0 ? 0 : errno;
    close(fd);
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
