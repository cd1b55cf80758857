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
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.StringUtil;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * A {@link SocketChannel} over RDMA. To handlers it behaves as one over TCP; see the package description for the
 * differences.
 */
public final class RdmaSocketChannel extends AbstractRdmaChannel implements SocketChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    private static final String EXPECTED_TYPES = " (expected: " + StringUtil.simpleClassName(ByteBuf.class) + ", " +
            StringUtil.simpleClassName(FileRegion.class) + ')';

    private final RdmaMetrics metrics = new RdmaMetrics(RdmaMetrics.TOTAL);
    private final RdmaSocketChannelConfig config = new RdmaSocketChannelConfig(this);

    private final RdmaReadLoop readLoop = new RdmaReadLoop(this);
    /** Makes the connection that this channel was created for, if it is a server's. */
    private final RdmaAcceptor acceptor;
    /** Bound before connecting. */
    private ConnectionId boundId;
    private RdmaConnector connector;
    private RdmaConnection connection;
    private volatile boolean outputShutdown;

    /**
     * Creates an unconnected channel.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public RdmaSocketChannel() {
        super(null);
        acceptor = null;
    }

    /** A connection that a peer asked for. It is accepted when the channel is registered. */
    RdmaSocketChannel(RdmaServerSocketChannel parent, ConnectionId id, ConnectionData peer) {
        super(parent);
        acceptor = new RdmaAcceptor(this, parent, id, peer);
        local = id.localAddress();
        remote = id.remoteAddress();
    }

    /**
     * How many bytes went which way. Any thread.
     */
    public RdmaMetrics metrics() {
        return metrics;
    }

    @Override
    public RdmaServerSocketChannel parent() {
        return (RdmaServerSocketChannel) super.parent();
    }

    @Override
    public RdmaSocketChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return (InetSocketAddress) super.remoteAddress();
    }

    // ---- accepting

    @Override
    boolean isBoundToHandler() {
        return connection != null || connector != null || boundId != null;
    }

    @Override
    void registered(ChannelPromise promise) {
        if (connection != null) {
            promise.setSuccess();
            // What arrived while the channel was not registered.
            eventLoop().execute(this::readable);
        } else if (acceptor == null) {
            promise.setSuccess();
        } else {
            acceptor.start(promise);
        }
    }

    RdmaAcceptor acceptor() {
        return acceptor;
    }

    /** The connection that this channel was created for is made. */
    void accepted(RdmaConnection newConnection) {
        connection = newConnection;
        active = true;
    }

    // ---- connecting

    @Override
    protected void doBind(SocketAddress localAddress) throws Exception {
        InetSocketAddress address = checkResolved(localAddress);
        if (boundId != null || connection != null || connector != null) {
            throw new AlreadyBoundException();
        }
        ConnectionId id = newConnectionId();
        boolean bound = false;
        try {
            id.bind(address);
            bound = true;
        } catch (VerbsException e) {
            throw Bind.exception(e, address);
        } finally {
            if (!bound) {
                id.close();
            }
        }
        boundId = id;
        local = id.localAddress();
    }

    private ConnectionId newConnectionId() throws Exception {
        ConnectionId id = ConnectionId.create(handler().events().channel(), PortSpace.TCP);
        if (config.isReuseAddress()) {
            id.setReuseAddress(true);
        }
        return id;
    }

    /** The connection was made. */
    void connected(RdmaConnection newConnection) {
        ((SocketUnsafe) unsafe()).connected(newConnection);
    }

    /** The connection could not be made. */
    void connectFailed(Throwable cause) {
        ((SocketUnsafe) unsafe()).connectFailed(cause);
    }

    /** The connection broke before it was of use. */
    void notEstablished(IOException cause) {
        if (connection != null) {
            connectionLost(cause);
        } else if (acceptor != null) {
            acceptor.fail(cause);
        } else {
            connectFailed(cause);
        }
    }

    // ---- output

    @Override
    protected Object filterOutboundMessage(Object msg) throws IOException {
        ((SocketUnsafe) unsafe()).checkNotEnding();
        if (msg instanceof ByteBuf || msg instanceof FileRegion) {
            return msg;
        }
        throw new UnsupportedOperationException("unsupported message type: " + StringUtil.simpleClassName(msg) +
                EXPECTED_TYPES);
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        connection.write(in);
    }

    void validate(DefaultFileRegion region) throws IOException {
        validateFileRegion(region, region.transferred());
    }

    /** There may be room for what could not be sent. */
    void flushAgain() {
        ((SocketUnsafe) unsafe()).flush0();
    }

    // ---- input

    @Override
    protected void doBeginRead() {
        readLoop.beginRead(connection);
    }

    @Override
    void clearReadPending() {
        readLoop.clearReadPending();
    }

    /** Bytes or their end may have arrived. */
    void readable() {
        readLoop.read(connection);
    }

    /**
     * Whether the pipeline may get something: not when the channel is closed, about to be, or between two event
     * loops.
     */
    boolean isReading() {
        return isOpen() && isRegistered() && !((SocketUnsafe) unsafe()).isClosing();
    }

    // ---- half close and close

    @Override
    public boolean isInputShutdown() {
        return readLoop.isInputShutdown() || !isOpen();
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
        onLoop(() -> ((SocketUnsafe) unsafe()).shutdownOutputWhenSent(promise));
        return promise;
    }

    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        onLoop(() -> ((SocketUnsafe) unsafe()).shutdownInput(promise));
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

    @Override
    protected void doShutdownOutput() {
        if (connection == null) {
            throw new NotYetConnectedException();
        }
        outputShutdown = true;
        connection.shutdownOutput();
    }

    @Override
    protected void doClose() throws Exception {
        super.doClose();
        ((SocketUnsafe) unsafe()).cancelPending();
        if (connector != null) {
            connector.cancel();
            connector = null;
        }
        if (boundId != null) {
            boundId.close();
            boundId = null;
        }
        if (connection != null) {
            connection.close(config.getSoLinger() == 0);
        } else if (acceptor != null) {
            acceptor.close();
        }
    }

    /** The connection ended without the peer having said so, or broke. */
    void connectionLost(IOException cause) {
        ((SocketUnsafe) unsafe()).connectionLost(cause);
    }

    /** Bytes in flight have arrived: a close or shutdown may have waited for that. */
    void advanceClose() {
        ((SocketUnsafe) unsafe()).advanceClose();
    }

    void keepAliveChanged() {
        if (isRegistered()) {
            onLoop(() -> {
                if (connection != null) {
                    connection.keepAliveChanged();
                }
            });
        }
    }

    @Override
    protected AbstractRdmaUnsafe newUnsafe() {
        return new SocketUnsafe();
    }

    private final class SocketUnsafe extends AbstractRdmaUnsafe {
        /** A close, or shutdown of output, that waits until the bytes in flight have arrived. */
        private Runnable parkedClose;
        private Runnable parkedShutdown;
        private Future<?> closeTimer;
        private ChannelPromise connectPromise;
        private Future<?> connectTimer;
        private InetSocketAddress requestedRemote;

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            try {
                if (connectPromise != null) {
                    throw new ConnectionPendingException();
                }
                if (connection != null) {
                    throw new AlreadyConnectedException();
                }
                InetSocketAddress newRemote = checkResolved(remoteAddress);
                InetSocketAddress newLocal = localAddress == null ? null : checkResolved(localAddress);
                ConnectionId id = boundId != null ? boundId : newConnectionId();
                boundId = null;
                connector = new RdmaConnector(RdmaSocketChannel.this, handler(), id);
                connectPromise = promise;
                requestedRemote = newRemote;
                connector.start(newLocal, newRemote);
                scheduleConnectTimeout(newRemote);
                promise.addListener(future -> {
                    if (future.isCancelled()) {
                        connectPromise = null;
                        close(voidPromise());
                    }
                });
            } catch (Throwable t) {
                if (connectPromise == promise) {
                    connectFailed(t);
                    close(voidPromise());
                } else {
                    promise.tryFailure(annotateConnectException(t, remoteAddress));
                    closeIfClosed();
                }
            }
        }

        private void scheduleConnectTimeout(InetSocketAddress address) {
            int millis = config.getConnectTimeoutMillis();
            if (millis > 0) {
                connectTimer = eventLoop().schedule(() -> {
                    ChannelPromise promise = connectPromise;
                    if (promise != null && promise.tryFailure(new ConnectTimeoutException(
                            "connection timed out after " + millis + " ms: " + address))) {
                        close(voidPromise());
                    }
                }, millis, TimeUnit.MILLISECONDS);
            }
        }

        private ChannelPromise endConnect() {
            ChannelPromise promise = connectPromise;
            connectPromise = null;
            if (connectTimer != null) {
                connectTimer.cancel(false);
                connectTimer = null;
            }
            return promise;
        }

        void connected(RdmaConnection newConnection) {
            connection = newConnection;
            connector = null;
            ChannelPromise promise = endConnect();
            remote = requestedRemote;
            active = true;
            // What a listener of the promise does, closing the channel for example, doesn't undo that it was active.
            boolean promiseSet = promise != null && promise.trySuccess();
            pipeline().fireChannelActive();
            if (!promiseSet) {
                close(voidPromise());
            }
            newConnection.start();
            flush0();
        }

        void connectFailed(Throwable cause) {
            ChannelPromise promise = endConnect();
            if (connector != null) {
                connector.cancel();
                connector = null;
            }
            if (promise != null) {
                promise.tryFailure(annotateConnectException(cause, requestedRemote));
                closeIfClosed();
            }
        }

        void cancelPending() {
            ChannelPromise promise = endConnect();
            if (promise != null) {
                promise.tryFailure(new ClosedChannelException());
            }
            Runnable task = parkedShutdown;
            if (task != null) {
                parkedShutdown = null;
                // Fails, because the channel is closed.
                task.run();
            }
        }

        @Override
        protected void flush0() {
            // As with epoll, what is flushed while connecting waits for that.
            if (connector == null) {
                super.flush0();
            }
        }

        boolean isClosing() {
            return parkedClose != null;
        }

        /** The end was asked for, and waits for what was flushed before: nothing may get in between. */
        void checkNotEnding() throws IOException {
            if (parkedClose != null) {
                throw new ClosedChannelException();
            }
            if (parkedShutdown != null) {
                throw new ChannelOutputShutdownException("Channel output shutdown");
            }
        }

        void shutdownInput(ChannelPromise promise) {
            if (!isOpen()) {
                promise.setFailure(new ClosedChannelException());
            } else if (connection == null) {
                promise.setFailure(new NotYetConnectedException());
            } else {
                readLoop.shutdownInput(connection);
                promise.setSuccess();
            }
        }

        void shutdownOutputWhenSent(ChannelPromise promise) {
            Runnable first = parkedShutdown;
            if (first != null) {
                parkedShutdown = () -> {
                    first.run();
                    shutdownOutput(promise);
                };
            } else if (connection != null && connection.isSending() && !outputShutdown) {
                parkedShutdown = () -> shutdownOutput(promise);
            } else {
                shutdownOutput(promise);
            }
        }

        @Override
        protected void close(ChannelPromise promise, Throwable cause, ClosedChannelException closeCause) {
            if (parkedClose != null) {
                if (!promise.isVoid()) {
                    closeFuture().addListener(future -> promise.trySuccess());
                }
                if (handler().isShuttingDown()) {
                    // The loop may end before the bytes arrive.
                    closeNow();
                }
                return;
            }
            if (isOpen() && connection != null && connection.isSending() && config.getSoLinger() != 0 &&
                    !handler().isShuttingDown() && promise.setUncancellable()) {
                // As with a socket, a close does not take back what was flushed before.
                parkedClose = () -> super.close(promise, cause, closeCause);
                closeTimer = eventLoop().schedule(this::closeNow, RdmaConnection.CLOSE_TIMEOUT_MILLIS,
                        TimeUnit.MILLISECONDS);
                return;
            }
            super.close(promise, cause, closeCause);
        }

        private void closeNow() {
            Runnable task = parkedClose;
            if (task != null) {
                parkedClose = null;
                closeTimer.cancel(false);
                task.run();
            }
        }

        void advanceClose() {
            if (parkedShutdown != null && !connection.isSending()) {
                Runnable task = parkedShutdown;
                parkedShutdown = null;
                task.run();
            }
            if (parkedClose != null && !connection.isSending()) {
                closeNow();
            }
        }

        void connectionLost(IOException cause) {
            if (!isOpen()) {
                return;
            }
            ChannelOutboundBuffer messages = outboundBuffer();
            if (!config.isAutoClose() && messages != null && !messages.isEmpty()) {
                // Reported with the writes; for the reader it is the end.
                handleWriteError(cause);
                advanceClose();
                connection.inbound().end();
                readable();
                return;
            }
            if (parkedClose == null) {
                pipeline().fireExceptionCaught(cause);
            }
            advanceClose();
            if (!config.isAutoClose()) {
                connection.inbound().end();
                readable();
                return;
            }
            ClosedChannelException closed = new ClosedChannelException();
            closed.initCause(cause);
            close(voidPromise(), cause, closed);
        }
    }
}
