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
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.rdma.message.RdmaEndpoint;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.reflect.Method;
import java.net.BindException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Stream;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each option of byte streams and of channels of messages arrives where it has its effect. The values differ from the
 * defaults, and from what a device makes of others: the embedded one puts at least 16 bytes for each element of a send
 * inline, soft-RoCE rounds numbers of reads up to a power of two (rxe_qp_from_attr() in rxe_qp.c).
 */
@Tag("quick")
class RdmaOptionEffectsTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final boolean EMBEDDED = VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED;
    private static final int REMOTE = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;

    /** The queue pairs of a connection, first that of the end with the options. */
    private record Ends(QueuePairInfo own, QueuePairInfo peer) { }

    /** @param expected what is seen of the value. */
    private record Effect<T>(ChannelOption<T> option, T value, Object expected, Function<Ends, Object> seen) {
        Effect(ChannelOption<T> option, T value, Function<Ends, Object> seen) {
            this(option, value, value, seen);
        }
    }

    private static final List<Effect<?>> QUEUES = List.of(
            new Effect<>(RdmaChannelOption.SEND_QUEUE_DEPTH, 1000, ends -> ends.own.maxSendRequests()),
            new Effect<>(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 500, ends -> ends.own.maxReceiveRequests()),
            new Effect<>(RdmaChannelOption.MAX_INLINE, 400, ends -> ends.own.maxInlineData()));
    private static final List<Effect<?>> QUEUES_OF_MESSAGES = List.of(
            new Effect<>(RdmaChannelOption.MAX_SEND_SGES, 20, ends -> ends.own.maxSendSges()),
            new Effect<>(RdmaChannelOption.MANUAL_RECEIVES, true, 24, ends -> ends.own.maxReceiveSges()),
            new Effect<>(RdmaChannelOption.MAX_RECEIVE_SGES, 24, ends -> ends.own.maxReceiveSges()),
            new Effect<>(RdmaChannelOption.MAX_INLINE_RECEIVE, 40, EMBEDDED ? 40 : 0,
                    ends -> ends.own.maxInlineReceive()),
            new Effect<>(RdmaChannelOption.INITIATOR_DEPTH, 4, ends -> ends.own.initiatorDepth()),
            new Effect<>(RdmaChannelOption.RESPONDER_RESOURCES, 2, ends -> ends.own.responderResources()),
            new Effect<>(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of(RdmaPermission.REMOTE_READ),
                    AccessFlags.REMOTE_READ, ends -> ends.own.accessFlags() & REMOTE));
    /** A device may have more of these. */
    private static final Set<ChannelOption<?>> AT_LEAST = Set.of(RdmaChannelOption.SEND_QUEUE_DEPTH,
            RdmaChannelOption.RECEIVE_QUEUE_DEPTH, RdmaChannelOption.MAX_INLINE, RdmaChannelOption.MAX_SEND_SGES,
            RdmaChannelOption.MANUAL_RECEIVES, RdmaChannelOption.MAX_RECEIVE_SGES);
    private static final List<Effect<?>> TIMES = List.of(
            new Effect<>(RdmaChannelOption.ACK_TIMEOUT, 15, ends -> ends.own.ackTimeout()),
            new Effect<>(RdmaChannelOption.MIN_RNR_TIMER, 13, ends -> ends.own.minRnrTimer()));
    private static final Effect<?> RETRIES =
            new Effect<>(RdmaChannelOption.RETRY_COUNT, 3, ends -> ends.own.retryCount());
    private static final Effect<?> RETRIES_OF_PEER =
            new Effect<>(RdmaChannelOption.RNR_RETRY_COUNT, 5, ends -> ends.peer.rnrRetryCount());
    private static final List<Effect<?>> WITHOUT_CONNECTION_MANAGER = List.of(RETRIES,
            new Effect<>(RdmaChannelOption.RNR_RETRY_COUNT, 5, ends -> ends.own.rnrRetryCount()),
            new Effect<>(RdmaChannelOption.PATH_MTU, 512, ends -> ends.own.pathMtu()),
            new Effect<>(RdmaChannelOption.GLOBAL_HEADER, true, ends -> ends.own.gidIndex() >= 0),
            new Effect<>(ChannelOption.IP_TOS, 96, ends -> ends.own.trafficClass()),
            // soft-RoCE has none (rxe_av_from_attr() of the kernel drops it).
            new Effect<>(RdmaChannelOption.SERVICE_LEVEL, 3, EMBEDDED ? 3 : 0, ends -> ends.own.serviceLevel()));

    /** The tests of options whose effect takes more than a connection. */
    private static final Map<ChannelOption<?>, String> ELSEWHERE = Map.ofEntries(
            entry(ChannelOption.SO_REUSEADDR, "RdmaOptionEffectsTest#addressIsSharedByChannelsThatReuseIt"),
            entry(ChannelOption.SO_LINGER,
                    "message.RdmaMessageConnectionTest#closeWaitsAsLongAsItMayForAPeerThatDoesNotRead"),
            entry(ChannelOption.SO_KEEPALIVE, "message.RdmaMessageLivenessTest#keepAliveEndsWithoutAnAnswer"),
            entry(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS,
                    "message.RdmaMessageLivenessTest#keepAliveEndsWithoutAnAnswer"),
            entry(RdmaChannelOption.KEEP_ALIVE_INTERVAL_MILLIS,
                    "message.RdmaMessageLivenessTest#keepAliveEndsWithoutAnAnswer"),
            entry(RdmaChannelOption.KEEP_ALIVE_COUNT, "message.RdmaMessageLivenessTest#keepAliveEndsWithoutAnAnswer"),
            entry(RdmaChannelOption.USER_TIMEOUT_MILLIS,
                    "message.RdmaMessageLivenessTest#peerThatTakesNothingIsReportedAfterTheUserTimeout"),
            entry(RdmaChannelOption.PROVIDERS, "RdmaProvidersTest#providersAreChosenAsDocumented"),
            entry(RdmaChannelOption.DEVICE, "message.RdmaMessageManualTest#whatADeviceDoesNotHaveIsRefusedByName"),
            entry(RdmaChannelOption.DEVICE_PORT, "message.RdmaMessageManualTest#whatADeviceDoesNotHaveIsRefusedByName"),
            entry(RdmaChannelOption.GID_INDEX, "message.RdmaMessageManualTest#whatADeviceDoesNotHaveIsRefusedByName"),
            entry(RdmaChannelOption.CONNECT_DATA,
                    "message.RdmaMessageConnectionTest#dataOfRequestAndAcceptanceReachTheOtherSide"),
            entry(RdmaChannelOption.RECEIVE_BUFFER_SIZE,
                    "message.RdmaMessageOperationsTest#messageLongerThanTheReceiveEndsTheConnection"),
            entry(RdmaChannelOption.SHARED_RECEIVE_QUEUE,
                    "message.RdmaMessageInlineReceiveTest#messagesOfAllLengthsArriveWhereTheyAlwaysDo"),
            entry(RdmaChannelOption.MAX_UNREAD_MESSAGES,
                    "message.RdmaMessageSharedReceiveTest#channelThatReadsFarTooLittleIsClosedAndTheOthersGoOn"),
            entry(ChannelOption.SO_RCVBUF, "ReceiveMemoryTest#aSmallMaximumIsKept"),
            entry(RdmaChannelOption.RECEIVE_BUFFER_IDLE_MILLIS,
                    "ReceiveMemoryTest#aStreamReachesTheMaximumAndShrinksWhenItIsIdle"),
            entry(ChannelOption.SO_SNDBUF, "RdmaSocketChannelTest#sendBufferSizeBoundsWhatIsInFlight"),
            entry(RdmaChannelOption.SEND_COPY_THRESHOLD, "RdmaSocketChannelTest#thresholdsDecideWhatIsCopied"),
            entry(RdmaChannelOption.RECEIVE_COPY_THRESHOLD, "RdmaSocketChannelTest#thresholdsDecideWhatIsCopied"),
            entry(ChannelOption.ALLOW_HALF_CLOSURE,
                    "RdmaSocketChannelTest#shutdownOfOutputDeliversWhatWasFlushedBeforeAndLeavesInputOpen"));

    /** Options that no device of a test shows. */
    private static final Set<ChannelOption<?>> NOWHERE = Set.of(
            // Always on.
            ChannelOption.TCP_NODELAY,
            // In one network each address and each route is known at once.
            RdmaChannelOption.RESOLVE_TIMEOUT_MILLIS);

    @Test
    void everyOptionHasAnEntry() throws Exception {
        Set<ChannelOption<?>> entries = new HashSet<>(ELSEWHERE.keySet());
        entries.addAll(NOWHERE);
        Stream.of(QUEUES, QUEUES_OF_MESSAGES, TIMES, WITHOUT_CONNECTION_MANAGER)
                .forEach(effects -> effects.forEach(effect -> entries.add(effect.option)));
        Set<ChannelOption<?>> options = new HashSet<>();
        for (Channel channel : new Channel[] { new RdmaSocketChannel(), new RdmaMessageChannel() }) {
            options.addAll(channel.config().getOptions().keySet());
            options.removeAll(new DefaultChannelConfig(channel).getOptions().keySet());
            channel.unsafe().closeForcibly();
        }
        assertThat(entries).containsExactlyInAnyOrderElementsOf(options);
        for (String test : ELSEWHERE.values()) {
            int end = test.indexOf('#');
            Class<?> type = Class.forName("io.netty.channel.rdma." + test.substring(0, end));
            assertThat(Arrays.stream(type.getDeclaredMethods()).map(Method::getName)).contains(test.substring(end + 1));
        }
    }

    @ParameterizedTest(name = "messages: {0}, at the client: {1}")
    @CsvSource({ "false, false", "false, true", "true, false", "true, true" })
    void optionsAreInTheQueuePairsThatTheConnectionManagerConnects(boolean messages, boolean atClient)
            throws Exception {
        List<Effect<?>> effects = new ArrayList<>(QUEUES);
        effects.addAll(messages ? QUEUES_OF_MESSAGES : List.of());
        effects.addAll(TIMES);
        effects.add(RETRIES_OF_PEER);
        BlockingQueue<Channel> active = new LinkedBlockingQueue<>();
        ServerBootstrap server = new ServerBootstrap().group(loops.group())
                .channel(messages ? RdmaServerMessageChannel.class : RdmaServerSocketChannel.class)
                .childHandler(addingTo(active));
        Bootstrap client = bootstrap(messages).handler(addingTo(active));
        if (atClient) {
            // The request decides for both ends.
            effects.add(RETRIES);
            set(effects, client::option);
        } else {
            set(effects, server::childOption);
        }
        Channel listener = TestTimeouts.sync(server.bind(TestAddress.anyPort())).channel();
        Channel connected = TestTimeouts.sync(client.connect(listener.localAddress())).channel();
        Channel first = TestTimeouts.take(active, "a channel");
        Channel second = TestTimeouts.take(active, "a channel");
        Channel accepted = first == connected ? second : first;
        check(effects, atClient ? connected : accepted, atClient ? accepted : connected);
        for (Channel channel : new Channel[] { connected, accepted, listener }) {
            TestTimeouts.sync(channel.close());
        }
    }

    @Test
    void optionsAreInTheQueuePairThatIsConnectedWithoutTheConnectionManager() throws Exception {
        List<Effect<?>> effects = new ArrayList<>(QUEUES);
        effects.addAll(QUEUES_OF_MESSAGES);
        effects.addAll(TIMES);
        effects.addAll(WITHOUT_CONNECTION_MANAGER);
        Bootstrap with = bootstrap(true).handler(new ChannelInboundHandlerAdapter());
        set(effects, with::option);
        Bootstrap without = bootstrap(true).handler(new ChannelInboundHandlerAdapter());
        RdmaMessageChannel left = (RdmaMessageChannel) TestTimeouts.sync(with.bind(TestAddress.anyPort())).channel();
        RdmaMessageChannel right =
                (RdmaMessageChannel) TestTimeouts.sync(without.bind(TestAddress.anyPort())).channel();
        RdmaEndpoint leftEnd = TestTimeouts.result(left.exportEndpoint());
        TestTimeouts.sync(left.connect(TestTimeouts.result(right.exportEndpoint())));
        TestTimeouts.sync(right.connect(leftEnd));
        check(effects, left, right);
        TestTimeouts.sync(left.close());
        TestTimeouts.sync(right.close());
    }

    @ParameterizedTest(name = "messages: {0}")
    @ValueSource(booleans = { false, true })
    void addressIsSharedByChannelsThatReuseIt(boolean messages) throws Exception {
        Bootstrap reusing = bootstrap(messages).handler(addingTo(new LinkedBlockingQueue<>()))
                .option(ChannelOption.SO_REUSEADDR, true);
        Channel first = TestTimeouts.sync(reusing.bind(TestAddress.anyPort())).channel();
        Channel second = TestTimeouts.sync(reusing.bind(first.localAddress())).channel();
        assertThat(second.localAddress()).isEqualTo(first.localAddress());
        assertThat(TestTimeouts.await(reusing.option(ChannelOption.SO_REUSEADDR, false).bind(first.localAddress()))
                .cause()).isInstanceOf(BindException.class);
        TestTimeouts.sync(first.close());
        TestTimeouts.sync(second.close());
    }

    private static Bootstrap bootstrap(boolean messages) {
        return new Bootstrap().group(loops.group())
                .channel(messages ? RdmaMessageChannel.class : RdmaSocketChannel.class);
    }

    private static ChannelHandler addingTo(BlockingQueue<Channel> active) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                active.add(ctx.channel());
            }
        };
    }

    @SuppressWarnings("unchecked")
    private static void set(List<Effect<?>> effects, BiConsumer<ChannelOption<Object>, Object> options) {
        effects.forEach(effect -> options.accept((ChannelOption<Object>) effect.option, effect.value));
    }

    private static void check(List<Effect<?>> effects, Channel own, Channel peer) throws Exception {
        Ends ends = new Ends(info(own), info(peer));
        for (Effect<?> effect : effects) {
            Object seen = effect.seen.apply(ends);
            if (AT_LEAST.contains(effect.option) && !EMBEDDED) {
                assertThat((int) seen).as(effect.option.name()).isGreaterThanOrEqualTo((int) effect.expected);
            } else {
                assertThat(seen).as(effect.option.name()).isEqualTo(effect.expected);
            }
        }
    }

    private static QueuePairInfo info(Channel channel) throws Exception {
        return TestTimeouts.result(channel instanceof RdmaMessageChannel ? ((RdmaMessageChannel) channel).info()
                : ((RdmaSocketChannel) channel).info());
    }
}
