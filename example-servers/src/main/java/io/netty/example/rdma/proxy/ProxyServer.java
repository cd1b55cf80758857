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
package io.netty.example.rdma.proxy;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.example.rdma.proxy.ProxySettings.Listen;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.EventLoopOptions;
import io.netty.example.rdma.util.ServerRun;
import io.netty.example.rdma.util.Transport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * A proxy as a program. Runs until it is stopped.
 */
@Command(name = "proxy-server", sortOptions = false, description = "Takes connections over TCP or RDMA and goes on "
        + "with each to a server, over RDMA or TCP, without knowing what goes through it. Ctrl-C ends it, and says "
        + "what it has done.")
public final class ProxyServer implements Callable<Integer> {
    @Option(names = "--listen", required = true, paramLabel = "TRANSPORT:HOST:PORT", converter = Listen.Converter.class,
            description = "Where to take connections: tcp:0.0.0.0:8080, rdma:0.0.0.0:8080, or auto:0.0.0.0:8080 for "
            + "both. Port 0: any that is free.")
    private Listen listen;

    @Option(names = "--to", required = true, paramLabel = "HOST:PORT", converter = HostAndPort.Converter.class,
            description = "The server. A name is looked up once, at the start.")
    private HostAndPort to;

    @Option(names = "--transport", defaultValue = "auto", description = "How to reach the server: "
            + "${COMPLETION-CANDIDATES} "
            + "(default: ${DEFAULT-VALUE}). AUTO: over RDMA if that works (shared memory on this host, else an "
            + "adapter), else over TCP.")
    private ProxyTransport transport;

    @Option(names = "--connect-seconds", defaultValue = "10",
            description = "How long connecting to the server may take (default: ${DEFAULT-VALUE}).")
    private int connectSeconds;

    @Option(names = "--idle-seconds", defaultValue = "3600",
            description = "Reset connections on which nothing moves for so long (default: ${DEFAULT-VALUE}; 0: never).")
    private int idleSeconds;

    @Option(names = "--quiet", description = "Log only what goes wrong, and not each connection.")
    private boolean quiet;

    @Mixin
    private EventLoopOptions eventLoops;

    public static void main(String[] args) {
        System.exit(Commands.run(new ProxyServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        if (connectSeconds < 1 || idleSeconds < 0) {
            throw new IllegalArgumentException("--connect-seconds (from 1): " + connectSeconds
                    + ", --idle-seconds (from 0): " + idleSeconds);
        }
        if ((transport == ProxyTransport.RDMA || listen.transport() == ProxyTransport.RDMA) && !Rdma.isAvailable()) {
            throw new IllegalStateException("RDMA can't be used", Rdma.unavailabilityCause());
        }
        ProxySettings settings = new ProxySettings(listen, to.resolve(), transport,
                (int) TimeUnit.SECONDS.toMillis(connectSeconds), TimeUnit.SECONDS.toMillis(idleSeconds), quiet);
        // Event loops of RDMA serve TCP as well. A proxy for TCP alone has epoll's event loops, for comparison. With
        // these, data after a half close may be cut off (netty/netty#16689). Event loops of RDMA correct this.
        boolean rdma = (transport.mayBeRdma() || listen.transport().mayBeRdma()) && Rdma.isAvailable();
        EventLoopGroup group = eventLoops.newGroup(rdma ? Transport.RDMA : Transport.EPOLL);
        return ServerRun.untilStopped(group, "proxy, " + listen.transport() + ", to " + to + " by " + transport
                + eventLoops, () -> {
            Proxy proxy = Proxy.start(group, settings);
            return new ServerRun.Running(proxy.address(), () -> {
                proxy.stop();
                System.out.println(proxy.counters());
                if (rdma) {
                    System.out.println(Transport.RDMA.counters());
                    System.out.println(RdmaOrTcpMetrics.total());
                }
            });
        });
    }
}
