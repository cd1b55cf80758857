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
 * Many queue pairs on one completion queue, threads at work on the same objects, and creation when resources run out.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "embedded/engine.h"
#include "embedded/qp.h"
#include "pair.h"

/* ---- many ---- */

#ifdef __SANITIZE_THREAD__
#define MANY 300
#else
#define MANY 3000
#endif

static struct end ends[2][MANY];

static int count_fds(void) {
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    CHECK(directory != NULL);
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}

static void open_many(int side, const struct options *options, int count) {
    end_open(&ends[side][0], options);
    for (int i = 1; i < count; i++) {
        end_open_on(&ends[side][i], &ends[side][0], options);
    }
}

static void close_many(int side, int count) {
    for (int i = 1; i < count; i++) {
        CHECK_EQ(embedded_ibv_destroy_qp(ends[side][i].qp), 0);
    }
    end_close(&ends[side][0]);
}

static void each_of_many_queue_pairs_is_heard(void) {
    struct options options = defaults;
    options.cqe = 4 * MANY;
    options.send_wr = options.recv_wr = 4;
    options.channel = true; /* its descriptor goes along with each introduction */
    open_many(0, &options, MANY);
    open_many(1, &options, MANY);
    int before = count_fds();
    for (int i = 0; i < MANY; i++) {
        end_connect(&ends[0][i], ends[1][i].qp->qp_num);
        end_connect(&ends[1][i], ends[0][i].qp->qp_num);
    }
    static int heard[MANY];
    for (int round = 0; round < 3; round++) {
        memset(heard, 0, sizeof(heard));
        for (int i = 0; i < MANY; i++) {
            CHECK_EQ(post_recv(&ends[1][i], (uint64_t) i, 0, 64), 0);
        }
        for (int i = 0; i < MANY; i++) {
            CHECK_EQ(post_send(&ends[0][i], (uint64_t) i, IBV_WR_SEND, 0, 0, 8), 0);
        }
        for (int i = 0; i < MANY; i++) {
            struct ibv_wc wc = next_wc(ends[1][0].recv_cq);
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
            CHECK_EQ(heard[wc.wr_id]++, 0);
            wc = next_wc(ends[0][0].send_cq);
            CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        }
        expect_nothing(ends[1][0].recv_cq);
    }
    CHECK_EVENTUALLY(count_fds() - before <= 2 * MANY / 128 + 8); /* links, one for each block of numbers */
    close_many(0, MANY);
    close_many(1, MANY);
}

/* ---- threads ---- */

#define PAIRS 8
#define ROUNDS 400

static atomic_int moved;
static atomic_bool stop;

static bool has_segment_fd(struct qp *qp) {
    pthread_mutex_lock(&qp->control);
    bool has = qp->segment_fd >= 0;
    pthread_mutex_unlock(&qp->control);
    return has;
}

static void *drive(void *argument) {
    int i = *(int *) argument;
    struct end *a = &ends[0][i], *b = &ends[1][i];
    /* The rounds count on all being served alike, so from when the ends have met. */
    CHECK_EVENTUALLY(!has_segment_fd(qp_of(a->qp)) && !has_segment_fd(qp_of(b->qp)));
    struct address to = end_address(b);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_EQ(post_recv(b, 1, 0, 0), 0);
        CHECK_EQ(post_rdma(a, 0, IBV_WR_RDMA_WRITE, 0, (size_t) i * 4096, 1 + (uint32_t) round % 4096, &to,
                           (size_t) i * 4096), 0);
        CHECK_EQ(post_rdma(a, 0, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SIGNALED, 0, 0, &to, 0), 0);
        int seen = atomic_load(&moved);
        struct ibv_wc wc[4];
        uint64_t end = now_ns() + UINT64_C(60000000000);
        /* All threads poll the two queues; whoever finds a completion counts it. */
        while (atomic_load(&moved) < seen + 2 && now_ns() < end) {
            for (int side = 0; side < 2; side++) {
                int n = a->context->ops.poll_cq(side ? b->recv_cq : a->send_cq, 4, wc);
                for (int k = 0; k < n; k++) {
                    CHECK_EQ(wc[k].status, IBV_WC_SUCCESS);
                }
                atomic_fetch_add(&moved, n);
            }
            if (atomic_load(&moved) == PAIRS * ROUNDS * 2) {
                break;
            }
        }
        /* The queues hold 64: wait for the others' completions of this one's requests now and then. */
        while (atomic_load(&moved) < (round - 20) * 2 * PAIRS) {
            for (int side = 0; side < 2; side++) {
                int n = a->context->ops.poll_cq(side ? b->recv_cq : a->send_cq, 4, wc);
                atomic_fetch_add(&moved, n);
            }
            CHECK(now_ns() < end);
        }
    }
    return NULL;
}

