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
/* @Tag("stalls") */
/*
 * Memory that the queue pairs of a link share: who has which segment when, and that a peer cannot have too much of it.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "embedded/base/sealed.h"
#include "embedded/link/account.h"
#include "embedded/link/arena.h"
#include "embedded/link/link_private.h"
#include "embedded/link/notify_area.h"
#include "pair.h"
#include "provider.h"
#include "qp_inside.h"

#define KEPT 256 /* MIN_KEPT of arena.c */

static void open_on(struct end *end, const struct end *shared) {
    end_open_on(end, shared, &shared->options);
}

static void join(struct end *a, struct end *b) {
    end_connect(a, b->qp->qp_num);
    end_connect(b, a->qp->qp_num);
}

static struct wire_segment *segment_of(const struct end *end) {
    return rc_of(qp_of(end->qp))->segment;
}

static void destroy(struct end *end) {
    CHECK_EQ(ibv_destroy_qp(end->qp), 0);
}

static void many_that_come_and_go_use_the_same_memory(void) {
    struct end shared, a, b;
    end_open(&shared, &defaults);
    int before = 0;
    for (int i = 0; i < 2000; i++) {
        open_on(&a, &shared);
        open_on(&b, &shared);
        join(&a, &b);
        pair_talk(&a, &b);
        destroy(&a);
        destroy(&b);
        if (i == 500) {
            before = count_arenas();
        }
    }
    /* A queue pair whose peer is slow to leave has the next one use another. */
    CHECK(count_arenas() <= before + 2000 / 16);
    end_close(&shared);
    CHECK_EVENTUALLY(count_arenas() == 0);
}

static void open_pair(struct end pair[2], const struct end *shared) {
    open_on(&pair[0], shared);
    open_on(&pair[1], shared);
    join(&pair[0], &pair[1]);
    pair_talk(&pair[0], &pair[1]);
}

/* A segment is not written by another user as long as a peer may look at it. */
static void a_segment_has_no_other_user_before_the_peer_has_left_it(void) {
    enum { NEIGHBOURS = 12, NEXT = 64 };
    static struct end neighbours[NEIGHBOURS][2], next[NEXT][2];
    struct end shared, pair[2];
    end_open(&shared, &defaults);
    for (int i = 0; i < NEIGHBOURS; i++) { /* so that the arena has users all the time */
        open_pair(neighbours[i], &shared);
    }
    open_pair(pair, &shared);
    const struct wire_segment *used = segment_of(&pair[0]);
    CHECK_EVENTUALLY(atomic_load(&qp_of(pair[1].qp)->peek) != NULL);
    destroy(&pair[0]);
    int count = 0;
    for (; count < 16; count++) {
        open_pair(next[count], &shared);
        CHECK(segment_of(&next[count][0]) != used && segment_of(&next[count][1]) != used);
    }
    CHECK_EQ(post_send(&pair[1], 5, IBV_WR_SEND, 0, 0, 8), 0); /* the receiver is gone */
    expect_nothing(shared.recv_cq);
    destroy(&pair[1]);
    settle();
    for (bool again = false; !again; count++) {
        CHECK(count < NEXT);
        open_pair(next[count], &shared);
        again = segment_of(&next[count][0]) == used || segment_of(&next[count][1]) == used;
    }
    while (count-- > 0) {
        destroy(&next[count][0]);
        destroy(&next[count][1]);
    }
    for (int i = 0; i < NEIGHBOURS; i++) {
        destroy(&neighbours[i][0]);
        destroy(&neighbours[i][1]);
    }
    end_close(&shared);
}

/* Memory is given back also while others of the link go on. */
static void memory_without_users_is_given_back(void) {
    enum { COUNT = 100 };
    static struct end ends[2][COUNT];
    struct end shared;
    end_open(&shared, &defaults);
    for (int i = 0; i < COUNT; i++) {
        open_on(&ends[0][i], &shared);
        open_on(&ends[1][i], &shared);
        join(&ends[0][i], &ends[1][i]);
        pair_talk(&ends[0][i], &ends[1][i]);
    }
    int most = count_arenas();
    CHECK(most >= 4 * COUNT / 8 && most < 2 * COUNT); /* each link has a few small arenas, seen from two sides */
    for (int i = 1; i < COUNT; i++) {
        destroy(&ends[0][i]);
        destroy(&ends[1][i]);
    }
    CHECK_EVENTUALLY(count_arenas() <= 4);
    pair_talk(&ends[0][0], &ends[1][0]);
    destroy(&ends[0][0]);
    destroy(&ends[1][0]);
    end_close(&shared);
    CHECK_EVENTUALLY(count_arenas() == 0);
}

