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
/* Creation and introduction of queue pairs when file descriptors run out, and that introductions do not use them up. */
#include <poll.h>

#include "check.h"
#include "embedded/device/qp.h"
#include "embedded/link/link_private.h"
#include "embedded/rc/rc.h"
#include "few_descriptors.h"
#include "pair.h"
#include "provider.h"
#include "qp_inside.h"

/* Everything a connection needs, or nothing. Returns whether it worked. */
static bool try_everything(void) {
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    if (context == NULL) {
        CHECK_EQ(errno, EMFILE);
        return false;
    }
    bool connected = false;
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    CHECK(channel != NULL || errno == EMFILE);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, channel, 0);
    CHECK(pd != NULL && cq != NULL);
    struct ibv_qp_init_attr attr = {
        .send_cq = cq, .recv_cq = cq, .cap = { .max_send_wr = 1, .max_recv_wr = 1 }, .qp_type = IBV_QPT_RC,
    };
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    CHECK(qp != NULL || errno == EMFILE);
    if (qp != NULL) {
        struct end end = { .context = context, .qp = qp, .options = defaults };
        end_to_init(&end);
        int error = end_to_rtr(&end, qp->qp_num);
        CHECK(error == 0 || error == EMFILE);
        expect_state(qp, error == 0 ? IBV_QPS_RTR : IBV_QPS_INIT);
        connected = error == 0 && channel != NULL;
        CHECK_EQ(ibv_destroy_qp(qp), 0);
    }
    CHECK_EQ(ibv_destroy_cq(cq), 0);
    CHECK_EQ(ibv_dealloc_pd(pd), 0);
    if (channel != NULL) {
        CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
    }
    CHECK_EQ(ibv_close_device(context), 0);
    return connected;
}

static void creation_unwinds_when_descriptors_run_out(void) {
    int needed = 0;
    for (int more = 0; needed == 0; more++) {
        CHECK(more < 64);
        struct rlimit before = leave_descriptors(more);
        if (try_everything()) {
            needed = more;
        }
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    }
    CHECK(try_everything());
    int before = open_fds();
    for (int i = 0; i < 50; i++) {
        CHECK(try_everything());
    }
    CHECK_EVENTUALLY(open_fds() <= before + 3); /* a block of numbers, and its link, now and then */
}

static uint64_t introduce_gap(struct qp *qp) {
    pthread_mutex_lock(&qp->control);
    uint64_t gap = rc_of(qp)->introduce_gap_ns;
    pthread_mutex_unlock(&qp->control);
    return gap;
}

static void an_introduction_that_finds_no_descriptor_is_repeated(void) {
    struct end a, b, scout;
    struct options options = defaults;
    uint64_t idle_timeout_ns = link_idle_timeout_ns;
    link_idle_timeout_ns = UINT64_MAX / 2; /* another link would need descriptors */
    options.channel = options.separate_cqs = true; /* so that two descriptors go along */
    end_open(&a, &options);
    end_open(&b, &defaults);
    end_open(&scout, &defaults);
    end_to_init(&a);
    end_to_init(&b);
    end_to_init(&scout);
    CHECK_EQ(end_to_rtr(&scout, b.qp->qp_num), 0); /* so that there is a link */
    CHECK_EVENTUALLY(holds_introduction(qp_of(b.qp)));
    end_close(&scout);
    settle(); /* the queue pair may have introduced itself once more */
    struct qp *late = qp_of(b.qp), *early = qp_of(a.qp);
    pthread_mutex_lock(&late->control);
    rc_release(late, true);
    pthread_mutex_unlock(&late->control);
    struct rlimit before = leave_descriptors(1); /* one descriptor for the sender and, for a moment, the engine */
    CHECK_EVENTUALLY(end_to_rtr(&a, b.qp->qp_num) == 0);
    uint64_t first_gap = introduce_gap(early);
    CHECK_EVENTUALLY(introduce_gap(early) > first_gap);
    CHECK(!holds_introduction(late));
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_EQ(end_to_rts(&a), 0);
    end_connect(&b, a.qp->qp_num);
    CHECK_EQ(post_recv(&b, 1, 0, 8), 0);
    CHECK_EQ(post_send(&a, 2, IBV_WR_SEND, 0, 0, 8), 0);
    expect_wc(a.send_cq, 2, IBV_WC_SUCCESS);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    CHECK_EVENTUALLY(!is_introducing_itself(early) && !is_introducing_itself(late));
    CHECK(!holds_introduction(early) && !holds_introduction(late));
    link_idle_timeout_ns = idle_timeout_ns;
    end_close(&a);
    end_close(&b);
}

