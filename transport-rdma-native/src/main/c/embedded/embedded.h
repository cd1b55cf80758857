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
 * The embedded provider's entry points: embedded_<name> has the signature and the behaviour of the public <name>.
 *
 * Outside this folder only the preloadable object includes other headers of the folder, because it offers more names.
 */
#ifndef NETTY_RDMA_EMBEDDED_H
#define NETTY_RDMA_EMBEDDED_H

#include "verbs_api.h"

#define EMBEDDED_DECLARE(ret, name, args) ret embedded_##name args;
VERBS_API_IBVERBS(EMBEDDED_DECLARE)
VERBS_API_RDMACM(EMBEDDED_DECLARE)
VERBS_API_OPTIONAL(EMBEDDED_DECLARE)
VERBS_API_EXTENSIONS(EMBEDDED_DECLARE)
#undef EMBEDDED_DECLARE

/*
 * Configuration of reachable processes: a folder for names, which replace those of the network namespace, and other
 * users and groups whose processes may be peers there (link/folder.h, link/trust.h). embedded_configure() sets it
 * instead of the environment; NULL keeps the value of the environment. embedded_start() makes it effective, as the
 * first use of the provider does. If this process cannot use the provider, it says why. embedded_describe() describes
 * the configuration for a person. Errors are errno values.
 */
int embedded_configure(const char *folder, const char *users, const char *groups);
int embedded_start(char *reason, size_t reason_size);
void embedded_describe(char *text, size_t size);

/*
 * Writes the names of the clients (rdma_peer_memory.h) that registrations ask at present, in their order, for example
 * "CUDA, software". Clients for graphics processors are among them when the application has loaded their library.
 */
void embedded_peer_memory(char *text, size_t size);

/*
 * Gives back the descriptor of the device that all ids share. Called when the library is unloaded: its code may stay
 * mapped (-z nodelete), but no thread of the application comes back to it.
 */
void embedded_unload(void);

#endif
