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
package io.netty.example.rdma.util;

import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.harness.Control;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The command line options of servers, and what all of them do alike: listen until they are stopped.
 */
public final class ServerOptions {
    /** The option by which a server becomes one that is measured: {@link Control}. */
    public static final String CONTROLLED = "--controlled";

    @Mixin
    private TransportOptions transport;

    @Mixin
    private TlsOptions tls;

    @Option(names = "--key", description = "PEM file with the private key of --certificate (PKCS#8).")
    private Path key;

    @Option(names = "--host",
            description = "Address to listen on (default: 127.0.0.1, or that of an RDMA device if there is one).")
    private String host;

    @Option(names = "--port", description = "Port, 0 for any that is free (default: ${DEFAULT-VALUE}).",
            defaultValue = "8080")
    private int port;

    @Option(names = "--idle-seconds", defaultValue = "60",
            description = "Close connections on which nothing moves for so long (default: ${DEFAULT-VALUE}; 0: never).")
    private int idleSeconds;

    @Option(names = CONTROLLED, hidden = true, description = "Do what is said on standard input (Control), and end "
            + "when that does: no later than the process that started this one.")
    private boolean controlled;

    /**
     * What the server needs for TLS, or {@code null} if it does not encrypt.
     */
    public SslContextBuilder sslContext() throws Exception {
        return tls.isEnabled() ? tls.serverContext(key, host()) : null;
    }

    /** After how long a connection on which nothing moves is closed; 0 for never. */
    public long idleMillis() {
        return TimeUnit.SECONDS.toMillis(idleSeconds);
    }

    private String host() throws IOException {
        return host == null ? LocalHost.address() : host;
    }

    /** Whose TLS was chosen, or {@code null} for no TLS. */
    public SslProvider tlsProvider() {
        return tls.isEnabled() ? tls.provider() : null;
    }

    /**
     * Listens and says so. When the server is stopped, connections are closed as they are.
     *
     * @param name         of the server, for people
     * @param childHandler of each accepted connection
     * @return the exit status, when the server has been stopped
     */
    public int serve(String name, ChannelHandler childHandler) throws IOException, InterruptedException {
        return serve(name, childHandler, () -> ImmediateEventExecutor.INSTANCE.newSucceededFuture(null));
    }

    /**
     * Listens and says so.
     *
     * @param name           of the server, for people
     * @param childHandler   of each accepted connection
     * @param endConnections called when the server is stopped and no longer listens: ends what is under way
     * @return the exit status, when the server has been stopped
     */
    public int serve(String name, ChannelHandler childHandler, Supplier<Future<?>> endConnections)
            throws IOException, InterruptedException {
        return serve(name, (transport, group, address) -> {
            ExampleServer server =
                    ExampleServer.bind(transport, group, childHandler, address.getHostString(), address.getPort());
            return new Running(server.address(), () -> {
                server.close().sync();
                endConnections.get().sync();
            });
        });
    }

    /**
     * Starts a server and says so. It is stopped by SIGTERM or SIGINT, as service managers and people do it.
     *
     * @param name of the server, for people
     * @return the exit status, when the server has been stopped
     */
    public int serve(String name, Starter starter) throws IOException, InterruptedException {
        EventLoopGroup group = transport.newGroup();
        CountDownLatch toStop = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        // The process ends when this does.
        Thread onSignal = new Thread(() -> {
            toStop.countDown();
            try {
                stopped.await();
            } catch (InterruptedException ignored) {
                // Then it ends at once.
            }
        }, "stop");
        try {
            Running server = starter.start(transport.transport(), group, new InetSocketAddress(host(), port));
            Runtime.getRuntime().addShutdownHook(onSignal);
            System.out.println(ExampleServer.READY + NetUtil.toSocketAddressString(server.address()) + " (" + name
                    + ", " + transport + ", " + tls + ')');
            if (controlled) {
                control(new Control(group), toStop);
            }
            toStop.await();
            server.stop().run();
            return 0;
        } finally {
            Commands.shutdown(group);
            stopped.countDown();
            removeHook(onSignal);
        }
    }

    private static void control(Control control, CountDownLatch toStop) {
        Thread thread = new Thread(() -> {
            try {
                control.run();
            } catch (Exception e) {
                // Whoever waits for the answer sees that there is none, and here is why.
                e.printStackTrace();
            }
            toStop.countDown();
        }, "control");
        thread.setDaemon(true);
        thread.start();
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ignored) {
            // The process is ending, and the hook has run.
        }
    }

    /** Starts a server. */
    @FunctionalInterface
    public interface Starter {
        Running start(Transport transport, EventLoopGroup group, InetSocketAddress address)
                throws IOException, InterruptedException;
    }

    /**
     * A server that runs.
     *
     * @param stop stops listening, and ends what is under way within a bounded time
     */
    public record Running(InetSocketAddress address, Stop stop) {
    }

    /** How to stop a server. */
    @FunctionalInterface
    public interface Stop {
        void run() throws InterruptedException;
    }
}
