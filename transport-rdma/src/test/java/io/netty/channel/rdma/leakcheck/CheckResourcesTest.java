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
package io.netty.channel.rdma.leakcheck;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Native;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

import java.io.Closeable;
import java.io.FileInputStream;
import java.net.ServerSocket;
import java.nio.channels.Pipe;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.testkit.engine.EventConditions.container;
import static org.junit.platform.testkit.engine.EventConditions.event;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.instanceOf;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

@Tag("quick")
class CheckResourcesTest {
    private static final int ENGINE_AND_CLASS = 2;
    private static final String SHORT = "100";
    private static final String LONG = Long.toString(TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));

    /** Resource that the test class has left behind. */
    private static Closeable left;

    @AfterEach
    void close() throws Exception {
        if (left != null) {
            left.close();
            left = null;
        }
    }

    @Test
    void classThatLeavesASocketFails() {
        assertFailure(LeavesSocket.class, "socket=1 of [");
    }

    @Test
    void classThatLeavesAnEventfdFails() {
        assertFailure(LeavesEventfd.class, "[eventfd]=1 of [");
    }

    @Test
    void classThatLeavesAPipeFails() {
        assertFailure(LeavesPipe.class, "pipe=2 of [");
    }

    @Test
    void classThatLeavesAFileFails() {
        assertFailure(LeavesFile.class, "/proc/version=1 of [");
    }

    @Test
    void classThatLeavesAnEventLoopFails() {
        assertFailure(LeavesEventLoop.class, "[eventpoll]=1 of [");
    }

    @Test
    void classThatLeavesANativeObjectFails() {
        assertFailure(LeavesEventChannel.class, "event channel=1");
    }

    @Test
    void classThatKeepsAReceivedBufferFailsForTheMemoryThatItPins() {
        assertFailure(KeepsReceivedBuffer.class, "memory region=1, pinned bytes=");
    }

    @Test
    void classThatClosesWhatItOpensPasses() {
        run(ClosesWhatItOpens.class, SHORT).assertStatistics(stats -> stats.succeeded(ENGINE_AND_CLASS).failed(0));
    }

    @Test
    void classOfWhichItIsKnownThatItLeavesSocketsPasses() {
        run(builder(LeavesSocket.class, SHORT)
                .configurationParameter(CheckResources.LEFT_BY + "LeavesSocket", "socket"))
                .assertStatistics(stats -> stats.succeeded(ENGINE_AND_CLASS).failed(0));
    }

    @Test
    void classMayGiveThingsBackAfterItsEnd() {
        run(ClosesLater.class, LONG).assertStatistics(stats -> stats.succeeded(ENGINE_AND_CLASS).failed(0));
        left = null;
    }

    private static void assertFailure(Class<?> type, String expected) {
        run(type, SHORT).assertThatEvents().haveExactly(1, event(container(type),
                finishedWithFailure(instanceOf(AssertionError.class), message(text -> text.contains(expected)))));
    }

    private static Events run(Class<?> type, String settleMillis) {
        return run(builder(type, settleMillis));
    }

    private static Events run(EngineTestKit.Builder builder) {
        EngineExecutionResults results = builder.execute();
        results.testEvents().assertStatistics(stats -> stats.started(1).succeeded(1));
        return results.containerEvents();
    }

    private static EngineTestKit.Builder builder(Class<?> type, String settleMillis) {
        return EngineTestKit.engine("junit-jupiter").selectors(selectClass(type))
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
                .configurationParameter(CheckResources.SETTLE_MILLIS, settleMillis);
    }

    static class LeavesSocket {
        @Test
        void open() throws Exception {
            left = new ServerSocket(0);
        }
    }

    static class LeavesEventfd {
        @Test
        void open() {
            left = Native.newEventFd()::close;
        }
    }

    static class LeavesPipe {
        @Test
        void open() throws Exception {
            Pipe pipe = Pipe.open();
            left = () -> {
                pipe.source().close();
                pipe.sink().close();
            };
        }
    }

    static class LeavesFile {
        @Test
        void open() throws Exception {
            left = new FileInputStream("/proc/version");
        }
    }

    static class LeavesEventLoop {
        @Test
        void open() {
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            left = () -> shutdown(group);
        }
    }

    static class LeavesEventChannel {
        @Test
        void open() throws Exception {
            left = EventChannel.create()::close;
        }
    }

    static class KeepsReceivedBuffer {
        @Test
        void receive() throws Exception {
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            try {
                LinkedBlockingQueue<ByteBuf> received = new LinkedBlockingQueue<>();
                Channel server = new ServerBootstrap().group(group).channel(RdmaServerSocketChannel.class)
                        .childHandler(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                                received.add((ByteBuf) msg);
                            }
                        }).bind("127.0.0.1", 0).sync().channel();
                Channel client = new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                        .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
                // Large enough to be a slice of the memory where it arrived.
                client.writeAndFlush(client.alloc().directBuffer().writeZero(32 << 10)).sync();
                left = received.poll(TestTimeouts.SECONDS, TimeUnit.SECONDS)::release;
            } finally {
                shutdown(group);
            }
        }
    }

    static class ClosesWhatItOpens {
        @Test
        void openAndClose() throws Exception {
            new ServerSocket(0).close();
            shutdown(new RdmaEventLoopGroup(1));
        }
    }

    static class ClosesLater {
        @Test
        void open() throws Exception {
            ServerSocket socket = new ServerSocket(0);
            left = socket;
            GlobalEventExecutor.INSTANCE.schedule(() -> {
                socket.close();
                return null;
            }, 100, TimeUnit.MILLISECONDS);
        }
    }

    private static void shutdown(EventLoopGroup group) {
        assertThat(group.shutdownGracefully(0, TestTimeouts.SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
    }
}
