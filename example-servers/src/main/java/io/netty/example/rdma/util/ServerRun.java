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

import io.netty.channel.EventLoopGroup;
import io.netty.util.NetUtil;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/**
 * Life of a server's process: it prints that it listens, and ends when it is stopped.
 */
public final class ServerRun {
    private static volatile Consumer<EventLoopGroup> listener = group -> { };

    private ServerRun() {
    }

    /** Sets a function that is called with the event loops of each server of this process when the server listens. */
    public static void whenListening(Consumer<EventLoopGroup> function) {
        listener = function;
    }

    /**
     * Starts a server, prints its address, and waits. SIGTERM or SIGINT, from a service manager or a user, stops it.
     *
     * @param group       event loops of the server, which end with it
     * @param description description of the server, for users
     * @return the exit status, when the server has been stopped
     */
    public static int untilStopped(EventLoopGroup group, String description, Starter starter)
            throws IOException, InterruptedException {
        CountDownLatch toStop = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        // The JVM ends when this shutdown hook ends.
        Thread onSignal = new Thread(() -> {
            toStop.countDown();
            try {
                stopped.await();
            } catch (InterruptedException ignored) {
                // The process ends at once.
            }
        }, "stop");
        try {
            Running server = starter.start();
            Runtime.getRuntime().addShutdownHook(onSignal);
            System.out.println(ExampleServer.READY + NetUtil.toSocketAddressString(server.address()) + " ("
                    + description + ')');
            listener.accept(group);
            toStop.await();
            server.stop().run();
            return 0;
        } finally {
            Commands.shutdown(group);
            stopped.countDown();
            removeHook(onSignal);
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException ignored) {
            // The process is ending, and the hook runs already.
        }
    }

    /** Starts a server. */
    @FunctionalInterface
    public interface Starter {
        Running start() throws IOException, InterruptedException;
    }

    /**
     * A running server.
     *
     * @param stop stops listening, and ends open connections within a bounded time
     */
    public record Running(InetSocketAddress address, Stop stop) {
    }

    /** Stops a server. */
    @FunctionalInterface
    public interface Stop {
        void run() throws InterruptedException;
    }
}
