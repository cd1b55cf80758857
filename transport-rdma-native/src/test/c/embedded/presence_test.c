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
/* State of the provider in a process, which ends with its last object, and begins again with the next one. */
#include "embedded/device/presence.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "embedded/base/closer.h"
#include "embedded/link/engine.h"
#include "embedded/link/link.h"
#include "pair.h"
#include "xrc_support.h"

#define SOON_NS UINT64_C(1000000)

/* Mappings whose lines contain the text. */
static int mappings(const char *text) {
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    char line[512];
    int count = 0;
    while (fgets(line, sizeof(line), maps) != NULL) {
        count += strstr(line, text) != NULL;
    }
    fclose(maps);
    return count;
}

/* Abstract names of queue pair numbers and ports, of all processes here. */
static int names(void) {
    FILE *sockets = fopen("/proc/net/unix", "r");
    CHECK(sockets != NULL);
    char line[512];
    int count = 0;
    while (fgets(line, sizeof(line), sockets) != NULL) {
        count += strstr(line, "@netty-rdma/") != NULL;
    }
    fclose(sockets);
    return count;
}

/* Returns whether the provider has nothing left beside what the test itself has. */
static bool nothing_is_left(int fds) {
    return threads("rdma-engine") == 0 && open_fds() == fds && mappings("/memfd:rdma-") == 0;
}

/* Returns a number that the process had, and has as long as its names. */
static uint32_t one_pair(void) {
    struct end a, b;
    pair_open(&a, &b, &defaults);
    pair_talk(&a, &b);
    uint32_t qpn = a.qp->qp_num;
    pair_close(&a, &b);
    return qpn;
}

static void the_last_object_takes_thread_descriptors_and_memory_along(void) {
    int fds = open_fds();
    for (int i = 0; i < 5; i++) {
        one_pair();
        CHECK_EVENTUALLY(nothing_is_left(fds));
    }
}

static bool is_refused(uint32_t qpn) {
    struct link *link;
    int err = link_connect_qpn(qpn, &link);
    if (err == 0) {
        link_put(link);
    }
    return err == ECONNREFUSED;
}

static void the_last_object_takes_the_names_along(void) {
    struct end a, b;
    int fds = open_fds();
    pair_open(&a, &b, &defaults);
    uint32_t qpn = a.qp->qp_num;
    CHECK(names() > 0);
    pair_close(&a, &b);
    CHECK_EVENTUALLY(is_refused(qpn));
    CHECK_EVENTUALLY(nothing_is_left(fds));
}

static void expect_all(uint32_t qpn) {
    settle(); /* the end of everything, if it were to come, has come */
    CHECK(mappings("/memfd:rdma-notify") > 0);
    CHECK_EQ(threads("rdma-engine"), 1);
    CHECK(!is_refused(qpn));
}

static void an_object_keeps_all_of_it(void) {
    int gid_index, fds = open_fds();
    presence_rest_ns = 0;
    struct ibv_context *context = open_test_device(&gid_index);
    struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
    CHECK(cq != NULL);
    uint32_t qpn = one_pair();
    expect_all(qpn);
    CHECK_EQ(ibv_close_device(context), 0); /* has no effect: it has an object */
    one_pair();
    expect_all(qpn);
    CHECK_EQ(ibv_destroy_cq(cq), 0);
    expect_all(qpn);
    CHECK_EQ(ibv_close_device(context), 0);
    CHECK_EVENTUALLY(nothing_is_left(fds));
    presence_rest_ns = SOON_NS;
}

static void members_of_groups_leave_no_administrator(void) {
    int fds = open_fds();
    union ibv_gid gid = { .raw = { 0xff, 0x12, 0x78, [14] = (uint8_t) getpid() } };
    struct options options = defaults;
    options.type = IBV_QPT_UD;
    for (int i = 0; i < 3; i++) {
        struct end end;
        end_open(&end, &options);
        struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1 };
        CHECK_EQ(ibv_modify_qp(end.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
        CHECK_EQ(ibv_attach_mcast(end.qp, &gid, 0xc001), 0);
        CHECK(mappings("/memfd:rdma-") > 1);
        CHECK_EQ(ibv_detach_mcast(end.qp, &gid, 0xc001), 0);
        end_close(&end);
        CHECK_EVENTUALLY(nothing_is_left(fds));
    }
}

/* A target has no completion queue of its own. */
static void the_last_target_takes_its_completion_queue_along(void) {
    int fds = open_fds();
    for (int i = 0; i < 3; i++) {
        struct ibv_xrcd *xrcd;
        int gid_index;
        struct ibv_context *context = open_test_device(&gid_index);
        xrcd = open_domain(context, -1, O_CREAT);
        CHECK(xrcd != NULL);
        struct ibv_qp_init_attr_ex attr = {
            .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd,
        };
        struct ibv_qp *target = ibv_create_qp_ex(context, &attr);
        CHECK(target != NULL);
        CHECK_EQ(ibv_destroy_qp(target), 0);
        CHECK_EQ(ibv_close_xrcd(xrcd), 0);
        CHECK_EQ(ibv_close_device(context), 0);
        CHECK_EVENTUALLY(nothing_is_left(fds));
    }
}

static void *come_and_go(void *unused) {
    (void) unused;
    for (uint32_t i = 0; i < rounds(60, 10); i++) {
        one_pair();
    }
    return NULL;
}

/* The time to rest is 0: everything ends between two pairs, while the next one comes. */
static void a_user_may_come_while_everything_ends(void) {
    int fds = open_fds();
    pthread_t others[2];
    presence_rest_ns = 0;
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pthread_create(&others[i], NULL, come_and_go, NULL), 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(pthread_join(others[i], NULL), 0);
    }
    presence_rest_ns = SOON_NS;
    one_pair(); /* the last rest was perhaps planned before that */
    CHECK_EVENTUALLY(nothing_is_left(fds));
}

