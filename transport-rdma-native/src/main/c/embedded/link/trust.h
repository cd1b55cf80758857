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
 * Possible peers: processes of the same user, and with a folder (folder.h) those of the users and groups that are
 * listed. The kernel identifies a peer (unix(7), SO_PEERCRED, SO_PEERGROUPS), a listener as of its listen(2). Users
 * that the user namespace of this process does not have appear as the overflow user (65534, user_namespaces(7)). /proc
 * tells whether a peer of this user may signal this process; both ends come to the same answer if both have /proc.
 * Where one end has none, and is of a namespace above the other one's, the other one refuses its doorbell.
 *
 * Threads: any, after folder_start().
 */
#ifndef NETTY_RDMA_EMBEDDED_TRUST_H
#define NETTY_RDMA_EMBEDDED_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "link.h"

/*
 * Sets the lists: numbers or names, separated by commas; NULL or "" is none. Returns 0; or errno, and a message in
 * `reason`, which names the list by `users_name` or `groups_name`.
 */
int trust_set(const char *users_name, const char *users, const char *groups_name, const char *groups, char *reason,
              size_t reason_size);

/* Returns whether users or groups other than this user are listed. */
bool trust_has_lists(void);

/* Returns whether a peer may have made a file, by its owner, who may be in any groups. */
bool trust_may_own(uid_t uid);

/* Returns whether a folder belongs to root, this user, or a listed user or group. */
bool trust_owns(uid_t uid, gid_t gid);

/*
 * Checks whether the process at the other end of a socket may be a peer, and identifies it. Returns 0; ECONNREFUSED if
 * it may not; or another errno if there are too few descriptors to ask.
 */
int trust_peer(int fd, struct link_peer *peer);

/* Describes the effective lists, for a person. */
void trust_describe(char *text, size_t size);

#endif
