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
/*
 * The connection manager between processes.
 */
#include "cm_processes.h"

static void the_death_of_the_peer_disconnects(void) {
    struct rdma_event_channel *channel = new_channel();
    uint16_t port = 0;
    pid_t server = fork_server(&port);
    struct rdma_cm_id *first = connected(channel, port), *second = connected(channel, port);
    expect_nothing(channel);
    end_server(server);
    expect_and_ack(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
    expect_and_ack(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
    /* The peer asked to disconnect, or its kernel did, and waits for an answer. */
    CHECK_EQ(rdma_disconnect(first), 0);
    struct rdma_cm_event *exit = expect(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
    CHECK(exit->id == first);
    CHECK_EQ(rdma_ack_cm_event(exit), 0);
    CHECK_EQ(rdma_disconnect(second), 0);
    expect_and_ack(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
    rdma_destroy_id(first);
    rdma_destroy_id(second);
    rdma_destroy_event_channel(channel);
}

static void a_port_passes_from_process_to_process(void) {
    struct rdma_event_channel *channel = new_channel();
    uint16_t port = 0;
    pid_t server = fork_server(&port);
    struct rdma_cm_id *id = connected(channel, port), *taken = new_id(channel);
    struct address address = address_of(test_address(), port);
    CHECK_EQ(rdma_bind_addr(taken, sockaddr_of(&address)), -1);
    CHECK_EQ(errno, EADDRINUSE);
    end_server(server);
    /* REJECTED if it had not yet got the message that ends the establishment: cm_destroy_id of the kernel's cm.c. */
    struct rdma_cm_event *gone = next_event(channel);
    CHECK(gone->event == RDMA_CM_EVENT_DISCONNECTED || gone->event == RDMA_CM_EVENT_REJECTED);
    CHECK(gone->id == id);
    CHECK_EQ(rdma_ack_cm_event(gone), 0);
    rdma_destroy_id(id);
    pid_t successor = fork_server(&port);
    id = connected(channel, port);
    rdma_destroy_id(id);
    end_server(successor);
    CHECK_EQ(rdma_bind_addr(taken, sockaddr_of(&address)), 0);
    rdma_destroy_id(taken);
    rdma_destroy_event_channel(channel);
}

int main(void) {
    RUN(the_death_of_the_peer_disconnects);
    RUN(a_port_passes_from_process_to_process);
    return 0;
}
