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
 * Steps of the scenarios and their service, each of which may fail. The first failure is kept; all objects are released
 * all the same, and that must not fail.
 */
#ifndef NETTY_RDMA_TEST_FAULT_STEPS_H
#define NETTY_RDMA_TEST_FAULT_STEPS_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>

#include "check.h"

#define FAULT_MESSAGE (64u << 10)
#define FAULT_GRH 40u
#define FAULT_GROUP "239.77.13.5"

struct trouble {
    const char *call; /* NULL: none so far */
    int error; /* errno, or the status of an event (positive) or completion; never 0 */
};

void note(struct trouble *trouble, const char *call, int error);

/* A step of a function that returns whether all went well. */
#define STEP(trouble, condition)                                                                                      \
    do {                                                                                                              \
        errno = 0;                                                                                                    \
        if (!(condition)) {                                                                                           \
            note(trouble, #condition, errno);                                                                         \
            return false;                                                                                             \
        }                                                                                                             \
    } while (0)

/* The same for functions that return an errno value. */
#define STEP_ZERO(trouble, call)                                                                                      \
    do {                                                                                                              \
        int error_ = (call);                                                                                          \
        if (error_ != 0) {                                                                                            \
            note(trouble, #call, error_ < 0 ? errno : error_);                                                        \
            return false;                                                                                             \
        }                                                                                                             \
    } while (0)

/* Place of the service's memory, as its private data tells it. */
struct place {
    uint64_t address;
    uint32_t key;
};

/* One end of a scenario; all zero before anything is made. */
struct side {
    struct rdma_event_channel *events;
    struct rdma_cm_id *id;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    char *buffer; /* two messages */
    struct ibv_mr *mr;
};

/* Protection domain, channel, queue and memory, on the context. */
bool side_open(struct side *side, struct ibv_context *context, struct trouble *trouble);
bool side_resolve(struct side *side, enum rdma_port_space space, const char *address, uint16_t port,
                  struct trouble *trouble);
bool side_create_qp(struct side *side, struct trouble *trouble);
void side_close(struct side *side);

/* The next event, which must be of the type; to be acknowledged. NULL otherwise. */
struct rdma_cm_event *side_await_event(struct side *side, enum rdma_cm_event_type type, struct trouble *trouble);
bool side_await(struct side *side, enum rdma_cm_event_type type, struct trouble *trouble);
/* Polls for so many completions, which must be successes. The last one is in *wc unless that is NULL. */
bool side_complete(struct side *side, struct ibv_qp *qp, int count, struct ibv_wc *wc, struct trouble *trouble);
int side_receive(struct side *side, struct ibv_qp *qp, size_t offset, uint32_t length);
int side_send(struct side *side, struct ibv_qp *qp, enum ibv_wr_opcode opcode, size_t offset, uint32_t length,
              const struct place *place);
/* A message from the first half of the buffer, and its echo into the second. */
bool side_echo(struct side *side, uint32_t length, struct trouble *trouble);

/* A reliable connection with the service at the port. */
bool side_connect(struct side *side, uint16_t port, struct place *place, struct trouble *trouble);

struct sockaddr_in address_at(const char *text, uint16_t port);
uint64_t milliseconds(void);

#endif
