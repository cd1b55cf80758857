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
 * Links over AF_UNIX SOCK_SEQPACKET: making them, finding them by name, and their end. The kernel keeps message
 * boundaries, order and descriptors in flight.
 *
 * `table.lock` guards the lists and the names; `link->lock` the sending side. Both are leaves: no handler runs under
 * them.
 */
#include "link_private.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "embedded/base/closer.h"
#include "embedded/base/fork.h"
#include "embedded/base/random.h"
#include "account.h"
#include "folder.h"
#include "trust.h"

/* First part of the names. Tests build a second provider with another one: see the Makefile. */
#ifndef LINK_NAMESPACE
#define LINK_NAMESPACE "netty-rdma"
#endif

#define MS 1000000ull
#define ACCEPT_RETRY_NS (50 * MS)     /* delay when out of descriptors */
#define ACCEPTS_PER_TURN 64

/*
 * Limit of links from one process, which could use up the descriptors of this process. An honest process makes a link
 * for each port or block of queue pair numbers of this process that it uses, and another one for each 256 connections
 * (256 for DEVICE_MAX_QP).
 */
#define MAX_ACCEPTED_LINKS 512

/*
 * Limit of links from all processes of a user that may not signal this one, because there can be any number of these.
 * If a quarter of the descriptors is less, that is the limit.
 */
#define MAX_LINKS_OF_USER (4 * MAX_ACCEPTED_LINKS)
#define MIN_LINKS_OF_USER 64

/*
 * Limit of idle links to one process. Without it, a process whose peer opens and closes many ports a second would reach
 * the peer's limit of links.
 */
#define MAX_IDLE_LINKS (MAX_ACCEPTED_LINKS / 4)

#define MAX_DOWN_HANDLERS 8

#define NUMBER_BUCKETS 256u /* numbers are consecutive */

/*
 * Number of references to a link from which on the next connect makes another link, because shared memory of queue
 * pairs belongs to a link, and arena.c walks the link's lists. A connection has three references, and a request that
 * waits for its answer has one.
 */
#define MANY_REFERENCES 768

#define QPN_BLOCK_BITS 8
#define FIRST_NAMED_BLOCK 1u /* block 0 holds the special QPs 0 and 1 */
#define FIRST_UNNAMED_BLOCK (LINK_UNNAMED_QPN >> QPN_BLOCK_BITS)
#define END_OF_BLOCKS 0xffffu /* block of the multicast QPN */

_Atomic uint64_t link_idle_timeout_ns = 5000 * MS, link_hello_timeout_ns = 5000 * MS;

struct link_port { /* Listening socket of a port, or of a block of queue pair numbers. */
    struct engine_source source;
    struct engine_timer retry_timer;
    struct link_port *next, **previous; /* list of table.listeners */
    bool of_block;
    char file[FOLDER_NAME_SIZE];        /* file name in the folder; "" without one */
};

