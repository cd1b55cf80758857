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
 * The system's libibverbs with a RoCE device, to the tests. The environment has the addresses of provider.h:
 * RDMA_TEST_ADDRESS, RDMA_TEST_ADDRESS6, RDMA_TEST_ADDRESS_ELSEWHERE.
 */
#include "cm_support.h"

#include <string.h>

bool is_embedded(void) {
    return false;
}

static const char *from_environment(const char *name) {
    const char *address = getenv(name);
    if (address == NULL) {
        fprintf(stderr, "set %s to an address of the device\n", name);
        abort();
    }
    return address;
}

const char *test_address(void) {
    return from_environment("RDMA_TEST_ADDRESS");
}

const char *test_address6(void) {
    return from_environment("RDMA_TEST_ADDRESS6");
}

const char *test_address_elsewhere(void) {
    return from_environment("RDMA_TEST_ADDRESS_ELSEWHERE");
}

/* RoCE: a GID of the device is its IPv4 address mapped to IPv6 (InfiniBand specification, annex A17). */
static int find_gid(struct ibv_context *context) {
    struct ibv_port_attr port;
    CHECK_EQ(ibv_query_port(context, 1, &port), 0);
    union ibv_gid wanted = { .raw = { [10] = 0xff, [11] = 0xff } }, gid;
    CHECK_EQ(inet_pton(AF_INET, test_address(), wanted.raw + 12), 1);
    for (int i = 0; i < port.gid_tbl_len; i++) {
        if (ibv_query_gid(context, 1, i, &gid) == 0 && memcmp(&gid, &wanted, sizeof(gid)) == 0) {
            return i;
        }
    }
    return -1;
}

struct ibv_context *open_test_device(int *gid_index) {
    struct ibv_device **list = ibv_get_device_list(NULL);
    CHECK(list != NULL);
    struct ibv_context *context = NULL;
    for (int i = 0; context == NULL && list[i] != NULL; i++) {
        context = ibv_open_device(list[i]);
        CHECK(context != NULL);
        *gid_index = find_gid(context);
        if (*gid_index < 0) {
            CHECK_EQ(ibv_close_device(context), 0);
            context = NULL;
        }
    }
    ibv_free_device_list(list);
    CHECK(context != NULL);
    return context;
}

bool is_soft_roce(void) {
    static int known = -1;
    if (known < 0) {
        int gid_index;
        struct ibv_context *context = open_test_device(&gid_index);
        known = strncmp(ibv_get_device_name(context->device), "rxe", 3) == 0;
        CHECK_EQ(ibv_close_device(context), 0);
    }
    return known != 0;
}

/*
 * Connects to a port without a listener: the rejection comes by the way that messages of the connection manager took
 * before.
 */
static void go_there_and_back(void) {
    static uint32_t count;
    struct rdma_event_channel *channel = new_channel();
    struct rdma_cm_id *id = connecting_as(0x700000u | (count++ & 0xffff), channel, test_address(), 1);
    CHECK_EQ(rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_REJECTED)), 0);
    CHECK_EQ(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
}

void end_idle_links_soon(void) {
}

void settle(void) {
    poll(NULL, 0, 100);
    go_there_and_back();
}
