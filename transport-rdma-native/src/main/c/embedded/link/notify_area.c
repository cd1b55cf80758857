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
/* The process's notify area: see notify_area.h. */
#include "notify_area.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "embedded/base/sealed.h"

struct notify_area *own_notify_area;
int own_notify_area_fd = -1;
struct own_doorbell own_doorbell = OWN_DOORBELL_NONE, outer_doorbell = OWN_DOORBELL_NONE;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool cq_taken[NOTIFY_CQS];
static bool bank_taken[NOTIFY_BANKS];
static unsigned cq_next, cqs_taken, banks_taken;

int notify_area_is_allowed(char *reason, size_t reason_size) {
    pthread_mutex_lock(&lock);
    bool open = own_notify_area != NULL;
    pthread_mutex_unlock(&lock);
    return open ? 0 : sealed_is_allowed(sizeof(struct notify_area), reason, reason_size);
}

int notify_area_open(void) {
    int error = 0;
    pthread_mutex_lock(&lock);
    if (own_notify_area == NULL) {
        void *memory;
        int fd = sealed_create("rdma-notify", sizeof(struct notify_area), &memory);
        if (fd < 0) {
            error = errno;
        } else {
            own_notify_area_fd = fd;
            own_notify_area = memory;
        }
    }
    if (error == 0 && own_doorbell.heard.fd < 0) {
        error = own_doorbell_open(&own_doorbell, EFD_NONBLOCK);
    }
    if (error == 0 && !own_doorbell.heard.is_socket && outer_doorbell.heard.fd < 0) {
        error = own_doorbell_open_for_peers(&outer_doorbell);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

bool notify_area_close(void) {
    pthread_mutex_lock(&lock);
    bool unused = cqs_taken == 0 && banks_taken == 0;
    if (unused && own_notify_area != NULL) {
        munmap(own_notify_area, sizeof(*own_notify_area));
        close(own_notify_area_fd);
        own_notify_area = NULL;
        own_notify_area_fd = -1;
    }
    if (unused) {
        own_doorbell_close(&own_doorbell);
        own_doorbell_close(&outer_doorbell);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Claims an index going round, so that an index rests as long as possible before it is used again. */
int notify_area_claim_cq(void) {
    int found = -1;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < NOTIFY_CQS && found < 0; i++) {
        unsigned index = (cq_next + i) % NOTIFY_CQS;
        if (!cq_taken[index]) {
            cq_taken[index] = true;
            cqs_taken++;
            cq_next = (index + 1) % NOTIFY_CQS;
            found = (int) index;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void notify_area_release_cq(int index) {
    pthread_mutex_lock(&lock);
    cq_taken[index] = false;
    cqs_taken--;
    pthread_mutex_unlock(&lock);
}

/* Claims the lowest free bank: banks cost memory once they are written to. */
int notify_area_claim_bank(bool common) {
    int found = -1;
    pthread_mutex_lock(&lock);
    if (banks_taken < (common ? NOTIFY_BANKS : NOTIFY_BANKS - NOTIFY_COMMON_BANKS)) {
        found = 0;
        while (bank_taken[found]) {
            found++;
        }
        bank_taken[found] = true;
        banks_taken++;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void notify_area_release_bank(int index) {
    pthread_mutex_lock(&lock);
    bank_taken[index] = false;
    banks_taken--;
    pthread_mutex_unlock(&lock);
}

/* Forgets the parent's notify area, which is not mapped in the child (sealed.c). */
static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    if (own_notify_area_fd >= 0) {
        close(own_notify_area_fd);
    }
    own_doorbell_close_inherited(&own_doorbell);
    own_doorbell_close_inherited(&outer_doorbell);
    own_notify_area_fd = -1;
    own_notify_area = NULL;
    memset(cq_taken, 0, sizeof(cq_taken));
    memset(bank_taken, 0, sizeof(bank_taken));
    cq_next = cqs_taken = banks_taken = 0;
}

void notify_area_init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
