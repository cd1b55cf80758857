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
/* Memory of devices that is lent and borrowed: see lending.h. */
#include "lending.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "embedded/base/clock.h"
#include "embedded/base/closer.h"
#include "embedded/base/epoch.h"
#include "embedded/rdma_peer_memory.h"

#define MAX_BORROWED 4096u /* of one process */
#define BUCKETS 64u

_Static_assert(sizeof(((struct wire_lend *) NULL)->handle) == RDMA_PEER_MEMORY_HANDLE, "a handle is sent whole");

/* Allocation with regions that were to be lent. The lock guards all fields, and those of the next structs. */
struct lent {
    const struct rdma_peer_memory_client *table;
    uint64_t allocation;
    unsigned users; /* number of regions, and of threads that wait for the borrowers */
    struct lent *next;
};

struct loan {
    struct lent *lent; /* NULL: recalled, and no thread waits */
    struct peer *peer; /* reference */
    uint64_t number;
    enum { OFFERED, TAKEN, REFUSED, RECALLED } state;
    uint64_t again_ns; /* REFUSED: time of the next offer */
    struct loan *next;
};

struct borrowed {
    struct peer *peer; /* reference */
    uint64_t number;
    struct rdma_peer_memory_export exported;
    char client[sizeof(((struct wire_lend *) NULL)->client)];
    struct rdma_peer_memory *memory; /* NULL: it is being opened */
    bool ended;                      /* while it is being opened: recalled, or the link went down */
    struct borrowed *next;
};

atomic_bool lending_is_on, lending_to_itself;
_Atomic uint64_t lending_again_ns = UINT64_C(10000000000), lending_recall_ns = UINT64_C(1000000000);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned;
static struct lent *lents;
static struct loan *loans;
static struct borrowed *buckets[BUCKETS];
static uint64_t last_number;

bool lending_may_be_with(const struct peer *peer) {
    const struct link_peer *process = link_peer(peer_link(peer));
    return atomic_load(&lending_is_on) && process->may_signal
            && (process->pid != getpid() || atomic_load(&lending_to_itself));
}

/* Tells once why copies go through host memory although this process asks for the direct way. */
static void tell(const char *client, const struct peer *peer, int error) {
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&told)) {
        fprintf(stderr, "rdma_embedded: RDMA_EMBEDDED_PEER_MEMORY_DIRECT=1: memory of %s goes to process %d by host "
                "memory: %s\n", client, (int) link_peer(peer_link(peer))->pid, strerror(error));
    }
}

static int say(struct peer *peer, uint64_t number, enum wire_loan_state state, int error) {
    const struct wire_loan loan = { .number = number, .state = (uint32_t) state, .error = (uint32_t) error };
    return peer_send(peer, WIRE_LOAN, &loan, sizeof(loan), NULL, 0);
}

/* ---- the lender ---- */

/* Called with the lock held, like all functions up to lending_refer(). */
static void put_lent(struct lent *lent) {
    if (--lent->users > 0) {
        return;
    }
    for (struct loan *loan = loans; loan != NULL; loan = loan->next) {
        loan->lent = loan->lent == lent ? NULL : loan->lent;
    }
    struct lent **link = &lents;
    while (*link != lent) {
        link = &(*link)->next;
    }
    *link = lent->next;
    free(lent);
}

/* Returns the allocation that has the memory. NULL: no memory for the struct. */
static struct lent *lent_of(struct rdma_peer_memory *memory, uint64_t allocation) {
    struct lent *lent = lents;
    if (memory->lent != NULL) {
        return memory->lent;
    }
    while (lent != NULL && (lent->table != memory->table || lent->allocation != allocation)) {
        lent = lent->next;
    }
    if (lent == NULL && (lent = calloc(1, sizeof(*lent))) != NULL) {
        *lent = (struct lent) { .table = memory->table, .allocation = allocation, .next = lents };
        lents = lent;
    }
    if (lent != NULL) {
        lent->users++;
        memory->lent = lent;
    }
    return lent;
}

static struct loan **find_loan(const struct peer *peer, const struct lent *lent, uint64_t number) {
    struct loan **link = &loans;
    while (*link != NULL && ((*link)->peer != peer
                             || (lent != NULL ? (*link)->lent != lent : (*link)->number != number))) {
        link = &(*link)->next;
    }
    return link;
}

