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
/* Protection domains: see pd.h. */
#include "pd.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_pd *embedded_ibv_alloc_pd(struct ibv_context *context) {
    if (context_is_inherited(context)) {
        errno = EIO;
        return NULL;
    }
    struct pd *pd = calloc(1, sizeof(*pd));
    if (pd == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    pd->ibv.context = context;
    atomic_fetch_add(&context_of(context)->objects, 1);
    return &pd->ibv;
}

int embedded_ibv_dealloc_pd(struct ibv_pd *ibv) {
    struct pd *pd = pd_of(ibv);
    if (atomic_load(&pd->objects) != 0) {
        return EBUSY;
    }
    atomic_fetch_sub(&context_of(ibv->context)->objects, 1);
    free(pd);
    return 0;
}