#define EARLY 300
#define HELD_DOORBELLS 256 /* two for each of MAX_HELD_DOORBELLS introductions: rc_attach.c */
#define OTHER_FDS 60       /* arenas that are shown, eight segments each; blocks of numbers and their links */

static struct end early_ends[EARLY], late_ends[EARLY];

static void connect_late(int i) {
    CHECK_EQ(end_to_rts(&early_ends[i]), 0);
    CHECK_EQ(end_to_rtr(&late_ends[i], early_ends[i].qp->qp_num), 0);
    CHECK_EQ(end_to_rts(&late_ends[i]), 0);
}

/* The sleeper gets its event, whoever was rung. */
static void wake(int i) {
    struct ibv_cq *cq;
    void *cq_context;
    CHECK_EQ(post_recv(&early_ends[i], 1, 0, 8), 0);
    CHECK_EQ(ibv_req_notify_cq(early_ends[i].recv_cq, 0), 0);
    CHECK_EQ(post_send(&late_ends[i], 2, IBV_WR_SEND, 0, 0, 8), 0);
    struct pollfd event = { .fd = early_ends[i].channel->fd, .events = POLLIN };
    CHECK_EQ(poll(&event, 1, patience_ms()), 1);
    CHECK_EQ(ibv_get_cq_event(early_ends[i].channel, &cq, &cq_context), 0);
    CHECK(cq == early_ends[i].recv_cq);
    ibv_ack_cq_events(cq, 1);
    expect_wc(early_ends[i].recv_cq, 1, IBV_WC_SUCCESS);
    expect_wc(late_ends[i].send_cq, 2, IBV_WC_SUCCESS);
}

static bool has_doorbells(struct qp *qp) {
    struct rc *rc = rc_of(qp);
    pthread_mutex_lock(&qp->control);
    bool lacks = process_lacks_doorbell(&rc->to_recv_cq) || process_lacks_doorbell(&rc->to_send_cq);
    pthread_mutex_unlock(&qp->control);
    return !lacks;
}

/* Any process can introduce itself to queue pairs that are not ready. */
static void introductions_that_are_held_use_few_descriptors(void) {
    struct options options = defaults;
    options.channel = options.separate_cqs = true; /* so that two doorbells go along */
    end_open(&early_ends[0], &options);
    end_open(&late_ends[0], &defaults);
    for (int i = 0; i < EARLY; i++) {
        if (i > 0) {
            struct end own = early_ends[0]; /* but for completion queues of its own: nobody knows their doorbells */
            own.send_cq = ibv_create_cq(own.context, 16, NULL, own.channel, 0);
            own.recv_cq = ibv_create_cq(own.context, 16, NULL, own.channel, 0);
            CHECK(own.send_cq != NULL && own.recv_cq != NULL);
            end_open_on(&early_ends[i], &own, &options);
            end_open_on(&late_ends[i], &late_ends[0], &defaults);
        }
        end_to_init(&early_ends[i]);
        end_to_init(&late_ends[i]);
    }
    int before = open_fds();
    for (int i = 0; i < EARLY; i++) {
        CHECK_EQ(end_to_rtr(&early_ends[i], late_ends[i].qp->qp_num), 0);
    }
    for (int i = 0; i < EARLY; i++) {
        CHECK_EVENTUALLY(holds_introduction(qp_of(late_ends[i].qp)));
    }
    /* Not at once: introductions that are repeated have more while they are sent and received. */
    CHECK_EVENTUALLY(open_fds() <= before + HELD_DOORBELLS + OTHER_FDS);
    connect_late(EARLY - 1); /* queue pair whose doorbells were not kept */
    wake(EARLY - 1);
    CHECK_EVENTUALLY(has_doorbells(qp_of(late_ends[EARLY - 1].qp))); /* it has asked for them */
    for (int i = 0; i < EARLY - 1; i++) {
        connect_late(i);
    }
    wake(0);
    for (int i = 1; i < EARLY; i++) {
        CHECK_EQ(ibv_destroy_qp(early_ends[i].qp), 0);
        CHECK_EQ(ibv_destroy_cq(early_ends[i].send_cq), 0);
        CHECK_EQ(ibv_destroy_cq(early_ends[i].recv_cq), 0);
        CHECK_EQ(ibv_destroy_qp(late_ends[i].qp), 0);
    }
    end_close(&early_ends[0]);
    end_close(&late_ends[0]);
}

int main(void) {
    end_idle_links_soon();
    RUN(creation_unwinds_when_descriptors_run_out);
    RUN(an_introduction_that_finds_no_descriptor_is_repeated);
    RUN(introductions_that_are_held_use_few_descriptors);
    return 0;
}
