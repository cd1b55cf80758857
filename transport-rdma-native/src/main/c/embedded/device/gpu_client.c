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
/* Clients of peer memory for graphics processors: see gpu_client.h. */
#include "gpu_client.h"

#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "embedded/base/container_of.h"
#include "embedded/base/pinned.h"

/* Attributes of pointers, by the numbers that CUDA and HIP share (CUpointer_attribute, hipPointer_attribute). */
enum {
    POINTER_CONTEXT = 1, /* HIP has none */
    POINTER_MEMORY_TYPE = 2,
    POINTER_SYNC_MEMOPS = 6,
    POINTER_BUFFER_ID = 7, /* number of the allocation, which no other one of the process ever has */
    POINTER_DEVICE_ORDINAL = 9,
};
#define MEMORY_TYPE_DEVICE 2 /* HIP: since ROCm 6 */
#define STREAM_NON_BLOCKING 1 /* a stream that does not wait for the application's work on the default stream */
#define CAPTURE_MODE_RELAXED 2
#define REGISTER_PORTABLE 1u /* for all contexts */
#define REGISTER_READ_ONLY 8u
#define OPEN_WITH_PEER_ACCESS 1u /* also memory of another processor, where the two reach each other */

/* Size of copies from which host memory is to be pinned. A smaller copy takes longer with pinned memory. */
#define PINNED_FROM 4096u

/* Handle of an allocation for other processes (CUipcMemHandle, hipIpcMemHandle_t), which the functions get by value. */
struct handle {
    char bytes[64];
};
_Static_assert(sizeof(struct handle) <= RDMA_PEER_MEMORY_HANDLE, "a handle is exported whole");

/* Functions of a library. They return 0 on success. A function that only the other vendor has is NULL. */
struct calls {
    int (*attribute)(void *value, int attribute, uint64_t address);
    int (*set_attribute)(const void *value, int attribute, uint64_t address);
    int (*range)(uint64_t *start, size_t *size, uint64_t address);
    int (*copy_in)(uint64_t to, const void *from, size_t length, void *stream);
    int (*copy_out)(void *to, uint64_t from, size_t length, void *stream);
    int (*create)(void **stream, unsigned flags);
    int (*synchronize)(void *stream);
    int (*destroy)(void *stream);
    int (*exchange_capture_mode)(int *mode);
    int (*register_memory)(void *memory, size_t size, unsigned flags);
    int (*unregister_memory)(void *memory);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*retain)(void **context, int device);
    int (*unretain)(int device);
    int (*retain_state)(int device, unsigned *flags, int *active);
    int (*context_id)(void *context, unsigned long long *id);
    int (*get_handle)(struct handle *handle, uint64_t start);
    int (*open_handle)(uint64_t *opened, struct handle handle, unsigned flags);
    int (*close_handle)(uint64_t opened);
    int (*copy_between)(uint64_t to, uint64_t from, size_t length, void *stream);
    int (*get_device)(int *device);
    int (*set_device)(int device);
};

enum need { NEEDED, OPTIONAL };

/* Names of the functions in the order of struct calls; NULL: the vendor has no such function. */
static const struct {
    const char *cuda, *hip;
    enum need need;
} names[] = {
    { "cuPointerGetAttribute", "hipPointerGetAttribute", NEEDED },
    { "cuPointerSetAttribute", "hipPointerSetAttribute", NEEDED },
    { "cuMemGetAddressRange_v2", "hipMemGetAddressRange", NEEDED },
    { "cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", NEEDED },
    { "cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", NEEDED },
    { "cuStreamCreate", "hipStreamCreateWithFlags", NEEDED },
    { "cuStreamSynchronize", "hipStreamSynchronize", NEEDED },
    { "cuStreamDestroy_v2", "hipStreamDestroy", NEEDED },
    { "cuThreadExchangeStreamCaptureMode", "hipThreadExchangeStreamCaptureMode", NEEDED },
    { "cuMemHostRegister_v2", "hipHostRegister", NEEDED },
    { "cuMemHostUnregister", "hipHostUnregister", NEEDED },
    { "cuCtxPushCurrent_v2", NULL, NEEDED },
    { "cuCtxPopCurrent_v2", NULL, NEEDED },
    { "cuDevicePrimaryCtxRetain", NULL, NEEDED },
    { "cuDevicePrimaryCtxRelease_v2", NULL, NEEDED },
    { "cuDevicePrimaryCtxGetState", NULL, NEEDED },
    { "cuCtxGetId", NULL, OPTIONAL }, /* CUDA 12 */
    { "cuIpcGetMemHandle", "hipIpcGetMemHandle", OPTIONAL },
    { "cuIpcOpenMemHandle_v2", "hipIpcOpenMemHandle", OPTIONAL }, /* CUDA 11 */
    { "cuIpcCloseMemHandle", "hipIpcCloseMemHandle", OPTIONAL },
    { "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync", OPTIONAL },
    { NULL, "hipGetDevice", NEEDED },
    { NULL, "hipSetDevice", NEEDED },
};
#define CALLS (sizeof(names) / sizeof(*names))
_Static_assert(sizeof(struct calls) == CALLS * sizeof(void *), "each function has a name");

