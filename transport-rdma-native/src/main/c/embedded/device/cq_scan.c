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
 * Finds the queue pairs for which peers have published work: compares the peers' ticks (notify_area.h) with private
 * copies. Everything here belongs to the owner of the completion queue's scan gate.
 *
 * Polls look directly at the few connections that had work lately, whose cache lines stay in this processor's cache
 * until the peer writes to them. Their peers are told, and do not increment ticks for them. The choice changes slowly,
 * because telling a peer costs as much as a tick.
 *
 * One call transfers a limited number of bytes for a queue pair (qp.h). A queue pair that has more work, or is in the
 * middle of a message, goes to a queue, and each scan serves only the first of that queue. So a message of another
 * queue pair waits for one long transfer at most, however many there are.
 */
#include <stdlib.h>

#include "cq.h"
#include "embedded/base/fence.h"
#include "embedded/link/process.h"
#include "qp.h"

#define SCAN_AGAIN 1u

/*
 * Number of banks that one poll looks at, in turn, so that polls of a completion queue with very many peer processes
 * are not slow.
 */
#define BANKS_PER_POLL 64

/*
 * Number of busy polls after which ticks are scanned as well, so that queue pairs that always have work do not starve
 * others.
 */
#define DIRECT_TURNS 8

/* Number of polls without work after which a queue pair makes room for another one among those looked at directly. */
atomic_uint cq_cold_polls = 4096;

struct group_watch {
    uint32_t seen[NOTIFY_GROUP_SLOTS];
    struct cq_place *place[NOTIFY_GROUP_SLOTS];
};

struct bank_watch {
    _Alignas(64) uint64_t seen[NOTIFY_GROUPS];
    struct bank_watch *next;
    struct process *process;
    const struct notify_groups *groups; /* groups of the bank, on the process's notify area */
    const _Atomic uint32_t *ticks;
    uint32_t bank;
    unsigned users;
    struct group_watch *group[NOTIFY_GROUPS];
};

static void append(struct cq *cq, struct cq_place *place) {
    place->unfinished = true;
    STAILQ_INSERT_TAIL(&cq->unfinished, place, next_unfinished);
}

static void progress(struct cq *cq, struct cq_place *place) {
    if (qp_progress(place->qp, QP_WORK_ALL)) {
        append(cq, place);
    }
}

/* Goes on with the place that has waited longest. */
static void take_turn(struct cq *cq) {
    struct cq_place *first = STAILQ_FIRST(&cq->unfinished);
    cq->turn_taken = first != NULL;
    if (first != NULL) {
        STAILQ_REMOVE_HEAD(&cq->unfinished, next_unfinished);
        first->unfinished = false;
        progress(cq, first);
    }
}

/* Serves a place that has new work. */
static void serve(struct cq *cq, struct cq_place *place) {
    if (place->unfinished) {
        return; /* the place is in the queue */
    }
    if (!atomic_load_explicit(&place->qp->in_message, memory_order_relaxed)) {
        progress(cq, place);
    } else if (cq->turn_taken) {
        append(cq, place);
    } else {
        cq->turn_taken = true;
        progress(cq, place);
    }
}

static uint32_t polls(const struct cq *cq) {
    return atomic_load_explicit(cq->polling.polls, memory_order_relaxed);
}

/* Returns the index of the direct place that has had no work for the longest time. */
static unsigned coldest(const struct cq *cq) {
    unsigned coldest = 0;
    for (unsigned i = 1; i < cq->num_direct; i++) {
        if ((int32_t) (cq->direct[i]->worked_at - cq->direct[coldest]->worked_at) < 0) {
            coldest = i;
        }
    }
    return coldest;
}

static void drop_direct(struct cq *cq, unsigned i) {
    struct cq_place *place = cq->direct[i];
    cq->direct[i] = cq->direct[--cq->num_direct];
    place->qp->ops->set_direct(place->qp, place, false);
}

/* Returns the index of the place in `direct`, or num_direct. */
static unsigned find_direct(const struct cq *cq, const struct cq_place *place) {
    unsigned i = 0;
    while (i < cq->num_direct && cq->direct[i] != place) {
        i++;
    }
    return i;
}

