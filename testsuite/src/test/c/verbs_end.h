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
 * One end of a reliable connection by the connection manager, for the programs on verbs: each has one connection, and
 * waits for each of its requests. What fails prints "error WHAT ERRNO" or "error WHAT STATUS" and ends the program with
 * status 1.
 */
#ifndef VERBS_END_H
#define VERBS_END_H

#include <rdma/rdma_cma.h>
#include <stdint.h>

extern struct rdma_cm_id *id;

_Noreturn void failed(const char *what);

/* Registers memory for everything. */
struct ibv_mr *reg(void *memory, size_t length);

/* Posts a receive, whose number completions tell. */
void post_receive(void *memory, uint32_t length, const struct ibv_mr *region, uint64_t number);

/* Waits for the completion of a receive. */
void next_receive(struct ibv_wc *wc);

/* Posts a request with one element, and waits for its completion. */
void execute(struct ibv_send_wr *request, void *local, uint32_t length, const struct ibv_mr *region, const char *what);

/*
 * Connects to an address, or accepts one connection there. prepare is called when there is a queue pair, before the
 * peer can send.
 */
void establish(const char *host, const char *port, int passive, uint32_t receives, void (*prepare)(void));

#endif
