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
/* Table of flows by number: see flow_table.h. Numbers of a process are consecutive, so that buckets need no hash. */
#include "flow_table.h"

#include <stddef.h>

#include "embedded/device/qp.h"
#include "ud.h"

static struct flow **bucket_of(struct flow_table *table, uint32_t qpn) {
    return &table->bucket[qpn % FLOW_BUCKETS];
}

void flow_table_add(struct flow_table *table, struct flow *flow) {
    struct flow **bucket = bucket_of(table, flow->qpn);
    flow->next = *bucket;
    *bucket = flow;
    table->count++;
    flow_table_use(table, flow);
}

void flow_table_remove(struct flow_table *table, struct flow *flow) {
    struct flow **link = bucket_of(table, flow->qpn);
    while (*link != flow) {
        link = &(*link)->next;
    }
    *link = flow->next;
    table->count--;
}

struct flow *flow_table_find(const struct flow_table *table, uint32_t qpn) {
    struct flow *flow = table->bucket[qpn % FLOW_BUCKETS];
    while (flow != NULL && flow->qpn != qpn) {
        flow = flow->next;
    }
    return flow;
}

void flow_table_use(struct flow_table *table, struct flow *flow) {
    flow->used = ++table->uses;
}

struct flow *flow_table_oldest(const struct flow_table *table) {
    struct flow *oldest = NULL;
    for (unsigned i = 0; i < FLOW_BUCKETS; i++) {
        for (struct flow *flow = table->bucket[i]; flow != NULL; flow = flow->next) {
            if (oldest == NULL || flow->used < oldest->used) {
                oldest = flow;
            }
        }
    }
    return oldest;
}

void flow_table_visit(struct qp *qp, void (*visit)(struct qp *qp, struct flow *flow, const void *argument),
                      const void *argument) {
    for (unsigned i = 0; i < FLOW_BUCKETS; i++) {
        for (struct flow *flow = ud_of(qp)->flows.bucket[i], *next; flow != NULL; flow = next) {
            next = flow->next;
            visit(qp, flow, argument);
        }
    }
}
