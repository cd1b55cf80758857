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
 * Everything that a program does with verbs, from nothing to nothing again. A scenario returns whether all went well;
 * either way it has released what it made.
 */
#ifndef NETTY_RDMA_TEST_FAULT_SCENARIOS_H
#define NETTY_RDMA_TEST_FAULT_SCENARIOS_H

#include "service.h"
#include "steps.h"

struct scenario {
    const char *name;
    bool with_group; /* the service is to be a member; one subnet administrator serves all processes of the host */
    bool both_ends; /* a call can tell what happened to the other end */
    bool elsewhere; /* the client looks for the service from another network namespace, in a folder */
    bool (*run)(const struct service_ports *ports, struct trouble *trouble);
};

#define FAULT_ADDRESS "10.77.0.1" /* address in the service's network namespace */

extern const struct scenario scenarios[];
extern const int num_scenarios;

#endif
