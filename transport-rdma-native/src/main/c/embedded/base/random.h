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
 * Random words: keys that peers must not guess, and first numbers of sequences. The kernel makes them. Each is used
 * once, and one system call fetches many. A thread keeps its unused words in private memory, where no peer can read
 * them. The child of a fork() fetches its own.
 */
#ifndef NETTY_RDMA_EMBEDDED_RANDOM_H
#define NETTY_RDMA_EMBEDDED_RANDOM_H

#include <stdint.h>

#include "clock.h"

/* Returns 0 or errno. */
int random_word(uint32_t *word);

/* Returns a first number of a sequence that peers may guess. It is the clock if the kernel has no random word. */
static inline uint32_t random_start(void) {
    uint32_t word;
    if (random_word(&word) != 0) {
        word = (uint32_t) clock_ns(CLOCK_MONOTONIC);
    }
    return word;
}

#endif
