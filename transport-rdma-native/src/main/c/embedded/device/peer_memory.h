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
 * Memory of other devices, which clients acquire and copy: rdma_peer_memory.h. Regions of such memory are in mr.h, in a
 * table of their own that is looked at after a key was not found among the regions of host memory, so that messages in
 * host memory do not pay for them.
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
    struct client *client; /* client that has to release the memory, or NULL: nobody has */
    struct rdma_peer_memory *next, **previous;
};

/* Range in memory of another device. */
struct peer_range {
    struct rdma_peer_memory *memory;
    uint64_t offset;
};

void peer_memory_init(void);

/*
 * Ask the clients for memory. Return 0, EFAULT or EINVAL for an address or a descriptor that is nobody's, or the error
 * of the client that owns it.
 */
int peer_memory_acquire(uint64_t address, size_t length, int access, struct rdma_peer_memory **acquired);
int peer_memory_acquire_dmabuf(int fd, uint64_t offset, size_t length, uint64_t iova, int access,
                               struct rdma_peer_memory **acquired);
/* Imports what the client of that name has exported in another process. Returns 0 or errno. */
struct rdma_peer_memory_export;
int peer_memory_import(const char *client, const struct rdma_peer_memory_export *exported,
                       struct rdma_peer_memory **imported);
/* Sets what takes memory back that is lent: called before it is released, and when it is invalidated. */
void peer_memory_set_recall(void (*recall)(struct rdma_peer_memory *memory));
/* Releases memory that no copy uses any more. */
void peer_memory_release(struct rdma_peer_memory *memory);

/*
 * Copy to and from memory of another device. Return false if it is gone: then a part may have been copied. Called
 * inside the epoch section in which the range was found.
 */
bool peer_memory_write(const struct peer_range *to, const void *from, uint32_t length);
bool peer_memory_read(const struct peer_range *from, void *to, uint32_t length);

/* Copies of which several run at a time. One that was begun is ended on the same thread, in the same epoch section. */
struct peer_copy {
    const struct rdma_peer_memory_client *table; /* NULL: it is done */
    void *copy;
};
bool peer_memory_begin(const struct peer_range *range, const void *from, void *to, uint32_t length,
                       struct peer_copy *copy);
bool peer_memory_end(const struct peer_copy *copy);

/* Copy from imported memory, to memory of a device and of the host. Called in the same way. */
enum peer_copied { PEER_COPIED, PEER_TARGET_GONE, PEER_SOURCE_GONE };
enum peer_copied peer_memory_copy(const struct peer_range *to, const struct peer_range *from, uint32_t length);
enum peer_copied peer_memory_copy_to_host(void *to, const struct peer_range *from, uint32_t length);

#endif
