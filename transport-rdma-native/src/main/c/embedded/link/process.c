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
/* Other processes: see process.h. */
#include "process.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded/base/closer.h"
#include "embedded/base/doorbell.h"
#include "embedded/base/sealed.h"
#include "account.h"

/*
 * Number of a peer's completion queues with banks of their own. It is enough for one queue for each event loop of any
 * machine, and takes little memory if a hostile peer invents queues.
 */
#define OWN_BANKS 256u

#define CQ_BUCKETS 256u

/*
 * Limit of notify areas of one process, or of all that cannot be told apart: each is a mapping of 48 MiB and a
 * descriptor. A process has one for each copy of this library in it. A peer that shows more is not honest.
 */
#define MAX_NOTIFY_AREAS 64u

/* Limit of notify areas of a user that may not signal this process, in proportion to MAX_LINKS_OF_USER of link.c. */
#define MAX_NOTIFY_AREAS_OF_USER (4 * MAX_NOTIFY_AREAS)

/*
 * Limit of kept descriptors of completion channels, for all peer processes: this number, or a quarter of the
 * limit of this process if that is more. One peer process gets at most half of that (account.h), even with several
 * notify areas. A program has few channels. A program with more is woken by its engine, which has its own doorbell.
 */
#define MIN_DOORBELLS 512u

/*
 * Number of completion queues whose doorbells are kept for the next queue pair when the last one has gone. Otherwise a
 * peer with short connections would send a descriptor with each. Most machines have fewer event loops.
 */
#define RESTING_CQS 64u

struct tick_bank {
    struct tick_bank *next;
    uint32_t number;
    unsigned users;
    uint64_t taken[NOTIFY_BANK_SLOTS / 64];
};

struct remote_cq {
    struct remote_cq *next;
    struct process *process;
    uint32_t index, id;
    unsigned users;
    struct doorbell doorbell; /* written once, before `has_doorbell` */
    atomic_bool has_doorbell; /* read without the lock */
    bool refused;             /* there are too many doorbells for this one to be kept */
    unsigned resting;         /* place in process->resting, from 1 on; 0: in use */
    _Atomic uint64_t rung; /* word of the queue at the last ring */
    struct tick_bank *banks; /* banks of its own */
};

struct process {
    struct process *next;
    struct link_peer peer;
    struct account *account;
    dev_t device; /* identity of the notify area, with the inode */
    ino_t inode;
    unsigned refs; /* guarded by processes_lock */
    const struct notify_area *area;
    struct doorbell doorbell; /* doorbell of the engine */
    bool is_self;             /* doorbell is that of the own engine, and not closed by this file */
    _Atomic uint64_t rung; /* word of the engine at the last ring */
    pthread_mutex_t lock;  /* guards the following; taken before common_lock */
    struct remote_cq *cqs[CQ_BUCKETS];
    struct remote_cq *resting[RESTING_CQS]; /* without users, kept for their doorbells */
    unsigned next_resting;
    unsigned own_banks;
};

static pthread_mutex_t processes_lock = PTHREAD_MUTEX_INITIALIZER;
static struct process *processes;

static pthread_mutex_t common_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tick_bank *common_banks; /* banks for completion queues of any peer */

static bool is(const struct process *process, const struct link_peer *peer, const struct stat *status) {
    return link_peer_is(&process->peer, peer) && process->device == status->st_dev && process->inode == status->st_ino;
}

/* Returns whether a notify area is this one; another copy of this library in the process has another. */
static bool is_self(const struct link_peer *peer, const struct stat *status) {
    struct stat own;
    return peer->pid == getpid() && fstat(own_notify_area_fd, &own) == 0 && own.st_dev == status->st_dev
            && own.st_ino == status->st_ino;
}

static void close_doorbell(const struct process *process, void (*close_fd)(int fd)) {
    if (!process->is_self) {
        close_fd(process->doorbell.fd);
    }
}

static struct process *create(const struct link_peer *peer, int area_fd, const struct doorbell *doorbell,
                              const struct stat *status) {
    struct process *process = calloc(1, sizeof(*process));
    struct account *account = process != NULL ? account_get(peer) : NULL;
    if (account == NULL) {
        free(process);
        errno = ENOMEM;
        return NULL;
    }
    process->area = sealed_map(area_fd, sizeof(*process->area));
    if (process->area == NULL) {
        int error = errno;
        account_put(account);
        free(process);
        errno = error;
        return NULL;
    }
    process->peer = *peer;
    process->account = account;
    process->device = status->st_dev;
    process->inode = status->st_ino;
    process->is_self = is_self(peer, status);
    process->doorbell = process->is_self ? own_doorbell.rung : *doorbell;
    pthread_mutex_init(&process->lock, NULL);
    process->next = processes;
    processes = process;
    return process;
}

