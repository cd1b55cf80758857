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
/* Queries of the extended context. `size` is the size of the caller's struct, which may have been shorter or longer. */
#ifndef NETTY_RDMA_EMBEDDED_ATTRIBUTES_H
#define NETTY_RDMA_EMBEDDED_ATTRIBUTES_H

#include <infiniband/verbs.h>

int attributes_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                               struct ibv_device_attr_ex *attr, size_t size);
int attributes_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
int attributes_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size);

#endif
