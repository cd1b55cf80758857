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
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.rdma.connection.StreamCounters.Copy;
import io.netty.channel.rdma.memory.CellByteBuf;
import io.netty.channel.rdma.memory.DirectMemory;
import io.netty.channel.rdma.memory.RegisteredRanges;
import io.netty.channel.rdma.memory.RequestMemory;
import io.netty.channel.rdma.memory.Staging;
import io.netty.channel.rdma.stream.StreamMachine;
import io.netty.channel.rdma.stream.StreamWorkRequest;
import io.netty.channel.rdma.verbs.SendFlags;
import io.netty.channel.rdma.verbs.SendWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.PlatformDependent;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Makes work requests from messages. It decides which bytes are sent in place, which are copied, and which go into one
 * request. All requests of a flush are one chain, posted with one call.
 *
 * <p>There is one for each event loop. One connection at a time uses it, between {@link #begin} and {@link #end}.
 */
final class Gatherer implements ChannelOutboundBuffer.MessageProcessor, AutoCloseable {
    private static final int MAX_CHAIN = 64;
    /**
     * The most messages in flight. They come first in the buffer, so each flush passes over them, and the limit keeps
     * that cheap. It is enough for ten million messages a second with a round trip of 100 microseconds.
     */
    private static final int MAX_MESSAGES = 1024;
    /** The bytes of the longest message of the protocol that goes by a SEND. */
    private static final int MAX_MESSAGE_BYTES = 32;
    /** The most elements of a request. More are rarely useful, and each costs the device a fetch. */
    static final int MAX_ELEMENTS = 16;
    private static final boolean UNSAFE = PlatformDependent.hasUnsafe();

    private final SendWorkRequests chain = new SendWorkRequests(MAX_CHAIN, MAX_CHAIN * MAX_ELEMENTS);
    private final Staging staging = new Staging();
    private SendPath target;
    private StreamMachine stream;

    /** Bytes at the head of the messages that were posted before. */
    private long skip;
    private int seen;
    private boolean complete;
    private boolean starved;
    private Exception failure;

    // The work request that is being put together.
    private final long[] addresses = new long[MAX_ELEMENTS];
    private final int[] lengths = new int[MAX_ELEMENTS];
    private final int[] keys = new int[MAX_ELEMENTS];
    private int elements;
    private int length;
    private int room;
    /**
     * Bytes that are still in the unregistered memory of their messages. If there are any, this is true of all bytes of
     * the request. They are few enough to be sent inline, so the post reads them.
     */
    private int unstaged;
    private int copied;
    /** The parts of {@code copied}, by the ordinal of their cause. */
    private final int[] copies = new int[Copy.values().length];
    /** The memory is registered, but not with this device. */
    private boolean unregistered;
    private ByteBuf staged;
    private int stagedFrom;

    /** The staging memory of inline bytes, with a reference. It is free again after the post. */
    private ByteBuf inlined;
    private int inlinedFrom;
    private int inlinedTo;

    /** Messages of the protocol that go by SENDs, one for each work request, until the post has copied them. */
    private final ByteBuffer messages = ByteBuffer.allocateDirect(MAX_CHAIN * MAX_MESSAGE_BYTES)
            .order(ByteOrder.nativeOrder());
    private final long messagesAddress = DirectMemory.address(messages);

    /** A promise, or memory, waits for the completion of a request of the chain. */
    private boolean awaited;
    private boolean posted;

    /** Returns false if the object is in use, because user code that ran in the middle of a flush has flushed again. */
    boolean begin(SendPath path) {
        if (target != null) {
            return false;
        }
        target = path;
        stream = path.stream;
        chain.clear();
        starved = false;
        awaited = false;
        posted = false;
        return true;
    }

    /** Posts the requests that were added. Returns whether any were posted since {@link #begin}. */
    boolean end() {
        try {
            if (awaited && !chain.isEmpty() && !stream.sendQueue().isSignalled()) {
                // The promise of the last message of a flush must not have to wait for the next flush.
                chain.addFlags(SendFlags.SIGNALED);
                stream.sendQueue().signal();
            }
            post();
            return posted;
        } finally {
            target = null;
            stream = null;
        }
    }

    /** Adds a control message. */
    void control(StreamWorkRequest request) throws VerbsException {
        int flags = request.signalled() ? SendFlags.SIGNALED : 0;
        ensureRoomInChain();
        switch (request.kind()) {
        case KEEP_ALIVE:
            chain.write(request.sequence(), flags, 0, 0);
            break;
        case MESSAGE:
            messages.put(messageOffset(), request.message());
            send(request, flags, request.message().length);
            break;
        case ADVERTISE:
            if (target.isEntryInline(request)) {
                flags |= SendFlags.INLINE;
            }
            write(request, flags);
            target.addEntry(request, chain);
            message(request, flags);
            break;
        default:
            if (!target.device.iwarp) {
                write(request, flags);
            }
            message(request, flags);
        }
        target.added(request, 0, null, true);
    }

    /**
     * Adds as much of the flushed messages as may be sent now.
     *
     * @return whether all of them were added.
     */
    boolean gather(OutboundMessages flushed) throws Exception {
        skip = flushed.sentOrInFlight();
        seen = 0;
        complete = true;
        failure = null;
        try {
            flushed.forEach(this);
            if (failure != null) {
                throw failure;
            }
            finish();
        } finally {
            discard();
        }
        return complete;
    }

    /** Returns whether to try again later, because there was no memory to copy to, or a file region gave nothing. */
    boolean isStarved() {
        return starved;
    }

    @Override
    public boolean processMessage(Object msg) {
        if (++seen > MAX_MESSAGES) {
            complete = false;
            return false;
        }
        try {
            complete = msg instanceof ByteBuf ? buffer((ByteBuf) msg) : region((OutboundRegion) msg);
        } catch (Exception e) {
            failure = e;
            complete = false;
        }
        return complete;
    }

    private boolean buffer(ByteBuf buf) throws Exception {
        int readable = buf.readableBytes();
        if (skip >= readable) {
            skip -= readable;
            return true;
        }
        int offset = (int) skip;
        skip = 0;
        return bytes(buf, buf.readerIndex() + offset, readable - offset);
    }

    private boolean bytes(ByteBuf buf, int index, int count) throws Exception {
        if (buf.hasMemoryAddress()) {
            RequestMemory memory = count > target.copyThreshold ?
                    registered(RegisteredRanges.retainedFind(buf, index, count)) : null;
            return memory == null ? copy(buf, index, count, why(count)) :
                    inPlace(memory, buf.memoryAddress() + index, count);
        }
        if (buf instanceof CompositeByteBuf) {
            for (ByteBuf component : ((CompositeByteBuf) buf).decompose(index, count)) {
                if (!bytes(component, component.readerIndex(), component.readableBytes())) {
                    return false;
                }
            }
            return true;
        }
        if (count > target.copyThreshold) {
            return buf.isDirect() ? pieces(buf.nioBuffers(index, count)) : copy(buf, index, count, Copy.SENT_HEAP);
        }
        return copy(buf, index, count, Copy.SENT_SMALL);
    }

    /**
     * Adds a slice of a composite buffer, which does not show its components, but only the addresses of their bytes.
     * HTTP/2 makes such slices for frames of a message that was queued in several buffers.
     */
    private boolean pieces(ByteBuffer[] pieces) throws Exception {
        for (ByteBuffer piece : pieces) {
            int count = piece.remaining();
            long address = DirectMemory.address(piece) + piece.position();
            RequestMemory memory = count > target.copyThreshold ?
                    registered(RegisteredRanges.retainedFind(address, count)) : null;
            if (!(memory == null ? copy(Unpooled.wrappedBuffer(piece), 0, count, why(count)) :
                    inPlace(memory, address, count))) {
                return false;
            }
        }
        return true;
    }

    /** Returns the memory. If the device can't send from it, gives the reference back and returns {@code null}. */
    private RequestMemory registered(RequestMemory memory) {
        unregistered = memory != null && memory.range().regionOrNull(target.device) == null;
        if (unregistered) {
            memory.release();
            return null;
        }
        return memory;
    }

    /** Returns why bytes of native memory are copied, after {@link #registered} has returned {@code null}. */
    private Copy why(int count) {
        return count <= target.copyThreshold ? Copy.SENT_SMALL
                : unregistered ? Copy.SENT_UNREGISTERED : Copy.SENT_FOREIGN;
    }

    /** Takes over the reference to the memory, and one more for each further work request. */
    private boolean inPlace(RequestMemory memory, long address, int count) throws Exception {
        RequestMemory reference = memory;
        try {
            if (unstaged > 0 && !stageUnstaged()) {
                return false;
            }
            int key = memory.range().region(target.device).lkey();
            for (int done = 0; done < count;) {
                int n = Math.min(count - done, open());
                if (n <= 0) {
                    return false;
                }
                add(address + done, n, key);
                done += n;
                if (done < count) {
                    memory.retain();
                } else {
                    reference = null;
                }
                target.ring.sendInPlace(memory);
            }
            return true;
        } finally {
            if (reference != null) {
                reference.release();
            }
        }
    }

    private boolean copy(ByteBuf buf, int index, int count, Copy why) throws Exception {
        boolean small = UNSAFE && why == Copy.SENT_SMALL && unstaged == length && length + count <= target.maxInline &&
                buf.hasMemoryAddress();
        if (unstaged > 0 && (!small || elements == target.maxElements) && !stageUnstaged()) {
            return false;
        }
        if (small && open() >= count && unstaged == length) {
            add(buf.memoryAddress() + index, count, 0);
            unstaged += count;
            return true;
        }
        for (int done = 0; done < count;) {
            int n = openStaged(count - done, count - done);
            if (n == 0) {
                return false;
            }
            staged.writeBytes(buf, index + done, n);
            addStaged(n, why);
            done += n;
        }
        return true;
    }

    private boolean region(OutboundRegion region) throws Exception {
        skip -= region.inFlight();
        if (unstaged > 0 && !stageUnstaged()) {
            return false;
        }
        while (!region.isRead()) {
            if (region.failure() != null) {
                if (length > 0 || target.isInFlight()) {
                    // Messages before this one must not fail with it.
                    return false;
                }
                throw region.failure();
            }
            int n = openStaged(Integer.MAX_VALUE, (int) Math.min(Staging.CHUNK, region.unread()));
            if (n == 0) {
                return false;
            }
            n = region.read(staged, n);
            if (n > 0) {
                addStaged(n, Copy.SENT_FILE_REGION);
            } else if (region.failure() == null) {
                starved = true;
                return false;
            }
        }
        return true;
    }

    /** Releases the memory of the loop. */
    @Override
    public void close() {
        staging.close();
    }

    /** Returns the number of bytes that fit into the work request, beginning another one if necessary; or 0. */
    private int open() throws Exception {
        if (length > 0 && (room == 0 || elements == target.maxElements)) {
            finish();
        }
        if (length == 0) {
            room = (int) Math.min(stream.writable(), target.messageRoom());
        }
        return room;
    }

    /** Does the same up to a maximum, and ensures staging memory for the bytes, of which so many are expected. */
    private int openStaged(int max, int expected) throws Exception {
        for (;;) {
            int n = Math.min(max, open());
            if (n <= 0 || !stage(expected)) {
                return 0;
            }
            if (staged.isWritable()) {
                return Math.min(n, staged.writableBytes());
            }
            finish();
        }
    }

    /** Ensures that the work request has staging memory, which may have no room left. */
    private boolean stage(int count) {
        if (staged == null) {
            staged = staging.take(count, target.ring.staged());
            if (staged == null) {
                starved = true;
                return false;
            }
            stagedFrom = staged.writerIndex();
        }
        return true;
    }

    /** Copies the {@link #unstaged} bytes to staging memory, because more follow than can be inline. */
    private boolean stageUnstaged() throws VerbsException {
        int bytes = unstaged;
        if (!stage(bytes) || staged.writableBytes() < bytes) {
            return false;
        }
        long to = staged.memoryAddress() + staged.writerIndex();
        for (int i = 0; i < elements; i++) {
            PlatformDependent.copyMemory(addresses[i], to, lengths[i]);
            to += lengths[i];
        }
        staged.writerIndex(staged.writerIndex() + bytes);
        unstaged = 0;
        elements = 0;
        length = 0;
        room += bytes;
        addStaged(bytes, Copy.SENT_SMALL);
        return true;
    }

    /** Adds the last bytes of the staging memory to the request. */
    private void addStaged(int count, Copy why) throws VerbsException {
        long address = staged.memoryAddress() + staged.writerIndex() - count;
        copied += count;
        copies[why.ordinal()] += count;
        int key = ((CellByteBuf) staged).cell().range().region(target.device).lkey();
        int last = elements - 1;
        if (last >= 0 && addresses[last] + lengths[last] == address && keys[last] == key) {
            lengths[last] += count;
            length += count;
            room -= count;
        } else {
            add(address, count, key);
        }
    }

    private void add(long address, int count, int key) {
        addresses[elements] = address;
        lengths[elements] = count;
        keys[elements] = key;
        elements++;
        length += count;
        room -= count;
    }

    /** Puts the work request into the chain. */
    private void finish() {
        if (length == 0) {
            return;
        }
        ensureRoomInChain();
        StreamWorkRequest request = stream.write(length);
        boolean inline = length <= target.maxInline;
        int flags = (request.signalled() ? SendFlags.SIGNALED : 0) | (inline ? SendFlags.INLINE : 0);
        write(request, flags);
        for (int i = 0; i < elements; i++) {
            chain.addSge(addresses[i], lengths[i], keys[i]);
        }
        message(request, flags);
        ByteBuf memory = staged;
        staged = null;
        if (inline && memory != null && keepUntilPosted(memory)) {
            memory = null;
        }
        boolean isCopied = inline && memory == null && copied + unstaged == length && !target.isPeerAwaited();
        awaited |= !isCopied;
        target.added(request, length, memory, isCopied);
        if (inline) {
            target.counters.sentInline(length);
        } else {
            target.counters.sent(length, copied, copies);
        }
        clear();
    }

    /** Begins the RDMA WRITE of a request. Its immediate data is the message, except on iWARP, which has none. */
    private void write(StreamWorkRequest request, int flags) {
        if (target.device.iwarp) {
            chain.write(request.sequence(), flags & ~SendFlags.SIGNALED, request.remoteAddress(),
                    request.remoteKey());
        } else {
            chain.writeWithImmediate(request.sequence(), flags, request.remoteAddress(), request.remoteKey(),
                    request.immediate());
        }
    }

    /** On iWARP, which has no immediate data, adds the SEND of the message, in host order as librdmacm does. */
    private void message(StreamWorkRequest request, int flags) {
        if (target.device.iwarp) {
            messages.putInt(messageOffset(), request.immediate());
            send(request, flags, Integer.BYTES);
        }
    }

    /** The place of the bytes of the next SEND. */
    private int messageOffset() {
        return chain.size() * MAX_MESSAGE_BYTES;
    }

    /** Adds the SEND of the bytes at {@link #messageOffset()}. */
    private void send(StreamWorkRequest request, int flags, int bytes) {
        long address = messagesAddress + messageOffset();
        chain.send(request.sequence(), flags & SendFlags.SIGNALED | SendFlags.INLINE).addSge(address, bytes, 0);
    }

    /**
     * Keeps the memory of inline bytes until the post, which reads them. If the memory were released before, the next
     * piece of the same flush could use it.
     *
     * @return whether the reference was taken over; if not, the bytes stay until their completion, like others.
     */
    private boolean keepUntilPosted(ByteBuf memory) {
        if (inlined == null) {
            inlined = memory;
            inlinedFrom = stagedFrom;
        } else if (inlined == memory && inlinedTo == stagedFrom) {
            memory.release();
        } else {
            return false;
        }
        inlinedTo = memory.writerIndex();
        return true;
    }

    /** Drops a work request that can't be finished. */
    private void discard() {
        if (staged != null) {
            staging.rewind(staged, stagedFrom);
            staged.release();
            staged = null;
        }
        target.ring.discardNext();
        clear();
    }

    private void clear() {
        elements = 0;
        length = 0;
        unstaged = 0;
        if (copied > 0) {
            copied = 0;
            Arrays.fill(copies, 0);
        }
    }

    private void ensureRoomInChain() {
        if (chain.remaining() < 2) {
            // A message may take two.
            post();
        }
    }

    private void post() {
        if (!chain.isEmpty()) {
            target.postChain(chain);
            posted = true;
            chain.clear();
        }
        if (inlined != null) {
            if (inlined.writerIndex() == inlinedTo) {
                staging.rewind(inlined, inlinedFrom);
            }
            inlined.release();
            inlined = null;
        }
    }
}
