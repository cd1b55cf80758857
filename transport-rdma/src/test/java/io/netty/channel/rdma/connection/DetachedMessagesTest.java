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
package io.netty.channel.rdma.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.DefaultFileRegion;
import io.netty.util.internal.PlatformDependent;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages that a closed channel leaves: how many bytes, and which. */
@Tag("quick")
class DetachedMessagesTest {
    private final StreamCounters counters = new StreamCounters();
    private final List<Object> flushed = new ArrayList<>();

    @Test
    void messagesAreCutAtTheLimitAndCopiedNoFurther() throws Exception {
        flushed.addAll(List.of(buffer(600), buffer(600), buffer(600)));
        DetachedMessages detached = detach(1000, 0);
        assertThat(lengths(detached)).containsExactly(600L, 400L);
        List<ByteBuf> copies = new ArrayList<>();
        detached.forEach(msg -> copies.add((ByteBuf) msg));
        assertThat(copies.get(1).capacity()).isEqualTo(400);
        assertThat(detached.bytes()).isEqualTo(1000);
        assertThat(counters.detached()).isEqualTo(1000);

        detached.progress(600);
        detached.remove();
        assertThat(counters.detached()).isEqualTo(400);
        detached.release();
        assertThat(copies).allMatch(copy -> copy.refCnt() == 0);
        assertThat(counters.detached()).isZero();
    }

    @Test
    void whatIsInFlightIsTakenBeyondTheLimit() throws Exception {
        flushed.addAll(List.of(buffer(600), buffer(600), buffer(600)));
        DetachedMessages detached = detach(100, 700);
        assertThat(lengths(detached)).containsExactly(600L, 100L);
        detached.release();
    }

    @Test
    void emptyMessagesTakeNoRoom() throws Exception {
        flushed.addAll(List.of(buffer(0), buffer(100), buffer(0), buffer(100)));
        DetachedMessages detached = detach(100, 0);
        assertThat(lengths(detached)).containsExactly(0L, 100L, 0L);
        detached.release();
    }

    /** The channel may be closed since there is none. */
    @Test
    void copiesTakeNoDirectMemory() throws Exception {
        ByteBuf direct = Unpooled.directBuffer(100).writeZero(100);
        flushed.addAll(List.of(buffer(100), direct));
        DetachedMessages detached = detach(1000, 0);
        assertThat(lengths(detached)).containsExactly(100L, 100L);
        detached.forEach(msg -> {
            assertThat(((ByteBuf) msg).isDirect()).isFalse();
            return true;
        });
        detached.release();
        direct.release();
    }

    @Test
    void partsOfFilesAreSent(@TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[1000]);
        OutboundRegion region = new OutboundRegion(null, new DefaultFileRegion(file.toFile(), 0, 1000));
        ByteBuf read = Unpooled.directBuffer(1000);
        try {
            flushed.addAll(List.of(region, buffer(100)));
            assertThat(region.read(read, 300)).isEqualTo(300);
            region.arrived(200);
            DetachedMessages detached = detach(500, 100);
            assertThat(detached.bytes()).isEqualTo(500);
            assertThat(region.isRead()).isFalse();
            assertThat(region.read(read, 1000)).isEqualTo(400);
            assertThat(region.isRead()).isTrue();
            detached.remove();
            assertThat(detached.current()).isNull();
            detached.release();
        } finally {
            read.release();
            region.release();
        }
    }

    @Test
    void allClosedChannelsTogetherLeaveAnEighthOfTheDirectMemory() throws Exception {
        StreamCounters others = new StreamCounters();
        long fill = PlatformDependent.maxDirectMemory() / 8 - StreamCounters.TOTAL.detached() - 300;
        others.addDetached(fill);
        try {
            flushed.add(buffer(600));
            DetachedMessages detached = detach(1000, 0);
            assertThat(detached.bytes()).isEqualTo(300);
            detached.release();
        } finally {
            others.addDetached(-fill);
        }
    }

    private static ByteBuf buffer(int length) {
        return Unpooled.wrappedBuffer(new byte[length]);
    }

    private DetachedMessages detach(long max, long inFlight) throws Exception {
        DetachedMessages.Source from = processor -> {
            for (Object msg : flushed) {
                if (!processor.processMessage(msg)) {
                    break;
                }
            }
        };
        return DetachedMessages.of(from, 0, UnpooledByteBufAllocator.DEFAULT, counters, max, inFlight);
    }

    private static List<Long> lengths(DetachedMessages messages) throws Exception {
        List<Long> lengths = new ArrayList<>();
        messages.forEach(msg -> lengths.add((long) ((ByteBuf) msg).readableBytes()));
        return lengths;
    }
}
