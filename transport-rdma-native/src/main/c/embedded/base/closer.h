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
 * Closes descriptors that a peer has made or sent, and sockets to which a peer can send descriptors (SCM_RIGHTS,
 * unix(7)). close(2) of such a descriptor may block for as long as the peer likes:
 *   a TCP socket lingers (SO_LINGER, socket(7)), even in a message that was never read;
 *   a file of a FUSE file system waits for the process that serves it;
 *   a file that an epoll descriptor watches waits for a thread that copies events from there to memory, which may be
 *   mapped from a FUSE file (eventpoll_release_file() in the kernel's fs/eventpoll.c).
 * recvmsg(2) blocks in the same way on descriptors for which it has no room. So sources that have such descriptors
 * never call close(2) (scripts/c-folders checks that), and the functions here do not block. Separate threads close the
 * descriptors. They start when needed, hold no lock during a close, and end when there is nothing to do. A thread that
 * a peer keeps busy is replaced, up to a limit.
 *
 * Threads: any, with any locks held.
 */
#ifndef NETTY_RDMA_EMBEDDED_CLOSER_H
#define NETTY_RDMA_EMBEDDED_CLOSER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Time after which a thread with nothing to do ends. Tests set it. */
extern _Atomic uint64_t closer_idle_ns;

void closer_init(void);      /* called before the init of modules that call the closer with their locks held */
void closer_halt_init(void); /* called after all others that register handlers of forks, except the engine */

/*
 * Takes the descriptor over. A child of a fork may have a copy until it uses the provider, or exec(2). If no thread can
 * be started, for example because of RLIMIT_NPROC (getrlimit(2)), the descriptor waits. Each later call, and each
 * closer_is_behind(), tries again to start one. Without memory the descriptor is closed at once.
 */
void closer_close(int fd);

/*
 * Does the same for a descriptor that a peer has sent or made. An eventfd of a peer that may signal this process is
 * closed at once: peers mostly send eventfds, and such a peer could stop this process anyway.
 */
void closer_close_from(int fd, bool may_signal);

/*
 * Closes a copy of another open descriptor, `kept`, which is an eventfd or a socket. The close does not block, because
 * the file stays open. Returns false if it is no copy, and before Linux 6.10, which cannot tell.
 */
bool closer_close_copy(int fd, int kept);

/*
 * Unmaps memory that a peer has made, on a thread. The file may have any number of pages beyond its end, and the unmap
 * may have to free all of them.
 */
void closer_unmap(const void *memory, size_t size);

/* Does other work that may block on a thread, or at once without memory. A child of a fork drops waiting work. */
void closer_run(void (*work)(void *argument), void *argument);

/* Ends and closes a connection. The peer reads the end at once, even if a child of a fork has a copy. */
void closer_end(int connection);

/*
 * Closes a non-blocking listening socket, and frees its name, before the return. close(2) would also close connections
 * that are not accepted, and the descriptors in their messages. So these connections are accepted before, and no other
 * one comes after shutdown(2).
 */
void closer_end_listener(int listener);

/* Closes at once a descriptor that no peer has had, or can send descriptors to. */
void closer_close_own(int fd);

/*
 * Closes at once, in the child of a fork, its copy of a descriptor. The parent usually has another copy. If not, the
 * peer delays only this child, as it would by exec(2).
 */
void closer_close_inherited(int fd);

/* Closes all descriptors of a message that should have none. Returns whether there were any. */
bool closer_close_received(struct msghdr *message);
#define CLOSER_MAX_RECEIVED 253 /* descriptors of one message: SCM_MAX_FD, unix(7) */

/*
 * Returns whether so many descriptors wait that peers must not add more, because these could use up the limit of the
 * process. Then peers keep all threads busy, the threads are late for a moment, or no thread could be started.
 */
bool closer_is_behind(void);

/* Returns whether no descriptor waits or is being closed. Called by tests that count descriptors. */
bool closer_is_done(void);

/*
 * Allows or forbids others to send descriptors to a Unix socket. Connections to a listening socket inherit its setting.
 * Returns false before Linux 6.16, which allows it always.
 */
bool closer_pass_rights(int socket, bool passed);

#endif
