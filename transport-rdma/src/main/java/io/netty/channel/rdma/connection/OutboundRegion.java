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
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import io.netty.util.IllegalReferenceCountException;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;

/**
 * A file region among the messages of a channel, and how many of its bytes are in flight. What it has transferred says
 * how many were read.
 *
 * <p>The file of a {@link DefaultFileRegion} is read straight into the memory that the device sends from.
 * {@link FileRegion#transferTo} is for all others, and gets there by way of the Java heap in pieces of 8 KiB if it uses
 * {@link FileChannel#transferTo} in turn.
 */
public final class OutboundRegion implements FileRegion {
    private final ConnectionOwner owner;
    private final FileRegion region;
    private long inFlight;
    private boolean read;
    /** Bytes from there on are not sent. */
    private long end = Long.MAX_VALUE;
    private Exception failure;

    public OutboundRegion(ConnectionOwner owner, FileRegion region) {
        this.owner = owner;
        this.region = region;
    }

    /** Whether all of it was read. */
    boolean isRead() {
        // Once and for all, whatever the region says later.
        read |= unread() <= 0;
        return read;
    }

    /** Bytes that are to be read. */
    long unread() {
        return Math.min(end, region.count()) - region.transferred();
    }

    /** No more than so many of the bytes that have not arrived are sent; at least those in flight. */
    void truncate(long bytes) {
        end = region.transferred() - inFlight + bytes;
    }

    /** Bytes that were read and are not known to have arrived. */
    long inFlight() {
        return inFlight;
    }

    /** So many of the bytes in flight have arrived. */
    void arrived(long bytes) {
        inFlight -= bytes;
    }

    /** Why it could not be read, or {@code null}. */
    Exception failure() {
        return failure;
    }

    /**
     * Appends what comes next, which is in flight then. A failure is kept: nothing is read after it.
     *
     * @param to  registered memory with room for {@code max} bytes.
     * @return the number of bytes, 0 if there are none now or if it failed.
     */
    int read(ByteBuf to, int max) {
        int from = to.writerIndex();
        int length = (int) Math.min(max, unread());
        try {
            if (region instanceof DefaultFileRegion && RegionFile.isKnown()) {
                readFile((DefaultFileRegion) region, to, length);
            } else {
                region.transferTo(new Target(to, length), region.transferred());
            }
            if (to.writerIndex() == from && region instanceof DefaultFileRegion) {
                owner.validate((DefaultFileRegion) region);
            }
        } catch (Exception e) {
            failure = e;
            to.writerIndex(from);
        }
        int bytes = to.writerIndex() - from;
        inFlight += bytes;
        return bytes;
    }

    private static void readFile(DefaultFileRegion region, ByteBuf to, int length) throws IOException {
        if (region.refCnt() == 0) {
            throw new IllegalReferenceCountException(0);
        }
        region.open();
        long transferred = region.transferred();
        int bytes = to.writeBytes(RegionFile.channel(region), region.position() + transferred, length);
        if (bytes > 0) {
            RegionFile.setTransferred(region, transferred + bytes);
        }
    }

    /** Takes what there is room for, and no more. */
    private static final class Target implements WritableByteChannel {
        private final ByteBuf to;
        private int room;

        Target(ByteBuf to, int room) {
            this.to = to;
            this.room = room;
        }

        @Override
        public int write(ByteBuffer src) {
            int limit = src.limit();
            int n = Math.min(src.remaining(), room);
            src.limit(src.position() + n);
            to.writeBytes(src);
            src.limit(limit);
            room -= n;
            return n;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
        }
    }

    @Override
    public long position() {
        return region.position();
    }

    @Override
    @Deprecated
    public long transfered() {
        return region.transferred();
    }

    @Override
    public long transferred() {
        return region.transferred();
    }

    @Override
    public long count() {
        return region.count();
    }

    @Override
    public long transferTo(WritableByteChannel target, long position) throws IOException {
        return region.transferTo(target, position);
    }

    @Override
    public int refCnt() {
        return region.refCnt();
    }

    @Override
    public FileRegion retain() {
        region.retain();
        return this;
    }

    @Override
    public FileRegion retain(int increment) {
        region.retain(increment);
        return this;
    }

    @Override
    public FileRegion touch() {
        region.touch();
        return this;
    }

    @Override
    public FileRegion touch(Object hint) {
        region.touch(hint);
        return this;
    }

    @Override
    public boolean release() {
        return region.release();
    }

    @Override
    public boolean release(int decrement) {
        return region.release(decrement);
    }
}
