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
package io.netty.channel.rdma.neighbours;

import ch.qos.logback.classic.Level;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.LogRecorder;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.PeerProcess;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A process that uses RDMA or TCP as a service does, with default settings: a server that echoes and tells what it has
 * kept and logged, or a client that connects some times.
 */
final class HonestProcess {
    /** Standard input: count what there is; the answer is {@link #DONE}. */
    static final String REMEMBER = "remember";
    /** Standard input: wait until there is no more than that; the answer is {@link #KEPT} and what there is more of. */
    static final String COMPARE = "compare";
    /** Standard input: what was logged since the last time as a warning, a {@link #WARNING} each, and {@link #DONE}. */
    static final String TELL_WARNINGS = "tell";
    static final String DONE = "DONE";
    static final String KEPT = "KEPT ";
    static final String WARNING = "WARNING ";
    /** A connection of the client: its transport, and why not the other one. */
    static final String TRANSPORT = "TRANSPORT ";

    private HonestProcess() {
    }

    private static void serve(int port) throws Exception {
        InetSocketAddress address = new InetSocketAddress(TestAddress.HOST, port);
        KeptForPeers before = null;
        int told = 0;
        // Netty itself warns of a machine without a network card.
        try (LogRecorder log = new LogRecorder("io.netty.channel.rdma", null)) {
            address = (InetSocketAddress) TestTimeouts.sync(new ServerBootstrap().group(RdmaOrTcp.newEventLoopGroup(1))
                    .channel(RdmaOrTcpServerSocketChannel.class).childHandler(new EchoServer.Initializer())
                    .bind(address)).channel().localAddress();
            System.out.println(PeerProcess.READY + address.getAddress().getHostAddress() + ':' + address.getPort());
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line; (line = input.readLine()) != null;) {
                switch (line) {
                case REMEMBER:
                    before = new KeptForPeers();
                    System.out.println(DONE);
                    break;
                case COMPARE:
                    System.out.println(KEPT + before.awaitNoMore());
                    break;
                default:
                    List<String> warnings = log.messages(Level.WARN);
                    warnings.subList(told, warnings.size()).forEach(text -> System.out.println(WARNING + text));
                    told = warnings.size();
                    System.out.println(DONE);
                }
            }
        }
    }

    private static void connect(InetSocketAddress server, int times) throws InterruptedException {
        EventLoopGroup group = RdmaOrTcp.newEventLoopGroup(1);
        RdmaOrTcpEnds ends = new RdmaOrTcpEnds(group);
        System.out.println(PeerProcess.READY);
        for (int i = 0; i < times; i++) {
            Channel channel = RdmaOrTcpEnds.connect(ends.bootstrap(), server);
            TestTimeouts.sync(EchoClient.exchange(channel));
            System.out.println(TRANSPORT + channel.attr(RdmaOrTcp.TRANSPORT).get() + ' ' +
                    channel.attr(RdmaOrTcp.FALLBACK).get());
            RdmaOrTcpEnds.close(channel);
        }
        TestTimeouts.shutdown(group);
    }

    /** A port to listen at, 0 for any; or a host, a port, and how many times to connect. */
    public static void main(String[] arguments) throws Exception {
        try {
            if (arguments.length == 1) {
                serve(Integer.parseInt(arguments[0]));
            } else {
                connect(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])),
                        Integer.parseInt(arguments[2]));
            }
            System.exit(0);
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
    }
}
