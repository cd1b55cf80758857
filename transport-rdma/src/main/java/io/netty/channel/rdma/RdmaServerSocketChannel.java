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
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * A {@link ServerSocketChannel} over RDMA. It reads {@link RdmaSocketChannel}s, whose connections are accepted when
 * they are registered with their event loops.
 */
public final class RdmaServerSocketChannel extends AbstractRdmaChannel implements ServerSocketChannel {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaServerSocketChannel.class);
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

    private final RdmaServerSocketChannelConfig config = new RdmaServerSocketChannelConfig(this);
    /** Requests that wait to be read. */
    private final ArrayDeque<RdmaSocketChannel> backlog = new ArrayDeque<>();
    private LoopId listening;
    private boolean readPending;
    private boolean reading;

    /**
     * Creates an unbound channel.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public RdmaServerSocketChannel() {
        super(null);
    }

    @Override
    public RdmaServerSocketChannelConfig config() {
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

    /** Always {@code null}. */
    @Override
    public InetSocketAddress remoteAddress() {
        return null;
    }

    @Override
    IdMove.Owner owner() {
        return listening;
    }

    @Override
    void registeredAgain() {
    }

    /** Meanwhile requests are accepted and put into the backlog, as a kernel does for a socket. */
    @Override
    void deregistered() {
    }

    @Override
    protected void doBind(SocketAddress localAddress) throws Exception {
        InetSocketAddress address = checkResolved(localAddress);
        if (listening != null) {
            throw new AlreadyBoundException();
        }
        ConnectionId newId = ConnectionId.create(handler().events().channel(), PortSpace.TCP);
        LoopId newListening = new Listening(handler(), newId);
        boolean bound = false;
        try {
            if (config.isReuseAddress()) {
                newId.setReuseAddress(true);
            }
            if (config.isIpv6Only()) {
                newId.setIpv6Only(true);
            }
            if (config.trafficClass() != 0) {
                newId.setTypeOfService(config.trafficClass());
            }
            Bind.bind(newId, address);
            newId.listen(config.getBacklog());
            bound = true;
        } catch (VerbsException e) {
            throw Bind.exception(e, address);
        } finally {
            if (!bound) {
                newListening.close();
            }
        }
        listening = newListening;
        local = newId.localAddress();
        active = true;
    }

    private void connectionEvent(ConnectionEvent event) {
        if (event.type() == ConnectionEventType.CONNECT_REQUEST) {
            request(event.id(), event.privateData());
        } else if (event.type() == ConnectionEventType.DEVICE_REMOVAL) {
            pipeline().fireExceptionCaught(new IOException("the RDMA device of " + local + " was removed"));
            unsafe().close(unsafe().voidPromise());
        }
    }

    private void request(ConnectionId request, byte[] privateData) {
        try {
            ConnectionData peer = ConnectionData.read(ByteBuffer.wrap(privateData));
            if (backlog.size() >= Math.max(1, config.getBacklog())) {
                logger.debug("{}: rejected {}: {} requests wait already", this, request.remoteAddress(),
                        backlog.size());
                reject(request, "the backlog of " + backlog.size() + " connections is full, try again later");
                return;
            }
            RdmaSocketChannel child = new RdmaSocketChannel(this, request, peer);
            child.acceptor().attach(listening.loop().handler());
            backlog.add(child);
            if (!readPending || !isRegistered()) {
                child.acceptor().hold();
            }
        } catch (StreamProtocolException e) {
            logger.debug("{}: rejected {}", this, request.remoteAddress(), e);
            reject(request, e.getMessage());
            return;
        } catch (Throwable t) {
            request.close();
            pipeline().fireExceptionCaught(t);
            return;
        }
        readBacklog();
    }

    /** The peer of a request that waits has gone. On the loop of this channel. */
    void withdraw(RdmaSocketChannel child) {
        if (backlog.remove(child)) {
            logger.debug("{}: {} did not complete its connection", this, child.remote);
            drop(child);
        }
    }

    private static void drop(RdmaSocketChannel child) {
        child.unsafe().closeForcibly();
    }

    /** Has the task run after a while, on the loop that this channel has then. On the loop of this channel. */
    void schedule(Runnable task, int millis) {
        listening.loop().schedule(task, millis, TimeUnit.MILLISECONDS);
    }

    /** Refuses a connection request and tells the peer why. Returns whether it was still there. */
    static boolean reject(ConnectionId request, String reason) {
        try {
            request.reject(Rejection.data(reason));
            return true;
        } catch (VerbsException | IllegalStateException e) {
            // Already gone, for example with the event loop of the listener.
            logger.debug("Could not reject {}", request, e);
            return false;
        } finally {
            request.close();
        }
    }

    @Override
    protected void doBeginRead() {
        readPending = true;
        if (!backlog.isEmpty() && !reading) {
            eventLoop().execute(this::readBacklog);
        }
    }

    @Override
    void clearReadPending() {
        readPending = false;
    }

    private void readBacklog() {
        if (reading || !readPending || backlog.isEmpty() || !isOpen() || !isRegistered()) {
            return;
        }
        reading = true;
        ChannelPipeline pipeline = pipeline();
        RecvByteBufAllocator.ExtendedHandle handle =
                (RecvByteBufAllocator.ExtendedHandle) unsafe().recvBufAllocHandle();
        handle.reset(config);
        handle.attemptedBytesRead(1);
        Throwable failure = null;
        try {
            do {
                RdmaSocketChannel child = backlog.poll();
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
        reading = false;
        if (readPending && !backlog.isEmpty()) {
            eventLoop().execute(this::readBacklog);
        }
    }

    @Override
    void closeNative() {
        if (listening != null) {
            listening.close();
        }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected Object filterOutboundMessage(Object msg) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected AbstractRdmaUnsafe newUnsafe() {
        return new AbstractRdmaUnsafe() {
            @Override
            public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
                promise.setFailure(new UnsupportedOperationException());
            }
        };
    }

    /** The listening id, and the requests in the backlog, which move with it. */
    private final class Listening extends LoopId {
        Listening(RdmaIoHandler handler, ConnectionId id) throws Exception {
            super(handler, id, RdmaServerSocketChannel.this::connectionEvent);
        }

        @Override
        public void leave(EventChannel events) throws Exception {
            for (RdmaSocketChannel child : backlog) {
                child.acceptor().leave(events);
            }
            super.leave(events);
        }

        @Override
        public void attach(RdmaIoHandler handler) {
            for (RdmaSocketChannel child : backlog) {
                child.acceptor().attach(handler);
            }
            super.attach(handler);
        }

        @Override
        public void destroy() {
            for (RdmaSocketChannel child; (child = backlog.poll()) != null;) {
                drop(child);
            }
            super.destroy();
        }
    }
}
