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
 * Mappings of shared memory that a driver of another device may pin, for faster copies. Pinning may take long, and may
 * wait for work of the application on the device, so threads of closer.h call the driver. Until the memory is pinned,
 * and if pinning fails, it is used without. A mapping is unmapped only after the driver has unpinned it, because the
 * driver would keep its pages even if other memory is mapped there later.
 *
 * Threads: any.
 */
#ifndef NETTY_RDMA_EMBEDDED_PINNED_H
#define NETTY_RDMA_EMBEDDED_PINNED_H

#include <stdbool.h>
#include <stddef.h>

/* Functions of a driver. They may block. */
struct pinning {
    bool (*pin)(const struct pinning *driver, int device, void *memory, size_t size, bool writable);
    void (*unpin)(const struct pinning *driver, int device, void *memory);
};

void pinned_init(void);

/* Registers a mapping for pinning. Without memory for that, the mapping is never pinned. */
void pinned_add(const void *memory, size_t size, bool writable);

/*
 * Forgets a mapping that has no more users. Returns true if a thread of this module will unmap it, or false if the
 * caller has to.
 */
bool pinned_remove(const void *memory);

/*
 * Asks the driver to pin the mapping that contains the address for the device, once. Called by a user of the mapping.
 * Does nothing for other memory.
 */
void pinned_ask(const void *address, const struct pinning *driver, int device);

#endif