static struct {
    pthread_mutex_t lock;
    struct link *links;
    struct link *by_number[NUMBER_BUCKETS];
    struct link_port *listeners;
    uint64_t last_number;            /* number of the latest link; 0: none yet */
    uint32_t first_block, num_blocks; /* blocks of this process without a name */
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static link_down_handler down_handlers[MAX_DOWN_HANDLERS];

void link_add_down_handler(link_down_handler handler) {
    for (int i = 0; i < MAX_DOWN_HANDLERS; i++) {
        if (down_handlers[i] == NULL) {
            down_handlers[i] = handler;
            return;
        }
    }
    abort(); /* more modules than this file was written for */
}

const struct link_peer *link_peer(const struct link *link) {
    return &link->peer;
}

/* ---- references ---- */

struct link *link_get(struct link *link) {
    __atomic_add_fetch(&link->references, 1, __ATOMIC_RELAXED);
    return link;
}

static void free_link(struct link *link) {
    account_put(link->account);
    pthread_mutex_destroy(&link->lock);
    free(link);
}

/* Puts a reference. The engine itself holds one while the link is up, so the last one goes only after that. */
void link_put(struct link *link) {
    int left = __atomic_sub_fetch(&link->references, 1, __ATOMIC_ACQ_REL);
    if (left == 0) {
        link_discard_queue(link, closer_close);
        free_link(link);
    }
}

void *link_slot(struct link *link, enum link_slot slot) {
    return link->slots[slot];
}

void link_set_slot(struct link *link, enum link_slot slot, void *value) {
    link->slots[slot] = value;
}

/* ---- what peers make this process keep ---- */

uint64_t link_peer_number(const struct link_peer *peer) {
    return peer->may_signal ? (uint64_t) peer->pid : UINT64_C(1) << 63 | peer->uid;
}

bool link_charge(struct link *link, enum link_kept kind, uint64_t count, uint64_t limit) {
    return link_is_up(link) && account_charge(link->account, kind, count, limit);
}

bool link_charge_share(struct link *link, enum link_kept kind, uint64_t count, uint64_t limit) {
    return link_is_up(link) && account_charge_share(link->account, kind, count, limit);
}

void link_discharge(struct link *link, enum link_kept kind, uint64_t count) {
    account_discharge(link->account, kind, count);
}

/* ---- going down ---- */

void link_abort(struct link *link) {
    pthread_mutex_lock(&link->lock);
    __atomic_store_n(&link->up, false, __ATOMIC_RELEASE);
    if (link->source.fd >= 0) {
        shutdown(link->source.fd, SHUT_RDWR); /* wakes the engine, which does the rest */
    }
    pthread_mutex_unlock(&link->lock);
}

/* Called with table.lock held. */
static void list_first(struct link *link) {
    link->next = table.links;
    link->previous = &table.links;
    if (link->next != NULL) {
        link->next->previous = &link->next;
    }
    table.links = link;
}

static void unlist(struct link *link) {
    *link->previous = link->next;
    if (link->next != NULL) {
        link->next->previous = link->previous;
    }
}

/* Returns the place of the link with this number in its list, or the end of the list. */
static struct link **find_number(uint64_t number) {
    struct link **place = &table.by_number[number % NUMBER_BUCKETS];
    while (*place != NULL && (*place)->number != number) {
        place = &(*place)->next_of_number;
    }
    return place;
}

/* Ends the part of a link in the account of its peer. */
static void uncount(struct link *link) {
    if (link->name.kind == LINK_UNNAMED) {
        account_discharge(link->account, LINK_KEPT_LINKS, 1);
    }
}

/* Called on the engine thread, once. */
static void go_down(struct link *link) {
    engine_remove(&link->source);
    pthread_mutex_lock(&table.lock);
    unlist(link);
    *find_number(link->number) = link->next_of_number;
    uncount(link);
    pthread_mutex_lock(&link->lock);
    __atomic_store_n(&link->up, false, __ATOMIC_RELEASE);
    int fd = link->source.fd;
    link->source.fd = -1;
    closer_end(fd); /* guarded by table.lock: a fork() sees either none or both of this and the unlisting */
    link_discard_queue(link, closer_close);
    pthread_mutex_unlock(&link->lock);
    pthread_mutex_unlock(&table.lock);
    /* Cancelled for good: nobody sets a timer of a link that is unlisted and down. */
    engine_timer_cancel(&link->hello_timer);
    engine_timer_cancel(&link->idle_timer);
    engine_timer_cancel(&link->retry_timer);

    for (int i = 0; i < MAX_DOWN_HANDLERS && down_handlers[i] != NULL; i++) {
        down_handlers[i](link);
    }
    link_put(link);
}

/* ---- making links ---- */

/* Ends links that the other side made without a greeting, because these could use up the descriptors. */
static void on_hello_timeout(struct engine_timer *timer) {
    struct link *link = container_of(timer, struct link, hello_timer);
    struct pollfd input = { .fd = link->source.fd, .events = POLLIN };
    if (link->peer_version != 0) {
        return;
    }
    if (poll(&input, 1, 0) > 0) {
        engine_timer_set(timer, engine_now_ns() + link_hello_timeout_ns); /* this process is late, not the peer */
    } else {
        link_abort(link);
    }
}

/* Ends links that this side made, some time after the last user has gone. */
static void on_idle(struct engine_timer *timer) {
    struct link *link = container_of(timer, struct link, idle_timer);
    pthread_mutex_lock(&table.lock);
    bool idle = __atomic_load_n(&link->references, __ATOMIC_ACQUIRE) == 1;
    if (idle) {
        link->named = false; /* from here on no connect finds the link */
    }
    pthread_mutex_unlock(&table.lock);
    if (idle) {
        go_down(link);
    } else {
        engine_timer_set(timer, engine_now_ns() + link_idle_timeout_ns);
    }
}

/* Called with table.lock held. The links that were used last come first. */
static void end_old_idle_links(const struct link_peer *peer) {
    int idle = 0;
    for (struct link *link = table.links; link != NULL; link = link->next) {
        if (link_peer_is(&link->peer, peer) && link->named && __atomic_load_n(&link->references, __ATOMIC_ACQUIRE) == 1
                && ++idle > MAX_IDLE_LINKS) {
            engine_timer_set(&link->idle_timer, engine_now_ns());
        }
    }
}

static void on_ready(struct engine_source *source, uint32_t events) {
    struct link *link = container_of(source, struct link, source);
    if (!link_transfer(link, events)) {
        go_down(link);
    }
}

static uint64_t max_links_of_user(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 4 >= MAX_LINKS_OF_USER) {
        return MAX_LINKS_OF_USER;
    }
    return limit.rlim_cur / 4 > MIN_LINKS_OF_USER ? limit.rlim_cur / 4 : MIN_LINKS_OF_USER;
}

