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
import io.netty.channel.EventLoop;
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

    /** An accepted connection that waits for the registration, or an address bound before connecting. */
    private ConnectionId pendingId;
    private ConnectionData pendingPeer;
    private volatile IOException requestFailure;
    private boolean migrating;
    private ChannelPromise acceptPromise;
    private RdmaConnector connector;
    private RdmaConnection connection;
    private volatile boolean inputShutdown;
    private volatile boolean outputShutdown;

    /**
     * Creates an unconnected channel.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public RdmaSocketChannel() {
        super(null);
    }

    /** A connection that a peer asked for. It is accepted when the channel is registered. */
    RdmaSocketChannel(RdmaServerSocketChannel parent, ConnectionId id, ConnectionData peer) {
        super(parent);
        pendingId = id;
        pendingPeer = peer;
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
        return connection != null || connector != null || pendingId != null && pendingPeer == null;
    }

    /** Something happened to the connection request before it was accepted. On the loop of the listener. */
    void requestLost(ConnectionEvent event) {
        requestFailure = new IOException("the connection request of " + remote + " was withdrawn: " + event.describe());
    }

    @Override
    void registered(ChannelPromise promise) {
        if (pendingPeer == null || pendingId == null) {
            promise.setSuccess();
            return;
        }
        try {
            EventChannel events = handler().events().channel();
            if (pendingId.eventChannel() == events) {
                accept(promise);
                return;
            }
            // Only the thread that reads the events of the listener may move the id away.
            migrating = true;
            RdmaServerSocketChannel listener = parent();
            listener.eventLoop().execute(() -> {
                Throwable failure = null;
                try {
                    listener.migrate(pendingId, events);
                } catch (Throwable t) {
                    failure = t;
                }
                migrated(failure, promise);
            });
        } catch (Throwable t) {
            migrating = false;
            acceptFailed(t, promise);
        }
    }

    private void migrated(Throwable failure, ChannelPromise promise) {
        try {
            eventLoop().execute(() -> {
                migrating = false;
                if (failure != null) {
                    acceptFailed(failure, promise);
                } else {
                    accept(promise);
                }
            });
        } catch (RejectedExecutionException e) {
            // The loop of this channel has just ended: nobody else closes the id any more.
            pendingId.close();
            promise.tryFailure(e);
        }
    }

    private void accept(ChannelPromise promise) {
        try {
            if (!isOpen()) {
                throw new ClosedChannelException();
            }
            if (requestFailure != null) {
                throw requestFailure;
            }
            ConnectionId id = pendingId;
            connection = RdmaConnection.create(this, handler(), id);
            ConnectionParameters parameters = RdmaConnector.parameters(config, connection.localData());
            connection.establish(pendingPeer, false);
            id.accept(parameters);
            pendingId = null;
            // Not done before the peer has answered: a handler of channelActive can then send at once, whatever it
            // does.
            acceptPromise = promise;
        } catch (Throwable t) {
            acceptFailed(t, promise);
        }
    }

    /** The peer has answered: the connection is established. */
    void accepted() {
        ChannelPromise promise = acceptPromise;
        acceptPromise = null;
        active = true;
        promise.setSuccess();
    }

    /** The peer gave up before the connection was established. */
    void notAccepted(IOException cause) {
        ChannelPromise promise = acceptPromise;
        if (promise != null) {
            acceptPromise = null;
            connection.destroy();
            promise.setFailure(cause);
        }
    }

    private void acceptFailed(Throwable cause, ChannelPromise promise) {
        ConnectionId id = pendingId;
        pendingId = null;
        if (id != null && id.isOpen()) {
            RdmaServerSocketChannel.reject(id, "the server can't accept: " + cause);
        }
        if (connection != null) {
            connection.destroy();
        }
        promise.setFailure(cause);
    }

    // ---- connecting

    @Override
    protected void doBind(SocketAddress localAddress) throws Exception {
        InetSocketAddress address = checkResolved(localAddress);
        if (pendingId != null || connection != null || connector != null) {
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
        pendingId = id;
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

    // ---- output

    @Override
    protected Object filterOutboundMessage(Object msg) {
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
        SocketUnsafe unsafe = (SocketUnsafe) unsafe();
        unsafe.readPending = true;
        if (connection != null && connection.inbound().get()) {
            unsafe.readLater();
        }
    }

    @Override
    void clearReadPending() {
        ((SocketUnsafe) unsafe()).readPending = false;
    }

    /** Bytes or their end may have arrived. */
    void readable() {
        ((SocketUnsafe) unsafe()).read();
    }

    // ---- half close and close

    @Override
    public boolean isInputShutdown() {
        return inputShutdown || !isOpen();
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

    private void onLoop(Runnable task) {
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
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
        ((SocketUnsafe) unsafe()).cancelConnect();
        if (connector != null) {
            connector.cancel();
            connector = null;
        }
        if (pendingId != null && !migrating) {
            pendingId.close();
            pendingId = null;
        }
        if (connection != null) {
            connection.close(config.getSoLinger() == 0);
        }
        ChannelPromise promise = acceptPromise;
        if (promise != null) {
            acceptPromise = null;
            promise.setFailure(new ClosedChannelException());
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
        private boolean readPending;
        private boolean reading;
        private boolean readScheduled;
        private boolean endReported;
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
                ConnectionId id = pendingId != null ? pendingId : newConnectionId();
                pendingId = null;
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

        void cancelConnect() {
            ChannelPromise promise = endConnect();
            if (promise != null) {
                promise.tryFailure(new ClosedChannelException());
            }
        }

        @Override
        protected void flush0() {
            super.flush0();
        }

        void readLater() {
            if (!reading && !readScheduled) {
                readScheduled = true;
                eventLoop().execute(this::scheduledRead);
            }
        }

        private void scheduledRead() {
            readScheduled = false;
            read();
            if (connection != null) {
                connection.afterRead();
            }
        }

        void read() {
            if (reading || parkedClose != null || !isOpen() || !isRegistered()) {
                return;
            }
            RdmaInbound inbound = connection.inbound();
            if (inputShutdown) {
                inbound.discard();
            }
            if (!(readPending && inbound.hasBytes()) && (endReported || !inbound.isAtEnd())) {
                return;
            }
            reading = true;
            try {
                readLoop(inbound);
            } finally {
                reading = false;
            }
            if (readPending && inbound.hasBytes()) {
                readLater();
            }
        }

        private void readLoop(RdmaInbound inbound) {
            ChannelPipeline pipeline = pipeline();
            RecvByteBufAllocator.ExtendedHandle handle = (RecvByteBufAllocator.ExtendedHandle) recvBufAllocHandle();
            handle.reset(config);
            try {
                do {
                    if (!inbound.hasBytes()) {
                        handle.lastBytesRead(inbound.isEnded() ? -1 : 0);
                        break;
                    }
                    ByteBuf buf = inbound.read(handle);
                    handle.lastBytesRead(buf.readableBytes());
                    handle.incMessagesRead(1);
                    readPending = false;
                    pipeline.fireChannelRead(buf);
                } while (handle.continueReading(inbound) && !inputShutdown && isOpen() && parkedClose == null);
                handle.readComplete();
                pipeline.fireChannelReadComplete();
            } catch (Throwable t) {
                handle.readComplete();
                pipeline.fireChannelReadComplete();
                pipeline.fireExceptionCaught(t);
                if (t instanceof OutOfMemoryError || t instanceof IOException) {
                    close(voidPromise());
                }
            }
            if (inbound.isAtEnd() && isOpen()) {
                reportEnd();
            }
        }

        private void reportEnd() {
            if (endReported) {
                return;
            }
            endReported = true;
            readPending = false;
            if (!inputShutdown) {
                if (!config.isAllowHalfClosure()) {
                    close(voidPromise());
                    return;
                }
                inputShutdown = true;
                pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            }
            pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
        }

        void shutdownInput(ChannelPromise promise) {
            if (!isOpen()) {
                promise.setFailure(new ClosedChannelException());
                return;
            }
            if (connection == null) {
                promise.setFailure(new NotYetConnectedException());
                return;
            }
            boolean first = !inputShutdown;
            inputShutdown = true;
            connection.inbound().discard();
            promise.setSuccess();
            if (first && config.isAllowHalfClosure()) {
                eventLoop().execute(() -> {
                    if (isOpen()) {
                        reportEnd();
                    }
                });
            }
            connection.afterRead();
        }

        void shutdownOutputWhenSent(ChannelPromise promise) {
            if (connection != null && connection.isSending() && !outputShutdown && parkedShutdown == null) {
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
                connection.inbound().end();
                read();
                return;
            }
            pipeline().fireExceptionCaught(cause);
            if (!config.isAutoClose() || !isOpen()) {
                connection.inbound().end();
                read();
                return;
            }
            advanceClose();
            ClosedChannelException closed = new ClosedChannelException();
            closed.initCause(cause);
            close(voidPromise(), cause, closed);
        }
    }
}
