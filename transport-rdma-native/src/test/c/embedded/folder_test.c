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
 * RDMA_EMBEDDED_FOLDER: processes meet by names in a folder, also from different network namespaces; what killed
 * processes leave is no hindrance; addresses lead to the namespace that has them.
 */
#include <dirent.h>
#include <limits.h>
#include <rdma/rdma_verbs.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "cm_support.h"
#include "embedded/base/memory_limit.h"
#include "embedded/base/sealed.h"
#include "embedded/cm/cm_wire.h"
#include "embedded/embedded.h"
#include "embedded/groups/mcast.h"
#include "embedded/link/engine.h"
#include "embedded/link/link.h"
#include "embedded/link/wire.h"
#include "namespaces.h"

#define PS 0x77 /* of link.c, for names that are no ports of the connection manager */
#define PORT 8080
#define OF_A "10.77.0.1"
#define OF_B "10.77.0.2"
#define OF_C "10.77.0.3"

static char folder[64];

static int count_names(const char *prefix) {
    DIR *dir = opendir(folder);
    CHECK(dir != NULL);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    }
    closedir(dir);
    return count;
}

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

/* What holds the lock, stopped or not, does not hold others up for ever. */
static void a_name_counts_as_taken_while_another_process_keeps_the_lock(void) {
    uint16_t number = 4;
    struct child owner = begin_child(hold_port, &number);
    CHECK_EQ(hear(&owner), 0);
    int lock = open(path_in(".netty-rdma-lock"), O_RDWR | O_CLOEXEC);
    CHECK(lock >= 0);
    CHECK_EQ(flock(lock, LOCK_EX), 0);
    kill_child(&owner);
    struct child other = begin_child(hold_port, &number);
    CHECK_EQ(hear(&other), EADDRINUSE);
    kill_child(&other);
    close(lock);
    owner = begin_child(hold_port, &number);
    CHECK_EQ(hear(&owner), 0);
    kill_child(&owner);
}

