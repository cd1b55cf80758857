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
package io.netty.channel.rdma.ortcp;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * TLS on channels that decide when they connect, where the client ends its output and the server answers after that.
 */
class RdmaOrTcpTlsTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private static final int BYTES = 500_000;

    private static SslContext serverTls;
    private static SslContext clientTls;

    @BeforeAll
    static void makeCertificate() throws Exception {
        X509Bundle certificate = new CertificateBuilder().subject("cn=localhost").setIsCertificateAuthority(true)
                .buildSelfSigned();
        serverTls = SslContextBuilder.forServer(certificate.getKeyPair().getPrivate(),
                certificate.getCertificatePath()).sslProvider(SslProvider.JDK).build();
        clientTls = SslContextBuilder.forClient().trustManager(certificate.getCertificate())
                .endpointIdentificationAlgorithm(null).sslProvider(SslProvider.JDK).build();
    }

    /** Counts what comes; when no more does, tells how much it was, and closes. */
    private static final class Counter extends ChannelInboundHandlerAdapter {
        private int bytes;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            bytes += ((ByteBuf) msg).readableBytes();
            ((ByteBuf) msg).release();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) {
                ctx.writeAndFlush(ByteBufUtil.writeAscii(ctx.alloc(), "got " + bytes))
                        .addListener(ChannelFutureListener.CLOSE);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(RdmaOrTcpTransport.class)
    void answerComesAfterTheEndOfTheOutput(RdmaOrTcpTransport transport) throws InterruptedException {
        Channel server = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                .channel(RdmaOrTcpServerSocketChannel.class).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(serverTls.newHandler(channel.alloc()), new Counter());
                    }
                }).bind(RdmaOrTcpEnds.anyPort())).channel();
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        RdmaOrTcpRule rule = RdmaOrTcpRule.always(transport == RdmaOrTcpTransport.RDMA ? RdmaOrTcpChoice.RDMA_ONLY :
                RdmaOrTcpChoice.TCP_ONLY);
        RdmaOrTcpSocketChannel client = (RdmaOrTcpSocketChannel) TestTimeouts.sync(new Bootstrap().group(LOOPS.group())
                .channelFactory(() -> new RdmaOrTcpSocketChannel(rule)).option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(clientTls.newHandler(channel.alloc()),
                                new ChannelInboundHandlerAdapter() {
                                    @Override
                                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                                        events.add(((ByteBuf) msg).toString(StandardCharsets.US_ASCII));
                                        ((ByteBuf) msg).release();
                                    }
                                });
                    }
                }).connect(server.localAddress())).channel();
        TestTimeouts.sync(client.pipeline().get(SslHandler.class).handshakeFuture());
        assertThat(client.attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(transport);
        TestTimeouts.sync(client.writeAndFlush(client.alloc().directBuffer(BYTES).writeZero(BYTES)));
        TestTimeouts.sync(client.shutdownOutput());
        assertThat(client.isOutputShutdown()).isTrue();
        assertThat(client.isWritable()).isFalse();
        assertThat(TestTimeouts.take(events, "the answer")).isEqualTo("got " + BYTES);
        TestTimeouts.sync(client.close());
        TestTimeouts.sync(server.close());
    }
}
