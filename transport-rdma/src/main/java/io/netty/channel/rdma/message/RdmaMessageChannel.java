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
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPipeline;
import io.netty.channel.rdma.AbstractRdmaConnectedChannel;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.connection.LingeringClose;
import io.netty.channel.rdma.connection.OutgoingConnection;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.loop.move.LoopId;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.StringUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

import static io.netty.util.internal.ObjectUtil.checkNotNull;

/**
 * A reliable connection whose messages keep their boundaries, with all operations of RDMA. Applications write an {@link
 * RdmaOperation} (or a {@link ByteBuf}, which is sent), and read an {@link RdmaReceive}. See the package description.
 */
public final class RdmaMessageChannel extends AbstractRdmaConnectedChannel {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaMessageChannel.class);
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    private static final String EXPECTED_TYPES = " (expected: " + StringUtil.simpleClassName(RdmaOperation.class) +
            ", " + StringUtil.simpleClassName(ByteBuf.class) + ')';
    private static final byte[] NO_DATA = { };

    final RdmaMessageChannelConfig config = new RdmaMessageChannelConfig(this);
    /** The request that this channel was made for, if it is a server's. */
    private final IncomingConnection incoming;
    private volatile MessageConnection connection;
    /**
     * The device of the address that the channel is bound to, of the request, or of the connection; {@code null}
     * before.
     */
    private volatile Device device;
    private volatile RdmaChannelState state = RdmaChannelState.IDLE;
    private volatile byte[] peerData = NO_DATA;
    /** Receives that the application posted before there was a queue pair; {@code null} if there are none. */
    private Queue<EarlyReceive> earlyReceives;
    /** {@code read()} was called before there was a connection. */
    private boolean readEarly;

    /**
     * Creates an unconnected channel.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public RdmaMessageChannel() {
        super(null);
        incoming = null;
    }

    /**
     * Creates a channel for a connection request that the application got from an event channel of its own. The request
     * belongs to the channel from now on. After the channel is registered with an event loop, its pipeline gets a
     * {@link RdmaConnectionRequest}.
     *
     * @param request of the type {@code CONNECT_REQUEST}.
     * @param reader runs tasks on the thread that reads that event channel. Only that thread may move the id of the
     *         request away (rdma_migrate_id(3)).
     */
    public RdmaMessageChannel(ConnectionEvent request, Executor reader) {
        this(null, request, checkNotNull(reader, "reader"));
    }

    /** @param reader {@code null} if the id of the request is given to the channel by its listener. */
    RdmaMessageChannel(RdmaServerMessageChannel parent, ConnectionEvent request, Executor reader) {
        super(parent);
        incoming = new IncomingConnection(this, request, reader);
        peerData = request.privateData();
        device = request.id().device();
        state = RdmaChannelState.STARTING;
        addresses(request.id().localAddress(), request.id().remoteAddress());
    }

    // ---- what it is

    /**
     * The state of the channel. Each change is also a user event of its pipeline, the {@link RdmaChannelState} itself.
     * The event may be late: {@code RUNNING} comes after {@code channelActive}. Any thread.
     */
    public RdmaChannelState state() {
        return state;
    }

    /**
     * Changes the state. The pipeline is told by a later task, because the caller may be in the middle of something.
     */
    private void changeState(RdmaChannelState newState) {
        if (state == newState) {
            return;
        }
        state = newState;
        if (isRegistered()) {
            try {
                eventLoop().execute(() -> pipeline().fireUserEventTriggered(newState));
            } catch (RejectedExecutionException e) {
                logger.debug("{}: the event loop has ended before the pipeline knew of {}", this, newState, e);
            }
        }
    }

    /** The data of the peer's request or acceptance, padded with zeros; empty before that has arrived. Any thread. */
    public byte[] peerData() {
        return peerData.clone();
    }

    /**
     * The attributes of the connection's queue pair, as its device reports them. The future fails with {@link
     * NotYetConnectedException} or {@link ClosedChannelException} if there is no connection. Any thread.
     */
    public Future<QueuePairInfo> info() {
        return callOnLoop(() -> existingConnection().info());
    }

    /**
     * The features and limits of the connection's device. Any thread.
     *
     * @throws NotYetConnectedException if the channel has no queue pair yet.
     * @throws IOException if the channel is closed, or the device does not tell.
     */
    public RdmaCapabilities capabilities() throws IOException {
        ChannelQueuePair queuePair = existingConnection().queuePair;
        return new RdmaCapabilities(queuePair.device(), queuePair.context().attributes);
    }

    /** The counters of the queue pair of this channel, all 0 before there is one. Any thread. */
    public RdmaMessageMetrics metrics() {
        MessageConnection current = connection;
        return current == null ? RdmaMessageMetrics.NONE : current.metrics;
    }

    private MessageConnection existingConnection() throws IOException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
        MessageConnection current = connection;
        if (current == null) {
            throw new NotYetConnectedException();
        }
        return current;
    }

    /**
     * Registers memory with the channel's device, if that has not been done, and returns its key for the peer. Any
     * thread.
     *
     * @return the description that the peer needs.
     * @throws NotYetConnectedException if the channel has no device yet. It has one when it is bound to an address of a
     *         device, was made for a request, or is connected. Before that, use {@link
     *         RemoteMemory#of(RegisteredMemory, String)}.
     * @throws IOException if the channel is closed, or the device does not register the memory.
     * @throws io.netty.util.IllegalReferenceCountException if the memory is closed.
     */
    public RemoteMemory export(RegisteredMemory memory) throws IOException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
        Device current = device;
        if (current == null) {
            throw new NotYetConnectedException();
        }
        return RemoteMemory.of(memory, current);
    }

    /**
     * Opens a part of memory to the peer of this channel alone, for a time, by a memory window of type 2. The memory
     * itself needs no remote permission. It needs {@link RdmaPermission#LOCAL_WRITE} if the window has {@link
     * RdmaPermission#REMOTE_WRITE} or {@link RdmaPermission#REMOTE_ATOMIC}. The channel's {@link
     * io.netty.channel.rdma.RdmaChannelOption#REMOTE_PERMISSIONS} must allow the permissions of the window, too. To
     * bind and to revoke a window costs one work request each. To register memory costs a system call, and the peer's
     * access then ends only with the memory. The memory is retained until the window is revoked. Any thread.
     *
     * <p>soft-RoCE (Linux 6.1) refuses access outside of the memory, but not outside of the part.
     *
     * @param offset of the part in bytes.
     * @param length of the part in bytes, at least 1.
     * @param permissions remote ones, at least one.
     * @return the window, once the peer can use it. Fails with a {@link NotYetConnectedException} or {@link
     *         ClosedChannelException} if there is no connection; with an {@link UnsupportedOperationException} if the
     *         device has no such windows ({@link RdmaCapabilities#supportsMemoryWindows()}), or the memory is a
     *         dma-buf; with an {@link io.netty.util.IllegalReferenceCountException} if the memory is closed; with an
     *         {@link IOException} if the device does not register the memory, or has no window left.
     * @throws IndexOutOfBoundsException if the part is not inside of the memory.
     * @throws IllegalArgumentException if the permissions are not as said.
     */
    public Future<RdmaMemoryWindow> bindWindow(RegisteredMemory memory, long offset, long length,
                                               Set<RdmaPermission> permissions) {
        if (offset < 0 || length <= 0 || offset > memory.length() - length) {
            throw new IndexOutOfBoundsException("offset: " + offset + ", length: " + length + " of the " + memory);
        }
        EnumSet<RdmaPermission> copy = EnumSet.noneOf(RdmaPermission.class);
        copy.addAll(permissions);
        if (copy.isEmpty() || copy.contains(RdmaPermission.LOCAL_WRITE)) {
            throw new IllegalArgumentException("permissions: " + copy + " (expected: remote ones, at least one)");
        }
        if (!memory.permissions().contains(RdmaPermission.LOCAL_WRITE) &&
                !copy.equals(EnumSet.of(RdmaPermission.REMOTE_READ))) {
            throw new IllegalArgumentException("permissions: " + copy + " in the " + memory +
                    " (expected: REMOTE_READ alone, or LOCAL_WRITE of the memory)");
        }
        Promise<RdmaMemoryWindow> promise = eventLoop().newPromise();
        onLoop(() -> {
            try {
                MessageConnection current = existingConnection();
                if (!isActive()) {
                    throw new NotYetConnectedException();
                }
                current.windows().bind(memory, offset, length, copy, promise);
            } catch (Throwable t) {
                promise.tryFailure(t);
            }
        });
        return promise;
    }

    @Override
    public RdmaServerMessageChannel parent() {
        return (RdmaServerMessageChannel) super.parent();
    }

    /**
     * The configuration of a {@link RdmaMessageChannel}. Beside those of any channel it takes these options of {@link
     * RdmaChannelOption}, with other defaults where one is given here:
     *
     * <ul>
     * <li>queue pair: {@code SEND_QUEUE_DEPTH}, {@code RECEIVE_QUEUE_DEPTH} (default 64), {@code MAX_INLINE}, {@code
     *     MAX_SEND_SGES}, {@code RECEIVE_BUFFER_SIZE}, {@code SHARED_RECEIVE_QUEUE}, {@code MAX_UNREAD_MESSAGES},
     *     {@code MAX_INLINE_RECEIVE}, {@code MANUAL_RECEIVES}, {@code MAX_RECEIVE_SGES}, {@code INITIATOR_DEPTH},
     *     {@code RESPONDER_RESOURCES}, {@code REMOTE_PERMISSIONS};</li>
     * <li>retries: {@code RETRY_COUNT}, {@code RNR_RETRY_COUNT}, {@code ACK_TIMEOUT}, {@code MIN_RNR_TIMER} (default
     *     12: 0.64 milliseconds, since a sender may well find no receive posted here);</li>
     * <li>connecting: {@code RESOLVE_TIMEOUT_MILLIS}, {@code CONNECT_DATA}, {@code DEVICE}, {@code DEVICE_PORT},
     *     {@code GID_INDEX}, {@code SERVICE_LEVEL}, {@code PATH_MTU}, {@code GLOBAL_HEADER};</li>
     * <li>of {@link ChannelOption}: {@code CONNECT_TIMEOUT_MILLIS} (default 5000), {@code IP_TOS}, {@code
     *     SO_REUSEADDR}, and {@code SO_LINGER}, the most seconds that a close waits for flushed operations (the default
     *     -1 stands for 3);</li>
     * <li>a dead peer: {@code SO_KEEPALIVE}, {@code KEEP_ALIVE_IDLE_MILLIS}, {@code KEEP_ALIVE_INTERVAL_MILLIS},
     *     {@code KEEP_ALIVE_COUNT}, {@code USER_TIMEOUT_MILLIS}, as for byte streams.</li>
     * </ul>
     * Options are read when the connection is made, {@code SO_LINGER} when the channel is closed. Those for a dead peer
     * may change at any time.
     */
    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    protected DefaultChannelPipeline newChannelPipeline() {
        return new MessagePipeline(this);
    }

    private MessageUnsafe messageUnsafe() {
        return (MessageUnsafe) ownUnsafe();
    }

    // ---- connecting

    @Override
    protected void doBind(SocketAddress localAddress) throws Exception {
        super.doBind(localAddress);
        device = boundId().device();
    }

    @Override
    protected boolean hasConnection() {
        return connection != null || incoming != null;
    }

    @Override
    protected boolean isBoundToLoop() {
        return connection != null || incoming != null && incoming.isBegun();
    }

    /** Takes over the connection after the peer has accepted. */
    private void connected(ConnectionEvent event, InetSocketAddress remote) throws Exception {
        peerData = event.privateData();
        connection.permit();
        listen(event.id(), connection::connectionEvent);
        changeState(RdmaChannelState.RUNNING);
        addresses(localAddress(), remote);
        connection.opened(true, providerReason());
        connected(remote);
        active();
    }

    @Override
    protected void connectEnded() {
        changeState(RdmaChannelState.IDLE);
    }

    /** The connection could not be made. */
    void connectionDiscarded() {
        connection = null;
    }

    /**
     * The address of this channel's queue pair, for connecting without the connection manager. The other side connects
     * to it, and this channel to the other's. First {@code bind} the channel to an address of a device, or choose a
     * device by the option {@link io.netty.channel.rdma.RdmaChannelOption#DEVICE}. The connection is established on
     * this side when {@code connect} is done. Messages that are sent before the other side has connected wait, as
     * {@code ACK_TIMEOUT} and {@code RETRY_COUNT} say. The other side is not told of the end: its operations fail then.
     * Any thread.
     *
     * @return fails with an {@link IllegalStateException} if the channel has no device, or connects by the connection
     *         manager, and with a {@link ClosedChannelException}.
     */
    public Future<RdmaEndpoint> exportEndpoint() {
        return callOnLoop(() -> {
            if (!isOpen()) {
                throw new ClosedChannelException();
            }
            return manualConnection().endpoint();
        });
    }

    private ManualConnector manualConnection() throws Exception {
        if (connection == null) {
            ConnectionId bound = boundId();
            String name = config.queuePair.device.name();
            Device chosen = bound != null ? bound.device() : name.isEmpty() ? null : Device.shared(name);
            if (incoming != null || chosen == null) {
                throw new IllegalStateException("bind the channel to an address of a device first, or choose one by " +
                        "the option DEVICE");
            }
            connection = new MessageConnection(this, chosen, bound);
            device = chosen;
            changeState(RdmaChannelState.STARTING);
        }
        if (connection.manual == null) {
            throw new AlreadyConnectedException();
        }
        return connection.manual;
    }

    private void connectTo(RdmaEndpoint peer, ChannelPromise promise) {
        try {
            if (isActive() || isConnecting() || incoming != null) {
                throw new AlreadyConnectedException();
            }
            manualConnection().connect(peer);
        } catch (Throwable t) {
            promise.tryFailure(t);
            return;
        }
        established(promise, true);
    }

    // ---- accepting

    @Override
    protected void registered(ChannelPromise promise) {
        promise.setSuccess();
        beginRequest();
    }

    @Override
    protected void registeredAgain() {
        beginRequest();
    }

    private void beginRequest() {
        if (incoming != null && !incoming.isBegun()) {
            // Later, so that the pipeline first gets channelRegistered.
            eventLoop().execute(incoming::begin);
        }
    }

    @Override
    protected void requestEvent(ConnectionEvent event) {
        incoming.connectionEvent(event);
    }

    ChannelFuture answer(boolean accept, byte[] data) {
        ChannelPromise promise = newPromise();
        onLoop(() -> incoming.answer(accept, data, promise));
        return promise;
    }

    /** Accepts a request that no handler has taken. The listener's pipeline gets a failure, as with accept(2). */
    void acceptUntaken() {
        answer(true, NO_DATA).addListener(future -> {
            if (incoming.isFailedHere()) {
                (parent() == null ? pipeline() : parent().pipeline()).fireExceptionCaught(future.cause());
            }
        });
    }

    /** Moves the id of the application's request to the loop of this channel. */
    void moveRequest(ConnectionId id, Executor reader) throws Exception {
        moveHere(id, reader, incoming::connectionEvent, failure -> incoming.arrived(id, failure));
    }

    /** Takes over the id of the application's request, which has arrived on the loop. */
    void requestArrived(ConnectionId id) throws Exception {
        request(id);
    }

    /** The id of the request, until it is accepted. */
    ConnectionId requestedId() {
        return boundId();
    }

    /** Sets the connection whose queue pair accepts the request. */
    void accepting(MessageConnection newConnection) throws Exception {
        connection = newConnection;
        listen(takeBoundId(), newConnection::connectionEvent);
    }

    /** See {@link #requestWithdrawn()}. */
    void withdrawn() {
        requestWithdrawn();
    }

    /** See {@link #confirmationMillis()}. */
    int confirmation() {
        return confirmationMillis();
    }

    /** Establishes the incoming connection: the peer has answered, or has sent a message. */
    void requestEstablished() {
        if (incoming != null) {
            incoming.established();
        }
    }

    /** Activates the channel after the peer's request, or the application's out-of-band connect, has succeeded. */
    void established(ChannelPromise promise, boolean outgoing) {
        try {
            connection.opened(outgoing, providerReason());
        } catch (Throwable t) {
            promise.tryFailure(t);
            throw t;
        }
        changeState(RdmaChannelState.RUNNING);
        established(localAddress(), remoteAddress());
        promise.trySuccess();
        pipeline().fireChannelActive();
        active();
    }

    static boolean refuse(ConnectionId id, byte[] data) {
        return reject(id, RdmaConnectMetrics.Rejection.APPLICATION, data);
    }

    /** Refuses a request, and releases its connection, if there is one. Returns whether the request was still there. */
    static boolean refuse(ConnectionId id, MessageConnection connection, String reason) {
        if (connection == null) {
            return reject(id, RdmaConnectMetrics.Rejection.SERVER, reason);
        }
        // To close the id first would close the queue pair before its shared receives are returned.
        boolean told = tellRejection(id, RdmaConnectMetrics.Rejection.SERVER, reason);
        connection.destroy();
        return told;
    }

    /** Reads and flushes as requested before the connection was made. After {@code channelActive}. */
    private void active() {
        if (readEarly) {
            readEarly = false;
            doBeginRead();
        }
        flushAgain();
    }

    // ---- output

    @Override
    protected Object filterOutboundMessage(Object msg) throws IOException {
        if (isClosing()) {
            throw new ClosedChannelException();
        }
        if (msg instanceof RdmaOperation operation) {
            RuntimeException refusal = operation.busy();
            if (refusal != null) {
                throw refusal;
            }
            operation.written();
            return msg;
        }
        if (msg instanceof ByteBuf data) {
            return new RdmaSend(data);
        }
        throw new UnsupportedOperationException("unsupported message type: " + StringUtil.simpleClassName(msg) +
                EXPECTED_TYPES);
    }

    @Override
    protected boolean isCloseWaiting() {
        return isClosing();
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        connection.sender.write(in);
    }

    /** Returns whether a close waits for what was flushed before. */
    boolean isClosing() {
        return messageUnsafe().isClosing();
    }

    /** Flushes again, because there may be room for operations that could not be posted. */
    void flushAgain() {
        messageUnsafe().flushNow();
    }

    // ---- input

    private record EarlyReceive(ReceiveTarget target, ChannelPromise promise) { }

    /** Posts a receive as {@link #postReceive(List)}. */
    public ChannelFuture postReceive(RegisteredSlice... memory) {
        return postReceive(Arrays.asList(memory));
    }

    /**
     * Posts a receive, with {@link io.netty.channel.rdma.RdmaChannelOption#MANUAL_RECEIVES}: one send of the peer goes
     * to this memory, and the pipeline gets an {@link RdmaReceive} with it as {@link RdmaReceive#memory() memory()}.
     * Receives are used in the order in which they were posted. If the channel has no queue pair yet, the receive waits
     * for it, and is posted before the peer can send. A server posts when it gets the {@link RdmaConnectionRequest}, a
     * client when the channel is registered. Any thread.
     *
     * <p>If a receive fails, for example because the connection has ended, the pipeline gets a user event: an {@code
     * RdmaReceive} with its {@link RdmaReceive#status() status} and this memory. When this side closes the channel,
     * there are no events for the remaining receives.
     *
     * <p>The device owns the memory until the message is read, the receive has failed, or the channel is closed ({@link
     * #closeFuture()}). If a connect fails, the application owns the memory of its receives again.
     *
     * @param memory up to {@code MAX_RECEIVE_SGES} slices, which the message fills one after the other, of memory with
     *         {@link io.netty.channel.rdma.RdmaPermission#LOCAL_WRITE}, also of a peer device. No slices for a receive
     *         that takes immediate data alone. A message that is longer than all of them ends the connection.
     * @return is done when the receive is posted. Fails with an {@link IllegalStateException} if {@code
     *         RECEIVE_QUEUE_DEPTH} receives are posted, or the option is not set; with an {@link
     *         IllegalArgumentException} if the memory is not as said, or is a peer device's while the processor copies
     *         short messages (mlx5, unless {@code MLX5_SCATTER_TO_CQE=0} is in the environment); with an {@link
     *         io.netty.util.IllegalReferenceCountException} if it is closed; with a {@link ClosedChannelException}.
     */
    public ChannelFuture postReceive(List<RegisteredSlice> memory) {
        return postReceive(ReceiveTarget.ofSlices(memory));
    }

    /**
     * Posts a receive as {@link #postReceive(List)}, into the writable bytes of buffers. The message then follows their
     * readable bytes. It is the content of the {@link RdmaReceive}, which has the {@link RdmaReceive#buffers()
     * buffers}, too.
     *
     * @param first of the channel's allocator or of {@link RegisteredMemory} with {@code LOCAL_WRITE}, in one piece.
     *         The caller keeps its reference, and must not use the buffer. The receive has another reference until it
     *         is read or has failed, or the channel is closed.
     * @param others more such buffers, for the rest of a longer message.
     */
    public ChannelFuture postReceive(ByteBuf first, ByteBuf... others) {
        List<ByteBuf> buffers = new ArrayList<>(1 + others.length);
        buffers.add(first);
        Collections.addAll(buffers, others);
        return postReceive(ReceiveTarget.ofBuffers(buffers));
    }

    private ChannelFuture postReceive(ReceiveTarget target) {
        ChannelPromise promise = newPromise();
        onLoop(() -> {
            if (isOpen() && connection == null && config.get(RdmaMessageChannelConfig.MANUAL_RECEIVES)) {
                if (earlyReceives == null) {
                    earlyReceives = new ArrayDeque<>();
                }
                earlyReceives.add(new EarlyReceive(target, promise));
            } else {
                post(connection, target, promise);
            }
        });
        return promise;
    }

    private void post(MessageConnection to, ReceiveTarget target, ChannelPromise promise) {
        try {
            if (!isOpen()) {
                throw new ClosedChannelException();
            }
            if (to == null) {
                throw new IllegalStateException("MANUAL_RECEIVES is not set: the channel posts its receives itself");
            }
            to.postReceive(target);
        } catch (Throwable t) {
            target.release();
            promise.tryFailure(t);
            return;
        }
        promise.trySuccess();
    }

    /** Posts the receives from before there was a queue pair. */
    void postEarly(MessageConnection to) {
        while (earlyReceives != null) {
            EarlyReceive receive = earlyReceives.poll();
            if (receive == null) {
                earlyReceives = null;
            } else {
                post(to, receive.target, receive.promise);
            }
        }
    }

    @Override
    protected void doBeginRead() {
        if (connection == null) {
            readEarly = true;
        } else {
            connection.receiver.beginRead();
        }
    }

    @Override
    protected void clearReadPending() {
        readEarly = false;
        if (connection != null) {
            connection.receiver.clearReadPending();
        }
    }

    void readingStopped() {
        autoReadCleared();
    }

    /** Returns whether the pipeline may get something. */
    boolean isReading() {
        return isOpen() && isRegistered();
    }

    /** Returns whether receives can be posted. */
    boolean isPosting() {
        return connection != null && !connection.isBroken();
    }

    /** Fails the connection: the queue pair takes no more work requests. */
    void connectionFailed(IOException cause) {
        connection.fail(cause);
    }

    // ---- the end

    /** Changes the state: from now on requests in flight come back. */
    void stopping() {
        if (isOpen() && state == RdmaChannelState.RUNNING) {
            changeState(RdmaChannelState.STOPPING);
        }
    }

    /** Goes on with a close that has waited until all posted operations are done. */
    void advanceClose() {
        messageUnsafe().advanceClose();
    }

    /**
     * Closes the channel after the connection has ended, and all messages that have arrived were read.
     *
     * @param unexpected whether no promise has failed because of it.
     */
    void connectionLost(IOException reason, boolean unexpected) {
        if (isConnecting()) {
            connectFailed(reason);
            return;
        }
        if (unexpected && isActive()) {
            pipeline().fireExceptionCaught(reason);
        }
        if (incoming != null) {
            incoming.failed(reason, unexpected && !(reason instanceof RdmaOperationException));
        }
        messageUnsafe().lost(reason);
    }

    /** Closes the channel after a second exception, when {@link #connectionLost} can't be called again. */
    void abort() {
        if (isOpen()) {
            messageUnsafe().lost(connection.cause());
        }
    }

    @Override
    protected void unexpected(Throwable cause) {
        if (connection != null) {
            connection.unexpected(cause);
        } else {
            super.unexpected(cause);
        }
    }

    /** Returns whether its event loop ends. */
    boolean isEnding() {
        return isLoopEnding();
    }

    void connectionDestroyed(ConnectionId id) {
        forget(id);
    }

    @Override
    protected void doClose() throws Exception {
        super.doClose();
        if (state == RdmaChannelState.RUNNING) {
            changeState(RdmaChannelState.STOPPING);
        }
        changeState(RdmaChannelState.IDLE);
    }

    /** Tells the connection that an option about a dead peer has changed. */
    void livenessChanged() {
        if (isRegistered()) {
            onLoop(() -> {
                if (connection != null) {
                    connection.livenessChanged();
                }
            });
        }
    }

    /** Reports an option's wrong value. */
    void refused(RuntimeException cause) {
        misused(cause);
    }

    @Override
    protected void closeConnection() {
        if (connection != null) {
            connection.close();
        }
        if (incoming != null) {
            incoming.close();
        }
        postEarly(null);
    }

    @Override
    protected AbstractRdmaUnsafe newUnsafe() {
        return new MessageUnsafe();
    }

    /** The unsafe of the pipeline. A close waits for a while until flushed operations are done. */
    private final class MessageUnsafe extends ConnectingUnsafe {
        private final LingeringClose lingering = new LingeringClose(RdmaMessageChannel.this::eventLoop, closeFuture(),
                RdmaMessageChannel.this::outputEnding, () -> config.getSoLinger());

        @Override
        protected QueuePairOptions queuePairOptions() {
            return config.queuePair;
        }

        @Override
        protected OutgoingConnection createConnection(LoopId id) throws Exception {
            connection = new MessageConnection(RdmaMessageChannel.this, id.id());
            device = id.id().device();
            return connection;
        }

        @Override
        protected void connected(OutgoingConnection established, ConnectionEvent event, InetSocketAddress peer)
                throws Exception {
            RdmaMessageChannel.this.connected(event, peer);
        }

        boolean isClosing() {
            return lingering.isClosing();
        }

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (remoteAddress instanceof RdmaEndpoint peer) {
                if (promise.setUncancellable() && ensureOpen(promise)) {
                    connectTo(peer, promise);
                }
                return;
            }
            super.connect(remoteAddress, localAddress, promise);
            if (isConnecting()) {
                changeState(RdmaChannelState.STARTING);
            }
        }

        @Override
        protected void flush0() {
            // Operations that are flushed before the request is accepted wait for that, as in a channel that connects.
            if (isActive() || state != RdmaChannelState.STARTING) {
                super.flush0();
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
            if (isWaitingForOperations() && promise.setUncancellable()) {
                lingering.start(loss -> super.close(promise, loss == null ? cause : loss, closeCause), false);
                stopping();
                connection.sender.drain();
                return;
            }
            super.close(promise, cause, closeCause);
        }

        private boolean isWaitingForOperations() {
            return isActive() && connection != null && !connection.isBroken() && connection.sender.isBusy() &&
                    config.getSoLinger() != 0 && !isLoopEnding();
        }

        void advanceClose() {
            if (lingering.isClosing() && !connection.sender.isBusy()) {
                lingering.closeNow(null);
            }
        }

        void lost(IOException cause) {
            if (lingering.closeNow(cause)) {
                return;
            }
            ClosedChannelException closed = new ClosedChannelException();
            closed.initCause(cause);
            super.close(voidPromise(), cause, closed);
        }
    }

    /** A pipeline that accepts a request if no handler has taken it. */
    private static final class MessagePipeline extends DefaultChannelPipeline {
        MessagePipeline(RdmaMessageChannel channel) {
            super(channel);
        }

        @Override
        protected void onUnhandledInboundUserEventTriggered(Object event) {
            if (event instanceof RdmaConnectionRequest request) {
                request.channel().acceptUntaken();
            } else {
                super.onUnhandledInboundUserEventTriggered(event);
            }
        }
    }
}
