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
 * Memory regions, found by key. A key is 31 random bits: it cannot be guessed, and a stale one meets a later region as
 * rarely. The other bit tells the keys of windows (mw.h). The same key serves as lkey and rkey; the access flags decide
 * what a peer may do.
 */
#ifndef NETTY_RDMA_EMBEDDED_MR_H
#define NETTY_RDMA_EMBEDDED_MR_H

#include <stdint.h>

#include "pd.h"
#include "peer_memory.h"

struct mr;

#define MR_WINDOW_KEY 0x80000000u /* bit that is set in the keys of windows */

void mr_init(void);

/*
 * Returns the address of the range in this process, or NULL unless the key names a region of this protection domain
 * that covers it and has all the flags of `access`. Call it, and use the memory, inside one epoch section:
 * deregistration waits for its end. Use the memory by copy.h: the application may have unmapped it.
 */
void *mr_memory(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, int access);

/*
 * Looks for such a range in memory of another device, which mr_memory() does not find. Returns false if there is none:
 * the memory has no right to atomic operations. Called in the same way.
 */
bool mr_peer_range(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, int access,
                   struct peer_range *range);

/*
 * Returns the region of host memory with that key if it has all the rights `access` and covers the range, whose address
 * is in *memory then; or NULL. The region cannot be deregistered before mr_unbind().
 */
struct mr *mr_bind(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, int access,
                   uint8_t **memory);
void mr_unbind(struct mr *mr);

/*
 * Registers memory of this process, or of a device that a client knows by the address, that work requests address from
 * `iova` on. NULL: errno.
 */
struct ibv_mr *mr_register(struct ibv_pd *pd, void *memory, size_t length, uint64_t iova, int access);

/*
 * Does ibv_rereg_mr(3). Requests that use the region at this moment fail, or are done before: as if it were
 * deregistered and registered, but its keys stay. After a failure the region is as before, also where the manual page
 * does not promise it.
 */
int mr_reregister(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *memory, size_t length, int access);

#endif
