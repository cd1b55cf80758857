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

#include "embedded/qp.h"

/* An end that has reached RTR introduces itself, and keeps its memory open for that until the peer has answered. */
static inline bool has_segment_fd(struct qp *qp) {
    pthread_mutex_lock(&qp->control);
    bool has = qp->segment_fd >= 0;
    pthread_mutex_unlock(&qp->control);
    return has;
}

/* Of a peer that was ready first. */
static inline bool holds_introduction(struct qp *qp) {
    pthread_mutex_lock(&qp->control);
    bool held = qp->held != NULL;
    pthread_mutex_unlock(&qp->control);
    return held;
}

#endif
