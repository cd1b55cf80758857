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
package io.netty.channel.rdma.vertx;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import static io.netty.channel.rdma.vertx.Vertxes.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Options of Vert.x's sockets, and those of RDMA.
 */
class OptionsTest {
    private static final List<String> IGNORED = List.of("tcpFastOpen", "tcpCork", "tcpQuickAck", "reusePort");

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private ChannelConfig client;
    private ChannelConfig accepted;

    @BeforeEach
    void startLog() {
        log.start();
        root().addAppender(log);
    }

    @AfterEach
    void stopLog() {
        root().detachAppender(log);
        log.stop();
    }

    private static Logger root() {
        return (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    }

    /** Not those of Vert.x, which warns of event loops that are slow. */
    private List<String> warnings() {
        return log.list.stream().filter(event -> event.getLevel().isGreaterOrEqual(Level.WARN) &&
                event.getLoggerName().startsWith("io.netty."))
                .map(ILoggingEvent::getFormattedMessage).collect(Collectors.toList());
    }

    /** Makes two connections of a client, and looks at both ends of the last one. */
    private void connect(RdmaTransport transport, NetServerOptions serverOptions, NetClientOptions clientOptions,
                         Consumer<ChannelConfig> check) throws Exception {
        Vertx vertx = Vertx.builder().withTransport(transport).build();
        NetServer server = await(vertx.createNetServer(serverOptions).connectHandler(socket -> {
            accepted = channel(socket).config();
            socket.pipeTo(socket);
        }).listen(0, TestAddress.HOST));
        NetClient connector = vertx.createNetClient(clientOptions);
        for (int i = 0; i < 2; i++) {
            NetSocket socket = await(connector.connect(server.actualPort(), TestAddress.HOST));
            client = channel(socket).config();
            Promise<Buffer> echo = Promise.promise();
            socket.handler(echo::tryComplete);
            await(socket.write("works"));
            assertThat(await(echo.future())).isEqualTo(Buffer.buffer("works"));
        }
        check.accept(client);
        check.accept(accepted);
        await(connector.close());
        await(vertx.close());
    }

    private static Channel channel(NetSocket socket) {
        return ((NetSocketInternal) socket).channelHandlerContext().channel();
    }

    @Test
    void thereIsNothingToWarnOfByDefault() throws Exception {
        // Classes of buffers that VertxHandler.safeBuffer releases: see the package description.
        connect(fresh(), new NetServerOptions(), new NetClientOptions(),
                config -> assertThat(config.getAllocator()).isSameAs(ByteBufAllocator.DEFAULT));
        assertThat(warnings()).isEmpty();
    }

    @Test
    void optionsOfSocketsHaveTheirMeaningOnRdma() throws Exception {
        NetServerOptions serverOptions = new NetServerOptions().setReceiveBufferSize(1 << 19)
                .setSendBufferSize(1 << 18).setSoLinger(2).setTcpKeepAlive(true).setTrafficClass(8)
                .setAcceptBacklog(10);
        serverOptions.setTcpUserTimeout(70_000);
        NetClientOptions clientOptions = new NetClientOptions().setReceiveBufferSize(1 << 19)
                .setSendBufferSize(1 << 18).setSoLinger(2).setTcpKeepAlive(true).setTrafficClass(8)
                .setLocalAddress(TestAddress.HOST).setConnectTimeout(20_000);
        clientOptions.setTcpUserTimeout(70_000);
        connect(fresh(), serverOptions, clientOptions, config -> {
            assertThat(config.getOption(ChannelOption.SO_RCVBUF)).isEqualTo(1 << 19);
            assertThat(config.getOption(ChannelOption.SO_SNDBUF)).isEqualTo(1 << 18);
            assertThat(config.getOption(ChannelOption.SO_LINGER)).isEqualTo(2);
            assertThat(config.getOption(ChannelOption.SO_KEEPALIVE)).isTrue();
            assertThat(config.getOption(ChannelOption.IP_TOS)).isEqualTo(8);
            assertThat(config.getOption(RdmaChannelOption.USER_TIMEOUT_MILLIS)).isEqualTo(70_000);
        });
        assertThat(warnings()).isEmpty();
    }

    @Test
    void optionsThatRdmaHasNotAreIgnoredWithOneWarningEach() throws Exception {
        connect(fresh(), new NetServerOptions().setTcpFastOpen(true).setTcpCork(true).setTcpQuickAck(true)
                        .setReusePort(true),
                new NetClientOptions().setTcpFastOpen(true).setTcpCork(true).setTcpQuickAck(true).setReusePort(true),
                config -> assertThat(config.getOption(ChannelOption.TCP_NODELAY)).isTrue());
        assertThat(warnings()).hasSize(IGNORED.size());
        for (String option : IGNORED) {
            assertThat(warnings()).anyMatch(line -> line.startsWith("RDMA has no option " + option + ": ") &&
                    line.endsWith(" It is ignored."));
        }
    }

    @Test
    void optionsOfTcpAreForConnectionsOverTcp() throws Exception {
        connect(RdmaTransport.rdmaOrTcp(RdmaOrTcpRule.always(RdmaOrTcpChoice.TCP_ONLY))
                        .withOption(RdmaChannelOption.SEND_QUEUE_DEPTH, 32),
                new NetServerOptions().setTcpCork(true).setTcpQuickAck(true),
                new NetClientOptions().setTcpCork(true).setTcpQuickAck(true), config -> {
            assertThat(config.getOption(EpollChannelOption.TCP_CORK)).isTrue();
            assertThat(config.getOption(EpollChannelOption.TCP_QUICKACK)).isTrue();
        });
        assertThat(warnings()).isEmpty();
    }

    @Test
    void optionsForBothTransportsDoNotWarnOverRdma() throws Exception {
        connect(RdmaTransport.rdmaOrTcp().withOption(RdmaChannelOption.SEND_QUEUE_DEPTH, 32),
                new NetServerOptions().setTcpCork(true).setTcpFastOpen(true),
                new NetClientOptions().setTcpCork(true).setTcpFastOpen(true), config -> {
            assertThat(config.getOption(RdmaChannelOption.SEND_QUEUE_DEPTH)).isEqualTo(32);
        });
        assertThat(warnings()).isEmpty();
    }

    @Test
    void optionsOfRdmaAreThoseOfBothEnds() throws Exception {
        connect(RdmaTransport.rdma().withLoops(new RdmaIoHandlerConfig().setMaxSpinMicros(0))
                        .withOption(RdmaChannelOption.SEND_QUEUE_DEPTH, 32)
                        .withOption(RdmaChannelOption.RECEIVE_COPY_THRESHOLD, 0),
                new NetServerOptions(), new NetClientOptions(), config -> {
            assertThat(config.getOption(RdmaChannelOption.SEND_QUEUE_DEPTH)).isEqualTo(32);
            assertThat(config.getOption(RdmaChannelOption.RECEIVE_COPY_THRESHOLD)).isZero();
        });
        assertThat(warnings()).isEmpty();
    }

    @Test
    void theAllocatorCannotBeSet() {
        assertThatThrownBy(() -> RdmaTransport.rdma()
                .withOption(ChannelOption.ALLOCATOR, UnpooledByteBufAllocator.DEFAULT))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("does not release what it reads");
    }

    /** One that has not warned yet. */
    private static RdmaTransport fresh() {
        return RdmaTransport.rdma().withLoops(new RdmaIoHandlerConfig());
    }
}
