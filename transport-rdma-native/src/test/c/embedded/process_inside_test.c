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
/* State that this process keeps of others: ticks and doorbells, whatever they call their completion queues. */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "embedded/base/sealed.h"
#include "embedded/device/cq.h"
#include "embedded/link/process.h"
#include "pair.h"

#define INVENTED 9000 /* by each of LIARS processes; more than there are banks */
#define LIARS 40
#define BANKS_OF_ONE 256 /* OWN_BANKS of process.c */
#define AREAS_OF_ONE 64  /* MAX_NOTIFY_AREAS of process.c */
#define AREAS_OF_USER 256 /* MAX_NOTIFY_AREAS_OF_USER */

/* The first number of a process that cannot exist (PID_MAX_LIMIT of the kernel), so that none is this one's. */
#define NOBODY (1 << 22)

static struct process *open_process(pid_t pid) {
    int doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(doorbell >= 0);
    const struct link_peer peer = { .uid = geteuid(), .pid = pid, .may_signal = true };
    struct process *process = process_of_notify_area(&peer, own_notify_area_fd, &doorbell);
    CHECK(process != NULL);
    CHECK_EQ(doorbell, -1);
    return process;
}

/* Returns how many banks a completion queue may still have for itself. */
static int spare_banks(void) {
    static int banks[NOTIFY_BANKS];
    int count = 0;
    while ((banks[count] = notify_area_claim_bank(false)) >= 0) {
        count++;
    }
    for (int i = 0; i < count; i++) {
        notify_area_release_bank(banks[i]);
    }
    return count;
}

static struct announcement *announce_many(struct process *process, uint32_t count) {
    struct announcement *announcements = calloc(count, sizeof(*announcements));
    CHECK(announcements != NULL);
    for (uint32_t i = 0; i < count; i++) {
        int none = -1;
        CHECK(process_announce(process, i % NOTIFY_CQS, i, &none, &announcements[i]));
    }
    return announcements;
}

static void renounce_many(struct announcement *announcements, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        process_renounce(&announcements[i]);
    }
    free(announcements);
}

static void invented_completion_queues_use_few_banks(void) {
    int spare = spare_banks();
    struct process *process = open_process(NOBODY);
    struct announcement *announcements = announce_many(process, INVENTED);
    CHECK(spare_banks() >= spare - BANKS_OF_ONE - INVENTED / (int) NOTIFY_BANK_SLOTS - 1);
    renounce_many(announcements, INVENTED);
    CHECK_EQ(spare_banks(), spare);
    process_put(process);
}

static void there_is_a_tick_for_everybody_whoever_has_used_up_the_banks(void) {
    int spare = spare_banks();
    struct process *liars[LIARS];
    struct announcement *lies[LIARS];
    for (int i = 0; i < LIARS; i++) {
        liars[i] = open_process(NOBODY + i);
        lies[i] = announce_many(liars[i], INVENTED);
    }
    CHECK_EQ(spare_banks(), 0);
    struct process *honest = open_process(NOBODY + LIARS);
    struct announcement *announcements = announce_many(honest, 2000);
    for (int i = 0; i < 2000; i++) { /* no two have the same */
        for (int k = 0; k < i; k++) {
            CHECK(announcements[i].bank != announcements[k].bank || announcements[i].slot != announcements[k].slot);
        }
    }
    for (int i = 0; i < LIARS; i++) {
        renounce_many(lies[i], INVENTED);
        process_put(liars[i]);
    }
    renounce_many(announcements, 2000);
    process_put(honest);
    CHECK_EQ(spare_banks(), spare);
}

static void the_queue_pairs_of_a_completion_queue_share_banks_with_no_other(void) {
    struct process *process = open_process(NOBODY);
    struct announcement mine[NOTIFY_BANK_SLOTS + 1], other;
    int none = -1;
    for (unsigned i = 0; i <= NOTIFY_BANK_SLOTS; i++) {
        CHECK(process_announce(process, 1, 1, &none, &mine[i]));
        CHECK_EQ(mine[i].bank == mine[0].bank, i < NOTIFY_BANK_SLOTS);
    }
    CHECK(process_announce(process, 2, 2, &none, &other));
    CHECK(other.bank != mine[0].bank && other.bank != mine[NOTIFY_BANK_SLOTS].bank);
    process_renounce(&other);
    for (unsigned i = 0; i <= NOTIFY_BANK_SLOTS; i++) {
        process_renounce(&mine[i]);
    }
    process_put(process);
}

