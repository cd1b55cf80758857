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
/* The embedded provider, to the tests. */
#include "provider.h"

#include "check.h"
#include "embedded/base/closer.h"
#include "embedded/link/engine.h"
#include "embedded/link/link.h"

#include <semaphore.h>
#include <time.h>

bool is_soft_roce(void) {
    return false;
}

bool is_embedded(void) {
    return true;
}

const char *test_address(void) {
    return "127.0.0.1";
}

const char *test_address6(void) {
    return "::1";
}

const char *test_address_elsewhere(void) {
    return "127.0.0.2";
}

struct ibv_context *open_test_device(int *gid_index) {
    struct ibv_device **list = ibv_get_device_list(NULL);
    CHECK(list != NULL && list[0] != NULL);
    struct ibv_context *context = ibv_open_device(list[0]);
    CHECK(context != NULL);
    ibv_free_device_list(list);
    *gid_index = 0;
    return context;
}

void end_idle_links_soon(void) {
    link_idle_timeout_ns = 20000000;
}

/*
 * Number of turns, more than the messages that any effect here takes: each turn of the engine receives what was sent
 * before it.
 */
#define TURNS 8

struct turns {
    struct engine_task task;
    int left;
    sem_t done;
};

static void next_turn(struct engine_task *task) {
    struct turns *turns = (struct turns *) task;
    if (--turns->left > 0) {
        engine_submit(task);
    } else {
        sem_post(&turns->done);
    }
}

void settle(void) {
    struct turns turns = { .task = { .run = next_turn }, .left = TURNS };
    CHECK_EQ(sem_init(&turns.done, 0, 0), 0);
    engine_submit(&turns.task);
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += patience_ms() / 1000;
    CHECK_EQ(sem_timedwait(&turns.done, &limit), 0);
    engine_task_cancel(&turns.task); /* the task's last run may not have returned yet */
    sem_destroy(&turns.done);
    CHECK_EVENTUALLY(closer_is_done());
}
