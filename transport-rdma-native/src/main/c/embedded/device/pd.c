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
/* Protection domains, parent domains, thread domains: see pd.h. */
#include "pd.h"

#include <errno.h>
#include <stdlib.h>

#include "embedded/base/container_of.h"

struct td {
    struct ibv_td ibv;
    atomic_int users; /* number of parent domains */
};

/* Makes an object that its context counts. NULL: errno. */
static void *make(struct ibv_context *context, size_t size) {
    if (context_is_inherited(context)) {
        errno = EIO;
        return NULL;
    }
    void *made = calloc(1, size);
    if (made == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    atomic_fetch_add(&context_of(context)->objects, 1);
    return made;
}

struct ibv_pd *embedded_ibv_alloc_pd(struct ibv_context *context) {
    struct pd *pd = make(context, sizeof(*pd));
    if (pd == NULL) {
        return NULL;
    }
    pd->ibv.context = context;
    pd->domain = pd;
    return &pd->ibv;
}

int embedded_ibv_dealloc_pd(struct ibv_pd *ibv) {
    struct pd *pd = pd_of(ibv);
    if (atomic_load(&pd->objects) != 0) {
        return EBUSY;
    }
    if (pd->of != NULL) {
        atomic_fetch_sub(&pd->of->objects, 1);
    }
    if (pd->td != NULL) {
        atomic_fetch_sub(&pd->td->users, 1);
    }
    atomic_fetch_sub(&context_of(ibv->context)->objects, 1);
    free(pd);
    return 0;
}

struct ibv_td *td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr) {
    if (attr->comp_mask != 0) {
        errno = EINVAL;
        return NULL;
    }
    struct td *td = make(context, sizeof(*td));
    if (td == NULL) {
        return NULL;
    }
    td->ibv.context = context;
    return &td->ibv;
}

int td_dealloc(struct ibv_td *ibv) {
    struct td *td = container_of(ibv, struct td, ibv);
    if (atomic_load(&td->users) != 0) {
        return EBUSY;
    }
    atomic_fetch_sub(&context_of(ibv->context)->objects, 1);
    free(td);
    return 0;
}

/*
 * A thread domain is a promise that lets a driver leave out locks. The locks stay here, because the engine may work
 * beside the thread. Allocators are for memory that a device reads, and there is no such memory here.
 */
struct ibv_pd *pd_alloc_parent(struct ibv_context *context, struct ibv_parent_domain_init_attr *attr) {
    uint32_t known = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
    if (attr->pd == NULL || attr->pd->context != context || (attr->td != NULL && attr->td->context != context)
            || (attr->comp_mask & ~known) != 0) {
        errno = EINVAL;
        return NULL;
    }
    if ((attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    struct pd *pd = make(context, sizeof(*pd));
    if (pd == NULL) {
        return NULL;
    }
    pd->ibv.context = context;
    pd->of = pd_of(attr->pd);
    pd->domain = pd->of->domain;
    atomic_fetch_add(&pd->of->objects, 1);
    if (attr->td != NULL) {
        pd->td = container_of(attr->td, struct td, ibv);
        atomic_fetch_add(&pd->td->users, 1);
    }
    return &pd->ibv;
}
