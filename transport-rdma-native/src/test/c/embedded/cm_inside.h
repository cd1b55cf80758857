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
/* Common part of the tests of the connection manager's inside. */
#ifndef NETTY_RDMA_TEST_CM_INSIDE_H
#define NETTY_RDMA_TEST_CM_INSIDE_H

#include "embedded/cm/cm.h"

#include "cm_support.h"

static inline enum cm_conn_state conn_of(struct rdma_cm_id *id) {
    pthread_mutex_lock(&cm_lock);
    enum cm_conn_state state = cm_of(id)->conn;
    pthread_mutex_unlock(&cm_lock);
    return state;
}

static inline void set_time(uint64_t *time_ns, uint64_t value) {
    pthread_mutex_lock(&cm_lock);
    *time_ns = value;
    pthread_mutex_unlock(&cm_lock);
}

#endif
