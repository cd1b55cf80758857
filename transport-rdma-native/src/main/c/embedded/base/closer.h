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
 * Descriptors that a peer could put something into, or has made: sockets that it can send to (SCM_RIGHTS, unix(7)), and
 * what it has sent. close(2) of such a descriptor may take as long as the peer likes: a TCP socket lingers (SO_LINGER,
 * socket(7)), also one in a message that nobody has read, a file of a FUSE file system asks the process that serves it,
 * and any file that an epoll descriptor watches waits for a thread that copies events from there to memory which may be
 * such a file's (eventpoll_release_file() in the kernel's fs/eventpoll.c). recvmsg(2) waits in the same way for
 * the descriptors that it has no room for. So the files that have such descriptors never call close(2)
 * (scripts/c-folders looks), and nothing here waits: threads close them, which start when they are needed, hold no lock
 * meanwhile and end when there is nothing to do. A thread that a peer keeps busy is replaced, up to a limit.
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

void closer_init(void);      /* called before the init of modules whose locks are held in calls */
void closer_halt_init(void); /* called after all others that register handlers of forks, except the engine */

/*
 * Takes the descriptor over. A child of a fork may have a copy until it uses the provider, or exec(2). If no thread can
 * be started, as other processes of the user may be all that it may have (RLIMIT_NPROC, getrlimit(2)), the descriptor
 * waits: each call, and each look whether this is behind, tries again. Without memory it is closed at once.
 */
void closer_close(int fd);

/*
 * The same for what a peer has sent, or made. An eventfd of a peer that may signal this process is closed at once: most
 * of what peers send is one, and such a peer could stop this process anyway.
 */
void closer_close_from(int fd, bool may_signal);

/*
 * Closes at once what is a copy of another open descriptor, which is an eventfd or a socket: the file stays open, and
 * such a file does nothing else at close(2). Returns false if it is none, or before Linux 6.10, which can't tell.
 */
bool closer_close_copy(int fd, int kept);

/*
 * Unmaps memory that a peer has made, on a thread: its file may have any number of pages beyond the end, which go with
 * it.
 */
void closer_unmap(const void *memory, size_t size);

/* Does other work that may block on a thread; without memory at once. A child of a fork does nothing of it. */
void closer_run(void (*work)(void *argument), void *argument);

/* Ends and closes a connection: the peer reads the end at once, also if a fork has left a copy in a child. */
void closer_end(int connection);

/*
 * Closes a listening socket that does not block, and frees its name, before the return. close(2) would also close the
 * connections that are not accepted, with all that is in them, so they are accepted before; none comes after
 * shutdown(2).
 */
void closer_end_listener(int listener);

/* Closes at once a descriptor that no peer has had or can put anything into. */
void closer_close_own(int fd);

/*
 * Closes at once, in the child of a fork, its copy of a descriptor, which is not the last copy. If it is after all, a
 * peer delays this child and nobody else, as exec(2) would.
 */
void closer_close_inherited(int fd);

/* Closes all descriptors that came with a message that may have none. Returns whether there were any. */
bool closer_close_received(struct msghdr *message);
#define CLOSER_MAX_RECEIVED 253 /* descriptors of one message: SCM_MAX_FD, unix(7) */

/*
 * Returns whether so many descriptors wait that no peer should add more, which could use up the limit of the process.
 * Peers keep all threads busy, the threads are late for a moment, or there is none.
 */
bool closer_is_behind(void);

/* Returns whether nothing waits and nothing is being closed: for tests that count descriptors. */
bool closer_is_done(void);

/*
 * Allows or forbids others to send descriptors to a Unix socket; those that connect to a listening one inherit its
 * setting. Returns false before Linux 6.16, where everybody may.
 */
bool closer_pass_rights(int socket, bool passed);

#endif
