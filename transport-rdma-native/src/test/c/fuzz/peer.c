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
/* The peer of a fuzz target: see peer.h. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "check.h"
#include "embedded/link/link_private.h"
#include "embedded/base/sealed.h"
#include "engine_by_hand.h"

#define MCAST_PORT_SPACE 0x5a /* mcast.c */
#define MCAST_PORT LINK_VERSION
#define MAX_WRITTEN 256
#define LISTENERS 4
#define MAX_ARENAS 64u

struct peer_memory peer_memory;
struct peer_heard peer_heard = { .doorbell = -1 };
void (*peer_on_message)(int link, unsigned type, const void *body, size_t length);

static int things[THINGS];
static int links[PEER_LINKS] = { -1, -1, -1, -1 };
static unsigned numbers[PEER_LINKS], num_links;
static int listeners[LISTENERS], num_listeners;

/* The victim's arenas. */
static struct {
    int link;
    uint32_t number;
    const void *memory;
    size_t size;
} arenas[MAX_ARENAS];
static unsigned num_arenas;

static struct {
    void *memory;
    size_t length;
} written[MAX_WRITTEN];
static unsigned num_written;

/* ---- memory ---- */

void peer_wrote(const void *memory, size_t length) {
    unsigned i = 0;
    while (i < num_written && (written[i].memory != memory || written[i].length < length)) {
        i++;
    }
    if (i == num_written && num_written < MAX_WRITTEN) {
        written[num_written].memory = (void *) memory;
        written[num_written++].length = length;
    }
}

static void clear(void) {
    for (unsigned i = 0; i < num_written; i++) {
        memset(written[i].memory, 0, written[i].length);
    }
    if (num_written == MAX_WRITTEN) { /* perhaps there was more */
        memset(peer_memory.area, 0, sizeof(*peer_memory.area));
        memset(peer_memory.table, 0, sizeof(*peer_memory.table));
    }
    num_written = 0;
    for (int i = 0; i < PEER_SEGMENTS; i++) {
        memset(peer_memory.segment[i], 0, offsetof(struct wire_segment, request_slab));
        memset(peer_memory.control[i], 0, sizeof(*peer_memory.control[i]));
    }
    memset(peer_memory.acks, 0, sizeof(*peer_memory.acks));
}

static void *shared(enum peer_thing thing, size_t size) {
    void *memory;
    things[thing] = sealed_create("fuzz", size, &memory);
    CHECK(things[thing] >= 0);
    return memory;
}

static void make_slab(struct wire_segment *segment) {
    for (uint32_t i = 0; i < WIRE_REQUEST_SLAB; i++) {
        segment->request_slab[i] = (uint8_t) (i % 251 + 1);
        segment->response_slab[i] = (uint8_t) (i % 241 + 1);
    }
}

/* ---- names ---- */

static socklen_t address_of(struct sockaddr_un *address, const char *rest) {
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    int length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "netty-rdma/%u/%s", geteuid(), rest);
    return (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + (size_t) length);
}

static int new_socket(void) {
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    return fd;
}

static void bind_name(const char *rest) {
    struct sockaddr_un address;
    socklen_t length = address_of(&address, rest);
    int fd = new_socket();
    CHECK_EQ(bind(fd, (struct sockaddr *) &address, length), 0);
    CHECK_EQ(listen(fd, 64), 0);
    CHECK(num_listeners < LISTENERS);
    listeners[num_listeners++] = fd;
}

static void bind_port(int port_space, unsigned port) {
    char name[48];
    snprintf(name, sizeof(name), "cm/%x/%u", (unsigned) port_space, port);
    bind_name(name);
}

void peer_open(void) {
    char name[48];
    int ends[2];
    peer_memory.area = shared(THING_NOTIFY_AREA, sizeof(struct notify_area));
    for (int i = 0; i < PEER_SEGMENTS; i++) {
        struct wire_arena *arena = shared(i == 0 ? THING_SEGMENT : THING_OTHER_SEGMENT, wire_arena_size(1));
        peer_memory.segment[i] = &arena->segment[0];
        peer_memory.control[i] = &arena->control[0];
        make_slab(peer_memory.segment[i]);
    }
    peer_memory.acks = &((struct wire_arena *) shared(THING_ACKS, wire_arena_size(1)))->control[0];
    peer_memory.table = shared(THING_TABLE, sizeof(struct mcast_table));
    shared(THING_SMALL, 8192);
    things[THING_DOORBELL] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    things[THING_UNSEALED] = memfd_create("unsealed", MFD_CLOEXEC);
    CHECK_EQ(ftruncate(things[THING_UNSEALED], wire_arena_size(1)), 0);
    CHECK_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    things[THING_PIPE] = ends[1];
    things[THING_SOCKET] = new_socket();
    things[THING_DIRECTORY] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < THINGS; i++) {
        CHECK(things[i] >= 0);
    }
    snprintf(name, sizeof(name), "q/%u", PEER_QPN_BLOCK);
    bind_name(name);
    bind_port(RDMA_PS_TCP, PEER_PORT);
    bind_port(RDMA_PS_UDP, PEER_PORT);
}