/*
 * Stream, which runs one copy at a time. The application's streams and the default stream are not used. A copy there
 * would wait for the kernels that run on them, and each thread that polls would wait too.
 */
struct stream {
    void *stream;
    struct context *context; /* context of the copy */
    struct stream *next;
};

/* Context with acquired memory: CUDA's, or a device of HIP. The fields from `users` on are guarded by the lock. */
struct context {
    struct vendor *vendor;
    void *context;
    unsigned long long id; /* distinguishes successive contexts that have the same handle; 0: not known */
    int device;
    bool retained; /* primary context of the device, held by a reference */
    unsigned users;
    struct stream *idle;
    struct context *next;
};

/* Acquired range, or an allocation of another process that was opened. */
struct range {
    struct context *context;
    uint64_t address;
    unsigned long long buffer_id; /* 0: the range has several allocations, or their numbers are not known */
    bool opened;

    /* Allocation that has the range, if `buffer_id` is not 0. */
    uint64_t start;
    size_t size;
    enum { NOT_ASKED, NONE, KNOWN } handle_state; /* guarded by the lock, as the next one */
    struct handle handle;
};

struct vendor {
    const char *const *libraries;
    bool cuda;
    struct pinning pinning; /* of the provider's shared memory */
    pthread_mutex_t lock;
    struct calls calls; /* written once, before `library` */
    void *_Atomic library;
    struct context *contexts;
};

static const char *const cuda_libraries[] = { "libcuda.so.1", NULL };
static const char *const hip_libraries[] = { "libamdhip64.so.7", "libamdhip64.so.6", NULL };

static bool pin(const struct pinning *driver, int device, void *memory, size_t size, bool writable);
static void unpin(const struct pinning *driver, int device, void *memory);

static struct vendor cuda = {
    .libraries = cuda_libraries, .cuda = true, .pinning = { pin, unpin }, .lock = PTHREAD_MUTEX_INITIALIZER,
};
static struct vendor hip = {
    .libraries = hip_libraries, .pinning = { pin, unpin }, .lock = PTHREAD_MUTEX_INITIALIZER,
};

static atomic_bool ended; /* the process is ending, and its libraries may have ended */

/* ---- libraries ---- */

/* Looks the functions up. Returns false if the library is too old. */
static bool look_up(const struct vendor *vendor, void *library, struct calls *calls) {
    void **functions = (void **) calls;
    for (size_t i = 0; i < CALLS; i++) {
        const char *name = vendor->cuda ? names[i].cuda : names[i].hip;
        functions[i] = name == NULL ? NULL : dlsym(library, name);
        if (name != NULL && functions[i] == NULL && names[i].need == NEEDED) {
            return false;
        }
    }
    return true;
}

static void end(void) {
    atomic_store(&ended, true);
}

/*
 * Finds the library that the application has loaded. The reference to the library is kept, because regions may need the
 * library at any time. The library's own handler of exit(3) runs after end(), which is registered later.
 */
