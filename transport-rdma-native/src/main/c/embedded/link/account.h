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
 * Accounts count the resources that this process keeps for peers. Peers that count together against a limit
 * (link_peers_share_limits()) have one account, to which all their links refer.
 *
 * Some limits are for each account, others for all accounts together. Of a shared limit, an account may have at most as
 * much as it leaves unused (Choudhury and Hahne, Dynamic Queue Length Thresholds in a Shared-Memory Packet Switch,
 * 1998). A single account gets at most half of the limit, and the next one still finds half of the rest. So the sum
 * never exceeds the limit, and no account has all of it.
 *
 * Threads: any, with any locks held.
 */
#ifndef NETTY_RDMA_EMBEDDED_ACCOUNT_H
#define NETTY_RDMA_EMBEDDED_ACCOUNT_H

#include "link.h"

struct account;

void account_init(void); /* called before the init of modules that call these functions with their locks held */

/* Returns the account of a peer, with a reference. NULL: no memory. */
struct account *account_get(const struct link_peer *peer);
void account_put(struct account *account);

/* Returns false if the account would have more than `limit` of the kind. */
bool account_charge(struct account *account, enum link_kept kind, uint64_t count, uint64_t limit);

/* Charges a limit that all accounts share. Returns false if the account would have more than its share. */
bool account_charge_share(struct account *account, enum link_kept kind, uint64_t count, uint64_t limit);

void account_discharge(struct account *account, enum link_kept kind, uint64_t count);

/* Returns whether an account has more than half of its share. The caller should ask for less then. */
bool account_nears_share(struct account *account, enum link_kept kind, uint64_t limit);

#endif