static void one_doorbell_is_kept_for_all(void) {
    struct process *process = open_process(NOBODY);
    struct announcement announcements[8];
    int before = open_fds();
    for (int i = 0; i < 8; i++) {
        int doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK(process_announce(process, 1, 1, &doorbell, &announcements[i]));
        CHECK_EQ(doorbell < 0, i == 0);
        if (doorbell >= 0) {
            close(doorbell);
        }
    }
    CHECK_EVENTUALLY(open_fds() == before + 1);
    for (int i = 0; i < 8; i++) {
        process_renounce(&announcements[i]);
    }
    process_put(process);
    CHECK_EVENTUALLY(open_fds() < before);
}

static void a_doorbell_stays_for_the_next_one_unless_there_are_very_many(void) {
    enum { CQS = 300, RESTING = 64 }; /* RESTING_CQS of process.c */
    struct process *process = open_process(NOBODY);
    struct announcement announcement;
    int before = open_fds(), none = -1;
    for (uint32_t i = 0; i < CQS; i++) {
        int doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK(process_announce(process, i, i, &doorbell, &announcement));
        CHECK_EQ(doorbell, -1);
        process_renounce(&announcement);
    }
    CHECK_EVENTUALLY(open_fds() == before + RESTING);
    CHECK(process_announce(process, CQS - 1, CQS - 1, &none, &announcement));
    CHECK(!process_lacks_doorbell(&announcement));
    process_renounce(&announcement);
    CHECK(process_announce(process, 1, 1, &none, &announcement));
    CHECK(process_lacks_doorbell(&announcement));
    int doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    process_take_doorbell(&announcement, &doorbell);
    CHECK_EQ(doorbell, -1);
    CHECK(!process_lacks_doorbell(&announcement));
    int another = own_notify_area_fd; /* no doorbell */
    process_take_doorbell(&announcement, &another);
    CHECK_EQ(another, own_notify_area_fd);
    process_renounce(&announcement);
    process_put(process);
    CHECK_EVENTUALLY(open_fds() < before);
}

static void further_copies_of_a_doorbell_are_closed_at_once(void) {
    struct process *process = open_process(NOBODY);
    struct announcement announcements[3];
    int doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), copy = dup(doorbell), other = eventfd(0, EFD_CLOEXEC);
    const int closed = copy;
    CHECK(process_announce(process, 1, 1, &doorbell, &announcements[0]));
    CHECK(process_announce(process, 1, 1, &copy, &announcements[1]));
    if (copy < 0) { /* Linux 6.10 and later */
        CHECK(fcntl(closed, F_GETFD) < 0);
    } else {
        close(copy);
    }
    CHECK(process_announce(process, 1, 1, &other, &announcements[2]));
    CHECK(fcntl(other, F_GETFD) >= 0);
    close(other);
    for (int i = 0; i < 3; i++) {
        process_renounce(&announcements[i]);
    }
    process_put(process);
}

static struct process *show_new_area(uid_t user, pid_t pid) {
    void *memory;
    int fd = sealed_create("test-area", sizeof(struct notify_area), &memory);
    CHECK(fd >= 0);
    CHECK_EQ(munmap(memory, sizeof(struct notify_area)), 0);
    int doorbell = user == geteuid() ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)
            : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(doorbell >= 0);
    const struct link_peer peer = { .uid = user, .pid = pid, .may_signal = user == geteuid() };
    struct process *process = process_of_notify_area(&peer, fd, &doorbell);
    if (process == NULL) {
        CHECK_EQ(errno, EPROTO);
        close(doorbell);
    }
    close(fd);
    return process;
}