static bool is_loaded(struct vendor *vendor) {
    if (atomic_load(&vendor->library) != NULL) {
        return true;
    }
    void *library = NULL;
    for (const char *const *name = vendor->libraries; *name != NULL && library == NULL; name++) {
        library = dlopen(*name, RTLD_NOW | RTLD_NOLOAD);
    }
    if (library == NULL) {
        return false;
    }
    pthread_mutex_lock(&vendor->lock);
    bool first = atomic_load(&vendor->library) == NULL;
    bool usable = !first || (look_up(vendor, library, &vendor->calls) && atexit(end) == 0);
    if (first && usable) {
        atomic_store(&vendor->library, library);
    }
    pthread_mutex_unlock(&vendor->lock);
    if (!first || !usable) {
        dlclose(library);
    }
    return usable;
}

/* ---- contexts ---- */

/* State of a thread to which leave() returns. */
struct before {
    int capture_mode, device;
};

/*
 * Makes the context current in this thread. Also permits the client's calls while another thread captures a graph,
 * because the calls are not part of the graph.
 */
static bool enter(const struct context *context, struct before *before) {
    const struct calls *calls = &context->vendor->calls;
    *before = (struct before) { .capture_mode = CAPTURE_MODE_RELAXED };
    if (calls->exchange_capture_mode(&before->capture_mode) != 0) {
        return false;
    }
    bool entered = calls->push != NULL ? calls->push(context->context) == 0
            : calls->get_device(&before->device) == 0 && calls->set_device(context->device) == 0;
    if (!entered) {
        calls->exchange_capture_mode(&before->capture_mode);
    }
    return entered;
}

static void leave(const struct context *context, struct before *before) {
    const struct calls *calls = &context->vendor->calls;
    if (calls->pop != NULL) {
        void *popped;
        calls->pop(&popped);
    } else {
        calls->set_device(before->device);
    }
    calls->exchange_capture_mode(&before->capture_mode);
}

/* Finds the context of memory. Mapped memory (cuMemMap) belongs to the primary context of its device. */
static int identify(struct vendor *vendor, uint64_t address, struct context *context) {
    const struct calls *calls = &vendor->calls;
    *context = (struct context) { .vendor = vendor, .users = 1 };
    if (calls->attribute(&context->device, POINTER_DEVICE_ORDINAL, address) != 0) {
        return EFAULT;
    }
    if (calls->push == NULL) {
        return 0;
    }
    if (calls->attribute(&context->context, POINTER_CONTEXT, address) != 0 || context->context == NULL) {
        if (calls->retain(&context->context, context->device) != 0) {
            return EIO;
        }
        context->retained = true;
    }
    if (calls->context_id != NULL && calls->context_id(context->context, &context->id) != 0) {
        if (context->retained) {
            calls->unretain(context->device);
        }
        return EIO;
    }
    return 0;
}

static bool is_same(const struct context *a, const struct context *b) {
    return a->context == b->context && a->id == b->id && a->device == b->device && a->retained == b->retained;
}

/* Called with the lock held. */
static void enlist(struct context *context) {
    context->next = context->vendor->contexts;
    context->vendor->contexts = context;
}

/* Returns the context of the memory, with one more user. NULL: *error. */
static struct context *take_context(struct vendor *vendor, uint64_t address, int *error) {
    struct context wanted;
    *error = identify(vendor, address, &wanted);
    if (*error != 0) {
        return NULL;
    }
    pthread_mutex_lock(&vendor->lock);
    struct context *found = vendor->contexts;
    while (found != NULL && !is_same(found, &wanted)) {
        found = found->next;
    }
    bool known = found != NULL;
    if (known) {
        found->users++;
    } else if ((found = malloc(sizeof(*found))) != NULL) {
        *found = wanted;
        enlist(found);
    }
    pthread_mutex_unlock(&vendor->lock);
    if (wanted.retained && (known || found == NULL)) {
        vendor->calls.unretain(wanted.device);
    }
    *error = found == NULL ? ENOMEM : 0;
    return found;
}