/* Counts a link that the peer has made. Returns false if it has too many. */
static bool count_accepted(struct account *account, const struct link_peer *peer) {
    return account_charge(account, LINK_KEPT_LINKS, 1, peer->may_signal ? MAX_ACCEPTED_LINKS : max_links_of_user());
}

/*
 * Opens a link. Takes the descriptor over, also on failure. Called with table.lock held: nothing can go down before it
 * is complete. On success *result, if asked for, carries a reference.
 */
static int open_link(int fd, const struct link_peer *peer, const struct link_name *name, struct link **result) {
    struct link *link = calloc(1, sizeof(*link));
    struct account *account = link != NULL ? account_get(peer) : NULL;
    if (account == NULL || (name == NULL && !count_accepted(account, peer))) {
        if (account != NULL) {
            account_put(account);
        }
        free(link);
        closer_end(fd);
        return ENOMEM;
    }
    closer_pass_rights(fd, true);
    link->account = account;
    link->source.fd = fd;
    link->peer = *peer;
    link->source.ready = on_ready;
    link->hello_timer.fire = on_hello_timeout;
    link->idle_timer.fire = on_idle;
    link->retry_timer.fire = link_on_retry;
    link->references = result != NULL ? 2 : 1;
    link->up = true;
    link->watched = EPOLLIN;
    if (name != NULL) {
        link->name = *name;
        link->named = true;
    }
    /* Random start, so that a number that another process uses by mistake does not match a link here. */
    if (table.last_number == 0) {
        table.last_number = (uint64_t) random_start() << 32;
    }
    link->number = ++table.last_number;
    pthread_mutex_init(&link->lock, NULL);

    const struct link_hello hello = { .magic = LINK_HELLO_MAGIC, .version = link_version };
    int err = link_send(link, LINK_HELLO, &hello, sizeof(hello), NULL, 0);
    /* EPIPE: the peer is gone already; its earlier messages are handled, and then its end is read */
    if (err == 0 || err == EPIPE) {
        pthread_mutex_lock(&link->lock);
        err = engine_add(&link->source, link->watched);
        pthread_mutex_unlock(&link->lock);
    }
    if (err != 0) {
        engine_timer_cancel(&link->retry_timer);
        link_discard_queue(link, closer_close);
        closer_end(fd);
        uncount(link);
        free_link(link);
        return err;
    }
    list_first(link);
    *find_number(link->number) = link; /* the end of the list: there is none of this number */
    if (name != NULL) {
        /*
         * There is no timeout for the listener's greeting: a listener that does not greet is stopped or busy, not gone,
         * and the users of the link have timeouts of their own.
         */
        engine_timer_set(&link->idle_timer, engine_now_ns() + link_idle_timeout_ns);
    } else {
        engine_timer_set(&link->hello_timer, engine_now_ns() + link_hello_timeout_ns);
    }
    if (result != NULL) {
        *result = link;
    }
    return 0;
}

