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
package io.netty.channel.rdma.ortcp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.DefaultChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.FileRegion;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.rdma.DelegatingUnsafe;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaIoHandle;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.ObjectUtil;
import io.netty.util.internal.StringUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A channel that connects over RDMA if that is possible, else over TCP, to the same address:
 * <pre>
 * EventLoopGroup group = RdmaOrTcp.newEventLoopGroup(0);
 * Channel channel = new Bootstrap().group(group).channel(RdmaOrTcpSocketChannel.class).handler(new MyInitializer())
 *         .connect("10.0.0.1", 8080).sync().channel();
 * channel.attr(RdmaOrTcp.TRANSPORT).get(); // RDMA or TCP
 * </pre>
 * Libraries that make their bootstraps themselves take the class, or a {@link io.netty.channel.ChannelFactory}. The
 * channel chooses the transport when it connects. To handlers it is one channel with one pipeline, whatever is tried.
 * The options of {@link RdmaOrTcpChannelOption} say what may be tried and for how long: RDMA gets {@link
 * RdmaOrTcpChannelOption#RDMA_CONNECT_TIMEOUT_MILLIS} to succeed, then TCP what is left of {@link
 * io.netty.channel.ChannelOption#CONNECT_TIMEOUT_MILLIS}, which bounds both together (after a host name is resolved).
 * All other options are those of the channel of the transport. An option that only one class knows is only given to
 * that class. Until the channel is connected, values that were not set are those of RDMA if it is available.
 *
 * <p>When RDMA can't be connected:
 * <table>
 * <caption>Failures of RDMA</caption>
 * <tr><th>failure</th><th>{@link RdmaOrTcpFallback.Reason}</th><th>TCP is tried</th><th>remembered</th></tr>
 * <tr><td>RDMA is not available in this process, or the event loop doesn't serve it</td> <td>{@code
 *     UNAVAILABLE}</td><td>yes</td><td>no: known without an attempt</td></tr>
 * <tr><td>no RDMA device leads there, or none has the local address</td><td>{@code NO_ROUTE}</td><td>yes</td>
 *     <td>yes</td></tr>
 * <tr><td>nobody listens for RDMA there</td><td>{@code REFUSED}</td><td>yes</td><td>yes</td></tr>
 * <tr><td>no answer in time</td><td>{@code TIMEOUT}</td><td>yes</td><td>yes; of this host for 1 s</td></tr>
 * <tr><td>a listener that rejects: its backlog is full, it is out of memory, it wants another protocol, its native
 *     library is of another version</td> <td>{@code REJECTED}</td><td>yes</td><td>no: the reason may be over
 *     already</td></tr>
 * <tr><td>no registered or direct memory left; other I/O errors: reset while connecting, an answer of another
 *     protocol</td>
 *     <td>{@code FAILED}</td><td>yes</td><td>no, unless it took half of the time for RDMA</td></tr>
 * <tr><td>an earlier attempt is remembered</td><td>{@code REMEMBERED}</td><td>yes; if that fails, RDMA after all</td>
 *     <td>as it was</td></tr>
 * <tr><td>a {@link RdmaOrTcpRule} says TCP</td><td>{@code RULE}</td><td>yes</td><td>no</td></tr>
 * <tr><td>a {@link RdmaOrTcpRule} says RDMA alone, and that fails</td><td></td><td>no</td><td>no</td></tr>
 * <tr><td>the host is unknown</td><td></td><td>no: the same for both</td><td>no</td></tr>
 * <tr><td>a value of an option that is out of range, or that the device can't do</td><td></td> <td>no: the application
 *     must see the mistake</td><td>no</td></tr>
 * <tr><td>the connect is cancelled, or the channel closed: by an initializer that throws, for example</td><td></td>
 *     <td>no</td><td>no</td></tr>
 * <tr><td>the event loop is shut down</td><td></td><td>no</td><td>no</td></tr>
 * </table>
 * If TCP fails as well, the peer is down, and nothing is remembered. The connect fails with a {@link
 * RdmaOrTcpConnectException}, or a {@link ConnectTimeoutException} if TCP had no answer, and the channel is closed.
 *
 * <h2>Which transport it is</h2>
 * From before {@code channelActive} on, {@link RdmaOrTcp#TRANSPORT} and {@link RdmaOrTcp#FALLBACK} have the transport
 * and its reason. {@link #transportChannel()} has the metrics of the connection. {@link RdmaOrTcpMetrics} counts each
 * connect. The log has it with its time at debug level. At info level the log has the first connection to a destination
 * over TCP, another reason for it, and the return to RDMA. If this process can't use RDMA, the log has one warning. A
 * connection stays on its transport. {@link RdmaOrTcpFailures#probe} helps long-lived connections to return to RDMA.
 *
 * <p>The event loop must serve TCP channels of epoll or of NIO, and should serve RDMA channels: see {@link
 * RdmaOrTcp#newEventLoopGroup(int)}. A name must be resolved before, as {@link io.netty.bootstrap.Bootstrap} does. A
 * local address that the application binds before connecting is bound for RDMA, and for TCP if TCP is tried. RDMA and
 * TCP have separate port numbers.
 */
public final class RdmaOrTcpSocketChannel extends AbstractChannel implements SocketChannel {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaOrTcpSocketChannel.class);
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    private static final String EXPECTED_TYPES = " (expected: " + StringUtil.simpleClassName(ByteBuf.class) + ", " +
            StringUtil.simpleClassName(FileRegion.class) + ')';

    private enum State { OPEN, ACTIVE, CLOSED }

    private final RdmaOrTcpSocketChannelConfig config;
    private volatile State state = State.OPEN;
    private ChannelTypes tcp = ChannelTypes.anyTcp();
    /**
     * The channel that will connect, connects or is connected. {@code null} until its transport is known: when this
     * channel is bound or connects, or from the beginning if only TCP is possible.
     */
    private volatile SocketChannel carrier;
    private final CarrierlessRegistration vacancy = new CarrierlessRegistration();
    /** The carrier, once it is connected; also after the end. */
    private volatile SocketChannel connected;
    /** True if the carrier was told to connect. */
    private boolean carrierUsed;
    /** The last carrier that has a listener for its close. */
    private SocketChannel watched;
    private SocketAddress bound;
    /** The reason why RDMA can't have the bound address. */
    private RdmaOrTcpFallback bindFallback;
    private Plan plan;
    private ChannelPromise connectPromise;
    /** True if {@code read()} was called before there was a connection. */
    private boolean readRequested;
    private final PendingWrites pendingWrites;
    private MessageSizeEstimator.Handle estimator;
    private ChannelPromise closePromise;
    private final Deregistrations deregistrations = new Deregistrations(this);

    /** Creates a channel that may take both transports, unless an option says otherwise. */
    public RdmaOrTcpSocketChannel() {
        this(ConnectPlan.Settings.DEFAULT_RULE);
    }

    /**
     * Creates a channel for a {@link io.netty.channel.ChannelFactory}.
     *
     * @param rule see {@link RdmaOrTcpChannelOption#TRANSPORT_RULE}.
     */
    public RdmaOrTcpSocketChannel(RdmaOrTcpRule rule) {
        super(null);
        ObjectUtil.checkNotNull(rule, "rule");
        pendingWrites = new PendingWrites(bytes -> bytePipeline().incrementPendingOutboundBytes(bytes),
                bytes -> bytePipeline().decrementPendingOutboundBytes(bytes));
        if (!Rdma.isAvailable()) {
            carrier = newCarrier(tcp);
        }
        config = new RdmaOrTcpSocketChannelConfig(this, carrier, rule);
    }

    /**
     * The channel of the transport, a {@link RdmaSocketChannel} or one of TCP, for its metrics and addresses.
     * Applications must not write to it, close it or configure it. Any thread.
     *
     * @return {@code null} before this channel is connected.
     */
    public SocketChannel transportChannel() {
        return connected;
    }

    // ---- the carrier

    private SocketChannel newCarrier(ChannelTypes types) {
        SocketChannel channel = types.newConnection();
        channel.pipeline().addLast(new Relay(channel, types.transport()));
        return channel;
    }

    /** Registers the channel while there is no carrier, so that the loop counts it, and closes it at the loop's end. */
    private final class CarrierlessRegistration implements RdmaIoHandle {
        private IoRegistration registration;

        void register(ChannelPromise promise) {
            ((IoEventLoop) eventLoop()).register(this).addListener(registered -> {
                if (registered.isSuccess()) {
                    registration = (IoRegistration) registered.getNow();
                    promise.setSuccess();
                } else {
                    promise.setFailure(registered.cause());
                }
            });
        }

        void deregister() {
            IoRegistration current = registration;
            if (current != null) {
                registration = null;
                current.cancel();
            }
        }

        /** Is never called. */
        @Override
        public void handle(IoRegistration ignored, IoEvent event) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            unsafe0().closed();
        }
    }

    /** Passes events of the carrier to the pipeline of this channel. */
    private final class Relay extends RelayHandler {
        private final SocketChannel channel;
        private final RdmaOrTcpTransport transport;

        Relay(SocketChannel channel, RdmaOrTcpTransport transport) {
            super(pipeline());
            this.channel = channel;
            this.transport = transport;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            if (channel == carrier && plan != null) {
                connected(channel, transport);
            } else {
                ctx.close();
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            if (channel == connected) {
                pipeline().fireChannelWritabilityChanged();
            }
        }
    }

    private boolean isOfType(ChannelTypes types) {
        return types.connection.isInstance(carrier);
    }

    /** Makes a carrier, which takes the place of a previous one. */
    private void replaceCarrier(ChannelTypes types) throws Exception {
        SocketChannel next = newCarrier(types);
        try {
            config.adopt(next.config());
        } catch (Throwable t) {
            next.unsafe().closeForcibly();
            throw t;
        }
        SocketChannel previous = carrier;
        carrier = next;
        carrierUsed = false;
        close(previous);
    }

    /** @param channel or {@code null}. */
    private static void close(SocketChannel channel) {
        if (channel != null && channel.isOpen()) {
            channel.unsafe().close(channel.unsafe().voidPromise());
        }
    }

    /** Replaces the carrier of a channel that is registered. */
    private void renewCarrier(ChannelTypes types) throws Exception {
        replaceCarrier(types);
        vacancy.deregister();
        ChannelPromise registered = newPromise();
        registerCarrier(registered);
        checkDone(registered);
    }

    /** Returns the carrier that is to connect, registered and bound. */
    private SocketChannel carrier(ChannelTypes types) throws Exception {
        if (carrierUsed || !isOfType(types)) {
            renewCarrier(types);
            if (bound != null) {
                bindCarrier(bound);
            }
        }
        carrierUsed = true;
        return carrier;
    }

    private void registerCarrier(ChannelPromise promise) {
        SocketChannel channel = carrier;
        channel.unsafe().register(eventLoop(), promise);
        if (channel != watched) {
            // A close future needs an event loop to call its listeners.
            watched = channel;
            channel.closeFuture().addListener(closed -> carrierClosed(channel));
        }
    }

    private void bindCarrier(SocketAddress address) throws Exception {
        ChannelPromise promise = newPromise();
        carrier.unsafe().bind(address, promise);
        checkDone(promise);
    }

    private static void checkDone(ChannelPromise promise) throws Exception {
        if (!promise.isDone()) {
            throw new IllegalStateException("expected to be done at once: " + promise);
        }
        Throwable cause = promise.cause();
        if (cause instanceof Exception) {
            throw (Exception) cause;
        }
        if (cause != null) {
            throw (Error) cause;
        }
    }

    /** The carrier is closed by its peer, its event loop or this channel, or because its attempt has failed. */
    private void carrierClosed(SocketChannel channel) {
        if (channel == carrier && plan == null) {
            unsafe0().closed();
        }
    }

    // ---- registration

    @Override
    protected boolean isCompatible(EventLoop loop) {
        SocketChannel channel = connected;
        // A channel that is not connected says in doRegister() what it needs.
        return channel == null ||
                (ChannelTypes.RDMA.connection.isInstance(channel) ? ChannelTypes.RDMA : tcp).isServedBy(loop);
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        try {
            if (connected == null && plan == null) {
                tcp = ChannelTypes.tcp(eventLoop());
                boolean rdma = ChannelTypes.rdmaUnavailabilityCause(eventLoop()) == null;
                ChannelTypes types = rdma ? ChannelTypes.RDMA : tcp;
                if (bound == null && !isOfType(types) && (carrier != null || !rdma)) {
                    replaceCarrier(types);
                }
            }
            if (carrier == null) {
                vacancy.register(promise);
                return;
            }
        } catch (Throwable t) {
            promise.setFailure(t);
            return;
        }
        registerCarrier(promise);
    }

    @Override
    protected void doDeregister() {
        vacancy.deregister();
        deregistrations.end();
    }

    // ---- binding and connecting

    @Override
    protected void doBind(SocketAddress localAddress) throws Exception {
        if (bound != null || plan != null || connected != null) {
            throw new AlreadyBoundException();
        }
        if (carrier == null) {
            renewCarrier(ChannelTypes.RDMA);
        }
        try {
            bindCarrier(localAddress);
        } catch (Exception e) {
            RdmaOrTcpFallback.Reason reason = isOfType(ChannelTypes.RDMA) ? RdmaOrTcpFallback.Reason.of(e) : null;
            if (reason == null) {
                throw e;
            }
            renewCarrier(tcp);
            bindCarrier(localAddress);
            bindFallback = new RdmaOrTcpFallback(reason, ConnectPlan.message(e));
        }
        bound = localAddress;
    }

    /** One connect of this channel. */
    private final class Plan extends ConnectPlan {
        private final SocketAddress local;

        Plan(InetSocketAddress remote, SocketAddress local) {
            super(eventLoop(), config.settings(), remote, local != null ? local : bound);
            this.local = local;
        }

        @Override
        protected void attempt(RdmaOrTcpTransport transport, int timeoutMillis) {
            try {
                SocketChannel channel = carrier(transport == RdmaOrTcpTransport.RDMA ? ChannelTypes.RDMA : tcp);
                channel.config().setConnectTimeoutMillis(timeoutMillis);
                ChannelPromise promise = newPromise();
                promise.addListener(attempted -> {
                    if (!attempted.isSuccess()) {
                        attemptFailed(transport, attempted.cause());
                    }
                });
                channel.unsafe().connect(remote, local, promise);
            } catch (Throwable t) {
                attemptFailed(transport, t);
            }
        }

        private void attemptFailed(RdmaOrTcpTransport transport, Throwable cause) {
            if (plan == this) {
                failed(transport, cause);
            }
        }

        @Override
        protected void fail(Throwable cause) {
            connectFailed(remote, cause);
        }
    }

    /** Fails the connect and closes the application's channel, even if the last carrier is closed already. */
    private void connectFailed(InetSocketAddress remote, Throwable cause) {
        ChannelPromise promise = endConnect();
        Throwable failure = cause;
        if (cause instanceof RdmaOrTcpConnectException && cause.getCause() instanceof ConnectTimeoutException) {
            // The class that libraries know.
            failure = new ConnectTimeoutException(cause.getMessage());
            failure.initCause(cause);
        }
        logger.debug("{}: not connected", remote, cause);
        promise.tryFailure(failure);
        unsafe0().close(unsafe0().voidPromise());
    }

    private ChannelPromise endConnect() {
        ChannelPromise promise = connectPromise;
        connectPromise = null;
        plan = null;
        return promise;
    }

    private void connected(SocketChannel channel, RdmaOrTcpTransport transport) {
        Plan done = plan;
        ChannelPromise promise = endConnect();
        done.mark(this, transport);
        boolean wasWritable = isWritable();
        boolean flush = bytePipeline().moveTo(channel);
        config.connected();
        state = State.ACTIVE;
        if (promise.setUncancellable()) {
            done.connected(this, transport);
        }
        // A listener of the promise, which may close the channel, does not undo that the channel was active.
        boolean promiseSet = promise.trySuccess();
        pipeline().fireChannelActive();
        if (!promiseSet) {
            unsafe0().close(unsafe0().voidPromise());
            return;
        }
        if (isOpen() && isWritable() != wasWritable) {
            pipeline().fireChannelWritabilityChanged();
        }
        if (isOpen() && readRequested) {
            channel.unsafe().beginRead();
        }
        if (flush) {
            channel.unsafe().flush();
        }
    }

    // ---- reading and writing

    @Override
    protected void doBeginRead() {
        SocketChannel channel = connected;
        if (channel != null) {
            channel.unsafe().beginRead();
        } else {
            readRequested = true;
        }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) {
        throw new UnsupportedOperationException("all messages are written to the channel of the transport");
    }

    @Override
    protected DefaultChannelPipeline newChannelPipeline() {
        return new BytePipeline(this);
    }

    private BytePipeline bytePipeline() {
        return (BytePipeline) pipeline();
    }

    /**
     * Counts the bytes that wait to be written, including those of handlers and of other threads. Until the channel is
     * connected, its own outbound buffer counts them, and then the carrier's. Bytes that the former has counted are not
     * subtracted from the latter.
     */
    private static final class BytePipeline extends DefaultChannelPipeline {
        private final RdmaOrTcpSocketChannel channel;
        private volatile boolean moved;
        /** Pending bytes that handlers added before, and will remove. */
        private final AtomicLong addedBefore = new AtomicLong();

        BytePipeline(RdmaOrTcpSocketChannel channel) {
            super(channel);
            this.channel = channel;
        }

        /** On the event loop. Returns whether something is to be flushed. */
        synchronized boolean moveTo(SocketChannel connected) {
            ChannelOutboundBuffer before = channel.unsafe0().outboundBuffer();
            addedBefore.set(before.totalPendingWriteBytes() - channel.pendingWrites.bytes());
            boolean flush = channel.pendingWrites.moveTo(connected.unsafe());
            channel.connected = connected;
            moved = true;
            return flush;
        }

        @Override
        protected void incrementPendingOutboundBytes(long size) {
            if (!moved) {
                synchronized (this) {
                    if (!moved) {
                        super.incrementPendingOutboundBytes(size);
                        return;
                    }
                }
            }
            super.incrementPendingOutboundBytes(size);
        }

        @Override
        protected void decrementPendingOutboundBytes(long size) {
            if (!moved) {
                synchronized (this) {
                    if (!moved) {
                        super.decrementPendingOutboundBytes(size);
                        return;
                    }
                }
            }
            long before = addedBefore.get() == 0 ? 0 : Math.min(size, addedBefore.getAndUpdate(
                    added -> Math.max(0, added - size)));
            if (size > before) {
                super.decrementPendingOutboundBytes(size - before);
            }
        }
    }

    @Override
    public boolean isWritable() {
        SocketChannel channel = connected;
        return channel != null ? channel.isWritable() : super.isWritable();
    }

    @Override
    public long bytesBeforeUnwritable() {
        SocketChannel channel = connected;
        return channel != null ? channel.bytesBeforeUnwritable() : super.bytesBeforeUnwritable();
    }

    @Override
    public long bytesBeforeWritable() {
        SocketChannel channel = connected;
        return channel != null ? channel.bytesBeforeWritable() : super.bytesBeforeWritable();
    }

    // ---- half close and close

    @Override
    public boolean isInputShutdown() {
        SocketChannel channel = connected;
        return channel != null ? channel.isInputShutdown() : !isOpen();
    }

    @Override
    public boolean isOutputShutdown() {
        SocketChannel channel = connected;
        return channel != null ? channel.isOutputShutdown() : !isOpen();
    }

    @Override
    public boolean isShutdown() {
        SocketChannel channel = connected;
        return channel != null ? channel.isShutdown() : !isOpen();
    }

    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        SocketChannel channel = connected;
        return channel != null ? channel.shutdownInput(promise) : notConnected(promise);
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        SocketChannel channel = connected;
        return channel != null ? channel.shutdownOutput(promise) : notConnected(promise);
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        SocketChannel channel = connected;
        return channel != null ? channel.shutdown(promise) : notConnected(promise);
    }

    private ChannelFuture notConnected(ChannelPromise promise) {
        return promise.setFailure(isOpen() ? new NotYetConnectedException() : new ClosedChannelException());
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected void doClose() {
        deregistrations.closing();
        state = State.CLOSED;
        ChannelPromise promise = endConnect();
        if (promise != null) {
            promise.tryFailure(new ClosedChannelException());
        }
        vacancy.deregister();
        close(carrier);
    }

    // ---- the rest of the channel

    @Override
    public boolean isOpen() {
        return state != State.CLOSED;
    }

    @Override
    public boolean isActive() {
        return state == State.ACTIVE;
    }

    @Override
    public SocketChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    /** {@code null}: the channel is a client's. */
    @Override
    public ServerSocketChannel parent() {
        return (ServerSocketChannel) super.parent();
    }

    @Override
    public InetSocketAddress localAddress() {
        SocketChannel channel = carrier;
        return channel == null ? null : channel.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        SocketChannel channel = carrier;
        return channel == null ? null : channel.remoteAddress();
    }

    @Override
    protected SocketAddress localAddress0() {
        SocketChannel channel = carrier;
        return channel == null ? null : channel.localAddress();
    }

    @Override
    protected SocketAddress remoteAddress0() {
        SocketChannel channel = carrier;
        return channel == null ? null : channel.remoteAddress();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new ConnectingUnsafe();
    }

    private ConnectingUnsafe unsafe0() {
        return (ConnectingUnsafe) super.unsafe();
    }

    @Override
    public Unsafe unsafe() {
        return unsafe0().front;
    }

    /** The unsafe of this channel's own life, and of writes before it is connected. */
    private final class ConnectingUnsafe extends AbstractUnsafe {
        private final Unsafe front = new Front(this);

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            try {
                if (connectPromise != null) {
                    throw new ConnectionPendingException();
                }
                if (connected != null) {
                    throw new AlreadyConnectedException();
                }
                InetSocketAddress remote = (InetSocketAddress) remoteAddress;
                if (remote.isUnresolved()) {
                    throw new UnresolvedAddressException();
                }
                if (!isRegistered()) {
                    throw new IllegalStateException("the channel is not registered with an event loop");
                }
                Plan started = new Plan(remote, localAddress);
                plan = started;
                connectPromise = promise;
                promise.addListener(future -> {
                    if (future.isCancelled() && connectPromise == promise) {
                        endConnect();
                        close(voidPromise());
                    }
                });
                started.start(bindFallback);
            } catch (Throwable t) {
                if (connectPromise == promise) {
                    endConnect();
                }
                promise.tryFailure(annotateConnectException(t, remoteAddress));
                closeIfClosed();
            }
        }

        @Override
        @SuppressWarnings("deprecation") // the type is that of the interface
        public RecvByteBufAllocator.Handle recvBufAllocHandle() {
            SocketChannel channel = carrier;
            return channel == null ? super.recvBufAllocHandle() : channel.unsafe().recvBufAllocHandle();
        }

        /** Closes the carrier first, which may have to wait, for example for flushed messages. */
        @Override
        public void close(ChannelPromise promise) {
            SocketChannel channel = connected;
            if (channel == null || !isOpen()) {
                super.close(promise);
            } else if (promise.setUncancellable()) {
                if (closePromise == null) {
                    closePromise = promise;
                } else {
                    closeFuture().addListener(closed -> promise.trySuccess());
                }
                channel.unsafe().close(channel.unsafe().voidPromise());
            }
        }

        /** The channel of the transport has ended. */
        void closed() {
            super.close(closePromise == null ? voidPromise() : closePromise);
        }

        @Override
        protected void close(ChannelPromise promise, Throwable cause, ClosedChannelException closeCause) {
            super.close(promise, cause, closeCause);
            pendingWrites.fail(closeCause);
        }

        void write0(Object msg, ChannelPromise promise) {
            if (outboundBuffer() == null) {
                // Closed: fails the promise.
                write(msg, promise);
                return;
            }
            if (!(msg instanceof ByteBuf) && !(msg instanceof FileRegion)) {
                ReferenceCountUtil.release(msg);
                promise.tryFailure(new UnsupportedOperationException("unsupported message type: " +
                        StringUtil.simpleClassName(msg) + EXPECTED_TYPES));
                return;
            }
            if (estimator == null) {
                estimator = config.getMessageSizeEstimator().newHandle();
            }
            pendingWrites.add(msg, promise, estimator);
        }

        /** Keeps messages that are flushed while connecting, as epoll does. */
        void flushPending() {
            if (outboundBuffer() != null) {
                pendingWrites.flush();
                if (plan == null) {
                    pendingWrites.failFlushed(new NotYetConnectedException());
                }
            }
        }
    }

    /** The unsafe of the pipeline. Messages go to the outbound buffer of the carrier only. */
    private final class Front extends DelegatingUnsafe {
        private final ConnectingUnsafe unsafe;

        Front(ConnectingUnsafe unsafe) {
            super(unsafe);
            this.unsafe = unsafe;
        }

        @Override
        public void write(Object msg, ChannelPromise promise) {
            SocketChannel channel = connected;
            if (channel != null) {
                channel.unsafe().write(msg, promise);
            } else {
                unsafe.write0(msg, promise);
            }
        }

        @Override
        public void flush() {
            SocketChannel channel = connected;
            if (channel != null) {
                channel.unsafe().flush();
            } else {
                unsafe.flushPending();
            }
        }

        @Override
        public ChannelOutboundBuffer outboundBuffer() {
            SocketChannel channel = connected;
            return channel != null ? channel.unsafe().outboundBuffer() : super.outboundBuffer();
        }

        @Override
        public void disconnect(ChannelPromise promise) {
            close(promise);
        }

        /**
         * Deregisters the carrier first. After the promise, this channel may be registered with another loop at once.
         */
        @Override
        public void deregister(ChannelPromise promise) {
            if (!isRegistered() || !promise.setUncancellable()) {
                super.deregister(promise);
                return;
            }
            ChannelPromise carrierPromise = newPromise();
            carrierPromise.addListener(done -> {
                deregistrations.begin();
                super.deregister(promise);
            });
            if (carrier == null) {
                carrierPromise.setSuccess();
            } else {
                carrier.unsafe().deregister(carrierPromise);
            }
        }
    }
}
