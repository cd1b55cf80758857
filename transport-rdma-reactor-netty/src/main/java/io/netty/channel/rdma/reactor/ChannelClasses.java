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
package io.netty.channel.rdma.reactor;

import io.netty.channel.Channel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.DomainDatagramChannel;
import io.netty.channel.unix.DomainSocketChannel;
import io.netty.channel.unix.ServerDomainSocketChannel;
import io.netty.util.internal.ObjectUtil;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Channel classes for Reactor Netty's types of channels.
 *
 * <p>{@link reactor.netty.resources.LoopResources} can't choose them: with io_uring on the class path, versions before
 * 1.3.3 take NIO's datagram channels for these event loops.
 *
 * <p>Clients always connect to port 53 over TCP. The DNS resolver makes such connections for answers that are too large
 * for a datagram, and no DNS server speaks RDMA.
 */
final class ChannelClasses {
    private static final List<Choice<?>> EPOLL = List.of(
            new Choice<>(DatagramChannel.class, EpollDatagramChannel.class, EpollDatagramChannel::new),
            new Choice<>(DomainSocketChannel.class, EpollDomainSocketChannel.class, EpollDomainSocketChannel::new),
            new Choice<>(ServerDomainSocketChannel.class, EpollServerDomainSocketChannel.class,
                    EpollServerDomainSocketChannel::new),
            new Choice<>(DomainDatagramChannel.class, EpollDomainDatagramChannel.class,
                    EpollDomainDatagramChannel::new));

    private static final int DNS_PORT = 53;

    private final List<Choice<?>> choices = new ArrayList<>();

    ChannelClasses(RdmaOrTcpRule rule) {
        ObjectUtil.checkNotNull(rule, "rule");
        RdmaOrTcpRule ofClients = address -> address.getPort() == DNS_PORT ? RdmaOrTcpChoice.TCP_ONLY :
                rule.choose(address);
        choices.add(new Choice<>(SocketChannel.class, RdmaOrTcpSocketChannel.class,
                () -> new RdmaOrTcpSocketChannel(ofClients)));
        choices.add(new Choice<>(ServerSocketChannel.class, RdmaOrTcpServerSocketChannel.class,
                () -> new RdmaOrTcpServerSocketChannel(rule)));
        if (Epoll.isAvailable()) {
            choices.addAll(EPOLL);
        }
    }

    boolean has(Class<? extends Channel> type) {
        return choices.stream().anyMatch(choice -> choice.type == type);
    }

    <C extends Channel> C newChannel(Class<C> type) {
        return choice(type).supplier.get();
    }

    <C extends Channel> Class<? extends C> channelClass(Class<C> type) {
        return choice(type).implementation;
    }

    @SuppressWarnings("unchecked")
    private <C extends Channel> Choice<C> choice(Class<C> type) {
        for (Choice<?> choice : choices) {
            if (choice.type == type) {
                return (Choice<C>) choice;
            }
        }
        throw new IllegalArgumentException("type of channel: " + type.getName());
    }

    private record Choice<C extends Channel>(Class<C> type, Class<? extends C> implementation,
                                             Supplier<? extends C> supplier) {
    }
}
