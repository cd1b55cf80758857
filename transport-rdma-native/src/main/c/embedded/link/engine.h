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
 * The engine: one thread per process, asleep in epoll_wait unless a descriptor, a timer or a request wakes it.
 *
 * The engine does the work for which no application thread is certain to come: CM messages, timers, the death of a
 * peer, and progress of queue pairs whose completion queue no thread polls. It starts with the first source, timer or
 * task, and ends when there is none. So a process that does not use the provider has no thread and no descriptor of it,
 * even if several copies of the library are loaded. It is a daemon: no static destructor can race with it. After fork()
 * the child has no engine until it uses the provider again, and none of the parent's sources, timers and tasks. A fork
 * waits for the callback that is running, so a callback must not wait for a thread that may fork.
 *
 * Callbacks run on the engine thread with no engine lock held, so they may take their owners' locks and call back in.
 */
#ifndef NETTY_RDMA_EMBEDDED_ENGINE_H
#define NETTY_RDMA_EMBEDDED_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

void engine_init(void);
void engine_halt_init(void); /* called after all others that register handlers of forks */

/* Returns true on the engine thread. */
bool engine_is_self(void);

/* Returns CLOCK_MONOTONIC in nanoseconds. */
uint64_t engine_now_ns(void);

/*
 * A file descriptor that the engine watches, level-triggered (no EPOLLET, no EPOLLONESHOT). Embedded in its owner; the
 * owner closes the fd after engine_remove().
 */
struct engine_source {
    int fd;
    void (*ready)(struct engine_source *source, uint32_t epoll_events);
};

int engine_add(struct engine_source *source, uint32_t epoll_events);      /* 0 or errno */
int engine_modify(struct engine_source *source, uint32_t epoll_events);   /* 0 or errno */

/*
 * Stops watching. After the return `ready` is not running and will not run again, unless the caller is inside it. Not
 * called with a lock held that `ready` takes.
 */
void engine_remove(struct engine_source *source);

/* A one-shot timer. Embedded in its owner; zero-initialised means idle. Setting one never fails. */
struct engine_timer {
    uint64_t deadline_ns;
    void (*fire)(struct engine_timer *timer);
    struct engine_timer *child, *next, *prev; /* links of the pairing heap, guarded by the engine's lock */
    bool armed;
};

/* Sets or moves the deadline. Any thread. The first use must have `fire` set. */
void engine_timer_set(struct engine_timer *timer, uint64_t deadline_ns);

/* Cancels the timer. After the return `fire` is not running and will not run, as with engine_remove(). */
void engine_timer_cancel(struct engine_timer *timer);

/* A request to run `run` once, soon, on the engine thread. Re-arming an already queued task is a no-op. Any thread. */
struct engine_task {
    void (*run)(struct engine_task *task);
    struct engine_task *next;
    bool queued;
};
void engine_submit(struct engine_task *task);

/* Cancels the task, with the same guarantee as engine_remove(). */
void engine_task_cancel(struct engine_task *task);

/* Waits until every callback that was running at the call has returned (no-op on the engine thread). */
void engine_quiesce(void);

#endif
