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
package io.netty.microbench.rdma.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

class RepeatedMessageTest {
    private static final int BYTES = 8;
    private static final int UNDER_WAY = 4;

    private final RepeatedMessage message = new RepeatedMessage(UnpooledByteBufAllocator.DEFAULT, BYTES, UNDER_WAY);

    @Test
    void objectsAreUsedAgainOnceTheirWritesHaveCompleted() {
        Set<ByteBuf> objects = Collections.newSetFromMap(new IdentityHashMap<>());
        for (int i = 0; i < 3 * UNDER_WAY; i++) {
            ByteBuf written = message.next();
            assertThat(written.readableBytes()).isEqualTo(BYTES);
            objects.add(written);
            // A channel that sent a part of it.
            written.skipBytes(BYTES / 2).release();
        }
        assertThat(objects).hasSize(UNDER_WAY);
        message.release();
    }

    @Test
    void noObjectIsHandedOutWhileItIsWritten() {
        List<ByteBuf> underWay = new ArrayList<>();
        for (int i = 0; i < 3 * UNDER_WAY; i++) {
            underWay.add(message.next());
        }
        for (int turn = 0; turn < UNDER_WAY; turn++) {
            Set<ByteBuf> objects = Collections.newSetFromMap(new IdentityHashMap<>());
            objects.addAll(underWay);
            assertThat(objects).hasSameSizeAs(underWay);
            // In order, as channels do.
            underWay.subList(0, 2 * UNDER_WAY + 1).forEach(ByteBuf::release);
            underWay.subList(0, 2 * UNDER_WAY + 1).clear();
            for (int i = 0; i < 2 * UNDER_WAY + 1; i++) {
                underWay.add(message.next());
            }
        }
        message.release();
        assertThat(underWay.get(0).refCnt()).isEqualTo(underWay.size());
        underWay.forEach(ByteBuf::release);
        assertThat(underWay.get(0).refCnt()).isZero();
    }
}
