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
 * Software device: a client of peer memory (rdma_peer_memory.h). Its memory has addresses that the processor cannot use
 * (PROT_NONE); the bytes are in a memfd, which the tests see as `bytes`. A pipe stands in
 * for the dma-buf of a memory, as a descriptor that can be handed on and not mapped.
 */
#ifndef NETTY_RDMA_TEST_SOFTWARE_DEVICE_H
#define NETTY_RDMA_TEST_SOFTWARE_DEVICE_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded/rdma_peer_memory.h"

struct software_device {
    struct rdma_peer_memory_client client;
    pthread_mutex_t lock;
    struct software_memory *memories;
    atomic_int fails_at; /* number of the call that fails, counting down; 0: none does */
    atomic_int acquired; /* number of ranges that the provider has */
    atomic_int copies;
    void (*on_copy)(struct software_device *device); /* set before registrations; called before each copy, or NULL */
};

struct software_memory {
    struct software_device *device;
    size_t size;
    char *address, *bytes;
    int file, dmabuf[2];
    struct software_range *ranges;
    struct software_memory *next;
};

/* Range that the provider has acquired. */
struct software_range {
    struct software_device *device;
    char *bytes;
    size_t length;
    struct rdma_peer_memory *acquired;
    struct software_memory *memory; /* NULL: freed */
    struct software_range *next;
};

static inline bool software_fails(struct software_device *device) {
    int left = atomic_load(&device->fails_at);
    while (left > 0 && !atomic_compare_exchange_weak(&device->fails_at, &left, left - 1)) {
    }
    return left == 1;
}

/* Called with the device's lock held. */
static inline int software_take(struct software_memory *memory, uint64_t offset, size_t length,
                                struct rdma_peer_memory *acquired, void **taken) {
    if (offset > memory->size || length > memory->size - offset) {
        return EINVAL;
    }
    struct software_range *range = calloc(1, sizeof(*range));
    if (range == NULL || software_fails(memory->device)) {
        free(range);
        return ENOSPC;
    }
    *range = (struct software_range) {
        .device = memory->device, .bytes = memory->bytes + offset, .length = length, .acquired = acquired,
        .memory = memory, .next = memory->ranges,
    };
    memory->ranges = range;
    atomic_fetch_add(&memory->device->acquired, 1);
    *taken = range;
    return 0;
}

static inline int software_acquire(void *context, uint64_t address, size_t length, int access,
                                   struct rdma_peer_memory *acquired, void **taken) {
    struct software_device *device = context;
    (void) access;
    int answer = RDMA_PEER_MEMORY_NOT_MINE;
    pthread_mutex_lock(&device->lock);
    for (struct software_memory *memory = device->memories; memory != NULL; memory = memory->next) {
        uint64_t start = (uintptr_t) memory->address;
        if (address >= start && address < start + memory->size) {
            answer = software_take(memory, address - start, length, acquired, taken);
            break;
        }
    }
    pthread_mutex_unlock(&device->lock);
    return answer;
}

static inline int software_acquire_dmabuf(void *context, int fd, uint64_t offset, size_t length, uint64_t iova,
                                          int access, struct rdma_peer_memory *acquired, void **taken) {
    struct software_device *device = context;
    struct stat wanted, own;
    (void) iova;
    (void) access;
    int answer = RDMA_PEER_MEMORY_NOT_MINE;
    if (fstat(fd, &wanted) != 0) {
        return errno;
    }
    pthread_mutex_lock(&device->lock);
    for (struct software_memory *memory = device->memories; memory != NULL; memory = memory->next) {
        if (fstat(memory->dmabuf[0], &own) == 0 && own.st_dev == wanted.st_dev && own.st_ino == wanted.st_ino) {
            answer = software_take(memory, offset, length, acquired, taken);
            break;
        }
    }
    pthread_mutex_unlock(&device->lock);
    return answer;
}

