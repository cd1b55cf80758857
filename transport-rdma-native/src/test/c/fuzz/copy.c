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
 * The copies of embedded/base/copy.h in C, so that AddressSanitizer sees them and a fault ends the run: no memory is
 * unmapped here, so what a copy faults at is memory that nobody has offered. They take the
 * place of embedded/base/copy.c.
 */
#include "embedded/base/copy.h"

#include <stdatomic.h>
#include <string.h>

int copy_catch_faults(void) {
    return 0;
}

bool copy_memory(void *to, const void *from, size_t length) {
    memcpy(to, from, length);
    return true;
}

bool copy_past_cache(void *to, const void *from, size_t length) {
    memcpy(to, from, length);
    return true;
}

bool copy_fetch_add(void *target, uint64_t add, uint64_t *before) {
    *before = atomic_fetch_add((_Atomic uint64_t *) target, add);
    return true;
}

bool copy_compare_swap(void *target, uint64_t *before, uint64_t desired) {
    atomic_compare_exchange_strong((_Atomic uint64_t *) target, before, desired);
    return true;
}
