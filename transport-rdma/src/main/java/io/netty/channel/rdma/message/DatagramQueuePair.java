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

import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.connection.QueuePairResources;
import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.channel.rdma.verbs.WorkCompletions;
import io.netty.util.NetUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.NotYetConnectedException;

/**
 * The queue pair of a {@link RdmaDatagramChannel}, with its sender and receiver. On the loop of the channel.
 */
final class DatagramQueuePair extends CompletionHandler {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(DatagramQueuePair.class);

    private final RdmaDatagramChannel channel;
    private final ConnectionId id;
    final ChannelQueuePair queuePair;
    final DevicePort port;
    final RdmaMessageMetrics metrics = new RdmaMessageMetrics();
    final DatagramReceives receives;
    final MessageReceiver receiver;
    final DatagramSender sender;
    final DatagramRecipients recipients;
    final MulticastGroups groups;
    private IOException failure;
    private boolean destroyed;

    /**
     * Creates the queue pair, with its receives posted.
     *
     * @param id bound to a device. On success it belongs to this object.
     */
    DatagramQueuePair(RdmaDatagramChannel channel, ConnectionId id) throws Exception {
        this.channel = channel;
        this.id = id;
        RdmaDatagramChannelConfig config = channel.config;
        Device device = QueuePairResources.device(id);
        if (device.isIwarp()) {
            throw new IOException(device + " is an iWARP device, which has no datagrams (RFC 5040): bind to an " +
                    "address of an InfiniBand or RoCE device, or use UDP");
        }
        queuePair = ChannelQueuePair.create(channel, id, device, config.queuePair,
                RdmaMessageChannelConfig.MAX_SEND_SGES, null, ChannelQueuePair.NOT_SHARED, this);
        DatagramReceives created = null;
        try {
            port = DevicePort.find(queuePair, id, config.queuePair.device);
            created = new DatagramReceives(channel, queuePair, port, metrics);
            receives = created;
            receiver = new MessageReceiver(channel, queuePair, receives, metrics, channel::isReading, this::fail);
            sender = new DatagramSender(channel, this, queuePair, port);
            recipients = new DatagramRecipients(channel, queuePair.device(), sender);
            groups = new MulticastGroups(channel, id, queuePair.device());
            receiver.postAll();
        } catch (Throwable t) {
            queuePair.close();
            if (created != null) {
                created.release();
            }
            throw t;
        }
        metrics.open();
    }

    /** Sets the target of a datagram. Returns false if it is not known yet. */
    boolean route(DatagramSend send) throws Exception {
        SocketAddress recipient = send.recipient == null ? channel.connectedTo() : send.recipient;
        if (recipient == null) {
            throw new NotYetConnectedException();
        }
        if (recipient instanceof RdmaDatagramAddress) {
            send.target((RdmaDatagramAddress) recipient);
            return true;
        }
        InetSocketAddress address = (InetSocketAddress) recipient;
        if (!address.getAddress().isMulticastAddress()) {
            return recipients.route(send, address);
        }
        RdmaDatagramAddress target = groups.target(address.getAddress());
        if (target == null) {
            throw new RdmaMulticastException(address.getAddress(), "the channel has not joined " +
                    NetUtil.toAddressString(address.getAddress()) +
                    ": who sends to a group must join it, if only to send");
        }
        send.target(target);
        return true;
    }

    @Override
    public void completed(WorkCompletions completions, int index) {
        int status = completions.status(index);
        if (MessageReceiver.isReceive(completions.workRequestId(index))) {
            receiver.completed(completions, index);
            if (status != WorkCompletionStatus.SUCCESS && status != WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
                fail(new RdmaOperationException(status));
            }
        } else {
            sender.completed(completions.workRequestId(index), status);
            if (status != WorkCompletionStatus.SUCCESS) {
                fail(new IOException("The queue pair of " + channel + " can't send any more: " +
                        WorkCompletionStatus.describe(status)));
            }
        }
    }

    @Override
    public void completionsDone() {
        if (!destroyed) {
            sender.complete();
        }
        if (!destroyed) {
            receiver.read();
        }
        if (!destroyed) {
            channel.advanceClose();
        }
    }

    boolean isBroken() {
        return failure != null;
    }

    /** Fails the queue pair. The caller may be in the middle of something, so a later task does the rest. */
    void fail(IOException cause) {
        if (failure == null) {
            failure = cause;
            queuePair.execute(() -> {
                if (!destroyed) {
                    sender.complete();
                    channel.failed(cause);
                }
            });
        }
    }

    @Override
    public void unexpected(Throwable cause) {
        if (destroyed) {
            logger.debug("{}: in the middle of its end", channel, cause);
            return;
        }
        failure = new IOException(channel + " failed: " + cause, cause);
        queuePair.execute(() -> {
            if (!destroyed) {
                channel.failed(failure);
            }
        });
    }

    @Override
    public void failed(Throwable cause) {
        fail(cause instanceof IOException ? (IOException) cause : new IOException(cause));
    }

    @Override
    public void destroy() {
        if (destroyed) {
            return;
        }
        destroyed = true;
        if (sender.isBusy()) {
            // A datagram that could not be sent in time is dropped: a device may wait for it when the queue pair is
            // destroyed, as the embedded provider does for the first datagrams to a process that does not answer.
            dropPosted();
        }
        recipients.close();
        groups.close();
        queuePair.close();
        channel.queuePairDestroyed(id);
        id.close();
        sender.release();
        receiver.release();
        metrics.close();
    }

    private void dropPosted() {
        try {
            queuePair.queuePair().toError();
        } catch (VerbsException e) {
            logger.debug("{}: the queue pair could not be stopped", channel, e);
        }
    }
}
