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

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import io.netty.channel.rdma.connection.ConnectionResources;
import io.netty.channel.rdma.connection.OutboundRegion;
import io.netty.channel.rdma.connection.RdmaConnection;
import io.netty.channel.rdma.connection.StreamCounters;
import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.loop.LoopEvents;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.move.ConnectionIdMigration;
import io.netty.channel.rdma.stream.StreamProtocol;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.StringUtil;
import io.netty.util.internal.UnstableApi;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.List;

/**
 * Common parts of byte-stream channels: everything but their protocol on the wire.
 *
 * <p>For the channels of this transport.
 */
@UnstableApi
public abstract class AbstractRdmaSocketChannel extends AbstractRdmaConnectedChannel implements SocketChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    private static final String EXPECTED_TYPES = " (expected: " + StringUtil.simpleClassName(ByteBuf.class) + ", " +
            StringUtil.simpleClassName(FileRegion.class) + ')';

    private final StreamCounters counters = new StreamCounters();
    private final RdmaMetrics metrics = new RdmaMetrics(counters);
    final RdmaSocketChannelConfig config = new RdmaSocketChannelConfig(this);

    private final StreamProtocol protocol;
    /** Makes the connection of a channel that a listener has created; else {@code null}. */
    final RdmaAcceptor acceptor;
    private RdmaConnection connection;
    private volatile boolean outputShutdown;

    /**
     * Creates an unconnected channel.
     *
     * @param protocol of its connection.
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    @SuppressWarnings("exports") // for the channels of this transport
    protected AbstractRdmaSocketChannel(StreamProtocol protocol) {
        super(null);
        this.protocol = protocol;
        acceptor = null;
    }

    /** Creates a channel for a connection that a peer requests, which is accepted when the channel is registered. */
    @SuppressWarnings("exports") // for the channels of this transport
    protected AbstractRdmaSocketChannel(AbstractRdmaServerChannel<?> parent, ConnectionEvent request,
                                        StreamProtocol protocol) {
        super(parent);
        this.protocol = protocol;
        acceptor = new RdmaAcceptor(this, parent, request);
        local = request.id().localAddress();
        remote = request.id().remoteAddress();
    }

    /** Counters of the channel's bytes: in place, inline, or copied. Any thread. */
    public final RdmaMetrics metrics() {
        return metrics;
    }

    /**
     * Attributes of the connection, from its device: device, port, GID index, path MTU, traffic class, retries, queues.
     * {@link #providerChoice()} has the reason for its provider. The event loop asks the device. If called there, the
     * future is done at the return. The future fails with {@link NotYetConnectedException} or {@link
     * ClosedChannelException} if there is no connection. Any thread.
     */
    public final Future<QueuePairInfo> info() {
        return callOnLoop(() -> {
            if (!isOpen()) {
                throw new ClosedChannelException();
            }
            if (connection == null) {
                throw new NotYetConnectedException();
            }
            return connection.info();
        });
    }

    @Override
    public ServerSocketChannel parent() {
        return (ServerSocketChannel) super.parent();
    }

    /**
     * The configuration of a byte-stream channel. Beside the options of {@link RdmaChannelOption} it takes those of a
     * TCP socket channel, which have these meanings:
     *
     * <table>
     * <caption>Options of TCP</caption>
     * <tr><td>{@link ChannelOption#SO_RCVBUF}</td><td>the most bytes of registered memory that the peer may write to:
     *     at least 1, rounded to a power of two of 4096 to 256 MiB. Default 1 MiB. It starts with 64 KiB, grows with
     *     use and shrinks when it is not used: see {@link RdmaChannelOption#RECEIVE_BUFFER_IDLE_MILLIS}. Read when the
     *     connection is made.</td></tr>
     * <tr><td>{@link ChannelOption#SO_SNDBUF}</td><td>the most bytes in flight to the peer (one work request of any
     *     size is always allowed), and the most bytes that are sent after the channel is closed, by default 4
     *     MiB</td></tr>
     * <tr><td>{@link ChannelOption#RECVBUF_ALLOCATOR}</td><td>its handle decides how many reads there are in a turn of
     *     the event loop, and its guess bounds the bytes of a read. The guess of the default allocator bounds no read;
     *     that of any other one does, also of another {@code AdaptiveRecvByteBufAllocator}.</td></tr>
     * <tr><td>{@link ChannelOption#SO_LINGER}</td><td>0: closing resets the connection. More: the most seconds that a
     *     close waits until the bytes that were flushed before have arrived; -1, the default, as 3. Bytes that have not
     *     arrived by then are still sent as far as a socket's buffer would have taken them: see <i>The end of a
     *     connection</i> in the package description.</td></tr>
     * <tr><td>{@link ChannelOption#SO_KEEPALIVE}</td><td>an idle connection is tested with an empty RDMA write: see
     *     {@link RdmaChannelOption#KEEP_ALIVE_IDLE_MILLIS}. Default false.</td></tr>
     * <tr><td>{@code EpollChannelOption.TCP_KEEPIDLE}, {@code TCP_KEEPINTVL}, {@code TCP_KEEPCNT}, {@code
     *     TCP_USER_TIMEOUT} </td><td>the same as {@link RdmaChannelOption#KEEP_ALIVE_IDLE_MILLIS}, {@link
     *     RdmaChannelOption#KEEP_ALIVE_INTERVAL_MILLIS} (both in seconds), {@link RdmaChannelOption#KEEP_ALIVE_COUNT}
     *     and {@link RdmaChannelOption#USER_TIMEOUT_MILLIS}</td></tr>
     * <tr><td>{@link ChannelOption#SO_REUSEADDR}</td><td>given to the RDMA connection manager when the address is
     *     bound or connected</td></tr>
     * <tr><td>{@link ChannelOption#IP_TOS}</td><td>the traffic class of all packets of the connection ({@code
     *     RDMA_OPTION_ID_TOS}), 0 to 255. Set it on the client: its connect request carries it in the route, for both
     *     directions.</td></tr>
     * <tr><td>{@link ChannelOption#TCP_NODELAY}</td><td>always true: nothing is ever delayed</td></tr>
     * </table>
     *
     * The allocator is {@link RdmaByteBufAllocator#DEFAULT}. The write buffer water marks are higher than TCP's (256
     * KiB and 512 KiB), because bytes count until the device has delivered them, not only until a socket buffer took
     * them.
     */
    @Override
    public final SocketChannelConfig config() {
        return config;
    }

    @Override
    public final ChannelMetadata metadata() {
        return METADATA;
    }

    RdmaSocketUnsafe socketUnsafe() {
        return (RdmaSocketUnsafe) ownUnsafe();
    }

    // ---- accepting

    @Override
    protected void registered(ChannelPromise promise) {
        if (acceptor == null) {
            promise.setSuccess();
        } else {
            acceptor.start(promise);
        }
    }

    @Override
    List<? extends ConnectionIdMigration.Owner> idOwners() {
        return connection != null ? List.of(connection) : super.idOwners();
    }

    @Override
    protected void registeredAgain() {
        if (connection != null) {
            // Bytes may have arrived while the channel was not registered.
            connection.loop().execute(socketUnsafe().readLoop()::read);
        }
    }

    @Override
    protected void deregistered() {
        if (connection != null) {
            // A close may have been requested after the deregistration.
            socketUnsafe().ending.closeNow();
            if (isOpen()) {
                connection.detach();
            }
        } else {
            super.deregistered();
        }
    }

    @Override
    final void hold() {
        acceptor.hold();
    }

    @Override
    void request(LoopHandler handler, ConnectionId id) {
        acceptor.attach(handler);
    }

    @Override
    VerbsApi requestedBy() {
        return acceptor.verbs;
    }

    @Override
    void attachRequest(LoopHandler handler) {
        acceptor.attach(handler);
    }

    @Override
    void leaveRequest(EventChannel events) throws Exception {
        acceptor.leave(events);
    }

    /** Takes over the connection that this channel was created for, which makes the channel active. */
    void accepted(RdmaConnection newConnection) {
        connection = newConnection;
        activate();
    }

    // ---- connecting

    @Override
    protected boolean hasConnection() {
        return connection != null;
    }

    /** See {@link RdmaConnection#create}. */
    RdmaConnection newConnection(LoopBinding loop, ConnectionId id, LoopEvents.Listener listener) throws Exception {
        return newConnection(loop, id, listener, newConnectionResources(id, loop.handler()));
    }

    /** Makes a connection with an existing queue pair. The resources belong to it in any case. */
    RdmaConnection newConnection(LoopBinding loop, ConnectionId id, LoopEvents.Listener listener,
                                 ConnectionResources resources) throws Exception {
        return RdmaConnection.create(socketUnsafe(), loop, id, listener, resources);
    }

    /** See {@link ConnectionResources#create}. */
    ConnectionResources newConnectionResources(ConnectionId id, LoopHandler handler) throws Exception {
        return ConnectionResources.create(protocol, id, config.options, counters, handler);
    }

    /** The connection, or {@code null} before there is one. */
    RdmaConnection connection() {
        return connection;
    }

    /** Takes over a connection that the peer has accepted. */
    void connected(RdmaConnection newConnection, ConnectionEvent event, InetSocketAddress newRemote) throws Exception {
        newConnection.establish(event.privateData(), true);
        connection = newConnection;
        connected(newRemote);
        connection.start();
        // Sends messages that were flushed while the channel was connecting.
        socketUnsafe().flush0();
    }

    // ---- output

    @Override
    protected Object filterOutboundMessage(Object msg) throws IOException {
        if (isOutputEnding()) {
            // AbstractChannel throws the same after the end.
            throw new ClosedChannelException();
        }
        if (msg instanceof ByteBuf) {
            return msg;
        }
        if (msg instanceof FileRegion) {
            return new OutboundRegion(socketUnsafe(), (FileRegion) msg);
        }
        throw new UnsupportedOperationException("unsupported message type: " + StringUtil.simpleClassName(msg) +
                EXPECTED_TYPES);
    }

    @Override
    protected boolean isCloseWaiting() {
        return socketUnsafe().ending.isClosing();
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        connection.sendPath().flushed(in);
    }

    void validate(DefaultFileRegion region) throws IOException {
        validateFileRegion(region, region.transferred());
    }

    // ---- input

    @Override
    protected void doBeginRead() {
        socketUnsafe().readLoop().beginRead();
    }

    @Override
    protected void clearReadPending() {
        socketUnsafe().readLoop().clearReadPending();
    }

    // ---- half close and close

    @Override
    public boolean isInputShutdown() {
        return socketUnsafe().readLoop().isInputShutdown() || !isOpen();
    }

    @Override
    public boolean isOutputShutdown() {
        return outputShutdown || !isOpen();
    }

    @Override
    public boolean isShutdown() {
        return isInputShutdown() && isOutputShutdown();
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        onConnection(() -> socketUnsafe().ending.shutdownOutput(promise));
        return promise;
    }

    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        onConnection(() -> {
            if (!isOpen()) {
                promise.setFailure(new ClosedChannelException());
            } else if (connection == null) {
                promise.setFailure(new NotYetConnectedException());
            } else {
                socketUnsafe().readLoop().shutdownInput();
                promise.setSuccess();
            }
        });
        return promise;
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        shutdownOutput().addListener(output -> shutdownInput().addListener(input -> {
            Throwable cause = output.cause() != null ? output.cause() : input.cause();
            if (cause != null) {
                promise.setFailure(cause);
            } else {
                promise.setSuccess();
            }
        }));
        return promise;
    }

    /**
     * Runs a task on the loop of the connection. While the channel moves, its connection is on no loop, and the task
     * waits for the arrival.
     */
    private void onConnection(Runnable task) {
        onLoop(() -> {
            if (isOpen() && connection != null && !connection.loop().handler().isHere()) {
                connection.loop().execute(task);
            } else {
                task.run();
            }
        });
    }

    @Override
    protected void doShutdownOutput() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
        if (connection == null) {
            throw new NotYetConnectedException();
        }
        outputShutdown = true;
        connection.sendPath().shutdownOutput();
    }

    @Override
    protected void doClose() throws Exception {
        super.doClose();
        socketUnsafe().ending.cancelShutdown();
    }

    @Override
    protected void closeConnection() {
        if (connection != null) {
            connection.close(config.getSoLinger() == 0);
        } else if (acceptor != null) {
            acceptor.close();
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

    void livenessChanged() {
        if (isRegistered()) {
            onLoop(() -> {
                if (connection != null) {
                    connection.sendPath().livenessChanged();
                }
            });
        }
    }

    @Override
    protected AbstractRdmaUnsafe newUnsafe() {
        return new RdmaSocketUnsafe(this);
    }
}