/* Makes an abstract address, which begins with NUL. */
static socklen_t address_of(const struct link_name *name, struct sockaddr_un *address) {
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    char *text = address->sun_path + 1;
    size_t size = sizeof(address->sun_path) - 1;
    int length = name->kind == LINK_BLOCK
            ? snprintf(text, size, LINK_NAMESPACE "/%u/q/%u", name->user, name->number)
            : snprintf(text, size, LINK_NAMESPACE "/%u/cm/%x/%u", name->user, name->port_space, name->number);
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) length);
}

/* Prefix of the names of a port in the folder. */
#define PORT_PREFIX LINK_NAMESPACE "-port-%x-%u-"

static void file_of(const struct link_name *name, char file[FOLDER_NAME_SIZE]) {
    if (name->kind == LINK_BLOCK) {
        snprintf(file, FOLDER_NAME_SIZE, LINK_NAMESPACE "-qps-%u", name->number);
    } else if (name->port_space == LINK_COMMON && trust_has_lists()) {
        snprintf(file, FOLDER_NAME_SIZE, LINK_NAMESPACE "-common-%u", name->number);
    } else if (name->port_space == LINK_COMMON) { /* a process that does not meet others has a service of its own */
        snprintf(file, FOLDER_NAME_SIZE, LINK_NAMESPACE "-common-%u-%u", name->number, geteuid());
    } else {
        snprintf(file, FOLDER_NAME_SIZE, PORT_PREFIX "%llx-%llu", name->port_space, name->number,
                 (unsigned long long) name->network.device, (unsigned long long) name->network.inode);
    }
}

static bool is_same(const struct link_name *a, const struct link_name *b) {
    return a->kind == b->kind && a->number == b->number && a->port_space == b->port_space && a->user == b->user
            && a->network.device == b->network.device && a->network.inode == b->network.inode;
}

/* Finds the network namespace of the calling thread. Returns 0 or errno. */
static int find_own_network(struct link_network *network) {
    struct stat status;
    if (stat("/proc/thread-self/ns/net", &status) != 0) {
        return errno;
    }
    *network = (struct link_network) { .device = status.st_dev, .inode = status.st_ino };
    return 0;
}

/* Makes the name of a port. `network`: NULL for that of the calling thread. Returns 0 or errno. */
static int port_name(int port_space, uint16_t port, const struct link_network *network, struct link_name *name) {
    int err = folder_start(NULL, 0);
    *name = (struct link_name) { .kind = LINK_PORT, .port_space = (uint32_t) port_space, .number = port };
    if (err == 0 && !folder_is_used()) {
        name->user = geteuid();
    } else if (err == 0 && port_space != LINK_COMMON) {
        if (network != NULL) {
            name->network = *network;
        } else {
            err = find_own_network(&name->network);
        }
    }
    return err;
}

static int block_name(uint32_t block, struct link_name *name) {
    int err = folder_start(NULL, 0);
    *name = (struct link_name) { .kind = LINK_BLOCK, .number = block };
    name->user = folder_is_used() ? 0 : geteuid();
    return err;
}

/* Does connect(2). Returns 0 or errno. */
static int connect_socket(int fd, const struct link_name *name) {
    if (folder_is_used()) {
        char file[FOLDER_NAME_SIZE];
        file_of(name, file);
        return folder_connect(fd, file);
    }
    struct sockaddr_un address;
    socklen_t size = address_of(name, &address);
    return connect(fd, (struct sockaddr *) &address, size) == 0 ? 0 : errno;
}

/* Opens a socket. Nobody can send descriptors to it, or to connections to it, before the peer is known: open_link(). */
static int open_socket(void) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        closer_pass_rights(fd, false);
    }
    return fd;
}