struct process *process_of_notify_area(const struct link_peer *peer, int area_fd, int *doorbell) {
    struct stat status;
    struct doorbell received;
    if (!sealed_can_be(area_fd)) { /* fstat(2) of another file may ask the process that serves it: FUSE */
        errno = EPROTO;
        return NULL;
    }
    if (fstat(area_fd, &status) != 0) {
        return NULL;
    }
    if (!doorbell_of_peer(peer, *doorbell, &received)) {
        errno = EPROTO;
        return NULL;
    }
    pthread_mutex_lock(&processes_lock);
    struct process *process = processes;
    unsigned others = 0, limit = peer->may_signal ? MAX_NOTIFY_AREAS : MAX_NOTIFY_AREAS_OF_USER;
    while (process != NULL && !is(process, peer, &status)) {
        others += link_peers_share_limits(&process->peer, peer);
        process = process->next;
    }
    if (process == NULL && others >= limit) {
        errno = EPROTO;
    } else if (process == NULL) {
        process = create(peer, area_fd, &received, &status);
        if (process != NULL && !process->is_self) {
            *doorbell = -1;
        }
    }
    if (process != NULL) {
        process->refs++;
    }
    pthread_mutex_unlock(&processes_lock);
    return process;
}

struct process *process_get(struct process *process) {
    pthread_mutex_lock(&processes_lock);
    process->refs++;
    pthread_mutex_unlock(&processes_lock);
    return process;
}

const struct notify_area *process_notify_area(const struct process *process) {
    return process->area;
}

static struct remote_cq **find_cq(struct process *process, uint32_t index, uint32_t id) {
    struct remote_cq **link = &process->cqs[index % CQ_BUCKETS];
    while (*link != NULL && ((*link)->index != index || (*link)->id != id)) {
        link = &(*link)->next;
    }
    return link;
}

static struct remote_cq *find_or_add_cq(struct process *process, uint32_t index, uint32_t id) {
    struct remote_cq **link = find_cq(process, index, id);
    if (*link == NULL && (*link = calloc(1, sizeof(**link))) != NULL) {
        **link = (struct remote_cq) { .process = process, .index = index, .id = id, .doorbell.fd = -1 };
    }
    return *link;
}

static void drop(struct process *process, struct remote_cq *cq) {
    *find_cq(process, cq->index, cq->id) = cq->next;
    if (cq->doorbell.fd >= 0) {
        closer_close_from(cq->doorbell.fd, !cq->doorbell.is_socket);
        account_discharge(process->account, LINK_KEPT_CHANNELS, 1);
    }
    free(cq);
}

static void rest_if_unused(struct process *process, struct remote_cq *cq) {
    if (cq->users != 0 || cq->resting != 0) {
        return;
    }
    if (cq->doorbell.fd < 0) {
        drop(process, cq);
        return;
    }
    unsigned place = process->next_resting++ % RESTING_CQS;
    if (process->resting[place] != NULL) {
        drop(process, process->resting[place]);
    }
    process->resting[place] = cq;
    cq->resting = place + 1;
}

static void use(struct process *process, struct remote_cq *cq) {
    if (cq->resting != 0) {
        process->resting[cq->resting - 1] = NULL;
        cq->resting = 0;
    }
    cq->users++;
}

static void drop_resting(struct process *process) {
    for (unsigned i = 0; i < RESTING_CQS; i++) {
        if (process->resting[i] != NULL) {
            drop(process, process->resting[i]);
        }
    }
}

void process_put(struct process *process) {
    pthread_mutex_lock(&processes_lock);
    bool last = --process->refs == 0;
    if (last) {
        struct process **link = &processes;
        while (*link != process) {
            link = &(*link)->next;
        }
        *link = process->next;
        /* Closed with processes_lock held: a fork() sees either none or both of this and the unlisting. */
        close_doorbell(process, closer_close);
        drop_resting(process);
    }
    pthread_mutex_unlock(&processes_lock);
    if (last) {
        closer_unmap(process->area, sizeof(*process->area));
        pthread_mutex_destroy(&process->lock);
        account_put(process->account);
        free(process);
    }
}

static uint64_t max_doorbells(void) {
    struct rlimit limit;
    bool many = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 > MIN_DOORBELLS;
    return many ? limit.rlim_cur / 4 : MIN_DOORBELLS;
}

/* ---- ticks ---- */

