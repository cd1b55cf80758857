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
 * Names in a folder that several network namespaces share, instead of abstract names. RDMA_EMBEDDED_FOLDER or
 * folder_configure() sets the folder. Each name is a socket in the file system. The socket is made under another name,
 * listens, and is then linked to its name (link(2)). So a name without a listener belonged to a dead process, and may
 * be removed. The remover holds a lock on a file of the folder meanwhile, because another process may take the name.
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
 * Sets the folder and the lists of trust.h instead of the environment. NULL keeps the value of the environment, ""
 * means none. Has no effect after the first folder_start() that has succeeded. Returns 0 or ENAMETOOLONG.
 */
int folder_configure(const char *folder, const char *users, const char *groups);

/*
 * Makes the configuration effective, once. On failure returns errno, writes to `reason` (which may be NULL) what is
 * wrong and what to do, and the next call tries again.
 */
int folder_start(char *reason, size_t reason_size);

/* Returns whether names are in a folder. Called after folder_start(). */
bool folder_is_used(void);

/* Describes the folder and the possible peers, for a person. */
void folder_describe(char *text, size_t size);

/* Does bind(2) and listen(2). `take_over`: also takes the name of a dead process. Returns 0 or errno: EADDRINUSE. */
int folder_listen(int fd, const char *name, bool take_over);

/* Removes a name. Called by its listener, before the socket is closed. */
void folder_remove(const char *name);

/*
 * Does bind(2) to a file, and removes its name. After the return only the file's descriptor leads to the socket.
 * Returns -1 with errno on failure.
 */
int folder_bind_unnamed(int fd);

/* Returns the address for connect(2) to the socket of such a file. */
struct sockaddr_un folder_address_of_file(int fd);

/* Does connect(2). Returns 0 or errno; ECONNREFUSED: no process listens at this name for this user. */
int folder_connect(int fd, const char *name);

/*
 * Calls `visit` for the names with this prefix that a peer may have made, until it returns false. Returns 0 or errno.
 */
int folder_visit(const char *prefix, bool (*visit)(const char *name, void *context), void *context);

void folder_init(void);

#endif
