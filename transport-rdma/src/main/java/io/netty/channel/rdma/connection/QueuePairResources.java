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

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.loop.LoopDevice;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.LoopQueue;
import io.netty.channel.rdma.loop.LoopReceiveQueue;
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.Errno;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.QueuePairInitAttributes;
import io.netty.channel.rdma.verbs.QueuePairType;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.function.Supplier;

/**
 * A queue pair, the room for its completions, and their owner. It is made by the options, within the limits of the
 * device. If the application has set an option beyond the limit, it gets an error that names the limit: it would hardly
 * notice a queue that is silently shorter. Defaults are lowered instead, so that they work on any device.
 */
public class QueuePairResources {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(QueuePairResources.class);

    private static final int LEAST_SGES = 2;
    private static final String SEND = "SEND_QUEUE_DEPTH";
    private static final String RECEIVE = "RECEIVE_QUEUE_DEPTH";

    public final DeviceContext context;
    public final int sendDepth;
    public final int receiveDepth;
    private final QueuePairOptions queuePairOptions;
    private LoopQueue queue;
    QueuePair queuePair;
    private int number;
    /** {@code null} until the loop of the connection is known. */
    private LoopDevice device;
    /** {@code null} if the queue pair has receives of its own. */
    private LoopReceiveQueue shared;

    /** @param handler of the connection's loop, or {@code null} if the loop is not known yet: see {@link #attach}. */
    public QueuePairResources(DeviceContext context, QueuePairOptions options, LoopHandler handler) throws Exception {
        this.context = context;
        queuePairOptions = options;
        sendDepth = limit(QueuePairOptions.SEND_QUEUE_DEPTH, context.attributes.maxWorkRequests(), "its max_qp_wr");
        receiveDepth = limit(QueuePairOptions.RECEIVE_QUEUE_DEPTH, context.attributes.maxWorkRequests(),
                "its max_qp_wr");
        int completions = context.attributes.maxCompletions();
        if (sendDepth + receiveDepth > completions) {
            throw new IllegalArgumentException(SEND + " + " + RECEIVE + ": " + sendDepth + " + " + receiveDepth +
                    " (expected: at most " + completions + " together on " + context.device + ", its max_cqe)");
        }
        device = handler == null ? null : handler.device(context);
    }

    /** The device that an id is bound to. */
    public static Device device(ConnectionId id) throws IOException {
        Device device = id.device();
        if (device == null) {
            throw new IOException("no RDMA device has the address " + id.localAddress());
        }
        return device;
    }

    /**
     * The value of an option, within the limit of the device.
     *
     * @param attribute names the limit.
     * @throws IllegalArgumentException if the application has set the option to more.
     */
    public final int limit(OptionRow<Integer> option, int limit, String attribute) {
        int value = queuePairOptions.get(option);
        if (value > limit && queuePairOptions.values.isSet(option)) {
            throw beyond(option, value, limit, attribute);
        }
        return Math.min(value, limit);
    }

    private IllegalArgumentException beyond(OptionRow<?> row, int value, int limit, String how) {
        return new IllegalArgumentException(OptionRow.name(row.option()) + ": " + value + " (expected: at most " +
                limit + " on " + context.device + ", " + how + ')');
    }

    /**
     * Makes the queue pair use the shared receives of its loop. Called before it is created.
     *
     * @param bufferSize of each receive, in bytes.
     * @param buffers gives registered memory of this size, or {@code null} if there is none.
     */
    public final void shareReceives(int bufferSize, Supplier<ByteBuf> buffers) throws IOException {
        shared = device.receiveQueue(bufferSize, buffers);
    }

    /** The shared receives, or {@code null}. */
    public final LoopReceiveQueue shared() {
        return shared;
    }

    /** The most completions that may wait, without those of shared receives. */
    private int completions() {
        return sendDepth + (shared == null ? receiveDepth : 0);
    }

    /**
     * Creates the queue pair. If that fails, the caller must close and release this object as at its end.
     *
     * @param id of the queue pair, or {@code null} if it is connected without the connection manager.
     * @param minInline inline bytes that are requested in any case, if the device supports them.
     */
    public final QueuePair create(ConnectionId id, int sendSges, int receiveSges, int minInline) throws Exception {
        queue = device == null ? LoopQueue.standalone(context, completions()) : device.reserve(completions(), shared);
        if (shared != null) {
            shared.addUser(queue);
        }
        QueuePairInitAttributes attributes = new QueuePairInitAttributes(queue.queue, queue.queue)
                .maxSendRequests(sendDepth).maxReceiveRequests(receiveDepth).maxSendSges(sendSges)
                .maxReceiveSges(receiveSges).sharedReceiveQueue(shared == null ? null : shared.queue)
                .maxInlineReceive(queuePairOptions.get(QueuePairOptions.MAX_INLINE_RECEIVE));
        if (id != null && id.portSpace() == PortSpace.UDP) {
            attributes.type(QueuePairType.UNRELIABLE_DATAGRAM);
        }
        queuePair = create(id, attributes, Math.max(queuePairOptions.get(QueuePairOptions.MAX_INLINE), minInline));
        return queuePair;
    }