/* Makes a place direct, for which a tick has announced work to a poll, if it can replace a cold one. */
static void consider_direct(struct cq *cq, struct cq_place *place) {
    if (find_direct(cq, place) < cq->num_direct) {
        return;
    }
    if (cq->num_direct == CQ_DIRECT) {
        unsigned i = coldest(cq);
        struct cq_place *former = cq->direct[i];
        if (polls(cq) - former->worked_at < atomic_load_explicit(&cq_cold_polls, memory_order_relaxed)) {
            return;
        }
        drop_direct(cq, i);
        serve(cq, former); /* serves work that was published before the peer could see that ticks are needed again */
    }
    place->worked_at = polls(cq);
    cq->direct[cq->num_direct++] = place;
    place->qp->ops->set_direct(place->qp, place, true);
}

/* Looks at the direct places without a tick. Returns whether one of them had work. */
static bool serve_direct(struct cq *cq) {
    bool found = false;
    for (unsigned i = 0; i < cq->num_direct; i++) {
        struct cq_place *place = cq->direct[i];
        if (qp_has_work(place->qp)) {
            place->worked_at = polls(cq);
            serve(cq, place);
            found = true;
        }
    }
    return found;
}

__attribute__((noinline)) static void scan_group(struct cq *cq, struct bank_watch *bank, unsigned g) {
    struct group_watch *group = bank->group[g];
    if (group == NULL) {
        return; /* the places are not known yet: cq_scan_add() makes the next scan look again */
    }
    const _Atomic uint32_t *ticks = bank->ticks + g * NOTIFY_GROUP_SLOTS;
    for (unsigned s = 0; s < NOTIFY_GROUP_SLOTS; s++) {
        struct cq_place *place = group->place[s];
        uint32_t tick;
        if (place != NULL && (tick = atomic_load_explicit(&ticks[s], memory_order_acquire)) != group->seen[s]) {
            group->seen[s] = tick;
            if (place->found != NULL) {
                place->found(place);
            } else if (!engine_is_self()) {
                consider_direct(cq, place);
            }
            serve(cq, place);
        }
    }
}

static bool scan_bank(struct cq *cq, struct bank_watch *bank) {
    bool found = false;
    for (unsigned g = 0; g < NOTIFY_GROUPS; g++) {
        uint64_t tick = atomic_load(&bank->groups->tick[g]);
        if (tick != bank->seen[g]) {
            bank->seen[g] = tick;
            found = true;
            scan_group(cq, bank, g);
        }
    }
    return found;
}

/*
 * Executes all work that was announced before the call. If a queue pair has more work than one call does, the engine
 * does the rest, because the caller may sleep.
 */
static bool scan_all(struct cq *cq) {
    fence(); /* the caller may just have told peers to ring from now on */
    take_turn(cq);
    bool found = cq->turn_taken;
    found |= serve_direct(cq);
    for (struct bank_watch *bank = cq->banks; bank != NULL; bank = bank->next) {
        found |= scan_bank(cq, bank);
    }
    if (!STAILQ_EMPTY(&cq->unfinished) && !engine_is_self()) {
        cq_engine_ring();
    }
    return found;
}

static void leave(struct cq *cq) {
    while (gate_leave(&cq->scan) != 0) {
        scan_all(cq);
    }
}

static struct bank_watch *find_bank(struct cq *cq, struct process *process, uint32_t number) {
    struct bank_watch *bank = cq->banks;
    while (bank != NULL && (bank->process != process || bank->bank != number)) {
        bank = bank->next;
    }
    return bank;
}

static void scan_some(struct cq *cq) {
    struct bank_watch *bank = cq->cursor;
    for (int i = 0; i < BANKS_PER_POLL; i++) {
        if (bank == NULL) {
            bank = cq->banks;
            if (bank == NULL || i > 0) {
                break;
            }
        }
        scan_bank(cq, bank);
        bank = bank->next;
    }
    cq->cursor = bank;
}