static void offer(struct loan *loan, const struct rdma_peer_memory_export *exported) {
    struct wire_lend lend = { .number = loan->number, .length = exported->length };
    snprintf(lend.client, sizeof(lend.client), "%s", loan->lent->table->name);
    memcpy(lend.handle, exported->handle, sizeof(lend.handle));
    loan->state = OFFERED;
    if (peer_send(loan->peer, WIRE_LEND, &lend, sizeof(lend), NULL, 0) != 0) {
        loan->state = REFUSED;
        loan->again_ns = clock_ns(CLOCK_MONOTONIC) + atomic_load(&lending_again_ns);
    }
}

static bool refer(struct peer *peer, struct rdma_peer_memory *memory, const struct rdma_peer_memory_export *exported,
                  uint64_t *number) {
    struct lent *lent = lent_of(memory, exported->allocation);
    if (lent == NULL || lent->allocation != exported->allocation) {
        return false;
    }
    struct loan *loan = *find_loan(peer, lent, 0);
    bool offers = loan != NULL && loan->state == REFUSED && clock_ns(CLOCK_MONOTONIC) >= loan->again_ns;
    if (loan == NULL && (loan = malloc(sizeof(*loan))) != NULL) {
        *loan = (struct loan) { .lent = lent, .peer = peer_get(peer), .number = ++last_number, .next = loans };
        loans = loan;
        offers = true;
    }
    if (offers) {
        offer(loan, exported);
    }
    *number = loan == NULL ? 0 : loan->number;
    return loan != NULL && loan->state == TAKEN;
}

bool lending_refer(struct peer *peer, const struct peer_range *range, struct wire_reference *reference) {
    struct rdma_peer_memory *memory = range->memory;
    struct rdma_peer_memory_export exported = { 0 };
    if (memory->table->export_memory == NULL || atomic_load(&memory->gone) || !lending_may_be_with(peer)) {
        return false;
    }
    int error = memory->table->export_memory(memory->memory, &exported);
    if (error != 0) {
        if (error != EFAULT) {
            tell(memory->table->name, peer, error);
        }
        return false;
    }
    pthread_mutex_lock(&lock);
    bool lends = refer(peer, memory, &exported, &reference->loan);
    pthread_mutex_unlock(&lock);
    reference->offset = exported.offset + range->offset;
    return lends;
}

/* Removes a loan from its list. The caller puts the returned peer without the lock. */
static struct peer *remove_loan(struct loan **link) {
    struct loan *loan = *link;
    struct peer *peer = loan->peer;
    *link = loan->next;
    free(loan);
    pthread_cond_broadcast(&returned);
    return peer;
}

/* Called with the lock held. */
static bool is_recalled(const struct lent *lent) {
    const struct loan *loan = loans;
    while (loan != NULL && (loan->lent != lent || loan->state != RECALLED)) {
        loan = loan->next;
    }
    return loan != NULL;
}

/* Waits until all borrowers have returned the allocation, for a limited time: a peer may be stopped. */
static void take_back(struct lent *lent) {
    uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + atomic_load(&lending_recall_ns);
    const struct timespec end = { .tv_sec = (time_t) (end_ns / 1000000000u), .tv_nsec = (long) (end_ns % 1000000000u) };
    for (struct loan *loan = loans; loan != NULL; loan = loan->next) {
        if (loan->lent == lent && loan->state != RECALLED) {
            loan->state = RECALLED; /* also one that was refused: the answer may be to an offer after that */
            say(loan->peer, loan->number, WIRE_LOAN_RECALLED, 0);
        }
    }
    while (is_recalled(lent) && clock_ns(CLOCK_MONOTONIC) < end_ns) {
        pthread_cond_timedwait(&returned, &lock, &end);
    }
}

static void recall(struct rdma_peer_memory *memory) {
    pthread_mutex_lock(&lock);
    struct lent *lent = memory->lent;
    memory->lent = NULL;
    if (lent != NULL) {
        if (lent->users == 1 || atomic_load(&memory->gone)) {
            take_back(lent);
        }
        put_lent(lent);
    }
    pthread_mutex_unlock(&lock);
}

