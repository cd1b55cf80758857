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
 * Memory of the software device (software_device.h) that is freed in the middle of a message, when some copies were
 * made: free_in_the_middle() is for a thread.
 */
#ifndef NETTY_RDMA_TEST_FREED_IN_THE_MIDDLE_H
#define NETTY_RDMA_TEST_FREED_IN_THE_MIDDLE_H

#include <sched.h>
#include <stdatomic.h>

#include "software_device.h"

static struct software_memory *_Atomic victim;
static atomic_int copies_to_free;

/* Wakes the thread that frees the memory. For `on_copy` of a device. */
static void count_copy(struct software_device *of) {
    (void) of;
    atomic_fetch_sub(&copies_to_free, 1);
}

static void *free_in_the_middle(void *argument) {
    while (atomic_load(&copies_to_free) > 0) {
        sched_yield();
    }
    software_free(atomic_load(&victim));
    return argument;
}

#endif
