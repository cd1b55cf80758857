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
/* A window is taken away while its memory is in use. */
#include <pthread.h>

#include "check.h"
#include "embedded/base/epoch.h"
#include "embedded/device/mw.h"
#include "pair.h"
#include "provider.h"

#define BYTES 4096u

static struct end a, b;
static struct ibv_mr *region;
static struct ibv_mw *mw;

static void bind_window(struct ibv_mr *mr) {
    struct ibv_mw_bind bind = { .wr_id = 1, .send_flags = IBV_SEND_SIGNALED };
    if (mr != NULL) {
        bind.bind_info = (struct ibv_mw_bind_info) { mr, (uintptr_t) b.buffer, BYTES, IBV_ACCESS_REMOTE_WRITE };
    }
    CHECK_EQ(ibv_bind_mw(b.qp, mw, &bind), 0);
    expect_wc(b.send_cq, 1, IBV_WC_SUCCESS);
}

static void open_all(void) {
    pair_open(&a, &b, &defaults);
    region = ibv_reg_mr(b.pd, b.buffer, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
    mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);
    CHECK(region != NULL && mw != NULL);
    bind_window(region);
}

/* Enters like a thread that copies a piece of a WRITE. */
static struct mw *enter(uint32_t key) {
    struct mw *entered;
    epoch_enter();
    void *memory = mw_enter(qp_of(b.qp), key, (uintptr_t) b.buffer, BYTES, IBV_ACCESS_REMOTE_WRITE, &entered);
    epoch_leave();
    CHECK(memory == NULL ? entered == NULL : memory == b.buffer && entered != NULL);
    return entered;
}

static bool is_open(uint32_t key) {
    struct mw *entered = enter(key);
    mw_leave(entered);
    return entered != NULL;
}

static void *unbind_in_thread(void *unused) {
    (void) unused;
    bind_window(NULL);
    return NULL;
}

static void *dealloc_in_thread(void *unused) {
    (void) unused;
    CHECK_EQ(ibv_dealloc_mw(mw), 0);
    return NULL;
}

/* Expects a wait: not even the region can be had back before the last user has left. */
static void expect_wait(void *(*take_away)(void *)) {
    open_all();
    pthread_t thread;
    uint32_t key = mw->rkey;
    struct mw *first = enter(key), *second = enter(key);
    CHECK(first != NULL && second == first);
    CHECK_EQ(pthread_create(&thread, NULL, take_away, NULL), 0);
    CHECK_EVENTUALLY(!is_open(key)); /* closed to others */
    settle();
    CHECK_EQ(ibv_dereg_mr(region), EBUSY);
    /* A copying thread may be preempted for long. Lane stalls sees whether the wait for it keeps a processor busy. */
    nanosleep(&(struct timespec) { .tv_nsec = 200000000 }, NULL);
    mw_leave(first);
    settle();
    CHECK_EQ(ibv_dereg_mr(region), EBUSY);
    mw_leave(second);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(ibv_dereg_mr(region), 0);
    if (take_away == unbind_in_thread) {
        CHECK_EQ(ibv_dealloc_mw(mw), 0);
    }
    pair_close(&a, &b);
}

static void a_binding_waits_for_those_who_use_the_former(void) {
    expect_wait(unbind_in_thread);
}

static void deallocation_waits_for_those_who_use_the_window(void) {
    expect_wait(dealloc_in_thread);
}

static void all_windows_can_be_had(void) {
    struct ibv_device_attr device;
    pair_open(&a, &b, &defaults);
    CHECK_EQ(ibv_query_device(b.context, &device), 0);
    int count = device.max_mw;
    struct ibv_mw **all = calloc((size_t) count, sizeof(struct ibv_mw *));
    CHECK(all != NULL);
    for (int i = 0; i < count; i++) {
        all[i] = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);
        CHECK(all[i] != NULL);
    }
    errno = 0;
    CHECK(ibv_alloc_mw(b.pd, IBV_MW_TYPE_2) == NULL);
    CHECK_EQ(errno, ENOMEM);
    for (int i = count; i-- > 0;) {
        CHECK_EQ(ibv_dealloc_mw(all[i]), 0);
    }
    free(all);
    pair_close(&a, &b);
}

int main(void) {
    RUN(a_binding_waits_for_those_who_use_the_former);
    RUN(deallocation_waits_for_those_who_use_the_window);
    RUN(all_windows_can_be_had);
    return 0;
}