void cq_scan_try(struct cq *cq) {
    if (!gate_try(&cq->scan)) {
        return;
    }
    take_turn(cq);
    bool busy = serve_direct(cq) && STAILQ_EMPTY(&cq->unfinished)
            && atomic_load_explicit(&cq->count, memory_order_relaxed) != 0;
    if (!busy || ++cq->turn % DIRECT_TURNS == 0) {
        scan_some(cq);
    }
    if (!STAILQ_EMPTY(&cq->unfinished) && !cq_is_polled(cq)) {
        cq_engine_ring(); /* peers have rung already, and no poll may follow */
    }
    leave(cq);
}

bool cq_scan(struct cq *cq) {
    if (gate_enter(&cq->scan, SCAN_AGAIN) == 0) {
        return false; /* the present owner looks once more before it leaves */
    }
    bool found = scan_all(cq);
    leave(cq);
    return found;
}

bool cq_peer_is(struct cq *cq, enum ext_peer_state state) {
    bool is = false;
    if (gate_try(&cq->scan)) {
        for (unsigned i = 0; i < cq->num_direct; i++) {
            is |= qp_peer_is(cq->direct[i]->qp, state);
        }
        leave(cq);
    }
    return is;
}

static struct bank_watch *add_bank(struct cq *cq, struct process *process, uint32_t number) {
    struct bank_watch *bank = aligned_alloc(64, sizeof(*bank));
    if (bank != NULL) {
        *bank = (struct bank_watch) {
            .next = cq->banks,
            .process = process_get(process),
            .groups = &process_notify_area(process)->groups[number],
            .ticks = process_notify_area(process)->tick[number],
            .bank = number,
        };
        cq->banks = bank;
        cq->cursor = NULL;
    }
    return bank;
}

static void remove_bank(struct cq *cq, struct bank_watch **link) {
    struct bank_watch *bank = *link;
    *link = bank->next;
    cq->cursor = NULL;
    for (unsigned g = 0; g < NOTIFY_GROUPS; g++) {
        free(bank->group[g]);
    }
    process_put(bank->process);
    free(bank);
}

bool cq_scan_add(struct cq *cq, struct cq_place *place) {
    gate_lock(&cq->scan);
    struct bank_watch *bank = find_bank(cq, place->process, place->bank);
    if (bank == NULL) {
        bank = add_bank(cq, place->process, place->bank);
    }
    struct group_watch **group = bank == NULL ? NULL : &bank->group[place->slot / NOTIFY_GROUP_SLOTS];
    if (group != NULL && *group == NULL) {
        *group = calloc(1, sizeof(**group));
    }
    bool added = group != NULL && *group != NULL;
    if (added) {
        unsigned s = place->slot % NOTIFY_GROUP_SLOTS;
        if ((*group)->place[s] == NULL) {
            bank->users++;
        }
        (*group)->place[s] = place;
        (*group)->seen[s] = atomic_load(&bank->ticks[place->slot]) - 1;
        bank->seen[place->slot / NOTIFY_GROUP_SLOTS]--; /* makes the next scan look once in any case */
    } else if (bank != NULL && bank->users == 0) {
        remove_bank(cq, &cq->banks); /* the bank was added in front */
    }
    leave(cq);
    return added;
}

void cq_scan_remove(struct cq *cq, struct cq_place *place) {
    gate_lock(&cq->scan);
    if (place->unfinished) {
        STAILQ_REMOVE(&cq->unfinished, place, cq_place, next_unfinished);
        place->unfinished = false;
    }
    unsigned direct = find_direct(cq, place);
    if (direct < cq->num_direct) {
        drop_direct(cq, direct);
    }
    struct bank_watch **link = &cq->banks;
    while (*link != NULL && ((*link)->process != place->process || (*link)->bank != place->bank)) {
        link = &(*link)->next;
    }
    struct group_watch *group = *link == NULL ? NULL : (*link)->group[place->slot / NOTIFY_GROUP_SLOTS];
    if (group != NULL) { /* NULL: there was no memory to add it */
        struct cq_place **entry = &group->place[place->slot % NOTIFY_GROUP_SLOTS];
        if (*entry == place) { /* another place: the peer has given the slot to another queue pair */
            *entry = NULL;
            if (--(*link)->users == 0) {
                remove_bank(cq, link);
            }
        }
    }
    leave(cq);
}
