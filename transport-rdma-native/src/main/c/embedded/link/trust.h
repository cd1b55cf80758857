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
 * Possible peers: processes of the same user, and with a folder (folder.h) those of the listed users and groups. The
 * kernel identifies a peer (unix(7), SO_PEERCRED, SO_PEERGROUPS); a listener is identified as it was at its listen(2).
 * Users that do not exist in the user namespace of this process appear as the overflow user (65534,
 * user_namespaces(7)). /proc tells whether a peer of this user may signal this process. Both ends find the same answer
 * if both have /proc. If one end has none, and its namespace is above the other end's, the other end refuses its
 * doorbell.
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
 * Sets the lists of numbers or names, separated by commas; NULL or "" is an empty list. On failure returns errno, and a
 * message in `reason` that names the list by `users_name` or `groups_name`.
 */
int trust_set(const char *users_name, const char *users, const char *groups_name, const char *groups, char *reason,
              size_t reason_size);

/* Returns whether users or groups other than this user are listed. */
bool trust_has_lists(void);

/* Returns whether a file with this owner may be a peer's. With listed groups, any user may be in one of them. */
bool trust_may_own(uid_t uid);

/* Returns whether a folder belongs to root, this user, or a listed user or group. */
bool trust_owns(uid_t uid, gid_t gid);

/*
 * Checks whether the process at the other end of a socket may be a peer, and identifies it. Returns 0, ECONNREFUSED if
 * the process may not, or another errno if there are too few descriptors for the check.
 */
int trust_peer(int fd, struct link_peer *peer);

/* Describes the effective lists, for a person. */
void trust_describe(char *text, size_t size);

#endif
