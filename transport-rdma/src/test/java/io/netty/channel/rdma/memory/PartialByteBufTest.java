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
package io.netty.channel.rdma.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * All ways to get and set bytes, in a part in the middle of larger memory, compared with a buffer of Netty.
 */
@Tag("platforms")
@Tag("quick")
class PartialByteBufTest {
    private static final int SIZE = 64;
    private static final int OFFSET = 24;
    private static final int CAPACITY = 20;
    private static final int PART = 30;

    private final ByteBuffer memory = ByteBuffer.allocateDirect(SIZE);
    private final Part part = new Part();
    private final SplittableRandom random = new SplittableRandom(1);
    @TempDir
    Path folder;

    @Test
    void valuesAreThoseOfAnyBuffer() {
        List<ObjIntConsumer<ByteBuf>> setters = List.of((buf, i) -> buf.setByte(i, i + 200),
                (buf, i) -> buf.setShort(i, i * 1001), (buf, i) -> buf.setShortLE(i, i * 1003),
                (buf, i) -> buf.setMedium(i, i * 100_003), (buf, i) -> buf.setMediumLE(i, i * 200_007),
                (buf, i) -> buf.setInt(i, i * 100_000_007), (buf, i) -> buf.setIntLE(i, i * 200_000_033),
                (buf, i) -> buf.setLong(i, i * 1_000_000_000_000_003L),
                (buf, i) -> buf.setLongLE(i, i * 2_000_000_000_000_003L), (buf, i) -> buf.setDouble(i, i * 0.1));
        for (ObjIntConsumer<ByteBuf> setter : setters) {
            for (int i = 0; i <= CAPACITY - Long.BYTES; i++) {
                int index = i;
                changeBoth(buf -> setter.accept(buf, index));
                ByteBuf expected = copy();
                for (ByteBuf buf : List.of(part, part.slice(), part.duplicate())) {
                    assertThat(values(buf, i)).isEqualTo(values(expected, i));
                }
            }
        }
    }

    private static List<Object> values(ByteBuf buf, int i) {
        return List.of(buf.getByte(i), buf.getShort(i), buf.getShortLE(i), buf.getUnsignedMedium(i),
                buf.getUnsignedMediumLE(i), buf.getMedium(i), buf.getInt(i), buf.getIntLE(i), buf.getLong(i),
                buf.getLongLE(i), buf.getDouble(i));
    }

    @Test
    void manyBytesAreThoseOfAnyBuffer() {
        byte[] some = { 1, 2, 3, 4, 5, 6, 7 };
        for (ByteBuf src : new ByteBuf[] { Unpooled.wrappedBuffer(some), Unpooled.directBuffer().writeBytes(some),
                Unpooled.wrappedBuffer(some).asReadOnly(), Unpooled.wrappedBuffer(Unpooled.copiedBuffer(some, 0, 3),
                Unpooled.copiedBuffer(some, 3, 4)) }) {
            changeBoth(buf -> buf.setBytes(5, src, 1, 6));
            changeBoth(buf -> buf.clear().writeBytes(src.duplicate()).setIndex(0, CAPACITY));
            src.release();
        }
        changeBoth(buf -> buf.setBytes(7, some));
        changeBoth(buf -> buf.setBytes(9, some, 2, 3));
        ByteBuffer source = ByteBuffer.wrap(some, 1, 5);
        changeBoth(buf -> buf.setBytes(15, source.duplicate()));
        part.setBytes(15, source);
        assertThat(source.remaining()).isZero();
        // To where a part of it is.
        changeBoth(buf -> buf.setBytes(3, buf, 0, 10));

        ByteBuf expected = copy();
        for (ByteBuf dst : new ByteBuf[] { Unpooled.buffer(CAPACITY), Unpooled.directBuffer(CAPACITY),
                Unpooled.wrappedBuffer(new byte[7], new byte[CAPACITY - 7]).clear() }) {
            part.getBytes(0, dst, CAPACITY);
            assertThat(dst).isEqualTo(expected);
            dst.release();
        }
        byte[] bytes = new byte[CAPACITY + 2];
        part.getBytes(3, bytes, 1, 5);
        assertThat(Unpooled.wrappedBuffer(bytes, 1, 5)).isEqualTo(expected.slice(3, 5));
        ByteBuffer target = ByteBuffer.wrap(bytes, 4, 7);
        part.getBytes(2, target);
        assertThat(target.remaining()).isZero();
        assertThat(Unpooled.wrappedBuffer(bytes, 4, 7)).isEqualTo(expected.slice(2, 7));
        ByteBuf copied = part.copy(4, 9);
        assertThat(copied).isEqualTo(expected.slice(4, 9));
        copied.release();
        assertThat(Unpooled.wrappedBuffer(part.nioBuffer(2, 11))).isEqualTo(expected.slice(2, 11));
        assertThat(Unpooled.wrappedBuffer(part.nioBuffers(2, 11))).isEqualTo(expected.slice(2, 11));
        assertThat(Unpooled.wrappedBuffer(part.internalNioBuffer(2, 11))).isEqualTo(expected.slice(2, 11));
        assertThat(Unpooled.wrappedBuffer(part.internalNioBuffer(5, 3))).isEqualTo(expected.slice(5, 3));
    }

