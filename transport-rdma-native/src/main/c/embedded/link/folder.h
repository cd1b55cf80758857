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
 * Names in a folder that several network namespaces share, in place of abstract names: the folder that
 * RDMA_EMBEDDED_FOLDER or folder_configure() says. Each name is a socket in the file system. It appears when a process
 * listens on it already: the socket is made under another name first, and linked (link(2)) then. So a name without a
 * listener belonged to a dead process, and may be removed; the remover holds a lock on a file of the folder meanwhile,
 * as another process may have taken the name since.
 *
 * The folder is opened once, and names are looked up in it from then on. Only sockets are followed.
 *
 * Threads: any.
 */
#ifndef NETTY_RDMA_EMBEDDED_FOLDER_H
#define NETTY_RDMA_EMBEDDED_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#define FOLDER_NAME_SIZE 80 /* bytes of a name, with the NUL */

/*
 * Sets the folder and the lists of trust.h, in place of the environment; NULL keeps the environment's, "" is none. Has
 * no effect after the first folder_start() that has succeeded. Returns 0 or ENAMETOOLONG.
 */
int folder_configure(const char *folder, const char *users, const char *groups);

/*
 * Makes the configuration effective, once. Returns 0; or errno, and a message in `reason` (which may be NULL) that says
 * what is wrong and what to do. The next call tries again.
 */
int folder_start(char *reason, size_t reason_size);

/* Returns whether names are in a folder. Called after folder_start(). */
bool folder_is_used(void);

/* Describes the folder and the possible peers, for a person. */
void folder_describe(char *text, size_t size);

/* Does bind(2) and listen(2). `take_over`: also takes the place of a dead process. Returns 0 or errno: EADDRINUSE. */
int folder_listen(int fd, const char *name, bool take_over);

/* Removes a name. Called by its listener, before the socket is closed. */
void folder_remove(const char *name);

/*
 * Does bind(2) to a file that has no name any more when this returns: only a descriptor of it leads to the socket.
 * Returns -1 with errno on failure.
 */
int folder_bind_unnamed(int fd);

/* Returns the address for connect(2) to the socket of such a file. */
struct sockaddr_un folder_address_of_file(int fd);

/* Does connect(2). Returns 0 or errno; ECONNREFUSED: nobody of this name listens to this user. */
int folder_connect(int fd, const char *name);

/*
 * Calls `visit` for the names with this prefix that a peer may have made, until it returns false. Returns 0 or errno.
 */
int folder_visit(const char *prefix, bool (*visit)(const char *name, void *context), void *context);

void folder_init(void);

#endif
