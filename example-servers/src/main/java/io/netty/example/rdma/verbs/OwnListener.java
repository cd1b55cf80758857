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
package io.netty.example.rdma.verbs;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.VerbsException;

import java.net.InetSocketAddress;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A listener like one of an application that uses the connection manager itself: an event channel, an id that listens,
 * and a thread that reads the events. A message channel on a Netty event loop adopts each request, and then owns its
 * id. Only the move of the id away from this event channel is work for this thread, which is the {@link Executor} for
 * it.
 */
final class OwnListener implements AutoCloseable, Executor {
    /** Pause between two looks. An application that waits for other descriptors anyway adds {@link EventChannel#fd}. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int BACKLOG = 16;

    private final EventLoopGroup group;
    private final int timeoutMillis;
    private final ChannelHandler handler;
    private final Queue<Runnable> moves = new ConcurrentLinkedQueue<>();
    private final Thread thread = new Thread(this::run, "own listener");
    private final EventChannel events;
    private final ConnectionId listener;
    private volatile boolean stopped;

    /**
     * Starts to listen.
     *
     * @param handler handler of each channel, sharable
     */
    OwnListener(EventLoopGroup group, InetSocketAddress address, int timeoutMillis, ChannelHandler handler)
            throws VerbsException {
        this.group = group;
        this.timeoutMillis = timeoutMillis;
        this.handler = handler;
        events = EventChannel.create();
        boolean listening = false;
        ConnectionId id = null;
        try {
            id = ConnectionId.create(events, PortSpace.TCP);
            id.bind(address);
            id.listen(BACKLOG);
            listening = true;
        } finally {
            if (!listening) {
                closeBoth(id);
            }
        }
        listener = id;
        thread.setDaemon(true);
        thread.start();
    }

    private void closeBoth(ConnectionId id) {
        if (id != null) {
            id.close();
        }
        events.close();
    }

    InetSocketAddress localAddress() {
        return listener.localAddress();
    }

    private void run() {
        try {
            while (!stopped) {
                ConnectionEvent event = events.nextEvent();
                if (event != null) {
                    handle(event);
                }
                for (Runnable move; (move = moves.poll()) != null;) {
                    move.run();
                }
                if (event == null) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
        } catch (VerbsException e) {
            System.err.println("the listener has ended: " + e);
        } finally {
            stopped = true;
            closeBoth(listener);
        }
    }

    private void handle(ConnectionEvent event) {
        if (event.type() != ConnectionEventType.CONNECT_REQUEST) {
            // For example, the device was removed. The channels are told of this, too.
            System.err.println("the listener has got " + event.describe());
            return;
        }
        RdmaMessageChannel channel = new RdmaMessageChannel(event, this);
        channel.config().setOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis);
        channel.pipeline().addLast(handler);
        group.register(channel);
    }

    @Override
    public void execute(Runnable move) {
        if (stopped) {
            throw new RejectedExecutionException("the listener has ended");
        }
        moves.add(move);
        LockSupport.unpark(thread);
    }

    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
    }
}
