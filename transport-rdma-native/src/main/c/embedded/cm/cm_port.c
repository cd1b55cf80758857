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
 * Ports. The RDMA CM's port spaces are separate from TCP's and UDP's (cma_ps_alloc() in the kernel's cma.c), so RDMA
 * 8080 and TCP 8080 coexist. On a host, a port belongs to the process that has bound its name. Within the process, the
 * ids that share a port must differ in address.
 */
#include "cm.h"
#include "embedded/base/random.h"

#include <arpa/inet.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUCKETS 4096

struct cm_port {
    struct cm_port *next;
    int port_space;
    uint16_t port; /* port in host order */
    struct link_port *name; /* name; NULL while the port need not be reachable: cm_port_bind() */
    struct cm_id *ids;
};

static struct cm_port *buckets[BUCKETS];

static struct cm_port **bucket(uint16_t port) {
    return &buckets[port % BUCKETS];
}

static struct cm_port *find_port(int port_space, uint16_t number) {
    for (struct cm_port *port = *bucket(number); port != NULL; port = port->next) {
        if (port->port == number && port->port_space == port_space) {
            return port;
        }
    }
    return NULL;
}

static int make_port(int port_space, uint16_t number, bool reachable, struct cm_port **result) {
    struct cm_port *port = calloc(1, sizeof(*port));
    if (port == NULL) {
        return ENOMEM;
    }
    port->port_space = port_space;
    port->port = number;
    int err = reachable ? link_bind_port(port_space, number, &port->name) : 0;
    if (err != 0) {
        free(port);
        return err;
    }
    port->next = *bucket(number);
    *bucket(number) = port;
    *result = port;
    return 0;
}

static void free_port(struct cm_port *port) {
    struct cm_port **previous = bucket(port->port);
    while (*previous != port) {
        previous = &(*previous)->next;
    }
    *previous = port->next;
    if (port->name != NULL) {
        link_unbind_port(port->name);
    }
    free(port);
}

/*
 * Checks for conflicts like cma_check_port() in the kernel, which returns EADDRNOTAVAIL also for a conflict with a
 * wildcard.
 */
static int check_conflict(struct cm_port *port, struct cm_id *id, bool reuse) {
    const struct sockaddr *address = &id->id.route.addr.src_addr;
    for (struct cm_id *other = port->ids; other != NULL; other = other->port_next) {
        const struct sockaddr *taken = &other->id.route.addr.src_addr;
        if (other == id || (reuse && other->reuse_address && other->state != CM_LISTEN)) {
            continue;
        }
        if (id->family_only && other->family_only && address->sa_family != taken->sa_family) {
            continue;
        }
        if (cm_address_is_any(address) || cm_address_is_any(taken)) {
            return EADDRNOTAVAIL;
        }
        if (cm_address_equal(address, taken)) {
            return EADDRINUSE;
        }
    }
    return 0;
}

static bool may_bind_privileged(void) {
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof(data));
    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & (1u << CAP_NET_BIND_SERVICE)) != 0;
}

/* Returns how many of the two numbers the file has. */
static int read_numbers(const char *path, unsigned *first, unsigned *second) {
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    int count = fscanf(file, "%u %u", first, second);
    fclose(file);
    return count;
}

/* Limits of this network namespace for ports, which are TCP's: ip(7). */
struct limits {
    unsigned low, high;          /* range of ports that the system chooses */
    unsigned first_unprivileged; /* ports below it need a capability */
};

static struct limits read_limits(void) {
    struct limits limits = { 32768, 60999, 1024 };
    unsigned low, high, first;
    if (read_numbers("/proc/sys/net/ipv4/ip_local_port_range", &low, &high) == 2 && low > 0 && low <= high
            && high <= 65535) {
        limits.low = low;
        limits.high = high;
    }
    if (read_numbers("/proc/sys/net/ipv4/ip_unprivileged_port_start", &first, &high) >= 1) {
        limits.first_unprivileged = first;
    }
    return limits;
}

/* Called with cm_lock held. */
static const struct limits *known_limits(void) {
    static struct limits known;
    static uint64_t known_until_ns;
    uint64_t now = engine_now_ns();
    if (now >= known_until_ns) {
        known = read_limits();
        known_until_ns = now + CM_KNOWN_NS;
    }
    return &known;
}

/*
 * Returns a number of the range that this process does not use, or 0. The start is random, so that processes seldom
 * meet.
 */