static int connect_name(const struct link_name *name, bool fresh, struct link **result) {
    int err;
    struct link_peer peer;
    pthread_mutex_lock(&table.lock);
    for (struct link *link = table.links; link != NULL; link = link->next) {
        if (link->named && link_is_up(link) && is_same(&link->name, name)) {
            /* A link with many references is left: connects make another one, and find that. */
            if (!fresh && __atomic_load_n(&link->references, __ATOMIC_RELAXED) < MANY_REFERENCES) {
                /*
                 * Moved to the front, because connects come in bursts: the next one looks for the same link or nearby.
                 */
                unlist(link);
                list_first(link);
                *result = link_get(link);
                pthread_mutex_unlock(&table.lock);
                return 0;
            }
            link->named = false;
        }
    }
    int fd = -1;
    if (closer_is_behind()) { /* a connection that is refused would be one more to close */
        err = EAGAIN;
    } else {
        fd = open_socket();
        err = fd < 0 ? errno : connect_socket(fd, name);
    }
    if (err == 0) {
        err = trust_peer(fd, &peer); /* another user may have bound the name: no process that may be a peer is there */
    }
    if (err == 0) {
        err = open_link(fd, &peer, name, result);
        end_old_idle_links(&peer);
    } else if (fd >= 0) {
        closer_end(fd);
    }
    pthread_mutex_unlock(&table.lock);
    return err;
}

int link_connect_qpn(uint32_t qpn, struct link **link) {
    struct link_name name;
    int err = qpn < LINK_UNNAMED_QPN ? block_name(qpn >> QPN_BLOCK_BITS, &name) : ECONNREFUSED;
    return err != 0 ? err : connect_name(&name, false, link);
}

int link_connect_port_in(const struct link_network *network, int port_space, uint16_t port, bool fresh,
                         struct link **link) {
    struct link_name name;
    int err = port_name(port_space, port, network, &name);
    return err != 0 ? err : connect_name(&name, fresh, link);
}

int link_connect_port(int port_space, uint16_t port, bool fresh, struct link **link) {
    return link_connect_port_in(NULL, port_space, port, fresh, link);
}

bool link_uses_folder(void) {
    return folder_start(NULL, 0) == 0 && folder_is_used();
}

struct search {
    size_t prefix; /* length of `prefix` */
    struct link_network own, *networks;
    unsigned count, limit;
};

static bool add_network(const char *file, void *context) {
    struct search *search = context;
    unsigned long long device, inode;
    char again[FOLDER_NAME_SIZE];
    if (sscanf(file + search->prefix, "%llx-%llu", &device, &inode) != 2) {
        return true;
    }
    snprintf(again, sizeof(again), "%llx-%llu", device, inode);
    bool is_own = device == search->own.device && inode == search->own.inode;
    if (!is_own && strcmp(again, file + search->prefix) == 0) {
        search->networks[search->count++] = (struct link_network) { device, inode };
    }
    return search->count < search->limit;
}

unsigned link_find_networks(int port_space, uint16_t port, struct link_network *networks, unsigned limit) {
    struct search search = { .networks = networks, .limit = limit };
    char prefix[FOLDER_NAME_SIZE];
    errno = 0;
    if (!link_uses_folder()) {
        return 0;
    }
    search.prefix = (size_t) snprintf(prefix, sizeof(prefix), PORT_PREFIX, (unsigned) port_space, port);
    int err = find_own_network(&search.own);
    if (err == 0) {
        err = folder_visit(prefix, add_network, &search);
    }
    errno = err;
    return err == 0 ? search.count : 0;
}

void link_forget(struct link *link) {
    pthread_mutex_lock(&table.lock);
    link->named = false;
    pthread_mutex_unlock(&table.lock);
}

uint64_t link_number(const struct link *link) {
    return link->number;
}

struct link *link_find(uint64_t number) {
    pthread_mutex_lock(&table.lock);
    struct link *link = *find_number(number);
    if (link != NULL) {
        link = link_is_up(link) ? link_get(link) : NULL;
    }
    pthread_mutex_unlock(&table.lock);
    return link;
}

/* ---- being reachable ---- */

/* Accepts a connection. Returns 0 or errno: EAGAIN, or a shortage. */
static int accept_one(int listener) {
    if (closer_is_behind()) { /* the connection may have to be closed as well */
        return EMFILE;
    }
    pthread_mutex_lock(&table.lock);
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int err = fd < 0 ? errno : 0;
    struct link_peer peer;
    if (fd >= 0 && trust_peer(fd, &peer) == 0) {
        open_link(fd, &peer, NULL, NULL);
    } else if (fd >= 0) {
        closer_end(fd);
    }
    pthread_mutex_unlock(&table.lock);
    return err;
}

