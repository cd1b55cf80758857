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
 * References to queue pairs, and their numbers. A number that has a name (link.h) leads every peer to its queue pair.
 * While other users hold all names, queue pairs that the connection manager may connect get numbers without a name. A
 * number is not used again for a while, so that a late message does not reach a newer queue pair.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "embedded/link/peer.h"
#include "qp.h"

#define BUCKETS 4096u
#define BLOCK 256u
#define REUSE_DELAY_NS UINT64_C(2000000000)

#define MAX_RETIRED 65536u /* limit; numbers beyond it are not used again */

/* Time after which names are looked for again when there were none. A search is some 100 system calls. */
#define NAMES_RETRY_NS UINT64_C(1000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken before control and gates */
static struct qp *buckets[BUCKETS];
static unsigned num_qps;
static struct numbers {
    uint32_t next_fresh, fresh_left;
    struct {
        uint32_t qpn;
        uint64_t until_ns;
    } retired[MAX_RETIRED];              /* ring, in the order of destruction */
    uint32_t retired_head, retired_tail; /* ends of the ring; count up for ever */
} named, unnamed;
static uint64_t names_retry_at_ns; /* 0: there were names the last time */

/* ---- references ---- */

void qp_free(struct qp *qp) {
    if (qp->ops->destroy != NULL) {
        qp->ops->destroy(qp);
    }
    work_queue_free(&qp->sq);
    work_queue_free(&qp->rq);
    free(qp->taken);
    free(qp->inlined);
    free(qp->posting);
    pthread_mutex_destroy(&qp->control);
    free(qp);
}

void qp_get(struct qp *qp) {
    atomic_fetch_add(&qp->refs, 1);
}

void qp_put(struct qp *qp) {
    if (atomic_fetch_sub(&qp->refs, 1) == 1) {
        qp_free(qp);
    }
}

/* ---- numbers ---- */

/* Takes a number of the claimed blocks. 0: none is left. */
static uint32_t take_number(struct numbers *numbers) {
    if (numbers->fresh_left > 0) {
        numbers->fresh_left--;
        return numbers->next_fresh++;
    }
    if (numbers->retired_head != numbers->retired_tail
            && numbers->retired[numbers->retired_head % MAX_RETIRED].until_ns <= engine_now_ns()) {
        return numbers->retired[numbers->retired_head++ % MAX_RETIRED].qpn;
    }
    return 0;
}

/* Takes a number of a new block. Returns 0 and errno if there is none. */
static uint32_t take_new_number(struct numbers *numbers) {
    uint32_t first = link_claim_qpn_block(numbers == &named);
    if (first != 0) {
        numbers->next_fresh = first;
        numbers->fresh_left = BLOCK;
        first = take_number(numbers);
    }
    return first;
}

static uint32_t claim_named_number(void) {
    uint32_t number = take_number(&named);
    if (number != 0) {
        return number;
    }
    if (names_retry_at_ns > engine_now_ns()) {
        errno = EADDRNOTAVAIL;
        return 0;
    }
    number = take_new_number(&named);
    names_retry_at_ns = number == 0 && errno == EADDRNOTAVAIL ? engine_now_ns() + NAMES_RETRY_NS : 0;
    return number;
}

static uint32_t claim_number(bool needs_name) {
    uint32_t number = claim_named_number();
    if (number == 0 && errno == EADDRNOTAVAIL && !needs_name) {
        number = take_number(&unnamed);
        if (number == 0) {
            number = take_new_number(&unnamed);
        }
    }
    return number;
}

static void retire_number(uint32_t number) {
    struct numbers *numbers = number < LINK_UNNAMED_QPN ? &named : &unnamed;
    if (numbers->retired_tail - numbers->retired_head < MAX_RETIRED) {
        numbers->retired[numbers->retired_tail % MAX_RETIRED].qpn = number;
        numbers->retired[numbers->retired_tail++ % MAX_RETIRED].until_ns = engine_now_ns() + REUSE_DELAY_NS;
    }
}

uint32_t qp_table_claim_number(void) {
    pthread_mutex_lock(&lock);
    uint32_t number = claim_number(false);
    pthread_mutex_unlock(&lock);
    return number;
}

void qp_table_release_number(uint32_t number) {
    pthread_mutex_lock(&lock);
    retire_number(number);
    pthread_mutex_unlock(&lock);
}

/* Forgets numbers with a name, because the names of their blocks were given back. Numbers without a name stay. */
void qp_table_rest(void) {
    pthread_mutex_lock(&lock);
    named.fresh_left = 0;
    named.retired_head = named.retired_tail = 0;
    pthread_mutex_unlock(&lock);
}

static struct qp **bucket_of(uint32_t qpn) {
    return &buckets[qpn % BUCKETS];
}

int qp_table_add(struct qp *qp) {
    pthread_mutex_lock(&lock);
    uint32_t qpn = num_qps < DEVICE_MAX_QP ? claim_number(qp->ops->needs_name) : 0;
    int error = num_qps == DEVICE_MAX_QP ? ENOMEM : qpn == 0 ? errno : 0;
    if (error == 0) {
        num_qps++;
        qp->ibv.qp_num = qp->ibv.handle = qpn;
        qp->next_in_table = *bucket_of(qpn);
        *bucket_of(qpn) = qp;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

void qp_table_remove(struct qp *qp) {
    pthread_mutex_lock(&lock);
    struct qp **link = bucket_of(qp->ibv.qp_num);
    while (*link != qp) {
        link = &(*link)->next_in_table;
    }
    *link = qp->next_in_table;
    num_qps--;
    retire_number(qp->ibv.qp_num);
    pthread_mutex_unlock(&lock);
}

struct qp *qp_table_find(uint32_t qpn) {
    pthread_mutex_lock(&lock);
    struct qp *qp = *bucket_of(qpn);
    while (qp != NULL && qp->ibv.qp_num != qpn) {
        qp = qp->next_in_table;
    }
    if (qp != NULL) {
        qp_get(qp);
    }
    pthread_mutex_unlock(&lock);
    return qp;
}

void qp_table_visit(void (*visit)(struct qp *qp, const void *argument), const void *argument) {
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct qp *qp = buckets[i]; qp != NULL; qp = qp->next_in_table) {
            visit(qp, argument);
        }
    }
    pthread_mutex_unlock(&lock);
}

/* Leaks the parent's queue pairs: the child cannot use them, and other threads may have been at work on them. */
static void fork_child(void) {
    pthread_mutex_init(&lock, NULL);
    memset(buckets, 0, sizeof(buckets));
    num_qps = 0;
    named.fresh_left = named.retired_head = named.retired_tail = 0;
    unnamed.fresh_left = unnamed.retired_head = unnamed.retired_tail = 0;
    names_retry_at_ns = 0;
}

static void on_link_lost(uint32_t qpn, const struct link *link) {
    struct qp *qp = qp_table_find(qpn);
    if (qp != NULL) {
        if (qp->ops->link_lost != NULL) {
            qp->ops->link_lost(qp, link);
        }
        qp_put(qp);
    }
}

void qp_table_init(void) {
    peer_set_lost_handler(on_link_lost);
    pthread_atfork(NULL, NULL, fork_child);
}
