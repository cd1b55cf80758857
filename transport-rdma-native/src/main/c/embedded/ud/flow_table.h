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
/* Table of the flows (flow.h) that leave a queue pair, at most one to each number. Belongs to the gate's owner. */
#ifndef NETTY_RDMA_EMBEDDED_FLOW_TABLE_H
#define NETTY_RDMA_EMBEDDED_FLOW_TABLE_H

#include <stdint.h>

struct flow;
struct qp;

#define FLOW_BUCKETS 256u

struct flow_table {
    struct flow *bucket[FLOW_BUCKETS];
    unsigned count;
    uint64_t uses; /* number of uses so far, to tell which flow was used last */
};

void flow_table_add(struct flow_table *table, struct flow *flow);
void flow_table_remove(struct flow_table *table, struct flow *flow);

/* Returns NULL if there is none. */
struct flow *flow_table_find(const struct flow_table *table, uint32_t qpn);

/* Marks the flow as the last one used. Called at each use. */
void flow_table_use(struct flow_table *table, struct flow *flow);

/* Returns the flow that was used longest ago. The table is not empty. */
struct flow *flow_table_oldest(const struct flow_table *table);

/* Calls `visit` for all flows; it may remove the flow that it is called for. */
void flow_table_visit(struct qp *qp, void (*visit)(struct qp *qp, struct flow *flow, const void *argument),
                      const void *argument);

#endif
