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
 * What this process knows of another one, however many links lead there: its notify area, its doorbells, and which
 * ticks of the own notify area announce work to which of its completion queues.
 */
#ifndef NETTY_RDMA_EMBEDDED_PROCESS_H
#define NETTY_RDMA_EMBEDDED_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "link.h"
#include "notify_area.h"

struct process;
struct remote_cq; /* one of its completion queues */

/* How urgent a tick is. */
enum wake {
    WAKE_NONE,       /* nothing to announce */
    WAKE_COMPLETION, /* makes a completion and nothing else: a poll now and then is soon enough for it */
    WAKE_WORK,       /* makes no completion there: the engine may do it if no thread polls */
    WAKE_EVENT,      /* makes a completion, and there may be more to do */
    WAKE_SOLICITED,  /* and the sender asked for attention */
};

struct announcement {
    struct remote_cq *cq;
    uint32_t bank, slot;
};

void process_init(void);

/*
 * The process with this identity and notify area. The identity matters if a peer shows the notify area of another
 * process, of which it has the descriptor too: the doorbell that it sends is not rung in place of that process's.
 * *doorbell is the doorbell of its engine, set to -1 if it was kept: that of this process is not. Returns a reference,
 * or NULL with errno: EPROTO if the descriptors are not what they should be, or if there are too many such areas of it.
 */
struct process *process_of_notify_area(const struct link_peer *peer, int area_fd, int *doorbell);
struct process *process_get(struct process *process);
void process_put(struct process *process);

const struct notify_area *process_notify_area(const struct process *process);

/*
 * Claims a slot that announces work to the completion queue (index, id). *doorbell is the descriptor of its channel or
 * -1, set to -1 if it was kept. Returns false without memory or with no bank left, or if the doorbell is none.
 */
bool process_announce(struct process *process, uint32_t index, uint32_t id, int *doorbell,
                      struct announcement *announcement);
void process_renounce(struct announcement *announcement);

/* Increments the slot, for a thread that polls; process_signal() or process_ring() must follow. */
static inline void process_hint(const struct announcement *announcement) {
    notify_area_tick(announcement->bank, announcement->slot);
}

/*
 * After the slot was counted up: 0 if that was enough, or the word of the completion queue, whose owner sleeps. A ring
 * is due as long as the word stays: an owner that has changed it to sleep again has looked at the slot since
 * (notify_area.h).
 */
uint64_t process_sleeper(const struct announcement *announcement);
bool process_still_sleeps(const struct announcement *announcement, uint64_t word);

/* Changes with each poll of the completion queue. */
uint32_t process_polls(const struct announcement *announcement);

/* Wakes the sleeping owner. Returns false if the word says that a thread polls, which may be wrong: cq_overdue.c. */
bool process_ring(const struct announcement *announcement, enum wake wake);

/* Increments the slot and wakes the sleeping owner, with the result of process_ring(). */
static inline bool process_signal(const struct announcement *announcement, enum wake wake) {
    notify_area_tick(announcement->bank, announcement->slot);
    return process_ring(announcement, wake);
}

/* Rings the engine's doorbell in any case: it may not know that it has work. */
void process_ring_engine(struct process *process);

#endif
