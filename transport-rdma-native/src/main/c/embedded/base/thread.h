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
 * Starts a detached thread with this name, of at most 15 bytes. The thread blocks all signals, because handlers of the
 * program must only run on the program's own threads. Signals of faults are not blocked, because a blocked one ends the
 * process (copy.h). Returns 0 or errno. The name is set after the start, and the thread must not end before. A caller
 * that holds a lock prevents that if `run` first takes the lock.
 */
int thread_start(const char *name, void *(*run)(void *unused));

#endif
