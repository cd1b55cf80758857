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
 * Engine's part of the completion queues: a doorbell that peers ring, and the execution of announced work for
 * completion queues that no thread polls. These are queues of targets of one-sided operations, and armed queues of
 * applications that sleep while a message is under way.
 */
#include <limits.h>
#include <sys/epoll.h>

#include "cq.h"
#include "embedded/base/doorbell.h"
#include "embedded/base/spin_policy.h"
#include "embedded/link/engine.h"

/* Time after which the engine turns to its other duties. */
#define MAX_TURN_NS UINT64_C(200000)

/*
 * Limit of the time for which the engine looks for more work before it sleeps. If it slept at once, two engines that
 * move a long message for sleeping applications would wake each other for each half slab. The look is in vain if the
 * engine was woken on the processor of a peer that cannot go on before the engine sleeps. The policy learns that.
 */
#define MAX_SPIN_NS INT64_C(100000)

/* Number of queues for which references are taken at a time. */
#define BATCH 64u

static struct cq *cqs[NOTIFY_CQS]; /* queues of this process, without gaps */
static unsigned num_cqs;
static struct spin_policy policy; /* policy of the engine */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct engine_source doorbell = { .fd = -1 }, outer = { .fd = -1 };

/* Takes the next queues that are not marked as polled, before the place *end, with references. Returns their number. */
static unsigned take_unpolled(struct cq *batch[BATCH], unsigned *end) {
    unsigned count = 0;
    pthread_mutex_lock(&lock);
    unsigned i = *end < num_cqs ? *end : num_cqs;
    while (i > 0 && count < BATCH) {
        struct cq *cq = cqs[--i];
        if (!cq_is_polled(cq)) {
            cq_get(cq);
            batch[count++] = cq;
        }
    }
    *end = i;
    pthread_mutex_unlock(&lock);
    return count;
}

/* Scans queues from the last place to the first, because cq_engine_remove() moves a queue only to an earlier place. */
static bool scan_unpolled(void) {
    bool found = false;
    for (unsigned end = UINT_MAX; end > 0;) {
        struct cq *batch[BATCH];
        unsigned count = take_unpolled(batch, &end);
        for (unsigned i = 0; i < count; i++) {
            found |= cq_scan(batch[i]);
            cq_put(batch[i]);
        }
    }
    return found;
}

static void set_asleep(bool asleep) {
    _Atomic uint64_t *word = &own_notify_area->engine.word;
    atomic_exchange(word, (atomic_load(word) + 2) / 2 * 2 + asleep);
}

static void on_doorbell(struct engine_source *source, uint32_t events) {
    (void) events;
    doorbell_clear(source == &outer ? outer_doorbell.heard : own_doorbell.heard);
    set_asleep(false);
    uint64_t start = engine_now_ns(), now = start;
    bool found = true, idle = false, spinning = false;
    spin_policy_woke(&policy, (int64_t) start);
    do {
        found = scan_unpolled();
        now = engine_now_ns();
        if (!found) {
            spinning = idle ? spin_policy_found_nothing(&policy, (int64_t) now)
                            : spin_policy_begin(&policy, (int64_t) now);
        } else if (idle) {
            spin_policy_found(&policy, (int64_t) now);
        }
        idle = !found;
    } while ((found || spinning) && now - start < MAX_TURN_NS);
    if (found) {
        spin_policy_begin(&policy, (int64_t) now); /* a wait, if a short one: the doorbell rings, see below */
    }
    set_asleep(true);
    /* Peers have not rung for work that they published before they could see the word. */
    if (scan_unpolled()) {
        cq_engine_ring();
    }
}

/* Makes the engine listen to a doorbell, if there is one and the engine does not listen yet. Returns 0 or errno. */
static int hear(struct engine_source *source, const struct own_doorbell *own) {
    if (source->fd >= 0 || own->heard.fd < 0) {
        return 0;
    }
    *source = (struct engine_source) { .fd = own->heard.fd, .ready = on_doorbell };
    int error = engine_add(source, EPOLLIN);
    if (error != 0) {
        source->fd = -1;
    }
    return error;
}

int cq_engine_open(void) {
    int error = 0;
    pthread_mutex_lock(&lock);
    if (doorbell.fd < 0) {
        spin_policy_init(&policy, MAX_SPIN_NS, spin_policy_preemptions, (int64_t) engine_now_ns());
        error = hear(&outer, &outer_doorbell);
        if (error == 0) {
            error = hear(&doorbell, &own_doorbell);
        }
        if (error == 0) {
            set_asleep(true);
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static void end_hearing(struct engine_source *source) {
    if (source->fd >= 0) {
        engine_remove(source);
        source->fd = -1;
    }
}

void cq_engine_close(void) {
    pthread_mutex_lock(&lock);
    end_hearing(&doorbell);
    end_hearing(&outer);
    pthread_mutex_unlock(&lock);
}

void cq_engine_add(struct cq *cq) {
    pthread_mutex_lock(&lock);
    cq->engine_place = num_cqs;
    cqs[num_cqs++] = cq;
    pthread_mutex_unlock(&lock);
}

void cq_engine_remove(struct cq *cq) {
    pthread_mutex_lock(&lock);
    if (cq->engine_place < num_cqs && cqs[cq->engine_place] == cq) { /* absent in the child of a fork() */
        struct cq *last = cqs[--num_cqs];
        cqs[cq->engine_place] = last;
        last->engine_place = cq->engine_place;
    }
    pthread_mutex_unlock(&lock);
}

static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    doorbell.fd = outer.fd = -1;
    num_cqs = 0;
}

void cq_engine_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
