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
/* Clients of peer memory, and what they have acquired: see peer_memory.h. */
#include "peer_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/base/cancel.h"
#include "embedded/base/copy.h"
#include "embedded/base/epoch.h"
#include "embedded/base/fork.h"
#include "embedded/embedded.h"
#include "embedded/rdma_peer_memory.h"
#include "gpu_client.h"

#define EXPORT __attribute__((visibility("default")))

/* Registered client. All fields are guarded by the lock. */
struct client {
    const struct rdma_peer_memory_client *table;
    unsigned calls; /* number of calls of acquire and release that run: the client stays meanwhile */
    bool leaving;   /* the client is not asked any more */
    struct rdma_peer_memory *memories;
    struct client *next;
};

/* Memory that is asked for. */
struct wanted {
    int fd; /* -1: `start` is an address, else an offset */
    uint64_t start, iova;
    size_t length;
    int access;

    /* Memory of another process. NULL: the memory is of this process, and described by the fields above. */
    const char *client;
    const struct rdma_peer_memory_export *exported;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* not held during calls of clients */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* calls have ended, or memory has been released */
static struct client gpus[GPU_CLIENTS]; /* the provider's own clients, which are always the first ones */
static struct client *clients;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER; /* taken before `lock` */
static bool loaded; /* guarded by `loading` */

static void (*recall)(struct rdma_peer_memory *memory);

/* ---- the library that the environment names ---- */

static int start_library(void *library) {
    int (*start)(const struct rdma_peer_memory_functions *functions);
    static const struct rdma_peer_memory_functions functions = {
        rdma_peer_memory_register_client, rdma_peer_memory_unregister_client, rdma_peer_memory_invalidate,
    };
    *(void **) &start = library == NULL ? NULL : dlsym(library, "rdma_peer_memory_start");
    return start == NULL ? ENOEXEC : start(&functions);
}

/*
 * Loads the library once. Prints why that fails, as device.c does for the rest of the environment, because errno cannot
 * tell it. The memory that is being registered may belong to another client.
 */
static void load(void) {
    pthread_mutex_lock(&loading);
    const char *name = loaded ? NULL : secure_getenv("RDMA_EMBEDDED_PEER_MEMORY");
    loaded = true;
    if (name != NULL && name[0] != 0) {
        void *library = dlopen(name, RTLD_NOW);
        int error = start_library(library);
        if (error != 0) {
            const char *why = error == ENOEXEC ? dlerror() : strerror(error);
            fprintf(stderr, "rdma_embedded: RDMA_EMBEDDED_PEER_MEMORY=%s: %s\n", name, why != NULL ? why : "");
        }
    }
    pthread_mutex_unlock(&loading);
}

/* ---- memory ---- */

static void enlist(struct client *client, struct rdma_peer_memory *memory) {
    memory->client = client;
    memory->next = client->memories;
    memory->previous = &client->memories;
    if (memory->next != NULL) {
        memory->next->previous = &memory->next;
    }
    client->memories = memory;
}

static void unlist(struct rdma_peer_memory *memory) {
    memory->client = NULL;
    *memory->previous = memory->next;
    if (memory->next != NULL) {
        memory->next->previous = memory->previous;
    }
}

static void end_call(struct client *client) {
    if (--client->calls == 0) {
        pthread_cond_broadcast(&changed);
    }
}

static int call_acquire(const struct rdma_peer_memory_client *table, const struct wanted *wanted,
                        struct rdma_peer_memory *acquired) {
    if (wanted->client != NULL) {
        return table->import_memory == NULL || strcmp(table->name, wanted->client) != 0 ? RDMA_PEER_MEMORY_NOT_MINE
                : table->import_memory(table->context, wanted->exported, &acquired->memory);
    }
    if (wanted->fd < 0) {
        return table->acquire(table->context, wanted->start, wanted->length, wanted->access, acquired,
                              &acquired->memory);
    }
    return table->acquire_dmabuf == NULL ? RDMA_PEER_MEMORY_NOT_MINE
            : table->acquire_dmabuf(table->context, wanted->fd, wanted->start, wanted->length, wanted->iova,
                                    wanted->access, acquired, &acquired->memory);
}

/* Asks the clients in turn. Called with `lock` held. Returns 0, RDMA_PEER_MEMORY_NOT_MINE, or the owner's error. */
static int ask(const struct wanted *wanted, struct rdma_peer_memory *acquired) {
    int answer = RDMA_PEER_MEMORY_NOT_MINE;
    for (struct client *client = clients; client != NULL && answer < 0;) {
        struct client *asked = client;
        if (!asked->leaving) {
            asked->calls++;
            pthread_mutex_unlock(&lock);
            acquired->table = asked->table;
            answer = call_acquire(asked->table, wanted, acquired);
            pthread_mutex_lock(&lock);
            if (answer == 0) {
                enlist(asked, acquired);
            }
            end_call(asked);
        }
        client = answer < 0 ? asked->next : NULL;
    }
    return answer;
}

/* Acquires memory. `otherwise` is the error if no client has the memory. */
static int acquire(const struct wanted *wanted, struct rdma_peer_memory **acquired, int otherwise) {
    load();
    struct rdma_peer_memory *memory = calloc(1, sizeof(*memory));
    if (memory == NULL) {
        return ENOMEM;
    }
    memory->generation = fork_generation;
    pthread_mutex_lock(&lock);
    int answer = ask(wanted, memory);
    pthread_mutex_unlock(&lock);
    if (answer == 0) {
        *acquired = memory;
        return 0;
    }
    free(memory);
    return answer < 0 ? otherwise : answer;
}

int peer_memory_acquire(uint64_t address, size_t length, int access, struct rdma_peer_memory **acquired) {
    return acquire(&(struct wanted) { -1, address, address, length, access, NULL, NULL }, acquired, EFAULT);
}

int peer_memory_acquire_dmabuf(int fd, uint64_t offset, size_t length, uint64_t iova, int access,
                               struct rdma_peer_memory **acquired) {
    return acquire(&(struct wanted) { fd, offset, iova, length, access, NULL, NULL }, acquired, EINVAL);
}

int peer_memory_import(const char *client, const struct rdma_peer_memory_export *exported,
                       struct rdma_peer_memory **imported) {
    return acquire(&(struct wanted) { .fd = -1, .client = client, .exported = exported }, imported, ENODEV);
}

void peer_memory_set_recall(void (*function)(struct rdma_peer_memory *memory)) {
    recall = function;
}

void peer_memory_release(struct rdma_peer_memory *memory) {
    if (memory->generation == fork_generation) { /* a child's copy of its parent's memory belongs to no client */
        recall(memory);
        pthread_mutex_lock(&lock);
        while (memory->client != NULL && memory->client->leaving) {
            pthread_cond_wait(&changed, &lock); /* the client releases all of its memory */
        }
        struct client *client = memory->client;
        if (client != NULL) {
            unlist(memory);
            client->calls++;
            pthread_mutex_unlock(&lock);
            memory->table->release(memory->memory);
            pthread_mutex_lock(&lock);
            end_call(client);
        }
        pthread_mutex_unlock(&lock);
    }
    free(memory);
}

bool peer_memory_write(const struct peer_range *to, const void *from, uint32_t length) {
    UNCANCELLED;
    const struct rdma_peer_memory *memory = to->memory;
    return !atomic_load(&memory->gone) && memory->table->copy_in(memory->memory, to->offset, from, length) == 0;
}

bool peer_memory_read(const struct peer_range *from, void *to, uint32_t length) {
    UNCANCELLED;
    const struct rdma_peer_memory *memory = from->memory;
    return !atomic_load(&memory->gone) && memory->table->copy_out(memory->memory, from->offset, to, length) == 0;
}

bool peer_memory_begin(const struct peer_range *range, const void *from, void *to, uint32_t length,
                       struct peer_copy *copy) {
    UNCANCELLED;
    const struct rdma_peer_memory *memory = range->memory;
    *copy = (struct peer_copy) { .table = memory->table };
    if (memory->table->begin_copy == NULL) {
        copy->table = NULL;
        return to == NULL ? peer_memory_write(range, from, length) : peer_memory_read(range, to, length);
    }
    return !atomic_load(&memory->gone)
            && memory->table->begin_copy(memory->memory, range->offset, from, to, length, &copy->copy) == 0;
}

bool peer_memory_end(const struct peer_copy *copy) {
    UNCANCELLED;
    return copy->table == NULL || copy->table->end_copy(copy->copy) == 0;
}

/* ---- copies from imported memory ---- */

#define STEP (64u << 10)
#define SHORT_STEP 2048u

/* Host memory between two copies. If it cannot be allocated, the steps are short. */
struct step {
    char *memory;
    uint32_t size;
    char on_stack[SHORT_STEP];
};

static void step_begin(struct step *step, uint32_t length) {
    step->size = length < STEP ? length : STEP;
    step->memory = step->size <= SHORT_STEP ? step->on_stack : malloc(step->size);
    if (step->memory == NULL) {
        step->memory = step->on_stack;
        step->size = SHORT_STEP;
    }
}

static void step_end(struct step *step) {
    if (step->memory != step->on_stack) {
        free(step->memory);
    }
}

static enum peer_copied copy_by_host(const struct peer_range *to, void *to_host, const struct peer_range *from,
                                     uint32_t length) {
    struct step step;
    enum peer_copied copied = PEER_COPIED;
    step_begin(&step, length);
    for (uint32_t done = 0, size; done < length && copied == PEER_COPIED; done += size) {
        size = length - done < step.size ? length - done : step.size;
        const struct peer_range source = { from->memory, from->offset + done };
        if (!peer_memory_read(&source, step.memory, size)) {
            copied = PEER_SOURCE_GONE;
        } else if (to == NULL) {
            copied = copy_memory((char *) to_host + done, step.memory, size) ? PEER_COPIED : PEER_TARGET_GONE;
        } else {
            const struct peer_range target = { to->memory, to->offset + done };
            copied = peer_memory_write(&target, step.memory, size) ? PEER_COPIED : PEER_TARGET_GONE;
        }
    }
    step_end(&step);
    return copied;
}

enum peer_copied peer_memory_copy_to_host(void *to, const struct peer_range *from, uint32_t length) {
    return copy_by_host(NULL, to, from, length);
}

enum peer_copied peer_memory_copy(const struct peer_range *to, const struct peer_range *from, uint32_t length) {
    UNCANCELLED;
    const struct rdma_peer_memory *target = to->memory, *source = from->memory;
    int error = target->table != source->table ? ENOTSUP
            : atomic_load(&target->gone) ? EFAULT : atomic_load(&source->gone) ? EIO
            : target->table->copy_from(target->memory, to->offset, source->memory, from->offset, length);
    return error == ENOTSUP ? copy_by_host(to, NULL, from, length)
            : error == 0 ? PEER_COPIED : error == EFAULT ? PEER_TARGET_GONE : PEER_SOURCE_GONE;
}

EXPORT void rdma_peer_memory_invalidate(struct rdma_peer_memory *acquired) {
    UNCANCELLED;
    atomic_store(&acquired->gone, true);
    epoch_wait(); /* copies look at the field inside an epoch section */
    recall(acquired);
}

/* ---- clients ---- */

static bool is_complete(const struct rdma_peer_memory_client *table) {
    return table != NULL && table->version == RDMA_PEER_MEMORY_VERSION && table->name != NULL && table->acquire != NULL
            && table->copy_in != NULL && table->copy_out != NULL && table->release != NULL
            && (table->begin_copy == NULL) == (table->end_copy == NULL)
            && (table->export_memory == NULL) == (table->import_memory == NULL)
            && (table->export_memory == NULL) == (table->copy_from == NULL);
}

/* Returns the link to the client, or to the NULL at the end of the list. Called with `lock` held. */
static struct client **find(const struct rdma_peer_memory_client *table) {
    struct client **link = &clients;
    while (*link != NULL && (*link)->table != table) {
        link = &(*link)->next;
    }
    return link;
}

EXPORT int rdma_peer_memory_register_client(const struct rdma_peer_memory_client *table) {
    UNCANCELLED;
    struct client *client = is_complete(table) ? calloc(1, sizeof(*client)) : NULL;
    if (client == NULL) {
        return is_complete(table) ? ENOMEM : EINVAL;
    }
    client->table = table;
    pthread_mutex_lock(&lock);
    struct client **end = find(table);
    bool known = *end != NULL;
    if (!known) {
        *end = client;
    }
    pthread_mutex_unlock(&lock);
    if (known) {
        free(client);
    }
    return known ? EEXIST : 0;
}

/* Releases all memory of a client that leaves. Called with `lock` held. */
static void release_all(struct client *client) {
    for (struct rdma_peer_memory *memory = client->memories; memory != NULL; memory = memory->next) {
        atomic_store(&memory->gone, true);
    }
    pthread_mutex_unlock(&lock);
    epoch_wait();
    pthread_mutex_lock(&lock);
    while (client->memories != NULL) {
        struct rdma_peer_memory *memory = client->memories;
        pthread_mutex_unlock(&lock);
        recall(memory);
        client->table->release(memory->memory);
        pthread_mutex_lock(&lock);
        unlist(memory);
        pthread_cond_broadcast(&changed);
    }
}

EXPORT int rdma_peer_memory_unregister_client(const struct rdma_peer_memory_client *table) {
    UNCANCELLED;
    pthread_mutex_lock(&lock);
    struct client *client = *find(table);
    if (client == NULL || client->leaving) {
        pthread_mutex_unlock(&lock);
        return ENOENT;
    }
    client->leaving = true;
    while (client->calls > 0) {
        pthread_cond_wait(&changed, &lock);
    }
    release_all(client);
    *find(table) = client->next;
    pthread_mutex_unlock(&lock);
    free(client);
    return 0;
}

void embedded_peer_memory(char *text, size_t size) {
    UNCANCELLED;
    size_t length = 0;
    text[0] = 0;
    load();
    pthread_mutex_lock(&lock);
    for (const struct client *client = clients; client != NULL && length < size; client = client->next) {
        if (!client->leaving && gpu_client_is_ready(client->table)) {
            const char *separator = length == 0 ? "" : ", ";
            length += (size_t) snprintf(text + length, size - length, "%s%s", separator, client->table->name);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void reset_clients(void) {
    clients = NULL;
    for (int i = GPU_CLIENTS - 1; i >= 0; i--) {
        gpus[i] = (struct client) { .table = &gpu_clients[i], .next = clients };
        clients = &gpus[i];
    }
}

/* Forgets the parent's clients, because devices do not know the child. The library is started again on demand. */
static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&changed, NULL);
    pthread_mutex_init(&loading, NULL);
    loaded = false;
    reset_clients();
}

void peer_memory_init(void) {
    gpu_client_init();
    reset_clients();
    pthread_atfork(NULL, NULL, fork_child);
}
