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
/* Fake of a graphics processor's library: see fake_gpu.h. FAKE_HIP: HIP's, else CUDA's. */
#include "fake_gpu.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* CUresult, and hipError_t where the numbers are the same. */
enum {
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_CONTEXT = 201, INVALID_HANDLE = 400,
    HOST_MEMORY_NOT_REGISTERED = 713, NOT_SUPPORTED = 801, CAPTURE_UNSUPPORTED = 900,
};

#define DEVICES 2
#define DEPTH 16
#define RELAXED 2
#define REGISTER_READ_ONLY 8u

struct context {
    int device;
    uint64_t id;
    bool destroyed;
    int streams;
    struct context *next;
};

/* Page in front of the bytes of an allocation, in its file. */
struct shared {
    uint64_t key; /* allocation's, as in the handle */
    atomic_int opens; /* number of other processes that have it open */
    atomic_bool freed;
};
#define SHARED_SIZE 4096u

/* Handle of an allocation, of the length that the libraries' have. */
struct handle {
    uint64_t key;
    int pid, file;
    uint64_t size;
    char unused[40];
};
_Static_assert(sizeof(struct handle) == 64, "CU_IPC_HANDLE_SIZE");

struct allocation {
    char *address, *bytes;
    struct shared *shared;
    int file;
    int opened; /* number of times that this process has opened it; 0: it is its own */
    uint64_t key;
    size_t size;
    unsigned long long id;
    struct context *context; /* NULL: mapped memory */
    int device;
    unsigned group; /* number of the call of map(), or 0 */
    struct allocation *next;
};

struct copy {
    uint64_t device;
    uint64_t other; /* source in another allocation, or 0 */
    const void *from;
    void *to;
    size_t length;
    struct copy *next;
};

struct stream {
    struct context *context;
    struct copy *first, **last;
};