/* Handles an answer of a borrower. Returns false if no honest one would give it. */
static bool answered(struct peer *peer, const struct wire_loan *answer) {
    struct peer *lost = NULL;
    int refused = 0;
    pthread_mutex_lock(&lock);
    struct loan **link = find_loan(peer, NULL, answer->number), *loan = *link;
    const char *client = loan == NULL || loan->lent == NULL ? "a device" : loan->lent->table->name;
    bool valid = loan != NULL && (loan->state == OFFERED || loan->state == RECALLED);
    if (valid && answer->state == WIRE_LOAN_RETURNED) {
        valid = loan->state == RECALLED;
        lost = valid ? remove_loan(link) : NULL;
    } else if (valid && loan->state == OFFERED) {
        loan->state = answer->state == WIRE_LOAN_TAKEN ? TAKEN : REFUSED;
        loan->again_ns = clock_ns(CLOCK_MONOTONIC) + atomic_load(&lending_again_ns);
        refused = loan->state == REFUSED ? (int) (answer->error & 0xfff) : 0;
    }
    pthread_mutex_unlock(&lock);
    if (refused != 0) {
        tell(client, peer, refused);
    }
    if (lost != NULL) {
        peer_put(lost);
    }
    return valid;
}

/* ---- the borrower ---- */

/* Called with the lock held. Returns the link to it, or to the NULL at the end of its list. */
static struct borrowed **find_borrowed(const struct peer *peer, uint64_t number) {
    struct borrowed **link = &buckets[number % BUCKETS];
    while (*link != NULL && ((*link)->number != number || (*link)->peer != peer)) {
        link = &(*link)->next;
    }
    return link;
}

