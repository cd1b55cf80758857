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
 * Presence of this process for its peers. While the process has users (contexts, completion queues, ids), it has a
 * notify area, doorbells, names and links, and the engine runs for them. When the last user has gone, and no other has
 * come for a while, all of that ends as at the end of the process. Peers read the end of their links, and a peer that
 * connects is refused. The next user makes everything anew. So a copy of this library that a class loader of a JVM
 * has left behind costs only memory that no thread touches.
 *
 * The shared context of the ids (cm_device.c), protection domains and regions are not users, because they need no peer.
 *
 * Threads: any.
 */
#ifndef NETTY_RDMA_EMBEDDED_PRESENCE_H
#define NETTY_RDMA_EMBEDDED_PRESENCE_H

#include <stdint.h>

/*
 * Time from the last user to the end of the presence: 1 s, so that programs that often open and close the device are
 * not slowed. Written by tests.
 */
extern _Atomic uint64_t presence_rest_ns;

/* Initializes. `rest_targets` ends the completion queue of targets: cq_rest_targets(). */
void presence_init(void (*rest_targets)(void));

/*
 * Adds a user. The first user waits if the presence is being ended. Ending takes locks of the folders below and of the
 * links' handlers, so the caller must not hold any of them.
 */
void presence_enter(void);

/*
 * Makes notify area and doorbells, if they are not there, and makes the engine listen. For users. Returns 0 or errno.
 */
int presence_open(void);

/* Removes a user. Not called for objects that a child of a fork has inherited, because they are not users there. */
void presence_leave(void);

#endif