    /**
     * Creates the queue pair. A device has no attribute for the most inline bytes, and its other limits depend on each
     * other (ibv_create_qp(3)), so the limits are found by trying.
     */
    private QueuePair create(ConnectionId id, QueuePairInitAttributes attributes, int inline) throws IOException {
        try {
            return tryInline(id, attributes, inline);
        } catch (VerbsException e) {
            if (!isLimit(e)) {
                throw e;
            }
        }
        attributes.maxSendSges(LEAST_SGES);
        QueuePair least;
        try {
            least = tryInline(id, attributes, 0);
        } catch (VerbsException e) {
            throw isLimit(e) ? new IOException(e.getMessage() + "; lower " + SEND + " and " + RECEIVE, e) : e;
        }
        int wanted = queuePairOptions.get(QueuePairOptions.MAX_INLINE);
        if (!queuePairOptions.values.isSet(QueuePairOptions.MAX_INLINE) || wanted == 0) {
            return least;
        }
        least.close();
        int most = mostInline(id, attributes, wanted);
        if (most < wanted) {
            throw beyond(QueuePairOptions.MAX_INLINE, wanted, most, "found by trying");
        }
        return tryInline(id, attributes, most);
    }

    /** The most inline bytes, up to a maximum, with which a queue pair can be created. */
    private int mostInline(ConnectionId id, QueuePairInitAttributes attributes, int upTo) throws VerbsException {
        int low = 0;
        int high = upTo;
        while (low < high) {
            int middle = low + high + 1 >>> 1;
            try {
                tryInline(id, attributes, middle).close();
                low = middle;
            } catch (VerbsException e) {
                if (!isLimit(e)) {
                    throw e;
                }
                high = middle - 1;
            }
        }
        return low;
    }

    private QueuePair tryInline(ConnectionId id, QueuePairInitAttributes attributes, int bytes) throws VerbsException {
        attributes.maxInlineData(bytes);
        return id == null ? context.domain.createQueuePair(attributes)
                : id.createQueuePair(context.domain, attributes);
    }

    private static boolean isLimit(VerbsException e) {
        return e.errno() == Errno.EINVAL || e.errno() == Errno.ENOMEM;
    }

    /** Makes this loop handle the completions, if the loop was not known before. */
    void attach(LoopHandler handler) throws Exception {
        if (device == null) {
            LoopDevice newDevice = handler.device(context);
            newDevice.adopt(queue);
            device = newDevice;
        }
    }

    /** Makes the owner get the completions. On the loop. */
    public final void register(CompletionHandler owner) {
        number = queuePair.number();
        device.register(number, owner);
    }

    public final LoopDevice device() {
        return device;
    }

    /** Polls all completions for their owners, which are notified later. */
    public final void drain() {
        device.drain(queue);
    }

    /** Destroys the queue pair, the first part of the end. After that the device accesses none of the memory. */
    public final void closeQueuePair() {
        if (queuePair != null) {
            if (device != null && device.loop.isHere()) {
                device.unregister(number);
                if (shared != null) {
                    // Some devices drop the completions of a destroyed queue pair, and so their receives are lost.
                    stop();
                    drain();
                }
            }
            queuePair.close();
        }
    }

    /** Moves the queue pair to the error state: the device executes no requests, and returns those that it has. */
    final void stop() {
        try {
            queuePair.toError();
        } catch (VerbsException e) {
            logger.debug("{} could not be stopped", queuePair, e);
        }
    }

    /**
     * Releases the other resources, the second part of the end.
     *
     * @param owner that got the completions, or {@code null}.
     */
    public void release(CompletionHandler owner) {
        if (shared != null) {
            releaseShared();
        }
        if (queue == null) {
            return;
        }
        if (device == null) {
            queue.close();
        } else {
            device.release(queue, completions(), number, owner);
        }
    }

    private void releaseShared() {
        if (queue != null) {
            shared.removeUser(queue);
            if (!shared.completesInto(queue)) {
                queue.release(shared.depth);
            }
        }
        device.release(shared);
    }
}
