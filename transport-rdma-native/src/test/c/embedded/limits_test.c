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
 * The limits that ibv_query_device() tells: each can be reached, and one more is an error of the call that asks for it.
 */
#include <sys/resource.h>
#include <sys/wait.h>

#include "check.h"
#include "embedded/base/sealed.h"
#include "pair.h"
#include "qp_inside.h"

static void all_completion_queues_can_be_had(void) {
    struct end end;
    end_open(&end, &defaults);
    struct ibv_device_attr device;
    CHECK_EQ(ibv_query_device(end.context, &device), 0);
    int count = device.max_cq - 1; /* `end` has one */
    struct ibv_cq **cqs = calloc((size_t) count + 1, sizeof(*cqs));
    CHECK(cqs != NULL);
    for (int i = 0; i < count; i++) {
        cqs[i] = ibv_create_cq(end.context, 1, NULL, NULL, 0);
        CHECK(cqs[i] != NULL);
    }
    errno = 0;
    CHECK(ibv_create_cq(end.context, 1, NULL, NULL, 0) == NULL);
    CHECK_EQ(errno, ENOMEM);
    CHECK_EQ(ibv_destroy_cq(cqs[count / 2]), 0);
    cqs[count / 2] = ibv_create_cq(end.context, 1, NULL, NULL, 0);
    CHECK(cqs[count / 2] != NULL);
    for (int i = 0; i < count; i++) {
        CHECK_EQ(ibv_destroy_cq(cqs[i]), 0);
    }
    free(cqs);
    end_close(&end);
}

/* Connects as many queue pairs as there may be, in pairs of one process. */
#ifdef __SANITIZE_THREAD__
#define QUEUE_PAIRS 2048
#elif defined(__SANITIZE_ADDRESS__)
#define QUEUE_PAIRS 8192
#else
#define QUEUE_PAIRS 0 /* all */
#endif

static void all_queue_pairs_can_be_connected(void) {
    struct end shared;
    struct options options = defaults;
    options.send_wr = options.recv_wr = 1;
    options.cqe = 2 * 65536;
    options.inline_data = 0;
    options.timeout = 0; /* no timeout: a loaded machine takes its time to introduce so many to each other */
    end_open(&shared, &options);
    struct ibv_device_attr device;
    CHECK_EQ(ibv_query_device(shared.context, &device), 0);
    int count = (QUEUE_PAIRS != 0 ? QUEUE_PAIRS : device.max_qp) - 1; /* `shared` has one */
    int descriptors = open_fds();
    struct end *ends = calloc((size_t) count, sizeof(*ends));
    CHECK(ends != NULL);
    for (int i = 0; i < count; i++) {
        end_open_on(&ends[i], &shared, &options);
    }
    if (QUEUE_PAIRS == 0) {
        struct ibv_qp_init_attr attr = {
            .send_cq = shared.send_cq, .recv_cq = shared.recv_cq, .cap = { .max_send_wr = 1 }, .qp_type = IBV_QPT_RC,
        };
        errno = 0;
        CHECK(ibv_create_qp(shared.pd, &attr) == NULL);
        CHECK_EQ(errno, ENOMEM);
    }
    int pairs = count / 2;
    for (int i = 0; i < pairs; i++) {
        end_connect(&ends[i], ends[pairs + i].qp->qp_num);
        end_connect(&ends[pairs + i], ends[i].qp->qp_num);
    }
    for (int i = 0; i < pairs; i++) {
        CHECK_EQ(post_recv(&ends[pairs + i], (uint64_t) i, 0, 64), 0);
        CHECK_EQ(post_send(&ends[i], (uint64_t) i, IBV_WR_SEND, 0, 0, 8), 0);
    }
    for (int i = 0; i < 2 * pairs; i++) {
        CHECK_EQ(next_wc(shared.send_cq).status, IBV_WC_SUCCESS);
    }
    /* A block of numbers, and both ends of its link. */
    CHECK_EVENTUALLY(open_fds() <= descriptors + 3 * (count / 256 + 2));
    CHECK(count_arenas() <= count / 2);
    for (int i = 0; i < count; i++) {
        CHECK_EQ(ibv_destroy_qp(ends[i].qp), 0);
    }
    free(ends);
    end_close(&shared);
    CHECK_EVENTUALLY(count_arenas() == 0);
}

