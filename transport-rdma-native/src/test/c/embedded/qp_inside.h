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
/* Looks at queue pairs and completion queues of this process, and keeps its engine from working. */
#ifndef NETTY_RDMA_TEST_QP_INSIDE_H
#define NETTY_RDMA_TEST_QP_INSIDE_H

#include "check.h"
#include "pair.h"
#include "embedded/rc/rc.h"
#include "embedded/link/engine.h"
#include "stalls/stalls.h"

/* An end that has reached RTR introduces itself, again and again until the peer has answered. */
static inline bool is_introducing_itself(struct qp *qp) {
    return atomic_load(&qp->introduce_at_ns) != 0;
}

/* Returns whether the queue pair holds an introduction, of a peer that was ready first. */
static inline bool holds_introduction(struct qp *qp) {
    pthread_mutex_lock(&qp->control);
    bool held = rc_of(qp)->held != NULL;
    pthread_mutex_unlock(&qp->control);
    return held;
}

static inline int count_mappings_of(const char *name) {
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    char line[512];
    int count = 0;
    while (fgets(line, sizeof(line), maps) != NULL) {
        count += strstr(line, name) != NULL;
    }
    fclose(maps);
    return count;
}

/* Counts arenas: memory that is shared with peers, own and theirs. */
static inline int count_arenas(void) {
    return count_mappings_of("rdma-arena");
}

/*
 * Returns whether the queue pair's polls find its peer's work by themselves: until the peer has said where it
 * announces, the engine is needed.
 */
static inline bool hears_its_peer(struct qp *qp) {
    pthread_mutex_lock(&qp->control);
    bool hears = rc_of(qp)->recv_cq_place.process != NULL;
    pthread_mutex_unlock(&qp->control);
    return hears;
}

/* Waits until the polls of both ends find each other's work, and the engine has no introduction of theirs left. */
static inline void await_introductions(const struct end *a, const struct end *b) {
    CHECK_EVENTUALLY(hears_its_peer(qp_of(a->qp)) && hears_its_peer(qp_of(b->qp)));
}

/* Polls until peers are told that somebody polls. */
static inline void poll_until_believed(struct ibv_cq *cq) {
    struct ibv_wc wc;
    for (int tries = 0; !cq_is_polled(cq_of(cq)); tries++) {
        CHECK(tries < 1 << 30);
        CHECK_EQ(cq->context->ops.poll_cq(cq, 1, &wc), 0);
    }
}

/* ---- the engine, at rest inside a task ---- */

static atomic_bool engine_held, engine_may_go;

static inline void rest_in_engine(struct engine_task *task) {
    (void) task;
    if (stall_forgive != NULL) {
        stall_forgive();
    }
    atomic_store(&engine_held, true);
    while (!atomic_load(&engine_may_go)) {
        nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL); /* polls of the test need the processor */
    }
    atomic_store(&engine_held, false);
}

static inline void hold_engine(void) {
    static struct engine_task task = { .run = rest_in_engine };
    atomic_store(&engine_may_go, false);
    engine_submit(&task);
    CHECK_EVENTUALLY(atomic_load(&engine_held));
}

static inline void release_engine(void) {
    atomic_store(&engine_may_go, true);
    CHECK_EVENTUALLY(!atomic_load(&engine_held));
}

#endif
