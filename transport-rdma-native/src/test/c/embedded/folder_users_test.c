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
 * RDMA_EMBEDDED_FOLDER with processes of several users: who meets whom, and how much of a process those of another user
 * can take, who can have any number of processes.
 */
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "embedded/base/memory_limit.h"
#include "embedded/base/sealed.h"
#include "embedded/rc/rc.h"
#include "embedded/groups/mcast.h"
#include "embedded/link/link.h"
#include "embedded/link/peer.h"
#include "embedded/link/wire.h"
#include "folder_support.h"
#include "raw_link.h"

#define ALICE 20001
#define BOB 20002
#define TEAM 20100

static const struct person alice = { .user = ALICE, .group = ALICE, .other_group = ALICE },
                           bob = { .user = BOB, .group = BOB, .other_group = BOB },
                           alice_who_lists_bob = { ALICE, ALICE, ALICE, "20002", NULL },
                           bob_who_lists_alice = { BOB, BOB, BOB, "7, 20001", NULL },
                           alice_who_lists_the_team = { ALICE, ALICE, TEAM, NULL, "20100" },
                           bob_who_lists_the_team = { BOB, BOB, TEAM, NULL, "20100" },
                           team_member_who_lists_alice = { BOB, TEAM, BOB, "20001", NULL },
                           root_who_lists_alice = { 0, 0, 0, "20001", NULL },
                           nobody = { 65534, 65534, 65534, "20001", NULL };

/* ---- who meets whom ---- */

static void client_who_gets_through(const void *person) {
    become_person(person);
    converse("127.0.0.1", "127.0.0.1", "here");
}

static void client_who_is_refused(const void *person) {
    become_person(person);
    CHECK_EQ(fail_to_connect("127.0.0.1"), ECONNREFUSED);
}

static void bind_as(const void *person) {
    become_person(person);
    struct rdma_cm_id *listener;
    struct address address = address_of("0.0.0.0", PORT);
    CHECK_EQ(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP), 0);
    say(rdma_bind_addr(listener, sockaddr_of(&address)) == 0 ? 0 : errno);
    CHECK_EQ(rdma_destroy_id(listener), 0);
}

static void expect_between(const struct person *server, void (*run)(const void *client), const struct person *client) {
    const struct service here = { .name = "here", .person = server };
    struct child child = begin_service(&here);
    run_in_child(run, client);
    kill_child(&child);
}

static void users_who_are_not_listed_are_refused(void) {
    expect_between(&alice, client_who_is_refused, &bob);
    expect_between(&alice, client_who_is_refused, &bob_who_lists_alice); /* refused by the service */
    expect_between(&alice_who_lists_bob, client_who_is_refused, &bob);   /* refused by the client */
    expect_between(&alice_who_lists_bob, client_who_is_refused, &nobody);
    expect_between(&alice_who_lists_bob, client_who_is_refused, &root_who_lists_alice);
    expect_between(&alice_who_lists_the_team, client_who_is_refused, &bob_who_lists_alice);
}

static void users_who_list_each_other_meet(void) {
    expect_between(&alice_who_lists_bob, client_who_gets_through, &bob_who_lists_alice);
    expect_between(&alice_who_lists_bob, client_who_gets_through, &alice);
    expect_between(&alice, client_who_gets_through, &alice_who_lists_bob);
}

static void members_of_a_listed_group_meet(void) {
    expect_between(&alice_who_lists_the_team, client_who_gets_through, &bob_who_lists_the_team);
    expect_between(&alice_who_lists_the_team, client_who_gets_through, &team_member_who_lists_alice);
}

static void client_in_c_who_gets_through(const void *person) {
    enter_network(OF_C);
    become_person(person);
    converse(OF_A, OF_C, "a");
}

static void users_who_list_each_other_meet_from_other_namespaces(void) {
    const struct service service = { .network = OF_A, .name = "a", .person = &alice_who_lists_bob };
    struct child child = begin_service(&service);
    run_in_child(client_in_c_who_gets_through, &bob_who_lists_alice);
    kill_child(&child);
}

/* In a folder with a sticky bit nobody else may remove a name, whoever owns the folder. */
static void the_stale_name_of_another_user_stays_taken(void) {
    const struct service of_alice = { .name = "here", .person = &alice };
    struct child child = begin_service(&of_alice);
    kill_child(&child);
    CHECK_EQ(count_names("netty-rdma-port-106-8080-"), 1);
    struct child other = begin_child(bind_as, &bob);
    CHECK_EQ(hear(&other), EACCES);
    end_child(&other);
    other = begin_child(bind_as, &alice);
    CHECK_EQ(hear(&other), 0);
    end_child(&other);
}

