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

import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.channel.rdma.connection.Bind;
import io.netty.channel.rdma.connection.ReadLoop;
import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.move.ConnectionIdMigration;
import io.netty.channel.rdma.loop.move.LoopId;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.monitor.ConnectCounters;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.internal.UnstableApi;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Common parts of all listening channels: the listening ids of the connection manager, and the requests that wait to be
 * read.
 *
 * <p>For the channels of this transport.
 *
 * @param <C> what it accepts.
 */
@UnstableApi
public abstract class AbstractRdmaServerChannel<C extends AbstractRdmaConnectedChannel> extends AbstractRdmaChannel
        implements ServerChannel {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(AbstractRdmaServerChannel.class);
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    /** The most ports that are tried until one is free with each provider. */
    private static final int MAX_PORTS = 16;
    private static final long WARNING_NANOS = TimeUnit.MINUTES.toNanos(1);
    /**
     * Registered memory of the half-open connections of this process, in bytes. It is bounded because such a connection
     * costs a peer next to nothing, and the application does not see it.
     */
    private static final PeerShares MEMORY = new PeerShares();
    private static final long MAX_MEMORY = PinnedMemory.PROCESS.max() / 8;

    final RdmaServerSocketChannelConfig config = new RdmaServerSocketChannelConfig(this);
    /** Connections that are half-open, or established and not read. */
    private final PeerShares pending = new PeerShares();
    /** Requests that wait for memory. */
    private final RequestQueue<C> requests = new RequestQueue<>();
    /** Requests that have their memory and wait to be read. */
    private final ArrayDeque<C> backlog = new ArrayDeque<>();
    private final Runnable memoryFreed = () -> loop().execute(this::advance);
    /** A listening id for each provider that has the address; none before {@code bind}. */
    private List<Listening> listening = Collections.emptyList();
    private volatile List<VerbsProvider> listensBy = Collections.emptyList();
    private final Accepting accepting = new Accepting();
    private boolean warned;
    private long warnedNanos;
    private long notWarned;

    protected AbstractRdmaServerChannel() {
        super(null);
    }

    /**
     * Makes a channel for a request. The channel owns the id of the request from then on.
     *
     * @throws ProtocolException to reject the request. The peer gets the message.
     */
    protected abstract C newChild(ConnectionEvent request) throws Exception;

    /** Number of bytes of registered memory that a child takes before its connection is established. */
    protected long halfOpenMemory() {
        return 0;
    }

    /**
     * The configuration of a listening channel of byte streams or messages. {@link ChannelOption#SO_BACKLOG} bounds the
     * connections of one peer that are not established, or that the channel has not read. For all peers together the
     * bound is twice as high. Further connections are rejected. {@link ChannelOption#SO_REUSEADDR}, {@link
     * ChannelOption#IP_TOS} and {@link RdmaChannelOption#IPV6_ONLY} are given to the RDMA connection manager when the
     * address is bound. {@link RdmaChannelOption#DEVICE}, {@link RdmaChannelOption#DEVICE_PORT} and {@link
     * RdmaChannelOption#GID_INDEX} choose the address that stands for the wildcard. {@link ChannelOption#SO_RCVBUF}
     * counts for connections that are accepted before their channel is read; set it for each connection with {@code
     * childOption}.
     */
    @Override
    public ServerSocketChannelConfig config() {
        return config;
    }

    /** The providers by which the channel listens, the nearest one first. Any thread; none before it is bound. */
    public final List<VerbsProvider> providers() {
        return listensBy;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    @SuppressWarnings("exports") // for the channels of this module
    protected final List<? extends ConnectionIdMigration.Owner> owners() {
        return listening;
    }

    @Override
    protected final void registeredAgain() { }

    /** Keeps the listening ids. Their requests are put into the backlog meanwhile, as a kernel does for a socket. */
    @Override
    protected final void deregistered() { }

    /**
     * Listens with each provider that has the address, at the same port. Clients of this host use the nearest provider,
     * others a device.
     */
    @Override
    protected final void doBind(SocketAddress localAddress) throws Exception {
        if (!listening.isEmpty()) {
            throw new AlreadyBoundException();
        }
        InetSocketAddress requested = Bind.listenAddress(checkResolved(localAddress),
                config.getOption(RdmaChannelOption.IPV6_ONLY));
        List<VerbsApi> providers = config.device.providers();
        for (int port = 1;; port++) {
            try {
                listening = listen(providers, requested);
                break;
            } catch (BindException e) {
                // A port that one provider has chosen may be in use with another provider.
                if (e instanceof NoRdmaDeviceException || requested.getPort() != 0 || providers.size() == 1 ||
                        port == MAX_PORTS) {
                    throw e;
                }
            }
        }
        listensBy = listening.stream().map(each -> each.id().verbs().provider()).toList();
        local = listening.get(0).id().localAddress();
        activate();
    }

    private List<Listening> listen(List<VerbsApi> providers, InetSocketAddress requested) throws Exception {
        List<Listening> result = new ArrayList<>(providers.size());
        NoRdmaDeviceException without = null;
        InetSocketAddress address = requested;
        try {
            for (VerbsApi verbs : providers) {
                try {
                    result.add(listen(verbs, address));
                    address = new InetSocketAddress(requested.getAddress(),
                            result.get(0).id().localAddress().getPort());
                } catch (NoRdmaDeviceException e) {
                    without = e;
                }
            }
            if (result.isEmpty()) {
                throw without;
            }
        } catch (Throwable t) {
            result.forEach(LoopId::close);
            throw t;
        }
        if (without != null) {
            logger.debug("{}: listens by {} alone", this, result.get(0).id().verbs(), without);
        }
        return result;
    }

    private Listening listen(VerbsApi verbs, InetSocketAddress requested) throws Exception {
        InetSocketAddress address = config.device.local(verbs, requested, null);
        ConnectionId id = ConnectionId.create(handler().events(verbs).channel, PortSpace.TCP);
        Listening result = null;
        try {
            result = new Listening(handler(), id);
            if (config.isReuseAddress()) {
                id.setReuseAddress(true);
            }
            if (address.getAddress() instanceof Inet6Address) {
                // Without this, the host's default for sockets would count (net.ipv6.bindv6only).
                id.setIpv6Only(config.getOption(RdmaChannelOption.IPV6_ONLY));
            }
            int trafficClass = config.getOption(ChannelOption.IP_TOS);
            if (trafficClass != 0) {
                id.setTypeOfService(trafficClass);
            }
            Bind.bind(id, address, config.device);
            id.listen(config.getBacklog());
            return result;
        } catch (Throwable t) {
            if (result != null) {
                result.close();
            }
            id.close();
            if (t instanceof VerbsException) {
                throw Bind.exception(verbs, (VerbsException) t, address);
            }
            throw t;
        }
    }

    /** Tells the pipeline of the error. As with a socket, an error of one connection does not close the listener. */
    @Override
    protected final void unexpected(Throwable cause) {
        pipeline().fireExceptionCaught(cause);
    }

    private void connectionEvent(ConnectionEvent event) {
        if (event.type() == ConnectionEventType.CONNECT_REQUEST) {
            request(event);
        } else if (event.type() == ConnectionEventType.DEVICE_REMOVAL) {
            pipeline().fireExceptionCaught(new IOException("the RDMA device of " + local + " was removed"));
            unsafe().close(unsafe().voidPromise());
        }
    }

    private void request(ConnectionEvent event) {
        ConnectionId request = event.id();
        Object peer = request.peer();
        int most = Math.max(1, config.getBacklog());
        if (!pending.take(peer, 1, 2L * most)) {
            warn(request.remoteAddress(), "the backlog is full: " + most + " connections of a peer, or twice as many " +
                    "of all, are not established or not read (ChannelOption.SO_BACKLOG)");
            AbstractRdmaConnectedChannel.reject(request, RdmaConnectMetrics.Rejection.BACKLOG,
                    "the backlog of " + most + " connections is full, try again later");
            return;
        }
        HalfOpen halfOpen = null;
        boolean added = false;
        try {
            halfOpen = new HalfOpen(peer);
            C child = newChild(event);
            child.cameBy(request.verbs());
            child.request(loop().handler(), request);
            child.halfOpen = halfOpen;
            requests.add(peer, child);
            added = true;
        } catch (ProtocolException e) {
            logger.debug("{}: rejected {}", this, request.remoteAddress(), e);
            AbstractRdmaConnectedChannel.reject(request, RdmaConnectMetrics.Rejection.PROTOCOL, e.getMessage());
        } catch (Throwable t) {
            request.close();
            pipeline().fireExceptionCaught(t);
        } finally {
            if (!added && halfOpen != null) {
                halfOpen.end();
            } else if (!added) {
                pending.giveBack(peer, 1);
            }
        }
        advance();
    }

    /** Gives memory to requests that wait for it, as far as there is some. On the loop of this channel. */
    private void advance() {
        if (accepting.isReadPending() && isRegistered()) {
            accepting.readNow();
            return;
        }
        for (C child; isOpen() && (child = nextRequest()) != null;) {
            backlog.add(child);
            child.hold();
        }
    }

    private C nextRequest() {
        if (requests.isEmpty()) {
            return null;
        }
        C child = requests.poll(request -> request.halfOpen.start());
        if (child == null) {
            MEMORY.await(memoryFreed);
            // Memory may have been freed since the first attempt.
            child = requests.poll(request -> request.halfOpen.start());
        }
        return child;
    }

    /** Warns of a failure, once a minute at most, because a peer can cause such failures at any rate. Any thread. */
    final void warn(SocketAddress peer, String what) {
        long more;
        boolean first;
        synchronized (memoryFreed) {
            long now = loop().nanoTime();
            first = !warned || now - warnedNanos >= WARNING_NANOS;
            more = notWarned;
            notWarned = first ? 0 : more + 1;
            if (first) {
                warned = true;
                warnedNanos = now;
            }
        }
        if (first) {
            logger.warn("{}: no connection to {}: {}. There were {} more like this since the last warning; the next " +
                    "one is in a minute at the earliest.", this, peer, what, more);
        } else {
            logger.debug("{}: no connection to {}: {}", this, peer, what);
        }
    }

    /**
     * A connection that a peer has requested, until it is established and read, or given up. It counts against the
     * peer's share, because the peer alone decides how many it requests. Any thread.
     */
    final class HalfOpen {
        private final Object peer;
        private long memory = -1;
        private boolean ended;

        private HalfOpen(Object peer) {
            this.peer = peer;
        }

        /** Takes memory for the connection. Returns whether there is enough. */
        private synchronized boolean start() {
            long bytes = halfOpenMemory();
            if (memory < 0 && (bytes == 0 || MEMORY.take(peer, bytes, MAX_MEMORY))) {
                memory = bytes;
            }
            return memory >= 0;
        }

        void end() {
            long freed;
            synchronized (this) {
                if (ended) {
                    return;
                }
                ended = true;
                freed = memory;
            }
            pending.giveBack(peer, 1);
            if (freed > 0) {
                MEMORY.giveBack(peer, freed);
            }
        }
    }

    /** Closes a child whose peer is gone. Has no effect if the child was read. On the thread of any loop. */
    final void withdraw(AbstractRdmaConnectedChannel child) {
        if (loop().isHere() && (backlog.remove(child) || requests.remove(child))) {
            logger.debug("{}: {} did not complete its connection", this, child.remote);
            ConnectCounters.vanished();
            child.unsafe().closeForcibly();
        }
    }

    /** The event loop of the channel, or its last one. */
    final LoopBinding loop() {
        return listening.get(0).loop();
    }

    @Override
    protected final void doBeginRead() {
        accepting.beginRead();
    }

    @Override
    protected final void clearReadPending() {
        accepting.clearReadPending();
    }

    /** Returns whether a child is ready to be read now. */
    private boolean fillBacklog() {
        if (backlog.isEmpty()) {
            C child = nextRequest();
            if (child != null) {
                try {
                    backlog.add(child);
                } catch (Throwable t) {
                    child.unsafe().closeForcibly();
                    throw t;
                }
            }
        }
        return !backlog.isEmpty();
    }

    /** Gives the children to the pipeline. */
    private final class Accepting extends ReadLoop {
        @Override
        protected ChannelPipeline pipeline() {
            return AbstractRdmaServerChannel.this.pipeline();
        }

        @Override
        protected RecvByteBufAllocator.ExtendedHandle handle() {
            RecvByteBufAllocator.ExtendedHandle handle =
                    (RecvByteBufAllocator.ExtendedHandle) unsafe().recvBufAllocHandle();
            handle.reset(config);
            handle.attemptedBytesRead(1);
            return handle;
        }

        @Override
        protected void execute(Runnable task) {
            loop().execute(task);
        }

        @Override
        protected void readNow() {
            try {
                read();
            } catch (Throwable t) {
                // The next request or read() tries again.
                unexpected(t);
            }
        }

        @Override
        protected boolean isReading() {
            return isOpen() && isRegistered();
        }

        @Override
        protected boolean hasNext() {
            return !backlog.isEmpty() || !requests.isEmpty();
        }

        /** Returns whether a child can be read. A request may still have to wait for memory. */
        @Override
        protected boolean isDue() {
            return isReadPending() && fillBacklog();
        }

        @Override
        protected C next(RecvByteBufAllocator.ExtendedHandle handle) {
            C child = fillBacklog() ? backlog.poll() : null;
            handle.lastBytesRead(child == null ? -1 : 1);
            return child;
        }

        @Override
        protected boolean goesOn(RecvByteBufAllocator.ExtendedHandle handle) {
            return handle.continueReading();
        }
    }

    @Override
    protected final void closeNative() {
        MEMORY.forget(memoryFreed);
        listening.forEach(LoopId::close);
    }

    @Override
    protected final void doWrite(ChannelOutboundBuffer in) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected final Object filterOutboundMessage(Object msg) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected final AbstractRdmaUnsafe newUnsafe() {
        return new AbstractRdmaUnsafe() {
            @Override
            public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
                promise.setFailure(new UnsupportedOperationException());
            }
        };
    }

    /** A listening id. Its requests in the backlog move with it. */
    private final class Listening extends LoopId {
        Listening(LoopHandler handler, ConnectionId id) throws Exception {
            super(handler, id, AbstractRdmaServerChannel.this.listener(
                    AbstractRdmaServerChannel.this::connectionEvent));
        }

        @Override
        public void leave(EventChannel events) throws Exception {
            for (C child : waiting()) {
                child.leaveRequest(events);
            }
            super.leave(events);
        }

        @Override
        public void attach(LoopHandler handler) {
            for (C child : waiting()) {
                child.attachRequest(handler);
            }
            super.attach(handler);
        }

        @Override
        public void destroy() {
            for (C child; (child = backlog.poll()) != null || (child = requests.poll(request -> true)) != null;) {
                child.unsafe().closeForcibly();
            }
            super.destroy();
        }

        /** The requests that came by this provider. */
        private List<C> waiting() {
            List<C> waiting = new ArrayList<>();
            Consumer<C> add = child -> {
                if (child.requestedBy() == id().verbs()) {
                    waiting.add(child);
                }
            };
            backlog.forEach(add);
            requests.forEach(add);
            return waiting;
        }
    }
}
