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
 * Fake of a graphics processor's library, for tests of the clients (embedded/device/gpu_client.h) without a processor:
 * libcuda.so.1, or libamdhip64.so.6, with the functions that the clients and the tests use. Its memory has addresses
 * that the process cannot use (PROT_NONE). It is stricter than a processor: a copy is done by the call that waits for
 * it and not before, needs the context of its memory, and finds out that its memory was freed. Other processes open its
 * allocations by a handle, as they are in memfds.
 *
 * These functions control a fake that is loaded; fake_gpu_load() finds them.
 */
#ifndef NETTY_RDMA_TEST_FAKE_GPU_H
#define NETTY_RDMA_TEST_FAKE_GPU_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Errors, by CUDA's numbers (CUresult). */
#define FAKE_GPU_DEINITIALIZED 4
#define FAKE_GPU_ILLEGAL_ADDRESS 700

/* Things that exist at a time. */
struct fake_gpu_counts {
    int streams;
    int entered;  /* contexts that threads have pushed, or devices that they have set and not set back */
    int retained; /* references to the contexts of devices */
    int pinned;   /* ranges of host memory */
    int relaxed;  /* threads whose mode of capture is not the first one */
    int copies;   /* all copies so far */
    int pinned_copies; /* those of them from and to pinned memory */
    int created;  /* all streams so far */
    int exports;  /* all dma-bufs so far */
    int opened;   /* allocations of other processes */
    int between;  /* all copies from device to device so far */
    int freed_while_open; /* all allocations so far that were freed while another process had them open */
};

struct fake_gpu {
    /* Has the call with this number fail with that error, counted from the next one; 0: no call. */
    void (*fail)(int call, int error);
    /* Returns the number of calls since then. */
    int (*calls)(void);
    /* Has all calls fail from now on, as after an error that a context keeps; 0: none. */
    void (*break_down)(int error);
    /* Has the library refuse to pin memory of the host, or not. */
    void (*refuse_pins)(bool refused);
    /* Begins or ends the capture of a graph by another thread. */
    void (*capture)(bool captures);
    struct fake_gpu_counts (*counts)(void);
    /* Returns memory of `parts` allocations side by side, without a context, as cuMemMap() makes it. */
    uint64_t (*map)(size_t part, unsigned parts);
    /* Frees the first allocation at an address, or all that map() has made there. */
    void (*unmap)(uint64_t address);
    char *(*bytes)(uint64_t address);
};

/* Loads a fake: "libcuda.so.1", "libamdhip64.so.6". NULL: dlerror(). */
static inline void *fake_gpu_load(const char *name, struct fake_gpu *fake) {
    char path[4096];
    const char folder[] = FAKE_GPU_FOLDER;
    size_t at = 0;
    for (const char *from = folder; *from != 0 && at < sizeof(path) / 2; from++) {
        path[at++] = *from;
    }
    path[at++] = '/';
    for (; *name != 0 && at < sizeof(path) - 1; name++) {
        path[at++] = *name;
    }
    path[at] = 0;
    void *library = dlopen(path, RTLD_NOW);
    const struct fake_gpu *found = library == NULL ? NULL : dlsym(library, "fake_gpu");
    if (found != NULL && fake != NULL) {
        *fake = *found;
    }
    return found == NULL ? NULL : library;
}

#endif
