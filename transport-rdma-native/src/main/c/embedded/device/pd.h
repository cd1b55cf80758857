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
/* Protection domains, which tie queue pairs to the memory regions they may use. */
#ifndef NETTY_RDMA_EMBEDDED_PD_H
#define NETTY_RDMA_EMBEDDED_PD_H

#include <stdatomic.h>

#include "context.h"

struct td;

struct pd {
    struct ibv_pd ibv;
    /* The domain itself; for a parent domain, the `domain` of the protection domain that it was made from. */
    const struct pd *domain;
    /* Number of regions, windows, queue pairs, shared receive queues, address handles, parent domains. */
    atomic_int objects;
    struct pd *of;           /* protection domain of a parent domain, or NULL */
    struct td *td;           /* thread domain of a parent domain, or NULL */
};

static inline struct pd *pd_of(struct ibv_pd *pd) {
    return (struct pd *) pd;
}

/*
 * Returns whether two domains are the same. A parent domain may stand for its protection domain everywhere
 * (ibv_alloc_parent_domain(3)).
 */
static inline bool pd_is_same(const struct ibv_pd *a, const struct ibv_pd *b) {
    return ((const struct pd *) a)->domain == ((const struct pd *) b)->domain;
}

/* Operations of the extended context. */
struct ibv_td *td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr);
int td_dealloc(struct ibv_td *td);
struct ibv_pd *pd_alloc_parent(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr);

#endif
