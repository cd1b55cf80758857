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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.rdma.metrics.RdmaProviderChoice.Reason;
import io.netty.channel.rdma.attempt.Destination;
import io.netty.channel.rdma.attempt.RecentFailures;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.metrics.RdmaProviderChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFailures;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.verbs.VerbsProvider.EMBEDDED;
import static io.netty.channel.rdma.verbs.VerbsProvider.IBVERBS;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Channels of a process that has both providers: how a listener is reached, and what a connect takes. Each scenario
 * has a process of its own, which sees the same as an application.
 */
class RdmaProvidersTest {
    private static final Set<VerbsProvider> ANY = Set.of(EMBEDDED, IBVERBS);
    static final List<String> PROPERTIES = List.of("io.netty.rdma.provider=auto",
            "io.netty.rdma.maxPinnedMemory=" + (256 << 20));

    @ParameterizedTest
    @EnumSource
    void providersAreChosenAsDocumented(Scenario scenario) throws Exception {
        try (ChildJvm child = ChildJvm.withBothProviders(Application.class, PROPERTIES, scenario.name())) {
            assertThat(child.output()).endsWith("done\n");
        }
    }

    enum Scenario {
        AN_ADDRESS_OF_THIS_HOST_IS_REACHED_THROUGH_SHARED_MEMORY {
            @Override
            void run(Application application) throws Exception {
                application.bind(ANY);
                application.echo(ANY, EMBEDDED, Reason.NEAREST);
                assertThat(application.accepted.take().providerChoice()).extracting(
                        RdmaProviderChoice::provider, RdmaProviderChoice::reason)
                        .containsExactly(EMBEDDED, Reason.ACCEPTED);
            }
        },
        ONE_PORT_IS_REACHED_BY_BOTH_AT_THE_SAME_TIME {
            @Override
            void run(Application application) throws Exception {
                application.bind(ANY);
                Channel first = application.connect(Set.of(EMBEDDED));
                Channel second = application.connect(Set.of(IBVERBS));
                application.echo(first, EMBEDDED);
                application.echo(second, IBVERBS);
                application.echo(first, EMBEDDED);
            }
        },
        WHERE_NOBODY_LISTENS_IN_SHARED_MEMORY_THE_DEVICE_IS_TAKEN {
            @Override
            void run(Application application) throws Exception {
                application.bind(Set.of(IBVERBS));
                application.echo(ANY, IBVERBS, Reason.REFUSED);
                // A listener that comes is found by the next connect.
                Channel second = application.bindSame(Set.of(EMBEDDED));
                application.echo(ANY, EMBEDDED, Reason.NEAREST);
                second.close().sync();
                application.echo(ANY, IBVERBS, Reason.REFUSED);
            }
        },
        A_STOPPED_LISTENER_IN_SHARED_MEMORY_IS_WAITED_FOR_ONCE {
            @Override
            void run(Application application) throws Exception {
                application.bind(Set.of(IBVERBS));
                InetSocketAddress address = application.address();
                try (ChildJvm other = new ChildJvm(Listener.class, PROPERTIES, Integer.toString(address.getPort()))) {
                    other.line("listens");
                    // Without another provider an attempt has no limit, which a process that has begun may need.
                    application.echo(Set.of(EMBEDDED), EMBEDDED);
                    application.echo(ANY, EMBEDDED, Reason.NEAREST);
                    // A stopped process would not tell of them any more.
                    assertThat(other.line("child")).isEqualTo("served");
                    assertThat(other.line("child")).isEqualTo("served");
                    other.signal("STOP");
                    application.echo(ANY, IBVERBS, Reason.TIMEOUT);
                    application.echo(ANY, IBVERBS, Reason.REMEMBERED);
                    other.signal("CONT");
                    // The report about the client, which has connected by the device meanwhile, comes too late.
                    assertThat(other.line("child")).isEqualTo("never active");
                    application.echo(Set.of(EMBEDDED), EMBEDDED);
                    RdmaOrTcpFailures.shared().forget(address);
                    application.echo(ANY, EMBEDDED, Reason.NEAREST);
                }
            }
        },
        WHERE_NOBODY_LISTENS_BY_THE_DEVICE_THE_STOPPED_LISTENER_HAS_THE_REST_OF_THE_TIME {
            @Override
            void run(Application application) throws Exception {
                application.bind(ANY).close().sync();
                InetSocketAddress address = application.address();
                try (ChildJvm other = new ChildJvm(Listener.class, PROPERTIES, Integer.toString(address.getPort()))) {
                    other.line("listens");
                    other.signal("STOP");
                    ChannelFuture connecting = application.client(ANY).connect(address);
                    TestTimeouts.awaitTrue(() -> RecentFailures.shared().get(new Destination(address),
                            VerbsApi.of(EMBEDDED)) != null);
                    assertThat(connecting.isDone()).isFalse();
                    other.signal("CONT");
                    Channel channel = connecting.sync().channel();
                    application.echo(channel, EMBEDDED);
                    assertThat(RecentFailures.shared().size()).isZero();
                }
            }
        },
        A_LISTENER_IN_SHARED_MEMORY_IS_NOT_REACHED_BY_THE_DEVICE {
            @Override
            void run(Application application) throws Exception {
                application.bind(Set.of(EMBEDDED));
                assertThat(application.failure(Set.of(IBVERBS))).isInstanceOf(ConnectionRejectedException.class);
                application.echo(ANY, EMBEDDED);
            }
        },
        WHERE_NOBODY_LISTENS_THE_CONNECTION_IS_REFUSED_AND_BOTH_REASONS_ARE_TOLD {
            @Override
            void run(Application application) throws Exception {
                application.bind(ANY).close().sync();
                Throwable failure = application.failure(ANY);
                assertThat(failure).isInstanceOf(ConnectionRejectedException.class)
                        .hasMessageContaining("Connection refused");
                assertThat(failure.getSuppressed()).hasSize(1);
                assertThat(failure.getSuppressed()[0]).hasMessageContaining("Connection refused");
                assertThat(RdmaConnectMetrics.total().failures(IBVERBS, RdmaConnectMetrics.Failure.REFUSED)).isOne();
                // Nothing of the attempts is left.
                TestTimeouts.awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == 0 &&
                        VerbsResource.CONNECTION_ID.live() == 0);
            }
        },
        A_LISTENER_MOVES_TO_ANOTHER_LOOP_WITH_BOTH {
            @Override
            void run(Application application) throws Exception {
                Channel listener = application.bind(ANY);
                listener.deregister().sync();
                EventLoopGroup other = new RdmaEventLoopGroup(1);
                other.register(listener).sync();
                application.echo(Set.of(EMBEDDED), EMBEDDED);
                application.echo(Set.of(IBVERBS), IBVERBS);
                listener.close().sync();
                TestTimeouts.shutdown(other);
            }
        },
        A_CHANNEL_THAT_IS_BOUND_FIRST_CONNECTS_BY_THE_DEVICE_OF_ITS_ADDRESS {
            @Override
            void run(Application application) throws Exception {
                application.bind(ANY);
                Channel client = application.client(ANY).register().sync().channel();
                client.bind(TestAddress.anyPort()).sync();
                client.connect(application.address()).sync();
                application.echo(client, IBVERBS);
                assertThat(((RdmaSocketChannel) client).providerChoice().reason()).isEqualTo(Reason.BOUND);
            }
        },
        A_CONNECT_FROM_AN_ADDRESS_TAKES_THE_NEAREST_PROVIDER {
            @Override
            void run(Application application) throws Exception {
                application.bind(ANY);
                Channel client = application.client(ANY).connect(application.address(), TestAddress.anyPort()).sync()
                        .channel();
                application.echo(client, EMBEDDED);
            }
        },
        A_CHANNEL_OF_MESSAGES_TAKES_THE_SAME_PROVIDERS {
            @Override
            void run(Application application) throws Exception {
                application.bindMessages();
                for (Set<VerbsProvider> providers : List.of(ANY, Set.of(IBVERBS))) {
                    RdmaMessageChannel client = (RdmaMessageChannel) new Bootstrap().group(application.group)
                            .channel(RdmaMessageChannel.class).option(RdmaChannelOption.PROVIDERS, providers)
                            .handler(application.client).connect(application.address()).sync().channel();
                    assertThat(client.info().sync().getNow().provider())
                            .isEqualTo(providers.size() == 1 ? IBVERBS : EMBEDDED);
                    assertThat(client.providerChoice().reason())
                            .isEqualTo(providers.size() == 1 ? Reason.OPTION : Reason.NEAREST);
                    client.close().sync();
                }
            }
        },
        ONE_PROVIDER_CAN_BE_TURNED_OFF_BY_THE_OPTION_ALONE {
            @Override
            void run(Application application) throws Exception {
                application.bind(Set.of(EMBEDDED));
                Channel second = application.bindSame(Set.of(IBVERBS));
                assertThat(((InetSocketAddress) second.localAddress()).getPort())
                        .isEqualTo(application.address().getPort());
                application.echo(Set.of(IBVERBS), IBVERBS);
                application.echo(Set.of(EMBEDDED), EMBEDDED);
            }
        },
        A_DEVICE_OF_NO_PROVIDER_IS_REFUSED {
            @Override
            void run(Application application) throws Exception {
                application.bind(ANY);
                Throwable failure = application.client(ANY).option(RdmaChannelOption.DEVICE, "none0")
                        .connect(application.address()).await().cause();
                assertThat(failure).hasRootCauseInstanceOf(NoRdmaDeviceException.class)
                        .hasStackTraceContaining("DEVICE=none0");
                assertThat(RdmaConnectMetrics.total().failures(null, RdmaConnectMetrics.Failure.LOCAL)).isOne();
            }
        };

