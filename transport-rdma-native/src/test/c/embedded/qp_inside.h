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
/* Looks at how a queue pair of this process meets its peer. */
#ifndef NETTY_RDMA_TEST_QP_INSIDE_H
#define NETTY_RDMA_TEST_QP_INSIDE_H

#include "check.h"
#include "embedded/qp.h"

/* An end that has reached RTR introduces itself, again and again until the peer has answered. */
static inline bool is_introducing_itself(struct qp *qp) {
    return atomic_load(&qp->introduce_at_ns) != 0;
}

/* Of a peer that was ready first. */
static inline bool holds_introduction(struct qp *qp) {
    pthread_mutex_lock(&qp->control);
    bool held = qp->held != NULL;
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

/* Of memory that is shared with peers, own and theirs. */
static inline int count_arenas(void) {
    return count_mappings_of("rdma-arena");
}

#endif