#ifdef __SANITIZE_THREAD__
#define MANY 300
#elif defined(__SANITIZE_ADDRESS__)
#define MANY 1000
#else
#define MANY 5000
#endif

/* Two for each queue pair: most of them have no ticks of their own (notify_area.h). */
static void each_of_many_completion_queues_hears(void) {
    static struct end ends[2][MANY];
    struct options options = defaults;
    options.separate_cqs = true;
    options.cqe = options.send_wr = options.recv_wr = 4;
    for (int side = 0; side < 2; side++) {
        end_open(&ends[side][0], &options);
        for (int i = 1; i < MANY; i++) {
            struct end shared = ends[side][0];
            shared.send_cq = ibv_create_cq(shared.context, 4, NULL, NULL, 0);
            shared.recv_cq = ibv_create_cq(shared.context, 4, NULL, NULL, 0);
            CHECK(shared.send_cq != NULL && shared.recv_cq != NULL);
            end_open_on(&ends[side][i], &shared, &options);
        }
    }
    for (int i = 0; i < MANY; i++) {
        end_connect(&ends[0][i], ends[1][i].qp->qp_num);
        end_connect(&ends[1][i], ends[0][i].qp->qp_num);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            CHECK_EQ(post_recv(&ends[1][i], (uint64_t) i, 0, 64), 0);
            CHECK_EQ(post_send(&ends[0][i], (uint64_t) i, IBV_WR_SEND, 0, 0, 8), 0);
        }
        for (int i = 0; i < MANY; i++) {
            expect_wc(ends[1][i].recv_cq, (uint64_t) i, IBV_WC_SUCCESS);
            expect_wc(ends[0][i].send_cq, (uint64_t) i, IBV_WC_SUCCESS);
        }
    }
    for (int side = 0; side < 2; side++) {
        for (int i = 1; i < MANY; i++) {
            CHECK_EQ(ibv_destroy_qp(ends[side][i].qp), 0);
            CHECK_EQ(ibv_destroy_cq(ends[side][i].send_cq), 0);
            CHECK_EQ(ibv_destroy_cq(ends[side][i].recv_cq), 0);
        }
        end_close(&ends[side][0]);
    }
}

/*
 * Raises the limit as a Java virtual machine does. Waiting messages have descriptors, too, more of them for a user
 * without privileges.
 */
static void raise_descriptor_limit(void) {
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void set_file_size_limit(rlim_t bytes) {
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The device has not been opened in this process yet. */
static void use_device_under_a_limit_of_file_sizes(void) {
    char reason[1024] = "";
    void *memory;
    set_file_size_limit(64 << 10);
    CHECK(ibv_get_device_list(NULL) == NULL);
    CHECK_EQ(errno, EFBIG);
    CHECK_EQ(embedded_start(reason, sizeof(reason)), EFBIG);
    CHECK(strstr(reason, "RLIMIT_FSIZE") != NULL && strstr(reason, "65536 bytes") != NULL);
    set_file_size_limit(RLIM_INFINITY);
    CHECK_EQ(embedded_start(reason, sizeof(reason)), 0);
    struct end end;
    end_open(&end, &defaults);
    set_file_size_limit(64 << 10); /* existing objects can still be used */
    CHECK_EQ(embedded_start(reason, sizeof(reason)), 0);
    CHECK_EQ(sealed_create("test", 64 << 10, &memory) < 0, 0);
    CHECK_EQ(sealed_create("test", (64 << 10) + 4096, &memory), -1);
    CHECK_EQ(errno, EFBIG);
    end_close(&end);
}

/* The kernel's signal, which says that a file would be larger than it may be, ends a process. */
static void a_limit_of_file_sizes_is_an_error_and_no_signal(void) {
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        use_device_under_a_limit_of_file_sizes();
        _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

int main(void) {
    raise_descriptor_limit();
    RUN(a_limit_of_file_sizes_is_an_error_and_no_signal);
    RUN(all_queue_pairs_can_be_connected);
    RUN(all_completion_queues_can_be_had);
    RUN(each_of_many_completion_queues_hears);
    return 0;
}
