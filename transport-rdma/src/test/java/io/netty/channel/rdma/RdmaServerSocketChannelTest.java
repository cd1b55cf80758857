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
package io.netty.channel.rdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.BindException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("quick")
@Tag("rxe-quick")
@Tag("stalls")
class RdmaServerSocketChannelTest {
    @RegisterExtension
    final LoopGroupExtension loops = new LoopGroupExtension(2);
    private final BlockingQueue<ConnectedPair.Recorder> accepted = new LinkedBlockingQueue<>();

    @Test
    void clientsAreConnectedAndMaySendBeforeTheListenerReads() throws Exception {
        RdmaServerSocketChannel listener = listen(16, false);
        List<Channel> clients = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Channel client = connect(listener, new ConnectedPair.Recorder()).channel();
            sync(client.writeAndFlush(Unpooled.copyInt(i)));
            clients.add(client);
        }
        assertThat(accepted).isEmpty();
        listener.config().setAutoRead(true);
        for (int i = 0; i < 5; i++) {
            ConnectedPair.Recorder recorder = next();
            assertThat(recorder.next()).isEqualTo("active");
            int number = recorder.read(4)[3];
            sync(recorder.channel().writeAndFlush(Unpooled.copyInt(number + 100)));
        }
        for (Channel client : clients) {
            assertThat(client.pipeline().get(ConnectedPair.Recorder.class).read(4)[3]).isBetween((byte) 100,
                    (byte) 104);
            sync(client.close());
        }
        sync(listener.close());
    }

    @Test
    void clientThatLeftInOrderBeforeItWasReadHasSaidWhatItSaid() throws Exception {
        RdmaServerSocketChannel listener = listen(16, false);
        Channel client = connect(listener, new ConnectedPair.Recorder()).channel();
        sync(client.writeAndFlush(Unpooled.copyInt(5)));
        sync(client.close());
        listener.config().setAutoRead(true);
        ConnectedPair.Recorder recorder = next();
        assertThat(recorder.next()).isEqualTo("active");
        assertThat(recorder.read(4)[3]).isEqualTo((byte) 5);
        assertThat(recorder.next()).isEqualTo("inactive");
        sync(listener.close());
    }

    @Test
    void childThatCannotBeConfiguredIsRejectedWithTheReason() throws Exception {
        Channel listener = sync(new ServerBootstrap().group(loops.group()).channel(RdmaServerSocketChannel.class)
                .childOption(RdmaChannelOption.SEND_QUEUE_DEPTH, 1).childHandler(new ChannelInboundHandlerAdapter())
                .bind(TestAddress.anyPort())).channel();
        assertThat(refusal(listener)).hasMessageContaining("SEND_QUEUE_DEPTH: 1 (expected: ");
        sync(listener.close());
    }

    @Test
    void childWhoseLoopsServeOtherChannelsIsRejectedWithTheReason() throws Exception {
        EventLoopGroup epoll = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        try {
            Channel listener = sync(new ServerBootstrap().group(loops.group(), epoll)
                    .channel(RdmaServerSocketChannel.class).childHandler(new ChannelInboundHandlerAdapter())
                    .bind(TestAddress.anyPort())).channel();
            assertThat(refusal(listener)).hasMessageContaining("RdmaSocketChannel can't be registered with ");
            sync(listener.close());
        } finally {
            TestTimeouts.shutdown(epoll);
        }
    }

    private Throwable refusal(Channel listener) throws InterruptedException {
        Throwable cause = TestTimeouts.await(new Bootstrap().group(loops.group()).channel(RdmaSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(listener.localAddress())).cause();
        assertThat(cause).isInstanceOf(ConnectException.class).hasMessageContaining("the server can't accept: ");
        return cause;
    }

    @Test
    void fullBacklogRejectsWithTheReason() throws Exception {
        RdmaServerSocketChannel listener = listen(2, false);
        List<Channel> clients = new ArrayList<>();
        clients.add(connect(listener, new ConnectedPair.Recorder()).channel());
        clients.add(connect(listener, new ConnectedPair.Recorder()).channel());
        ChannelFuture refused = tryConnect(listener, new ConnectedPair.Recorder());
        assertThat(refused.cause()).isInstanceOf(ConnectException.class).hasMessageContaining("backlog")
                .hasMessageContaining(String.valueOf(listener.localAddress().getPort()));

        listener.read();
        assertThat(next().next()).isEqualTo("active");
        assertThat(accepted).as("one read() is one connection").isEmpty();
        clients.add(connect(listener, new ConnectedPair.Recorder()).channel());
        for (Channel client : clients) {
            sync(client.close());
        }
        sync(listener.close());
    }

    @Test
    void closedListenerReleasesConnectionsThatNobodyRead() throws Exception {
        int queuePairs = VerbsResource.QUEUE_PAIR.live();
        int queues = VerbsResource.COMPLETION_QUEUE.live();
        RdmaServerSocketChannel listener = listen(16, false);
        ConnectedPair.Recorder recorder = new ConnectedPair.Recorder();
        Channel client = connect(listener, recorder).channel();
        assertThat(recorder.next()).isEqualTo("active");
        sync(listener.close());
        assertThat(recorder.next()).isNotEqualTo("active");
        sync(client.closeFuture());
        loops.shutdown();
        assertThat(VerbsResource.QUEUE_PAIR.live()).isEqualTo(queuePairs);
        assertThat(VerbsResource.COMPLETION_QUEUE.live()).isEqualTo(queues);
    }

    @Test
    void portCanBeBoundAgainAfterTheClose() throws Exception {
        RdmaServerSocketChannel listener = listen(16, true);
        ServerBootstrap again = bootstrap(16, true);
        assertThatThrownBy(() -> again.bind(listener.localAddress()).sync()).isInstanceOf(BindException.class)
                .hasMessageContaining(String.valueOf(listener.localAddress().getPort()));
        sync(listener.close());
        sync(again.bind(listener.localAddress()).sync().channel().close());
    }

    @Test
    void optionsAreKeptAndChecked() {
        RdmaServerSocketChannel listener = new RdmaServerSocketChannel();
        assertThat(listener.config().setOption(ChannelOption.SO_BACKLOG, 7)).isTrue();
        assertThat(listener.config().getOption(ChannelOption.SO_BACKLOG)).isEqualTo(7);
        assertThat(listener.config().setOption(ChannelOption.SO_REUSEADDR, true)).isTrue();
        assertThat(listener.config().isReuseAddress()).isTrue();
        assertThat(listener.config().getOptions()).containsEntry(ChannelOption.SO_BACKLOG, 7)
                .containsKeys(ChannelOption.SO_RCVBUF, ChannelOption.IP_TOS);
        assertThatThrownBy(() -> listener.config().setOption(ChannelOption.SO_BACKLOG, -1))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("SO_BACKLOG")
                .hasMessageContaining("-1");
        listener.unsafe().closeForcibly();
    }

    private ServerBootstrap bootstrap(int backlog, boolean autoRead) {
        return new ServerBootstrap().group(loops.group()).channel(RdmaServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, backlog).option(ChannelOption.AUTO_READ, autoRead)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ConnectedPair.Recorder recorder = new ConnectedPair.Recorder();
                        ch.pipeline().addLast(recorder);
                        accepted.add(recorder);
                    }
                });
    }

    private RdmaServerSocketChannel listen(int backlog, boolean autoRead) throws InterruptedException {
        return (RdmaServerSocketChannel) bootstrap(backlog, autoRead).bind(TestAddress.anyPort()).sync().channel();
    }

    private ChannelFuture tryConnect(RdmaServerSocketChannel listener, ConnectedPair.Recorder recorder)
            throws InterruptedException {
        return TestTimeouts.await(new Bootstrap().group(loops.group()).channel(RdmaSocketChannel.class)
                .handler(recorder).connect(listener.localAddress()));
    }

    private ChannelFuture connect(RdmaServerSocketChannel listener, ConnectedPair.Recorder recorder)
            throws InterruptedException {
        ChannelFuture future = tryConnect(listener, recorder);
        assertThat(future.cause()).isNull();
        return future;
    }

    private ConnectedPair.Recorder next() throws InterruptedException {
        return TestTimeouts.take(accepted, "a connection");
    }
}
