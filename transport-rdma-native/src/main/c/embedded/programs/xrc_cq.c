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
 * Completion queue of all target queue pairs (XRC), which have none of their own. Nothing completes on it, but its word
 * tells peers whether a thread polls. It is served by polls of the completion queues of the targets' receives.
 */
#include "xrcd.h"

static struct cq *_Atomic queue;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the making of the queue */

struct cq *xrc_cq(void) {
    pthread_mutex_lock(&lock);
    struct cq *cq = atomic_load(&queue);
    if (cq == NULL) {
        cq = cq_make(1);
        if (cq != NULL) {
            cq_engine_add(cq);
            atomic_store(&queue, cq);
        }
    }
    pthread_mutex_unlock(&lock);
    return cq;
}

static void poll(void) {
    struct cq *cq = atomic_load(&queue);
    if (cq != NULL) {
        cq_ring_deferred(cq);
        cq_scan_try(cq);
        cq_note_poll(cq, 0);
    }
}

static void end_polling(void) {
    struct cq *cq = atomic_load(&queue);
    if (cq != NULL) {
        cq_end_polling(cq);
    }
}

static void rest(void) {
    pthread_mutex_lock(&lock);
    struct cq *cq = atomic_exchange(&queue, NULL);
    pthread_mutex_unlock(&lock);
    if (cq != NULL) {
        cq_retire(cq);
        cq_put(cq);
    }
}

static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    atomic_store(&queue, NULL);
}

static const struct cq_target_ops ops = {
    .poll = poll, .end_polling = end_polling, .rest = rest, .overflowed = xrc_srq_fail_users,
};

void xrc_cq_init(void) {
    cq_set_target_ops(&ops);
    pthread_atfork(NULL, NULL, fork_child);
}
