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
/* Datagram queue pairs as only the inside of the embedded provider can be tested. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "embedded/device/watch.h"
#include "embedded/ud/ud.h"
#include "qp_inside.h"
#include "ud_support.h"

#define PAGE 4096
#define HALF (PAIR_BUFFER / 2)

/* ---- memory that a receive writes to ---- */

static atomic_bool copying, copied, deregistered, was_deregistered;
static char *page;

/*
 * Replaces the provider's handler, on the thread that copies, in the middle of it: a deregistration that does not wait
 * has time to return.
 */
static void on_fault(int signal) {
    (void) signal;
    uint64_t end = now_ns() + 200000000;
        atomic_store(&copying, true);
    while (!atomic_load(&deregistered) && now_ns() < end) {
    }
    atomic_store(&was_deregistered, atomic_load(&deregistered));
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    atomic_store(&copied, true);
}

static void *deregister(void *mr) {
    CHECK_EQ(ibv_dereg_mr(mr), 0);
    atomic_store(&deregistered, true);
    return NULL;
}

static void memory_is_not_deregistered_while_the_end_of_a_flow_copies_what_had_come(void) {
    struct end a, b, sender;
    ud_open(&a);
    ud_open(&b);
    struct options options = datagrams();
    end_open_on(&sender, &a, &options);
    ud_ready(&sender);
    struct ibv_ah *ah = own_ah(&a);
    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    struct ibv_mr *mr = ibv_reg_mr(b.pd, page, PAGE, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr != NULL);

    CHECK_EQ(post_recv(&b, 1, 0, 256), 0);
    send_datagram(&sender, 1, HALF, 20, ah, b.qp->qp_num);
    expect_wc(b.recv_cq, 1, IBV_WC_SUCCESS);
    atomic_store(&watch_suspended, true); /* so that the next one is found by the flow's end, as nobody polls */
    settle();
    poll_until_believed(b.recv_cq);
    struct ibv_sge sge = { (uintptr_t) page, PAGE, mr->lkey };
    struct ibv_recv_wr wr = { .wr_id = 2, .sg_list = &sge, .num_sge = 1 }, *bad;
    CHECK_EQ(b.context->ops.post_recv(b.qp, &wr, &bad), 0);
    send_datagram(&sender, 2, HALF, 20, ah, b.qp->qp_num);

    struct sigaction action = { .sa_handler = on_fault }, before;
    CHECK_EQ(sigaction(SIGSEGV, &action, &before), 0);
    CHECK_EQ(mprotect(page, PAGE, PROT_NONE), 0);
    CHECK_EQ(ibv_destroy_qp(sender.qp), 0);
    CHECK_EVENTUALLY(atomic_load(&copying));
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, deregister, mr), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EVENTUALLY(atomic_load(&copied));
    CHECK(!atomic_load(&was_deregistered));
    CHECK_EQ(sigaction(SIGSEGV, &before, NULL), 0);
    atomic_store(&watch_suspended, false);
    expect_wc(b.recv_cq, 2, IBV_WC_SUCCESS);
    munmap(page, PAGE);
    CHECK_EQ(ibv_destroy_ah(ah), 0);
    end_close(&a);
    end_close(&b);
}

int main(void) {
    RUN(memory_is_not_deregistered_while_the_end_of_a_flow_copies_what_had_come);
    return 0;
}
