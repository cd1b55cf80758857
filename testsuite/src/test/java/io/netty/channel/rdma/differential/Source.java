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
package io.netty.channel.rdma.differential;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultFileRegion;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;

/** Kinds of messages that carry bytes. */
enum Source {
    /** A buffer of the channel's allocator, which is not the same one on both transports. */
    ALLOCATOR {
        @Override
        Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random) {
            return allocator.buffer(content.length).writeBytes(content);
        }
    },
    /** As above, grown while it is written. */
    GROWN {
        @Override
        Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random) {
            ByteBuf buf = allocator.directBuffer();
            for (int i = 0; i < content.length;) {
                int length = Math.min(1 + random.nextInt(content.length), content.length - i);
                buf.writeBytes(content, i, length);
                i += length;
            }
            return buf;
        }
    },
    HEAP {
        @Override
        Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random) {
            return Unpooled.copiedBuffer(content);
        }
    },
    DIRECT {
        @Override
        Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random) {
            return Unpooled.directBuffer(content.length + 1).writeBytes(content);
        }
    },
    POOLED {
        @Override
        Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random) {
            return (random.nextBoolean() ? PooledByteBufAllocator.DEFAULT.directBuffer(content.length)
                    : PooledByteBufAllocator.DEFAULT.heapBuffer(content.length)).writeBytes(content);
        }
    },
    COMPOSITE {
        @Override
        Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random) {
            CompositeByteBuf buf = Unpooled.compositeBuffer(64);
            for (int i = 0; i < content.length;) {
                // Some pieces are empty.
                int length = Math.min(random.nextInt(1 + content.length), content.length - i);
                buf.addComponent(true, Unpooled.EMPTY_BUFFER);
                buf.addComponent(true, (ByteBuf) PIECES[random.nextInt(PIECES.length)].message(allocator,
                        java.util.Arrays.copyOfRange(content, i, i + length), random));
                i += length;
            }
            return buf;
        }
    },
    READ_ONLY {
        @Override
        Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random) {
            return allocator.buffer(content.length).writeBytes(content).asReadOnly();
        }
    },
    NIO {
        @Override
        Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(content.length);
            return Unpooled.wrappedBuffer(random.nextBoolean() ? buffer.put(content).flip().asReadOnlyBuffer()
                    : buffer.put(content).flip());
        }
    },
    /** The middle of a larger buffer. */
    SLICE {
        @Override
        Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random) {
            ByteBuf buf = allocator.directBuffer(content.length + 64);
            int before = random.nextInt(64);
            buf.writeZero(before).writeBytes(content).writeZero(random.nextInt(64));
            return random.nextBoolean() ? buf.slice(before, content.length)
                    : buf.duplicate().setIndex(before, before + content.length);
        }
    },
    FILE {
        @Override
        Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random) {
            try {
                int before = random.nextInt(9000);
                Path path = Files.createTempFile("differential", null);
                Files.write(path, new byte[before]);
                Files.write(path, content, StandardOpenOption.APPEND);
                FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
                Files.delete(path);
                return new DefaultFileRegion(file, before, content.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    private static final Source[] PIECES = { ALLOCATOR, HEAP, DIRECT, POOLED };

    /** A message of these bytes, with one reference. */
    abstract Object message(ByteBufAllocator allocator, byte[] content, SplittableRandom random);
}
