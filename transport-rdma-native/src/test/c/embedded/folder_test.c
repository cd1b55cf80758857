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
 * RDMA_EMBEDDED_FOLDER: processes meet by names in a folder, also from different network namespaces; what killed
 * processes leave is no hindrance; addresses lead to the namespace that has them.
 */
#include <limits.h>
#include <sys/stat.h>

#include "embedded/cm/cm.h"
#include "embedded/cm/cm_wire.h"
#include "embedded/embedded.h"
#include "embedded/link/engine.h"
#include "embedded/link/folder.h"
#include "embedded/link/link_private.h"
#include "folder_support.h"

#define PS 0x77 /* port space of link.c, for names that are no ports of the connection manager */

static const char *path_in(const char *name) {
    static char path[sizeof(folder) + 1 + NAME_MAX + 1];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

/* ---- names ---- */

/* Says the result, and keeps the name until it is told to go. */
static void hold_port(const void *number) {
    struct link_port *port;
    say(link_bind_port(PS, *(const uint16_t *) number, &port));
    if (is_told()) {
        link_unbind_port(port);
        say(0);
        is_told();
    }
}

static void try_port(const void *number) {
    struct link *link;
    say(link_connect_port(PS, *(const uint16_t *) number, false, &link));
}

static int connect_in_child(uint16_t number) {
    struct child child = begin_child(try_port, &number);
    int result = hear(&child);
    end_child(&child);
    return result;
}

static void a_name_is_a_socket_of_this_user_alone(void) {
    uint16_t number = 1;
    struct child owner = begin_child(hold_port, &number);
    CHECK_EQ(hear(&owner), 0);
    CHECK_EQ(count_names("netty-rdma-port-77-1-"), 1);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        struct stat status;
        CHECK_EQ(lstat(path_in(entry->d_name), &status), 0);
        CHECK(!S_ISSOCK(status.st_mode) || (status.st_mode & 07777) == 0600);
    }
    closedir(dir);
    CHECK_EQ(connect_in_child(1), 0);
    CHECK_EQ(connect_in_child(2), ECONNREFUSED);
    struct child other = begin_child(hold_port, &number);
    CHECK_EQ(hear(&other), EADDRINUSE);
    kill_child(&other);
    tell(&owner);
    CHECK_EQ(hear(&owner), 0);
    CHECK_EQ(count_names("netty-rdma-port-77-1-"), 0);
    CHECK_EQ(connect_in_child(1), ECONNREFUSED);
    end_child(&owner);
}

static void the_name_of_a_killed_process_is_taken_over(void) {
    uint16_t number = 3;
    struct child owner = begin_child(hold_port, &number);
    CHECK_EQ(hear(&owner), 0);
    kill_child(&owner);
    CHECK_EQ(count_names("netty-rdma-port-77-3-"), 1);
    CHECK_EQ(connect_in_child(3), ECONNREFUSED);
    owner = begin_child(hold_port, &number);
    CHECK_EQ(hear(&owner), 0);
    CHECK_EQ(connect_in_child(3), 0);
    kill_child(&owner);
}

static void race_for_port(const void *number) {
    struct link_port *port;
    CHECK_EQ(embedded_start(NULL, 0), 0); /* has swept */
    say(0);
    CHECK(is_told());
    say(link_bind_port(PS, *(const uint16_t *) number, &port));
    is_told();
}

static void one_of_many_takes_a_stale_name_over(void) {
    enum { RACERS = 8 };
    struct child racers[RACERS];
    for (uint16_t number = 100; number < 105; number++) {
        struct child owner = begin_child(hold_port, &number);
        CHECK_EQ(hear(&owner), 0);
        for (int i = 0; i < RACERS; i++) {
            racers[i] = begin_child(race_for_port, &number);
            CHECK_EQ(hear(&racers[i]), 0);
        }
        kill_child(&owner);
        CHECK_EQ(count_names("netty-rdma-port-77-"), 1);
        int winners = 0;
        for (int i = 0; i < RACERS; i++) {
            tell(&racers[i]);
        }
        for (int i = 0; i < RACERS; i++) {
            int result = hear(&racers[i]);
            CHECK(result == 0 || result == EADDRINUSE);
            winners += result == 0;
        }
        CHECK_EQ(winners, 1);
        CHECK_EQ(connect_in_child(number), 0);
        for (int i = 0; i < RACERS; i++) {
            kill_child(&racers[i]);
        }
    }
}