/* Destroys all streams of a context that is in no list. Returns false if that is not possible now. */
static bool destroy_streams(struct context *context) {
    struct before before;
    if (context->idle == NULL) {
        return true;
    }
    if (!enter(context, &before)) {
        return false;
    }
    for (struct stream *stream; (stream = context->idle) != NULL;) {
        context->idle = stream->next;
        context->vendor->calls.destroy(stream->stream);
        free(stream);
    }
    leave(context, &before);
    return true;
}

/*
 * Gives the context back. Without users it is freed with its streams. If its memory was freed before, the context may
 * not exist any more. Then it stays with its streams for the next user.
 */
static void put_context(struct context *context, bool exists) {
    struct vendor *vendor = context->vendor;
    pthread_mutex_lock(&vendor->lock);
    bool may_go = exists || context->retained || context->idle == NULL;
    bool last = --context->users == 0 && may_go && !atomic_load(&ended);
    if (last) {
        struct context **link = &vendor->contexts;
        while (*link != context) {
            link = &(*link)->next;
        }
        *link = context->next;
    }
    pthread_mutex_unlock(&vendor->lock);
    if (!last) {
        return;
    }
    if (destroy_streams(context)) {
        if (context->retained) {
            vendor->calls.unretain(context->device);
        }
        free(context);
    } else {
        pthread_mutex_lock(&vendor->lock);
        enlist(context);
        pthread_mutex_unlock(&vendor->lock);
    }
}

/* ---- streams ---- */

/* Called inside the context. NULL: there is no stream. */
static struct stream *take_stream(struct context *context) {
    struct vendor *vendor = context->vendor;
    pthread_mutex_lock(&vendor->lock);
    struct stream *stream = context->idle;
    if (stream != NULL) {
        context->idle = stream->next;
    }
    pthread_mutex_unlock(&vendor->lock);
    if (stream == NULL && (stream = malloc(sizeof(*stream))) != NULL
            && vendor->calls.create(&stream->stream, STREAM_NON_BLOCKING) != 0) {
        free(stream);
        stream = NULL;
    }
    return stream;
}

/* Called inside the context. A stream whose copy has failed is destroyed. */
static void put_stream(struct context *context, struct stream *stream, bool usable) {
    struct vendor *vendor = context->vendor;
    if (!usable) {
        vendor->calls.destroy(stream->stream);
        free(stream);
        return;
    }
    pthread_mutex_lock(&vendor->lock);
    stream->next = context->idle;
    context->idle = stream;
    pthread_mutex_unlock(&vendor->lock);
}

/* ---- pinned memory ---- */

/*
 * Enters the primary context of the device, with a reference to it. Returns false if the application does not use the
 * primary context, because making it would take hundreds of MiB of the device's memory.
 */
static bool enter_device(const struct vendor *vendor, int device, struct context *own, struct before *before) {
    const struct calls *calls = &vendor->calls;
    unsigned flags;
    int active;
    *own = (struct context) { .vendor = (struct vendor *) vendor, .device = device };
    if (atomic_load(&ended)) {
        return false;
    }
    if (calls->retain != NULL && (calls->retain_state(device, &flags, &active) != 0 || active == 0
                                  || calls->retain(&own->context, device) != 0)) {
        return false;
    }
    bool entered = enter(own, before);
    if (!entered && calls->unretain != NULL) {
        calls->unretain(device);
    }
    return entered;
}

static void leave_device(const struct context *own, struct before *before, int references) {
    leave(own, before);
    for (; references > 0 && own->vendor->calls.unretain != NULL; references--) {
        own->vendor->calls.unretain(own->device);
    }
}

/* Pins memory. The reference to the context stays until the memory is unpinned. */
static bool pin(const struct pinning *driver, int device, void *memory, size_t size, bool writable) {
    const struct vendor *vendor = container_of(driver, struct vendor, pinning);
    unsigned flags = writable ? REGISTER_PORTABLE : REGISTER_PORTABLE | REGISTER_READ_ONLY;
    struct context own;
    struct before before;
    if (!enter_device(vendor, device, &own, &before)) {
        return false;
    }
    bool pinned = vendor->calls.register_memory(memory, size, flags) == 0;
    leave_device(&own, &before, pinned ? 0 : 1);
    return pinned;
}

