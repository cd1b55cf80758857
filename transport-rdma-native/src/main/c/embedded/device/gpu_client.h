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
 * Clients of peer memory (rdma_peer_memory.h) for graphics processors: CUDA's driver API, and HIP. They use the
 * libraries that the application has loaded, and load none: without such a library the process has no such memory.
 *
 * CUDA Driver API Reference, "Unified Addressing", "Memory Management", "Context Management", "Stream Management"; HIP
 * Runtime API Reference, the functions of like names.
 */
#ifndef NETTY_RDMA_EMBEDDED_GPU_CLIENT_H
#define NETTY_RDMA_EMBEDDED_GPU_CLIENT_H

#include <stdbool.h>

#include "embedded/rdma_peer_memory.h"

#define GPU_CLIENTS 2
extern const struct rdma_peer_memory_client gpu_clients[GPU_CLIENTS];

void gpu_client_init(void);

/* Returns whether the client has found its library. Returns true for a client that is not one of these. */
bool gpu_client_is_ready(const struct rdma_peer_memory_client *client);

#endif
