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
package unmodified;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.nio.NioEventLoop;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.nio.NioTask;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Uses of a loop of NIO other than for connections, and questions of a program to it. */
@SuppressWarnings("deprecation") // what programs have that were written for 4.1
public final class NioLoop {
    private NioLoop() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        NioEventLoop loop = (NioEventLoop) group.next();
        ask(loop);
        datagrams(group, true);
        pipe(loop);
        Channel listener = Ends.bind(Ends.server(group, NioServerSocketChannel.class));
        loop.rebuildSelector();
        ((NioEventLoopGroup) group).rebuildSelectors();
        Ends.exchange(group, NioSocketChannel.class, listener);
        datagrams(group, false);
        listener.close().sync();
        byHand(loop, group);
        Ends.end(group);
    }

    private static void ask(NioEventLoop loop) {
        System.out.println("provider: " + (loop.selectorProvider() == SelectorProvider.provider()));
        System.out.println("type: " + ((IoEventLoop) loop).isIoType(NioIoHandler.class));
        System.out.println("compatible: " + ((IoEventLoop) loop).isCompatible(NioIoHandle.class));
        System.out.println("channels: " + ((SingleThreadEventLoop) loop).registeredChannels());
    }

    private static void datagrams(EventLoopGroup group, boolean alone) throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        Channel server = datagramChannel(group, new SimpleChannelInboundHandler<DatagramPacket>() {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, DatagramPacket packet) {
                ctx.writeAndFlush(new DatagramPacket(packet.content().retain(), packet.sender()));
            }
        });
        Channel client = datagramChannel(group, new SimpleChannelInboundHandler<DatagramPacket>() {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, DatagramPacket packet) {
                answer.complete(packet.content().toString(java.nio.charset.StandardCharsets.UTF_8));
            }
        });
        ByteBuf question = client.alloc().buffer();
        question.writeCharSequence("datagram", java.nio.charset.StandardCharsets.UTF_8);
        client.writeAndFlush(new DatagramPacket(question, (java.net.InetSocketAddress) server.localAddress())).sync();
        System.out.println(answer.get(Ends.SECONDS, TimeUnit.SECONDS));
        if (alone) {
            System.out.println("channels: " + ((SingleThreadEventLoop) client.eventLoop()).registeredChannels());
        }
        client.close().sync();
        server.close().sync();
    }

    private static Channel datagramChannel(EventLoopGroup group, SimpleChannelInboundHandler<DatagramPacket> handler)
            throws InterruptedException {
        return new Bootstrap().group(group).channel(NioDatagramChannel.class).handler(handler).bind("127.0.0.1", 0)
                .sync().channel();
    }

    /** A channel of the JDK's own. */
    private static void pipe(NioEventLoop loop) throws Exception {
        Pipe pipe = Pipe.open();
        pipe.source().configureBlocking(false);
        CompletableFuture<Integer> read = new CompletableFuture<>();
        loop.register(pipe.source(), SelectionKey.OP_READ, new NioTask<SelectableChannel>() {
            @Override
            public void channelReady(SelectableChannel channel, SelectionKey key) throws Exception {
                read.complete(((Pipe.SourceChannel) channel).read(ByteBuffer.allocate(16)));
            }

            @Override
            public void channelUnregistered(SelectableChannel channel, Throwable cause) {
                System.out.println("unregistered");
            }
        });
        pipe.sink().write(ByteBuffer.allocate(7));
        System.out.println("from the pipe: " + read.get(Ends.SECONDS, TimeUnit.SECONDS));
    }

    /** Without a bootstrap. */
    private static void byHand(EventLoop loop, EventLoopGroup group) throws Exception {
        Channel listener = Ends.bind(Ends.server(group, NioServerSocketChannel.class));
        NioSocketChannel channel = new NioSocketChannel();
        Ends.Counter counter = new Ends.Counter(5);
        channel.pipeline().addLast(counter);
        loop.register(channel).sync();
        channel.connect(listener.localAddress()).sync();
        channel.writeAndFlush(channel.alloc().buffer().writeBytes(new byte[5]));
        System.out.println("by hand: " + counter.done.await(Ends.SECONDS, TimeUnit.SECONDS));
        channel.close().sync();
        listener.close().sync();
    }
}