static void unpin(const struct pinning *driver, int device, void *memory) {
    const struct vendor *vendor = container_of(driver, struct vendor, pinning);
    struct context own;
    struct before before;
    if (enter_device(vendor, device, &own, &before)) {
        vendor->calls.unregister_memory(memory);
        leave_device(&own, &before, 2);
    }
}

/* ---- the client ---- */

/* Returns whether the allocation still exists. The query needs no context, which may be gone with the allocation. */
static bool is_there(const struct range *range) {
    const struct calls *calls = &range->context->vendor->calls;
    unsigned long long id;
    return !atomic_load(&ended) && (range->buffer_id == 0
            || (calls->attribute(&id, POINTER_BUFFER_ID, range->address) == 0 && id == range->buffer_id));
}

/*
 * Checks that allocations of one device cover the range without gaps (cuMemMap puts them side by side). Sets the number
 * of the allocation if there is only one. Called inside the context.
 */
static int check_range(struct range *range, size_t length) {
    const struct calls *calls = &range->context->vendor->calls;
    uint64_t at = range->address, end = at + length;
    unsigned allocations = 0;
    for (; at < end; allocations++) {
        uint64_t start;
        size_t size;
        int device, type;
        if (end < at || calls->attribute(&type, POINTER_MEMORY_TYPE, at) != 0 || type != MEMORY_TYPE_DEVICE
                || calls->attribute(&device, POINTER_DEVICE_ORDINAL, at) != 0 || device != range->context->device
                || calls->range(&start, &size, at) != 0 || start > at || start + size <= at) {
            return EFAULT;
        }
        at = start + size;
        range->start = start;
        range->size = size;
    }
    if (allocations > 1 || calls->attribute(&range->buffer_id, POINTER_BUFFER_ID, range->address) != 0) {
        range->buffer_id = 0;
    }
    return 0;
}

static int acquire(void *context, uint64_t address, size_t length, int access, struct rdma_peer_memory *acquired,
                   void **memory) {
    struct vendor *vendor = context;
    const unsigned synchronous = 1;
    struct before before;
    int type, error;
    (void) access;
    (void) acquired;
    if (atomic_load(&ended) || !is_loaded(vendor)
            || vendor->calls.attribute(&type, POINTER_MEMORY_TYPE, address) != 0 || type != MEMORY_TYPE_DEVICE) {
        return RDMA_PEER_MEMORY_NOT_MINE;
    }
    struct range *range = calloc(1, sizeof(*range));
    if (range == NULL || (range->context = take_context(vendor, address, &error)) == NULL) {
        error = range == NULL ? ENOMEM : error;
        free(range);
        return error;
    }
    range->address = address;
    bool entered = enter(range->context, &before);
    error = entered ? check_range(range, length) : EIO;
    if (entered) {
        leave(range->context, &before);
    }
    if (error != 0) {
        put_context(range->context, entered);
        free(range);
        return error;
    }
    /* Makes the application's copies wait until they are done. Mapped memory does not have the attribute. */
    vendor->calls.set_attribute(&synchronous, POINTER_SYNC_MEMOPS, address);
    *memory = range;
    return 0;
}

/*
 * The vendors' dma-bufs can be passed to drivers only. A process can neither map one nor find its owner. So the client
 * uses the address that the application gives for work requests, if that is an address of its memory.
 */
static int acquire_dmabuf(void *context, int fd, uint64_t offset, size_t length, uint64_t iova, int access,
                          struct rdma_peer_memory *acquired, void **memory) {
    off_t size = lseek(fd, 0, SEEK_END);
    if (size < 0 || offset > (uint64_t) size || length > (uint64_t) size - offset) {
        return RDMA_PEER_MEMORY_NOT_MINE;
    }
    return acquire(context, iova, length, access, acquired, memory);
}

/* Copy on a stream: to a device if `to` is NULL, from one if `from` is NULL, and from device to device if both are. */
struct queued {
    uint64_t address, other;
    const void *from;
    void *to;
    size_t length;
};

/*
 * Waits for a copy that was queued with this result. The device may need the host memory until the stream is
 * synchronized, even if queuing has failed. Called inside the context.
 */
