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
/* Converts a pointer to a member into a pointer to its structure, as the kernel's container_of.h does. */
#ifndef NETTY_RDMA_EMBEDDED_CONTAINER_OF_H
#define NETTY_RDMA_EMBEDDED_CONTAINER_OF_H

#include <stddef.h>

#define container_of(pointer, type, member) ((type *) ((char *) (pointer) - offsetof(type, member)))

#endif