static void take_blocks(const void *unused) {
    (void) unused;
    for (int i = 0; i < 20; i++) {
        CHECK(link_claim_qpn_block() != 0);
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
    CHECK_EQ(hear(&other), EADDRINUSE);
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
    expect_refusal(ENOENT, "/proc");
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

#define BYTES 4096

struct end {
    struct rdma_cm_id *id;
    struct ibv_mr *mr;
    char memory[2 * BYTES];
};

static void open_end(struct end *end) {
    struct ibv_qp_init_attr attr = {
        .cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
        .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
    };
    CHECK_EQ(rdma_create_qp(end->id, NULL, &attr), 0);
    end->mr = ibv_reg_mr(end->id->pd, end->memory, sizeof(end->memory),
                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    CHECK(end->mr != NULL);
    CHECK_EQ(rdma_post_recv(end->id, NULL, end->memory, BYTES, end->mr), 0);
}

static void close_end(struct end *end) {
    rdma_destroy_qp(end->id);
    CHECK_EQ(ibv_dereg_mr(end->mr), 0);
    CHECK_EQ(rdma_destroy_id(end->id), 0);
}

static void expect_completion(int count, const struct ibv_wc *wc) {
    CHECK_EQ(count, 1);
    CHECK_EQ(wc->status, IBV_WC_SUCCESS);
}

static struct rdma_conn_param parameters(const void *data, size_t length) {
    return (struct rdma_conn_param) { .private_data = data, .private_data_len = (uint8_t) length,
                                      .responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
                                      .rnr_retry_count = 7 };
}

struct key {
    uint64_t address;
    uint32_t rkey;
    char name[16];
};

/* Of whom a process is, and whom it lists. NULL: nobody. */
struct person {
    uid_t user;
    gid_t group, other_group;
    const char *users, *groups;
};

static void set_or_not(const char *name, const char *value) {
    if (value != NULL) {
        setenv(name, value, 1);
    } else {
        unsetenv(name);
    }
}

static void become_person(const struct person *person) {
    set_or_not("RDMA_EMBEDDED_USERS", person->users);
    set_or_not("RDMA_EMBEDDED_GROUPS", person->groups);
    if (person->user != geteuid()) {
        CHECK_EQ(setgroups(1, &person->other_group), 0);
        CHECK_EQ(setresgid(person->group, person->group, person->group), 0);
        CHECK_EQ(setresuid(person->user, person->user, person->user), 0);
    }
}

struct service {
    const char *network; /* its address */
    const char *bound;   /* NULL: the wildcard */
    const char *name;
    const struct person *person; /* NULL: this user */
};

/* Serves one connection after the other: tells its name and its memory, answers one message, waits for the end. */
static void serve(const void *argument) {
    const struct service *service = argument;
    if (service->network != NULL) {
        enter_network(service->network);
    }
    if (service->person != NULL) {
        become_person(service->person);
    }
    struct rdma_cm_id *listener;
    struct address address = address_of(service->bound != NULL ? service->bound : "0.0.0.0", PORT);
    CHECK_EQ(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP), 0);
    CHECK_EQ(rdma_bind_addr(listener, sockaddr_of(&address)), 0);
    CHECK_EQ(rdma_listen(listener, 8), 0);
    say(0);
    for (;;) {
        struct end end = { 0 };
        struct ibv_wc wc;
        CHECK_EQ(rdma_get_request(listener, &end.id), 0);
        open_end(&end);
        struct key key = { .address = (uintptr_t) end.memory, .rkey = end.mr->rkey };
        snprintf(key.name, sizeof(key.name), "%s", service->name);
        struct rdma_conn_param param = parameters(&key, sizeof(key));
        CHECK_EQ(rdma_accept(end.id, &param), 0);
        struct ibv_wc received;
        if (rdma_get_recv_comp(end.id, &received) == 1 && received.status == IBV_WC_SUCCESS) {
            memcpy(end.memory + BYTES, end.memory, BYTES);
            CHECK_EQ(rdma_post_send(end.id, NULL, end.memory + BYTES, BYTES, end.mr, 0), 0);
            int count = rdma_get_send_comp(end.id, &wc);
            expect_completion(count, &wc);
        }
        struct rdma_cm_event *event;
        do {
            CHECK_EQ(rdma_get_cm_event(end.id->channel, &event), 0);
            enum rdma_cm_event_type type = event->event;
            rdma_ack_cm_event(event);
            if (type == RDMA_CM_EVENT_DISCONNECTED) {
                break;
            }
        } while (true);
        rdma_disconnect(end.id);
        close_end(&end);
    }
}

static struct child begin_service(const struct service *service) {
    struct child child = begin_child(serve, service);
    CHECK_EQ(hear(&child), 0);
    return child;
}

/* Returns 0 if the address was resolved, or errno. */
static int resolve_to(struct end *end, const char *text, struct address *address) {
    *end = (struct end) { 0 };
    *address = address_of(text, PORT);
    CHECK_EQ(rdma_create_id(NULL, &end->id, NULL, RDMA_PS_TCP), 0);
    int err = rdma_resolve_addr(end->id, NULL, sockaddr_of(address), 2000) == 0 ? 0 : errno;
    return err == 0 && rdma_resolve_route(end->id, 2000) != 0 ? errno : err;
}

/* Returns 0 if it is connected: the name of the service is in end->memory then. */
static int connect_to(struct end *end, const char *text, struct key *key) {
    struct address address;
    int err = resolve_to(end, text, &address);
    if (err != 0) {
        CHECK_EQ(rdma_destroy_id(end->id), 0);
        return err;
    }
    open_end(end);
    struct rdma_conn_param param = parameters(NULL, 0);
    if (rdma_connect(end->id, &param) != 0) {
        err = errno;
        close_end(end);
        return err;
    }
    CHECK_EQ(end->id->event->event, RDMA_CM_EVENT_ESTABLISHED);
    memcpy(key, end->id->event->param.conn.private_data, sizeof(*key));
    return 0;
}

static bool is_ip(const struct sockaddr *address, const char *text) {
    struct address expected = address_of(text, 0);
    return ((const struct sockaddr_in *) address)->sin_addr.s_addr
            == ((struct sockaddr_in *) &expected.storage)->sin_addr.s_addr;
}

/* Connects, exchanges every kind of data, and disconnects. */
static void converse(const char *to, const char *from, const char *name) {
    struct end end;
    struct key key;
    struct ibv_wc wc;
    CHECK_EQ(connect_to(&end, to, &key), 0);
    CHECK(strcmp(key.name, name) == 0);
    CHECK(is_ip(rdma_get_local_addr(end.id), from));
    CHECK(is_ip(rdma_get_peer_addr(end.id), to));
    memset(end.memory, 0, sizeof(end.memory));
    memset(end.memory + BYTES, 'x', BYTES);
    CHECK_EQ(rdma_post_send(end.id, NULL, end.memory + BYTES, BYTES, end.mr, 0), 0);
    int count = rdma_get_send_comp(end.id, &wc);
    expect_completion(count, &wc);
    count = rdma_get_recv_comp(end.id, &wc);
    expect_completion(count, &wc);
    CHECK(memcmp(end.memory, end.memory + BYTES, BYTES) == 0);
    memset(end.memory, 'y', BYTES);
    CHECK_EQ(rdma_post_write(end.id, NULL, end.memory, BYTES, end.mr, 0, key.address, key.rkey), 0);
    count = rdma_get_send_comp(end.id, &wc);
    expect_completion(count, &wc);
    CHECK_EQ(rdma_post_read(end.id, NULL, end.memory + BYTES, BYTES, end.mr, 0, key.address, key.rkey), 0);
    count = rdma_get_send_comp(end.id, &wc);
    expect_completion(count, &wc);
    CHECK(memcmp(end.memory, end.memory + BYTES, BYTES) == 0);
    CHECK_EQ(rdma_disconnect(end.id), 0);
    close_end(&end);
}

static int fail_to_connect(const char *to) {
    struct end end;
    struct key key;
    int err = connect_to(&end, to, &key);
    CHECK(err != 0);
    return err;
}

static void run_in_child(void (*run)(const void *argument), const void *argument) {
    struct child child = begin_child(run, argument);
    end_child(&child);
}

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
    CHECK_EQ(fail_to_connect(OF_A), ECONNREFUSED); /* of its own, where nobody listens */
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
    struct child a = begin_service(&service_a), again = begin_service(&service_a), b = begin_service(&service_b);
    run_in_child(client_of_an_ambiguous_address, NULL);
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

/* ---- a peer that lies about its addresses ---- */

enum lie { LIE_TWICE, LIE_ABOUT_ANOTHER, LIE_MALFORMED, LIE_TOO_LONG };

static enum lie lie;

static bool answer_with_a_lie(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) fds;
    CHECK_EQ(length, sizeof(struct cm_wire_ask));
    CHECK_EQ(nfds, 0);
    struct cm_wire_ask ask;
    memcpy(&ask, body, sizeof(ask));
    struct { struct cm_wire_answer answer; uint32_t more; } message = { .answer = { .to = ask.from, .here = 1 } };
    if (lie == LIE_ABOUT_ANOTHER) {
        message.answer.to++;
        link_send(link, CM_ANSWER, &message.answer, sizeof(message.answer), NULL, 0);
        message.answer = (struct cm_wire_answer) { .to = ask.from, .here = 0 };
    }
    message.answer.here += lie == LIE_MALFORMED;
    size_t size = lie == LIE_TOO_LONG ? sizeof(message) : sizeof(message.answer);
    link_send(link, CM_ANSWER, &message, size, NULL, 0);
    link_send(link, CM_ANSWER, &message, size, NULL, 0);
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
    struct child b = begin_service(&service_b);
    for (enum lie l = LIE_TWICE; l <= LIE_TOO_LONG; l++) {
        struct child liar = begin_child(lie_to_all, &l);
        CHECK_EQ(hear(&liar), 0);
        run_in_child(client_of_a_liar, &l);
        kill_child(&liar);
    }
    kill_child(&b);
}

/* ---- users ---- */

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
    expect_between(&alice, client_who_is_refused, &bob_who_lists_alice); /* by the service */
    expect_between(&alice_who_lists_bob, client_who_is_refused, &bob);   /* by the client */
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

/* In a folder with a sticky bit nobody else may remove it, and whose it is does not matter for that. */
static void the_stale_name_of_another_user_stays_taken(void) {
    const struct service of_alice = { .name = "here", .person = &alice };
    struct child child = begin_service(&of_alice);
    kill_child(&child);
    CHECK_EQ(count_names("netty-rdma-port-106-8080-"), 1);
    struct child other = begin_child(bind_as, &bob);
    CHECK_EQ(hear(&other), EADDRINUSE);
    end_child(&other);
    other = begin_child(bind_as, &alice);
    CHECK_EQ(hear(&other), 0);
    end_child(&other);
}

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
        char greeting[64];
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        CHECK(fd >= 0);
        CHECK_EQ(connect(fd, (struct sockaddr *) &address, sizeof(address)), 0);
        served = recv(fd, greeting, sizeof(greeting), 0) == 16;
        const uint32_t hello[] = { LINK_HELLO, 0, 0x4e52444d, 1 };
        served = served && send(fd, hello, sizeof(hello), MSG_NOSIGNAL) == sizeof(hello);
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

/* ---- memory that another user shows ---- */

#define SHOWN "rdma-shown-by-bob"

static atomic_int answered;

static bool count_answer(struct link *link, const void *body, size_t length, int *fds, int nfds) {
    (void) link;
    (void) body;
    (void) fds;
    atomic_fetch_add(&answered, 1);
    return length == sizeof(struct wire_place) && nfds == 0;
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
    struct link *link;
    CHECK_EQ(link_connect_qpn(attr.dest_qp_num, &link), 0);
    struct wire_attach attach = {
        .src_qpn = 1, .dst_qpn = attr.dest_qp_num, .type = IBV_QPT_RC, .carries = WIRE_ARENA,
        .place = { .arena = 1000, .segments = WIRE_ARENA_SEGMENTS },
    };
    /* Each is answered when the next one takes its place, or at once if it is not mapped. */
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

/* Joins with queue pairs that there are not, until that is refused; says how often it was not. */
static int join_often(uint32_t invented) {
    int count = 0, error;
    while ((error = mcast_join(&group, invented + (uint32_t) count)) == 0) {
        count++;
        CHECK((unsigned) count <= MCAST_MAX_GROUP_MEMBERS);
    }
    CHECK_EQ(error, ENOMEM);
    return count;
}

/* The first to join keeps the list. Then it tells how many places are left for it. */
static void keep_the_list(const void *person) {
    become_person(person);
    int unused;
    struct ibv_context *context = open_test_device(&unused);
    CHECK_EQ(mcast_join(&group, 0x800000), 0);
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
    unsetenv("RDMA_EMBEDDED_USERS");
    unsetenv("RDMA_EMBEDDED_GROUPS");
    strcpy(folder, "/tmp/netty-rdma-test-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    setenv("RDMA_EMBEDDED_FOLDER", folder, 1);
    RUN(a_name_is_a_socket_of_this_user_alone);
    RUN(the_name_of_a_killed_process_is_taken_over);
    RUN(one_of_many_takes_a_stale_name_over);
    RUN(a_name_counts_as_taken_while_another_process_keeps_the_lock);
    RUN(killed_processes_leave_no_more_than_the_last_one);
    RUN(only_sockets_are_names);
    RUN(a_setting_that_is_wrong_is_told_with_what_to_do);
    RUN(a_program_may_set_it_and_try_again);
    RUN(processes_of_a_namespace_meet);
    if (has_namespaces()) {
        RUN(an_address_leads_to_the_namespace_that_has_it);
        RUN(an_address_of_two_namespaces_leads_to_none);
        RUN(who_is_stopped_holds_up_nobody_for_ever);
        RUN(a_listener_at_the_wildcard_has_the_addresses_of_its_namespace);
        RUN(the_death_of_a_peer_in_another_namespace_is_noticed);
        RUN(an_id_may_be_destroyed_while_it_asks);
        RUN(who_lies_about_an_address_is_heard_once_and_well_formed_only);
    } else {
        fprintf(stderr, "    skipped: tests of network namespaces, which this system lets this user not make\n");
    }
    if (geteuid() == 0) {
        CHECK_EQ(chmod(folder, 01777), 0);
        RUN(users_who_are_not_listed_are_refused);
        RUN(users_who_list_each_other_meet);
        RUN(members_of_a_listed_group_meet);
        RUN(users_who_list_each_other_meet_from_other_namespaces);
        RUN(the_stale_name_of_another_user_stays_taken);
        RUN(a_user_with_many_processes_leaves_room_for_others);
        RUN(a_user_has_another_one_map_a_part_of_its_memory_at_most);
        RUN(a_user_has_half_of_the_places_in_a_group_at_most);
    } else {
        fprintf(stderr, "    skipped: tests with other users, which only root can be\n");
    }
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command) != 0;
}
