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

import io.netty.buffer.ByteBuf;
import io.netty.channel.AddressedEnvelope;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.connection.LingeringClose;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.connection.DeviceOptions;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.StringUtil;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;

/**
 * Unreliable datagrams (UD). Applications read {@link RdmaDatagram}s. They write them, or any other {@link
 * AddressedEnvelope} of a {@link ByteBuf} such as a {@code DatagramPacket}, or, on a connected channel, a {@link
 * ByteBuf}. Bind or connect the channel first. See the package description.
 */
public final class RdmaDatagramChannel extends AbstractRdmaDatagramChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(true, 16);
    private static final String EXPECTED_TYPES = " (expected: " + StringUtil.simpleClassName(AddressedEnvelope.class) +
            '<' + StringUtil.simpleClassName(ByteBuf.class) + ", " +
            StringUtil.simpleClassName(InetSocketAddress.class) + " or " +
            StringUtil.simpleClassName(RdmaDatagramAddress.class) + ">, or a " +
            StringUtil.simpleClassName(ByteBuf.class) + " when connected)";

    final RdmaDatagramChannelConfig config = new RdmaDatagramChannelConfig(this);
    private volatile DatagramQueuePair queuePair;
    /** The peer that the channel is connected to: as given, and the queue pair there. */
    private volatile SocketAddress connectedTo;
    private volatile RdmaDatagramAddress peer;
    /** {@code read()} was called before the channel was bound. */
    private boolean readEarly;

    /**
     * Creates an unbound channel.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public RdmaDatagramChannel() {
        super(null);
    }

    // ---- what it is

    /**
     * The configuration of a {@link RdmaDatagramChannel}. Beside those of any channel it takes these options of {@link
     * RdmaChannelOption}, with other defaults where one is given here:
     *
     * <ul>
     * <li>queue pair: {@code SEND_QUEUE_DEPTH}, {@code RECEIVE_QUEUE_DEPTH} (default 128; when so many datagrams are
     *     not read yet, further ones are lost), {@code MAX_INLINE}, {@code MAX_SEND_SGES};</li>
     * <li>addresses: {@code ADDRESS_TTL_MILLIS}, {@code RESOLVE_TIMEOUT_MILLIS}, {@code DEVICE}, {@code DEVICE_PORT},
     *     {@code GID_INDEX};</li>
     * <li>of {@link ChannelOption}: {@code CONNECT_TIMEOUT_MILLIS}, the time to find the queue pair for an address
     *     (default 5000); {@code IP_TOS}, {@code SO_REUSEADDR}, and {@code SO_LINGER}, the most seconds that a close
     *     waits until flushed datagrams are sent (the default -1 stands for 3).</li>
     * </ul>
     * Options of the queue pair are read when the channel is bound.
     */
    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    /**
     * The address of the queue pair where this channel receives, for peers that do not use its {@link #localAddress()}.
     * Any thread.
     *
     * @throws NotYetBoundException if it is not bound.
     */
    public RdmaDatagramAddress datagramAddress() {
        DatagramQueuePair bound = bound();
        return new RdmaDatagramAddress(bound.port.gid(), bound.port.attributes.lid(), queuePairNumber(),
                RdmaDatagramAddress.DEFAULT_QUEUE_KEY);
    }

    /**
     * The most bytes of a datagram: the MTU of the port, 256 to 4096. Any thread.
     *
     * @throws NotYetBoundException if the channel is not bound.
     */
    public int maxPayload() {
        return bound().port.attributes.activeMtu();
    }

    /** The counters of the queue pair of this channel, all 0 before there is one. Any thread. */
    public RdmaMessageMetrics metrics() {
        DatagramQueuePair current = queuePair;
        return current == null ? RdmaMessageMetrics.NONE : current.metrics;
    }

    /**
     * The number of datagrams that have arrived but were not given to the pipeline. Either another than the peer of a
     * connected channel has sent them, or their header makes no sense. Devices do not count the datagrams that they
     * drop because all receives are in use. Any thread.
     */
    public long dropped() {
        DatagramQueuePair current = queuePair;
        return current == null ? 0 : current.receives.dropped();
    }

    /**
     * The features and limits of the channel's device. Any thread.
     *
     * @throws IOException if the device does not tell.
     * @throws NotYetBoundException if the channel is not bound.
     */
    public RdmaCapabilities capabilities() throws IOException {
        DatagramQueuePair bound = bound();
        return new RdmaCapabilities(bound.queuePair.device(), bound.queuePair.context().attributes);
    }

    private DatagramQueuePair bound() {
        DatagramQueuePair current = queuePair;
        if (current == null) {
            throw new NotYetBoundException();
        }
        return current;
    }

    private DatagramQueuePair open() throws IOException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
        return bound();
    }

    // ---- groups

    /** Joins a group as {@link #joinGroup(InetAddress, boolean)}, to receive and to send. */
    public Future<RdmaDatagramAddress> joinGroup(InetAddress group) {
        return joinGroup(group, false);
    }

    /**
     * Joins a multicast group. Once the future has succeeded, the channel receives datagrams for the group, including
     * its own, and can send to the group. Any thread.
     *
     * @param sendOnly true to send only, which not all networks have.
     * @return a recipient that may be used in place of an {@link InetSocketAddress} with the address of the group.
     *         Fails with an {@link IOException} that has the reason, which is a {@link RdmaMulticastException} if the
     *         network has refused; with a {@link NotYetBoundException}; with an {@link IllegalArgumentException} if the
     *         address is not multicast; and with an {@link IllegalStateException} if the channel has joined the group
     *         already.
     */
    public Future<RdmaDatagramAddress> joinGroup(InetAddress group, boolean sendOnly) {
        Promise<RdmaDatagramAddress> promise = eventLoop().newPromise();
        onLoop(() -> {
            try {
                if (!group.isMulticastAddress()) {
                    throw new IllegalArgumentException("group: " + group + " (expected: a multicast address)");
                }
                open().groups.join(group, sendOnly, promise);
            } catch (Throwable t) {
                promise.tryFailure(t);
            }
        });
        return promise;
    }

    /**
     * Leaves a group. If the join is not complete, it fails. The future fails with an {@link IllegalStateException} if
     * the channel has not joined it. Any thread.
     */
    public Future<Void> leaveGroup(InetAddress group) {
        return callOnLoop(() -> {
            open().groups.leave(group);
            return null;
        });
    }

    @Override
    void groupEvent(ConnectionEvent event) {
        if (event.type() == ConnectionEventType.DEVICE_REMOVAL) {
            queuePair.fail(new IOException(queuePair.queuePair.device() + " was removed"));
        } else if (event.multicastGroup() != null) {
            queuePair.groups.event(event);
        }
    }

    /** The joined group with this global identifier, or {@code null}. */
    InetAddress group(byte[] gid) {
        return queuePair.groups.find(gid);
    }

    // ---- addresses

    /**
     * Forgets the queue pair of an address, so that the next datagram makes the channel ask for it. Useful after a
     * restart of the peer, which the channel otherwise notices within {@link
     * io.netty.channel.rdma.RdmaChannelOption#ADDRESS_TTL_MILLIS}. Any thread.
     */
    public Future<Void> forgetAddress(InetSocketAddress address) {
        return callOnLoop(() -> {
            open().recipients.forget(address);
            return null;
        });
    }

    /** The recipient of datagrams that name none, or {@code null}. */
    SocketAddress connectedTo() {
        return connectedTo;
    }

    /** The only sender whose datagrams are read; {@code null} for all senders. */
    RdmaDatagramAddress peer() {
        return peer;
    }

    /** Updates the peer of a connected channel, after its address was asked for again. */
    void recipientFound(InetSocketAddress address, RdmaDatagramAddress target) {
        if (address.equals(connectedTo)) {
            peer = target;
        }
    }

    @Override
    boolean isReuseAddress() {
        return config.get(QueuePairOptions.REUSE_ADDRESS);
    }

    @Override
    DeviceOptions deviceOptions() {
        return config.queuePair.device;
    }

    @Override
    void createQueuePair(ConnectionId id) throws Exception {
        queuePair = new DatagramQueuePair(this, id);
        if (readEarly) {
            readEarly = false;
            queuePair.receiver.beginRead();
        }
    }

    @Override
    void destroyQueuePair() {
        if (queuePair != null) {
            queuePair.destroy();
            if (isOpen()) {
                // The application may try to bind another address.
                queuePair = null;
            }
        }
    }

    void queuePairDestroyed(ConnectionId id) {
        forget(id);
    }

    @Override
    int queuePairNumber() {
        return queuePair.queuePair.queuePair().number();
    }

    // ---- output

    @Override
    protected Object filterOutboundMessage(Object msg) throws IOException {
        if (datagramUnsafe().lingering.isClosing()) {
            throw new ClosedChannelException();
        }
        if (msg instanceof RdmaDatagram datagram) {
            return new DatagramSend(datagram.content(), checkRecipient(datagram.recipient()), datagram.hasImmediate(),
                    datagram.immediate());
        }
        if (msg instanceof ByteBuf data) {
            return new DatagramSend(data, checkRecipient(null), false, 0);
        }
        if (msg instanceof AddressedEnvelope<?, ?> envelope && envelope.content() instanceof ByteBuf data) {
            return new DatagramSend(data, checkRecipient(envelope.recipient()), false, 0);
        }
        throw new UnsupportedOperationException("unsupported message type: " + StringUtil.simpleClassName(msg) +
                EXPECTED_TYPES);
    }

    @Override
    protected boolean isCloseWaiting() {
        return datagramUnsafe().lingering.isClosing();
    }

    private SocketAddress checkRecipient(SocketAddress recipient) {
        if (recipient == null) {
            if (connectedTo == null) {
                throw new NotYetConnectedException();
            }
        } else if (recipient instanceof InetSocketAddress address) {
            if (address.isUnresolved()) {
                throw new UnresolvedAddressException();
            }
        } else if (!(recipient instanceof RdmaDatagramAddress)) {
            throw new UnsupportedOperationException("unsupported recipient: " + StringUtil.simpleClassName(recipient) +
                    EXPECTED_TYPES);
        }
        return recipient;
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        queuePair.sender.write(in);
    }

    /** Flushes again, because there may be room for waiting datagrams, or their addresses are known. */
    void flushAgain() {
        datagramUnsafe().flushNow();
    }

    // ---- input

    @Override
    protected void doBeginRead() {
        if (queuePair == null) {
            readEarly = true;
        } else {
            queuePair.receiver.beginRead();
        }
    }

    @Override
    protected void clearReadPending() {
        readEarly = false;
        if (queuePair != null) {
            queuePair.receiver.clearReadPending();
        }
    }

    void readingStopped() {
        autoReadCleared();
    }

    /** Returns whether the pipeline may get something. */
    boolean isReading() {
        return isOpen() && isRegistered() && isActive();
    }

    /** Returns whether receives can be posted. */
    boolean isPosting() {
        return isOpen() && !queuePair.isBroken();
    }

    // ---- the end

    /** Closes the channel: the queue pair does not work any more. */
    void failed(IOException cause) {
        pipeline().fireExceptionCaught(cause);
        datagramUnsafe().closeNow(cause);
    }

    @Override
    protected void unexpected(Throwable cause) {
        if (queuePair != null) {
            queuePair.unexpected(cause);
        } else {
            super.unexpected(cause);
        }
    }

    /** Goes on with a close that has waited until all posted datagrams are done. */
    void advanceClose() {
        datagramUnsafe().advanceClose();
    }

    @Override
    protected void doDisconnect() {
        connectedTo = null;
        peer = null;
        addresses(localAddress(), null);
    }

    @Override
    protected void doClose() throws Exception {
        super.doClose();
        datagramUnsafe().cancelConnect();
    }

    private DatagramUnsafe datagramUnsafe() {
        return (DatagramUnsafe) ownUnsafe();
    }

    @Override
    protected AbstractRdmaUnsafe newUnsafe() {
        return new DatagramUnsafe();
    }

    /** The unsafe of the pipeline. A close waits for a while until flushed datagrams are sent. */
    private final class DatagramUnsafe extends AbstractRdmaUnsafe implements ServiceResolution.Listener {
        private final LingeringClose lingering = new LingeringClose(RdmaDatagramChannel.this::eventLoop, closeFuture(),
                RdmaDatagramChannel.this::outputEnding, () -> config.getSoLinger());
        private ChannelPromise connectPromise;
        private InetSocketAddress connectAddress;
        private ServiceResolution connecting;

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (!promise.setUncancellable() || !ensureOpen(promise)) {
                return;
            }
            boolean wasActive = isActive();
            try {
                if (connectPromise != null) {
                    throw new ConnectionPendingException();
                }
                if (connectedTo != null) {
                    throw new AlreadyConnectedException();
                }
                if (localAddress != null) {
                    doBind(localAddress);
                }
                if (remoteAddress instanceof RdmaDatagramAddress target) {
                    bound();
                    connected(remoteAddress, target);
                    promise.trySuccess();
                    if (!wasActive) {
                        pipeline().fireChannelActive();
                    }
                    return;
                }
                connectAddress = checkResolved(remoteAddress);
                if (connectAddress.getAddress().isMulticastAddress()) {
                    throw new UnsupportedOperationException("a channel can't be connected to a group, whose address " +
                            "no datagram has as its sender: join " + connectAddress + " and send to it");
                }
                connecting = new ServiceResolution(RdmaDatagramChannel.this, config.queuePair, connectAddress, this);
                connecting.start(isActive() ? RdmaDatagramChannel.this.localAddress() : null,
                        config.getConnectTimeoutMillis());
                connectPromise = promise;
                if (!wasActive && isActive()) {
                    pipeline().fireChannelActive();
                }
            } catch (Throwable t) {
                promise.tryFailure(annotateConnectException(t, remoteAddress));
                closeIfClosed();
            }
        }

        @Override
        public void resolved(ConnectionId id, ConnectionEvent answer) throws Exception {
            boolean wasActive = isActive();
            if (!wasActive) {
                doBind(new InetSocketAddress(id.localAddress().getAddress(), 0));
            }
            RdmaDatagramAddress target = queuePair.recipients.address(id, answer);
            connected(connectAddress, target);
            queuePair.recipients.put(connectAddress, target);
            ChannelPromise promise = connectPromise;
            connectPromise = null;
            promise.trySuccess();
            if (!wasActive) {
                pipeline().fireChannelActive();
            }
        }

        private void connected(SocketAddress to, RdmaDatagramAddress target) {
            peer = target;
            connectedTo = to;
            addresses(RdmaDatagramChannel.this.localAddress(), to instanceof InetSocketAddress ip ? ip : null);
        }

        @Override
        public void failed(Throwable cause) {
            ChannelPromise promise = connectPromise;
            if (promise != null) {
                connectPromise = null;
                promise.tryFailure(annotateConnectException(cause, connectAddress));
                closeIfClosed();
            }
        }

        void cancelConnect() {
            if (connectPromise != null) {
                connecting.cancel();
                failed(new ClosedChannelException());
            }
        }

        void flushNow() {
            flush0();
        }

        @Override
        protected void close(ChannelPromise promise, Throwable cause, ClosedChannelException closeCause) {
            if (lingering.isClosing()) {
                lingering.join(promise, isLoopEnding());
                return;
            }
            if (isActive() && !queuePair.isBroken() && queuePair.sender.isBusy() && config.getSoLinger() != 0 &&
                    !isLoopEnding() && promise.setUncancellable()) {
                lingering.start(loss -> super.close(promise, loss == null ? cause : loss, closeCause), false);
                return;
            }
            super.close(promise, cause, closeCause);
        }

        void advanceClose() {
            if (lingering.isClosing() && !queuePair.sender.isBusy()) {
                lingering.closeNow(null);
            }
        }

        void closeNow(IOException cause) {
            if (!lingering.closeNow(cause)) {
                ClosedChannelException closed = new ClosedChannelException();
                closed.initCause(cause);
                super.close(voidPromise(), cause, closed);
            }
        }
    }
}
