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
/*
 * Public names whose function the embedded provider does not have. A missing name would bind to the real library, which
 * would take our objects for its own and crash.
 *
 * No header: the names are defined without their arguments, which the C calling conventions of Linux allow.
 */
#include <errno.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

/* libibverbs: an errno value is returned */
#define UNSUPPORTED_VERB(name)                                                                                        \
    EXPORT int name(void);                                                                                            \
    EXPORT int name(void) {                                                                                           \
        return EOPNOTSUPP;                                                                                            \
    }

/* libibverbs and librdmacm, for functions that make something: NULL and errno. */
#define UNSUPPORTED_OBJECT(name)                                                                                      \
    EXPORT void *name(void);                                                                                          \
    EXPORT void *name(void) {                                                                                         \
        errno = EOPNOTSUPP;                                                                                           \
        return NULL;                                                                                                  \
    }

/* librdmacm: -1 and errno */
#define UNSUPPORTED_CM(name)                                                                                          \
    EXPORT int name(void);                                                                                            \
    EXPORT int name(void) {                                                                                           \
        errno = EOPNOTSUPP;                                                                                           \
        return -1;                                                                                                    \
    }

UNSUPPORTED_VERB(ibv_query_ece)
UNSUPPORTED_VERB(ibv_resolve_eth_l2_from_gid)
UNSUPPORTED_VERB(ibv_set_ece)
UNSUPPORTED_VERB(ibv_unimport_dm) /* functions that return nothing, and whose argument nobody has */
UNSUPPORTED_VERB(ibv_unimport_mr)
UNSUPPORTED_VERB(ibv_unimport_pd)
UNSUPPORTED_OBJECT(ibv_import_device)
UNSUPPORTED_OBJECT(ibv_import_dm)
UNSUPPORTED_OBJECT(ibv_import_mr)
UNSUPPORTED_OBJECT(ibv_import_pd)
UNSUPPORTED_CM(rdma_get_remote_ece)
UNSUPPORTED_CM(rdma_reject_ece)
UNSUPPORTED_CM(rdma_set_local_ece)
