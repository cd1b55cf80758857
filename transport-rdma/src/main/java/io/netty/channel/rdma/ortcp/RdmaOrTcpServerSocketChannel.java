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

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.rdma.DelegatingUnsafe;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.internal.ObjectUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Listens for RDMA and for TCP at the same address and port:
 * <pre>
 * EventLoopGroup group = RdmaOrTcp.newEventLoopGroup(0);
 * Channel server = new ServerBootstrap().group(group).channel(RdmaOrTcpServerSocketChannel.class)
 *         .childHandler(new MyInitializer()).bind("10.0.0.1", 8080).sync().channel();
 * </pre>
 * Libraries that make their bootstraps themselves take the class, or a {@link io.netty.channel.ChannelFactory}. To
 * handlers it is one channel, which binds and closes both listeners; connections stay. It accepts {@link
 * RdmaSocketChannel}s and TCP channels (of epoll or NIO, as the event loop has them), with the attribute {@link
 * RdmaOrTcp#TRANSPORT}. Their {@code parent()} is {@link #rdmaChannel()} or {@link #tcpChannel()}.
 *
 * <p>Where RDMA is not available it listens for TCP alone and logs the reason, unless {@link
 * RdmaOrTcpChannelOption#TRANSPORT_RULE} says {@link RdmaOrTcpChoice#RDMA_AND_TCP} or {@link
 * RdmaOrTcpChoice#RDMA_ONLY}. RDMA is not available if this process has none ({@link
 * io.netty.channel.rdma.Rdma#isAvailable()}), if the event loop of this channel does not serve it, or if no RDMA device
 * has the address. Any other failure, such as a port in use, fails the bind for both, unless the rule says {@link
 * RdmaOrTcpChoice#RDMA_IF_POSSIBLE}. Port 0 chooses a port that is free for both. RDMA listens at the address that TCP
 * has bound: Netty's TCP channels take IPv6's wildcard address, which stands for both, for IPv4's.
 *
 * <p>The event loops of the connections must serve the same kinds of channels as that of the listener. If they don't
 * serve RDMA, each connection over RDMA is refused, so that a client that may take TCP does.
 *
 * <p>Each listener gets the options that it knows. {@code ServerBootstrap} sets the options of {@code childOption} on
 * all connections, and logs a warning for each connection that doesn't know one. See {@link
 * RdmaOrTcpChannelOption#CHILD_OPTIONS}.
 *
 * <p>If one of the listeners ends, for example because its device was removed, the other one goes on, and a warning is
 * logged; the channel is closed with the last one.
 */
public final class RdmaOrTcpServerSocketChannel extends AbstractServerChannel implements ServerSocketChannel {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaOrTcpServerSocketChannel.class);

    private enum State { OPEN, ACTIVE, CLOSED }

    private final RdmaOrTcpServerSocketChannelConfig config;
    private volatile State state = State.OPEN;
    private volatile ServerSocketChannel tcpChannel;
    private volatile RdmaServerSocketChannel rdmaChannel;
    private volatile Throwable rdmaUnavailabilityCause;
    private volatile InetSocketAddress local;
    private ChannelTypes tcp;
    private final Deregistrations deregistrations = new Deregistrations(this);

    /** Creates a channel that listens for both, unless an option says otherwise. */
    public RdmaOrTcpServerSocketChannel() {
        this(ConnectPlan.Settings.DEFAULT_RULE);
    }

    /**
     * Creates a channel for a {@link io.netty.channel.ChannelFactory}.
     *
     * @param rule see {@link RdmaOrTcpChannelOption#TRANSPORT_RULE}.
     */
    public RdmaOrTcpServerSocketChannel(RdmaOrTcpRule rule) {
        config = new RdmaOrTcpServerSocketChannelConfig(this, ObjectUtil.checkNotNull(rule, "rule"));
    }

    /** The listener for RDMA, or {@code null}: before this channel is registered, or if there is none. Any thread. */
    public RdmaServerSocketChannel rdmaChannel() {
        return rdmaChannel;
    }

    /** The listener for TCP, or {@code null}: before this channel is registered, or if there is none. Any thread. */
    public ServerSocketChannel tcpChannel() {
        return tcpChannel;
    }

    /** The reason why there is no listener for RDMA; {@code null} if there is one, or none is wanted. Any thread. */
    public Throwable rdmaUnavailabilityCause() {
        return rdmaUnavailabilityCause;
    }

    private List<ServerSocketChannel> listeners() {
        List<ServerSocketChannel> listeners = new ArrayList<>(2);
        if (rdmaChannel != null) {
            listeners.add(rdmaChannel);
        }
        if (tcpChannel != null) {
            listeners.add(tcpChannel);
        }
        return listeners;
    }

    // ---- listeners

    private ServerSocketChannel newListener(ChannelTypes types) {
        ServerSocketChannel listener = types.newListener();
        try {
            listener.attr(RdmaOrTcp.TRANSPORT).set(types.transport());
            listener.pipeline().addLast(new Relay(listener, types.transport()));
            config.adopt(listener.config());
            return listener;
        } catch (Throwable t) {
            listener.unsafe().closeForcibly();
            throw t;
        }
    }

    /** Passes events of a listener to the pipeline of this channel. */
    private final class Relay extends RelayHandler {
        private final ServerSocketChannel listener;
        private final RdmaOrTcpTransport transport;

        Relay(ServerSocketChannel listener, RdmaOrTcpTransport transport) {
            super(pipeline());
            this.listener = listener;
            this.transport = transport;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            Channel child = (Channel) msg;
            child.attr(RdmaOrTcp.TRANSPORT).set(transport);
            setChildOptions(child);
            RdmaOrTcpMetrics.total().accepted(transport);
            if (!config.isAutoRead()) {
                forgetOtherReads(listener);
            }
            super.channelRead(ctx, child);
        }
    }

    private void setChildOptions(Channel child) {
        for (Map.Entry<ChannelOption<?>, Object> entry : config.childOptions().entrySet()) {
            setChildOption(child, entry.getKey(), entry.getValue());
        }
    }

    @SuppressWarnings("unchecked")
    private static void setChildOption(Channel child, ChannelOption<?> option, Object value) {
        try {
            child.config().setOption((ChannelOption<Object>) option, value);
        } catch (Throwable t) {
            // As ServerBootstrap does.
            logger.warn("Failed to set channel option '{}' with value '{}' for channel '{}' of type '{}'", option,
                    value, child, child.getClass(), t);
        }
    }

    /** Clears the pending reads of other listeners, because one read of this channel stands for one message. */
    private void forgetOtherReads(ServerSocketChannel reader) {
        for (ServerSocketChannel listener : listeners()) {
            if (listener != reader) {
                // To turn autoRead off clears a pending read. To turn it on reads nothing: see RelayHandler.
                listener.config().setAutoRead(true);
                listener.config().setAutoRead(false);
            }
        }
    }

    private void configureListeners() {
        List<ServerSocketChannelConfig> configs = new ArrayList<>(2);
        for (ServerSocketChannel listener : listeners()) {
            configs.add(listener.config());
        }
        config.listeners(configs);
    }

    private void dropTcp() {
        ServerSocketChannel listener = tcpChannel;
        tcpChannel = null;
        drop(listener);
    }

    private void dropRdma() {
        ServerSocketChannel listener = rdmaChannel;
        rdmaChannel = null;
        drop(listener);
    }

    private void drop(ServerSocketChannel listener) {
        configureListeners();
        if (listener != null) {
            close(listener);
        }
    }

    private static void close(ServerSocketChannel listener) {
        if (listener.isOpen()) {
            listener.unsafe().close(listener.unsafe().voidPromise());
        }
    }

    private void listenerClosed(ServerSocketChannel closed) {
        if (!isOpen() || closed != rdmaChannel && closed != tcpChannel) {
            return;
        }
        for (ServerSocketChannel listener : listeners()) {
            if (listener.isOpen()) {
                if (!eventLoop().isShuttingDown()) {
                    logger.warn("{}: one listener is closed, the other one goes on: {}", local, listener);
                }
                return;
            }
        }
        unsafe().close(unsafe().voidPromise());
    }

    // ---- registration

    @Override
    protected boolean isCompatible(EventLoop loop) {
        // Before there are listeners, doRegister() says what they need.
        return tcp == null || tcp.isServedBy(loop) && (rdmaChannel == null || ChannelTypes.RDMA.isServedBy(loop));
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        try {
            if (tcp == null) {
                tcp = ChannelTypes.tcp(eventLoop());
                createListeners();
            }
        } catch (Throwable t) {
            promise.setFailure(t);
            return;
        }
        register(listeners(), 0, promise);
    }

    private void createListeners() {
        tcpChannel = newListener(tcp);
        rdmaUnavailabilityCause = ChannelTypes.rdmaUnavailabilityCause(eventLoop());
        if (rdmaUnavailabilityCause == null) {
            rdmaChannel = (RdmaServerSocketChannel) newListener(ChannelTypes.RDMA);
        }
        configureListeners();
        for (ServerSocketChannel listener : listeners()) {
            listener.closeFuture().addListener(closed -> listenerClosed(listener));
        }
    }

    private void register(List<ServerSocketChannel> listeners, int index, ChannelPromise promise) {
        if (index == listeners.size()) {
            promise.setSuccess();
            return;
        }
        ServerSocketChannel listener = listeners.get(index);
        if (!listener.isOpen()) {
            register(listeners, index + 1, promise);
            return;
        }
        ChannelPromise registered = newPromise();
        registered.addListener(done -> {
            if (done.isSuccess()) {
                register(listeners, index + 1, promise);
            } else {
                promise.setFailure(done.cause());
            }
        });
        listener.unsafe().register(eventLoop(), registered);
    }

    private void deregister(List<ServerSocketChannel> listeners, int index, Runnable then) {
        if (index == listeners.size()) {
            then.run();
            return;
        }
        ChannelPromise deregistered = newPromise();
        deregistered.addListener(done -> deregister(listeners, index + 1, then));
        listeners.get(index).unsafe().deregister(deregistered);
    }

    @Override
    protected void doDeregister() {
        deregistrations.end();
    }

    // ---- binding

    @Override
    protected void doBind(SocketAddress localAddress) throws Exception {
        if (state != State.OPEN) {
            throw new AlreadyBoundException();
        }
        InetSocketAddress address = (InetSocketAddress) localAddress;
        if (address.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        RdmaOrTcpChoice choice = Objects.requireNonNull(config.rule().choose(address), "what the rule has chosen");
        boolean rdmaRequired = choice == RdmaOrTcpChoice.RDMA_ONLY || choice == RdmaOrTcpChoice.RDMA_AND_TCP;
        if (rdmaRequired && rdmaChannel == null) {
            throw BindRules.failure(address, RdmaOrTcpTransport.RDMA, rdmaUnavailabilityCause);
        }
        if (choice == RdmaOrTcpChoice.RDMA_ONLY) {
            bindRdma(address);
            dropTcp();
        } else if (choice == RdmaOrTcpChoice.TCP_ONLY) {
            bindTcp(address, choice);
            dropRdma();
        } else {
            bindBoth(address, choice);
        }
        local = (tcpChannel != null ? tcpChannel : rdmaChannel).localAddress();
        state = State.ACTIVE;
        FallbackLog.listens(logger, local, rdmaChannel, tcpChannel, choice == RdmaOrTcpChoice.TCP_ONLY ? null :
                rdmaUnavailabilityCause);
    }

    /** Binds TCP, then RDMA at the same port, because fewer ports are free for TCP. */
    private void bindBoth(InetSocketAddress address, RdmaOrTcpChoice choice) throws Exception {
        int ports = 0;
        boolean bound;
        do {
            bindTcp(address, choice);
            ports++;
            bound = rdmaChannel == null || bindRdmaBeside(address, choice, ports);
        } while (!bound);
    }

    /** Returns whether the bind is complete. If not, the caller tries another port. */
    private boolean bindRdmaBeside(InetSocketAddress address, RdmaOrTcpChoice choice, int ports) throws Exception {
        Throwable cause = bindListener(rdmaChannel, tcpChannel.localAddress());
        if (cause == null) {
            return true;
        }
        boolean mayDoAtAnotherPort = BindRules.mayDoAtAnotherPort(cause, address, ports);
        if (BindRules.mayListenWithoutRdma(cause, choice) && !mayDoAtAnotherPort) {
            rdmaUnavailabilityCause = cause;
            dropRdma();
            return true;
        }
        renewTcp();
        if (mayDoAtAnotherPort) {
            logger.debug("{}: trying another port", address, cause);
            return false;
        }
        throw failure(address, RdmaOrTcpTransport.RDMA, cause);
    }

    /** Replaces the listener for TCP by one that is not bound. */
    private void renewTcp() throws Exception {
        ServerSocketChannel previous = tcpChannel;
        ServerSocketChannel next = newListener(tcp);
        ChannelPromise registered = newPromise();
        next.unsafe().register(eventLoop(), registered);
        if (!registered.isSuccess()) {
            throw new IOException("another listener could not be registered", registered.cause());
        }
        next.closeFuture().addListener(closed -> listenerClosed(next));
        tcpChannel = next;
        drop(previous);
    }

    private void bindRdma(InetSocketAddress address) throws Exception {
        Throwable cause = bindListener(rdmaChannel, address);
        if (cause != null) {
            throw failure(address, RdmaOrTcpTransport.RDMA, cause);
        }
    }

    private void bindTcp(InetSocketAddress address, RdmaOrTcpChoice choice) throws Exception {
        Throwable cause = bindListener(tcpChannel, address);
        if (cause != null) {
            throw BindRules.onlyTcpMayFail(choice) && cause instanceof Exception ? (Exception) cause :
                    failure(address, RdmaOrTcpTransport.TCP, cause);
        }
    }

    private static Exception failure(InetSocketAddress address, RdmaOrTcpTransport transport, Throwable cause) {
        if (cause instanceof Exception && !(cause instanceof IOException)) {
            return (Exception) cause;
        }
        return BindRules.failure(address, transport, cause);
    }

    /** Binds a listener. Returns the reason of a failure, or {@code null}. */
    private Throwable bindListener(ServerSocketChannel listener, InetSocketAddress address) {
        ChannelPromise promise = newPromise();
        listener.unsafe().bind(address, promise);
        return promise.isSuccess() ? null : promise.cause();
    }

    // ---- the rest of the channel

    @Override
    protected void doBeginRead() {
        for (ServerSocketChannel listener : listeners()) {
            if (listener.isOpen()) {
                listener.unsafe().beginRead();
            }
        }
    }

    @Override
    protected void doClose() {
        deregistrations.closing();
        state = State.CLOSED;
        for (ServerSocketChannel listener : listeners()) {
            close(listener);
        }
    }

    @Override
    public boolean isOpen() {
        return state != State.CLOSED;
    }

    @Override
    public boolean isActive() {
        return state == State.ACTIVE;
    }

    @Override
    public ServerSocketChannelConfig config() {
        return config;
    }

    @Override
    public InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return null;
    }

    @Override
    protected SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new ListeningUnsafe();
    }

    @Override
    public Unsafe unsafe() {
        return ((ListeningUnsafe) super.unsafe()).front;
    }

    private final class ListeningUnsafe extends AbstractUnsafe {
        private final Unsafe front = new Front(this);

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            safeSetFailure(promise, new UnsupportedOperationException());
        }
    }

    /** The unsafe of the pipeline. */
    private final class Front extends DelegatingUnsafe {
        Front(Unsafe unsafe) {
            super(unsafe);
        }

        /** Deregisters the listeners first. Once the promise is done, another loop may register this channel. */
        @Override
        public void deregister(ChannelPromise promise) {
            if (!isRegistered() || !promise.setUncancellable()) {
                super.deregister(promise);
                return;
            }
            RdmaOrTcpServerSocketChannel.this.deregister(listeners(), 0, () -> {
                deregistrations.begin();
                super.deregister(promise);
            });
        }
    }
}
