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
package io.netty.channel.rdma.message;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.MessagePair.Recorder;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.PortSpace;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A client, and a server's channel that has adopted its request from an event channel of the application. Closes the
 * application's part, not the channels.
 */
final class AdoptedPair implements AutoCloseable {
    final RdmaMessageChannel server;
    /** Connect of the client, done when the server's pipeline has answered. */
    final ChannelFuture connect;
    private final EventChannel events = EventChannel.create();
    private final ConnectionId listener;

    /** @param options of the server's channel, before it is registered. */
    AdoptedPair(EventLoopGroup group, Recorder clientEvents, Recorder serverEvents,
                Consumer<ChannelConfig> options) throws Exception {
        listener = ConnectionId.create(events, PortSpace.TCP);
        boolean asked = false;
        try {
            listener.bind(TestAddress.anyPort());
            listener.listen(1);
            connect = MessagePair.connecting(group, clientEvents).connect(listener.localAddress());
            // The calling thread reads the event channel.
            BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
            server = new RdmaMessageChannel(nextEvent(), tasks::add);
            options.accept(server.config());
            server.pipeline().addLast(serverEvents);
            TestTimeouts.sync(group.register(server));
            TestTimeouts.take(tasks, "the move of the id").run();
            asked = true;
        } finally {
            if (!asked) {
                close();
            }
        }
    }

    /** Waits until it is connected. */
    RdmaMessageChannel client() throws Exception {
        return (RdmaMessageChannel) TestTimeouts.sync(connect).channel();
    }

    private ConnectionEvent nextEvent() throws InterruptedException {
        AtomicReference<ConnectionEvent> event = new AtomicReference<>();
        TestTimeouts.awaitTrue(() -> {
            try {
                event.set(events.nextEvent());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            return event.get() != null;
        });
        return event.get();
    }

    @Override
    public void close() {
        listener.close();
        events.close();
    }
}