/*
 * Returns whether the name of a killed process can be taken over, in spite of what was done to the lock file meanwhile.
 */
static int take_over_after(uint16_t number, void (*spoil)(const char *path)) {
    struct child owner = begin_child(hold_port, &number);
    CHECK_EQ(hear(&owner), 0);
    kill_child(&owner);
    spoil(path_in(".netty-rdma-lock"));
    struct child other = begin_child(hold_port, &number);
    int result = hear(&other);
    kill_child(&other);
    return result;
}

static int held = -1;

static void hold(const char *path) {
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    held = open(path, O_RDWR | O_CLOEXEC);
    CHECK(held >= 0);
    CHECK_EQ(fcntl(held, F_OFD_SETLK, &all), 0);
}

static void a_name_counts_as_taken_while_another_process_keeps_the_lock(void) {
    uint16_t number = 4;
    CHECK_EQ(take_over_after(number, hold), EACCES);
    close(held);
    struct child owner = begin_child(hold_port, &number);
    CHECK_EQ(hear(&owner), 0);
    kill_child(&owner);
}

/* fifo(7): an open(2) that waits for a reader or writer, for ever. */
static void replace_by_fifo(const char *path) {
    unlink(path);
    CHECK_EQ(mkfifo(path, 0666), 0);
}

static void replace_by_link(const char *path) {
    char file[sizeof(folder) + 16];
    snprintf(file, sizeof(file), "%s/private", folder);
    unlink(path);
    int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    close(fd);
    CHECK_EQ(link(file, path), 0);
}

static void no_file_in_place_of_the_lock_is_waited_for_or_changed(void) {
    CHECK_EQ(take_over_after(8, replace_by_fifo), EACCES);
    CHECK_EQ(take_over_after(9, replace_by_link), EACCES);
    struct stat status;
    CHECK_EQ(stat(path_in("private"), &status), 0);
    CHECK_EQ(status.st_mode & 07777, 0600);
    CHECK_EQ(unlink(path_in("private")), 0);
    CHECK_EQ(unlink(path_in(".netty-rdma-lock")), 0);
}

static bool visit_none(const char *name, void *context) {
    (void) name;
    (void) context;
    return true;
}

static void fill_the_folder(const void *unused) {
    (void) unused;
    char path[sizeof(folder) + 16];
    CHECK_EQ(embedded_start(NULL, 0), 0);
    CHECK_EQ(folder_visit("netty-rdma-", visit_none, NULL), 0);
    for (int i = 0; i < 17000; i++) { /* folder.c: 16384 */
        snprintf(path, sizeof(path), "%s/%d", folder, i);
        CHECK_EQ(symlink("nowhere", path), 0);
    }
    CHECK_EQ(folder_visit("netty-rdma-", visit_none, NULL), EMLINK);
}

static void a_folder_of_any_length_is_not_read_to_its_end(void) {
    run_in_child(fill_the_folder, NULL);
}

static void take_blocks(const void *unused) {
    (void) unused;
    for (int i = 0; i < 20; i++) {
        CHECK(link_claim_qpn_block(true) != 0);
    }
    say(0);
    is_told();
}

static void killed_processes_leave_no_more_than_the_last_one(void) {
    for (int i = 0; i < 3; i++) {
        struct child child = begin_child(take_blocks, NULL);
        CHECK_EQ(hear(&child), 0);
        CHECK_EQ(count_names("netty-rdma-"), 20);
        kill_child(&child);
    }
    CHECK_EQ(connect_in_child(5), ECONNREFUSED);
    CHECK_EQ(count_names("netty-rdma-"), 0);
    CHECK_EQ(count_names(".netty-rdma-new"), 0);
}

/* A stranger's file at a name, or one that leads elsewhere, is neither followed nor removed. */
static void only_sockets_are_names(void) {
    struct stat network;
    char name[96];
    CHECK_EQ(stat("/proc/self/ns/net", &network), 0);
    snprintf(name, sizeof(name), "netty-rdma-port-77-6-%lx-%lu", (unsigned long) network.st_dev,
             (unsigned long) network.st_ino);
    uint16_t number = 7, taken = 6;
    struct child owner = begin_child(hold_port, &number);
    CHECK_EQ(hear(&owner), 0);
    char target[96];
    snprintf(target, sizeof(target), "netty-rdma-port-77-7-%lx-%lu", (unsigned long) network.st_dev,
             (unsigned long) network.st_ino);
    CHECK_EQ(symlink(target, path_in(name)), 0);
    CHECK_EQ(connect_in_child(7), 0);
    CHECK_EQ(connect_in_child(6), ECONNREFUSED);
    struct child other = begin_child(hold_port, &taken);
    CHECK_EQ(hear(&other), EACCES);
    kill_child(&other);
    CHECK_EQ(unlink(path_in(name)), 0);
    kill_child(&owner);
}

