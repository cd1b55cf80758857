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
 * Common part of the tests of RDMA_EMBEDDED_FOLDER: a folder, services in other network namespaces and of other users,
 * and clients that talk with them.
 */
#ifndef NETTY_RDMA_TEST_FOLDER_SUPPORT_H
#define NETTY_RDMA_TEST_FOLDER_SUPPORT_H

#include <dirent.h>
#include <rdma/rdma_verbs.h>

#include "cm_support.h"
#include "namespaces.h"

#define PORT 8080
#define OF_A "10.77.0.1"
#define OF_B "10.77.0.2"
#define OF_C "10.77.0.3"

static char folder[64];

/* An empty one, which is set. Nobody else is listed. */
static inline void make_folder(void) {
    unsetenv("RDMA_EMBEDDED_USERS");
    unsetenv("RDMA_EMBEDDED_GROUPS");
    strcpy(folder, "/tmp/netty-rdma-test-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    setenv("RDMA_EMBEDDED_FOLDER", folder, 1);
}

static inline void remove_folder(void) {
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    CHECK_EQ(system(command), 0);
}

static inline int count_names(const char *prefix) {
    DIR *dir = opendir(folder);
    CHECK(dir != NULL);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    }
    closedir(dir);
    return count;
}

static inline void run_in_child(void (*run)(const void *argument), const void *argument) {
    struct child child = begin_child(run, argument);
    end_child(&child);
}

/* ---- ends of connections ---- */

#define BYTES 4096

struct end {
    struct rdma_cm_id *id;
    struct ibv_mr *mr;
    char memory[2 * BYTES];
};

static inline void open_end(struct end *end) {
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

static inline void close_end(struct end *end) {
    rdma_destroy_qp(end->id);
    CHECK_EQ(ibv_dereg_mr(end->mr), 0);
    CHECK_EQ(rdma_destroy_id(end->id), 0);
}

static inline void expect_completion(int count, const struct ibv_wc *wc) {
    CHECK_EQ(count, 1);
    CHECK_EQ(wc->status, IBV_WC_SUCCESS);
}

static inline struct rdma_conn_param parameters(const void *data, size_t length) {
    return (struct rdma_conn_param) { .private_data = data, .private_data_len = (uint8_t) length,
                                      .responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
                                      .rnr_retry_count = 7 };
}

/* ---- persons ---- */

/* User of a process, and the users and groups that it lists. NULL: nobody. */
struct person {
    uid_t user;
    gid_t group, other_group;
    const char *users, *groups;
};

static inline void set_or_not(const char *name, const char *value) {
    if (value != NULL) {
        setenv(name, value, 1);
    } else {
        unsetenv(name);
    }
}

static inline void become_person(const struct person *person) {
    set_or_not("RDMA_EMBEDDED_USERS", person->users);
    set_or_not("RDMA_EMBEDDED_GROUPS", person->groups);
    if (person->user != geteuid()) {
        CHECK_EQ(setgroups(1, &person->other_group), 0);
        CHECK_EQ(setresgid(person->group, person->group, person->group), 0);
        CHECK_EQ(setresuid(person->user, person->user, person->user), 0);
    }
}

/* ---- services ---- */

struct service {
    const char *network; /* address of its network namespace; NULL: this one */
    const char *name;
    const struct person *person; /* NULL: this user */
};

/* Key that a service tells its clients. */
struct key {
    uint64_t address;
    uint32_t rkey;
    char name[16];
};

/* Serves one connection after the other: tells its name and its memory, answers one message, waits for the end. */
static inline void serve(const void *argument) {
    const struct service *service = argument;
    if (service->network != NULL) {
        enter_network(service->network);
    }
    if (service->person != NULL) {
        become_person(service->person);
    }
    struct rdma_cm_id *listener;
    struct address address = address_of("0.0.0.0", PORT);
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

static inline struct child begin_service(const struct service *service) {
    struct child child = begin_child(serve, service);
    CHECK_EQ(hear(&child), 0);
    return child;
}

/* ---- clients ---- */

/* Returns 0 if the address was resolved, or errno. */
static inline int resolve_to(struct end *end, const char *text, struct address *address) {
    *end = (struct end) { 0 };
    *address = address_of(text, PORT);
    CHECK_EQ(rdma_create_id(NULL, &end->id, NULL, RDMA_PS_TCP), 0);
    int err = rdma_resolve_addr(end->id, NULL, sockaddr_of(address), 2000) == 0 ? 0 : errno;
    return err == 0 && rdma_resolve_route(end->id, 2000) != 0 ? errno : err;
}

/* Returns 0 if it is connected, or errno. */
static inline int connect_to(struct end *end, const char *text, struct key *key) {
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

static inline bool is_ip(const struct sockaddr *address, const char *text) {
    struct address expected = address_of(text, 0);
    return ((const struct sockaddr_in *) address)->sin_addr.s_addr
            == ((struct sockaddr_in *) &expected.storage)->sin_addr.s_addr;
}

/* Connects, exchanges every kind of data, and disconnects. */
static inline void converse(const char *to, const char *from, const char *name) {
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

static inline int fail_to_connect(const char *to) {
    struct end end;
    struct key key;
    int err = connect_to(&end, to, &key);
    CHECK(err != 0);
    return err;
}

#endif