static void a_child_begins_anew_whether_or_not_its_parent_rests(void) {
    int fds = open_fds();
    for (int i = 0; i < 4; i++) {
        struct end a, b;
        bool parent_is_present = i % 2 == 1;
        if (parent_is_present) {
            pair_open(&a, &b, &defaults);
            pair_talk(&a, &b);
            settle(); /* no descriptor is under way any more */
        }
        CHECK_EVENTUALLY(closer_is_done()); /* descriptors that wait are open in the child as well, for a while */
        pid_t child = fork_child();
        if (child == 0) {
            limit_life();
            int own_fds = open_fds();
            one_pair();
            CHECK_EVENTUALLY(nothing_is_left(own_fds));
            if (parent_is_present) {
                pair_close(&a, &b);
            }
            one_pair();
            CHECK_EVENTUALLY(threads("rdma-engine") == 0 && mappings("/memfd:rdma-") == 0);
            _exit(0);
        }
        expect_exit(child, 0);
        if (parent_is_present) {
            pair_talk(&a, &b);
            pair_close(&a, &b);
        }
        CHECK_EVENTUALLY(nothing_is_left(fds));
    }
}

/* A server that makes a queue pair, tells of it, and ends it when it likes, over and over. */
static void serve(int socket) {
    presence_rest_ns = 0;
    for (uint32_t i = 0;; i++) {
        struct end end;
        end_open(&end, &defaults);
        struct address own = end_address(&end), peers;
        send_all(socket, &own, sizeof(own));
        receive_all(socket, &peers, sizeof(peers));
        if (peers.qpn == 0) {
            end_close(&end);
            break;
        }
        end_to_init(&end);
        CHECK_EQ(post_recv(&end, 1, 0, 64), 0);
        end_to_rtr(&end, peers.qpn); /* the peer may have given up */
        end_to_rts(&end);
        for (uint32_t turn = 0; turn < i % 7 * 40; turn++) {
            sched_yield();
        }
        end_close(&end);
    }
}

/*
 * A peer of a resting process is told as of one that dies: no request is left without an answer, and the next queue
 * pair can be reached.
 */
static void a_peer_of_one_that_rests_is_told(void) {
    int socket;
    uint32_t done = 0, count = rounds(100, 20);
    presence_rest_ns = UINT64_C(3600000000000); /* keeps this process present */
    pid_t child = spawn(serve, &socket);
    struct options impatient = defaults;
    impatient.timeout = 8; /* 1 ms */
    impatient.retry_cnt = 1;
    for (uint32_t i = 0; i < count; i++) {
        struct end end;
        struct address peers;
        end_open(&end, &impatient);
        receive_all(socket, &peers, sizeof(peers));
        struct address own = end_address(&end);
        send_all(socket, &own, sizeof(own));
        end_connect(&end, peers.qpn);
        CHECK_EQ(post_send(&end, i, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64), 0);
        struct ibv_wc wc = next_wc(end.send_cq);
        CHECK(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_RETRY_EXC_ERR);
        done += wc.status == IBV_WC_SUCCESS;
        end_close(&end);
    }
    struct address none, last = { .qpn = 0 };
    receive_all(socket, &none, sizeof(none));
    send_all(socket, &last, sizeof(last));
    expect_exit(child, 0);
    close(socket);
    fprintf(stderr, "    %u of %u were answered in time\n", done, count);
    CHECK(done > 0);
    presence_rest_ns = SOON_NS;
}

int main(void) {
    int fds = open_fds();
    RUN(a_peer_of_one_that_rests_is_told); /* the first: it forks */
    presence_rest_ns = SOON_NS;
    one_pair();
    CHECK_EVENTUALLY(nothing_is_left(fds) && threads("rdma-") == 0);
    RUN(the_last_object_takes_thread_descriptors_and_memory_along);
    RUN(the_last_object_takes_the_names_along);
    RUN(an_object_keeps_all_of_it);
    RUN(members_of_groups_leave_no_administrator);
    RUN(the_last_target_takes_its_completion_queue_along);
    RUN(a_user_may_come_while_everything_ends);
    RUN(a_child_begins_anew_whether_or_not_its_parent_rests);
    CHECK_EVENTUALLY(threads("rdma-") == 0);
    return 0;
}
