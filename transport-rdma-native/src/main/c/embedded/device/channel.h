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
 * Completion channels. The descriptor that the application sees is the doorbell that other processes ring, so a peer
 * wakes the sleeping thread itself, without the engine. That thread calls embedded_ibv_get_cq_event() or
 * embedded_ext_take_events(), which executes the announced work and finds the completions. The latter does not read an
 * eventfd, which saves a system call for each wake-up.
 *
 * Without a folder, peers that could stop this process anyway hold the descriptor. A hostile one can steal wake-ups, or
 * change O_NONBLOCK. Other peers can only ring (own_doorbell.h). Within this process, a call that waits for an event
 * reads the descriptor without a lock. Another thread may empty the descriptor meanwhile, with the lock, because both
 * need one system call only. If emptying takes more than one (see doorbell_can_nowait()), all reads are under the lock,
 * and threads wait by poll(2).
 *
 * A completion queue counts its events, because rsockets arms the queue again before it has taken the last event.
 */
#ifndef NETTY_RDMA_EMBEDDED_CHANNEL_H
#define NETTY_RDMA_EMBEDDED_CHANNEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "context.h"
#include "embedded/link/own_doorbell.h"

struct cq;

struct channel {
    struct ibv_comp_channel ibv; /* public part; its fd is doorbell.heard.fd */
    struct own_doorbell doorbell;
    bool reads_alone; /* all reads of the descriptor are under the lock; does not change */
    pthread_mutex_t lock; /* guards the following up to members_lock; an innermost lock */
    pthread_cond_t acknowledged;
    struct cq *first, **last; /* completion queues with undelivered events */
    bool rung;                /* this process has written to the descriptor since it was last emptied */
    unsigned collectors;      /* threads that will look at the list without a ring */
    pthread_mutex_t members_lock; /* taken before gates and locks of completion queues */
    struct cq *members;
};

static inline struct channel *channel_of(struct ibv_comp_channel *channel) {
    return (struct channel *) channel;
}

/* Completion queue's part of a channel; guarded by the channel's lock, except next_member and rearm. */
struct channel_member {
    struct cq *next_member;
    void (*rearm)(struct cq *cq);
    struct cq *next_ready;
    unsigned pending;              /* events not yet delivered */
    unsigned delivered, completed; /* events, and those of them that are acknowledged */
};

/*
 * Adds a completion queue. If the queue is armed, `rearm` makes peers ring again, and executes the work that they have
 * announced so far.
 */
void channel_join(struct channel *channel, struct cq *cq, void (*rearm)(struct cq *cq));

/* Removes a completion queue: forgets undelivered events and waits until the delivered ones are acknowledged. */
void channel_part(struct channel *channel, struct cq *cq);

/*
 * Returns the descriptor that a peer is to ring. The caller sends it, and then calls channel_doorbell_lent(). Returns
 * -1 if there is none, for example without a channel. Then the peer rings the engine.
 */
int channel_lend_doorbell(struct ibv_comp_channel *channel, const struct link_peer *peer);
void channel_doorbell_lent(struct ibv_comp_channel *channel, int fd);

/* Counts one event for the completion queue and makes the descriptor readable. */
void channel_raise(struct channel *channel, struct cq *cq);

#endif