/* ---- descriptors that are kept to be sent again ---- */

struct shown {
    struct link link;
    struct arenas arenas;
    unsigned count;
    struct {
        struct arena *arena;
        struct wire_segment *segment;
    } claims[WIRE_ARENA_SEGMENTS * KEPT];
};

/* Introduces segments to a process of another user, which does not answer, until there are so many arenas. */
static void show(struct shown *shown, uid_t user, unsigned arenas) {
    shown->link = (struct link) { .peer = { .uid = user }, .up = true, .account = NULL };
    shown->link.account = account_get(&shown->link.peer);
    CHECK(shown->link.account != NULL);
    arenas_init(&shown->arenas, &shown->link);
    for (unsigned i = 0; shown->arenas.count < arenas; i++) {
        struct wire_place place;
        struct arena *arena;
        struct wire_segment *segment = arenas_claim(&shown->arenas, &arena);
        CHECK(segment != NULL);
        int fd = arenas_begin_introduction(&shown->arenas, arena, segment, &place);
        arenas_end_introduction(&shown->arenas, arena, segment, fd >= 0, true);
        shown->claims[i].arena = arena;
        shown->claims[i].segment = segment;
        shown->count = i + 1;
    }
}

static void hide(struct shown *shown) {
    const uint32_t none[WIRE_STREAMS] = { 0 };
    for (unsigned i = 0; i < shown->count; i++) {
        arenas_release(&shown->arenas, shown->claims[i].arena, shown->claims[i].segment, none);
    }
    arenas_go_down(&shown->arenas);
    arenas_free(&shown->arenas);
    account_put(shown->link.account);
}

