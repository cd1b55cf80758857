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
 * The engine (embedded/link/engine.h) without a thread, and with a clock that only the fuzz target moves: what happens
 * in a run depends on the input alone. It takes the place of embedded/link/engine.c, and of embedded/base/closer.c,
 * which has threads as well, when a fuzz target is linked.
 */
#ifndef NETTY_RDMA_FUZZ_ENGINE_BY_HAND_H
#define NETTY_RDMA_FUZZ_ENGINE_BY_HAND_H

#include <stdbool.h>
#include <stdint.h>

/* Does what the engine's thread would do by now, until there is nothing left or for a bounded number of turns. */
void engine_run(void);

/* Lets time pass, and does what is due on the way. */
void engine_pass(uint64_t ns);

/* Sources and timers that are set and tasks that are queued: what a run must not leave behind more of. */
unsigned engine_users(void);

/* Called on the caller's thread where the provider waits for the engine, after each step of the wait. NULL: nothing. */
extern void (*engine_while_waiting)(void);

#endif