/* ---- settings ---- */

static void start(const void *expected) {
    char reason[1024];
    int err = embedded_start(reason, sizeof(reason));
    CHECK(err != 0);
    if (strstr(reason, expected) == NULL) {
        fprintf(stderr, "not \"%s\": %s\n", (const char *) expected, reason);
        abort();
    }
    struct ibv_device **list = ibv_get_device_list(NULL);
    CHECK(list == NULL);
    CHECK_EQ(errno, err);
    struct rdma_cm_id *id;
    struct address address = address_of(test_address(), 0);
    CHECK_EQ(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(id, sockaddr_of(&address)), -1);
    CHECK_EQ(errno, err);
    CHECK_EQ(rdma_destroy_id(id), 0);
    say(err);
}

static void expect_refusal(int err, const char *reason) {
    struct child child = begin_child(start, reason);
    CHECK_EQ(hear(&child), err);
    end_child(&child);
}

/* The removed folder still has a descriptor, or is a process's working directory. */
static void expect_refusal_of_removed_folder(const char *path) {
    char descriptor[32];
    CHECK_EQ(mkdir(path, 0700), 0);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(rmdir(path), 0);
    snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", fd);
    setenv("RDMA_EMBEDDED_FOLDER", descriptor, 1);
    expect_refusal(ENOENT, "the folder has been removed: make it again");
    close(fd);
}