static bool finish(struct stream *stream, int queued) {
    bool done = stream->context->vendor->calls.synchronize(stream->stream) == 0 && queued == 0;
    put_stream(stream->context, stream, done);
    return done;
}

/* Called inside the context. Returns NULL if the copy has failed and does not run. */
static struct stream *queue(struct context *context, const struct queued *copy) {
    const struct calls *calls = &context->vendor->calls;
    const void *host = copy->to == NULL ? copy->from : copy->to;
    if (host != NULL && copy->length >= PINNED_FROM) {
        pinned_ask(host, &context->vendor->pinning, context->device);
    }
    struct stream *stream = take_stream(context);
    if (stream == NULL) {
        return NULL;
    }
    stream->context = context;
    int error = copy->from != NULL ? calls->copy_in(copy->address, copy->from, copy->length, stream->stream)
            : copy->to != NULL ? calls->copy_out(copy->to, copy->address, copy->length, stream->stream)
            : calls->copy_between(copy->address, copy->other, copy->length, stream->stream);
    if (error != 0) {
        finish(stream, error);
        return NULL;
    }
    return stream;
}

/* Copies. If `begun` is not NULL, only begins the copy. */
static int copy(const struct range *range, const struct queued *copy, void **begun) {
    struct before before;
    if (!is_there(range)) {
        return EFAULT;
    }
    if (!enter(range->context, &before)) {
        return EIO;
    }
    struct stream *stream = queue(range->context, copy);
    bool done = stream != NULL;
    if (done && begun != NULL) {
        *begun = stream;
    } else if (done) {
        done = finish(stream, 0);
    }
    leave(range->context, &before);
    return done ? 0 : EIO;
}

static int copy_in(void *memory, uint64_t offset, const void *from, size_t length) {
    const struct range *range = memory;
    return copy(range, &(struct queued) { range->address + offset, 0, from, NULL, length }, NULL);
}

static int copy_out(void *memory, uint64_t offset, void *to, size_t length) {
    const struct range *range = memory;
    return copy(range, &(struct queued) { range->address + offset, 0, NULL, to, length }, NULL);
}

static int begin_copy(void *memory, uint64_t offset, const void *from, void *to, size_t length, void **begun) {
    const struct range *range = memory;
    return copy(range, &(struct queued) { range->address + offset, 0, from, to, length }, begun);
}

/* Ends a copy. If the context cannot be entered any more, the stream stays with it, as nothing can be destroyed. */
static int end_copy(void *begun) {
    struct stream *stream = begun;
    struct context *context = stream->context;
    struct before before;
    if (enter(context, &before)) {
        bool done = finish(stream, 0);
        leave(context, &before);
        return done ? 0 : EIO;
    }
    context->vendor->calls.synchronize(stream->stream);
    put_stream(context, stream, true);
    return EIO;
}

/* ---- other processes ---- */

static int export_memory(void *memory, struct rdma_peer_memory_export *exported) {
    struct range *range = memory;
    struct vendor *vendor = range->context->vendor;
    struct before before;
    if (!is_there(range)) {
        return EFAULT;
    }
    if (range->buffer_id == 0 || vendor->calls.get_handle == NULL) {
        return ENOTSUP;
    }
    *exported = (struct rdma_peer_memory_export) {
        .allocation = range->buffer_id, .length = range->size, .offset = range->address - range->start,
    };
    pthread_mutex_lock(&vendor->lock);
    bool asks = range->handle_state == NOT_ASKED;
    bool known = range->handle_state == KNOWN;
    struct handle handle = range->handle;
    pthread_mutex_unlock(&vendor->lock);
    if (asks && enter(range->context, &before)) {
        known = vendor->calls.get_handle(&handle, range->start) == 0;
        leave(range->context, &before);
        pthread_mutex_lock(&vendor->lock);
        range->handle = handle;
        range->handle_state = known ? KNOWN : NONE;
        pthread_mutex_unlock(&vendor->lock);
    }
    memcpy(exported->handle, &handle, sizeof(handle));
    return known ? 0 : ENOTSUP;
}

