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
 * The peer that a fuzz target plays: links made of plain sockets, so that anything can be said, and things whose
 * descriptors it can send.
 */
#ifndef NETTY_RDMA_FUZZ_PEER_H
#define NETTY_RDMA_FUZZ_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "embedded/link/notify_area.h"
#include "embedded/link/link.h"
#include "embedded/groups/mcast_table.h"
#include "embedded/link/wire.h"

#define PEER_LINKS 4
#define PEER_QPN_BLOCK UINT32_C(0x4321)
#define PEER_QPN (PEER_QPN_BLOCK << 8) /* first of 256 numbers that lead to the peer */
#define PEER_PORT 61001
#define PEER_MAX_FDS 8 /* one more than a message may have */
#define PEER_SEGMENTS 2

/* Things of the peer. Segments are arenas of one, with the numbers 0, 1 and 2. */
enum peer_thing {
    /* Good in their places. */
    THING_NOTIFY_AREA, THING_DOORBELL, THING_SEGMENT, THING_OTHER_SEGMENT, THING_ACKS, THING_TABLE,

    THING_UNSEALED, THING_SMALL, THING_PIPE, THING_SOCKET, THING_DIRECTORY, THINGS,
};

struct peer_memory {
    struct notify_area *area;
    struct wire_segment *segment[PEER_SEGMENTS];
    struct wire_control *control[PEER_SEGMENTS]; /* control words of the segments */
    struct wire_control *acks;
    struct mcast_table *table;
};
extern struct peer_memory peer_memory;

/* Latest messages of the victim. */
struct peer_heard {
    int doorbell;                           /* doorbell of its engine; -1 before WIRE_NOTIFY_AREA */
    const struct wire_segment *segment; /* segment of its queue pair or flow; NULL before it has shown one */
    const struct wire_control *control; /* control words of the segment */
    struct wire_attach attach;
    struct wire_slots slots;
    struct wire_flow flow[WIRE_FLOW_CLOSE + 1]; /* messages by type */
    bool refused;
};
extern struct peer_heard peer_heard;

/* Told of each message of the victim, if not NULL. */
extern void (*peer_on_message)(int link, unsigned type, const void *body, size_t length);

void peer_open(void);       /* called once */
void peer_bind_mcast(void);    /* the peer is the subnet administrator */
void peer_forget(void);     /* the end of a run: hangs up, clears the memory, closes what it was sent */

/* A new link takes the place of the one before. False if nobody is there. */
bool peer_connect_qpn(int link, uint32_t qpn);
bool peer_connect_port(int link, int port_space, uint16_t port);
void peer_accept(void);     /* links of the victim to the peer, into the places from the last one down */
void peer_hang_up(int link);
bool peer_has(int link);
unsigned peer_number(int link); /* returns the number of the link that has the place, in this process */

void peer_say(int link, unsigned type, const void *body, size_t length, const enum peer_thing *things, int count);
void peer_say_raw(int link, const void *packet, size_t length, const enum peer_thing *things, int count);
void peer_hello(int link);
void peer_notify_area(int link);
void peer_listen(void);     /* takes what the victim said on all links */
/* Accepts links, says hello on those that have come since, but for the first places, and listens. */
void peer_greet(int first, bool with_notify_area);

/* Announces work on the peer's notify area and rings the victim's engine. */
void peer_tick(uint32_t bank, uint32_t slot);

/* Remembers that the segment was written here, so that it is cleared. */
void peer_wrote(const void *memory, size_t length);

#endif