static void a_setting_that_is_wrong_is_told_with_what_to_do(void) {
    char missing[96];
    snprintf(missing, sizeof(missing), "%s/missing", folder);
    setenv("RDMA_EMBEDDED_FOLDER", missing, 1);
    expect_refusal(ENOENT, "make it, or mount it here");
    CHECK_EQ(mkdir(missing, 0700), 0);
    CHECK_EQ(chmod(missing, 0777), 0);
    expect_refusal(EPERM, "chmod +t");
    CHECK_EQ(rmdir(missing), 0);
    int file = open(missing, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    CHECK(file >= 0);
    close(file);
    expect_refusal(ENOTDIR, "cannot be opened");
    CHECK_EQ(unlink(missing), 0);
    setenv("RDMA_EMBEDDED_FOLDER", "/proc", 1);
    expect_refusal(ENOENT, "/proc: the folder is in a file system in which no sockets can be made: take a folder of");
    expect_refusal_of_removed_folder(missing);
    setenv("RDMA_EMBEDDED_FOLDER", folder, 1);
    setenv("RDMA_EMBEDDED_USERS", "0,no-such-user", 1);
    expect_refusal(EINVAL, "there is no user no-such-user");
    setenv("RDMA_EMBEDDED_USERS", "4294967295", 1);
    expect_refusal(EINVAL, "RDMA_EMBEDDED_USERS");
    setenv("RDMA_EMBEDDED_USERS", "1,,2", 1);
    expect_refusal(EINVAL, "between the commas");
    setenv("RDMA_EMBEDDED_USERS", "1", 1);
    unsetenv("RDMA_EMBEDDED_FOLDER");
    expect_refusal(EINVAL, "RDMA_EMBEDDED_FOLDER is not");
    unsetenv("RDMA_EMBEDDED_USERS");
    setenv("RDMA_EMBEDDED_GROUPS", "root", 1);
    expect_refusal(EINVAL, "RDMA_EMBEDDED_GROUPS is set");
    unsetenv("RDMA_EMBEDDED_GROUPS");
    setenv("RDMA_EMBEDDED_FOLDER", folder, 1);
}

/* Starts in a root that has the folder's contents only. */
static void start_without_proc(const void *expected) {
    if (geteuid() != 0) {
        enter_user_namespace();
    }
    CHECK_EQ(chroot(folder), 0);
    CHECK_EQ(chdir("/"), 0);
    setenv("RDMA_EMBEDDED_FOLDER", "/", 1);
    start(expected);
}

static void a_missing_proc_is_told_with_what_to_do(void) {
    struct child child = begin_child(start_without_proc, "mount a file system of type proc");
    CHECK_EQ(hear(&child), ENOENT);
    end_child(&child);
}

static void configure(const void *unused) {
    (void) unused;
    char text[256], reason[256];
    CHECK_EQ(embedded_configure("/missing", NULL, NULL), 0);
    CHECK_EQ(embedded_start(reason, sizeof(reason)), ENOENT);
    CHECK(strstr(reason, "io.netty.rdma.embedded.folder=/missing") != NULL);
    CHECK_EQ(embedded_configure(folder, "", "root, 7"), 0);
    CHECK_EQ(embedded_start(reason, sizeof(reason)), 0);
    embedded_describe(text, sizeof(text));
    CHECK(strstr(text, folder) == text && strstr(text, "groups 0, 7") != NULL);
    say(0);
}

static void a_program_may_set_it_and_try_again(void) {
    struct child child = begin_child(configure, NULL);
    CHECK_EQ(hear(&child), 0);
    end_child(&child);
}

/* ---- connections ---- */

static void client_of_the_same_namespace(const void *unused) {
    (void) unused;
    converse("127.0.0.1", "127.0.0.1", "here");
}

static void processes_of_a_namespace_meet(void) {
    const struct service here = { .name = "here" };
    struct child server = begin_service(&here);
    run_in_child(client_of_the_same_namespace, NULL);
    run_in_child(client_of_the_same_namespace, NULL);
    kill_child(&server);
}

static const struct service service_a = { .network = OF_A, .name = "a" },
                            service_b = { .network = OF_B, .name = "b" };

static void client_in_a(const void *unused) {
    (void) unused;
    enter_network(OF_A); /* another namespace than that of the service, with the same address */
    converse(OF_B, OF_A, "b");
    CHECK_EQ(fail_to_connect(OF_A), ECONNREFUSED); /* own namespace, where nobody listens */
    CHECK_EQ(fail_to_connect("127.0.0.1"), ECONNREFUSED);
    CHECK_EQ(fail_to_connect(OF_C), ENODEV);
}

static void client_in_c(const void *unused) {
    (void) unused;
    enter_network(OF_C);
    converse(OF_A, OF_C, "a");
    converse(OF_B, OF_C, "b");
    CHECK_EQ(fail_to_connect("10.77.0.4"), ENODEV);
    CHECK_EQ(fail_to_connect("127.0.0.1"), ECONNREFUSED);
}

static void an_address_leads_to_the_namespace_that_has_it(void) {
    struct child a = begin_service(&service_a), b = begin_service(&service_b);
    CHECK_EQ(count_names("netty-rdma-port-106-8080-"), 2);
    run_in_child(client_in_a, NULL);
    run_in_child(client_in_c, NULL);
    kill_child(&a);
    kill_child(&b);
}

static void client_of_an_ambiguous_address(const void *unused) {
    (void) unused;
    enter_network(OF_C);
    CHECK_EQ(fail_to_connect(OF_A), ENOTUNIQ);
    converse(OF_B, OF_C, "b");
}

static void an_address_of_two_namespaces_leads_to_none(void) {
    uint64_t grace_ns = cm_ask_grace_ns;
    cm_ask_grace_ns = UINT64_C(1000000000) * 600; /* a slow machine's answers are waited for, too */
    struct child a = begin_service(&service_a), again = begin_service(&service_a), b = begin_service(&service_b);
    run_in_child(client_of_an_ambiguous_address, NULL);
    cm_ask_grace_ns = grace_ns;
    kill_child(&a);
    kill_child(&again);
    kill_child(&b);
}

static void client_of_one_beside_a_stopped_one(const void *unused) {
    (void) unused;
    enter_network(OF_C);
    converse(OF_B, OF_C, "b");
    CHECK_EQ(fail_to_connect(OF_A), ETIMEDOUT);
}

static void who_is_stopped_holds_up_nobody_for_ever(void) {
    struct child a = begin_service(&service_a), b = begin_service(&service_b);
    CHECK_EQ(kill(a.pid, SIGSTOP), 0);
    CHECK_EQ(waitpid(a.pid, NULL, WUNTRACED), a.pid);
    run_in_child(client_of_one_beside_a_stopped_one, NULL);
    kill_child(&a);
    kill_child(&b);
}

/* A request for an address that the listener's namespace does not have: what an honest client does not send. */
static void client_of_a_wrong_address(const void *unused) {
    (void) unused;
    enter_network(OF_C);
    struct end end;
    struct address address, other = address_of("10.77.0.9", PORT);
    CHECK_EQ(resolve_to(&end, OF_A, &address), 0);
    end.id->route.addr.dst_sin = *(struct sockaddr_in *) sockaddr_of(&other);
    open_end(&end);
    struct rdma_conn_param param = parameters(NULL, 0);
    CHECK_EQ(rdma_connect(end.id, &param), -1);
    CHECK_EQ(errno, ECONNREFUSED);
    close_end(&end);
}

static void a_listener_at_the_wildcard_has_the_addresses_of_its_namespace(void) {
    struct child a = begin_service(&service_a);
    run_in_child(client_of_a_wrong_address, NULL);
    kill_child(&a);
}

static void client_whose_peer_dies(const void *argument) {
    const pid_t *server = argument;
    enter_network(OF_C);
    struct end end;
    struct key key;
    CHECK_EQ(connect_to(&end, OF_A, &key), 0);
    CHECK_EQ(kill(*server, SIGKILL), 0);
    struct rdma_cm_event *event;
    CHECK_EQ(rdma_get_cm_event(end.id->channel, &event), 0);
    CHECK_EQ(event->event, RDMA_CM_EVENT_DISCONNECTED);
    rdma_ack_cm_event(event);
    rdma_disconnect(end.id);
    close_end(&end);
    CHECK_EQ(fail_to_connect(OF_A), ENODEV); /* nobody is left to ask */
}

static void the_death_of_a_peer_in_another_namespace_is_noticed(void) {
    struct child a = begin_service(&service_a);
    run_in_child(client_whose_peer_dies, &a.pid);
    CHECK_EQ(waitpid(a.pid, NULL, 0), a.pid);
    forget_child(&a);
}

static void client_that_gives_up(const void *unused) {
    (void) unused;
    enter_network(OF_C);
    struct rdma_event_channel *channel = new_channel();
    for (int i = 0; i < 50; i++) {
        struct rdma_cm_id *id = new_id(channel);
        struct address address = address_of(OF_A, PORT);
        CHECK_EQ(rdma_resolve_addr(id, NULL, sockaddr_of(&address), 2000), 0);
        CHECK_EQ(rdma_resolve_addr(id, NULL, sockaddr_of(&address), 2000), -1);
        CHECK_EQ(errno, EINVAL);
        CHECK_EQ(rdma_destroy_id(id), 0);
    }
    rdma_destroy_event_channel(channel);
}

static void an_id_may_be_destroyed_while_it_asks(void) {
    struct child a = begin_service(&service_a);
    CHECK_EQ(kill(a.pid, SIGSTOP), 0);
    CHECK_EQ(waitpid(a.pid, NULL, WUNTRACED), a.pid);
    run_in_child(client_that_gives_up, NULL);
    kill_child(&a);
}

static int from_engine[2], to_engine[2];

static void wait_in_engine(struct engine_timer *timer) {
    char byte;
    (void) timer;
    CHECK_EQ(write(from_engine[1], "", 1), 1);
    CHECK_EQ(read(to_engine[0], &byte, 1), 1);
}

static void client_with_an_ended_link(const void *unused) {
    (void) unused;
    char byte;
    struct link_network network;
    struct link *link;
    struct engine_timer timer = { .fire = wait_in_engine };
    enter_network(OF_C);
    converse(OF_A, OF_C, "a");
    CHECK_EQ(link_find_networks(RDMA_PS_TCP, PORT, &network, 1), 1);
    CHECK_EQ(link_connect_port_in(&network, RDMA_PS_TCP, PORT, false, &link), 0);
    CHECK(pipe(from_engine) == 0 && pipe(to_engine) == 0);
    engine_timer_set(&timer, engine_now_ns());
    CHECK_EQ(read(from_engine[0], &byte, 1), 1);
    CHECK_EQ(shutdown(link->source.fd, SHUT_RDWR), 0);
    CHECK(link_is_up(link));

    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = new_id(channel);
    struct address address = address_of(OF_A, PORT);
    CHECK_EQ(rdma_resolve_addr(id, NULL, sockaddr_of(&address), 2000), 0);
    CHECK_EQ(write(to_engine[1], "", 1), 1);
    expect_and_ack(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
    link_put(link);
    CHECK_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
}

static void a_question_does_not_go_by_a_link_whose_end_has_not_been_read(void) {
    struct child a = begin_service(&service_a);
    run_in_child(client_with_an_ended_link, NULL);
    kill_child(&a);
}

/* ---- a peer that lies about its addresses ---- */

enum lie { LIE_TWICE, LIE_ABOUT_ANOTHER, LIE_MALFORMED, LIE_TOO_LONG, LIE_WITH_DESCRIPTOR };

static enum lie lie;

static bool answer_with_a_lie(struct link *link, const struct link_message *incoming) {
    const struct cm_wire_ask *ask = link_body(incoming, sizeof(*ask));
    CHECK(ask != NULL);
    struct { struct cm_wire_answer answer; uint32_t more; } message = { .answer = { .to = ask->from, .here = 1 } };
    if (lie == LIE_ABOUT_ANOTHER) {
        message.answer.to++;
        link_send(link, CM_ANSWER, &message.answer, sizeof(message.answer), NULL, 0);
        message.answer = (struct cm_wire_answer) { .to = ask->from, .here = 0 };
    }
    message.answer.here += lie == LIE_MALFORMED;
    size_t size = lie == LIE_TOO_LONG ? sizeof(message) : sizeof(message.answer);
    int descriptor = STDIN_FILENO;
    for (int i = 0; i < 2; i++) {
        link_send(link, CM_ANSWER, &message, size, &descriptor, lie == LIE_WITH_DESCRIPTOR);
    }
    return true;
}

static void lie_to_all(const void *argument) {
    lie = *(const enum lie *) argument;
    enter_network(OF_A);
    link_set_handler(CM_ASK, answer_with_a_lie);
    struct link_port *port;
    CHECK_EQ(link_bind_port(RDMA_PS_TCP, PORT, &port), 0);
    say(0);
    is_told();
}

static void client_of_a_liar(const void *argument) {
    enter_network(OF_C);
    struct end end;
    struct address address;
    int err = resolve_to(&end, OF_A, &address);
    CHECK_EQ(err, *(const enum lie *) argument == LIE_TWICE ? 0 : ENODEV);
    CHECK_EQ(rdma_destroy_id(end.id), 0);
    if (*(const enum lie *) argument == LIE_TWICE) { /* also to what is for the other one */
        CHECK_EQ(fail_to_connect(OF_B), ENOTUNIQ);
    } else {
        converse(OF_B, OF_C, "b");
    }
}

static void who_lies_about_an_address_is_heard_once_and_well_formed_only(void) {
    uint64_t grace_ns = cm_ask_grace_ns;
    cm_ask_grace_ns = UINT64_C(1000000000) * 600; /* a slow machine's answers are waited for, too */
    struct child b = begin_service(&service_b);
    for (enum lie l = LIE_TWICE; l <= LIE_WITH_DESCRIPTOR; l++) {
        struct child liar = begin_child(lie_to_all, &l);
        CHECK_EQ(hear(&liar), 0);
        run_in_child(client_of_a_liar, &l);
        kill_child(&liar);
    }
    cm_ask_grace_ns = grace_ns;
    kill_child(&b);
}

/* Stands for the tests that are left out. */
static void the_rest_is_in_other_namespaces(void) {
    fprintf(stderr, "    skipped: tests in other namespaces, which this system lets this user not make\n");
}

int main(void) {
    make_folder();
    RUN(a_name_is_a_socket_of_this_user_alone);
    RUN(the_name_of_a_killed_process_is_taken_over);
    RUN(one_of_many_takes_a_stale_name_over);
    RUN(a_name_counts_as_taken_while_another_process_keeps_the_lock);
    RUN(no_file_in_place_of_the_lock_is_waited_for_or_changed);
    RUN(killed_processes_leave_no_more_than_the_last_one);
    RUN(only_sockets_are_names);
    RUN(a_setting_that_is_wrong_is_told_with_what_to_do);
    RUN(a_program_may_set_it_and_try_again);
    RUN(processes_of_a_namespace_meet);
    if (has_namespaces()) {
        RUN(a_missing_proc_is_told_with_what_to_do);
        RUN(an_address_leads_to_the_namespace_that_has_it);
        RUN(an_address_of_two_namespaces_leads_to_none);
        RUN(who_is_stopped_holds_up_nobody_for_ever);
        RUN(a_listener_at_the_wildcard_has_the_addresses_of_its_namespace);
        RUN(the_death_of_a_peer_in_another_namespace_is_noticed);
        RUN(an_id_may_be_destroyed_while_it_asks);
        RUN(a_question_does_not_go_by_a_link_whose_end_has_not_been_read);
        RUN(who_lies_about_an_address_is_heard_once_and_well_formed_only);
    } else {
        RUN(the_rest_is_in_other_namespaces);
    }
    RUN(a_folder_of_any_length_is_not_read_to_its_end); /* the folder is full after this test */
    remove_folder();
    return 0;
}
