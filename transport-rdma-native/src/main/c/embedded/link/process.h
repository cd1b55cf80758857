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
 * Another process, to which several links may lead: its notify area, its doorbells, and the ticks of the own notify
 * area that announce work to its completion queues.
 */
#ifndef NETTY_RDMA_EMBEDDED_PROCESS_H
#define NETTY_RDMA_EMBEDDED_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "link.h"
#include "notify_area.h"

struct process;
struct remote_cq; /* a completion queue of the process */

/* Urgency of a tick. */
enum wake {
    WAKE_NONE,       /* nothing to announce */
    WAKE_COMPLETION, /* a completion and nothing else: the application's next poll is soon enough for it */
    WAKE_WORK,       /* work without a completion there: the engine may do it if no thread polls */
    WAKE_EVENT,      /* a completion, and there may be more to do */
    WAKE_SOLICITED,  /* WAKE_EVENT, and the sender asked for attention */
};

struct announcement {
    struct remote_cq *cq;
    uint32_t bank, slot;
};

void process_init(void);

/*
 * Finds or makes the process with this identity and notify area. A hostile peer may send the notify area of a third
 * process, whose descriptor it has as well. Because the identity differs, the peer's doorbell is not rung instead of
 * the third process's. *doorbell is the doorbell of the engine there, and becomes -1 if it was kept; a doorbell of this
 * process is not kept. Returns a reference, or NULL with errno: EPROTO if the descriptors are wrong, or the process has
 * sent too many areas.
 */
struct process *process_of_notify_area(const struct link_peer *peer, int area_fd, int *doorbell);
struct process *process_get(struct process *process);
void process_put(struct process *process);

const struct notify_area *process_notify_area(const struct process *process);

/*
 * Claims a slot that announces work to the completion queue (index, id). *doorbell is the descriptor of its channel or
 * -1. It becomes -1 if it was kept, or closed as a copy of the kept one. Returns false if there is no memory or no bank
 * left, or if the descriptor is not a doorbell. A doorbell stays for a while after the last announcement.
 */
bool process_announce(struct process *process, uint32_t index, uint32_t id, int *doorbell,
                      struct announcement *announcement);
void process_renounce(struct announcement *announcement);

/*
 * Returns whether the doorbell is missing, and would be kept if the peer sent it. Without it, the engine of the process
 * is rung. Returns false if process_announce() has failed.
 */
bool process_lacks_doorbell(const struct announcement *announcement);
/* Takes a doorbell that came later: *doorbell is set to -1 if it was kept. */
void process_take_doorbell(struct announcement *announcement, int *doorbell);

/* Increments the slot, for a thread that polls. Followed by process_signal() or process_ring(). */
static inline void process_hint(const struct announcement *announcement) {
    notify_area_tick(announcement->bank, announcement->slot);
}

/*
 * Returns the word of the completion queue if its owner sleeps, or 0 if the tick is enough. Called after the slot was
 * incremented. A ring is needed only while the word stays the same: an owner that has changed it to sleep again has
 * looked at the slot since (notify_area.h).
 */
uint64_t process_sleeper(const struct announcement *announcement);
bool process_still_sleeps(const struct announcement *announcement, uint64_t word);

/* Returns whether the owner has armed the completion queue, and no event has come since. */
bool process_waits(const struct announcement *announcement);

/* Returns a number that changes with each poll of the completion queue. */
uint32_t process_polls(const struct announcement *announcement);

/* Wakes the sleeping owner. Returns false if the word says that a thread polls, which may be wrong: cq_overdue.c. */
bool process_ring(const struct announcement *announcement, enum wake wake);

/* Increments the slot and wakes the sleeping owner. Returns the result of process_ring(). */
static inline bool process_signal(const struct announcement *announcement, enum wake wake) {
    notify_area_tick(announcement->bank, announcement->slot);
    return process_ring(announcement, wake);
}

/* Rings the engine's doorbell in any case, because the engine may not know that it has work. */
void process_ring_engine(struct process *process);

#endif
