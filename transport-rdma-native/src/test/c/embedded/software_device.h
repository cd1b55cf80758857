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
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded/rdma_peer_memory.h"

#define SOFTWARE_EXPORTS 1
#define SOFTWARE_IMPORTS 2

struct software_device {
    struct rdma_peer_memory_client client;
    pthread_mutex_t lock;
    struct software_memory *memories;
    atomic_int fails_at; /* number of the call that fails, counting down; 0: none does */
    atomic_int acquired; /* number of ranges that the provider has */
    atomic_int copies;
    atomic_int between;  /* copies from device to device, which are no `copies` */
    atomic_int exports;  /* calls that asked for a handle */
    atomic_int imported; /* number of memories of other processes that the provider has */
    atomic_int begun;    /* copies that are not ended */
    atomic_int refuses;  /* SOFTWARE_EXPORTS or SOFTWARE_IMPORTS */
    void (*on_copy)(struct software_device *device); /* set before registrations; called before each copy, or NULL */
};

struct software_memory {
    struct software_device *device;
    size_t size;
    char *address, *bytes;
    int file, dmabuf[2];
    uint64_t number;
    struct software_range *ranges;
    struct software_memory *next;
};

/* Range that the provider has acquired. */
struct software_range {
    struct software_device *device;
    char *bytes;
    size_t length;
    atomic_bool freed;
    struct rdma_peer_memory_export exported; /* of a range of this process */
    bool imported;
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

/* Handle of a memory, in another process: the file with the bytes. */
struct software_handle {
    uint64_t size;
    int pid, file;
};
_Static_assert(sizeof(struct software_handle) <= RDMA_PEER_MEMORY_HANDLE, "a handle is exported whole");

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
        .exported = { .allocation = memory->number, .length = memory->size, .offset = offset },
    };
    const struct software_handle handle = { memory->size, getpid(), memory->file };
    memcpy(range->exported.handle, &handle, sizeof(handle));
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
    if (range->imported) {
        munmap(range->bytes, range->length);
        free(range);
        atomic_fetch_sub(&device->imported, 1);
        return;
    }
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

/* A copy that is done by the call that waits for it, and not before. */
struct software_begun {
    struct software_range *range;
    uint64_t offset;
    const void *from;
    void *to;
    size_t length;
};

static inline int software_begin_copy(void *taken, uint64_t offset, const void *from, void *to, size_t length,
                                      void **begun) {
    struct software_range *range = taken;
    struct software_begun *copy = software_fails(range->device) ? NULL : malloc(sizeof(*copy));
    if (copy == NULL) {
        return EIO;
    }
    *copy = (struct software_begun) { range, offset, from, to, length };
    *begun = copy;
    atomic_fetch_add(&range->device->begun, 1);
    return 0;
}

static inline int software_end_copy(void *begun) {
    struct software_begun copy = *(struct software_begun *) begun;
    free(begun);
    atomic_fetch_sub(&copy.range->device->begun, 1);
    return copy.to == NULL ? software_copy_in(copy.range, copy.offset, copy.from, copy.length)
            : software_copy_out(copy.range, copy.offset, copy.to, copy.length);
}

/* Takes no lock: memory is invalidated with the device's one. */
static inline int software_export(void *taken, struct rdma_peer_memory_export *exported) {
    struct software_range *range = taken;
    atomic_fetch_add(&range->device->exports, 1);
    if (atomic_load(&range->freed)) {
        return EFAULT;
    }
    *exported = range->exported;
    bool refused = atomic_load(&range->device->refuses) == SOFTWARE_EXPORTS;
    return refused || software_fails(range->device) ? ENOTSUP : 0;
}

static inline int software_import(void *context, const struct rdma_peer_memory_export *exported, void **taken) {
    struct software_device *device = context;
    struct software_handle handle;
    struct stat status;
    char path[64];
    memcpy(&handle, exported->handle, sizeof(handle));
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", handle.pid, handle.file);
    bool refused = atomic_load(&device->refuses) == SOFTWARE_IMPORTS || software_fails(device);
    int file = refused ? -1 : open(path, O_RDWR | O_CLOEXEC);
    bool fits = file >= 0 && fstat(file, &status) == 0 && (uint64_t) status.st_size >= exported->length;
    struct software_range *range = fits ? calloc(1, sizeof(*range)) : NULL;
    char *bytes = range == NULL ? MAP_FAILED
            : mmap(NULL, exported->length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) {
        close(file);
    }
    if (bytes == MAP_FAILED) {
        free(range);
        return EACCES;
    }
    range->device = device;
    range->bytes = bytes;
    range->length = exported->length;
    range->imported = true;
    atomic_fetch_add(&device->imported, 1);
    *taken = range;
    return 0;
}

static inline int software_copy_from(void *taken, uint64_t offset, void *other, uint64_t from, size_t length) {
    struct software_range *range = taken, *source = other;
    if (offset > range->length || length > range->length - offset || from > source->length
            || length > source->length - from || !source->imported) {
        abort(); /* the provider checks ranges */
    }
    if (range->device->on_copy != NULL) {
        range->device->on_copy(range->device);
    }
    atomic_fetch_add(&range->device->between, 1);
    if (software_fails(range->device)) {
        return EIO;
    }
    software_move(range->bytes + offset, source->bytes + from, length);
    return 0;
}

/* Starts a device, which is to be registered: device->client. */
static inline void software_start(struct software_device *device) {
    *device = (struct software_device) {
        .client = {
            .version = RDMA_PEER_MEMORY_VERSION, .name = "software", .context = device,
            .acquire = software_acquire, .acquire_dmabuf = software_acquire_dmabuf,
            .copy_in = software_copy_in, .copy_out = software_copy_out, .release = software_release,
            .begin_copy = software_begin_copy, .end_copy = software_end_copy, .export_memory = software_export,
            .import_memory = software_import, .copy_from = software_copy_from,
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
    static _Atomic uint64_t last_number;
    memory->device = device;
    memory->size = size;
    memory->number = atomic_fetch_add(&last_number, 1) + 1;
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
        atomic_store(&range->freed, true);
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