void peer_bind_mcast(void) {
    bind_port(MCAST_PORT_SPACE, MCAST_PORT);
}

/* ---- links ---- */

bool peer_has(int link) {
    return links[link] >= 0;
}

unsigned peer_number(int link) {
    return numbers[link];
}

/* Puts a link in place of the one before. */
static void put_link(int link, int fd) {
    peer_hang_up(link);
    links[link] = fd;
    numbers[link] = ++num_links;
}

void peer_hang_up(int link) {
    if (links[link] >= 0) {
        close(links[link]);
        links[link] = -1;
    }
}

static bool connect_name(int link, const char *rest) {
    struct sockaddr_un address;
    socklen_t length = address_of(&address, rest);
    peer_hang_up(link);
    int fd = new_socket();
    if (connect(fd, (struct sockaddr *) &address, length) != 0) {
        close(fd);
        return false;
    }
    put_link(link, fd);
    return true;
}

bool peer_connect_qpn(int link, uint32_t qpn) {
    char name[48];
    snprintf(name, sizeof(name), "q/%u", qpn >> 8);
    return connect_name(link, name);
}

bool peer_connect_port(int link, int port_space, uint16_t port) {
    char name[48];
    snprintf(name, sizeof(name), "cm/%x/%u", (unsigned) port_space, port);
    return connect_name(link, name);
}

