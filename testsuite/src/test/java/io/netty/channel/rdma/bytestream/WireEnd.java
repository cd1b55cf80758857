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
package io.netty.channel.rdma.bytestream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.socket.ChannelInputShutdownEvent;

import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The last handler of a channel at one end of the {@link Wire}: notes what happens, and the checksum of what arrives.
 */
final class WireEnd extends ChannelInboundHandlerAdapter {
    private static final int WRITE = 16_384;

    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
    private final BlockingQueue<Long> progress = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failed = new LinkedBlockingQueue<>();
    private final CRC32C received = new CRC32C();
    private long receivedBytes;
    private final CountDownLatch unregistered = new CountDownLatch(1);
    private volatile Channel channel;

    Channel channel() {
        return channel;
    }

    /** Sends random bytes and then shuts the output down; returns their checksum. */
    long send(int bytes, long seed) {
        CRC32C sent = new CRC32C();
        SplittableRandom random = new SplittableRandom(seed);
        for (int done = 0; done < bytes; done += WRITE) {
            byte[] content = new byte[Math.min(WRITE, bytes - done)];
            random.nextBytes(content);
            sent.update(content);
            channel.writeAndFlush(channel.alloc().directBuffer(content.length).writeBytes(content));
        }
        ((RdmaSocketChannel) channel).shutdownOutput();
        return sent.getValue();
    }

    /** Writes without end. */
    void flood() {
        for (int i = 0; i < 100; i++) {
            channel.eventLoop().execute(this::floodOn);
        }
    }

    private void floodOn() {
        ChannelFuture write = channel.writeAndFlush(channel.alloc().directBuffer(WRITE).writeZero(WRITE));
        write.addListener(future -> {
            if (future.isSuccess()) {
                channel.eventLoop().execute(this::floodOn);
            } else {
                failed.add(future.cause());
            }
        });
    }

    /** The connection breaks. All that was being written fails and says why, and the pipeline gets no exception. */
    void awaitFailedWrites(String... words) throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            assertFailure(TestTimeouts.take(failed, "a write that fails"), words);
        }
        assertThat(TestTimeouts.take(events, "channelInactive")).isEqualTo("inactive");
    }

    /** Waits until so many bytes have arrived. */
    void awaitBytes(long bytes) throws InterruptedException {
        while (TestTimeouts.take(progress, "bytes") < bytes) {
            continue;
        }
    }

    void forgetBytes() {
        progress.clear();
    }

    /** The peer has sent all it wanted; returns the checksum. */
    long awaitEnd() throws InterruptedException {
        assertThat(TestTimeouts.take(events, "the end of the input")).isSameAs(ChannelInputShutdownEvent.INSTANCE);
        synchronized (received) {
            return received.getValue();
        }
    }

    /**
     * The connection breaks while nothing is being written: an exception says so, and the input ends. As half closure
     * is allowed, it is the next write that closes the channel.
     */
    void awaitFailure(String... words) throws InterruptedException {
        assertFailure(TestTimeouts.take(events, "an exception"), words);
        assertThat(TestTimeouts.take(events, "the end of the input")).isSameAs(ChannelInputShutdownEvent.INSTANCE);
        ChannelFuture write = TestTimeouts.await(channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[1])));
        assertFailure(write.cause(), "Broken pipe");
        assertThat(TestTimeouts.take(events, "channelInactive")).isEqualTo("inactive");
    }

    private void assertFailure(Object failure, String... words) {
        assertThat(failure).isInstanceOf(Exception.class).asString().containsAnyOf(words)
                .contains(channel.remoteAddress() == null ? "" : channel.remoteAddress().toString());
    }

    /** The channel is given up, whether it was active or not. */
    void awaitUnregistered() throws InterruptedException {
        assertThat(unregistered.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    /** Nothing has happened but that bytes arrived. */
    boolean isQuiet() {
        return events.isEmpty();
    }

    @Override
    public void channelUnregistered(ChannelHandlerContext ctx) {
        unregistered.countDown();
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        channel = ctx.channel();
        progress.add(0L);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf buf = (ByteBuf) msg;
        synchronized (received) {
            received.update(buf.nioBuffer());
        }
        receivedBytes += buf.readableBytes();
        buf.release();
        progress.add(receivedBytes);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            events.add(event);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        events.add(cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        events.add("inactive");
    }
}
