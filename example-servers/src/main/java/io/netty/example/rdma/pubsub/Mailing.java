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
import io.netty.channel.rdma.RdmaByteBufAllocator;

import java.util.List;

/**
 * Writes each edition into the memory of all subscribers who have got the one before.
 */
final class Mailing implements Outlet {
    private final Edition format;
    private final List<WritingPublisher> ends;

    Mailing(Edition format, List<WritingPublisher> ends) {
        this.format = format;
        this.ends = ends;
    }

    @Override
    public void publish(long number) {
        int length = format.length();
        // Not the same memory again: it belongs to the device until all writes of it are done.
        ByteBuf edition = RdmaByteBufAllocator.DEFAULT.directBuffer(length, length);
        try {
            format.write(edition, number);
            for (WritingPublisher end : ends) {
                end.offer(edition);
            }
        } finally {
            edition.release();
        }
    }

    @Override
    public void close() {
        // Editions in flight belong to the ends.
    }
}