static void on_accept_ready(struct engine_source *source, uint32_t events) {
    (void) events;
    struct link_port *port = container_of(source, struct link_port, source);
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        int err = accept_one(source->fd);
        if (err == EAGAIN) {
            return;
        }
        if (err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS) {
            engine_modify(source, 0); /* the connection stays pending: watching on would spin */
            engine_timer_set(&port->retry_timer, engine_now_ns() + ACCEPT_RETRY_NS);
            return;
        }
    }
}

static void on_accept_retry(struct engine_timer *timer) {
    engine_modify(&container_of(timer, struct link_port, retry_timer)->source, EPOLLIN);
}

/* Does bind(2) and listen(2). Returns 0 or errno. */
static int listen_on(int fd, const struct link_name *name, char file[FOLDER_NAME_SIZE]) {
    if (folder_is_used()) {
        file_of(name, file);
        /* Block names are not taken over: there are other blocks. */
        return folder_listen(fd, file, name->kind == LINK_PORT);
    }
    struct sockaddr_un address;
    socklen_t size = address_of(name, &address);
    return bind(fd, (struct sockaddr *) &address, size) == 0 && listen(fd, SOMAXCONN) == 0 ? 0 : errno;
}

/*
 * Finds the holder of a name. EADDRINUSE: a process that may be a peer; EACCES: another user; ECONNREFUSED: no process
 * listens, for example because one has bound the name just now; EAGAIN: the backlog is full, which lasts only if the
 * process does not accept.
 */
static int find_holder(const struct link_name *name) {
    struct link_peer peer;
    int fd = open_socket();
    int err = fd < 0 ? errno : connect_socket(fd, name);
    if (err == 0) {
        err = trust_peer(fd, &peer);
        err = err == 0 ? EADDRINUSE : err == ECONNREFUSED ? EACCES : err;
    }
    if (fd >= 0) {
        closer_end(fd);
    }
    return err;
}

/* Opens a socket that listens on a name. Returns 0 or errno. */
static int open_listener(const struct link_name *name, struct link_port *port) {
    port->source.fd = open_socket();
    if (port->source.fd < 0) {
        return errno;
    }
    int err = listen_on(port->source.fd, name, port->file);
    if (err != 0) {
        closer_end(port->source.fd);
        port->source.fd = -1;
    }
    return err;
}

#define HOLDER_TRIES 16

/* Takes a name. Returns 0 or errno: EADDRINUSE, a process that may be a peer holds it; EACCES, another user does. */
static int take_name(const struct link_name *name, struct link_port *port) {
    int err = open_listener(name, port);
    for (int i = 0; i < HOLDER_TRIES && err == EADDRINUSE && name->kind == LINK_PORT; i++) {
        err = find_holder(name);
        if (err != ECONNREFUSED && err != EAGAIN) {
            return err;
        }
        sched_yield();
        err = open_listener(name, port);
    }
    return err == EADDRINUSE && name->kind == LINK_PORT ? EACCES : err;
}

static int listen_name(const struct link_name *name, struct link_port **result) {
    struct link_port *port = calloc(1, sizeof(*port));
    if (port == NULL) {
        return ENOMEM;
    }
    port->of_block = name->kind == LINK_BLOCK;
    port->source.ready = on_accept_ready;
    port->retry_timer.fire = on_accept_retry;
    pthread_mutex_lock(&table.lock);
    int err = take_name(name, port);
    if (err == 0) {
        err = engine_add(&port->source, EPOLLIN);
        if (err != 0) {
            if (port->file[0] != 0) {
                folder_remove(port->file);
            }
            closer_end_listener(port->source.fd);
        }
    }
    if (err == 0) {
        port->next = table.listeners;
        port->previous = &table.listeners;
        if (port->next != NULL) {
            port->next->previous = &port->next;
        }
        table.listeners = port;
        *result = port;
    }
    pthread_mutex_unlock(&table.lock);
    if (err != 0) {
        free(port);
    }
    return err;
}

int link_bind_port(int port_space, uint16_t port, struct link_port **handle) {
    if (port == 0) {
        return EINVAL;
    }
    struct link_name name;
    int err = port_name(port_space, port, NULL, &name);
    return err != 0 ? err : listen_name(&name, handle);
}

