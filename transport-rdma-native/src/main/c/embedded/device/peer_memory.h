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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rdma_peer_memory;

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
/* Releases memory that no copy uses any more. */
void peer_memory_release(struct rdma_peer_memory *memory);

/*
 * Copy to and from memory of another device. Return false if it is gone: then a part may have been copied. Called
 * inside the epoch section in which the range was found.
 */
bool peer_memory_write(const struct peer_range *to, const void *from, uint32_t length);
bool peer_memory_read(const struct peer_range *from, void *to, uint32_t length);

#endif
