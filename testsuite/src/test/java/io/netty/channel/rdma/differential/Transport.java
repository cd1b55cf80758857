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
package io.netty.channel.rdma.differential;

import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;

/** The two transports, each with event loops of its own. */
final class Transport {
    static final int LOOPS = 3;
    /** Less makes TCP wait for timers. */
    private static final int SMALLEST_TCP_BUFFER = 128 << 10;

    final String name;
    final Class<? extends ServerSocketChannel> serverChannel;
    final Class<? extends SocketChannel> channel;
    private final boolean rdma;
    private final EventLoop[] loops = new EventLoop[LOOPS];
    private final EventLoopGroup group;

    private Transport(String name, boolean rdma, IoHandlerFactory factory,
                      Class<? extends ServerSocketChannel> serverChannel, Class<? extends SocketChannel> channel) {
        this.name = name;
        this.rdma = rdma;
        this.serverChannel = serverChannel;
        this.channel = channel;
        group = new MultiThreadIoEventLoopGroup(LOOPS, new DefaultThreadFactory("differential-" + name, true), factory);
        for (int i = 0; i < LOOPS; i++) {
            loops[i] = group.next();
        }
    }

    static Transport epoll() {
        return new Transport("epoll", false, EpollIoHandler.newFactory(), EpollServerSocketChannel.class,
                EpollSocketChannel.class);
    }

    static Transport rdma() {
        return new Transport("rdma", true, RdmaIoHandler.newFactory(), RdmaServerSocketChannel.class,
                RdmaSocketChannel.class);
    }

    EventLoop loop(int index) {
        return loops[index];
    }

    InetSocketAddress address() {
        return rdma ? TestAddress.anyPort() : new InetSocketAddress(NetUtil.LOCALHOST4, 0);
    }

    /** The options of an end as this transport takes them. */
    Map<ChannelOption<?>, Object> options(Program.Setup setup, Side side) {
        Map<ChannelOption<?>, Object> options = new HashMap<>(setup.options(side));
        if (rdma) {
            options.putAll(setup.rdma());
        } else {
            options.replaceAll((option, value) -> value(option, value));
            // The counterpart of what RDMA does.
            options.put(ChannelOption.TCP_NODELAY, true);
        }
        return options;
    }

    Object value(ChannelOption<?> option, Object value) {
        boolean size = option == ChannelOption.SO_RCVBUF || option == ChannelOption.SO_SNDBUF;
        return size && !rdma ? Math.max((Integer) value, SMALLEST_TCP_BUFFER) : value;
    }

    boolean isRdma() {
        return rdma;
    }

    @Override
    public String toString() {
        return name;
    }

    void close() throws InterruptedException {
        TestTimeouts.shutdown(group);
    }
}