/* ---- links ---- */

#define LINKS_OF_USER 256 /* a quarter of the service's descriptors: link.c */

static void serve_with_few_descriptors(const void *service) {
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = 4 * LINKS_OF_USER;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    serve(service);
}

/* Makes links until one is refused, says how many there were, and keeps them. */
static void flood(const void *person) {
    become_person(person);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    DIR *dir = opendir(folder);
    CHECK(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, "netty-rdma-port-106-8080-", 25) == 0) {
            snprintf(address.sun_path, sizeof(address.sun_path), "%.30s/%.70s", folder, entry->d_name);
        }
    }
    closedir(dir);
    int count = 0;
    bool served;
    do {
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        CHECK(fd >= 0);
        CHECK_EQ(connect(fd, (struct sockaddr *) &address, sizeof(address)), 0);
        served = raw_greet(fd);
        count += served;
        CHECK(count < 1000);
    } while (served && count < 100);
    say(count);
    is_told();
}

static void a_user_with_many_processes_leaves_room_for_others(void) {
    const struct service here = { .name = "here", .person = &alice_who_lists_bob };
    struct child server = begin_child(serve_with_few_descriptors, &here), flooders[4];
    CHECK_EQ(hear(&server), 0);
    int count = 0;
    for (int i = 0; i < 4; i++) {
        flooders[i] = begin_child(flood, &bob_who_lists_alice);
        count += hear(&flooders[i]);
    }
    CHECK_EQ(count, LINKS_OF_USER);
    run_in_child(client_who_gets_through, &alice);
    run_in_child(client_who_is_refused, &bob_who_lists_alice);
    for (int i = 0; i < 4; i++) {
        kill_child(&flooders[i]);
    }
    kill_child(&server);
}

/* ---- memory that is shown ---- */

#define SHOWN "rdma-shown-by-bob"

static atomic_int answered;

static bool count_answer(struct link *link, const struct link_message *incoming) {
    (void) link;
    atomic_fetch_add(&answered, 1);
    return link_body(incoming, sizeof(struct wire_place)) != NULL;
}

/* The same memory as ever new arenas; says how many. */
static void show_memory(const void *person) {
    become_person(person);
    struct end end;
    struct key key;
    CHECK_EQ(connect_to(&end, "127.0.0.1", &key), 0);
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    CHECK_EQ(ibv_query_qp(end.id->qp, &attr, IBV_QP_DEST_QPN, &init), 0);
    const size_t size = wire_arena_size(WIRE_ARENA_SEGMENTS);
    void *memory;
    int fd = sealed_create(SHOWN, size, &memory);
    CHECK(fd >= 0);
    link_set_handler(WIRE_LEAVE, count_answer);
    struct link *link = peer_link(rc_of(qp_of(end.id->qp))->route); /* link that has the notify area */
    struct wire_attach attach = {
        .src_qpn = 1, .dst_qpn = attr.dest_qp_num, .type = IBV_QPT_RC, .carries = WIRE_ARENA,
        .place = { .arena = 1000, .segments = WIRE_ARENA_SEGMENTS },
    };
    /* Each introduction is answered when the next one takes its place, or at once if it is not mapped. */
    const uint64_t enough = memory_limit() / 4 / size + 50;
    for (uint64_t i = 0; i < enough; i++, attach.place.arena++) {
        CHECK_EQ(link_send(link, WIRE_ATTACH, &attach, sizeof(attach), &fd, 1), 0);
        CHECK_EVENTUALLY((uint64_t) atomic_load(&answered) + 16 > i);
    }
    CHECK_EVENTUALLY((uint64_t) atomic_load(&answered) + 1 >= enough);
    say((int) enough);
    CHECK(is_told());
    struct ibv_wc wc; /* the service waits for a message, and for the end, before it serves another one */
    CHECK_EQ(rdma_post_send(end.id, NULL, end.memory, BYTES, end.mr, 0), 0);
    int count = rdma_get_recv_comp(end.id, &wc);
    expect_completion(count, &wc);
    CHECK_EQ(rdma_disconnect(end.id), 0);
}