    @Test
    void channelsAndStreamsGetAndGiveBytes() throws IOException {
        changeBoth(buf -> buf.setLong(3, Long.MAX_VALUE / 7));
        ByteBuf expected = copy().slice(2, 11);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        part.getBytes(2, out, 11);
        assertThat(Unpooled.wrappedBuffer(out.toByteArray())).isEqualTo(expected);
        assertThat(part.setBytes(0, new ByteArrayInputStream(out.toByteArray()), CAPACITY)).isEqualTo(11);
        assertThat(part.slice(0, 11)).isEqualTo(expected);
        assertThat(part.setBytes(0, Channels.newInputStream(Channels.newChannel(new ByteArrayInputStream(new byte[0]))),
                CAPACITY)).isEqualTo(-1);

        Path file = folder.resolve("bytes");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            assertThat(part.getBytes(0, (GatheringByteChannel) channel, 5)).isEqualTo(5);
            assertThat(part.getBytes(5, channel, 5, 6)).isEqualTo(6);
            channel.position(0);
            assertThat(part.setBytes(9, (ScatteringByteChannel) channel, 11)).isEqualTo(11);
            assertThat(part.slice(9, 11)).isEqualTo(expected);
            assertThat(part.setBytes(0, channel, 2, 4)).isEqualTo(4);
            assertThat(part.slice(0, 4)).isEqualTo(expected.slice(2, 4));
        }
        FileChannel closed = FileChannel.open(file);
        closed.close();
        assertThat(part.setBytes(0, closed, 2, 4)).isEqualTo(-1);
        assertThat(part.setBytes(0, (ScatteringByteChannel) closed, 4)).isEqualTo(-1);
        checkRest();
    }

    /** Although the part, and the memory behind it, go on. */
    @Test
    void nothingBehindTheCapacityIsReached() {
        byte[] bytes = new byte[CAPACITY];
        ByteBuf other = Unpooled.wrappedBuffer(bytes);
        List<Runnable> accesses = new ArrayList<>(List.of(() -> part.getByte(CAPACITY), () -> part.getByte(-1),
                () -> part.getShort(CAPACITY - 1), () -> part.getShortLE(CAPACITY - 1),
                () -> part.getMedium(CAPACITY - 2), () -> part.getUnsignedMediumLE(CAPACITY - 2),
                () -> part.getInt(CAPACITY - 3), () -> part.getIntLE(CAPACITY - 3), () -> part.getLong(CAPACITY - 7),
                () -> part.getLongLE(CAPACITY - 7), () -> part.getBytes(1, bytes), () -> part.getBytes(-1, bytes, 0, 1),
                () -> part.getBytes(1, ByteBuffer.wrap(bytes)), () -> part.getBytes(1, other, 0, CAPACITY),
                () -> part.nioBuffer(1, CAPACITY), () -> part.internalNioBuffer(1, CAPACITY),
                () -> part.copy(1, CAPACITY)));
        accesses.addAll(List.of(() -> part.setByte(CAPACITY, 0), () -> part.setShort(CAPACITY - 1, 0),
                () -> part.setShortLE(CAPACITY - 1, 0), () -> part.setMedium(CAPACITY - 2, 0),
                () -> part.setMediumLE(CAPACITY - 2, 0), () -> part.setInt(CAPACITY - 3, 0),
                () -> part.setIntLE(CAPACITY - 3, 0), () -> part.setLong(CAPACITY - 7, 0),
                () -> part.setLongLE(CAPACITY - 7, 0), () -> part.setBytes(1, bytes), () -> part.setBytes(-1, bytes),
                () -> part.setBytes(1, ByteBuffer.wrap(bytes)), () -> part.setBytes(1, other, 0, CAPACITY),
                () -> part.writeByte(1)));
        for (Runnable access : accesses) {
            assertThatThrownBy(access::run).isInstanceOf(IndexOutOfBoundsException.class);
        }
        checkRest();
    }

    @Test
    void releasedBufferBeginsAnotherLifeElsewhere() {
        part.markReaderIndex().readerIndex(3).markReaderIndex();
        part.release();
        assertThatThrownBy(() -> part.getByte(0)).isInstanceOf(IllegalReferenceCountException.class);

        ByteBuffer other = ByteBuffer.allocateDirect(SIZE);
        part.setPart(other, 8, 8);
        part.begin(UnpooledByteBufAllocator.DEFAULT, 8, 8);

        assertThat(part.refCnt()).isEqualTo(1);
        assertThat(part.readerIndex(0).resetReaderIndex().readerIndex()).isZero();
        part.writeLong(7);
        assertThat(part.isWritable()).isFalse();
        assertThat(other.getLong(8)).isEqualTo(7);
        assertThat(part.internalNioBuffer(0, 8).getLong()).isEqualTo(7);
        checkRest();
    }

    /** Does it with the part and with a copy of its bytes, which must be the same after that. */
    private void changeBoth(Consumer<ByteBuf> change) {
        for (int i = 0; i < SIZE; i++) {
            memory.put(i, i >= OFFSET && i < OFFSET + CAPACITY ? (byte) random.nextInt() : 99);
        }
        ByteBuf expected = copy();
        change.accept(expected);
        change.accept(part);
        assertThat(part).isEqualTo(expected);
        checkRest();
    }

    private ByteBuf copy() {
        byte[] bytes = new byte[CAPACITY];
        memory.get(OFFSET, bytes);
        return Unpooled.wrappedBuffer(bytes);
    }

    /** Checks that bytes outside of the part are unchanged. */
    private void checkRest() {
        byte rest = memory.get(0);
        for (int i = 0; i < SIZE; i++) {
            assertThat(i >= OFFSET && i < OFFSET + CAPACITY || memory.get(i) == rest).as("byte %d", i).isTrue();
        }
    }

    private final class Part extends PartialByteBuf {
        private final long address = DirectMemory.address(memory) + OFFSET;

        Part() {
            setPart(memory, OFFSET, PART);
            begin(UnpooledByteBufAllocator.DEFAULT, CAPACITY, CAPACITY);
            writerIndex(CAPACITY);
        }

        @Override
        protected RequestMemory memory() {
            return null;
        }

        @Override
        public ByteBuf capacity(int newCapacity) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long memoryAddress() {
            return address;
        }

        @Override
        protected void deallocate() {
            // Not ours.
        }
    }
}