static bool has_room(const struct tick_bank *banks) {
    while (banks != NULL && banks->users == NOTIFY_BANK_SLOTS) {
        banks = banks->next;
    }
    return banks != NULL;
}

static bool add_bank(struct tick_bank **banks, bool common) {
    int number = notify_area_claim_bank(common);
    struct tick_bank *bank = number < 0 ? NULL : calloc(1, sizeof(*bank));
    if (bank == NULL) {
        if (number >= 0) {
            notify_area_release_bank(number);
        }
        return false;
    }
    bank->number = (uint32_t) number;
    bank->next = *banks;
    *banks = bank;
    return true;
}

/* Claims a slot from the first bank with room, which there is. */
static void claim_slot(struct tick_bank *bank, struct announcement *announcement) {
    while (bank->users == NOTIFY_BANK_SLOTS) {
        bank = bank->next;
    }
    unsigned word = 0;
    while (bank->taken[word] == UINT64_MAX) {
        word++;
    }
    unsigned bit = (unsigned) __builtin_ctzll(~bank->taken[word]);
    bank->taken[word] |= UINT64_C(1) << bit;
    bank->users++;
    announcement->bank = bank->number;
    announcement->slot = word * 64 + bit;
}

/* Releases a slot. Returns false if it is in none of these banks. *emptied: it was the last one of its bank. */
static bool release_slot(struct tick_bank **link, const struct announcement *announcement, bool *emptied) {
    while (*link != NULL && (*link)->number != announcement->bank) {
        link = &(*link)->next;
    }
    struct tick_bank *bank = *link;
    if (bank == NULL) {
        return false;
    }
    bank->taken[announcement->slot / 64] &= ~(UINT64_C(1) << announcement->slot % 64);
    *emptied = --bank->users == 0;
    if (*emptied) {
        *link = bank->next;
        notify_area_release_bank((int) bank->number);
        free(bank);
    }
    return true;
}

static bool claim(struct process *process, struct remote_cq *cq, struct announcement *announcement) {
    if (!has_room(cq->banks) && process->own_banks < OWN_BANKS && add_bank(&cq->banks, false)) {
        process->own_banks++;
    }
    if (has_room(cq->banks)) {
        claim_slot(cq->banks, announcement);
        return true;
    }
    pthread_mutex_lock(&common_lock);
    bool room = has_room(common_banks) || add_bank(&common_banks, true);
    if (room) {
        claim_slot(common_banks, announcement);
    }
    pthread_mutex_unlock(&common_lock);
    return room;
}

static void release(struct process *process, struct remote_cq *cq, const struct announcement *announcement) {
    bool emptied;
    if (release_slot(&cq->banks, announcement, &emptied)) {
        process->own_banks -= emptied;
        return;
    }
    pthread_mutex_lock(&common_lock);
    release_slot(&common_banks, announcement, &emptied);
    pthread_mutex_unlock(&common_lock);
}

/* Keeps a doorbell, unless there are too many. */
static void keep(struct process *process, struct remote_cq *cq, const struct doorbell *received, int *doorbell) {
    cq->refused = !account_charge_share(process->account, LINK_KEPT_CHANNELS, 1, max_doorbells());
    if (!cq->refused) {
        cq->doorbell = *received;
        atomic_store_explicit(&cq->has_doorbell, true, memory_order_release);
        *doorbell = -1;
    }
}

bool process_announce(struct process *process, uint32_t index, uint32_t id, int *doorbell,
                      struct announcement *announcement) {
    if (index >= NOTIFY_CQS) {
        return false;
    }
    pthread_mutex_lock(&process->lock);
    struct remote_cq *cq = find_or_add_cq(process, index, id);
    bool announced = false;
    if (cq != NULL) {
        struct doorbell received;
        bool is_new = cq->doorbell.fd < 0 && *doorbell >= 0;
        bool valid = !is_new || doorbell_of_peer(&process->peer, *doorbell, &received);
        announced = valid && claim(process, cq, announcement);
        if (announced) {
            announcement->cq = cq;
            use(process, cq);
        }
        if (announced && is_new) {
            keep(process, cq, &received, doorbell);
        } else if (announced && !is_new && *doorbell >= 0 && closer_close_copy(*doorbell, cq->doorbell.fd)) {
            *doorbell = -1;
        }
        rest_if_unused(process, cq);
    }
    pthread_mutex_unlock(&process->lock);
    return announced;
}

bool process_lacks_doorbell(const struct announcement *announcement) {
    const struct remote_cq *cq = announcement->cq;
    if (cq == NULL) {
        return false;
    }
    pthread_mutex_lock(&cq->process->lock);
    bool lacks = cq->doorbell.fd < 0 && !cq->refused;
    pthread_mutex_unlock(&cq->process->lock);
    return lacks;
}

