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
/* Presence of this process for its peers: see presence.h. */
#include "presence.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cq.h"
#include "embedded/base/mapped.h"
#include "embedded/groups/mcast.h"
#include "embedded/link/engine.h"
#include "embedded/link/link.h"
#include "embedded/link/notify_area.h"
#include "qp.h"

_Atomic uint64_t presence_rest_ns = UINT64_C(1000000000);

static void rest(struct engine_timer *fired);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken to become the first user, and to end what there is */
static atomic_uint users;
static void (*rest_targets)(void);
static struct engine_timer timer = { .fire = rest };

static bool enter_with_others(void) {
    unsigned count = atomic_load(&users);
    while (count > 0 && !atomic_compare_exchange_weak(&users, &count, count + 1)) {
    }
    return count > 0;
}

void presence_enter(void) {
    if (!enter_with_others()) {
        pthread_mutex_lock(&lock);
        atomic_fetch_add(&users, 1);
        pthread_mutex_unlock(&lock);
    }
}

int presence_open(void) {
    int error = notify_area_open();
    mapped_keep(error == 0);
    return error != 0 ? error : cq_engine_open();
}

static void set_timer(void) {
    engine_timer_set(&timer, engine_now_ns() + presence_rest_ns);
}

void presence_leave(void) {
    if (atomic_fetch_sub(&users, 1) == 1) {
        set_timer();
    }
}

/* Ends everything. Returns false if objects of a former user are still at work, so that the caller has to try again. */
static bool end_all(void) {
    mcast_rest();
    qp_table_rest();
    link_rest();
    rest_targets();
    cq_engine_close();
    mapped_keep(false);
    return notify_area_close();
}

/* Ends everything after a while. Runs on the engine thread, so that a fork sees all of it or nothing (engine.h). */
static void rest(struct engine_timer *fired) {
    (void) fired;
    pthread_mutex_lock(&lock);
    if (atomic_load(&users) == 0 && !end_all()) {
        set_timer();
    }
    pthread_mutex_unlock(&lock);
}

static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    atomic_store(&users, 0);
    timer = (struct engine_timer) { .fire = rest };
}

void presence_init(void (*of_targets)(void)) {
    rest_targets = of_targets;
    pthread_atfork(NULL, NULL, fork_child);
}