static void *churn(void *argument) {
    struct end *shared = argument;
    struct options options = shared->options;
    while (!atomic_load(&stop)) {
        struct end a, b;
        struct ibv_mr *mr = embedded_ibv_reg_mr(shared->pd, shared->buffer, PAIR_BUFFER, defaults.access);
        CHECK(mr != NULL);
        end_open_on(&a, shared, &options);
        end_open_on(&b, shared, &options);
        a.mr = b.mr = mr;
        end_connect(&a, b.qp->qp_num);
        end_connect(&b, a.qp->qp_num);
        struct address to = end_address(&b);
        CHECK_EQ(post_rdma(&a, 7, IBV_WR_RDMA_WRITE, 0, 1 << 20, 8192, &to, 2 << 20), 0);
        CHECK_EQ(embedded_ibv_destroy_qp(a.qp), 0); /* in whatever state the transfer is */
        CHECK_EQ(embedded_ibv_dereg_mr(mr), 0);
        CHECK_EQ(embedded_ibv_destroy_qp(b.qp), 0);
    }
    return NULL;
}

static void threads_share_queues_while_others_come_and_go(void) {
    struct options options = defaults;
    options.sig_all = false;
    options.cqe = 4096;
    open_many(0, &options, PAIRS);
    open_many(1, &options, PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        end_connect(&ends[0][i], ends[1][i].qp->qp_num);
        end_connect(&ends[1][i], ends[0][i].qp->qp_num);
    }
    atomic_store(&moved, 0);
    atomic_store(&stop, false);
    pthread_t threads[PAIRS], churner;
    int numbers[PAIRS];
    CHECK_EQ(pthread_create(&churner, NULL, churn, &ends[0][0]), 0);
    for (int i = 0; i < PAIRS; i++) {
        numbers[i] = i;
        CHECK_EQ(pthread_create(&threads[i], NULL, drive, &numbers[i]), 0);
    }
    for (int i = 0; i < PAIRS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    }
    atomic_store(&stop, true);
    CHECK_EQ(pthread_join(churner, NULL), 0);
    close_many(0, PAIRS);
    close_many(1, PAIRS);
}

/* ---- resources ---- */