static inline int software_copy(struct software_range *range, uint64_t offset, size_t length) {
    struct software_device *device = range->device;
    if (offset > range->length || length > range->length - offset) {
        abort(); /* the provider checks ranges */
    }
    if (device->on_copy != NULL) {
        device->on_copy(device);
    }
    atomic_fetch_add(&device->copies, 1);
    return software_fails(device) ? EIO : 0;
}

/*
 * Moves bytes unseen by ThreadSanitizer, which does not see either that a message orders the accesses of its two ends:
 * they have different mappings of what they share.
 */
__attribute__((no_sanitize_thread, noinline)) static void software_move(char *to, const char *from, size_t length) {
    for (volatile const char *end = from + length; from != end; to++, from++) {
        *(volatile char *) to = *(volatile const char *) from;
    }
}

static inline int software_copy_in(void *taken, uint64_t offset, const void *from, size_t length) {
    struct software_range *range = taken;
    int error = software_copy(range, offset, length);
    if (error == 0) {
        software_move(range->bytes + offset, from, length);
    }
    return error;
}

static inline int software_copy_out(void *taken, uint64_t offset, void *to, size_t length) {
    struct software_range *range = taken;
    int error = software_copy(range, offset, length);
    if (error == 0) {
        software_move(to, range->bytes + offset, length);
    }
    return error;
}

static inline void software_release(void *taken) {
    struct software_range *range = taken;
    struct software_device *device = range->device;
    pthread_mutex_lock(&device->lock);
    if (range->memory != NULL) {
        struct software_range **link = &range->memory->ranges;
        while (*link != range) {
            link = &(*link)->next;
        }
        *link = range->next;
    }
    pthread_mutex_unlock(&device->lock);
    free(range);
    atomic_fetch_sub(&device->acquired, 1);
}

/* Starts a device, which is to be registered: device->client. */
static inline void software_start(struct software_device *device) {
    *device = (struct software_device) {
        .client = {
            .version = RDMA_PEER_MEMORY_VERSION, .name = "software", .context = device,
            .acquire = software_acquire, .acquire_dmabuf = software_acquire_dmabuf,
            .copy_in = software_copy_in, .copy_out = software_copy_out, .release = software_release,
        },
    };
    pthread_mutex_init(&device->lock, NULL);
}

/* Allocates memory of zeroes. NULL: errno. */
static inline struct software_memory *software_allocate(struct software_device *device, size_t size) {
    struct software_memory *memory = calloc(1, sizeof(*memory));
    if (memory == NULL) {
        return NULL;
    }
    memory->device = device;
    memory->size = size;
    memory->file = memfd_create("software-device", MFD_CLOEXEC);
    memory->address = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool made = memory->file >= 0 && ftruncate(memory->file, (off_t) size) == 0 && pipe(memory->dmabuf) == 0;
    memory->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->file, 0);
    if (!made || memory->address == MAP_FAILED || memory->bytes == MAP_FAILED) {
        abort();
    }
    pthread_mutex_lock(&device->lock);
    memory->next = device->memories;
    device->memories = memory;
    pthread_mutex_unlock(&device->lock);
    return memory;
}

/* Frees memory, also while it is registered. */
static inline void software_free(struct software_memory *memory) {
    struct software_device *device = memory->device;
    pthread_mutex_lock(&device->lock);
    struct software_memory **link = &device->memories;
    while (*link != memory) {
        link = &(*link)->next;
    }
    *link = memory->next;
    for (struct software_range *range = memory->ranges; range != NULL; range = range->next) {
        rdma_peer_memory_invalidate(range->acquired);
        range->memory = NULL;
        range->bytes = NULL;
    }
    pthread_mutex_unlock(&device->lock);
    munmap(memory->bytes, memory->size);
    munmap(memory->address, memory->size);
    close(memory->file);
    close(memory->dmabuf[0]);
    close(memory->dmabuf[1]);
    free(memory);
}

#endif
