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
 * The other end of the scenarios: accepts connections and echoes messages, offers memory, answers datagrams, and
 * can be a member of a multicast group. What fails costs it the connection that it is about, and nothing else.
 */
#ifndef NETTY_RDMA_TEST_FAULT_SERVICE_H
#define NETTY_RDMA_TEST_FAULT_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

struct service_ports {
    uint16_t tcp, udp;
};

/*
 * Runs until the other end of the socket is closed, having written the ports there. Returns when all was released;
 * fails the test if connections are left whose peers have gone. `joins`: the group.
 */
void service_run(int control, bool joins);

#endif
