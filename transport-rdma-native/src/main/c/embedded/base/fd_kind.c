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
#include "fd_kind.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum fd_kind fd_kind(int fd) {
    static const char eventfd[] = "anon_inode:[eventfd]"; /* the path of a file begins with a slash */
    char path[32], target[sizeof(eventfd)];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof(target));
    if (length < 0) {
        return FD_UNKNOWN;
    }
    size_t expected = sizeof(eventfd) - 1;
    return (size_t) length == expected && memcmp(target, eventfd, expected) == 0 ? FD_EVENTFD : FD_OTHER;
}