void peer_accept(void) {
    for (int i = 0; i < num_listeners; i++) {
        int fd;
        while ((fd = accept4(listeners[i], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
            int link = PEER_LINKS - 1;
            while (link > 1 && links[link] >= 0) {
                link--;
            }
            put_link(link, fd);
        }
    }
}

static void send_packet(int link, struct iovec *parts, size_t count, const enum peer_thing *sent, int nfds) {
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(PEER_MAX_FDS * sizeof(int))];
    } control;
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = count };
    if (links[link] < 0) {
        return;
    }
    if (nfds > 0) {
        int fds[PEER_MAX_FDS];
        for (int i = 0; i < nfds; i++) {
            fds[i] = things[sent[i]];
        }
        memset(&control, 0, sizeof(control));
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE((size_t) nfds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t) nfds * sizeof(int));
        memcpy(CMSG_DATA(c), fds, (size_t) nfds * sizeof(int));
    }
    (void) !sendmsg(links[link], &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void peer_say_raw(int link, const void *packet, size_t length, const enum peer_thing *sent, int count) {
    struct iovec part = { (void *) packet, length };
    send_packet(link, &part, 1, sent, count);
}

void peer_say(int link, unsigned type, const void *body, size_t length, const enum peer_thing *sent, int count) {
    struct link_header header = { .type = type };
    struct iovec parts[] = { { &header, sizeof(header) }, { (void *) body, length } };
    send_packet(link, parts, 2, sent, count);
}

void peer_hello(int link) {
    const struct link_hello hello = { .magic = LINK_HELLO_MAGIC, .version = LINK_VERSION };
    peer_say(link, LINK_HELLO, &hello, sizeof(hello), NULL, 0);
}

void peer_notify_area(int link) {
    const enum peer_thing sent[] = { THING_NOTIFY_AREA, THING_DOORBELL };
    peer_say(link, WIRE_NOTIFY_AREA, NULL, 0, sent, 2);
}

/* ---- what the victim says ---- */

/* An arena is shown with the first introduction of its segments. Another link has others with the same numbers. */
static const struct wire_arena *look_at(int link, const struct wire_place *place, bool shown, int fd) {
    size_t size = wire_arena_size(place->segments);
    unsigned i = num_arenas;
    while (i > 0 && (arenas[i - 1].link != link || arenas[i - 1].number != place->arena)) {
        i--;
    }
    if (i == 0 || (shown && arenas[i - 1].size != size)) {
        if (!shown || num_arenas == MAX_ARENAS) {
            return NULL; /* the thing was shown to a link that is no more, or there are too many */
        }
        i = ++num_arenas;
        arenas[i - 1].memory = sealed_map(fd, size);
        CHECK(arenas[i - 1].memory != NULL);
        arenas[i - 1].link = link;
        arenas[i - 1].number = place->arena;
        arenas[i - 1].size = size;
    }
    CHECK(place->segment < place->segments);
    return arenas[i - 1].memory;
}

static void keep_if_shown(const struct wire_arena *arena, const struct wire_place *place) {
    if (arena != NULL) {
        peer_heard.segment = &arena->segment[place->segment];
        peer_heard.control = &arena->control[place->segment];
    }
}

static void take(int link, unsigned type, const void *body, size_t length, int *fds, int nfds) {
    if (type == WIRE_NOTIFY_AREA) {
        CHECK_EQ(nfds, 2);
        if (peer_heard.doorbell >= 0) {
            close(peer_heard.doorbell);
        }
        peer_heard.doorbell = fds[1];
        fds[1] = -1;
    } else if (type == WIRE_ATTACH) {
        CHECK_EQ(length, sizeof(peer_heard.attach));
        memcpy(&peer_heard.attach, body, length);
        bool shown = (peer_heard.attach.carries & WIRE_ARENA) != 0;
        CHECK(nfds >= shown);
        keep_if_shown(look_at(link, &peer_heard.attach.place, shown, fds[0]), &peer_heard.attach.place);
    } else if (type == WIRE_SLOTS) {
        CHECK_EQ(length, sizeof(peer_heard.slots));
        memcpy(&peer_heard.slots, body, length);
    } else if (type >= WIRE_FLOW_OPEN && type <= WIRE_FLOW_CLOSE) {
        CHECK_EQ(length, sizeof(struct wire_flow));
        memcpy(&peer_heard.flow[type], body, length);
        peer_heard.refused |= type == WIRE_FLOW_REFUSE;
        const struct wire_flow *flow = &peer_heard.flow[type];
        bool shown = (flow->carries & WIRE_ARENA) != 0;
        if (type == WIRE_FLOW_OPEN) {
            CHECK_EQ(nfds, shown);
            keep_if_shown(look_at(link, &flow->place, shown, fds[0]), &flow->place);
        } else if (type == WIRE_FLOW_ACCEPT) {
            CHECK(nfds >= shown);
            look_at(link, &flow->place, shown, fds[0]);
        }
    }
}

static bool listen_once(int link) {
    struct {
        struct link_header header;
        _Alignas(16) char body[LINK_MAX_BODY];
    } packet;
    struct iovec parts[] = { { &packet.header, sizeof(packet.header) }, { packet.body, sizeof(packet.body) } };
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(LINK_MAX_FDS * sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = parts, .msg_iovlen = 2, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
    };
    ssize_t n = recvmsg(links[link], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        peer_hang_up(link);
    }
    if (n <= 0) {
        return false;
    }
    CHECK(n >= (ssize_t) sizeof(packet.header));
    int fds[LINK_MAX_FDS], nfds = 0;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c != NULL) {
        nfds = (int) ((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(fds, CMSG_DATA(c), (size_t) nfds * sizeof(int));
    }
    size_t length = (size_t) n - sizeof(packet.header);
    take(link, packet.header.type, packet.body, length, fds, nfds);
    if (peer_on_message != NULL) {
        peer_on_message(link, packet.header.type, packet.body, length);
    }
    for (int i = 0; i < nfds; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    return true;
}

void peer_listen(void) {
    peer_accept();
    for (int link = 0; link < PEER_LINKS; link++) {
        while (links[link] >= 0 && listen_once(link)) {
        }
    }
}

void peer_greet(int first, bool with_notify_area) {
    static unsigned greeted[PEER_LINKS]; /* their numbers: a second hello would end the link */
    peer_accept();
    for (int i = first; i < PEER_LINKS; i++) {
        if (peer_has(i) && greeted[i] != peer_number(i)) {
            greeted[i] = peer_number(i);
            peer_hello(i);
            if (with_notify_area) {
                peer_notify_area(i);
            }
        }
    }
    peer_listen();
}

void peer_tick(uint32_t bank, uint32_t slot) {
    _Atomic uint32_t *tick = &peer_memory.area->tick[bank % NOTIFY_BANKS][slot % NOTIFY_BANK_SLOTS];
    struct notify_groups *groups = &peer_memory.area->groups[bank % NOTIFY_BANKS];
    peer_wrote(tick, sizeof(*tick));
    peer_wrote(groups, sizeof(*groups));
    atomic_fetch_add(tick, 1);
    atomic_fetch_add(&groups->tick[slot % NOTIFY_BANK_SLOTS / NOTIFY_GROUP_SLOTS], 1);
    if (peer_heard.doorbell >= 0) {
        eventfd_write(peer_heard.doorbell, 1);
    }
}

void peer_forget(void) {
    for (int link = 0; link < PEER_LINKS; link++) {
        peer_hang_up(link);
    }
    engine_run();
    peer_accept(); /* accepts connections that the victim has begun meanwhile */
    for (int link = 0; link < PEER_LINKS; link++) {
        peer_hang_up(link);
    }
    if (peer_heard.doorbell >= 0) {
        close(peer_heard.doorbell);
    }
    while (num_arenas > 0) {
        num_arenas--;
        munmap((void *) arenas[num_arenas].memory, arenas[num_arenas].size);
    }
    peer_heard = (struct peer_heard) { .doorbell = -1 };
    uint64_t count;
    (void) !read(things[THING_DOORBELL], &count, sizeof(count));
    clear();
}
