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
/* Completion channels: see channel.h. */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cq.h"
#include "embedded/base/cancel.h"

struct ibv_comp_channel *embedded_ibv_create_comp_channel(struct ibv_context *context) {
    if (context_is_inherited(context)) {
        errno = EIO;
        return NULL;
    }
    struct channel *channel = calloc(1, sizeof(*channel));
    if (channel == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    int error = own_doorbell_open(&channel->doorbell, 0); /* blocking, until the application says otherwise */
    if (error != 0) {
        free(channel);
        errno = error;
        return NULL;
    }
    channel->ibv.fd = channel->doorbell.heard.fd;
    channel->ibv.context = context;
    channel->reads_alone = !doorbell_can_nowait(channel->doorbell.heard);
    channel->last = &channel->first;
    pthread_mutex_init(&channel->lock, NULL);
    pthread_mutex_init(&channel->members_lock, NULL);
    pthread_cond_init(&channel->acknowledged, NULL);
    atomic_fetch_add(&context_of(context)->objects, 1);
    return &channel->ibv;
}

int embedded_ibv_destroy_comp_channel(struct ibv_comp_channel *ibv) {
    UNCANCELLED;
    struct channel *channel = channel_of(ibv);
    if (ibv->refcnt != 0) {
        return EBUSY;
    }
    atomic_fetch_sub(&context_of(ibv->context)->objects, 1);
    if (context_is_inherited(ibv->context)) {
        own_doorbell_close_inherited(&channel->doorbell);
    } else {
        own_doorbell_close(&channel->doorbell);
        /* A condition of the parent is not destroyed: a thread that a child does not have may wait for it. */
        pthread_cond_destroy(&channel->acknowledged);
        pthread_mutex_destroy(&channel->members_lock);
        pthread_mutex_destroy(&channel->lock);
    }
    free(channel);
    return 0;
}

int channel_lend_doorbell(struct ibv_comp_channel *ibv, const struct link_peer *peer) {
    return ibv != NULL ? own_doorbell_lend(&channel_of(ibv)->doorbell, peer) : -1;
}

void channel_doorbell_lent(struct ibv_comp_channel *ibv, int fd) {
    if (ibv != NULL) {
        own_doorbell_lent(&channel_of(ibv)->doorbell, fd);
    }
}

static void ring(struct channel *channel) {
    channel->rung = true;
    doorbell_ring(channel->doorbell.rung);
}

/* Returns true if the descriptor was readable. */
static bool empty(struct channel *channel) {
    channel->rung = false;
    return doorbell_clear(channel->doorbell.heard);
}

static void enqueue(struct channel *channel, struct cq *cq) {
    cq->member.next_ready = NULL;
    *channel->last = cq;
    channel->last = &cq->member.next_ready;
}

static struct cq *dequeue(struct channel *channel) {
    struct cq *cq = channel->first;
    channel->first = cq->member.next_ready;
    if (channel->first == NULL) {
        channel->last = &channel->first;
    }
    return cq;
}

void channel_raise(struct channel *channel, struct cq *cq) {
    pthread_mutex_lock(&channel->lock);
    if (cq->member.pending++ == 0) {
        enqueue(channel, cq);
    }
    if (channel->collectors == 0) {
        ring(channel);
    }
    pthread_mutex_unlock(&channel->lock);
}

void channel_join(struct channel *channel, struct cq *cq, void (*rearm)(struct cq *cq)) {
    cq->member.rearm = rearm;
    pthread_mutex_lock(&channel->members_lock);
    cq->member.next_member = channel->members;
    channel->members = cq;
    channel->ibv.refcnt++;
    pthread_mutex_unlock(&channel->members_lock);
}

/* Executes the work that has arrived for the armed completion queues. One ring may stand for several of them. */
static void collect(struct channel *channel) {
    pthread_mutex_lock(&channel->members_lock);
    for (struct cq *cq = channel->members; cq != NULL; cq = cq->member.next_member) {
        cq->member.rearm(cq);
    }
    pthread_mutex_unlock(&channel->members_lock);
}

/* Forgets undelivered events. Returns whether the descriptor was emptied. Called with channel->lock held. */
static bool forget_pending(struct channel *channel, struct cq *cq) {
    if (cq->member.pending == 0) {
        return false;
    }
    struct cq **link = &channel->first;
    while (*link != cq) {
        link = &(*link)->member.next_ready;
    }
    *link = cq->member.next_ready;
    if (*link == NULL) {
        channel->last = link;
    }
    cq->member.pending = 0;
    if (channel->first != NULL) {
        return false;
    }
    empty(channel);
    return true;
}

void channel_part(struct channel *channel, struct cq *cq) {
    pthread_mutex_lock(&channel->members_lock);
    struct cq **link = &channel->members;
    while (*link != cq) {
        link = &(*link)->member.next_member;
    }
    *link = cq->member.next_member;
    pthread_mutex_unlock(&channel->members_lock);

    pthread_mutex_lock(&channel->lock);
    bool emptied = forget_pending(channel, cq);
    pthread_mutex_unlock(&channel->lock);
    if (emptied) {
        collect(channel); /* a peer's ring for another queue may have been taken with ours */
    }

    /* Waits for the acknowledgement of every event that was delivered: ibv_destroy_cq(3). */
    pthread_mutex_lock(&channel->lock);
    while (cq->member.completed != cq->member.delivered) {
        pthread_cond_wait(&channel->acknowledged, &channel->lock);
    }
    pthread_mutex_unlock(&channel->lock);

    pthread_mutex_lock(&channel->members_lock);
    channel->ibv.refcnt--;
    pthread_mutex_unlock(&channel->members_lock);
}

static struct cq *deliver(struct channel *channel) {
    struct cq *cq = dequeue(channel);
    cq->member.delivered++;
    if (--cq->member.pending != 0) {
        enqueue(channel, cq);
    }
    if (channel->first != NULL && !channel->rung) {
        ring(channel);
    } else if (channel->first == NULL && channel->rung) {
        empty(channel);
    }
    return cq;
}

/* Waits for a ring. Blocks, or fails with EAGAIN if the application has set O_NONBLOCK. */
static bool wait_until_readable(int fd) {
    int flags = fcntl(fd, F_GETFL);
    struct pollfd polled = { .fd = fd, .events = POLLIN };
    if (flags < 0 || poll(&polled, 1, (flags & O_NONBLOCK) != 0 ? 0 : -1) < 0) {
        return false;
    }
    errno = EAGAIN;
    return (polled.revents & POLLIN) != 0;
}

/* Empties the descriptor under channel->lock. If it was rung, makes this thread a collector and returns true. */
static bool take_ring_that_is_there(struct channel *channel) {
    pthread_mutex_lock(&channel->lock);
    bool taken = empty(channel);
    channel->collectors += taken;
    pthread_mutex_unlock(&channel->lock);
    return taken;
}

/*
 * Waits for a ring, empties the descriptor, makes this thread a collector and returns 1. Returns 0 if another thread
 * was faster, so that the caller looks at the list again. Returns -1 and errno on failure: EAGAIN if there was no ring
 * and the channel does not block.
 */
static int take_ring(struct channel *channel) {
    uint64_t count;
    if (channel->reads_alone) {
        return wait_until_readable(channel->ibv.fd) ? take_ring_that_is_there(channel) : -1;
    }
    if (read(channel->ibv.fd, &count, sizeof(count)) != sizeof(count)) {
        return -1;
    }
    pthread_mutex_lock(&channel->lock);
    channel->rung = false; /* a peer may have rung since: if its work makes no event, the next call finds EAGAIN */
    channel->collectors++;
    pthread_mutex_unlock(&channel->lock);
    return 1;
}

int embedded_ibv_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **ibv_cq, void **cq_context) {
    struct channel *channel = channel_of(ibv);
    if (context_is_inherited(ibv->context)) { /* the descriptor is the parent's too: nothing is read from it */
        errno = EIO;
        return -1;
    }
    for (;;) {
        pthread_mutex_lock(&channel->lock);
        if (channel->first != NULL) {
            bool emptied = channel->rung;
            struct cq *cq = deliver(channel);
            emptied = emptied && !channel->rung;
            pthread_mutex_unlock(&channel->lock);
            *ibv_cq = &cq->ibv;
            *cq_context = cq->ibv.cq_context;
            if (emptied) {
                collect(channel); /* a peer's ring may have been taken with ours */
            }
            return 0;
        }
        pthread_mutex_unlock(&channel->lock);

        int taken = take_ring(channel);
        if (taken < 0) {
            return -1;
        }
        if (taken == 0) {
            continue; /* another thread was faster */
        }
        collect(channel);
        pthread_mutex_lock(&channel->lock);
        channel->collectors--; /* this thread takes an event now, and rings if that leaves some */
        pthread_mutex_unlock(&channel->lock);
    }
}

