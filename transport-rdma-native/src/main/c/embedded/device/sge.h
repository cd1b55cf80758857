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
/* Copies between scatter/gather lists and flat memory, with checks of local keys. */
#ifndef NETTY_RDMA_EMBEDDED_SGE_H
#define NETTY_RDMA_EMBEDDED_SGE_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include "embedded/link/wire.h"
#include "peer_memory.h"

/* Position in a scatter/gather list. */
struct sge_cursor {
    uint16_t index;
    bool device; /* some bytes before the position are in memory of another device */
    uint32_t offset;
};

/*
 * Copy from and to memory of a list. Return 0, or the `vendor_err` for a completion with IBV_WC_LOC_PROT_ERR: EACCES if
 * a key does not cover a range, EFAULT if a key covers it but the memory is gone. Called inside an epoch section.
 */
int sge_gather(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor *cursor, void *to,
               uint32_t length, bool past_cache);
int sge_scatter(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor *cursor,
                const void *from, uint32_t length);
/*
 * Finds the next piece of the list if it is in memory of a device. *length becomes the size of the piece, and *next the
 * position after it. Returns false if the piece is in other memory, or no key covers it.
 */
bool sge_find_device(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, const struct sge_cursor *cursor,
                     uint32_t *length, struct peer_range *range, struct sge_cursor *next);
/*
 * Does sge_scatter() from memory that the peer has lent. Also returns SGE_SOURCE_GONE. *by_host becomes the number of
 * bytes that went to host memory.
 */
int sge_scatter_lent(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor *cursor,
                     const struct peer_range *from, uint32_t length, uint32_t *by_host);
#define SGE_SOURCE_GONE (-1)
/* Checks the keys for an sge_scatter() from the start of the list, without a copy. */
bool sge_allows(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, uint32_t length, int access);
/* Sums up the list. Returns false if it is longer than a message may be. */
static inline bool sge_total(const struct ibv_sge *sge, int num, uint32_t *total) {
    uint64_t sum = 0;
    for (int i = 0; i < num; i++) {
        sum += sge[i].length;
    }
    *total = (uint32_t) sum;
    return sum <= WIRE_MAX_MESSAGE;
}

#endif
