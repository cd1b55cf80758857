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
 * The notify area: one sealed memory per process that all its peers map. It answers two questions without any shared
 * writable word.
 *
 * "Must I wake you?": a word per completion queue and one for the engine, written by the owner when it goes to sleep or
 * stops polling. A sender reads the word after it has published, and rings at most once per value. The area also has
 * the number of polls so far, by which a sender that need not ring sees whether that is still true (cq_overdue.c).
 *
 * "Who has work for me?": ticks. A sender increments the tick of the queue pair, then the tick of its group, in its own
 * notify area. A receiver compares groups with its private copy, so nothing is ever cleared and an idle queue pair
 * costs 1/1024 of a cache line. A bank of ticks belongs to one (peer process, completion queue of that peer), so that a
 * poll meets the ticks of no other queue. The first of a peer's completion queues have banks of their own (process.c).
 * The others share common banks, which costs their owner's polls looks at groups that have nothing for them, and no
 * more: what a peer calls its completion queues is the peer's word, and must not decide how much memory is used here.
 *
 * A receiver whose polls look at a connection itself (cq_scan.c) says so in its segment; then there are no ticks for
 * it, which saves two cache lines that move from processor to processor.
 */
#ifndef NETTY_RDMA_EMBEDDED_NOTIFY_AREA_H
#define NETTY_RDMA_EMBEDDED_NOTIFY_AREA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "own_doorbell.h"

#define NOTIFY_CQS 131072u /* two for each queue pair that there may be: DEVICE_MAX_QP */
#define NOTIFY_BANKS 8192u
#define NOTIFY_COMMON_BANKS 1024u /* banks left to common use: ticks for all queue pairs, and for flows */
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
 * Number of polls of a completion queue; may lose some where several threads poll. It changes all the time, and peers
 * look at it only when nothing is taken: so it is far from the word, as processors fetch the next cache line as well.
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
 * Doorbells that this process and peers ring when the engine sleeps; none before notify_area_open(). `outer_doorbell`
 * is for peers that may not have `own_doorbell`, and none if there are no such peers.
 */
extern struct own_doorbell own_doorbell, outer_doorbell;

/* Returns the doorbell of the engine that a peer may have. */
static inline const struct own_doorbell *doorbell_for(const struct link_peer *peer) {
    return own_doorbell.heard.is_socket || peer->may_signal ? &own_doorbell : &outer_doorbell;
}

void notify_area_init(void);

/* Makes the area and the doorbells, if they are not there. Returns 0 or errno. */
int notify_area_open(void);

/*
 * Closes the area and the doorbells, when nothing on this side refers to the area any more and no link is left: a peer
 * must not mistake this area for the next one. Returns false, and does nothing, while an index is claimed.
 */
bool notify_area_close(void);

/*
 * Returns whether the area is open, or the limit of file sizes lets it be made: 0, or errno and the reason. See
 * sealed.h.
 */
int notify_area_is_allowed(char *reason, size_t reason_size);

/* Claiming of indices; -1 when there are none left. A bank for one completion queue leaves NOTIFY_COMMON_BANKS. */
int notify_area_claim_cq(void);
void notify_area_release_cq(int index);
int notify_area_claim_bank(bool common);
void notify_area_release_bank(int index);

/*
 * Increments a slot of the own notify area. Sequentially consistent: reading the peer's word comes after it. The slot
 * has one writer.
 */
static inline void notify_area_tick(uint32_t bank, uint32_t slot) {
    _Atomic uint32_t *tick = &own_notify_area->tick[bank][slot];
    atomic_store_explicit(tick, atomic_load_explicit(tick, memory_order_relaxed) + 1, memory_order_release);
    atomic_fetch_add(&own_notify_area->groups[bank].tick[slot / NOTIFY_GROUP_SLOTS], 1);
}

#endif
