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
/* Queue pair ends for the C tests, connected by number without the CM. */
#ifndef NETTY_RDMA_TEST_PAIR_H
#define NETTY_RDMA_TEST_PAIR_H

#include <stdbool.h>
#include <sys/types.h>

#include <infiniband/verbs.h>

#define PAIR_BUFFER (4u << 20)

struct options {
    enum ibv_qp_type type; /* RC or UC; for UD see ud_support.h */
    int send_wr, recv_wr, cqe;
    unsigned inline_data;
    int access; /* access flags of the queue pair */
    int timeout, retry_cnt, rnr_retry, min_rnr_timer;
    int responder_resources, initiator_depth; /* READs and atomics that it answers, and asks for, at a time */
    bool sig_all, channel, separate_cqs;
    struct ibv_srq *srq; /* shared receive queue, or NULL */
};

/*
 * Room for 64 requests and 16 READs, all access, everything signaled, one completion queue, time-outs that no loaded
 * machine meets.
 */
extern const struct options defaults;

struct end {
    struct ibv_context *context;
    int gid_index;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    char *buffer;
    struct options options;
};

/* Address of an end, which the other side must know. */
struct address {
    uint32_t qpn, rkey;
    uint64_t buffer;
};

void end_open(struct end *end, const struct options *options);
/* Shares the context, PD, CQs of an end. */
void end_open_on(struct end *end, const struct end *shared, const struct options *options);
void end_query_port(const struct end *end, struct ibv_port_attr *port);
struct address end_address(const struct end *end);
void end_to_init(struct end *end);
int end_to_rtr(struct end *end, uint32_t qpn);
int end_to_rts(struct end *end);
void end_connect(struct end *end, uint32_t qpn);
void end_close(struct end *end); /* closes an end, whose queue pair may be gone, and NULL */

void pair_open(struct end *a, struct end *b, const struct options *options);
void pair_close(struct end *a, struct end *b);
void pair_talk(struct end *from, struct end *to); /* a message of 64 bytes; they are idle before and after */

/* Posts; all return what the verb returns. Offsets are into the buffers. */
int post_recv(struct end *end, uint64_t wr_id, size_t offset, uint32_t length);
int post_send(struct end *end, uint64_t wr_id, enum ibv_wr_opcode opcode, int flags, size_t offset, uint32_t length);
int post_rdma(struct end *end, uint64_t wr_id, enum ibv_wr_opcode opcode, int flags, size_t offset, uint32_t length,
              const struct address *to, size_t remote_offset);
int post_atomic(struct end *end, uint64_t wr_id, enum ibv_wr_opcode opcode, size_t offset, const struct address *to,
                size_t remote_offset, uint64_t compare_add, uint64_t swap);

/* Waits for one completion, bounded; fails the test if there is none. */
struct ibv_wc next_wc(struct ibv_cq *cq);
void expect_wc(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status);
void expect_nothing(struct ibv_cq *cq);

/* The state, waiting until it is `state`. */
void expect_state(struct ibv_qp *qp, enum ibv_qp_state state);
/* The next asynchronous event, waiting for it; to be acknowledged. */
struct ibv_async_event next_async(struct ibv_context *context);
void expect_async(struct ibv_context *context, enum ibv_event_type type);

uint64_t now_ns(void);
/* The time at which a wait that begins now has lasted too long: see patience_ms(). */
uint64_t patience_end_ns(void);

/* A child process that runs `body` with one end of a socket pair, before this process has used the provider. */
pid_t spawn(void (*body)(int socket), int *socket);
void expect_exit(pid_t child, int status);
void send_all(int socket, const void *data, size_t length);
void receive_all(int socket, void *data, size_t length);

#endif