/* Returns a context of the application, with one more user; NULL if none has memory that was acquired. */
static struct context *any_context(struct vendor *vendor) {
    pthread_mutex_lock(&vendor->lock);
    struct context *found = vendor->contexts;
    while (found != NULL && found->users == 0) {
        found = found->next;
    }
    if (found != NULL) {
        found->users++;
    }
    pthread_mutex_unlock(&vendor->lock);
    return found;
}

/* Opens an allocation. The driver tells its length, not the other process. Called inside the context. */
static int open_range(struct range *range, const struct rdma_peer_memory_export *exported) {
    const struct calls *calls = &range->context->vendor->calls;
    struct handle handle;
    uint64_t start;
    size_t size;
    memcpy(&handle, exported->handle, sizeof(handle));
    if (calls->open_handle(&range->address, handle, OPEN_WITH_PEER_ACCESS) != 0) {
        return EACCES;
    }
    if (calls->range(&start, &size, range->address) != 0 || range->address < start
            || range->address - start > size || exported->length > size - (range->address - start)) {
        calls->close_handle(range->address);
        return EINVAL;
    }
    return 0;
}

static int import_memory(void *context, const struct rdma_peer_memory_export *exported, void **memory) {
    struct vendor *vendor = context;
    struct before before;
    if (atomic_load(&ended) || !is_loaded(vendor) || vendor->calls.open_handle == NULL
            || vendor->calls.close_handle == NULL || vendor->calls.copy_between == NULL) {
        return ENOTSUP;
    }
    struct range *range = calloc(1, sizeof(*range));
    if (range == NULL || (range->context = any_context(vendor)) == NULL) {
        int error = range == NULL ? ENOMEM : ENODEV;
        free(range);
        return error;
    }
    range->opened = true;
    bool entered = enter(range->context, &before);
    int error = entered ? open_range(range, exported) : EIO;
    if (entered) {
        leave(range->context, &before);
    }
    if (error != 0) {
        put_context(range->context, entered);
        free(range);
        return error;
    }
    *memory = range;
    return 0;
}

/* Memory is opened in one context. Copies to another context go through host memory: there may be no other way. */
static int copy_from(void *memory, uint64_t offset, void *imported, uint64_t from, size_t length) {
    const struct range *range = memory, *other = imported;
    if (range->context != other->context) {
        return ENOTSUP;
    }
    int error = copy(range, &(struct queued) { .address = range->address + offset, .other = other->address + from,
                                               .length = length }, NULL);
    return error == 0 ? 0 : is_there(range) ? EIO : EFAULT;
}

/* ---- */

static void release(void *memory) {
    struct range *range = memory;
    struct before before;
    if (range->opened) {
        bool entered = !atomic_load(&ended) && enter(range->context, &before);
        if (entered) {
            range->context->vendor->calls.close_handle(range->address);
            leave(range->context, &before);
        }
        put_context(range->context, entered);
        free(range);
        return;
    }
    put_context(range->context, is_there(range));
    free(range);
}

#define CLIENT(title, vendor)                                                                                         \
    {                                                                                                                 \
        .version = RDMA_PEER_MEMORY_VERSION, .name = title, .context = &(vendor), .acquire = acquire,                 \
        .acquire_dmabuf = acquire_dmabuf, .copy_in = copy_in, .copy_out = copy_out, .release = release,               \
        .begin_copy = begin_copy, .end_copy = end_copy, .export_memory = export_memory,                              \
        .import_memory = import_memory, .copy_from = copy_from,                                                       \
    }

const struct rdma_peer_memory_client gpu_clients[GPU_CLIENTS] = { CLIENT("CUDA", cuda), CLIENT("HIP", hip) };

bool gpu_client_is_ready(const struct rdma_peer_memory_client *client) {
    bool own = client == &gpu_clients[0] || client == &gpu_clients[1];
    return !own || is_loaded(client->context);
}

/* ---- fork ---- */

/* Forgets the parent's state. The libraries do not serve the child of a process that used them: their calls fail. */
static void forget(struct vendor *vendor) {
    pthread_mutex_init(&vendor->lock, NULL);
    vendor->contexts = NULL;
}

static void fork_child(void) {
    forget(&cuda);
    forget(&hip);
}

void gpu_client_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
