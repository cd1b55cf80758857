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
/* What the natives that post tell Java. */
#ifndef NETTY_RDMA_JNI_POSTING_H
#define NETTY_RDMA_JNI_POSTING_H

#include "jni_util.h"

/* The number posted in the upper half, the errno of the first that was not in the lower. */
static inline jlong posted(int count, int error)
{
    return (jlong) ((uint64_t) (uint32_t) count << 32 | (uint32_t) error);
}

/* How many receives of a chain come before `bad`, which is NULL if the provider did not tell. */
static inline int count_posted(const struct ibv_recv_wr *wr, const struct ibv_recv_wr *bad)
{
    int count = 0;
    for (; bad != NULL && wr != NULL && wr != bad; wr = wr->next) {
        count++;
    }
    return count;
}

#endif
