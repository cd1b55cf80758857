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
 * Memory regions, found by key. A key has 31 random bits, so nobody can guess one, and the key of a deregistered region
 * hardly ever finds a later region. The other bit is set in keys of windows (mw.h). A region has the same key as lkey
 * and rkey. Its access flags decide what a peer may do.
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
 * Returns the address of the range in this process. Returns NULL unless the key names a region of this protection
 * domain that covers the range and has all flags of `access`. Call it, and use the memory, inside one epoch section,
 * because deregistration waits for the end of sections. Access the memory only by the functions of copy.h, because the
 * application may have unmapped it.
 */
void *mr_memory(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, int access);

/*
 * Looks for such a range in memory of another device, which mr_memory() does not find. Returns false if there is none,
 * and for atomic operations, which such memory does not allow. Called in the same way.
 */
bool mr_peer_range(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, int access,
                   struct peer_range *range);

/*
 * Returns the region of host memory with that key if it has all flags of `access` and covers the range; else NULL.
 * *memory becomes the address of the range. The region cannot be deregistered before mr_unbind().
 */
struct mr *mr_bind(const struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t length, int access,
                   uint8_t **memory);
void mr_unbind(struct mr *mr);

/*
 * Registers memory of this process, or memory of a device if a client knows the address. Work requests address it from
 * `iova` on. NULL: errno.
 */
struct ibv_mr *mr_register(struct ibv_pd *pd, void *memory, size_t length, uint64_t iova, int access);

/*
 * Does ibv_rereg_mr(3), like a deregistration and a registration that keeps the keys. Requests that use the region at
 * this moment fail, or are done before. After a failure the region is as before, even if the manual page does not
 * promise it.
 */
int mr_reregister(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *memory, size_t length, int access);

#endif
