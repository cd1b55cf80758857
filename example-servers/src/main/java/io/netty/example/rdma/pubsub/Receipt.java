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
package io.netty.example.rdma.pubsub;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;

/**
 * The message of a subscriber that has seen enough. The publisher answers with the same message, and writes nothing
 * after it.
 *
 * @param seen  number of different editions
 * @param torn  number of copies that were dropped and taken again
 * @param wrong number of editions that were older than the one before, or had wrong content, without being torn
 */
record Receipt(long seen, long torn, long wrong) {
    private static final int LENGTH = 3 * Long.BYTES;

    RdmaSend toMessage() {
        return new RdmaSend(Unpooled.copyLong(seen, torn, wrong));
    }

    /** @throws IllegalArgumentException if the message is no receipt */
    static Receipt read(RdmaReceive message) {
        ByteBuf content = message.content();
        if (content.readableBytes() != LENGTH) {
            throw new IllegalArgumentException("not a receipt: " + message);
        }
        return new Receipt(content.readLong(), content.readLong(), content.readLong());
    }
}
