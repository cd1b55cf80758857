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
 * One mapping for each segment would use up vm.max_map_count (65,530 by default) with half as many queue pairs, and
 * costs each connection a dozen system calls. The control words of all its segments share a page, which is all that an
 * arena of idle connections takes.
 *
 * An arena is shown to one peer only, over one link. The first ones of a link are small, for most links
 * are used by few queue pairs.
 *
 *   writer                                        reader
 *   WIRE_ATTACH etc.: an introduction, with    -> maps the arena, if it has not yet
 *   the descriptor until the first answer
 *                                              <- WIRE_LEAVE for each introduction, when it needs that segment no more
 *                                                 on account of it, or when it was of no use
 *   WIRE_ARENA_END                             -> unmaps it when it needs none of its segments any more
 *
 * A segment is claimed again when its user has released it and the peer has left all introductions: till then a queue
 * pair at the other end may take for its own what the next user writes. The pages of a released segment stay, as the
 * seal that keeps readers from writing also refuses to punch holes (shmem_fallocate() in the kernel's mm/shmem.c). So
 * an arena that has users is preferred, the fuller the better, and one without users is given back after some seconds,
 * whatever the reader says: the reader's mapping stays valid.
 *
 * Arenas that a peer shows are counted by process (link_charge()).
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
 * Begins an introduction, which is sent between this call and the next. Fills in `place`, and returns the descriptor
 * that goes along, or -1 if the peer has it already; the descriptor is sent again, after a while, as long as there is
 * no answer.
 */
int arenas_begin_introduction(struct arenas *arenas, struct arena *arena, const struct wire_segment *segment,
                              struct wire_place *place);
void arenas_end_introduction(struct arenas *arenas, struct arena *arena, const struct wire_segment *segment, bool shown,
                             bool sent);

/* Notes that the peer has answered an introduction of one of its segments. */
void arenas_answered(struct arenas *arenas, struct arena *arena);

/* Releases a segment; the number of descriptors published in each stream tells what to clear for the next user. */
void arenas_release(struct arenas *arenas, struct arena *arena, const struct wire_segment *segment,
                    const uint32_t published[WIRE_STREAMS]);

/* Handles WIRE_LEAVE. Returns false if no honest peer would say so. */
bool arenas_left(struct arenas *arenas, const struct wire_place *place);

/* ---- the reader ---- */

/*
 * Finds the segment of an introduction; `fd` is the descriptor that came along, or -1. Returns NULL with errno on
 * failure: EPROTO if no honest peer would send this; ESTALE if the arena is not known, for want of its descriptor or of
 * memory for it, and the peer will send it again.
 */
const struct wire_segment *arenas_view(struct arenas *arenas, const struct wire_place *place, int fd,
                                       struct view **view);

/* Returns the control words of a segment that arenas_view() found. */
const struct wire_control *view_control(const struct view *view, const struct wire_segment *segment);

/* Ends one use of arenas_view(), and tells the writer; `place` is the introduction's. */
void arenas_leave(struct arenas *arenas, struct view *view, const struct wire_place *place);

/* Tells the writer that its introduction was of no use. */
void arenas_decline(struct arenas *arenas, const struct wire_place *place);

/* Handles WIRE_ARENA_END. */
bool arenas_ended(struct arenas *arenas, const struct wire_place *place);

#endif