void link_unbind_port(struct link_port *port) {
    if (port->source.fd >= 0) {
        engine_remove(&port->source);
        engine_timer_cancel(&port->retry_timer);
        pthread_mutex_lock(&table.lock);
        *port->previous = port->next;
        if (port->next != NULL) {
            port->next->previous = port->previous;
        }
        if (port->file[0] != 0) {
            folder_remove(port->file); /* removed before it looks like a dead process's name */
        }
        closer_end_listener(port->source.fd);
        pthread_mutex_unlock(&table.lock);
    }
    free(port);
}

/*
 * Limit of tries. Any user may hold names without using them, and a search of all names would take an event loop a
 * second for each connection.
 */
#define BLOCK_TRIES 64

static uint32_t claim_named_block(void) {
    for (int i = 0; i < BLOCK_TRIES; i++) {
        /* Random start, unlikely to meet the numbers of a process that has just died. */
        uint32_t block = FIRST_NAMED_BLOCK + random_start() % (FIRST_UNNAMED_BLOCK - FIRST_NAMED_BLOCK);
        struct link_name name;
        struct link_port *port;
        int err = block_name(block, &name);
        if (err == 0) {
            err = listen_name(&name, &port); /* kept until link_rest() */
        }
        if (err == 0) {
            return block << QPN_BLOCK_BITS;
        }
        if (err != EADDRINUSE) {
            errno = err;
            return 0;
        }
    }
    errno = EADDRNOTAVAIL;
    return 0;
}

/*
 * Claims consecutive numbers from a random start: peers tell two processes with the same numbers apart by their links.
 */
static uint32_t claim_unnamed_block(void) {
    const uint32_t count = END_OF_BLOCKS - FIRST_UNNAMED_BLOCK;
    uint32_t first = 0;
    pthread_mutex_lock(&table.lock);
    if (table.num_blocks == 0) {
        table.first_block = random_start() % count;
    }
    if (table.num_blocks < count) {
        first = (FIRST_UNNAMED_BLOCK + (table.first_block + table.num_blocks++) % count) << QPN_BLOCK_BITS;
    } else {
        errno = EADDRNOTAVAIL;
    }
    pthread_mutex_unlock(&table.lock);
    return first;
}

uint32_t link_claim_qpn_block(bool with_name) {
    return with_name ? claim_named_block() : claim_unnamed_block();
}

static struct link_port *find_block(void) {
    pthread_mutex_lock(&table.lock);
    struct link_port *port = table.listeners;
    while (port != NULL && !port->of_block) {
        port = port->next;
    }
    pthread_mutex_unlock(&table.lock);
    return port;
}

static struct link *find_link(void) {
    pthread_mutex_lock(&table.lock);
    struct link *link = table.links;
    pthread_mutex_unlock(&table.lock);
    return link;
}

/* Gives the names back first, so that no process connects any more. */
void link_rest(void) {
    struct link_port *block;
    struct link *link;
    while ((block = find_block()) != NULL) {
        link_unbind_port(block);
    }
    while ((link = find_link()) != NULL) {
        go_down(link);
    }
}

/* ---- fork ---- */

static void fork_prepare(void) {
    pthread_mutex_lock(&table.lock);
}

static void fork_parent(void) {
    pthread_mutex_unlock(&table.lock);
}

/*
 * Closes the child's copies of descriptors. An open copy would hide the parent's death from its peers, and keep its
 * names taken.
 */
static void fork_child(void) {
    for (struct link *link = table.links; link != NULL; link = link->next) {
        closer_close_inherited(link->source.fd);
        link->source.fd = -1;
        link->up = false;
        if (pthread_mutex_trylock(&link->lock) == 0) {
            link_discard_queue(link, closer_close_inherited);
        }
        link->first = link->last = NULL; /* leaked, not walked, as another thread was at work on it */
        pthread_mutex_init(&link->lock, NULL);
    }
    for (struct link_port *port = table.listeners; port != NULL; port = port->next) {
        closer_close_inherited(port->source.fd);
        port->source.fd = -1;
    }
    table.links = NULL;
    memset(table.by_number, 0, sizeof(table.by_number));
    table.listeners = NULL;
    table.last_number = 0;
    table.num_blocks = 0;
    pthread_mutex_unlock(&table.lock);
}

void link_init(void) {
    folder_init();
    account_init();
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}
