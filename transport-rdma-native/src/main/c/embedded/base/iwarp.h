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
 * A switch for tests of programs. With RDMA_EMBEDDED_IWARP=1 in the environment the device of this process behaves like
 * an iWARP adapter (RFC 5040, RFC 5041). It has no immediate data, atomics, datagrams, groups or unreliable
 * connections. A READ has one element, in memory with remote write access. A SEND without a receive ends the
 * connection. The device's attributes say so. Both ends must have the switch, because the two kinds cannot talk to each
 * other.
 */
#ifndef NETTY_RDMA_EMBEDDED_IWARP_H
#define NETTY_RDMA_EMBEDDED_IWARP_H

#include <stdbool.h>

/* Called once, before the other functions of the provider. */
void iwarp_init(void);

bool iwarp_is_on(void);

#endif
