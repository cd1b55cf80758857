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
 * Mappings of shared memory that a driver of another device may pin, for faster copies. A driver may take long for
 * that, and wait for work of the application on its device, so it is called on threads of closer.h. Until it is done,
 * and if it fails, the memory is used as it is. A mapping goes after the driver has unpinned it: the driver keeps the
 * pages of the mapping, whatever is mapped there later.
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

/* Makes a mapping known. Without memory it is not, and is never pinned. */
void pinned_add(const void *memory, size_t size, bool writable);

/*
 * Forgets a mapping that has no more users. Returns true if a thread of this module unmaps it, false if the caller has
 * to.
 */
bool pinned_remove(const void *memory);

/*
 * Asks the driver for the device to pin the mapping that has the address, once. Called by a user of the mapping; any
 * other memory is left alone.
 */
void pinned_ask(const void *address, const struct pinning *driver, int device);

#endif
