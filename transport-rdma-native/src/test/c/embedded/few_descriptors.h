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
/* A process that has few descriptors left. */
#ifndef NETTY_RDMA_TEST_FEW_DESCRIPTORS_H
#define NETTY_RDMA_TEST_FEW_DESCRIPTORS_H

#include "check.h"
#include "embedded/base/closer.h"

#include <sys/resource.h>
#include <unistd.h>

/* Lets this process open so many more. Returns what undoes that by setrlimit(2). */
static inline struct rlimit leave_descriptors(int count) {
    struct rlimit before;
    int fds[count + 1];
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_EVENTUALLY(closer_is_done()); /* descriptors that it closes later would be free, too */
    for (int i = 0; i <= count; i++) {
        fds[i] = dup(0);
        CHECK(fds[i] >= 0);
    }
    for (int i = 0; i <= count; i++) {
        close(fds[i]);
    }
    const struct rlimit few = { (rlim_t) fds[count], before.rlim_max };
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    return before;
}

#endif