static uint16_t free_number(int port_space) {
    const struct limits *limits = known_limits();
    uint32_t start = random_start();
    unsigned count = limits->high - limits->low + 1;
    for (unsigned i = 0; i < count; i++) {
        uint16_t number = (uint16_t) (limits->low + (start + i) % count);
        if (find_port(port_space, number) == NULL) {
            return number;
        }
    }
    return 0;
}

/*
 * Limit of tries. Any user may hold many names at no cost. A search of all would hold the lock, and an event loop, for
 * a second.
 */
#define NAME_TRIES 64

/*
 * Chooses a port. A port that is used as a source only is unique only within the process, because a name for each would
 * cost a descriptor.
 */
static int choose_port(struct cm_id *id, bool reachable, struct cm_port **result) {
    int err = EADDRINUSE;
    /* Other processes may have the port. */
    for (unsigned i = 0; i < NAME_TRIES && (err == EADDRINUSE || err == EACCES); i++) {
        uint16_t number = free_number((int) id->id.ps);
        if (number == 0) {
            return EADDRNOTAVAIL;
        }
        err = make_port((int) id->id.ps, number, reachable, result);
    }
    return err == EADDRINUSE ? EADDRNOTAVAIL : err;
}

static int use_port(struct cm_id *id, uint16_t number, bool reachable, struct cm_port **result) {
    if (number < known_limits()->first_unprivileged && !may_bind_privileged()) {
        return EACCES;
    }
    struct cm_port *port = find_port((int) id->id.ps, number);
    if (port == NULL) {
        int err = make_port((int) id->id.ps, number, reachable, result);
        if (err == EADDRINUSE && id->reuse_address) {
            err = make_port((int) id->id.ps, number, false, result); /* rdma_listen() decides */
        }
        return err;
    }
    int err = check_conflict(port, id, id->reuse_address);
    if (err == 0 && reachable && port->name == NULL && !id->reuse_address) {
        err = link_bind_port(port->port_space, port->port, &port->name);
    }
    *result = port;
    return err;
}

int cm_port_bind(struct cm_id *id, bool reachable) {
    uint16_t *number = cm_address_port(&id->id.route.addr.src_addr);
    struct cm_port *port;
    int err = *number == 0 ? choose_port(id, reachable, &port) : use_port(id, ntohs(*number), reachable, &port);
    if (err == 0) {
        *number = htons(port->port);
        id->port = port;
        id->port_next = port->ids;
        port->ids = id;
    }
    return err;
}

int cm_port_listen(struct cm_id *id) {
    int err = id->reuse_address ? check_conflict(id->port, id, false) : 0;
    if (err == 0 && id->port->name == NULL) {
        err = link_bind_port(id->port->port_space, id->port->port, &id->port->name);
    }
    return err;
}

void cm_port_unbind(struct cm_id *id) {
    struct cm_port *port = id->port;
    if (port == NULL) {
        return;
    }
    struct cm_id **previous = &port->ids;
    while (*previous != id) {
        previous = &(*previous)->port_next;
    }
    *previous = id->port_next;
    id->port = NULL;
    id->port_next = NULL;
    if (port->ids == NULL) {
        free_port(port);
    }
}

struct cm_id *cm_port_listener(int port_space, const struct cm_wire_address *destination) {
    struct sockaddr_storage address;
    if (!cm_address_from_wire(destination, &address)) {
        return NULL;
    }
    struct cm_port *port = find_port(port_space, ntohs(destination->port));
    for (struct cm_id *id = port != NULL ? port->ids : NULL; id != NULL; id = id->port_next) {
        const struct sockaddr *bound = &id->id.route.addr.src_addr;
        if (id->state != CM_LISTEN || (id->family_only && bound->sa_family != address.ss_family)) {
            continue;
        }
        if (cm_address_is_any(bound) || cm_address_equal(bound, (struct sockaddr *) &address)) {
            return id;
        }
    }
    return NULL;
}

bool cm_port_is_listened(int port_space, uint16_t number) {
    struct cm_port *port = find_port(port_space, ntohs(number));
    for (struct cm_id *id = port != NULL ? port->ids : NULL; id != NULL; id = id->port_next) {
        if (id->state == CM_LISTEN) {
            return true;
        }
    }
    return false;
}

void cm_port_forget(void) {
    memset(buckets, 0, sizeof(buckets));
}
