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
 * Unreliable datagrams (UD): what is read is an {@link RdmaDatagram}; what is written is one, or any other {@link
 * AddressedEnvelope} of a {@link ByteBuf}, such as a {@code DatagramPacket}, or once connected a {@link ByteBuf}. Bind
 * or connect it first. See the package description.
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
     * <li>queue pair: {@code SEND_QUEUE_DEPTH}, {@code RECEIVE_QUEUE_DEPTH} (default 128: what comes while so many
     *     datagrams have not been read is lost), {@code MAX_INLINE}, {@code MAX_SEND_SGES};</li>
     * <li>addresses: {@code ADDRESS_TTL_MILLIS}, {@code RESOLVE_TIMEOUT_MILLIS}, {@code DEVICE}, {@code DEVICE_PORT},
     *     {@code GID_INDEX};</li>
     * <li>of {@link ChannelOption}: {@code CONNECT_TIMEOUT_MILLIS}: how long it may take in all to find out which
     *     queue pair receives the datagrams for an address (default 5000); {@code IP_TOS}, {@code SO_REUSEADDR}, and
     *     {@code SO_LINGER}: the most seconds that a close waits until what was flushed before is sent; -1, the
     *     default, as 3.</li>
     * </ul>
     * Those of the queue pair are read when the channel is bound.
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
     * The address of the queue pair where this channel receives, for peers that are told in another way than by its
     * {@link #localAddress()}. Any thread.
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
     * Number of datagrams that arrived and were not given to the pipeline: from others than the peer of a connected
     * channel, or with a senseless header. Not those that the device has dropped because all receives were in use: it
     * does not tell. Any thread.
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
     * Joins a multicast group. From the success of the future on, datagrams for it arrive, also those that this channel
     * sends to it itself, and it can be sent to. Any thread.
     *
     * @param sendOnly not to receive; not all networks have that.
     * @return what is sent to in place of an {@link InetSocketAddress} with the address of the group, if so wished.
     *         Fails with an {@link IOException}, a {@link RdmaMulticastException} if the network has refused, that says
     *         why; with a {@link NotYetBoundException}; with an {@link IllegalArgumentException} if the address is none
     *         of multicast; and with an {@link IllegalStateException} if the channel has joined the group already.
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
     * Leaves a group, also one that is about to be joined: that join fails. Fails with an {@link IllegalStateException}
     * if the channel has not joined it. Any thread.
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

    /** The joined group that the identifier stands for, or {@code null}. */
    InetAddress group(byte[] gid) {
        return queuePair.groups.find(gid);
    }

    // ---- addresses

    /**
     * Forgets which queue pair receives the datagrams for an address: it is asked for with the next one. For who knows
     * that the peer has begun anew; otherwise that is noticed within {@link
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

    /** The only sender whose datagrams are read, or {@code null}: all are. */
    RdmaDatagramAddress peer() {
        return peer;
    }

    /** The address was asked for. */
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

    /** Flushes again: there may be room for datagrams that could not be sent, or their addresses are known. */
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

    /** The queue pair does not work any more. */
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

    /** The part that the pipeline calls. A close waits for a while until what was flushed before is sent. */
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
