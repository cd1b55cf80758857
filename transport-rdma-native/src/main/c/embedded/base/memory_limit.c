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
/* Memory limit of this process: see memory_limit.h. */
#include "memory_limit.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

/* Mounts and limit files of control groups: version 2, and version 1. */
static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/memory" };
static const char *const files[] = { "memory.max", "memory.limit_in_bytes" };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t limit = UINT64_MAX;

static void lower_to(uint64_t bytes) {
    limit = bytes < limit ? bytes : limit;
}

static void read_limit(const char *group, int version) {
    char path[PATH_SIZE + 64];
    uint64_t bytes;
    snprintf(path, sizeof(path), "%s%s/%s", mounts[version], group, files[version]);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fscanf(file, "%" SCNu64, &bytes) == 1) { /* "max" is no limit */
            lower_to(bytes);
        }
        fclose(file);
    }
}

/* Reads the limits of all groups of the process, up to the root as seen here, which has a limit in a container. */
static void read_limits(char *group, int version) {
    char *slash;
    while ((slash = strrchr(group, '/')) != NULL) {
        read_limit(slash == group && slash[1] == 0 ? "" : group, version);
        *slash = 0;
    }
    read_limit("", version);
}

/* Finds the groups: "0::/path" of version 2, "4:memory:/path" of version 1. */
static void find_groups(void) {
    char group[PATH_SIZE];
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL) {
        return;
    }
    while (fgets(group, sizeof(group), file) != NULL) {
        group[strcspn(group, "\n")] = 0;
        char *path = strchr(group, '/');
        if (path != NULL) {
            int version = strncmp(group, "0::", 3) == 0 ? 0 : strstr(group, ":memory:") != NULL ? 1 : -1;
            if (version >= 0) {
                read_limits(path, version);
            }
        }
    }
    fclose(file);
}

static void find(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0) {
        lower_to((uint64_t) pages * (uint64_t) size);
    }
    find_groups();
}

uint64_t memory_limit(void) {
    pthread_once(&once, find);
    return limit;
}
