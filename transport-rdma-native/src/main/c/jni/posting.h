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
/* Results of the natives that post. */
#ifndef NETTY_RDMA_JNI_POSTING_H
#define NETTY_RDMA_JNI_POSTING_H

#include "jni_util.h"

/* Returns the number posted in the upper half, and the errno of the first request that was not posted in the lower. */
static inline jlong posted(int count, int error) {
    return (jlong) ((uint64_t) (uint32_t) count << 32 | (uint32_t) error);
}

/* Counts the receives of a chain before `bad`, which is NULL if the provider did not tell. */
static inline int count_posted(const struct ibv_recv_wr *wr, const struct ibv_recv_wr *bad) {
    int count = 0;
    for (; bad != NULL && wr != NULL && wr != bad; wr = wr->next) {
        count++;
    }
    return count;
}

#endif
