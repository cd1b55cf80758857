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
 * Copies from device to device between two processes, by memory of devices that this process lends to peers, and has
 * borrowed from them. The owner of the target copies from memory that the owner of the source has lent. The unit is an
 * allocation. The borrower opens it once, and can then also write to it: no key limits that. So both processes must ask
 * for it by RDMA_EMBEDDED_PEER_MEMORY_DIRECT=1, and be able to trace each other anyway. All other bytes go by host
 * memory.
 *
 *   WIRE_WISH  queue pair to queue pair: the receiver's targets are memory of a device (rc/rc_device.c)
 *   WIRE_LEND  the sender offers an allocation; WIRE_LOAN_TAKEN: the answerer has opened it, WIRE_LOAN_REFUSED: not
 *   WIRE_LOAN_RECALLED  the sender takes it back; WIRE_LOAN_RETURNED: the answerer has closed it
 *
 * The lender refers only to allocations that the peer has taken. A loan ends when the last region of the allocation, or
 * the link, goes.
 *
 * Threads: any. The lock is taken before those of links.
 */
#ifndef NETTY_RDMA_EMBEDDED_LENDING_H
#define NETTY_RDMA_EMBEDDED_LENDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "embedded/link/peer.h"
#include "embedded/link/wire.h"
#include "peer_memory.h"

/* Switch: this process asks for copies from device to device. Only tests write to it, and to the variables below. */
extern atomic_bool lending_is_on;
extern atomic_bool lending_to_itself; /* also over links of this process to itself, which no driver allows */
/* Time from a refusal to the next offer, and the longest time to wait for the return of a recalled loan. */
extern _Atomic uint64_t lending_again_ns, lending_recall_ns;

void lending_init(void);

/* Returns whether this process allows lending to the peer, and borrowing from it. */
bool lending_may_be_with(const struct peer *peer);

/*
 * Makes a reference to memory that the peer has borrowed, or else offers the memory to the peer. Returns false if the
 * peer has not borrowed it yet: the bytes go by host memory. Called inside the epoch section in which the range was
 * found.
 */
bool lending_refer(struct peer *peer, const struct peer_range *range, struct wire_reference *reference);

/* Finds memory that the peer refers to. Returns false if the peer has not lent it. Use it inside one epoch section. */
bool lending_find(const struct peer *peer, const struct wire_reference *reference, uint32_t length,
                  struct peer_range *range);

#endif