        abstract void run(Application application) throws Exception;
    }

    /** A process that listens by shared memory at a port, until it is killed. */
    static final class Listener {
        private Listener() { }

        public static void main(String[] arguments) throws Exception {
            new Application().server(Set.of(EMBEDDED)).childHandler(new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new Child());
                }
            }).bind(new InetSocketAddress(TestAddress.anyPort().getAddress(),
                    Integer.parseInt(arguments[0]))).sync();
            System.out.println("listens there");
        }
    }

    /** Echoes, and tells of the end of its connection. */
    private static final class Child extends ChannelInboundHandlerAdapter {
        private boolean active;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            active = true;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            System.out.println("child " + (active ? "served" : "never active"));
        }
    }

    /** A server that echoes, and clients. */
    static final class Application {
        final EventLoopGroup group = new RdmaEventLoopGroup(2);
        final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        final BlockingQueue<RdmaSocketChannel> accepted = new LinkedBlockingQueue<>();
        final ChannelInboundHandlerAdapter client = new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                answers.add(((ByteBuf) msg).toString(StandardCharsets.US_ASCII));
                ((ByteBuf) msg).release();
            }
        };
        private Channel listener;
        private int number;

        public static void main(String[] arguments) throws Exception {
            run(Scenario.valueOf(arguments[0])::run);
        }

        interface Steps {
            void run(Application application) throws Exception;
        }

        /** Steps of a process, which leaves nothing. */
        static void run(Steps steps) throws Exception {
            assertThat(VerbsApi.usable()).containsExactly(VerbsApi.of(EMBEDDED), VerbsApi.of(IBVERBS));
            Application application = new Application();
            try {
                steps.run(application);
            } catch (Throwable t) {
                t.printStackTrace();
                // The event loops would keep the process.
                System.exit(1);
            }
            TestTimeouts.shutdown(application.group);
            assertThat(VerbsResource.QUEUE_PAIR.live()).isZero();
            assertThat(VerbsResource.CONNECTION_ID.live()).isZero();
            assertThat(VerbsResource.COMPLETION_QUEUE.live()).isZero();
            System.out.println("done");
        }

        private ServerBootstrap server(Class<? extends ServerChannel> type) {
            return new ServerBootstrap().group(group).channel(type).childHandler(
                    new ChannelInboundHandlerAdapter() {
                        @Override
                        public boolean isSharable() {
                            return true;
                        }

                        @Override
                        public void channelActive(ChannelHandlerContext ctx) {
                            if (ctx.channel() instanceof RdmaSocketChannel) {
                                accepted.add((RdmaSocketChannel) ctx.channel());
                            }
                        }

                        @Override
                        public void channelRead(ChannelHandlerContext ctx, Object msg) {
                            ctx.writeAndFlush(msg);
                        }
                    });
        }

        private ServerBootstrap server(Set<VerbsProvider> providers) {
            return server(RdmaServerSocketChannel.class).option(RdmaChannelOption.PROVIDERS, providers);
        }

        Channel bind(Set<VerbsProvider> providers) throws Exception {
            listener = server(providers).bind(TestAddress.anyPort()).sync().channel();
            return listener;
        }

        void bind(Class<? extends ServerChannel> type) throws Exception {
            listener = server(type).bind(TestAddress.anyPort()).sync().channel();
        }

        /** Another listener, at the port of the first one. */
        Channel bindSame(Set<VerbsProvider> providers) throws Exception {
            return server(providers).bind(address()).sync().channel();
        }

        void bindMessages() throws Exception {
            listener = new ServerBootstrap().group(group).channel(RdmaServerMessageChannel.class)
                    .childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public boolean isSharable() {
                            return true;
                        }
                    }).bind(TestAddress.anyPort()).sync().channel();
        }

        InetSocketAddress address() {
            return (InetSocketAddress) listener.localAddress();
        }

        Bootstrap client(Class<? extends Channel> type) {
            return new Bootstrap().group(group).channel(type).handler(client);
        }

        Bootstrap client(Set<VerbsProvider> providers) {
            return client(RdmaSocketChannel.class).option(RdmaChannelOption.PROVIDERS, providers);
        }

        Channel connect(Set<VerbsProvider> providers) throws Exception {
            return client(providers).connect(address()).sync().channel();
        }

        Throwable failure(Set<VerbsProvider> providers) throws Exception {
            ChannelFuture future = client(providers).connect(address()).await();
            assertThat(future.isSuccess()).isFalse();
            Throwable cause = future.cause();
            return cause.getCause() == null ? cause : cause.getCause();
        }

        void echo(Set<VerbsProvider> providers, VerbsProvider expected) throws Exception {
            echo(providers, expected, providers.size() == 1 ? Reason.OPTION : Reason.NEAREST);
        }

        void echo(Set<VerbsProvider> providers, VerbsProvider expected, Reason reason) throws Exception {
            RdmaSocketChannel channel = (RdmaSocketChannel) connect(providers);
            echo(channel, expected);
            assertThat(channel.providerChoice().reason()).as(channel.providerChoice().toString()).isEqualTo(reason);
            channel.close().sync();
        }

        void echo(Channel channel, VerbsProvider expected) throws Exception {
            assertThat(((RdmaSocketChannel) channel).info().sync().getNow().provider()).isEqualTo(expected);
            assertThat(((RdmaSocketChannel) channel).providerChoice().provider()).isEqualTo(expected);
            echo(channel);
        }

        void echo(Channel channel) throws Exception {
            String text = "request " + number++;
            channel.writeAndFlush(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII)).sync();
            assertThat(answers.poll(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isEqualTo(text);
        }
    }
}
