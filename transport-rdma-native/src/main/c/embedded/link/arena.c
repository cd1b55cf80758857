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
/* Memory that several queue pairs share with a peer: see arena.h. */
#include "arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "embedded/base/closer.h"
#include "embedded/base/container_of.h"
#include "embedded/base/memory_limit.h"
#include "embedded/base/pinned.h"
#include "embedded/base/sealed.h"
#include "link.h"

_Atomic uint64_t arena_rest_ns = UINT64_C(2500000000);

/*
 * Limit of own arenas of a link. New connections do not use a link that has 768 references (link.c). Each queue pair
 * has one segment, and may hold a few more.
 */
#define MAX_OWN 1024u

/*
 * Time after which an introduction carries the descriptor once more, because the descriptor may have got lost. Other
 * introductions of a burst do not carry it.
 */
#define FIRST_SHOW_GAP_NS UINT64_C(10000000)
#define MAX_SHOW_GAP_NS UINT64_C(1000000000)

/*
 * Limit of descriptors that are kept to repeat introductions to all peers: the larger of this number and a quarter of
 * RLIMIT_NOFILE.
 */
#define MIN_KEPT 256u

/*
 * Limit of views of one process: a quarter of the mappings that a process may have by default, and twice the number
 * that an honest peer needs for DEVICE_MAX_QP queue pairs.
 */
#define MAX_VIEWS 16384u

/*
 * Divisor of this process's memory limit. All processes of a user that may not signal this one may have it map this
 * part. When this process reads a page that the peer never wrote, the kernel allocates the page and charges the reader
 * (shmem_fault() in the kernel's mm/shmem.c). The peer decides which pages are read.
 */
#define PART_OF_MEMORY 4

struct arena {
    struct arena *next;
    struct wire_arena *memory;
    uint32_t number, count, users;
    int fd; /* -1: the peer has the descriptor, or too many are kept */
    bool charged;                     /* the descriptor may be kept: it counts for the peer */
    bool answered, introduced;
    bool declined; /* the peer left an introduction, perhaps because it lacked the descriptor */
    uint64_t show_at_ns, show_gap_ns; /* time to send the descriptor again */
    bool rests; /* the arena had no users the last time */
    struct {
        bool used;
        uint32_t introductions;           /* number of introductions that the peer has not left */
        uint32_t published[WIRE_STREAMS]; /* number of descriptors that the previous user published */
    } state[WIRE_ARENA_SEGMENTS];
};

struct view {
    struct view *next;
    const struct wire_arena *memory;
    uint32_t number, count;
    unsigned refs; /* one reference is the list's */
};

static void rest(struct engine_timer *timer);

void arenas_init(struct arenas *arenas, struct link *link) {
    *arenas = (struct arenas) { .link = link, .timer = { .fire = rest } };
    pthread_mutex_init(&arenas->lock, NULL);
}

void arenas_free(struct arenas *arenas) {
    pthread_mutex_destroy(&arenas->lock);
}

/* ---- the writer ---- */

static void send_message(struct arenas *arenas, enum wire_message type, const struct wire_place *place) {
    link_send(arenas->link, type, place, sizeof(*place), NULL, 0);
}

static struct arena **find_own(struct arenas *arenas, uint32_t number) {
    struct arena **link = &arenas->own;
    while (*link != NULL && (*link)->number != number) {
        link = &(*link)->next;
    }
    return link;
}

static void close_fd(struct arenas *arenas, struct arena *arena) {
    if (arena->fd >= 0) {
        close(arena->fd);
        arena->fd = -1;
    }
    if (arena->charged) {
        arena->charged = false;
        link_discharge(arenas->link, LINK_KEPT_ARENA_FDS, 1);
    }
}

static uint64_t max_kept(void) {
    struct rlimit limit;
    bool many = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 > MIN_KEPT;
    return many ? limit.rlim_cur / 4 : MIN_KEPT;
}

static void end_arena(struct arenas *arenas, struct arena **link) {
    struct arena *arena = *link;
    *link = arena->next;
    arenas->count--;
    arenas->segments -= arena->count;
    if (arena->introduced && !arenas->down) {
        send_message(arenas, WIRE_ARENA_END, &(struct wire_place) { .arena = arena->number });
    }
    if (!pinned_remove(arena->memory)) {
        munmap(arena->memory, wire_arena_size(arena->count));
    }
    close_fd(arenas, arena);
    free(arena);
}

