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
package io.netty.example.rdma.echo;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

class EchoTest {
    // A kernel device has no loopback address.
    private static final String HOST = TestAddress.HOST;
    // Not a multiple of anything, and many times what is in flight at once.
    private static final int FILE_BYTES = 10_000_019;

    @TempDir
    private Path folder;
    private Path file;
    private EventLoopGroup group;
    private Channel server;

    @BeforeEach
    void writeFile() throws IOException {
        byte[] content = new byte[FILE_BYTES];
        new Random(1).nextBytes(content);
        file = Files.write(folder.resolve("file"), content);
    }

    @AfterEach
    void stopServer() throws InterruptedException {
        if (server != null) {
            TestTimeouts.sync(server.close());
            TestTimeouts.shutdown(group);
        }
    }

    @ParameterizedTest
    @EnumSource
    void fileComesBackIntact(Transport transport) throws Exception {
        assertThat(sendFile(transport, serve(transport, new EchoServerHandler()))).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void emptyFileComesBackIntact(Transport transport) throws Exception {
        Files.write(file, new byte[0]);
        assertThat(sendFile(transport, serve(transport, new EchoServerHandler()))).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void oneWrongBitIsNoticed(Transport transport) throws Exception {
        assertThat(sendFile(transport, serve(transport, new BitFlipper(), new EchoServerHandler()))).isOne();
    }

    @ParameterizedTest
    @EnumSource
    void serverThatClosesEarlyIsNoticed(Transport transport) throws Exception {
        assertThat(sendFile(transport, serve(transport, new Hasty()))).isOne();
    }

    @ParameterizedTest
    @EnumSource
    void nobodyListeningIsAnErrorAndNotAHang(Transport transport) throws Exception {
        int port = serve(transport, new EchoServerHandler());
        TestTimeouts.sync(server.close());
        assertThat(sendFile(transport, port)).isOne();
    }

    private int serve(Transport transport, ChannelHandler... handlers) throws InterruptedException {
        Throwable cause = transport.unavailabilityCause();
        if (transport == Transport.RDMA) {
            assertThat(cause).isNull();
        }
        assumeThat(cause).as(() -> transport + " is not available here").isNull();
        group = transport.newGroup(1, Waiting.DEFAULT);
        server = TestTimeouts.sync(new ServerBootstrap()
                .group(group)
                .channel(transport.serverChannelType())
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(handlers);
                    }
                })
                .bind(transport.address(HOST, 0))).channel();
        return transport.port(server);
    }

    private int sendFile(Transport transport, int port) throws Exception {
        return TestTimeouts.result(CompletableFuture.supplyAsync(() -> Commands.run(new EchoClient(), "--transport",
                transport.toString(), "--host", HOST, "--port", Integer.toString(port), "--file", file.toString())));
    }

    /** Flips one bit of what has arrived when half of the file has. */
    private static final class BitFlipper extends ChannelInboundHandlerAdapter {
        private int received;
        private boolean flipped;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf data = (ByteBuf) msg;
            received += data.readableBytes();
            if (!flipped && received > FILE_BYTES / 2) {
                flipped = true;
                data.setByte(data.readerIndex(), data.getByte(data.readerIndex()) ^ 1);
            }
            ctx.fireChannelRead(msg);
        }
    }

    /** Closes when the first bytes have arrived. */
    private static final class Hasty extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ((ByteBuf) msg).release();
            ctx.close();
        }
    }
}