static uint64_t shown_to(const struct child *child) {
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/%d/maps", (int) child->pid);
    FILE *maps = fopen(path, "r");
    CHECK(maps != NULL);
    uint64_t bytes = 0;
    while (fgets(line, sizeof(line), maps) != NULL) {
        unsigned long long from, to;
        if (strstr(line, SHOWN) != NULL && sscanf(line, "%llx-%llx", &from, &to) == 2) {
            bytes += to - from;
        }
    }
    fclose(maps);
    return bytes;
}

static void a_user_has_another_one_map_a_part_of_its_memory_at_most(void) {
    const size_t size = wire_arena_size(WIRE_ARENA_SEGMENTS);
    const struct service here = { .name = "here", .person = &alice_who_lists_bob };
    struct child server = begin_service(&here);
    struct child shows = begin_child(show_memory, &bob_who_lists_alice);
    CHECK((uint64_t) hear(&shows) * size > memory_limit() / 4);
    CHECK(shown_to(&server) <= memory_limit() / 4);
    CHECK(shown_to(&server) + 2 * size > memory_limit() / 4 || shown_to(&server) >= 16000 * size); /* MAX_VIEWS */
    tell(&shows);
    end_child(&shows);
    CHECK_EVENTUALLY(shown_to(&server) == 0);
    run_in_child(client_who_gets_through, &bob_who_lists_alice);
    kill_child(&server);
}

/* ---- places in a multicast group ---- */

static const union ibv_gid group = { .raw = { 0xff, 0x12, 0x60, 0x1b, [15] = 3 } };

static int join_the_group(uint32_t qpn) {
    static struct mcast_member members[MCAST_MAX_GROUP_MEMBERS + 1];
    static unsigned count;
    CHECK(count <= MCAST_MAX_GROUP_MEMBERS);
    members[count] = (struct mcast_member) { .gid = group, .qpn = qpn };
    return mcast_join(&members[count++]);
}

/* Joins with queue pairs that there are not, until that is refused; says how often it was not. */
static int join_often(uint32_t invented) {
    int count = 0, error;
    while ((error = join_the_group(invented + (uint32_t) count)) == 0) {
        count++;
    }
    CHECK_EQ(error, ENOMEM);
    return count;
}

/* The first to join keeps the list. Then it tells how many places are left for it. */
static void keep_the_list(const void *person) {
    become_person(person);
    int unused;
    struct ibv_context *context = open_test_device(&unused);
    CHECK_EQ(join_the_group(0x800000), 0);
    say(0);
    CHECK(is_told());
    say(1 + join_often(0x800001));
    is_told();
    CHECK_EQ(ibv_close_device(context), 0);
}

static void join_as(const void *person) {
    become_person(person);
    int unused;
    struct ibv_context *context = open_test_device(&unused);
    say(join_often(0x900000 + (uint32_t) getpid() % 0x1000 * 0x200));
    is_told();
    CHECK_EQ(ibv_close_device(context), 0);
}

static void a_user_has_half_of_the_places_in_a_group_at_most(void) {
    struct child administrator = begin_child(keep_the_list, &alice_who_lists_bob);
    CHECK_EQ(hear(&administrator), 0);
    struct child first = begin_child(join_as, &bob_who_lists_alice);
    CHECK_EQ(hear(&first), MCAST_MAX_GROUP_MEMBERS / 2);
    struct child second = begin_child(join_as, &bob_who_lists_alice);
    CHECK_EQ(hear(&second), 0);
    tell(&administrator);
    CHECK_EQ(hear(&administrator), MCAST_MAX_GROUP_MEMBERS / 2);
    kill_child(&first);
    kill_child(&second);
    kill_child(&administrator);
}

int main(void) {
    if (geteuid() != 0) {
        fprintf(stderr, "    skipped: other users, which only root can be\n");
        return 0;
    }
    make_folder();
    CHECK_EQ(chmod(folder, 01777), 0);
    RUN(users_who_are_not_listed_are_refused);
    RUN(users_who_list_each_other_meet);
    RUN(members_of_a_listed_group_meet);
    RUN(users_who_list_each_other_meet_from_other_namespaces);
    RUN(the_stale_name_of_another_user_stays_taken);
    RUN(a_user_with_many_processes_leaves_room_for_others);
    RUN(a_user_has_another_one_map_a_part_of_its_memory_at_most);
    RUN(a_user_has_half_of_the_places_in_a_group_at_most);
    remove_folder();
    return 0;
}
