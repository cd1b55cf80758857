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
 * Properties of the provider that a test program is linked with: the embedded one, or the libraries of the system and
 * through them the kernel. The same object files are linked with either; provider_embedded.c and provider_system.c make
 * the difference.
 */
#ifndef NETTY_RDMA_TEST_PROVIDER_H
#define NETTY_RDMA_TEST_PROVIDER_H

#include <stdbool.h>

#include <infiniband/verbs.h>

/* Soft-RoCE departs from what devices do in places; docs/providers.md has the list. */
bool is_soft_roce(void);
bool is_embedded(void);

/* The expected value where soft-RoCE has one of its own. */
#define DEVICE_OR_SOFT_ROCE(device, soft_roce) (is_soft_roce() ? (soft_roce) : (device))

/* The device that has the address of the tests, and the place of that address in the GID table of port 1. */
struct ibv_context *open_test_device(int *gid_index);

/* Numeric addresses: IPv4 of the device, IPv6 of it, and IPv4 of this host elsewhere than there. */
const char *test_address(void);
const char *test_address6(void);
const char *test_address_elsewhere(void);

/* The embedded provider is to end links that nobody uses after 20 ms, not seconds. Before it is used. */
void end_idle_links_soon(void);

/* Waits until what was caused before has had its effects, as well as that can be told. For "nothing happened". */
void settle(void);

#endif