static void set_timer(struct arenas *arenas) {
    if (!arenas->timed && !arenas->down) {
        arenas->timed = true;
        engine_timer_set(&arenas->timer, engine_now_ns() + arena_rest_ns);
    }
}

static void rest(struct engine_timer *timer) {
    struct arenas *arenas = container_of(timer, struct arenas, timer);
    pthread_mutex_lock(&arenas->lock);
    arenas->timed = false;
    for (struct arena **link = &arenas->own, *arena; (arena = *link) != NULL;) {
        if (arena->users == 0 && arena->rests) {
            end_arena(arenas, link);
            continue;
        }
        if (arena->users == 0) {
            arena->rests = true;
            set_timer(arenas);
        }
        link = &arena->next;
    }
    pthread_mutex_unlock(&arenas->lock);
}

static bool is_free(const struct arena *arena, uint32_t i) {
    return !arena->state[i].used && arena->state[i].introductions == 0;
}

/*
 * Returns the index of a free segment, or arena->count if there is none or if the peer may be unable to map the arena.
 */
static uint32_t find_free(const struct arena *arena) {
    uint32_t i = arena->answered || arena->fd >= 0 || !arena->declined ? 0 : arena->count;
    while (i < arena->count && !is_free(arena, i)) {
        i++;
    }
    return i;
}

static struct arena *find_room(const struct arenas *arenas) {
    struct arena *best = NULL;
    for (struct arena *arena = arenas->own; arena != NULL; arena = arena->next) {
        bool is_full = arena->users == arena->count;
        if (!is_full && (best == NULL || arena->users > best->users) && find_free(arena) < arena->count) {
            best = arena;
        }
    }
    return best;
}

