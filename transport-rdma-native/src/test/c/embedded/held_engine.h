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
/* The engine kept from its work, so that what others do meanwhile is there when it goes on. */
#ifndef NETTY_RDMA_TEST_HELD_ENGINE_H
#define NETTY_RDMA_TEST_HELD_ENGINE_H

#include <stdbool.h>

#include "check.h"
#include "embedded/link/engine.h"
#include "stalls/stalls.h"

static bool holding, let_go;

static inline void wait_to_be_let_go(struct engine_task *task) {
    (void) task;
    if (stall_forgive != NULL) {
        stall_forgive();
    }
    __atomic_store_n(&holding, true, __ATOMIC_SEQ_CST);
    CHECK_EVENTUALLY(__atomic_load_n(&let_go, __ATOMIC_SEQ_CST));
}

static struct engine_task hold = { .run = wait_to_be_let_go };

/* Holds the engine. No process may be forked meanwhile: engine.h. */
static inline void hold_engine(void) {
    __atomic_store_n(&holding, false, __ATOMIC_SEQ_CST);
    __atomic_store_n(&let_go, false, __ATOMIC_SEQ_CST);
    engine_submit(&hold);
    CHECK_EVENTUALLY(__atomic_load_n(&holding, __ATOMIC_SEQ_CST));
}

static inline void let_engine_go(void) {
    __atomic_store_n(&let_go, true, __ATOMIC_SEQ_CST);
    engine_task_cancel(&hold);
}

#endif
