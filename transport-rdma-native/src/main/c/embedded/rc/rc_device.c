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
 * The peer's WRITEs and READs of memory of another device. The keys of host memory were tried before, so that these
 * functions also find out that a key is of nobody.
 */
#include "embedded/device/mr.h"
#include "rc.h"

/* Finds the next piece of the request that is being executed. */
static bool find(const struct qp *qp, uint32_t length, int access, struct peer_range *range) {
    const struct inbound *in = &rc_of(qp)->inbound;
    return mr_peer_range(qp->ibv.pd, in->rkey, in->remote_address + in->offset, length, access, range);
}

enum outcome rc_write_device(struct qp *qp, const uint8_t *payload, uint32_t length) {
    struct peer_range to;
    if (!find(qp, length, IBV_ACCESS_REMOTE_WRITE, &to)) {
        return OUTCOME_ACCESS_ERROR;
    }
    return peer_memory_write(&to, payload, length) ? OUTCOME_DONE : OUTCOME_MEMORY_GONE;
}

enum outcome rc_read_device(struct qp *qp, uint8_t *to, uint32_t length) {
    struct peer_range from;
    if (!find(qp, length, IBV_ACCESS_REMOTE_READ, &from)) {
        return OUTCOME_ACCESS_ERROR;
    }
    rc_of(qp)->inbound.cursor.device = true;
    return peer_memory_read(&from, to, length) ? OUTCOME_DONE : OUTCOME_MEMORY_GONE;
}
