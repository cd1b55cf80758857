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
/* Protection domains: what ties queue pairs to the memory regions they may use. */
#ifndef NETTY_RDMA_EMBEDDED_PD_H
#define NETTY_RDMA_EMBEDDED_PD_H

#include <stdatomic.h>

#include "context.h"

struct pd {
    struct ibv_pd ibv;
    atomic_int objects; /* memory regions, queue pairs, shared receive queues */
};

static inline struct pd *pd_of(struct ibv_pd *pd) {
    return (struct pd *) pd;
}

#endif
