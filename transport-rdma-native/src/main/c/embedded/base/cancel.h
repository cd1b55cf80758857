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
 * pthread_cancel(3). A thread that ended in the middle of a call would keep locks and gates for ever, so calls disable
 * cancellation while they work. Control functions disable it for the whole call. Posting and polling disable it only at
 * cancellation points (pthreads(7)), which they reach only to wake another thread. A call that waits for an event can
 * be cancelled while it waits, because it then owns no lock or gate.
 */
#ifndef NETTY_RDMA_EMBEDDED_CANCEL_H
#define NETTY_RDMA_EMBEDDED_CANCEL_H

#include <pthread.h>
#include <stddef.h>

static inline int cancel_disable(void) {
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

static inline void cancel_restore(const int *state) {
    pthread_setcancelstate(*state, NULL);
}

/* Disables cancellation to the end of the block. */
#define UNCANCELLED __attribute__((cleanup(cancel_restore), unused)) const int cancel_state_ = cancel_disable()

/* Ends UNCANCELLED early, before a call that waits. */
#define CANCELLABLE cancel_restore(&cancel_state_)

#endif
