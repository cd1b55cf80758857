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
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.channel.rdma.connection.Bind;
import io.netty.channel.rdma.loop.CurrentLoop;
import io.netty.channel.rdma.loop.IdMove;
import io.netty.channel.rdma.loop.LoopEvents;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.LoopId;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.Verbs;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;
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

/**
 * What listening channels have in common, whatever they accept: the listener of the connection manager, and the
 * requests that wait to be read.
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
    /** For a port that is free with each provider. */
    private static final int MAX_PORTS = 16;

    private final RdmaServerSocketChannelConfig config = new RdmaServerSocketChannelConfig(this);
    /** Requests that wait to be read. */
    private final ArrayDeque<C> backlog = new ArrayDeque<>();
    /** An id for each provider that has the address; none before {@code bind}. */
    private List<Listening> listening = Collections.emptyList();
    private volatile List<VerbsProvider> listensBy = Collections.emptyList();
    private boolean readPending;
    private boolean reading;

    protected AbstractRdmaServerChannel() {
        super(null);
    }

    /**
     * A channel for a request, whose id it owns from then on.
     *
     * @throws ProtocolException to reject the request; the peer is told the message.
     */
    protected abstract C newChild(ConnectionEvent request) throws Exception;

    /** The child has been put into the backlog; {@code read} tells whether it is about to be read from there. */
    protected void waits(C child, boolean read) {
        // It waits.
    }

    @Override
    public RdmaServerSocketChannelConfig config() {
        return config;
    }

    /** By which providers it listens, the nearest one first. Any thread; none before it is bound. */
    public final List<VerbsProvider> providers() {
        return listensBy;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    @SuppressWarnings("exports") // for the channels of this module
    protected final List<? extends IdMove.Owner> owners() {
        return listening;
    }

    @Override
    protected final void registeredAgain() {
    }

    /** Meanwhile requests are accepted and put into the backlog, as a kernel does for a socket. */
    @Override
    protected final void deregistered() {
    }

    /**
     * Listens with each provider that has the address, at the same port: clients of this host come by the nearest one,
     * others by a device.
     */
    @Override
    protected final void doBind(SocketAddress localAddress) throws Exception {
        if (!listening.isEmpty()) {
            throw new AlreadyBoundException();
        }
        InetSocketAddress requested = Bind.listenAddress(checkResolved(localAddress), config.isIpv6Only());
        List<Verbs> providers = config.device().providers();
        for (int port = 1;; port++) {
            try {
                listening = listen(providers, requested);
                break;
            } catch (BindException e) {
                // The port that one provider has chosen may be taken at another.
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

    private List<Listening> listen(List<Verbs> providers, InetSocketAddress requested) throws Exception {
        List<Listening> result = new ArrayList<>(providers.size());
        NoRdmaDeviceException without = null;
        InetSocketAddress address = requested;
        boolean done = false;
        try {
            for (Verbs verbs : providers) {
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
            done = true;
        } finally {
            if (!done) {
                result.forEach(LoopId::close);
            }
        }
        if (without != null) {
            logger.debug("{}: listens by {} alone", this, result.get(0).id().verbs(), without);
        }
        return result;
    }

    private Listening listen(Verbs verbs, InetSocketAddress requested) throws Exception {
        InetSocketAddress address = config.device().local(verbs, requested, null);
        ConnectionId id = ConnectionId.create(handler().events(verbs).channel(), PortSpace.TCP);
        Listening result = new Listening(handler(), id);
        boolean bound = false;
        try {
            if (config.isReuseAddress()) {
                id.setReuseAddress(true);
            }
            if (address.getAddress() instanceof Inet6Address) {
                // Whatever the host has for sockets that don't say (net.ipv6.bindv6only).
                id.setIpv6Only(config.isIpv6Only());
            }
            if (config.trafficClass() != 0) {
                id.setTypeOfService(config.trafficClass());
            }
            Bind.bind(id, address, config.device());
            id.listen(config.getBacklog());
            bound = true;
            return result;
        } catch (VerbsException e) {
            throw Bind.exception(verbs, e, address);
        } finally {
            if (!bound) {
                result.close();
            }
        }
    }

    /** As with a socket, what goes wrong with one connection leaves the listener. */
    @Override
    protected final void unexpected(Throwable cause) {
        pipeline().fireExceptionCaught(cause);
    }

    private LoopEvents.Listener eventListener() {
        return listener(this::connectionEvent);
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
        try {
            if (backlog.size() >= Math.max(1, config.getBacklog())) {
                logger.debug("{}: rejected {}: {} requests wait already", this, request.remoteAddress(),
                        backlog.size());
                AbstractRdmaConnectedChannel.reject(request, RdmaRejection.BACKLOG, "the backlog of " +
                        backlog.size() + " connections is full, try again later");
                return;
            }
            C child = newChild(event);
            child.cameBy(request.verbs());
            child.request(loop().handler(), request);
            backlog.add(child);
            waits(child, readPending && isRegistered());
        } catch (ProtocolException e) {
            logger.debug("{}: rejected {}", this, request.remoteAddress(), e);
            AbstractRdmaConnectedChannel.reject(request, RdmaRejection.PROTOCOL, e.getMessage());
            return;
        } catch (Throwable t) {
            request.close();
            pipeline().fireExceptionCaught(t);
            return;
        }
        readBacklog();
    }

    /** The peer of a request that waits has gone. On the loop of this channel. */
    final void withdraw(C child) {
        if (backlog.remove(child)) {
            logger.debug("{}: {} did not complete its connection", this, child.remote);
            RdmaConnectMetrics.total().vanished();
            drop(child);
        }
    }

    private static void drop(AbstractRdmaConnectedChannel child) {
        child.unsafe().closeForcibly();
    }

    /** Where the channel is, or was last. */
    private CurrentLoop loop() {
        return listening.get(0).loop();
    }

    /** Has the task run after a while, on the loop that this channel has then. On the loop of this channel. */
    final void schedule(Runnable task, int millis) {
        loop().schedule(task, millis, TimeUnit.MILLISECONDS);
    }

    @Override
    protected final void doBeginRead() {
        readPending = true;
        if (!backlog.isEmpty() && !reading) {
            eventLoop().execute(this::readBacklog);
        }
    }

    @Override
    protected final void clearReadPending() {
        readPending = false;
    }

    private void readBacklog() {
        if (reading || !readPending || backlog.isEmpty() || !isOpen() || !isRegistered()) {
            return;
        }
        reading = true;
        try {
            acceptBacklog();
        } catch (Throwable t) {
            // The next request, or read(), tries again.
            unexpected(t);
            return;
        } finally {
            reading = false;
        }
        if (readPending && !backlog.isEmpty()) {
            eventLoop().execute(this::readBacklog);
        }
    }

    private void acceptBacklog() {
        ChannelPipeline pipeline = pipeline();
        RecvByteBufAllocator.ExtendedHandle handle =
                (RecvByteBufAllocator.ExtendedHandle) unsafe().recvBufAllocHandle();
        handle.reset(config);
        handle.attemptedBytesRead(1);
        Throwable failure = null;
        try {
            do {
                C child = backlog.poll();
                handle.lastBytesRead(child == null ? -1 : 1);
                if (child == null) {
                    break;
                }
                handle.incMessagesRead(1);
                readPending = false;
                pipeline.fireChannelRead(child);
            } while (handle.continueReading());
        } catch (Throwable t) {
            failure = t;
        }
        handle.readComplete();
        pipeline.fireChannelReadComplete();
        if (failure != null) {
            pipeline.fireExceptionCaught(failure);
        }
    }

    @Override
    protected final void closeNative() {
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

    /** A listening id, and its requests in the backlog, which move with it. */
    private final class Listening extends LoopId {
        Listening(LoopHandler handler, ConnectionId id) throws Exception {
            super(handler, id, AbstractRdmaServerChannel.this.eventListener());
        }

        @Override
        public void leave(EventChannel events) throws Exception {
            for (C child : backlog) {
                if (child.requestedBy() == id().verbs()) {
                    child.leaveRequest(events);
                }
            }
            super.leave(events);
        }

        @Override
        public void attach(LoopHandler handler) {
            for (C child : backlog) {
                if (child.requestedBy() == id().verbs()) {
                    child.attachRequest(handler);
                }
            }
            super.attach(handler);
        }

        @Override
        public void destroy() {
            for (C child; (child = backlog.poll()) != null;) {
                drop(child);
            }
            super.destroy();
        }
    }
}
