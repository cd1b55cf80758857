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
 * Names in a folder that several network namespaces share, in place of abstract names: what RDMA_EMBEDDED_FOLDER or
 * folder_configure() says. Each is a socket in the file system. It appears when somebody listens on it already: made by
 * another name first, and linked (link(2)) then. So a name without a socket behind it is of a process that is dead, and
 * may be removed; who does holds a lock on a file of the folder meanwhile, as the name may be another's since.
 *
 * The folder is opened once, and names are looked up in it from then on. Nothing is followed that is no socket.
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
 * Sets the folder and the lists of trust.h, in place of the environment; NULL leaves it to that, "" is none. Without
 * effect after the first folder_start() that has succeeded. Returns 0 or ENAMETOOLONG.
 */
int folder_configure(const char *folder, const char *users, const char *groups);

/*
 * Makes what is configured effective, once. Returns 0; or errno, and for a person in `reason` (which may be NULL) what
 * is wrong with it and what to do. The next call tries again.
 */
int folder_start(char *reason, size_t reason_size);

/* After folder_start(): whether names are in a folder. */
bool folder_is_used(void);

/* The folder and who may be a peer, for a person. */
void folder_describe(char *text, size_t size);

/* bind(2) and listen(2). `take_over`: the place of a dead process, too. Returns 0 or errno: EADDRINUSE. */
int folder_listen(int fd, const char *name, bool take_over);

/* Before its socket is closed, and by who listens. */
void folder_remove(const char *name);

/*
 * bind(2) to a file that has no name any more when this returns: a descriptor of it leads to the socket, and nothing
 * else does. Returns -1 with errno.
 */
int folder_bind_unnamed(int fd);

/* For connect(2) to the socket of such a file. */
struct sockaddr_un folder_address_of_file(int fd);

/* connect(2). Returns 0 or errno; ECONNREFUSED: nobody of this name listens to this user. */
int folder_connect(int fd, const char *name);

/* Shows the names that begin so and that a peer may have made, until `visit` returns false. Returns 0 or errno. */
int folder_visit(const char *prefix, bool (*visit)(const char *name, void *context), void *context);

void folder_init(void);

#endif