static void a_user_that_does_not_answer_leaves_descriptors_for_the_memory_of_others(void) {
    enum { OF_ONE = 3 * KEPT / 4, OF_OTHER = 16 };
    static struct shown one, other;
    struct rlimit before;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = { 4 * KEPT, before.rlim_max };
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    int fds = open_fds();
    show(&one, 1000001, OF_ONE);
    CHECK_EQ(open_fds(), fds + KEPT / 2);
    show(&other, 1000002, OF_OTHER);
    CHECK_EQ(open_fds(), fds + KEPT / 2 + OF_OTHER);
    hide(&one);
    hide(&other);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* ---- a process that is up to something ---- */

enum {
    KEEPS,  /* never says that a segment was left */
    FLOODS, /* shows arenas without end */
};

static bool ignore(struct link *link, const struct link_message *incoming) {
    (void) link;
    (void) incoming;
    return true;
}

static void flood(uint32_t own_qpn, uint32_t victim_qpn) {
    struct link *link;
    void *memory;
    int fd = sealed_create("flood", wire_arena_size(1), &memory);
    CHECK(fd >= 0);
    CHECK_EQ(link_connect_qpn(victim_qpn, &link), 0);
    int fds[] = { own_notify_area_fd, own_doorbell.rung.fd };
    CHECK_EQ(link_send(link, WIRE_NOTIFY_AREA, NULL, 0, fds, 2), 0);
    for (uint32_t i = 0; i < 20000; i++) {
        const struct wire_attach attach = {
            .src_qpn = own_qpn + i % 2, .dst_qpn = victim_qpn, .recv_cq_id = 1, .send_cq_id = 1,
            .type = IBV_QPT_RC, .carries = WIRE_ARENA, .place = { .arena = i, .segments = 1 },
        };
        while (link_is_behind(link)) {
            settle();
        }
        CHECK_EQ(link_send(link, WIRE_ATTACH, &attach, sizeof(attach), &fd, 1), 0);
    }
    CHECK_EVENTUALLY(!link_is_behind(link));
}

static void be_up_to_something(int socket, int kind) {
    struct end end;
    link_set_handler(WIRE_LEAVE, ignore);
    if (kind == KEEPS) {
        link_set_handler(WIRE_ATTACH, ignore);
    }
    end_open(&end, &defaults);
    send_all(socket, &end.qp->qp_num, sizeof(end.qp->qp_num));
    uint32_t victim_qpn;
    receive_all(socket, &victim_qpn, sizeof(victim_qpn));
    if (kind == FLOODS) {
        flood(end.qp->qp_num, victim_qpn);
    }
    send_all(socket, "", 1);
    char done;
    receive_all(socket, &done, 1); /* till it may go */
}

static void keep(int socket) {
    be_up_to_something(socket, KEEPS);
}

static void flood_all(int socket) {
    be_up_to_something(socket, FLOODS);
}

static pid_t pids[2];
static int sockets[2];
static uint32_t qpns[2];

static void let_go(int kind, uint32_t victim_qpn) {
    char done;
    send_all(sockets[kind], &victim_qpn, sizeof(victim_qpn));
    receive_all(sockets[kind], &done, 1);
}

static void dismiss(int kind) {
    send_all(sockets[kind], "", 1);
    expect_exit(pids[kind], 0);
}

static void a_peer_that_never_leaves_keeps_nothing(void) {
    struct end shared, ends[64];
    end_open(&shared, &defaults);
    end_to_init(&shared);
    let_go(KEEPS, 0);
    CHECK_EQ(end_to_rtr(&shared, qpns[KEEPS]), 0); /* keeps the link up */
    for (int i = 0; i < 64; i++) {
        open_on(&ends[i], &shared);
        end_to_init(&ends[i]);
        CHECK_EQ(end_to_rtr(&ends[i], qpns[KEEPS]), 0);
    }
    CHECK(count_arenas() >= 64 / 8);
    for (int i = 0; i < 64; i++) {
        destroy(&ends[i]);
    }
    CHECK_EVENTUALLY(count_arenas() == 1);
    CHECK(link_is_up(peer_link(rc_of(qp_of(shared.qp))->route)));
    dismiss(KEEPS);
    end_close(&shared);
}

#define MOST 16384 /* MAX_VIEWS of arena.c */

static void a_peer_cannot_use_up_the_mappings(void) {
    struct end victim, a, b;
    end_open(&victim, &defaults);
    end_to_init(&victim);
    pair_open(&a, &b, &defaults);
    pair_talk(&a, &b);
    let_go(FLOODS, victim.qp->qp_num);
    CHECK_EVENTUALLY(count_mappings_of("flood") == MOST);
    settle();
    CHECK_EQ(count_mappings_of("flood"), MOST);
    pair_talk(&a, &b);
    pair_close(&a, &b);
    pair_open(&a, &b, &defaults); /* who has none yet, gets some */
    pair_talk(&a, &b);
    pair_close(&a, &b);
    dismiss(FLOODS);
    CHECK_EVENTUALLY(count_mappings_of("flood") == 0);
    end_close(&victim);
}

/* ThreadSanitizer takes a millisecond for each mapping, and finds nothing in what one thread counts. */
#ifdef __SANITIZE_THREAD__
#define KINDS_IN_USE (FLOODS + rounds(1, 0))
#else
#define KINDS_IN_USE (FLOODS + 1)
#endif

int main(void) {
    link_idle_timeout_ns = 1000000000;
    void (*const kinds[])(int) = { keep, flood_all };
    for (unsigned kind = 0; kind < KINDS_IN_USE; kind++) {
        pids[kind] = spawn(kinds[kind], &sockets[kind]);
    }
    for (unsigned kind = 0; kind < KINDS_IN_USE; kind++) {
        receive_all(sockets[kind], &qpns[kind], sizeof(qpns[kind]));
    }
    RUN(a_user_that_does_not_answer_leaves_descriptors_for_the_memory_of_others); /* while there are no links */
    /*
     * First of those with queue pairs: its numbers are of one block, and so one link. No memory without users is missed
     * by a count.
     */
    arena_rest_ns = UINT64_C(3600000000000);
    RUN(a_segment_has_no_other_user_before_the_peer_has_left_it);
    RUN(many_that_come_and_go_use_the_same_memory);
    link_idle_timeout_ns = arena_rest_ns = 20000000;
    RUN(memory_without_users_is_given_back);
    RUN(a_peer_that_never_leaves_keeps_nothing);
    if (KINDS_IN_USE > FLOODS) {
        RUN(a_peer_cannot_use_up_the_mappings);
    }
    return 0;
}
