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

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * An address of TCP that does not answer, for tests of connecting: the queue of connections of a listener is full, so
 * the kernel drops requests for more ({@code tcp_conn_request()} of net/ipv4/tcp_input.c). By default Netty's tests
 * take an address of the Internet, to which there may be a route. Must be loaded before {@code SocketTestPermutation}.
 */
final class UnansweringAddress {
    private static final int MORE_THAN_ENOUGH = 8;
    // Never closed.
    private static final ServerSocket LISTENER;
    private static final List<SocketChannel> CONNECTIONS = new ArrayList<>();

    static {
        try {
            LISTENER = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            for (int i = 0; i < MORE_THAN_ENOUGH; i++) {
                SocketChannel connection = SocketChannel.open();
                connection.configureBlocking(false);
                connection.connect(LISTENER.getLocalSocketAddress());
                CONNECTIONS.add(connection);
            }
        } catch (IOException e) {
            throw new ExceptionInInitializerError(e);
        }
        InetSocketAddress address = (InetSocketAddress) LISTENER.getLocalSocketAddress();
        System.setProperty("io.netty.testsuite.badHost", address.getAddress().getHostAddress());
        System.setProperty("io.netty.testsuite.badPort", Integer.toString(address.getPort()));
    }

    private UnansweringAddress() {
    }
}
