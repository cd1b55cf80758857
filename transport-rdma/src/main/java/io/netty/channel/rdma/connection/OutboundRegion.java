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
import io.netty.util.AbstractReferenceCounted;
import io.netty.util.IllegalReferenceCountException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;

/**
 * A file region among the messages of a channel, with the number of its bytes in flight. Its {@code transferred()} is
 * the number of bytes that were read.
 *
 * <p>The file of a {@link DefaultFileRegion} is read straight into the memory that the device sends from. All other
 * regions are read by {@link FileRegion#transferTo}. If that uses {@link FileChannel#transferTo} in turn, the bytes go
 * through the Java heap in pieces of 8 KiB. As in Netty's other transports (netty#16829), all bytes that it writes are
 * sent, also beyond {@link FileRegion#count}: headers, padding, authentication codes.
 */
public final class OutboundRegion extends AbstractReferenceCounted implements FileRegion {
    private static final ByteBuffer NO_BYTES = ByteBuffer.allocate(0);

    private final ConnectionOwner owner;
    private final FileRegion region;
    /** Bytes that the region has written and for which there was no registered memory. */
    private ByteBuffer excess = NO_BYTES;
    private long inFlight;
    private boolean read;
    /** The most bytes that are still read. */
    private long limit = Long.MAX_VALUE;
    private Exception failure;

    public OutboundRegion(ConnectionOwner owner, FileRegion region) {
        this.owner = owner;
        this.region = region;
    }

    /** Returns whether the region was read to its end. */
    boolean isRead() {
        // The value stays, even if the region changes its mind later.
        read |= region.transferred() >= region.count();
        return failure == null && (limit <= 0 || read && !excess.hasRemaining());
    }

    /** Limits the bytes that are sent to so many of those that have not arrived; at least those in flight. */
    void truncate(long bytes) {
        limit = bytes - inFlight;
    }

    /** Bytes that were read and are not known to have arrived. */
    long inFlight() {
        return inFlight;
    }

    /** Notes that so many of the bytes in flight have arrived. */
    void arrived(long bytes) {
        inFlight -= bytes;
    }

    /** The reason why the region could not be read, or {@code null}. */
    Exception failure() {
        return failure;
    }

    /** An estimate of the bytes that are still to be read. */
    long unread() {
        return Math.min(limit, excess.remaining() + Math.max(0, region.count() - region.transferred()));
    }

    /**
     * Appends the next bytes, which are in flight then. A failure is kept, and nothing is read after it.
     *
     * @param to  registered memory with room for {@code max} bytes.
     * @return the number of bytes, 0 if there are none now or if it failed.
     */
    int read(ByteBuf to, int max) {
        int from = to.writerIndex();
        int room = (int) Math.min(max, limit);
        if (excess.hasRemaining()) {
            int n = Math.min(room, excess.remaining());
            to.writeBytes(excess.slice(excess.position(), n));
            excess.position(excess.position() + n);
        } else {
            // A read in an interrupted thread would close the channel of the file, which may be used elsewhere. Netty's
            // epoll transport uses sendfile(2), which Java does not interrupt.
            boolean interrupted = Thread.interrupted();
            try {
                transfer(to, room);
            } catch (Exception e) {
                failure = e;
                to.writerIndex(from);
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
        int bytes = to.writerIndex() - from;
        inFlight += bytes;
        limit -= bytes;
        return bytes;
    }

    private void transfer(ByteBuf to, int max) throws IOException {
        int from = to.writerIndex();
        if (region instanceof DefaultFileRegion && RegionFile.isKnown()) {
            readFile((DefaultFileRegion) region, to, (int) Math.min(max, region.count() - region.transferred()));
        } else {
            Target target = new Target(to, max);
            region.transferTo(target, region.transferred());
            excess = target.finish(region.transferred() >= region.count());
        }
        if (to.writerIndex() == from && region instanceof DefaultFileRegion) {
            owner.validate((DefaultFileRegion) region);
        }
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

    /**
     * Takes as many bytes as the registered memory has room for, and a little more, so that a region that writes some
     * small pieces need not ask how much of each was taken. Then it takes nothing, like a socket with a full buffer,
     * and the region keeps the rest for its next {@code transferTo}. If the region offers the same bytes once more, it
     * waits until they are taken. But no memory gets free before it returns, so its bytes are kept, up to a bound.
     */
    private static final class Target implements WritableByteChannel {
        private static final int MAX_EXCESS = 64 << 10;
        private static final int MAX_KEPT = 16 << 20;
        private static final int MAX_COMPARED = 8 << 10;

        private final ByteBuf to;
        private final ByteArrayOutputStream excess = new ByteArrayOutputStream(0);
        private int room;
        /** Number of bytes of the last write that were not taken, and a copy of the first of them. */
        private int refused;
        private ByteBuffer compared;
        private boolean waiting;

        Target(ByteBuf to, int room) {
            this.to = to;
            this.room = room;
        }

        @Override
        public int write(ByteBuffer src) throws IOException {
            if (!src.hasRemaining()) {
                return 0;
            }
            if (refused > 0 && (src.remaining() != refused || !compared.equals(first(src)))) {
                throw notKept();
            }
            int before = src.remaining();
            takeRoom(src);
            takeExcess(src, waiting ? MAX_KEPT : MAX_EXCESS);
            refused = src.remaining();
            if (refused > 0) {
                if (waiting) {
                    throw new IOException("The FileRegion writes more than " + MAX_KEPT + " bytes without a return" +
                            " (expected: transferTo returns when the channel takes nothing)");
                }
                waiting = refused == before;
                compared = ByteBuffer.allocate(Math.min(refused, MAX_COMPARED)).put(first(src)).flip();
            }
            return before - refused;
        }

        private void takeRoom(ByteBuffer src) {
            int limit = src.limit();
            int n = Math.min(src.remaining(), room);
            to.writeBytes(src.limit(src.position() + n));
            src.limit(limit);
            room -= n;
        }

        private void takeExcess(ByteBuffer src, int max) {
            byte[] bytes = new byte[Math.min(src.remaining(), max - excess.size())];
            src.get(bytes);
            excess.write(bytes, 0, bytes.length);
        }

        private static ByteBuffer first(ByteBuffer src) {
            return src.slice(src.position(), Math.min(src.remaining(), MAX_COMPARED));
        }

        /** Returns the excess after a return of {@code transferTo}. {@code done}: there will be no other call. */
        ByteBuffer finish(boolean done) throws IOException {
            if (done && refused > 0) {
                throw notKept();
            }
            return ByteBuffer.wrap(excess.toByteArray());
        }

        private IOException notKept() {
            return new IOException("The FileRegion has dropped " + refused + " bytes that the channel has not taken" +
                    " (expected: it writes them again in the next transferTo)");
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
    public FileRegion retain() {
        super.retain();
        return this;
    }

    @Override
    public FileRegion retain(int increment) {
        super.retain(increment);
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
    protected void deallocate() {
        region.release();
    }
}