bool lending_find(const struct peer *peer, const struct wire_reference *reference, uint32_t length,
                  struct peer_range *range) {
    pthread_mutex_lock(&lock);
    const struct borrowed *borrowed = *find_borrowed(peer, reference->loan);
    bool found = borrowed != NULL && borrowed->memory != NULL && length <= borrowed->exported.length
            && reference->offset <= borrowed->exported.length - length;
    if (found) {
        *range = (struct peer_range) { borrowed->memory, reference->offset };
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Gives an allocation back. No list has it any more, so no new copy uses it. */
static void give_back(void *argument) {
    struct borrowed *borrowed = argument;
    epoch_wait();
    if (borrowed->memory != NULL) {
        peer_memory_release(borrowed->memory);
    }
    link_discharge(peer_link(borrowed->peer), LINK_KEPT_BORROWED, 1);
    say(borrowed->peer, borrowed->number, WIRE_LOAN_RETURNED, 0);
    peer_put(borrowed->peer);
    free(borrowed);
}

/* Opens the memory, which may take a driver long. */
static void open_borrowed(void *argument) {
    struct borrowed *borrowed = argument;
    struct rdma_peer_memory *memory = NULL;
    int error = peer_memory_import(borrowed->client, &borrowed->exported, &memory);
    pthread_mutex_lock(&lock);
    bool keeps = error == 0 && !borrowed->ended;
    bool answers_recall = borrowed->ended;
    borrowed->memory = memory;
    if (!keeps) {
        struct borrowed **link = find_borrowed(borrowed->peer, borrowed->number);
        *link = borrowed->next;
    }
    say(borrowed->peer, borrowed->number, error == 0 ? WIRE_LOAN_TAKEN : WIRE_LOAN_REFUSED, error);
    pthread_mutex_unlock(&lock);
    if (answers_recall) {
        give_back(borrowed);
    } else if (!keeps) {
        link_discharge(peer_link(borrowed->peer), LINK_KEPT_BORROWED, 1);
        peer_put(borrowed->peer);
        free(borrowed);
    }
}

static bool is_valid(const struct wire_lend *lend) {
    return lend->number != 0 && lend->length != 0 && lend->client[0] != 0
            && memchr(lend->client, 0, sizeof(lend->client)) != NULL;
}

/* Returns 0, or an errno with which the offer is refused. */
static int borrow(struct peer *peer, const struct wire_lend *lend, bool *valid) {
    struct borrowed *borrowed = lending_may_be_with(peer) ? calloc(1, sizeof(*borrowed)) : NULL;
    if (borrowed == NULL) {
        return lending_may_be_with(peer) ? ENOMEM : EPERM;
    }
    *borrowed = (struct borrowed) {
        .number = lend->number, .exported = { .length = lend->length }, .peer = peer,
    };
    memcpy(borrowed->client, lend->client, sizeof(borrowed->client));
    memcpy(borrowed->exported.handle, lend->handle, sizeof(borrowed->exported.handle));
    pthread_mutex_lock(&lock);
    *valid = *find_borrowed(peer, lend->number) == NULL;
    bool charged = *valid && link_charge(peer_link(peer), LINK_KEPT_BORROWED, 1, MAX_BORROWED);
    if (charged) {
        peer_get(peer);
        borrowed->next = buckets[lend->number % BUCKETS];
        buckets[lend->number % BUCKETS] = borrowed;
    }
    pthread_mutex_unlock(&lock);
    if (!charged) {
        free(borrowed);
        return ENOSPC;
    }
    closer_run(open_borrowed, borrowed);
    return 0;
}

static bool on_lend(struct link *link, const struct link_message *incoming) {
    const struct wire_lend *lend = link_body(incoming, sizeof(*lend));
    struct peer *peer = lend != NULL && is_valid(lend) ? peer_of_link(link) : NULL;
    bool valid = peer != NULL;
    int error = valid ? borrow(peer, lend, &valid) : 0;
    if (valid && error != 0) {
        say(peer, lend->number, WIRE_LOAN_REFUSED, error);
    }
    if (peer != NULL) {
        peer_put(peer);
    }
    return valid;
}

static void recalled(struct peer *peer, uint64_t number) {
    pthread_mutex_lock(&lock);
    struct borrowed **link = find_borrowed(peer, number), *borrowed = *link;
    bool opening = borrowed != NULL && borrowed->memory == NULL;
    if (opening) {
        borrowed->ended = true;
    } else if (borrowed != NULL) {
        *link = borrowed->next;
    } else {
        say(peer, number, WIRE_LOAN_RETURNED, 0); /* the offer was refused */
    }
    pthread_mutex_unlock(&lock);
    if (borrowed != NULL && !opening) {
        closer_run(give_back, borrowed);
    }
}

static bool on_loan(struct link *link, const struct link_message *incoming) {
    const struct wire_loan *loan = link_body(incoming, sizeof(*loan));
    struct peer *peer = loan != NULL && loan->state < WIRE_LOAN_STATES ? peer_of_link(link) : NULL;
    bool valid = peer != NULL;
    if (valid && loan->state == WIRE_LOAN_RECALLED) {
        recalled(peer, loan->number);
    } else if (valid) {
        valid = answered(peer, loan);
    }
    if (peer != NULL) {
        peer_put(peer);
    }
    return valid;
}

/* ---- the end of a link ---- */

/* Removes a loan to the peer behind the link. Returns its reference to the peer, or NULL if there is no loan. */
static struct peer *lose_loan(const struct link *link) {
    struct peer *peer = NULL;
    pthread_mutex_lock(&lock);
    for (struct loan **at = &loans; *at != NULL && peer == NULL; at = &(*at)->next) {
        if (peer_link((*at)->peer) == link) {
            peer = remove_loan(at);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return peer;
}

/* Removes one that was borrowed from the peer behind the link. NULL: none, except those being opened, which go then. */
static struct borrowed *lose_borrowed(const struct link *link) {
    struct borrowed *lost = NULL;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < BUCKETS && lost == NULL; i++) {
        for (struct borrowed **at = &buckets[i]; *at != NULL && lost == NULL;) {
            bool of_link = peer_link((*at)->peer) == link;
            if (of_link && (*at)->memory != NULL) {
                lost = *at;
                *at = lost->next;
            } else {
                (*at)->ended |= of_link;
                at = &(*at)->next;
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return lost;
}

static void link_down(struct link *link) {
    struct peer *peer;
    struct borrowed *borrowed;
    while ((peer = lose_loan(link)) != NULL) {
        peer_put(peer);
    }
    while ((borrowed = lose_borrowed(link)) != NULL) {
        closer_run(give_back, borrowed);
    }
}

/* ---- */

/* Makes the condition, with the clock that take_back() uses. */
static void make_condition(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&returned, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Forgets the parent's loans. The child has no link to the borrowers. */
static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    make_condition();
    lents = NULL;
    loans = NULL;
    memset(buckets, 0, sizeof(buckets));
}

void lending_init(void) {
    const char *value = secure_getenv("RDMA_EMBEDDED_PEER_MEMORY_DIRECT");
    atomic_store(&lending_is_on, value != NULL && strcmp(value, "1") == 0);
    make_condition();
    peer_memory_set_recall(recall);
    link_set_handler(WIRE_LEND, on_lend);
    link_set_handler(WIRE_LOAN, on_loan);
    link_add_down_handler(link_down);
    pthread_atfork(NULL, NULL, fork_child);
}