void process_take_doorbell(struct announcement *announcement, int *doorbell) {
    struct remote_cq *cq = announcement->cq;
    struct doorbell received;
    if (cq == NULL) {
        return;
    }
    pthread_mutex_lock(&cq->process->lock);
    if (cq->doorbell.fd < 0 && doorbell_of_peer(&cq->process->peer, *doorbell, &received)) {
        keep(cq->process, cq, &received, doorbell);
    }
    pthread_mutex_unlock(&cq->process->lock);
}

void process_renounce(struct announcement *announcement) {
    struct remote_cq *cq = announcement->cq;
    if (cq == NULL) {
        return;
    }
    struct process *process = cq->process;
    pthread_mutex_lock(&process->lock);
    release(process, cq, announcement);
    cq->users--;
    rest_if_unused(process, cq);
    pthread_mutex_unlock(&process->lock);
    announcement->cq = NULL;
}

/* ---- doorbells ---- */

static void ring_engine(struct process *process) {
    uint64_t word = atomic_load(&process->area->engine.word);
    if (NOTIFY_ENGINE_ASLEEP(word) && atomic_load(&process->rung) != word
            && atomic_exchange(&process->rung, word) != word) {
        doorbell_ring(process->doorbell);
    }
}

static uint64_t cq_word(const struct remote_cq *cq) {
    return atomic_load(&cq->process->area->cq[cq->index].word);
}

uint32_t process_polls(const struct announcement *announcement) {
    const struct remote_cq *cq = announcement->cq;
    return atomic_load_explicit(&cq->process->area->polls[cq->index].polls, memory_order_relaxed);
}

uint64_t process_sleeper(const struct announcement *announcement) {
    uint64_t word = cq_word(announcement->cq);
    return NOTIFY_CQ_STATE(word) == NOTIFY_CQ_POLLED ? 0 : word;
}

bool process_still_sleeps(const struct announcement *announcement, uint64_t word) {
    return cq_word(announcement->cq) == word;
}

bool process_waits(const struct announcement *announcement) {
    enum notify_cq_state state = NOTIFY_CQ_STATE(cq_word(announcement->cq));
    return state == NOTIFY_CQ_ARMED || state == NOTIFY_CQ_ARMED_SOLICITED;
}

bool process_ring(const struct announcement *announcement, enum wake wake) {
    struct remote_cq *cq = announcement->cq;
    uint64_t word = cq_word(cq);
    enum notify_cq_state state = NOTIFY_CQ_STATE(word);
    if (state == NOTIFY_CQ_POLLED) {
        return false;
    }
    bool event = (state == NOTIFY_CQ_ARMED && wake != WAKE_WORK)
            || (state == NOTIFY_CQ_ARMED_SOLICITED && wake == WAKE_SOLICITED);
    if (event && atomic_load_explicit(&cq->has_doorbell, memory_order_acquire)) {
        if (atomic_load(&cq->rung) != word && atomic_exchange(&cq->rung, word) != word) {
            doorbell_ring(cq->doorbell);
        }
    } else if (event || wake != WAKE_COMPLETION) {
        ring_engine(cq->process);
    }
    return true;
}

void process_ring_engine(struct process *process) {
    doorbell_ring(process->doorbell);
}

static void fork_prepare(void) {
    pthread_mutex_lock(&processes_lock);
    for (struct process *process = processes; process != NULL; process = process->next) {
        pthread_mutex_lock(&process->lock);
    }
    pthread_mutex_lock(&common_lock);
}

static void fork_parent(void) {
    pthread_mutex_unlock(&common_lock);
    for (struct process *process = processes; process != NULL; process = process->next) {
        pthread_mutex_unlock(&process->lock);
    }
    pthread_mutex_unlock(&processes_lock);
}

static void close_doorbells(const struct process *process) {
    close_doorbell(process, closer_close_inherited);
    for (unsigned i = 0; i < CQ_BUCKETS; i++) {
        for (struct remote_cq *cq = process->cqs[i]; cq != NULL; cq = cq->next) {
            if (cq->doorbell.fd >= 0) {
                closer_close_inherited(cq->doorbell.fd);
            }
        }
    }
}

/* Forgets the parent's peers, whose memory is not mapped in the child (sealed.c). */
static void fork_child(void) {
    fork_parent();
    for (struct process *process = processes; process != NULL; process = process->next) {
        close_doorbells(process);
    }
    processes = NULL;
    common_banks = NULL;
}

void process_init(void) {
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}
