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
 * Read sections for tables that every message uses (memory regions). Entering a section costs one store to the thread's
 * own cache line, with any number of threads. A writer that has unlinked an entry waits until all sections that might
 * still see the entry have ended. With a counter in each entry, all event loops would compete for the cache line of a
 * region that they share.
 */
#ifndef NETTY_RDMA_EMBEDDED_EPOCH_H
#define NETTY_RDMA_EMBEDDED_EPOCH_H

void epoch_init(void);

void epoch_enter(void); /* may be nested */
void epoch_leave(void);

/* Returns when every section that was running at the call has ended. Not called inside a section. */
void epoch_wait(void);

#endif
