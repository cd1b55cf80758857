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
 * A full memory barrier: other threads see the stores before it before the loads after it are done. It is the
 * compiler's builtin, because gcc rejects atomic_thread_fence() in code for ThreadSanitizer (-Wtsan). ThreadSanitizer
 * need not know this barrier, because readers find published data by acquiring loads.
 */
#ifndef NETTY_RDMA_EMBEDDED_FENCE_H
#define NETTY_RDMA_EMBEDDED_FENCE_H

static inline void fence(void) {
    __sync_synchronize();
}

#endif