struct pinned {
    char *start;
    size_t length;
    struct pinned *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that follows but the variables of threads */
static pid_t process; /* process that has initialized the library, or 0 */
static struct context primary[DEVICES];
static struct allocation *allocations;
static struct pinned *pinned;
static struct fake_gpu_counts counts;
static unsigned long long last_id;
static unsigned groups;
static int calls, fails_at, failure, broken;
static bool captured, pins_refused;

/* State of a thread. LeakSanitizer does not find thread-local variables of a library that was opened late. */
struct thread {
    struct context *stack[DEPTH];
    int depth, mode, device;
};

static pthread_key_t threads;

__attribute__((constructor)) static void make_key(void) {
    pthread_key_create(&threads, free);
}

static struct thread *own(void) {
    struct thread *thread = pthread_getspecific(threads);
    if (thread == NULL && ((thread = calloc(1, sizeof(*thread))) == NULL
                           || pthread_setspecific(threads, thread) != 0)) {
        abort();
    }
    return thread;
}

/* Returns the error of this call, which is counted. Called with the lock held. */
static int begin(void) {
    calls++;
    if (process != getpid()) {
        return NOT_INITIALIZED;
    }
    if (broken != 0) {
        return broken;
    }
    return calls == fails_at ? failure : SUCCESS;
}

/* Does what follows with the lock held, unless the call fails. */
#define CALL(...)                                                                                                     \
    ({                                                                                                                \
        pthread_mutex_lock(&lock);                                                                                    \
        int error = begin();                                                                                          \
        if (error == SUCCESS) {                                                                                       \
            __VA_ARGS__                                                                                               \
        }                                                                                                             \
        pthread_mutex_unlock(&lock);                                                                                  \
        error;                                                                                                        \
    })

static struct context *current(void) {
#ifdef FAKE_HIP
    return &primary[own()->device];
#else
    return own()->depth == 0 ? NULL : own()->stack[own()->depth - 1];
#endif
}

static struct allocation *find(uint64_t address) {
    struct allocation *found = allocations;
    while (found != NULL && (address < (uintptr_t) found->address
                             || address - (uintptr_t) found->address >= found->size)) {
        found = found->next;
    }
    return found;
}

/*
 * Moves bytes unseen by ThreadSanitizer, whose memcpy() this library would call. It does not know either that a message
 * orders the accesses of its two ends.
 */
static void move_bytes(char *to, const char *from, size_t length) {
    for (volatile const char *end = from + length; from != end; to++, from++) {
        *(volatile char *) to = *(volatile const char *) from;
    }
}

/* Copies bytes of allocations that are side by side. Returns false if memory is missing, or in another context. */
static bool move(const struct copy *copy, struct context *context, bool moves) {
    size_t done = 0;
    while (done < copy->length) {
        struct allocation *at = find(copy->device + done);
        struct context *needed = at == NULL ? NULL : at->context != NULL ? at->context : &primary[at->device];
        if (at == NULL || needed != context) {
            return false;
        }
        size_t offset = (size_t) (copy->device + done - (uintptr_t) at->address);
        size_t size = copy->length - done < at->size - offset ? copy->length - done : at->size - offset;
        if (atomic_load(&at->shared->freed)) {
            return false;
        }
        if (copy->other != 0) {
            struct allocation *from = find(copy->other + done);
            if (from == NULL || from->context != context || atomic_load(&from->shared->freed)) {
                return false;
            }
            size_t in = (size_t) (copy->other + done - (uintptr_t) from->address);
            size = size < from->size - in ? size : from->size - in;
            if (moves) {
                move_bytes(at->bytes + offset, from->bytes + in, size);
            }
        } else if (moves && copy->to == NULL) {
            move_bytes(at->bytes + offset, (const char *) copy->from + done, size);
        } else if (moves) {
            move_bytes((char *) copy->to + done, at->bytes + offset, size);
        }
        done += size;
    }
    return true;
}

static bool is_pinned(const void *memory, size_t length) {
    const struct pinned *range = pinned;
    while (range != NULL && ((const char *) memory < range->start
                             || (const char *) memory + length > range->start + range->length)) {
        range = range->next;
    }
    return range != NULL;
}

static int queue(struct stream *stream, const struct copy *wanted) {
    if (stream == NULL || stream->context != current() || stream->context->destroyed) {
        return INVALID_HANDLE;
    }
    if (captured && own()->mode != RELAXED) {
        return CAPTURE_UNSUPPORTED;
    }
    struct copy *copy = malloc(sizeof(*copy));
    if (copy == NULL || !move(wanted, stream->context, false)) {
        free(copy);
        return copy == NULL ? OUT_OF_MEMORY : INVALID_VALUE;
    }
    *copy = *wanted;
    *stream->last = copy;
    stream->last = &copy->next;
    counts.copies++;
    counts.between += copy->other != 0;
    counts.pinned_copies += copy->other == 0 && is_pinned(copy->to != NULL ? copy->to : copy->from, copy->length);
    return SUCCESS;
}

/* Does the copies of a stream, or drops them. */
static int finish(struct stream *stream, bool does) {
    int error = SUCCESS;
    for (struct copy *copy = stream->first, *next; copy != NULL; copy = next) {
        next = copy->next;
        if (does && !move(copy, stream->context, true)) {
            error = FAKE_GPU_ILLEGAL_ADDRESS;
        }
        free(copy);
    }
    stream->first = NULL;
    stream->last = &stream->first;
    return error;
}

/* ---- memory ---- */

static struct allocation *add(char *address, size_t size, struct context *context, int on, unsigned group) {
    struct allocation *added = calloc(1, sizeof(*added));
    int file = memfd_create("fake-gpu", MFD_CLOEXEC);
    bool made = file >= 0 && ftruncate(file, (off_t) (SHARED_SIZE + size)) == 0;
    char *memory = mmap(NULL, SHARED_SIZE + size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (added == NULL || !made || memory == MAP_FAILED) {
        abort();
    }
    *added = (struct allocation) {
        .address = address, .bytes = memory + SHARED_SIZE, .size = size, .id = ++last_id, .context = context,
        .device = on, .group = group, .next = allocations, .shared = (struct shared *) memory, .file = file,
        .key = (uint64_t) getpid() << 32 | (uint32_t) last_id,
    };
    added->shared->key = added->key;
    allocations = added;
    return added;
}

/* The next allocation may have the addresses again. */
static char *reserve(size_t size) {
    char *address = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        abort();
    }
    return address;
}

static void remove_at(struct allocation **link) {
    struct allocation *removed = *link;
    *link = removed->next;
    if (removed->opened == 0) {
        counts.freed_while_open += atomic_load(&removed->shared->opens) != 0;
        atomic_store(&removed->shared->freed, true);
    } else {
        atomic_fetch_sub(&removed->shared->opens, 1);
        counts.opened--;
    }
    close(removed->file);
    munmap(removed->shared, SHARED_SIZE + removed->size);
    munmap(removed->address, removed->size);
    free(removed);
}

/* Removes an allocation, or those of a context. Returns their number. */
static int remove_all(uint64_t address, unsigned group, const struct context *context) {
    int removed = 0;
    for (struct allocation **link = &allocations; *link != NULL;) {
        if ((uintptr_t) (*link)->address == address || (group != 0 && (*link)->group == group)
                || (context != NULL && (*link)->context == context)) {
            remove_at(link);
            removed++;
        } else {
            link = &(*link)->next;
        }
    }
    return removed;
}

static int allocate(uint64_t *memory, size_t size) {
    return CALL({
        struct context *of = current();
        if (of == NULL || size == 0) {
            error = of == NULL ? INVALID_CONTEXT : INVALID_VALUE;
        } else {
            *memory = (uintptr_t) add(reserve(size), size, of, of->device, 0)->address;
        }
    });
}

static int release(uint64_t memory) {
    return CALL({
        const struct allocation *at = find(memory);
        error = at == NULL || at->opened != 0 || remove_all(memory, 0, NULL) != 1 ? INVALID_VALUE : SUCCESS;
    });
}

/* A copy by the application itself. */
static int copy_now(uint64_t memory, const void *from, void *to, size_t length) {
    return CALL({
        struct copy copy = { .device = memory, .from = from, .to = to, .length = length };
        error = move(&copy, current(), true) ? SUCCESS : INVALID_VALUE;
    });
}

static int fill(uint64_t memory, unsigned char value, size_t length) {
    return CALL({
        struct allocation *at = find(memory);
        if (at == NULL || length > at->size - (memory - (uintptr_t) at->address)) {
            error = INVALID_VALUE;
        } else {
            memset(at->bytes + (memory - (uintptr_t) at->address), value, length);
        }
    });
}

static int attribute(void *value, int which, uint64_t address) {
    return CALL({
        struct allocation *at = find(address);
        switch (at == NULL ? -1 : which) {
            case 1:
                *(struct context **) value = at->context;
                break;
            case 2:
                *(unsigned *) value = 2;
                break;
            case 7:
                *(unsigned long long *) value = at->id;
                break;
            case 9:
                *(int *) value = at->device;
                break;
            default:
                error = INVALID_VALUE;
        }
    });
}

static int set_attribute(const void *value, int which, uint64_t address) {
    return CALL({
        const struct allocation *at = find(address);
        error = at == NULL || which != 6 || *(const unsigned *) value != 1 ? INVALID_VALUE
                : at->context == NULL ? NOT_SUPPORTED : SUCCESS;
    });
}

static int range(uint64_t *start, size_t *size, uint64_t address) {
    return CALL({
        const struct allocation *at = find(address);
        if (at == NULL || current() == NULL) {
            error = at == NULL ? INVALID_VALUE : INVALID_CONTEXT;
        } else {
            *start = (uintptr_t) at->address;
            *size = at->size;
        }
    });
}

/* A file stands in for the dma-buf: it has a size, and is no memfd. */
static int export(int *fd, uint64_t address, size_t size, int type, unsigned long long flags) {
    return CALL({
        char name[] = "/tmp/fake-gpu-XXXXXX";
        const struct allocation *at = find(address);
        if (at == NULL || type != 1 || flags != 0 || (*fd = mkstemp(name)) < 0) {
            error = INVALID_VALUE;
        } else if (unlink(name) != 0 || ftruncate(*fd, (off_t) size) != 0) {
            abort();
        } else {
            counts.exports++;
        }
    });
}

/* ---- other processes ---- */

static int get_handle(struct handle *handle, uint64_t address) {
    return CALL({
        const struct allocation *at = find(address);
        if (at == NULL || (uintptr_t) at->address != address || at->context == NULL || at->opened != 0) {
            error = INVALID_VALUE;
        } else {
            *handle = (struct handle) { .key = at->key, .pid = getpid(), .file = at->file, .size = at->size };
        }
    });
}

/* Maps the file of a handle. NULL: it is none of an allocation that is there. */
static struct shared *map_handle(const struct handle *handle, int *file) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", handle->pid, handle->file);
    *file = open(path, O_RDWR | O_CLOEXEC);
    bool fits = *file >= 0 && fstat(*file, &status) == 0 && (uint64_t) status.st_size == SHARED_SIZE + handle->size;
    struct shared *shared = !fits ? MAP_FAILED
            : mmap(NULL, SHARED_SIZE + handle->size, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    if (shared != MAP_FAILED && (shared->key != handle->key || atomic_load(&shared->freed))) {
        munmap(shared, SHARED_SIZE + handle->size);
        shared = MAP_FAILED;
    }
    if (shared == MAP_FAILED && *file >= 0) {
        close(*file);
    }
    return shared == MAP_FAILED ? NULL : shared;
}

static int open_handle(uint64_t *opened, struct handle handle, unsigned flags) {
    return CALL({
        struct allocation *at = allocations;
        while (at != NULL && (at->key != handle.key || at->context != current())) {
            at = at->next;
        }
        int file;
        struct shared *shared = at != NULL || handle.pid == getpid() || current() == NULL || flags != 1 ? NULL
                : map_handle(&handle, &file);
        if (at != NULL && at->opened != 0) {
            at->opened++;
        } else if (shared == NULL || (at = calloc(1, sizeof(*at))) == NULL) {
            error = INVALID_VALUE;
        } else {
            *at = (struct allocation) {
                .address = reserve(handle.size), .bytes = (char *) shared + SHARED_SIZE, .size = handle.size,
                .id = ++last_id, .context = current(), .device = current()->device, .next = allocations,
                .shared = shared, .file = file, .opened = 1, .key = handle.key,
            };
            allocations = at;
            atomic_fetch_add(&shared->opens, 1);
            counts.opened++;
        }
        *opened = error == SUCCESS ? (uintptr_t) at->address : 0;
    });
}

/* Closes also if the call fails, as destroy(). */
static int close_handle(uint64_t opened) {
    pthread_mutex_lock(&lock);
    int error = begin();
    struct allocation *at = find(opened);
    if (at == NULL || at->opened == 0 || (uintptr_t) at->address != opened) {
        error = INVALID_VALUE;
    } else if (at->opened > 1) {
        at->opened--;
    } else {
        remove_all(opened, 0, NULL);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- streams ---- */

static int create(void **created, unsigned flags) {
    return CALL({
        struct stream *stream = malloc(sizeof(*stream));
        struct context *of = current();
        if (stream == NULL || of == NULL || flags != 1) {
            free(stream);
            error = INVALID_CONTEXT;
        } else {
            *stream = (struct stream) { .context = of, .last = &stream->first };
            *created = stream;
            of->streams++;
            counts.streams++;
            counts.created++;
        }
    });
}

static int synchronize(void *waited) {
    return CALL({
        struct stream *stream = waited;
        error = stream->context != current() ? INVALID_HANDLE : finish(stream, true);
    });
}

/* Ends the stream also if the call fails, so that the tests' own checks of leaks find none. */
static int destroy(void *destroyed) {
    struct stream *stream = destroyed;
    pthread_mutex_lock(&lock);
    int error = begin();
    finish(stream, false);
    stream->context->streams--;
    counts.streams -= !stream->context->destroyed;
    free(stream);
    pthread_mutex_unlock(&lock);
    return error;
}

static int copy_in(uint64_t to, const void *from, size_t length, void *stream) {
    return CALL({
        struct copy copy = { .device = to, .from = from, .length = length };
        error = queue(stream, &copy);
    });
}

static int copy_out(void *to, uint64_t from, size_t length, void *stream) {
    return CALL({
        struct copy copy = { .device = from, .to = to, .length = length };
        error = queue(stream, &copy);
    });
}

static int copy_between(uint64_t to, uint64_t from, size_t length, void *stream) {
    return CALL({
        struct copy copy = { .device = to, .other = from, .length = length };
        error = queue(stream, &copy);
    });
}

/* Cannot fail, as a thread would otherwise be left in the wrong mode: this is the fake's own state. */
static int exchange_mode(int *exchanged) {
    struct thread *thread = own();
    int before = thread->mode;
    pthread_mutex_lock(&lock);
    int error = begin();
    if (error == SUCCESS || *exchanged != RELAXED) {
        thread->mode = *exchanged;
        *exchanged = before;
        counts.relaxed += (thread->mode == RELAXED) - (before == RELAXED);
        error = SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- pinned memory ---- */

static int pin(void *memory, size_t length, unsigned flags) {
    return CALL({
        bool writable = madvise(memory, length, MADV_POPULATE_WRITE) == 0;
        struct pinned *range = malloc(sizeof(*range));
        if (range == NULL || pins_refused || current() == NULL || msync(memory, length, MS_ASYNC) != 0
                || writable == ((flags & REGISTER_READ_ONLY) != 0)) {
            free(range);
            error = INVALID_VALUE;
        } else {
            *range = (struct pinned) { memory, length, pinned };
            pinned = range;
            counts.pinned++;
        }
    });
}

/* Ends the process if the memory is not mapped any more: then a processor would use pages that are nobody's. */
static int unpin(void *memory) {
    return CALL({
        struct pinned **link = &pinned;
        while (*link != NULL && (*link)->start != memory) {
            link = &(*link)->next;
        }
        struct pinned *range = *link;
        if (range == NULL) {
            error = HOST_MEMORY_NOT_REGISTERED;
        } else if (msync(range->start, range->length, MS_ASYNC) != 0) {
            abort();
        } else {
            *link = range->next;
            counts.pinned--;
            free(range);
        }
    });
}

/* ---- control ---- */

static void control_fail(int call, int error) {
    pthread_mutex_lock(&lock);
    calls = 0;
    fails_at = call;
    failure = error;
    pthread_mutex_unlock(&lock);
}

static int control_calls(void) {
    pthread_mutex_lock(&lock);
    int made = calls;
    pthread_mutex_unlock(&lock);
    return made;
}

static void control_break(int error) {
    pthread_mutex_lock(&lock);
    broken = error;
    pthread_mutex_unlock(&lock);
}

static void control_refuse_pins(bool refused) {
    pthread_mutex_lock(&lock);
    pins_refused = refused;
    pthread_mutex_unlock(&lock);
}

static void control_capture(bool captures) {
    pthread_mutex_lock(&lock);
    captured = captures;
    pthread_mutex_unlock(&lock);
}

static struct fake_gpu_counts control_counts(void) {
    pthread_mutex_lock(&lock);
    struct fake_gpu_counts now = counts;
    pthread_mutex_unlock(&lock);
    return now;
}

static uint64_t control_map(size_t part, unsigned parts) {
    char *address = reserve(part * parts);
    pthread_mutex_lock(&lock);
    groups++;
    for (unsigned i = 0; i < parts; i++) {
        add(address + i * part, part, NULL, 0, groups);
    }
    pthread_mutex_unlock(&lock);
    return (uintptr_t) address;
}

static void control_unmap(uint64_t address) {
    pthread_mutex_lock(&lock);
    const struct allocation *at = find(address);
    if (at == NULL || remove_all(address, at->group, NULL) == 0) {
        abort();
    }
    pthread_mutex_unlock(&lock);
}

static char *control_bytes(uint64_t address) {
    pthread_mutex_lock(&lock);
    struct allocation *at = find(address);
    char *bytes = at == NULL ? NULL : at->bytes + (address - (uintptr_t) at->address);
    pthread_mutex_unlock(&lock);
    return bytes;
}

EXPORT const struct fake_gpu fake_gpu = {
    .fail = control_fail, .calls = control_calls, .break_down = control_break,
    .refuse_pins = control_refuse_pins, .capture = control_capture,
    .counts = control_counts, .map = control_map, .unmap = control_unmap, .bytes = control_bytes,
};

static int initialize(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < DEVICES; i++) {
        primary[i] = (struct context) { .device = i, .id = (uint64_t) i + 1 };
    }
    if (process != 0 && process != getpid()) { /* what a forked child's parent has pinned is not the child's */
        pinned = NULL;
        counts.pinned = 0;
    }
    process = getpid();
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

/* ---- the functions of the library ---- */

#define FUNCTION(name, ...) EXPORT int name(__VA_ARGS__); EXPORT int name(__VA_ARGS__)

#ifndef FAKE_HIP

static uint64_t last_context = DEVICES;
static struct context *contexts;
static bool primary_is_active;

FUNCTION(cuInit, unsigned flags) {
    return flags != 0 ? INVALID_VALUE : initialize();
}

FUNCTION(cuDeviceGetCount, int *count) {
    return CALL({ *count = DEVICES; });
}

FUNCTION(cuDeviceGetName, char *name, int length, int of) {
    return CALL({
        if (of < 0 || of >= DEVICES || length < 5) {
            error = INVALID_VALUE;
        } else {
            memcpy(name, "fake", 5);
        }
    });
}

FUNCTION(cuDeviceGetAttribute, int *value, int which, int of) {
    (void) of;
    return CALL({ *value = which == 124; });
}

FUNCTION(cuCtxCreate_v2, void **created, unsigned flags, int of) {
    return CALL({
        struct context *context = calloc(1, sizeof(*context));
        if (context == NULL || flags != 0 || of < 0 || of >= DEVICES || own()->depth == DEPTH) {
            abort();
        }
        *context = (struct context) { .device = of, .id = ++last_context, .next = contexts };
        contexts = context;
        own()->stack[own()->depth++] = context;
        *created = context;
    });
}

/* The memory and the streams of the context go with it. The fake still knows the context, and tells a use of it. */
FUNCTION(cuCtxDestroy_v2, struct context *context) {
    return CALL({
        context->destroyed = true;
        counts.streams -= context->streams;
        remove_all(0, 0, context);
        own()->depth -= current() == context;
    });
}

FUNCTION(cuCtxSetCurrent, struct context *context) {
    return CALL({
        own()->depth = context != NULL;
        own()->stack[0] = context;
    });
}

FUNCTION(cuCtxGetCurrent, struct context **context) {
    return CALL({ *context = current(); });
}

FUNCTION(cuCtxGetId, const struct context *context, unsigned long long *id) {
    return CALL({ *id = context->id; });
}

FUNCTION(cuCtxPushCurrent_v2, struct context *context) {
    return CALL({
        if (context == NULL || context->destroyed || own()->depth == DEPTH) {
            error = INVALID_CONTEXT;
        } else {
            own()->stack[own()->depth++] = context;
            counts.entered++;
        }
    });
}

/* Cannot fail, for the same reason as exchange_mode(). */
FUNCTION(cuCtxPopCurrent_v2, struct context **context) {
    pthread_mutex_lock(&lock);
    begin();
    bool any = own()->depth > 0;
    if (any) {
        *context = own()->stack[--own()->depth];
        counts.entered--;
    }
    pthread_mutex_unlock(&lock);
    return any ? SUCCESS : INVALID_CONTEXT;
}

FUNCTION(cuDevicePrimaryCtxRetain, struct context **context, int of) {
    return CALL({
        if (of < 0 || of >= DEVICES) {
            error = INVALID_VALUE;
        } else {
            *context = &primary[of];
            primary_is_active = true;
            counts.retained++;
        }
    });
}

FUNCTION(cuDevicePrimaryCtxRelease_v2, int of) {
    (void) of;
    pthread_mutex_lock(&lock);
    int error = begin();
    counts.retained--;
    pthread_mutex_unlock(&lock);
    return error;
}

FUNCTION(cuDevicePrimaryCtxGetState, int of, unsigned *flags, int *active) {
    *flags = 0;
    return CALL({ *active = of == 0 && primary_is_active; });
}

FUNCTION(cuMemAlloc_v2, uint64_t *memory, size_t size) {
    return allocate(memory, size);
}

FUNCTION(cuMemFree_v2, uint64_t memory) {
    return release(memory);
}

FUNCTION(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t length) {
    return copy_now(to, from, NULL, length);
}

FUNCTION(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t length) {
    return copy_now(from, NULL, to, length);
}

FUNCTION(cuMemsetD8_v2, uint64_t memory, unsigned char value, size_t length) {
    return fill(memory, value, length);
}

FUNCTION(cuMemGetHandleForAddressRange, void *handle, uint64_t address, size_t size, int type,
         unsigned long long flags) {
    return export(handle, address, size, type, flags);
}

#define NAME(cuda, hip) cuda

#else

FUNCTION(hipGetDeviceCount, int *count) {
    int error = initialize();
    *count = DEVICES;
    return error;
}

FUNCTION(hipMalloc, void **memory, size_t size) {
    return allocate((uint64_t *) memory, size);
}

FUNCTION(hipFree, void *memory) {
    return release((uintptr_t) memory);
}

FUNCTION(hipMemcpy, void *to, const void *from, size_t length, int kind) {
    return kind == 1 ? copy_now((uintptr_t) to, from, NULL, length) : copy_now((uintptr_t) from, NULL, to, length);
}

FUNCTION(hipMemset, void *memory, int value, size_t length) {
    return fill((uintptr_t) memory, (unsigned char) value, length);
}

FUNCTION(hipGetDevice, int *of) {
    return CALL({ *of = own()->device; });
}

/* Cannot fail to set back. */
FUNCTION(hipSetDevice, int of) {
    pthread_mutex_lock(&lock);
    int error = begin();
    if (error == SUCCESS || of == 0) {
        counts.entered += (of != 0) - (own()->device != 0);
        own()->device = of;
        error = SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

FUNCTION(hsa_amd_portable_export_dmabuf, const void *memory, size_t size, int *fd, uint64_t *offset) {
    *offset = 0;
    return export(fd, (uintptr_t) memory, size, 1, 0);
}

#define NAME(cuda, hip) hip

#endif

FUNCTION(NAME(cuPointerGetAttribute, hipPointerGetAttribute), void *value, int which, uint64_t address) {
    return attribute(value, which, address);
}

FUNCTION(NAME(cuPointerSetAttribute, hipPointerSetAttribute), const void *value, int which, uint64_t address) {
    return set_attribute(value, which, address);
}

FUNCTION(NAME(cuMemGetAddressRange_v2, hipMemGetAddressRange), uint64_t *start, size_t *size, uint64_t address) {
    return range(start, size, address);
}

FUNCTION(NAME(cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync), uint64_t to, const void *from, size_t length, void *stream) {
    return copy_in(to, from, length, stream);
}

FUNCTION(NAME(cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync), void *to, uint64_t from, size_t length, void *stream) {
    return copy_out(to, from, length, stream);
}

FUNCTION(NAME(cuStreamCreate, hipStreamCreateWithFlags), void **stream, unsigned flags) {
    return create(stream, flags);
}

FUNCTION(NAME(cuStreamSynchronize, hipStreamSynchronize), void *stream) {
    return synchronize(stream);
}

FUNCTION(NAME(cuStreamDestroy_v2, hipStreamDestroy), void *stream) {
    return destroy(stream);
}

FUNCTION(NAME(cuThreadExchangeStreamCaptureMode, hipThreadExchangeStreamCaptureMode), int *exchanged) {
    return exchange_mode(exchanged);
}

FUNCTION(NAME(cuMemHostRegister_v2, hipHostRegister), void *memory, size_t length, unsigned flags) {
    return pin(memory, length, flags);
}

FUNCTION(NAME(cuMemHostUnregister, hipHostUnregister), void *memory) {
    return unpin(memory);
}

FUNCTION(NAME(cuIpcGetMemHandle, hipIpcGetMemHandle), struct handle *handle, uint64_t address) {
    return get_handle(handle, address);
}

FUNCTION(NAME(cuIpcOpenMemHandle_v2, hipIpcOpenMemHandle), uint64_t *opened, struct handle handle, unsigned flags) {
    return open_handle(opened, handle, flags);
}

FUNCTION(NAME(cuIpcCloseMemHandle, hipIpcCloseMemHandle), uint64_t opened) {
    return close_handle(opened);
}

FUNCTION(NAME(cuMemcpyDtoDAsync_v2, hipMemcpyDtoDAsync), uint64_t to, uint64_t from, size_t length, void *stream) {
    return copy_between(to, from, length, stream);
}
