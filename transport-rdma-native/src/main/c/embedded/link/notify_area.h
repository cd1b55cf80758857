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
 * The notify area: sealed memory of a process that all its peers map. It answers two questions without any shared
 * writable word.
 *
 * "Must a sender wake the owner?": the area has a word for each completion queue and one for the engine, which the
 * owner writes when it goes to sleep or stops polling. A sender reads the word after it has published work, and rings
 * at most once for each value. A sender that need not ring checks by the number of polls, which is also in the area,
 * whether the owner still polls (cq_overdue.c).
 *
 * "Which queue pairs have work?": the area has ticks. A sender increments the tick of the queue pair, then the tick of
 * its group, in its own notify area. A receiver compares the groups with a private copy, so nothing is ever cleared,
 * and an idle queue pair costs 1/1024 of a cache line. A bank of ticks belongs to one completion queue of one peer
 * process, so a poll reads no ticks of other queues. The first completion queues of a peer have banks of their own
 * (process.c). The others share common banks, because the peer chooses how many completion queues it names, and must
 * not decide how much memory is used here. Sharing costs the peer's polls only some looks at groups without work for
 * them.
 *
 * A receiver whose polls look at a connection directly (cq_scan.c) says so in its segment. Then the sender increments
 * no ticks for it, so two cache lines less move between processors.
 */
#ifndef NETTY_RDMA_EMBEDDED_NOTIFY_AREA_H
#define NETTY_RDMA_EMBEDDED_NOTIFY_AREA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "own_doorbell.h"

#define NOTIFY_CQS 131072u /* two for each queue pair that there may be: DEVICE_MAX_QP */
#define NOTIFY_BANKS 8192u
#define NOTIFY_COMMON_BANKS 1024u /* banks kept for common use: ticks for all queue pairs, and for flows */
#define NOTIFY_GROUPS 8u
#define NOTIFY_GROUP_SLOTS 128u
#define NOTIFY_BANK_SLOTS (NOTIFY_GROUPS * NOTIFY_GROUP_SLOTS)

/*
 * State in the low bits of a completion queue's word; above them a sequence number that changes whenever it is armed.
 */
enum notify_cq_state {
    NOTIFY_CQ_IDLE,   /* no thread polls: ring the engine */
    NOTIFY_CQ_POLLED, /* a thread polls, or did just now: do not ring, but see cq_overdue.c */
    NOTIFY_CQ_ARMED,  /* ring the channel for a completion, otherwise the engine */
    NOTIFY_CQ_ARMED_SOLICITED,
};
#define NOTIFY_CQ_STATE(word) ((enum notify_cq_state) ((word) & 3))
#define NOTIFY_CQ_NEXT(word, state) ((((word) | 3) + 1) | (state))
#define NOTIFY_CQ_SAME(word, state) (((word) & ~UINT64_C(3)) | (state))

/* Returns whether the engine's word says that it sleeps: odd while it sleeps, and different for each sleep. */
#define NOTIFY_ENGINE_ASLEEP(word) (((word) & 1) != 0)

struct notify_word {
    _Alignas(64) _Atomic uint64_t word;
};

/*
 * Number of polls of a completion queue; may miss some if several threads poll. It changes all the time, and peers read
 * it only when their work is not taken. Processors fetch the next cache line as well, so it is far from the word.
 */
struct notify_polls {
    _Alignas(64) _Atomic uint32_t polls;
};

struct notify_groups {
    _Alignas(64) _Atomic uint64_t tick[NOTIFY_GROUPS];
};

struct notify_area {
    _Alignas(4096) struct notify_word engine;
    _Alignas(4096) struct notify_word cq[NOTIFY_CQS];
    struct notify_polls polls[NOTIFY_CQS];
    struct notify_groups groups[NOTIFY_BANKS];
    _Alignas(4096) _Atomic uint32_t tick[NOTIFY_BANKS][NOTIFY_BANK_SLOTS];
};

/* Notify area of this process; NULL before notify_area_open(). */
extern struct notify_area *own_notify_area;
extern int own_notify_area_fd;
/*
 * Doorbells that this process and peers ring when the engine sleeps. They are closed before notify_area_open().
 * `outer_doorbell` is for peers that may not have `own_doorbell`, and is closed if there can be no such peers.
 */
extern struct own_doorbell own_doorbell, outer_doorbell;

/* Returns the doorbell of the engine that a peer may have. */
static inline const struct own_doorbell *doorbell_for(const struct link_peer *peer) {
    return own_doorbell.heard.is_socket || peer->may_signal ? &own_doorbell : &outer_doorbell;
}

void notify_area_init(void);

/* Makes the area and the doorbells, unless they exist. Returns 0 or errno. */
int notify_area_open(void);

/*
 * Closes the area and the doorbells. Called when nothing in this process refers to the area any more, and no link is
 * left, so that no peer mistakes this area for the next one. Returns false, and does nothing, while an index is
 * claimed.
 */
bool notify_area_close(void);

/* Returns 0 if the area is open, or the limit of file sizes allows it (sealed.h); else errno and the reason. */
int notify_area_is_allowed(char *reason, size_t reason_size);

/* Claim and release indices. -1: none is left. A bank that is not `common` leaves NOTIFY_COMMON_BANKS for these. */
int notify_area_claim_cq(void);
void notify_area_release_cq(int index);
int notify_area_claim_bank(bool common);
void notify_area_release_bank(int index);

/*
 * Increments a slot of the own notify area. It is sequentially consistent, so the caller reads the peer's word after
 * it. The slot has one writer.
 */
static inline void notify_area_tick(uint32_t bank, uint32_t slot) {
    _Atomic uint32_t *tick = &own_notify_area->tick[bank][slot];
    atomic_store_explicit(tick, atomic_load_explicit(tick, memory_order_relaxed) + 1, memory_order_release);
    atomic_fetch_add(&own_notify_area->groups[bank].tick[slot / NOTIFY_GROUP_SLOTS], 1);
}

#endif
