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
/* Looks at the flows of a queue pair of this process. */
#ifndef NETTY_RDMA_TEST_FLOW_INSIDE_H
#define NETTY_RDMA_TEST_FLOW_INSIDE_H

#include "embedded/ud/ud.h"
#include "ud_support.h"

static inline unsigned flows_of(const struct end *end) {
    struct qp *qp = qp_of(end->qp);
    qp_lock(qp);
    unsigned count = ud_of(qp)->flows.count;
    qp_unlock(qp);
    return count;
}

static inline bool is_open(const struct end *end, uint32_t qpn) {
    struct qp *qp = qp_of(end->qp);
    qp_lock(qp);
    const struct flow *flow = flow_table_find(&ud_of(qp)->flows, qpn);
    bool open = flow != NULL && flow->state == FLOW_OPEN;
    qp_unlock(qp);
    return open;
}

static inline bool is_silent(const struct end *end, uint32_t qpn) {
    struct qp *qp = qp_of(end->qp);
    qp_lock(qp);
    const struct flow *flow = flow_table_find(&ud_of(qp)->flows, qpn);
    bool silent = flow != NULL && flow->peer != NULL && peer_is_silent(flow->peer);
    qp_unlock(qp);
    return silent;
}

#endif
