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
 * Memory of other devices, which clients acquire and copy (rdma_peer_memory.h). Regions of such memory (mr.h) are in a
 * table of their own. A key is looked up there only after it was not found among the regions of host memory, so
 * messages in host memory are not slower.
 */
#ifndef NETTY_RDMA_EMBEDDED_PEER_MEMORY_H
#define NETTY_RDMA_EMBEDDED_PEER_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lent;
struct rdma_peer_memory_client;

/* Memory that a client has acquired, or imported. */
struct rdma_peer_memory {
    const struct rdma_peer_memory_client *table;
    void *memory;        /* client's name for it */
    atomic_bool gone;    /* invalidated */
    unsigned generation; /* fork_generation at the acquisition */
    struct lent *lent;   /* guarded by the lock of lending.c */

    /* Fields guarded by the lock of peer_memory.c. */
    struct client *client; /* client that has to release the memory, or NULL: no release is due */
    struct rdma_peer_memory *next, **previous;
};

/* Range in memory of another device. */
struct peer_range {
    struct rdma_peer_memory *memory;
    uint64_t offset;
};

void peer_memory_init(void);

/*
 * Ask the clients for memory. Return 0 or errno: EFAULT for an address, or EINVAL for a descriptor, that no client
 * owns, or else the error of the client that owns it.
 */
int peer_memory_acquire(uint64_t address, size_t length, int access, struct rdma_peer_memory **acquired);
int peer_memory_acquire_dmabuf(int fd, uint64_t offset, size_t length, uint64_t iova, int access,
                               struct rdma_peer_memory **acquired);
/* Imports memory that the client of that name has exported in another process. Returns 0 or errno. */
struct rdma_peer_memory_export;
int peer_memory_import(const char *client, const struct rdma_peer_memory_export *exported,
                       struct rdma_peer_memory **imported);
/* Sets the function that takes lent memory back, called before a release of the memory and at its invalidation. */
void peer_memory_set_recall(void (*recall)(struct rdma_peer_memory *memory));
/* Releases memory that no copy uses any more. */
void peer_memory_release(struct rdma_peer_memory *memory);

/*
 * Copy to and from memory of another device. Return false if the memory is gone, when a part may have been copied.
 * Called inside the epoch section in which the range was found.
 */
bool peer_memory_write(const struct peer_range *to, const void *from, uint32_t length);
bool peer_memory_read(const struct peer_range *from, void *to, uint32_t length);

/* Copy that runs while others do. The thread that begins a copy also ends it, in the same epoch section. */
struct peer_copy {
    const struct rdma_peer_memory_client *table; /* NULL: the copy is done */
    void *copy;
};
bool peer_memory_begin(const struct peer_range *range, const void *from, void *to, uint32_t length,
                       struct peer_copy *copy);
bool peer_memory_end(const struct peer_copy *copy);

/* Copy from imported memory to memory of a device, and to host memory. Called in the same way. */
enum peer_copied { PEER_COPIED, PEER_TARGET_GONE, PEER_SOURCE_GONE };
enum peer_copied peer_memory_copy(const struct peer_range *to, const struct peer_range *from, uint32_t length);
enum peer_copied peer_memory_copy_to_host(void *to, const struct peer_range *from, uint32_t length);

#endif
