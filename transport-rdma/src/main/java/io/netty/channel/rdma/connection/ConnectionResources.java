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
package io.netty.channel.rdma.connection;

import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.memory.Staging;
import io.netty.channel.rdma.stream.StreamConfig;
import io.netty.channel.rdma.stream.StreamMachine;
import io.netty.channel.rdma.stream.StreamProtocol;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.VerbsException;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The resources that a connection takes from its device and event loop: the queue pair with its receives posted, room
 * in a completion queue, and the memory where bytes arrive. It takes all of them or none.
 */
public final class ConnectionResources extends QueuePairResources {
    /** Bytes of registered memory before anything moves, with the default options: the first buffer, and tables. */
    public static final int FIRST_MEMORY = ReceiveMemory.FIRST_BYTES + (4 << 10);

    /** The work request id of all receives. Sends are numbered from 0. */
    static final long RECEIVE = -1;

    private static final int CONTROL_SLOTS = 4;
    /** The length of an entry of the peer's target SGL, which goes inline if the device can do that. */
    private static final int MIN_INLINE = 16;

    final StreamOptions options;
    final StreamCounters counters;
    final SendRing ring;
    final ReceiveQueue receives;
    final StreamMachine stream;
    ReceiveMemory receiveMemory;
    private final ConnectionId id;

    private ConnectionResources(DeviceContext context, StreamProtocol protocol, ConnectionId id, StreamOptions options,
                                StreamCounters counters, LoopHandler handler) throws Exception {
        super(context, options.queuePair, handler);
        this.id = id;
        this.options = options;
        this.counters = counters;
        // A message is one work request with immediate data. On iWARP it is two, a WRITE and a SEND.
        int messages = context.iwarp ? sendDepth / 2 : sendDepth;
        int sglEntries = protocol.targetSglEntries();
        // Control messages need no credit. If a message without a receive waits, a few receives are enough for them. On
        // iWARP such a message ends the connection. So there must be a receive for each one that the peer may send
        // before it gets our next message: one for each of our entries, and those that it sends once.
        int controlReceives = context.iwarp ? Math.min(sglEntries + 2 * CONTROL_SLOTS, receiveDepth / 2)
                : CONTROL_SLOTS;
        int messageSize = protocol.sentMessageSize(!context.iwarp);
        try {
            receiveMemory = new ReceiveMemory(context, options, counters, protocol, SendRing.capacity(messages),
                    receiveDepth, messageSize);
            stream = protocol.newMachine(new StreamConfig(receiveDepth - controlReceives, messages, CONTROL_SLOTS,
                    Math.max(2, sglEntries), Math.max(1, messages / 4)), receiveMemory.first(), receiveMemory.first());
            ring = new SendRing(stream.sendQueue(), messages);
            create(id, Math.min(Gatherer.MAX_ELEMENTS, context.attributes.maxSges()), 1,
                    Math.max(MIN_INLINE, messageSize));
            if (queuePair.maxInlineData() < messageSize) {
                throw new IOException(context.device + " sends too little inline (max_inline_data " +
                        queuePair.maxInlineData() + "): " + protocol.protocolName() + " need " + messageSize +
                        " bytes. Use TCP");
            }
            receives = new ReceiveQueue(queuePair, receiveDepth, messageSize == 0 ? null : receiveMemory.first(),
                    messageSize, !context.iwarp);
            receives.post(receiveDepth);
        } catch (Throwable t) {
            closeQueuePair();
            release(null);
            throw t;
        }
    }

    /**
     * @param protocol of the connection.
     * @param id is bound to a device, and stays the caller's.
     * @param handler of the connection's loop, or {@code null} if the loop is not known yet: see {@link #attach}.
     */
    public static ConnectionResources create(StreamProtocol protocol, ConnectionId id, StreamOptions options,
                                             StreamCounters counters, LoopHandler handler) throws Exception {
        DeviceContext context = DeviceContext.of(device(id));
        if (context.iwarp && protocol.needsImmediateData()) {
            throw new IOException(context.device + " is an iWARP device, which has no immediate data: " +
                    protocol.protocolName() + " can't be used with it. Use TCP");
        }
        Staging.reserve(context);
        return new ConnectionResources(context, protocol, id, options, counters, handler);
    }

    /** Takes the private data of the peer. */
    public void establish(byte[] privateData) throws IOException {
        stream.establish(ByteBuffer.wrap(privateData));
    }

    /** The parameters to connect or accept with, before {@link StreamMachine#establish}. */
    public ConnectionParameters parameters() throws VerbsException {
        return options.queuePair.parameters(id,
                stream.privateData(receiveMemory.first().sglAddress(), receiveMemory.first().key()));
    }

    /** Makes the connection get the completions. On its loop. */
    void attach(RdmaConnection connection, ConnectionOwner owner, Runnable segmentFreed) throws Exception {
        attach(connection.loop().handler());
        receiveMemory.attach(connection.loop(), owner, stream, segmentFreed);
        register(connection);
    }

    @Override
    public void release(CompletionHandler owner) {
        super.release(owner);
        if (receiveMemory != null) {
            receiveMemory.release();
        }
    }
}
