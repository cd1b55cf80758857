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
package io.netty.channel.epoll;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.TestScope;
import io.netty.channel.rdma.leakcheck.LeftChannels;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.tests.UnixTestUtils;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketTestPermutation;
import io.netty.util.concurrent.DefaultThreadFactory;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Takes the place of the class of this name in epoll's jar of tests (class path order: test classes come before jars).
 * The event loops differ: those of epoll's channels are of the RDMA transport. By default these channels are
 * at both ends, without TCP Fast Open: with NIO at one end the other does the same on its loop.
 */
class EpollSocketTestPermutation extends SocketTestPermutation {
    static final EpollSocketTestPermutation INSTANCE = new EpollSocketTestPermutation();

    static final EventLoopGroup EPOLL_GROUP = new TestGroup("testsuite-rdma-epoll", RdmaIoHandler.newFactory(),
            EpollIoHandler.class);
    private static final EventLoopGroup NIO = new TestGroup("testsuite-nio", NioIoHandler.newFactory(),
            NioIoHandler.class);

    @Override
    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> socket() {
        return withoutNioOnly(combo(serverSocket(), clientSocketWithFastOpen()));
    }

    @Override
    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> socketWithFastOpen() {
        return socket();
    }

    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> socketWithoutFastOpen() {
        return withoutNioOnly(combo(serverSocket(), clientSocket()));
    }

    /** The last one is NIO at both ends, where there is NIO. */
    private static <T> List<T> withoutNioOnly(List<T> combos) {
        return TestScope.ALL ? combos.subList(0, combos.size() - 1) : combos;
    }

    @Override
    public List<BootstrapFactory<ServerBootstrap>> serverSocket() {
        List<BootstrapFactory<ServerBootstrap>> factories = new ArrayList<>();
        factories.add(server(EpollServerSocketChannel.class));
        if (Epoll.isTcpFastOpenServerSideAvailable()) {
            factories.add(() -> server(EpollServerSocketChannel.class).newInstance()
                    .option(ChannelOption.TCP_FASTOPEN, 5));
        }
        factories.add(() -> new ServerBootstrap().group(NIO).channel(NioServerSocketChannel.class));
        return inScope(factories);
    }

    @Override
    public List<BootstrapFactory<Bootstrap>> clientSocket() {
        List<BootstrapFactory<Bootstrap>> factories = new ArrayList<>();
        factories.add(client(EpollSocketChannel::new));
        factories.add(nioClient());
        return inScope(factories);
    }

    @Override
    public List<BootstrapFactory<Bootstrap>> clientSocketWithFastOpen() {
        List<BootstrapFactory<Bootstrap>> factories = new ArrayList<>();
        factories.add(client(EpollSocketChannel::new));
        if (Epoll.isTcpFastOpenClientSideAvailable()) {
            factories.add(() -> client(EpollSocketChannel::new).newInstance()
                    .option(ChannelOption.TCP_FASTOPEN_CONNECT, true));
        }
        factories.add(nioClient());
        return inScope(factories);
    }

    @Override
    public List<BootstrapComboFactory<Bootstrap, Bootstrap>> datagram(SocketProtocolFamily family) {
        List<BootstrapFactory<Bootstrap>> factories = new ArrayList<>();
        factories.add(client(() -> new EpollDatagramChannel(family)));
        factories.add(() -> new Bootstrap().group(NIO)
                .channelFactory((ChannelFactory<Channel>) () -> new NioDatagramChannel(family)));
        return combo(inScope(factories), inScope(factories));
    }

    List<BootstrapComboFactory<Bootstrap, Bootstrap>> epollOnlyDatagram(SocketProtocolFamily family) {
        List<BootstrapFactory<Bootstrap>> factories =
                Collections.singletonList(client(() -> new EpollDatagramChannel(family)));
        return combo(factories, factories);
    }

    @Override
    public List<BootstrapFactory<Bootstrap>> datagramSocket() {
        return Collections.singletonList(client(EpollDatagramChannel::new));
    }

    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> domainSocket() {
        return combo(serverDomainSocket(), clientDomainSocket());
    }

    public List<BootstrapFactory<ServerBootstrap>> serverDomainSocket() {
        return Collections.singletonList(server(EpollServerDomainSocketChannel.class));
    }

    public List<BootstrapFactory<Bootstrap>> clientDomainSocket() {
        return Collections.singletonList(client(EpollDomainSocketChannel::new));
    }

    public List<BootstrapComboFactory<Bootstrap, Bootstrap>> domainDatagram() {
        return combo(domainDatagramSocket(), domainDatagramSocket());
    }

    public List<BootstrapFactory<Bootstrap>> domainDatagramSocket() {
        return Collections.singletonList(client(EpollDomainDatagramChannel::new));
    }

    public static DomainSocketAddress newDomainSocketAddress() {
        return UnixTestUtils.newDomainSocketAddress();
    }

    private static BootstrapFactory<ServerBootstrap> server(Class<? extends ServerChannel> type) {
        return () -> new ServerBootstrap().group(EPOLL_GROUP).channel(type);
    }

    private static BootstrapFactory<Bootstrap> client(ChannelFactory<Channel> factory) {
        return () -> new Bootstrap().group(EPOLL_GROUP).channelFactory(factory);
    }

    private static BootstrapFactory<Bootstrap> nioClient() {
        return () -> new Bootstrap().group(NIO).channel(NioSocketChannel.class);
    }

    /** The first is epoll. */
    private static <T> List<T> inScope(List<T> factories) {
        return TestScope.ALL ? factories : factories.subList(0, 1);
    }

    /** Has its channels closed after the class of tests. */
    private static final class TestGroup extends MultiThreadIoEventLoopGroup {
        private final Class<? extends IoHandler> type;

        TestGroup(String name, IoHandlerFactory factory, Class<? extends IoHandler> type) {
            super(NUM_THREADS, new DefaultThreadFactory(name, true), factory);
            this.type = type;
        }

        /** As tests ask for it before they use what only epoll's channels have, or leave it out. */
        @Override
        public boolean isIoType(Class<? extends IoHandler> handlerType) {
            return handlerType == type;
        }

        @Override
        public ChannelFuture register(Channel channel) {
            LeftChannels.add(channel);
            return super.register(channel);
        }
    }
}
