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
 * Bind, listen and resolve. Only addresses of this host resolve, because the peers are its processes. They belong to
 * this network namespace or, with a folder (link.h), to other namespaces that share the folder.
 */
#include "cm.h"
#include "embedded/base/cancel.h"
#include "embedded/device/context.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEFAULT_BACKLOG 1024 /* the same as max_backlog of the kernel's ucma.c */

/* ---- bind and listen ---- */

/* Binds an id. `reachable`: others must be able to connect to the port. Called with cm_lock held. */
static int bind_to(struct cm_id *id, const struct sockaddr *address, bool reachable) {
    struct sockaddr_storage *source = &id->id.route.addr.src_storage;
    struct sockaddr_storage old = *source;
    bool family_only = id->family_only;
    cm_address_copy(source, address);
    if (!id->family_only_set) {
        id->family_only = address->sa_family == AF_INET; /* an IPv4 address keeps to its family, as in the kernel */
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
    int err = any ? 0 : cm_address_check_local(address);
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
        id->backlog_of_peer = id->backlog - id->backlog / 8; /* the rest is left to other peers */
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

/* Sets the addresses of an id. `route`: source for an id that has no address yet. Called with cm_lock held. */
static int set_addresses(struct cm_id *id, const struct sockaddr *source, const struct sockaddr *destination,
                         const struct sockaddr *route) {
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
    if (cm_address_is_any(bound)) {
        uint16_t port = *cm_address_port(bound);
        memcpy(bound, route, cm_address_size(route));
        *cm_address_port(bound) = port;
        if (cm_address_is_group(destination)) {
            set_loopback(bound);
        }
    }
    memcpy(&id->id.route.addr.dst_storage, destination, cm_address_size(destination));
    return 0;
}

/* ---- addresses of other network namespaces ---- */

/* Limit of the time for asking other processes. A healthy process answers immediately. */
#define MAX_PATIENCE_MS 1000

/* Link-local addresses belong to an interface, which is another one in another namespace. */
static bool is_link_local(const struct sockaddr *address) {
    return address->sa_family == AF_INET6
            && IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *) address)->sin6_addr);
}

static void found(struct cm_id *id, int err, const struct link_network *network) {
    if (err == 0) {
        id->network = *network;
        id->state = CM_ADDR_RESOLVED;
        cm_attach_device(id);
    } else {
        id->state = CM_ADDR_BOUND; /* addr_handler() of the kernel's cma.c does the same */
    }
    cm_post(id, err == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR, -err, NULL, 0);
}

/*
 * Resolves an address that is not of this network namespace. Returns 0 if the question is on its way, and the id's next
 * event has the answer. Returns ENODEV if there is no process to ask, with the status of the event in *status. Returns
 * another error for the call.
 */
static int resolve_elsewhere(struct cm_id *id, const struct sockaddr *source, const struct sockaddr *destination,
                             int timeout_ms, int *status) {
    struct sockaddr_storage route;
    struct cm_networks networks;
    uint64_t patience_ms = timeout_ms > 0 && timeout_ms < MAX_PATIENCE_MS ? (uint64_t) timeout_ms : MAX_PATIENCE_MS;
    *status = ENODEV;
    if (!link_uses_folder() || cm_address_is_group(destination) || is_link_local(destination)) {
        return ENODEV;
    }
    *status = cm_address_route(destination, &route);
    if (*status != 0) {
        return ENODEV;
    }
    int err = cm_open_device();
    if (err != 0) {
        *status = err;
        return ENODEV;
    }
    err = cm_find_networks(id, destination, &networks);
    if (err != 0) {
        *status = err;
        return ENODEV;
    }
    pthread_mutex_lock(&cm_lock);
    if (id->state != CM_IDLE && id->state != CM_ADDR_BOUND) {
        err = EINVAL;
    } else if (cm_address_is_loopback(source)
               || (id->state != CM_IDLE && cm_address_is_loopback(&id->id.route.addr.src_addr))) {
        err = *status = ENODEV; /* nothing leads from another namespace to another host */
    }
    if (err == 0) {
        err = cm_ask(id, destination, &networks, patience_ms * 1000000, found);
        *status = err;
        err = err == 0 ? set_addresses(id, source, destination, (struct sockaddr *) &route) : ENODEV;
        if (*status == 0 && err != 0) {
            cm_stop_asking(id);
        }
    }
    if (err == 0) {
        id->state = CM_ADDR_QUERY;
    }
    pthread_mutex_unlock(&cm_lock);
    return err;
}

/* ---- */

int embedded_rdma_resolve_addr(struct rdma_cm_id *public_id, struct sockaddr *source, struct sockaddr *destination,
                               int timeout_ms) {
    UNCANCELLED;
    struct cm_id *id = cm_of(public_id);
    size_t size = cm_address_size(destination);
    if (cm_is_inherited(id)) {
        return cm_result(EIO);
    }
    if (size == 0 || (source != NULL && source->sa_family != destination->sa_family)) {
        return cm_result(EINVAL);
    }
    struct sockaddr_storage target, none;
    cm_address_copy(&target, destination);
    if (cm_address_is_any(destination)) {
        set_loopback((struct sockaddr *) &target); /* cma_resolve_loopback() does the same */
    }
    memset(&none, 0, sizeof(none));
    none.ss_family = destination->sa_family;
    if (source == NULL) {
        source = (struct sockaddr *) &none;
    } else if (!cm_address_is_any(source)) {
        int err = cm_address_check_local(source);
        if (err != 0) {
            return cm_result(err);
        }
    }
    bool group = cm_address_is_group((struct sockaddr *) &target);
    /* Only datagrams go to groups. */
    int status = group && !cm_is_datagram(id) ? EADDRNOTAVAIL : cm_address_check_local((struct sockaddr *) &target);
    if (status == 0 && link_uses_folder() && !group && !cm_address_leads_here((struct sockaddr *) &target)) {
        status = EADDRNOTAVAIL;
    }
    if (status == 0) {
        status = cm_open_device();
    } else if (status == EADDRNOTAVAIL) {
        status = ENODEV; /* the kernel says this where the route leads through no RDMA device */
        int err = resolve_elsewhere(id, source, (struct sockaddr *) &target, timeout_ms, &status);
        if (err == 0) {
            CANCELLABLE;
            return cm_complete(id);
        }
        if (err != ENODEV) {
            return cm_result(err);
        }
    }
    struct cm_event *event = cm_new_event(id, status == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR,
                                          -status);
    if (event == NULL) {
        return cm_result(ENOMEM);
    }
    pthread_mutex_lock(&cm_lock);
    int err = status != 0 ? (id->state == CM_IDLE || id->state == CM_ADDR_BOUND ? 0 : EINVAL)
                          /* The source of a route to a local destination is the destination itself. */
                          : set_addresses(id, source, (struct sockaddr *) &target, (struct sockaddr *) &target);
    if (err == 0) {
        if (status == 0) {
            id->network = (struct link_network) { 0 };
            id->state = CM_ADDR_RESOLVED;
            cm_attach_device(id);
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
        path->mtu_selector = path->rate_selector = path->packet_life_time_selector = 2; /* IBA selector 2: exactly */
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
