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
 * A build of the library for tests that ends the process with a report when a lock is held, a native method runs or the
 * engine is in one turn for long: the lane stalls, the target of this name of the Makefile. Peers could prolong such a
 * time at will, and everything that needs the lock, the event loop or the engine stands meanwhile.
 *
 * What counts is the thread's own doing, not the time that passes: that it slept for what others do (SLEPT_LIMIT), or
 * that it worked (WORKED_LIMIT). A thread that is preempted does neither, however long: the time in which it waits for
 * a processor is in /proc/thread-self/schedstat (the kernel's Documentation/scheduler/sched-stats.rst). Nor does one
 * that waits for another thread of this process, by a mutex, pthread_cond_wait(3) or backoff.h, which is watched as
 * well; but pthread_cond_timedwait(3) is how a thread waits for a peer, and counts.
 *
 * Locks, condition variables and the engine's epoll_wait(2) are wrapped by the linker (ld(1), --wrap), native methods
 * are compiled with -finstrument-functions. A thread watches for what does not end.
 *
 * With RDMA_STALLS_LOG=FILE each time of more than a millisecond is written to the file, and the process goes on.
 */
#ifndef NETTY_RDMA_TEST_STALLS_H
#define NETTY_RDMA_TEST_STALLS_H

/* The calling thread enters and leaves a native method. They nest; the outermost one counts. */
void stall_enter(const void *function);
void stall_leave(void);

/* Pauses the count: the thread calls a function of the JVM, which may wait for its garbage collector. */
void stall_pause(void);
void stall_resume(void);

/* Excludes what the calling thread holds and does now: a test holds the engine. Absent from other builds. */
void stall_forgive(void) __attribute__((weak));

#endif