static void a_process_with_very_many_doorbells_has_some_kept(void) {
    enum { CQS = 300, KEPT = 256 }; /* half of MIN_DOORBELLS of process.c */
    static struct announcement announcements[CQS];
    struct rlimit limit, low;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = limit;
    low.rlim_cur = 8 * KEPT;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    struct process *process = open_process(NOBODY), *other = open_process(NOBODY + 1);
    struct process *another_area = show_new_area(geteuid(), NOBODY);
    CHECK(another_area != NULL);
    int before = open_fds(), left = 0;
    for (uint32_t i = 0; i < CQS; i++) {
        int doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK(process_announce(process, i, i, &doorbell, &announcements[i]));
        if (doorbell >= 0) {
            close(doorbell);
            left++;
        }
    }
    CHECK_EQ(left, CQS - KEPT);
    struct announcement announcement;
    int doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(process_announce(another_area, 1, 1, &doorbell, &announcement));
    CHECK(doorbell >= 0); /* doorbell of the same process: not kept */
    process_renounce(&announcement);
    CHECK(process_announce(other, 1, 1, &doorbell, &announcement));
    CHECK_EQ(doorbell, -1);
    process_renounce(&announcement);
    int none = -1;
    CHECK(process_announce(process, CQS - 1, CQS - 1, &none, &announcement));
    CHECK(!process_lacks_doorbell(&announcement)); /* it was refused, and would be again */
    process_renounce(&announcement);
    for (uint32_t i = 0; i < CQS; i++) {
        process_renounce(&announcements[i]);
    }
    process_put(process);
    process_put(another_area);
    process_put(other);
    CHECK_EVENTUALLY(open_fds() < before);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A program that talks to itself has no descriptor for that but those of the link. */
static void the_own_process_has_no_doorbell_but_the_engines(void) {
    int before = open_fds(), doorbell = fcntl(own_doorbell.rung.fd, F_DUPFD_CLOEXEC, 0);
    CHECK(doorbell >= 0);
    const struct link_peer self = { .uid = geteuid(), .pid = getpid(), .may_signal = true };
    struct process *process = process_of_notify_area(&self, own_notify_area_fd, &doorbell);
    CHECK(process != NULL && doorbell >= 0);
    close(doorbell);
    CHECK_EVENTUALLY(open_fds() <= before);
    process_ring_engine(process);
    process_put(process);
    CHECK_EVENTUALLY(open_fds() <= before);
    CHECK(fcntl(own_doorbell.rung.fd, F_GETFD) >= 0);
}

/* Shows one area over each link. The last one is somebody else's. */
static void show_areas(uid_t user, int processes, int limit, uid_t other_user, pid_t other_pid) {
    struct process *shown[512];
    int before = open_fds(), count = 0;
    while (count < 512 && (shown[count] = show_new_area(user, NOBODY + count % processes)) != NULL) {
        count++;
    }
    CHECK_EQ(count, limit);
    CHECK_EVENTUALLY(open_fds() == before + limit);
    struct process *other = show_new_area(other_user, other_pid);
    CHECK(other != NULL);
    process_put(other);
    process_put(shown[--count]);
    shown[count] = show_new_area(user, NOBODY);
    CHECK(shown[count++] != NULL);
    while (count > 0) {
        process_put(shown[--count]);
    }
    CHECK_EVENTUALLY(open_fds() <= before);
}

static void a_process_that_shows_ever_more_notify_areas_is_refused(void) {
    show_areas(geteuid(), 1, AREAS_OF_ONE, geteuid(), NOBODY + 1);
}

static void another_user_with_many_processes_shows_few_notify_areas(void) {
    show_areas(geteuid() + 1, 100, AREAS_OF_USER, geteuid() + 2, NOBODY);
}

/* Waits after a test until its descriptors are closed: the next one counts descriptors. */
#define RUN_TO_THE_END(test)                                                                                          \
    do {                                                                                                              \
        int before = open_fds();                                                                                      \
        RUN(test);                                                                                                    \
        CHECK_EVENTUALLY(open_fds() <= before);                                                                       \
    } while (0)

int main(void) {
    struct end end; /* opens the provider */
    end_open(&end, &defaults);
    RUN_TO_THE_END(invented_completion_queues_use_few_banks);
    RUN_TO_THE_END(there_is_a_tick_for_everybody_whoever_has_used_up_the_banks);
    RUN_TO_THE_END(the_queue_pairs_of_a_completion_queue_share_banks_with_no_other);
    RUN_TO_THE_END(one_doorbell_is_kept_for_all);
    RUN_TO_THE_END(a_doorbell_stays_for_the_next_one_unless_there_are_very_many);
    RUN_TO_THE_END(further_copies_of_a_doorbell_are_closed_at_once);
    RUN_TO_THE_END(a_process_with_very_many_doorbells_has_some_kept);
    RUN_TO_THE_END(the_own_process_has_no_doorbell_but_the_engines);
    RUN_TO_THE_END(a_process_that_shows_ever_more_notify_areas_is_refused);
    RUN_TO_THE_END(another_user_with_many_processes_shows_few_notify_areas);
    end_close(&end);
    return 0;
}
