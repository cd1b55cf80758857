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
/* A server in another process, for tests of the connection manager. */
#ifndef NETTY_RDMA_TEST_CM_PROCESSES_H
#define NETTY_RDMA_TEST_CM_PROCESSES_H

#include "cm_support.h"

#include <signal.h>
#include <sys/wait.h>

/* A server process that accepts, at the port if that is not 0; returns its port there. */
static inline pid_t fork_server(uint16_t *port) {
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    pid_t child = fork_child();
    if (child == 0) {
        limit_life();
        struct rdma_event_channel *channel = new_channel();
        struct rdma_cm_id *listener;
        if (*port != 0) {
            listener = new_id(channel);
            struct address address = address_of(test_address(), *port);
            CHECK_EVENTUALLY(rdma_bind_addr(listener, sockaddr_of(&address)) == 0);
            CHECK_EQ(rdma_listen(listener, 16), 0);
        } else {
            listener = new_listener(channel, test_address(), 16);
        }
        uint16_t bound = port_of(listener);
        CHECK_EQ(write(ends[1], &bound, sizeof(bound)), sizeof(bound));
        for (;;) {
            struct pollfd wait = { .fd = channel->fd, .events = POLLIN };
            poll(&wait, 1, -1);
            struct rdma_cm_event *event = next_event(channel);
            if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
                struct rdma_conn_param param = { .qp_num = fresh_qpn() };
                CHECK_EQ(rdma_accept(event->id, &param), 0);
            } else if (event->event == RDMA_CM_EVENT_DISCONNECTED) {
                CHECK_EQ(rdma_disconnect(event->id), 0);
            }
            rdma_ack_cm_event(event);
        }
    }
    close(ends[1]);
    CHECK_EQ(read(ends[0], port, sizeof(*port)), sizeof(*port));
    close(ends[0]);
    return child;
}

static inline void end_server(pid_t server) {
    kill(server, SIGKILL);
    CHECK_EQ(waitpid(server, NULL, 0), server);
}

static inline struct rdma_cm_id *connected(struct rdma_event_channel *channel, uint16_t port) {
    struct rdma_cm_id *id = connecting(channel, test_address(), port);
    expect_and_ack(channel, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
    CHECK_EQ(rdma_establish(id), 0);
    return id;
}

#endif
