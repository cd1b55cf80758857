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
/* Starting threads of the provider. */
#ifndef NETTY_RDMA_EMBEDDED_THREAD_H
#define NETTY_RDMA_EMBEDDED_THREAD_H

/*
 * Starts a detached thread of this name, of at most 15 bytes. Every signal is blocked in it, as a host program's
 * handlers must only run on its own threads; but not those of faults, which end the process if they are blocked:
 * copy.h. Returns 0 or errno. If the caller holds a lock, the thread may have ended before the name is set, so `run`
 * takes that lock first.
 */
int thread_start(const char *name, void *(*run)(void *unused));

#endif
