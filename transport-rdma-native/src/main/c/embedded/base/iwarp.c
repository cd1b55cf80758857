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
#include "iwarp.h"

#include <stdlib.h>
#include <string.h>

static bool on;

void iwarp_init(void) {
    const char *value = secure_getenv("RDMA_EMBEDDED_IWARP");
    on = value != NULL && strcmp(value, "1") == 0;
}

bool iwarp_is_on(void) {
    return on;
}
