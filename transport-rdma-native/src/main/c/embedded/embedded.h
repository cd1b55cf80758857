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
 * Outside this folder only the preloadable object, which has more names to offer, includes any other of its headers.
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

#endif
