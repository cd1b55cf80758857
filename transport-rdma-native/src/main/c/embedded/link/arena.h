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
 * Arenas: sealed memory (sealed.h) that is cut into segments (wire.h) for the ends of several queue pairs and flows.
 * With one mapping for each segment, half as many queue pairs would use up vm.max_map_count (65,530 by default), and
 * each connection would cost a dozen system calls. The control words of all segments share a page. An arena of idle
 * connections takes no other memory.
 *
 * An arena is shown to one peer only, over one link. The first arenas of a link are small, because most links serve few
 * queue pairs.
 *
 *   writer                                        reader
 *   WIRE_ATTACH etc.: an introduction, with    -> maps the arena, unless it is mapped
 *   the descriptor until the first answer
 *                                              <- WIRE_LEAVE for each introduction, when the reader needs the segment
 *                                                 no more because of it, or could not use it
 *   WIRE_ARENA_END                             -> unmaps the arena when the reader needs none of its segments any more
 *
 * A segment is claimed again when its user has released it, and the peer has sent WIRE_LEAVE for all introductions.
 * Before that, a queue pair at the other end might take the next user's descriptors for its own. The pages of a
 * released segment stay, because the seal that keeps readers from writing also prevents punching holes
 * (shmem_fallocate() in the kernel's mm/shmem.c). So a segment is claimed from the arena with the most users. An arena
 * without users is freed after some seconds without asking the reader, because the reader's mapping stays valid.
 *
 * Arenas that a peer shows are charged to its account (link_charge()).
 *
 * Threads: any. The functions take the lock of the link's arenas, under which nothing else is taken but the link's.
 */
#ifndef NETTY_RDMA_EMBEDDED_ARENA_H
#define NETTY_RDMA_EMBEDDED_ARENA_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "wire.h"

/* Lifetime of an arena without users, which lasts once to twice as long. Written by tests only. */
extern _Atomic uint64_t arena_rest_ns;

struct arena; /* memory of this process */
struct view;  /* memory of the peer, mapped here */

/* Arenas of a link, in both directions. */
struct arenas {
    struct link *link;
    pthread_mutex_t lock;
    struct engine_timer timer; /* ends arenas without users */
    bool timed;
    bool down;
    uint32_t next_number;
    unsigned segments, count; /* number of own segments and arenas */
    struct arena *own;
    struct view *views;
};

void arenas_init(struct arenas *arenas, struct link *link);
void arenas_go_down(struct arenas *arenas); /* called when the link went down, on the engine thread */
void arenas_free(struct arenas *arenas);    /* called after that, when there are no users */

/* ---- the writer ---- */

/* Claims a segment of zeroed descriptors and control words. Returns NULL with errno on failure. */
struct wire_segment *arenas_claim(struct arenas *arenas, struct arena **arena);

/* Returns the control words of a claimed segment. */
struct wire_control *arena_control(const struct arena *arena, const struct wire_segment *segment);

/*
 * Begins an introduction. The caller sends it, and then calls arenas_end_introduction(). Fills in `place`, and returns
 * the descriptor to send along, or -1 if the peer has it. The descriptor is sent again after a while, as long as there
 * is no answer.
 */
int arenas_begin_introduction(struct arenas *arenas, struct arena *arena, const struct wire_segment *segment,
                              struct wire_place *place);
void arenas_end_introduction(struct arenas *arenas, struct arena *arena, const struct wire_segment *segment, bool shown,
                             bool sent);

/* Notes that the peer has answered an introduction of one of its segments. */
void arenas_answered(struct arenas *arenas, struct arena *arena);

/* Releases a segment. `published`: number of descriptors in each stream, which are cleared for the next user. */
void arenas_release(struct arenas *arenas, struct arena *arena, const struct wire_segment *segment,
                    const uint32_t published[WIRE_STREAMS]);

/* Handles WIRE_LEAVE. Returns false if the message breaks the protocol. */
bool arenas_left(struct arenas *arenas, const struct wire_place *place);

/* ---- the reader ---- */

/*
 * Finds the segment of an introduction; `fd` is the descriptor that came along, or -1. Returns NULL with errno on
 * failure: EPROTO if the introduction breaks the protocol; ESTALE if the arena is not known, because its descriptor or
 * memory for it is missing, and the peer will send the introduction again.
 */
const struct wire_segment *arenas_view(struct arenas *arenas, const struct wire_place *place, int fd,
                                       struct view **view);

/* Returns the control words of a segment that arenas_view() found. */
const struct wire_control *view_control(const struct view *view, const struct wire_segment *segment);

/* Ends one use of arenas_view(), and sends WIRE_LEAVE to the writer. `place` is the introduction's. */
void arenas_leave(struct arenas *arenas, struct view *view, const struct wire_place *place);

/* Sends WIRE_LEAVE for an introduction that this end could not use. */
void arenas_decline(struct arenas *arenas, const struct wire_place *place);

/* Handles WIRE_ARENA_END. */
bool arenas_ended(struct arenas *arenas, const struct wire_place *place);

#endif
