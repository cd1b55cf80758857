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
 * Read sections: see epoch.h. All four accesses that decide are sequentially consistent, as no fence is visible to
 * ThreadSanitizer.
 */
#include "epoch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "backoff.h"

/*
 * Reader state of a thread that ever entered; reused after the thread's end, never freed, so that writers can walk
 * without a lock.
 */
struct reader {
    _Alignas(64) _Atomic unsigned long epoch; /* 0 outside a section */
    unsigned depth;
    atomic_bool taken;
    struct reader *next;
};

static _Atomic unsigned long now = 1;
static struct reader *_Atomic readers;
static __thread struct reader *self;
static __thread unsigned unregistered_depth;
static atomic_uint unregistered; /* sections of threads that have no reader, or can't give it back */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_key;

static void release(void *reader) {
    self = NULL; /* destructors that run after this one may enter again */
    atomic_store(&((struct reader *) reader)->taken, false);
}

static void make_key(void) {
    have_key = pthread_key_create(&key, release) == 0;
}

static struct reader *find_reader(void) {
    pthread_once(&once, make_key);
    if (!have_key) {
        return NULL; /* the thread's end would not be noticed */
    }
    struct reader *reader;
    for (reader = atomic_load(&readers); reader != NULL; reader = reader->next) {
        bool taken = false;
        if (atomic_compare_exchange_strong(&reader->taken, &taken, true)) {
            break;
        }
    }
    if (reader == NULL) {
        reader = aligned_alloc(64, sizeof(*reader));
        if (reader == NULL) {
            return NULL;
        }
        atomic_init(&reader->epoch, 0);
        atomic_init(&reader->taken, true);
        reader->depth = 0;
        reader->next = atomic_load(&readers);
        while (!atomic_compare_exchange_weak(&readers, &reader->next, reader)) {
        }
    }
    if (pthread_setspecific(key, reader) != 0) {
        atomic_store(&reader->taken, false);
        return NULL;
    }
    return reader;
}

void epoch_enter(void) {
    if (self == NULL && (unregistered_depth > 0 || (self = find_reader()) == NULL)) {
        unregistered_depth++;
        atomic_fetch_add(&unregistered, 1);
        return;
    }
    if (self->depth++ == 0) {
        atomic_store(&self->epoch, atomic_load(&now));
    }
}

void epoch_leave(void) {
    if (unregistered_depth > 0) {
        unregistered_depth--;
        atomic_fetch_sub(&unregistered, 1);
        return;
    }
    if (--self->depth == 0) {
        atomic_store_explicit(&self->epoch, 0, memory_order_release);
    }
}

void epoch_wait(void) {
    unsigned long limit = atomic_fetch_add(&now, 1) + 1;
    for (struct reader *reader = atomic_load(&readers); reader != NULL; reader = reader->next) {
        unsigned long seen;
        for (unsigned turn = 0; (seen = atomic_load(&reader->epoch)) != 0 && seen < limit;) {
            backoff(&turn);
        }
    }
    for (unsigned turn = 0; atomic_load(&unregistered) != 0;) {
        backoff(&turn);
    }
}

/* Forgets the sections of other threads: only the forking thread lives on in the child. */
static void fork_child(void) {
    for (struct reader *reader = atomic_load(&readers); reader != NULL; reader = reader->next) {
        if (reader != self) {
            atomic_store(&reader->epoch, 0);
            reader->depth = 0;
            atomic_store(&reader->taken, false);
        }
    }
    atomic_store(&unregistered, unregistered_depth);
}

void epoch_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
