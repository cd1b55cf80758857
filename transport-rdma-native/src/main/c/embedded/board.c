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
/* The process's board: see board.h. */
#include "board.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "sealed.h"

struct board *own_board;
int own_board_fd = -1;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool cq_taken[BOARD_CQS];
static bool bank_taken[BOARD_BANKS];
static unsigned cq_next;

int board_open(void) {
    int error = 0;
    pthread_mutex_lock(&lock);
    if (own_board == NULL) {
        void *memory;
        int fd = sealed_create("rdma-board", sizeof(struct board), &memory);
        if (fd < 0) {
            error = errno;
        } else {
            own_board_fd = fd;
            own_board = memory;
        }
    }
    pthread_mutex_unlock(&lock);
    return error;
}

/* Goes round, so that an index rests as long as possible before it is used again. */
static int claim(bool *taken, unsigned limit, unsigned *next) {
    int found = -1;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < limit && found < 0; i++) {
        unsigned index = (*next + i) % limit;
        if (!taken[index]) {
            taken[index] = true;
            *next = (index + 1) % limit;
            found = (int) index;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void release(bool *taken, int index) {
    pthread_mutex_lock(&lock);
    taken[index] = false;
    pthread_mutex_unlock(&lock);
}

int board_claim_cq(void) {
    return claim(cq_taken, BOARD_CQS, &cq_next);
}

void board_release_cq(int index) {
    release(cq_taken, index);
}

/* The lowest free one: banks cost memory once touched. */
int board_claim_bank(void) {
    unsigned first = 0;
    return claim(bank_taken, BOARD_BANKS, &first);
}

void board_release_bank(int index) {
    release(bank_taken, index);
}

/* The child of a fork() starts anew; the parent's board is not mapped there (sealed.c). */
static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    if (own_board_fd >= 0) {
        close(own_board_fd);
    }
    own_board_fd = -1;
    own_board = NULL;
    memset(cq_taken, 0, sizeof(cq_taken));
    memset(bank_taken, 0, sizeof(bank_taken));
    cq_next = 0;
}

__attribute__((constructor)) static void init(void) {
    pthread_atfork(NULL, NULL, fork_child);
}
