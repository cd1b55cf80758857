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
 * The rounds of the engine. While there is anything to watch, a round takes place every 2 to 64 ms. It looks at
 *   queue pairs with outstanding work requests: retry and RNR timers, and peers that seem to have missed their work;
 *   polled completion queues, whose polling may have stopped.
 */
#ifndef NETTY_RDMA_EMBEDDED_WATCH_H
#define NETTY_RDMA_EMBEDDED_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct qp;
struct cq;

/* Switch for tests: rounds do nothing, so that no round hides a lost wake-up. */
extern atomic_bool watch_suspended;

/*
 * Sets the functions of a round: `of_qp` is qp_round(), `of_cq` is cq_rest(). qp_round() returns the time of the next
 * look at the queue pair, or 0 if it is not watched any more. cq_rest() returns true if the completion queue need not
 * be watched any more.
 */
void watch_init(uint64_t (*of_qp)(struct qp *qp, uint64_t now_ns), bool (*of_cq)(struct cq *cq));

/* Shortest and longest time from one look at an object to the next. */
#define WATCH_ROUND_NS UINT64_C(2000000)
#define WATCH_MAX_ROUND_NS UINT64_C(64000000)

/*
 * Begin to watch; cheap for an object that is already watched. The first look at a queue pair comes after `gap_ns`, and
 * at a completion queue after its first_round_ns. Any thread; takes only its own innermost lock and the engine's.
 */
void watch_qp(struct qp *qp, uint64_t gap_ns);
void watch_cq(struct cq *cq);

#endif
