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
/* Mappings that may be pinned: see pinned.h. */
#include "pinned.h"

#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "closer.h"

enum state { PLAIN, ASKED, PINNED, REFUSED };

struct mapping {
    uintptr_t start;
    size_t size;
    bool writable;

    /* Fields guarded by the lock. */
    enum state state;
    bool removed; /* while the driver is asked */

    /* Set once, with the state ASKED. */
    const struct pinning *driver;
    int device;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the lock of closer.h is taken after it */
static void *tree; /* of mappings, which do not overlap, by address; guarded by the lock */

/* Ranges that overlap are equal: a key is a range of one byte. */
static int compare(const void *a, const void *b) {
    const struct mapping *left = a, *right = b;
    if (left->start + left->size <= right->start) {
        return -1;
    }
    return right->start + right->size <= left->start;
}

/* Called with the lock held. */
static struct mapping *find(const void *address) {
    const struct mapping key = { .start = (uintptr_t) address, .size = 1 };
    void *found = tfind(&key, &tree, compare);
    return found == NULL ? NULL : *(struct mapping **) found;
}

void pinned_add(const void *memory, size_t size, bool writable) {
    struct mapping *mapping = malloc(sizeof(*mapping));
    if (mapping == NULL) {
        return;
    }
    *mapping = (struct mapping) { .start = (uintptr_t) memory, .size = size, .writable = writable };
    pthread_mutex_lock(&lock);
    bool added = tsearch(mapping, &tree, compare) != NULL;
    pthread_mutex_unlock(&lock);
    if (!added) {
        free(mapping);
    }
}

static void unmap(struct mapping *mapping) {
    munmap((void *) mapping->start, mapping->size);
    free(mapping);
}

static void unpin(void *argument) {
    struct mapping *mapping = argument;
    mapping->driver->unpin(mapping->driver, mapping->device, (void *) mapping->start);
    unmap(mapping);
}

bool pinned_remove(const void *memory) {
    pthread_mutex_lock(&lock);
    struct mapping *mapping = find(memory);
    enum state state = PLAIN;
    if (mapping != NULL) {
        tdelete(mapping, &tree, compare);
        state = mapping->state;
        mapping->removed = true;
    }
    pthread_mutex_unlock(&lock);
    if (state == PINNED) {
        closer_run(unpin, mapping);
    } else if (state != ASKED) {
        free(mapping);
    }
    return state == PINNED || state == ASKED;
}

static void pin(void *argument) {
    struct mapping *mapping = argument;
    bool pinned = mapping->driver->pin(mapping->driver, mapping->device, (void *) mapping->start, mapping->size,
                                       mapping->writable);
    pthread_mutex_lock(&lock);
    mapping->state = pinned ? PINNED : REFUSED;
    bool removed = mapping->removed;
    pthread_mutex_unlock(&lock);
    if (removed && pinned) {
        unpin(mapping);
    } else if (removed) {
        unmap(mapping);
    }
}

void pinned_ask(const void *address, const struct pinning *driver, int device) {
    pthread_mutex_lock(&lock);
    struct mapping *mapping = find(address);
    bool asks = mapping != NULL && mapping->state == PLAIN;
    if (asks) {
        mapping->state = ASKED;
        mapping->driver = driver;
        mapping->device = device;
    }
    pthread_mutex_unlock(&lock);
    if (asks) {
        closer_run(pin, mapping);
    }
}

static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    tree = NULL; /* shared memory is not mapped in a child: sealed.c */
}

void pinned_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
