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
package io.netty.channel.rdma.valkey;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.EventRecorder;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/** A server and a client in this process, each with a {@link Recorder} at the end of its pipeline. */
final class ConnectedPair implements AutoCloseable {
    final Recorder clientEvents = new Recorder();
    final Recorder serverEvents = new Recorder();
    final RdmaValkeyServerSocketChannel listener;
    final RdmaValkeySocketChannel client;
    final RdmaValkeySocketChannel server;

    ConnectedPair(EventLoopGroup group, Consumer<ServerBootstrap> serverOptions, Consumer<Bootstrap> clientOptions)
            throws Exception {
        ServerBootstrap serverBootstrap = new ServerBootstrap().group(group)
                .channel(RdmaValkeyServerSocketChannel.class).childHandler(serverEvents);
        serverOptions.accept(serverBootstrap);
        listener = (RdmaValkeyServerSocketChannel)
                TestTimeouts.sync(serverBootstrap.bind(TestAddress.anyPort())).channel();
        Bootstrap clientBootstrap = new Bootstrap().group(group).channel(RdmaValkeySocketChannel.class)
                .handler(clientEvents);
        clientOptions.accept(clientBootstrap);
        client = (RdmaValkeySocketChannel)
                TestTimeouts.sync(clientBootstrap.connect(listener.localAddress())).channel();
        assertThat(serverEvents.next()).isEqualTo("active");
        assertThat(clientEvents.next()).isEqualTo("active");
        server = (RdmaValkeySocketChannel) serverEvents.channel();
    }

    @Override
    public void close() {
        assertThat(client.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(server.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(listener.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        clientEvents.release();
        serverEvents.release();
    }

    /** Records what happens to a channel. Received buffers are kept until {@link #read}. */
    static final class Recorder extends EventRecorder {
        private final BlockingQueue<ByteBuf> bytes = new LinkedBlockingQueue<>();
        private ByteBuf rest;

        /** Waits for that many bytes and returns them. */
        byte[] read(int length) throws InterruptedException {
            ByteBuf all = Unpooled.buffer(length, length);
            while (all.isWritable()) {
                if (rest == null) {
                    rest = TestTimeouts.take(bytes, "bytes");
                }
                all.writeBytes(rest, Math.min(rest.readableBytes(), all.writableBytes()));
                if (!rest.isReadable()) {
                    rest.release();
                    rest = null;
                }
            }
            return all.array();
        }

        boolean hasBytes() {
            return rest != null || !bytes.isEmpty();
        }

        void release() {
            if (rest != null) {
                rest.release();
                rest = null;
            }
            for (ByteBuf buf; (buf = bytes.poll()) != null;) {
                buf.release();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            bytes.add((ByteBuf) msg);
        }
    }
}
