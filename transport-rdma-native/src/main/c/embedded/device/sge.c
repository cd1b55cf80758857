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
/* Copies between scatter/gather lists and flat memory, piece by piece. */
#include <errno.h>

#include "sge.h"
#include "embedded/base/copy.h"
#include "mr.h"

/*
 * Returns the next contiguous piece of at most `length` bytes, or NULL if the local key does not cover it. *length
 * becomes its size.
 */
static void *next_piece(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor *cursor,
                        uint32_t *length, int access) {
    while (cursor->index < num && cursor->offset == sge[cursor->index].length) {
        cursor->index++;
        cursor->offset = 0;
    }
    if (cursor->index == num) {
        return NULL;
    }
    const struct ibv_sge *at = &sge[cursor->index];
    char *memory = mr_memory(pd, at->lkey, at->addr, at->length, access);
    if (memory == NULL) {
        return NULL;
    }
    if (*length > at->length - cursor->offset) {
        *length = at->length - cursor->offset;
    }
    void *piece = memory + cursor->offset;
    cursor->offset += *length;
    return piece;
}

/*
 * Finds the next piece in memory of another device, where next_piece() has found none in host memory. Returns false if
 * the local key does not cover it either. *length becomes its size.
 */
static bool next_peer_piece(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num,
                            struct sge_cursor *cursor, uint32_t *length, int access, struct peer_range *range) {
    const struct ibv_sge *at = &sge[cursor->index];
    if (cursor->index == num || !mr_peer_range(pd, at->lkey, at->addr, at->length, access, range)) {
        return false;
    }
    if (*length > at->length - cursor->offset) {
        *length = at->length - cursor->offset;
    }
    range->offset += cursor->offset;
    cursor->offset += *length;
    return true;
}

/*
 * The functions below call these for the rest of a list that begins in memory of another device. These call the
 * functions below for the elements after that memory. They are separate functions that take no address of a local
 * variable, so that lists in host memory stay fast.
 */
#define REST __attribute__((noinline, cold)) static

static bool allows(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor cursor,
                   uint32_t length, int access);

REST bool allows_rest(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor cursor,
                      uint32_t length, int access) {
    struct peer_range range;
    uint32_t size = length;
    return next_peer_piece(pd, sge, num, &cursor, &size, access, &range)
            && allows(pd, sge, num, cursor, length - size, access);
}

REST int gather_rest(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor *cursor,
                     void *to, uint32_t length, uint32_t done, bool past_cache) {
    struct peer_range from;
    uint32_t size = length - done;
    if (!next_peer_piece(pd, sge, num, cursor, &size, 0, &from)) {
        return EACCES;
    }
    cursor->device = true;
    if (!peer_memory_read(&from, (char *) to + done, size)) {
        return EFAULT;
    }
    done += size;
    return sge_gather(pd, sge, num, cursor, (char *) to + done, length - done, past_cache);
}

REST int scatter_rest(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor *cursor,
                      const void *from, uint32_t length, uint32_t done) {
    struct peer_range to;
    uint32_t size = length - done;
    if (!next_peer_piece(pd, sge, num, cursor, &size, IBV_ACCESS_LOCAL_WRITE, &to)) {
        return EACCES;
    }
    cursor->device = true;
    if (!peer_memory_write(&to, (const char *) from + done, size)) {
        return EFAULT;
    }
    done += size;
    return sge_scatter(pd, sge, num, cursor, (const char *) from + done, length - done);
}

static bool allows(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor cursor,
                   uint32_t length, int access) {
    for (uint32_t done = 0, size; done < length; done += size) {
        size = length - done;
        if (next_piece(pd, sge, num, &cursor, &size, access) == NULL) {
            return allows_rest(pd, sge, num, cursor, length - done, access);
        }
    }
    return true;
}

bool sge_allows(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, uint32_t length, int access) {
    return allows(pd, sge, num, (struct sge_cursor) { 0 }, length, access);
}

int sge_gather(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor *cursor, void *to,
               uint32_t length, bool past_cache) {
    for (uint32_t done = 0, size; done < length; done += size) {
        size = length - done;
        const void *piece = next_piece(pd, sge, num, cursor, &size, 0);
        if (piece == NULL) {
            return gather_rest(pd, sge, num, cursor, to, length, done, past_cache);
        }
        void *target = (char *) to + done;
        if (past_cache ? !copy_past_cache(target, piece, size) : !copy_memory(target, piece, size)) {
            return EFAULT;
        }
    }
    return 0;
}

int sge_scatter(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor *cursor,
                const void *from, uint32_t length) {
    for (uint32_t done = 0, size; done < length; done += size) {
        size = length - done;
        void *piece = next_piece(pd, sge, num, cursor, &size, IBV_ACCESS_LOCAL_WRITE);
        if (piece == NULL) {
            return scatter_rest(pd, sge, num, cursor, from, length, done);
        }
        if (!copy_memory(piece, (const char *) from + done, size)) {
            return EFAULT;
        }
    }
    return 0;
}

/* ---- memory that is lent ---- */

bool sge_find_device(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, const struct sge_cursor *cursor,
                     uint32_t *length, struct peer_range *range, struct sge_cursor *next) {
    *next = *cursor;
    return next_piece(pd, sge, num, next, length, 0) == NULL
            && next_peer_piece(pd, sge, num, next, length, 0, range);
}

int sge_scatter_lent(const struct ibv_pd *pd, const struct ibv_sge *sge, uint16_t num, struct sge_cursor *cursor,
                     const struct peer_range *from, uint32_t length, uint32_t *by_host) {
    for (uint32_t done = 0, size; done < length; done += size) {
        const struct peer_range source = { from->memory, from->offset + done };
        struct peer_range to;
        size = length - done;
        void *piece = next_piece(pd, sge, num, cursor, &size, IBV_ACCESS_LOCAL_WRITE);
        if (piece == NULL && !next_peer_piece(pd, sge, num, cursor, &size, IBV_ACCESS_LOCAL_WRITE, &to)) {
            return EACCES;
        }
        *by_host += piece == NULL ? 0 : size;
        enum peer_copied copied = piece != NULL ? peer_memory_copy_to_host(piece, &source, size)
                : peer_memory_copy(&to, &source, size);
        if (copied != PEER_COPIED) {
            return copied == PEER_TARGET_GONE ? EFAULT : SGE_SOURCE_GONE;
        }
    }
    return 0;
}
