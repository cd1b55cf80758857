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
/* Accounts of what peers make this process keep: see account.h. */
#include "account.h"

#include <pthread.h>
#include <stdlib.h>

struct account {
    struct account *next;
    struct link_peer peer; /* one of the peers */
    unsigned references, generation;
    uint64_t kept[LINK_KEPT_KINDS];
};

static struct {
    pthread_mutex_t lock; /* leaf lock */
    struct account *accounts;
    uint64_t kept[LINK_KEPT_KINDS]; /* sums of all accounts */
    unsigned generation;            /* fork_generation: the accounts of a forked child's parent have an earlier one */
} books = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool link_peers_share_limits(const struct link_peer *a, const struct link_peer *b) {
    return link_peer_is(a, b) || (a->uid == b->uid && !a->may_signal && !b->may_signal);
}

struct account *account_get(const struct link_peer *peer) {
    pthread_mutex_lock(&books.lock);
    struct account *account = books.accounts;
    while (account != NULL && !link_peers_share_limits(&account->peer, peer)) {
        account = account->next;
    }
    if (account == NULL) {
        account = calloc(1, sizeof(*account));
        if (account != NULL) {
            account->peer = *peer;
            account->generation = books.generation;
            account->next = books.accounts;
            books.accounts = account;
        }
    }
    if (account != NULL) {
        account->references++;
    }
    pthread_mutex_unlock(&books.lock);
    return account;
}

/* Called with books.lock held. */
static void unlist(struct account *account) {
    struct account **place = &books.accounts;
    while (*place != account) {
        place = &(*place)->next;
    }
    *place = account->next;
}

void account_put(struct account *account) {
    pthread_mutex_lock(&books.lock);
    bool last = --account->references == 0;
    if (last && account->generation == books.generation) {
        unlist(account);
    }
    pthread_mutex_unlock(&books.lock);
    if (last) {
        free(account);
    }
}

/* Called with books.lock held. */
static bool charge(struct account *account, enum link_kept kind, uint64_t count, uint64_t taken, uint64_t limit) {
    bool granted = taken <= limit && count <= limit - taken;
    if (granted) {
        account->kept[kind] += count;
        books.kept[kind] += count;
    }
    return granted;
}

bool account_charge(struct account *account, enum link_kept kind, uint64_t count, uint64_t limit) {
    pthread_mutex_lock(&books.lock);
    bool granted = charge(account, kind, count, account->kept[kind], limit);
    pthread_mutex_unlock(&books.lock);
    return granted;
}

/* Counts the account twice against the limit, so that the account has at most as much as is left unused. */
bool account_charge_share(struct account *account, enum link_kept kind, uint64_t count, uint64_t limit) {
    pthread_mutex_lock(&books.lock);
    bool granted = charge(account, kind, count, account->kept[kind] + books.kept[kind] + count, limit);
    pthread_mutex_unlock(&books.lock);
    return granted;
}

void account_discharge(struct account *account, enum link_kept kind, uint64_t count) {
    pthread_mutex_lock(&books.lock);
    account->kept[kind] -= count;
    if (account->generation == books.generation) {
        books.kept[kind] -= count;
    }
    pthread_mutex_unlock(&books.lock);
}

bool account_nears_share(struct account *account, enum link_kept kind, uint64_t limit) {
    pthread_mutex_lock(&books.lock);
    bool nears = 2 * account->kept[kind] + books.kept[kind] > limit;
    pthread_mutex_unlock(&books.lock);
    return nears;
}

static void fork_prepare(void) {
    pthread_mutex_lock(&books.lock);
}

static void fork_parent(void) {
    pthread_mutex_unlock(&books.lock);
}

/* Forgets the accounts: the child does not keep what the parent keeps. */
static void fork_child(void) {
    books.accounts = NULL;
    for (int kind = 0; kind < LINK_KEPT_KINDS; kind++) {
        books.kept[kind] = 0;
    }
    books.generation++;
    pthread_mutex_unlock(&books.lock);
}

void account_init(void) {
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}