/*
 * Each ring of an eventfd is an edge, even if the eventfd is readable already: eventfd_write() in Linux, fs/eventfd.c.
 */
bool embedded_ext_takes_edges(struct ibv_comp_channel *ibv) {
    return !channel_of(ibv)->reads_alone;
}

int embedded_ext_take_events(struct ibv_comp_channel *ibv, uint64_t *contexts) {
    struct channel *channel = channel_of(ibv);
    *contexts = 0;
    if (context_is_inherited(ibv->context)) {
        return EIO;
    }
    pthread_mutex_lock(&channel->lock);
    channel->collectors++;
    if (channel->reads_alone) {
        empty(channel);
    } else {
        channel->rung = false;
    }
    pthread_mutex_unlock(&channel->lock);
    collect(channel);
    pthread_mutex_lock(&channel->lock);
    channel->collectors--;
    while (channel->first != NULL) {
        struct cq *cq = dequeue(channel);
        cq->member.pending = 0;
        *contexts |= (uintptr_t) cq->ibv.cq_context;
    }
    pthread_mutex_unlock(&channel->lock);
    return 0;
}

void embedded_ibv_ack_cq_events(struct ibv_cq *ibv, unsigned int nevents) {
    struct cq *cq = cq_of(ibv);
    struct channel *channel = channel_of(ibv->channel);
    if (channel == NULL || context_is_inherited(ibv->context)) {
        return;
    }
    pthread_mutex_lock(&channel->lock);
    cq->member.completed += nevents;
    pthread_cond_broadcast(&channel->acknowledged);
    pthread_mutex_unlock(&channel->lock);
}