/* Makes an arena with as many segments as the link has in all, so that a few arenas suffice for many. */
static struct arena *make(struct arenas *arenas) {
    uint32_t count = 1;
    while (count < WIRE_ARENA_SEGMENTS && count < arenas->segments) {
        count *= 2;
    }
    struct arena *arena = arenas->count < MAX_OWN ? calloc(1, sizeof(*arena)) : NULL;
    if (arena == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory;
    arena->fd = sealed_create("rdma-arena", wire_arena_size(count), &memory);
    if (arena->fd < 0) {
        int error = errno;
        free(arena);
        errno = error;
        return NULL;
    }
    arena->charged = link_charge_share(arenas->link, LINK_KEPT_ARENA_FDS, 1, max_kept());
    arena->memory = memory;
    arena->count = count;
    pinned_add(memory, wire_arena_size(count), true);
    arena->number = arenas->next_number++;
    arena->next = arenas->own;
    arenas->own = arena;
    arenas->count++;
    arenas->segments += count;
    return arena;
}

/* Clears only the written part: the pages of the rest may not be there yet. */
static void clear(struct wire_slot *ring, uint32_t slots, uint32_t published) {
    for (uint32_t i = 0; i < slots && i < published; i++) {
        atomic_store_explicit(&ring[i].desc.sequence, 0, memory_order_relaxed);
    }
}

struct wire_segment *arenas_claim(struct arenas *arenas, struct arena **result) {
    struct wire_segment *segment = NULL;
    pthread_mutex_lock(&arenas->lock);
    struct arena *arena = find_room(arenas);
    if (arena == NULL) {
        arena = make(arenas);
    }
    if (arena != NULL) {
        uint32_t i = find_free(arena);
        segment = &arena->memory->segment[i];
        memset(&arena->memory->control[i], 0, sizeof(arena->memory->control[i]));
        clear(segment->request, WIRE_REQUEST_SLOTS, arena->state[i].published[WIRE_REQUESTS]);
        clear(segment->response, WIRE_RESPONSE_SLOTS, arena->state[i].published[WIRE_RESPONSES]);
        arena->state[i].used = true;
        arena->users++;
        arena->rests = false;
        *result = arena;
    }
    pthread_mutex_unlock(&arenas->lock);
    return segment;
}

static uint32_t index_of(const struct arena *arena, const struct wire_segment *segment) {
    return (uint32_t) (segment - arena->memory->segment);
}

struct wire_control *arena_control(const struct arena *arena, const struct wire_segment *segment) {
    return &arena->memory->control[index_of(arena, segment)];
}

int arenas_begin_introduction(struct arenas *arenas, struct arena *arena, const struct wire_segment *segment,
                              struct wire_place *place) {
    pthread_mutex_lock(&arenas->lock);
    *place = (struct wire_place) {
        .arena = arena->number, .segment = index_of(arena, segment), .segments = arena->count,
    };
    return arena->fd >= 0 && engine_now_ns() >= arena->show_at_ns ? arena->fd : -1;
}

/*
 * Notes that the descriptor was sent. The descriptor is kept, to be sent again, only if it is charged. So a burst of
 * unanswered introductions leaves descriptors for other uses and for repetitions.
 */
static void note_shown(struct arenas *arenas, struct arena *arena) {
    if (!arena->charged) {
        close_fd(arenas, arena);
    }
    arena->show_gap_ns = arena->introduced ? arena->show_gap_ns * 2 : FIRST_SHOW_GAP_NS;
    if (arena->show_gap_ns > MAX_SHOW_GAP_NS) {
        arena->show_gap_ns = MAX_SHOW_GAP_NS;
    }
    arena->show_at_ns = engine_now_ns() + arena->show_gap_ns;
    arena->introduced = true;
}

void arenas_end_introduction(struct arenas *arenas, struct arena *arena, const struct wire_segment *segment, bool shown,
                             bool sent) {
    if (sent) {
        arena->state[index_of(arena, segment)].introductions++;
        if (shown) {
            note_shown(arenas, arena);
        }
    }
    pthread_mutex_unlock(&arenas->lock);
}

void arenas_answered(struct arenas *arenas, struct arena *arena) {
    pthread_mutex_lock(&arenas->lock);
    arena->answered = true;
    close_fd(arenas, arena);
    pthread_mutex_unlock(&arenas->lock);
}

void arenas_release(struct arenas *arenas, struct arena *arena, const struct wire_segment *segment,
                    const uint32_t published[WIRE_STREAMS]) {
    uint32_t i = index_of(arena, segment);
    pthread_mutex_lock(&arenas->lock);
    memcpy(arena->state[i].published, published, sizeof(arena->state[i].published));
    arena->state[i].used = false;
    if (--arena->users == 0) {
        if (arenas->down) {
            end_arena(arenas, find_own(arenas, arena->number));
        } else {
            set_timer(arenas);
        }
    }
    pthread_mutex_unlock(&arenas->lock);
}

bool arenas_left(struct arenas *arenas, const struct wire_place *place) {
    pthread_mutex_lock(&arenas->lock);
    struct arena *arena = *find_own(arenas, place->arena);
    bool known = arena != NULL; /* NULL: the arena ended before this message came */
    bool valid = place->arena < arenas->next_number
            && (!known || (place->segment < arena->count && arena->state[place->segment].introductions > 0));
    if (known && valid) {
        arena->state[place->segment].introductions--;
        arena->declined |= !arena->answered;
        arena->show_at_ns = 0;
    }
    pthread_mutex_unlock(&arenas->lock);
    return valid;
}

/* ---- the reader ---- */

static uint64_t max_view_bytes(const struct link *link) {
    return link_peer(link)->may_signal ? UINT64_MAX : memory_limit() / PART_OF_MEMORY;
}

static bool charge_view(struct link *link, uint32_t segments) {
    if (!link_charge(link, LINK_KEPT_VIEW, 1, MAX_VIEWS)) {
        return false;
    }
    if (!link_charge(link, LINK_KEPT_VIEW_BYTES, wire_arena_size(segments), max_view_bytes(link))) {
        link_discharge(link, LINK_KEPT_VIEW, 1);
        return false;
    }
    return true;
}

static void discharge_view(struct link *link, uint32_t segments) {
    link_discharge(link, LINK_KEPT_VIEW, 1);
    link_discharge(link, LINK_KEPT_VIEW_BYTES, wire_arena_size(segments));
}

static void put_view(struct arenas *arenas, struct view *view) {
    if (--view->refs == 0) {
        if (!pinned_remove(view->memory)) {
            closer_unmap(view->memory, wire_arena_size(view->count));
        }
        discharge_view(arenas->link, view->count);
        free(view);
    }
}

static struct view **find_view(struct arenas *arenas, uint32_t number) {
    struct view **link = &arenas->views;
    while (*link != NULL && (*link)->number != number) {
        link = &(*link)->next;
    }
    return link;
}

static struct view *map_view(struct arenas *arenas, const struct wire_place *place, int fd) {
    if (!charge_view(arenas->link, place->segments)) {
        errno = ESTALE;
        return NULL;
    }
    struct view *view = calloc(1, sizeof(*view));
    const void *memory = view == NULL ? NULL : sealed_map(fd, wire_arena_size(place->segments));
    if (memory == NULL) {
        int error = view != NULL && errno == EPROTO ? EPROTO : ESTALE;
        discharge_view(arenas->link, place->segments);
        free(view);
        errno = error;
        return NULL;
    }
    *view = (struct view) {
        .next = arenas->views, .memory = memory, .number = place->arena, .count = place->segments, .refs = 1,
    };
    arenas->views = view;
    pinned_add(memory, wire_arena_size(place->segments), false);
    return view;
}

const struct wire_segment *arenas_view(struct arenas *arenas, const struct wire_place *place, int fd,
                                       struct view **result) {
    const struct wire_segment *segment = NULL;
    if (place->segments < 1 || place->segments > WIRE_ARENA_SEGMENTS || place->segment >= place->segments) {
        errno = EPROTO;
        return NULL;
    }
    pthread_mutex_lock(&arenas->lock);
    struct view *view = *find_view(arenas, place->arena);
    int error = 0;
    if (view == NULL && (fd < 0 || arenas->down)) {
        error = ESTALE;
    } else if (view == NULL) {
        view = map_view(arenas, place, fd);
        error = view == NULL ? errno : 0;
    } else if (view->count != place->segments) {
        error = EPROTO;
    }
    if (error == 0) {
        view->refs++;
        *result = view;
        segment = &view->memory->segment[place->segment];
    }
    pthread_mutex_unlock(&arenas->lock);
    errno = error;
    return segment;
}

const struct wire_control *view_control(const struct view *view, const struct wire_segment *segment) {
    return &view->memory->control[segment - view->memory->segment];
}

void arenas_leave(struct arenas *arenas, struct view *view, const struct wire_place *place) {
    pthread_mutex_lock(&arenas->lock);
    put_view(arenas, view);
    pthread_mutex_unlock(&arenas->lock);
    arenas_decline(arenas, place);
}

void arenas_decline(struct arenas *arenas, const struct wire_place *place) {
    /* No thread waits for this message. If it gets lost, the segment is free when its arena ends. */
    link_send_later(arenas->link, WIRE_LEAVE, place, sizeof(*place));
}

static void remove_view(struct arenas *arenas, struct view **link) {
    struct view *view = *link;
    *link = view->next;
    put_view(arenas, view);
}

bool arenas_ended(struct arenas *arenas, const struct wire_place *place) {
    pthread_mutex_lock(&arenas->lock);
    struct view **link = find_view(arenas, place->arena);
    if (*link != NULL) { /* NULL: this process never mapped the arena */
        remove_view(arenas, link);
    }
    pthread_mutex_unlock(&arenas->lock);
    return true;
}

/* ---- the end ---- */

/* Number of views that are unmapped in one section of the lock: a peer may have had this process map thousands. */
#define VIEWS_AT_ONCE 64

static bool remove_some_views(struct arenas *arenas) {
    pthread_mutex_lock(&arenas->lock);
    for (int i = 0; i < VIEWS_AT_ONCE && arenas->views != NULL; i++) {
        remove_view(arenas, &arenas->views);
    }
    bool more = arenas->views != NULL;
    pthread_mutex_unlock(&arenas->lock);
    return more;
}

void arenas_go_down(struct arenas *arenas) {
    pthread_mutex_lock(&arenas->lock);
    arenas->down = true;
    for (struct arena **link = &arenas->own; *link != NULL;) {
        if ((*link)->users == 0) {
            end_arena(arenas, link);
        } else {
            link = &(*link)->next;
        }
    }
    pthread_mutex_unlock(&arenas->lock);
    while (remove_some_views(arenas)) {
    }
    engine_timer_cancel(&arenas->timer);
}
