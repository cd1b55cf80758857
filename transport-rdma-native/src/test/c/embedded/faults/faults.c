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
/* Calls that are made to fail: see faults.h and calls.h. */
#include "faults.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"


#define BUCKETS 4096u

struct allocation {
    struct allocation *next;
    const void *memory;
    int site;
};

extern struct fault_site *__start_fault_entries[], *__stop_fault_entries[];

struct fault_plan *fault_plan;
enum fault_role fault_role;

static struct fault_site *sites[FAULT_MAX_SITES];
static int num_sites;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allocation *allocations[BUCKETS];
static long live[FAULT_MAX_SITES];

void fault_init(void) {
    for (struct fault_site **entry = __start_fault_entries; entry < __stop_fault_entries; entry++) {
        struct fault_site *site = *entry;
        site->index = 0;
        while (site->index < num_sites && (sites[site->index]->line != site->line
                                           || strcmp(sites[site->index]->file, site->file) != 0
                                           || strcmp(sites[site->index]->call, site->call) != 0)) {
            site->index++;
        }
        if (site->index == num_sites) {
            CHECK(num_sites < FAULT_MAX_SITES);
            sites[num_sites++] = site;
        }
    }
}

int fault_sites(void) {
    return num_sites;
}

const struct fault_site *fault_site(int index) {
    return sites[index];
}

/* splitmix64 */
static uint64_t next_random(_Atomic uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int error_of(struct fault_plan *plan, const struct fault_site *site, long call) {
    if (plan->role != fault_role) {
        return 0;
    }
    if (plan->site == site->index && plan->occurrence == call) {
        return site->errors[plan->error];
    }
    if (plan->then == site->index && plan->fired && plan->failed[site->index] == 0) {
        return site->errors[0];
    }
    if (plan->per_mille > 0 && next_random(&plan->random) % 1000 < plan->per_mille) {
        unsigned which = next_random(&plan->random) % FAULT_ERRORS;
        return site->errors[which] != 0 ? site->errors[which] : site->errors[0];
    }
    return 0;
}

int fault_of(const struct fault_site *site) {
    struct fault_plan *plan = fault_plan;
    if (plan == NULL || !plan->armed) {
        return 0;
    }
    int error = error_of(plan, site, ++plan->calls[fault_role][site->index]);
    if (error != 0) {
        plan->fired = true;
        plan->failed[site->index]++;
    }
    if (error > 0) {
        errno = error;
    }
    return error;
}

static struct allocation **bucket_of(const void *memory) {
    return &allocations[((uintptr_t) memory >> 4) % BUCKETS];
}

void *fault_allocated(const struct fault_site *site, void *memory) {
    if (memory == NULL || memory == MAP_FAILED) {
        return memory;
    }
    struct allocation *allocation = malloc(sizeof(*allocation));
    CHECK(allocation != NULL);
    pthread_mutex_lock(&lock);
    *allocation = (struct allocation) { *bucket_of(memory), memory, site->index };
    *bucket_of(memory) = allocation;
    live[site->index]++;
    pthread_mutex_unlock(&lock);
    return memory;
}

/* May be called with what others have allocated. */
void fault_freed(const void *memory) {
    pthread_mutex_lock(&lock);
    struct allocation **link = bucket_of(memory);
    while (*link != NULL && (*link)->memory != memory) {
        link = &(*link)->next;
    }
    struct allocation *allocation = *link;
    if (allocation != NULL) {
        *link = allocation->next;
        live[allocation->site]--;
    }
    pthread_mutex_unlock(&lock);
    int error = errno;
    free(allocation);
    errno = error;
}

long fault_live(int index) {
    pthread_mutex_lock(&lock);
    long count = live[index];
    pthread_mutex_unlock(&lock);
    return count;
}

static void lose_descriptors(struct msghdr *message) {
    bool lost = false;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
            const int *fds = (const int *) CMSG_DATA(c);
            for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
                close(fds[i]);
                lost = true;
            }
        }
    }
    if (lost) {
        message->msg_controllen = 0;
        message->msg_flags |= MSG_CTRUNC;
    }
}

int fault_recvmmsg(const struct fault_site *site, int fd, struct mmsghdr *messages, unsigned limit, int flags,
                   struct timespec *timeout) {
    int error = fault_of(site);
    if (error > 0) {
        return -1;
    }
    int count = recvmmsg(fd, messages, limit, flags, timeout);
    for (int i = 0; error == FAULT_NO_DESCRIPTORS && i < count; i++) {
        lose_descriptors(&messages[i].msg_hdr);
    }
    return count;
}
