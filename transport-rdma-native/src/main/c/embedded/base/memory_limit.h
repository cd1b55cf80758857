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
 * Memory limit of this process: the machine's memory, or the limit of the control group if that is less (cgroups(7),
 * the kernel's admin-guide/cgroup-v2.rst, memory.max). Read once, at the first call. Threads: any.
 */
#ifndef NETTY_RDMA_EMBEDDED_MEMORY_LIMIT_H
#define NETTY_RDMA_EMBEDDED_MEMORY_LIMIT_H

#include <stdint.h>

/* Returns the limit in bytes, or UINT64_MAX if it is not known. */
uint64_t memory_limit(void);

#endif
