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
package io.netty.channel.rdma;

import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.QueuePairInitAttributes;

import java.io.IOException;

/**
 * A queue pair, the room for its completions, and whose they are. Made as the options say and as the device can.
 */
final class QueuePairResources {
    final DeviceContext context;
    final int sendDepth;
    final int receiveDepth;
    private final QueuePairOptions options;
    private LoopQueue queue;
    private QueuePair queuePair;
    private int number;
    /** {@code null} as long as it is not known to which loop the connection belongs. */
    private LoopDevice device;

    /** @param handler of the connection's loop, or {@code null} if that is not known yet: see {@link #attach}. */
    QueuePairResources(DeviceContext context, QueuePairOptions options, RdmaIoHandler handler) throws Exception {
        this.context = context;
        this.options = options;
        sendDepth = DeviceLimits.depth(options.sendQueueDepth, context);
        receiveDepth = DeviceLimits.depth(options.receiveQueueDepth, context);
        DeviceLimits.checkCompletions(sendDepth, receiveDepth, context);
        device = handler == null ? null : handler.device(context);
    }

    /** The device that an id is bound to. */
    static Device device(ConnectionId id) throws IOException {
        Device device = id.device();
        if (device == null) {
            throw new IOException("no RDMA device has the address " + id.localAddress());
        }
        return device;
    }

    /**
     * Creates the queue pair. If that fails, what there is must be given back as at the end.
     *
     * @param id that it belongs to, or {@code null} if it is connected without the connection manager.
     * @param minInline bytes that are asked for in any case, if the device can.
     */
    QueuePair create(ConnectionId id, int sendSges, int receiveSges, int minInline) throws Exception {
        int completions = sendDepth + receiveDepth;
        queue = device == null ? LoopQueue.standalone(context, completions) : device.reserve(completions);
        QueuePairInitAttributes attributes = new QueuePairInitAttributes(queue.queue, queue.queue)
                .maxSendRequests(sendDepth).maxReceiveRequests(receiveDepth).maxSendSges(sendSges)
                .maxReceiveSges(receiveSges);
        DeviceLimits.Factory factory = id == null ? context.domain::createQueuePair
                : init -> id.createQueuePair(context.domain, init);
        queuePair = DeviceLimits.createQueuePair(factory, context, attributes,
                Math.max(options.maxInline.get(), minInline), options.maxInline);
        return queuePair;
    }

    /** The completions are handled on this loop, if that was not known before. */
    void attach(RdmaIoHandler handler) throws Exception {
        if (device == null) {
            LoopDevice newDevice = handler.device(context);
            newDevice.adopt(queue);
            device = newDevice;
        }
    }

    /** From now on the owner gets the completions. On the loop. */
    void register(CompletionHandler owner) {
        number = queuePair.number();
        device.register(number, owner);
    }

    LoopDevice device() {
        return device;
    }

    /** Whether the completions come on this loop. */
    boolean isHome() {
        return device.home().isHere();
    }

    /** The first part of the end. From here on the device touches none of the memory. */
    void closeQueuePair() {
        if (queuePair != null) {
            if (device != null && isHome()) {
                device.unregister(number);
            }
            queuePair.close();
        }
    }

    /**
     * The second part.
     *
     * @param owner that had the completions, or {@code null}.
     */
    void release(CompletionHandler owner) {
        if (queue == null) {
            return;
        }
        if (device == null) {
            queue.close();
        } else if (isHome()) {
            device.release(queue, sendDepth + receiveDepth);
        } else {
            device.releaseFromElsewhere(number, owner, queue, sendDepth + receiveDepth);
        }
    }
}
