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
/* Words of getrandom(2), many by one call: see random.h. */
#include "random.h"

#include <errno.h>
#include <sys/random.h>

#include "fork.h"

#define WORDS 64 /* 256 bytes come whole, whatever signals do, says getrandom(2) */

int random_word(uint32_t *word) {
    static __thread struct {
        uint32_t words[WORDS];
        unsigned left, generation;
    } kept;
    if (kept.left == 0 || kept.generation != fork_generation) {
        kept.left = 0;
        if (getrandom(kept.words, sizeof(kept.words), 0) != (ssize_t) sizeof(kept.words)) {
            return errno;
        }
        kept.left = WORDS;
        kept.generation = fork_generation;
    }
    kept.left--;
    *word = kept.words[kept.left];
    kept.words[kept.left] = 0;
    return 0;
}
