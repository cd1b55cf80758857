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

#define _GNU_SOURCE
#include "verbs_end.h"

#include <errno.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rdma_cm_id *id;

_Noreturn void failed(const char *what) {
    printf("error %s %s\n", what, strerrorname_np(errno));
    fflush(stdout);
    exit(1);
}

static void check(const struct ibv_wc *wc, int polled, const char *what) {
    if (polled < 0)
        failed(what);
    if (wc->status != IBV_WC_SUCCESS) {
        printf("error %s %d\n", what, wc->status);
        fflush(stdout);
        exit(1);
    }
}

struct ibv_mr *reg(void *memory, size_t length) {
    struct ibv_mr *region = ibv_reg_mr(id->pd, memory, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ
            | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);

    if (region == NULL)
        failed("ibv_reg_mr");
    return region;
}

void post_receive(void *memory, uint32_t length, const struct ibv_mr *region, uint64_t number) {
    struct ibv_sge element = { .addr = (uintptr_t)memory, .length = length, .lkey = region->lkey };
    struct ibv_recv_wr request = { .wr_id = number, .sg_list = &element, .num_sge = 1 };
    struct ibv_recv_wr *bad;

    errno = ibv_post_recv(id->qp, &request, &bad);
    if (errno != 0)
        failed("ibv_post_recv");
}

void next_receive(struct ibv_wc *wc) {
    check(wc, rdma_get_recv_comp(id, wc), "receive");
}

void execute(struct ibv_send_wr *request, void *local, uint32_t length, const struct ibv_mr *region, const char *what) {
    struct ibv_sge element = { .addr = (uintptr_t)local, .length = length, .lkey = region->lkey };
    struct ibv_send_wr *bad;
    struct ibv_wc wc;

    request->sg_list = &element;
    request->num_sge = 1;
    request->send_flags = IBV_SEND_SIGNALED;
    errno = ibv_post_send(id->qp, request, &bad);
    if (errno != 0)
        failed(what);
    check(&wc, rdma_get_send_comp(id, &wc), what);
}

static struct rdma_addrinfo *look_up(const char *host, const char *port, int flags) {
    struct rdma_addrinfo hints = { .ai_flags = flags | RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP };
    struct rdma_addrinfo *address;

    if (rdma_getaddrinfo(host, port, &hints, &address) != 0)
        failed("rdma_getaddrinfo");
    return address;
}

void establish(const char *host, const char *port, int passive, uint32_t receives, void (*prepare)(void)) {
    struct ibv_qp_init_attr attributes = {
        .cap = { .max_send_wr = 1, .max_recv_wr = receives, .max_send_sge = 1, .max_recv_sge = 1 },
        .qp_type = IBV_QPT_RC,
    };
    struct rdma_conn_param parameters = {
        .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7,
    };
    struct rdma_addrinfo *address = look_up(host, port, passive ? RAI_PASSIVE : 0);
    struct rdma_cm_id *endpoint;

    if (rdma_create_ep(&endpoint, address, NULL, &attributes) != 0)
        failed("rdma_create_ep");
    rdma_freeaddrinfo(address);
    if (!passive) {
        id = endpoint;
        prepare();
        if (rdma_connect(id, &parameters) != 0)
            failed("rdma_connect");
    } else {
        if (rdma_listen(endpoint, 1) != 0)
            failed("rdma_listen");
        if (rdma_get_request(endpoint, &id) != 0)
            failed("rdma_get_request");
        prepare();
        if (rdma_accept(id, &parameters) != 0)
            failed("rdma_accept");
    }
}