static void limit_fds(int more) {
    struct rlimit limit = { .rlim_max = 0 };
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    int lowest = dup(0);
    CHECK(lowest >= 0);
    close(lowest);
    limit.rlim_cur = more < 0 ? limit.rlim_max : (rlim_t) (lowest + more);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Everything a connection needs, or nothing. Returns whether it worked. */
static bool try_everything(void) {
    struct ibv_device **list = embedded_ibv_get_device_list(NULL);
    struct ibv_context *context = embedded_ibv_open_device(list[0]);
    embedded_ibv_free_device_list(list);
    if (context == NULL) {
        CHECK_EQ(errno, EMFILE);
        return false;
    }
    bool connected = false;
    struct ibv_comp_channel *channel = embedded_ibv_create_comp_channel(context);
    CHECK(channel != NULL || errno == EMFILE);
    struct ibv_pd *pd = embedded_ibv_alloc_pd(context);
    struct ibv_cq *cq = embedded_ibv_create_cq(context, 16, NULL, channel, 0);
    CHECK(pd != NULL && cq != NULL);
    struct ibv_qp_init_attr attr = {
        .send_cq = cq, .recv_cq = cq, .cap = { .max_send_wr = 1, .max_recv_wr = 1 }, .qp_type = IBV_QPT_RC,
    };
    struct ibv_qp *qp = embedded_ibv_create_qp(pd, &attr);
    CHECK(qp != NULL || errno == EMFILE);
    if (qp != NULL) {
        struct end end = { .context = context, .qp = qp, .options = defaults };
        end_to_init(&end);
        int error = end_to_rtr(&end, qp->qp_num);
        CHECK(error == 0 || error == EMFILE);
        expect_state(qp, error == 0 ? IBV_QPS_RTR : IBV_QPS_INIT);
        connected = error == 0 && channel != NULL;
        CHECK_EQ(embedded_ibv_destroy_qp(qp), 0);
    }
    CHECK_EQ(embedded_ibv_destroy_cq(cq), 0);
    CHECK_EQ(embedded_ibv_dealloc_pd(pd), 0);
    if (channel != NULL) {
        CHECK_EQ(embedded_ibv_destroy_comp_channel(channel), 0);
    }
    CHECK_EQ(embedded_ibv_close_device(context), 0);
    return connected;
}

static void creation_unwinds_when_descriptors_run_out(void) {
    int needed = 0;
    for (int more = 0; needed == 0; more++) {
        CHECK(more < 64);
        limit_fds(more);
        if (try_everything()) {
            needed = more;
        }
    }
    limit_fds(-1);
    CHECK(try_everything());
    int before = count_fds();
    for (int i = 0; i < 50; i++) {
        CHECK(try_everything());
    }
    CHECK_EVENTUALLY(count_fds() <= before + 3); /* a block of numbers, and its link, now and then */
}

static uint64_t introduce_gap(struct qp *qp) {
    pthread_mutex_lock(&qp->control);
    uint64_t gap = qp->introduce_gap_ns;
    pthread_mutex_unlock(&qp->control);
    return gap;
}

static bool holds_introduction(struct qp *qp) {
    pthread_mutex_lock(&qp->control);
    bool held = qp->held != NULL;
    pthread_mutex_unlock(&qp->control);
    return held;
}

static void an_introduction_that_finds_no_descriptor_is_repeated(void) {
    struct end a, b, scout;
    end_open(&a, &defaults);
    end_open(&b, &defaults);
    end_open(&scout, &defaults);
    end_to_init(&a);
    end_to_init(&b);
    end_to_init(&scout);
    CHECK_EQ(end_to_rtr(&scout, b.qp->qp_num), 0); /* so that there is a link */
    CHECK_EVENTUALLY(holds_introduction(qp_of(b.qp)));
    end_close(&scout);
    struct qp *late = qp_of(b.qp), *early = qp_of(a.qp);
    pthread_mutex_lock(&late->control);
    qp_drop_held(late);
    pthread_mutex_unlock(&late->control);
    engine_quiesce();
    limit_fds(1); /* for the sender's */
    CHECK_EQ(end_to_rtr(&a, b.qp->qp_num), 0);
    uint64_t first_gap = introduce_gap(early);
    CHECK_EVENTUALLY(introduce_gap(early) > first_gap);
    CHECK(!holds_introduction(late));
    limit_fds(-1);
    CHECK_EQ(end_to_rts(&a), 0);
    end_connect(&b, a.qp->qp_num);
    CHECK_EQ(post_recv(&b, 1, 0, 8), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    CHECK_EVENTUALLY(!has_segment_fd(early) && !has_segment_fd(late));
    CHECK(!holds_introduction(early) && !holds_introduction(late));
    end_close(&a);
    end_close(&b);
}

int main(void) {
    RUN(creation_unwinds_when_descriptors_run_out);
    RUN(an_introduction_that_finds_no_descriptor_is_repeated);
    RUN(each_of_many_queue_pairs_is_heard);
    RUN(threads_share_queues_while_others_come_and_go);
    return 0;
}
