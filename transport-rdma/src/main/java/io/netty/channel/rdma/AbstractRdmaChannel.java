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

import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.rdma.loop.LoopEvents;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.move.ConnectionIdMigration;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.StringUtil;
import io.netty.util.internal.UnstableApi;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Common parts of all RDMA channels: registration with a {@link RdmaIoHandler}, addresses, and events of the connection
 * manager.
 *
 * <p>For the channels of this transport.
 */
@UnstableApi
public abstract class AbstractRdmaChannel extends AbstractChannel {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(AbstractRdmaChannel.class);
    private static final AtomicBoolean TOLD_OF_LOOPS = new AtomicBoolean();

    private enum State {
        /** The channel is open, and perhaps bound, connecting or being accepted. */
        OPEN,
        /** The channel is listening or connected, or is a datagram channel and bound. */
        ACTIVE,
        CLOSED
    }

    private IoRegistration registration;
    private LoopHandler handler;
    private volatile EventLoop home;
    private boolean closedActive;
    private volatile boolean outputEnding;
    private volatile State state = State.OPEN;
    /** The last error of the application in the use of the channel, or {@code null}. */
    volatile Throwable misused;
    volatile InetSocketAddress local;
    volatile InetSocketAddress remote;

    protected AbstractRdmaChannel(Channel parent) {
        super(parent);
        Rdma.ensureAvailability();
    }

    @Override
    protected final boolean isCompatible(EventLoop loop) {
        if (!(loop instanceof IoEventLoop) || !((IoEventLoop) loop).isCompatible(RdmaIoHandle.class)) {
            tellOfForeign(loop);
            return false;
        }
        return home == null || home == loop || !isBoundToLoop();
    }

    /** The exception that Netty throws names the class of the event loop, which is the same for all transports. */
    private void tellOfForeign(EventLoop loop) {
        String message = StringUtil.simpleClassName(this) + " can't be registered with " + loop +
                ", which serves other channels: use the event loops of RdmaEventLoopGroup, or of " +
                "RdmaOrTcp.newEventLoopGroup()";
        misused = new IllegalStateException(message);
        if (TOLD_OF_LOOPS.compareAndSet(false, true)) {
            logger.warn("{}", message);
        }
    }

    /** Records an error of the application in the use of the channel. */
    protected final void misused(Throwable cause) {
        misused = cause;
    }

    /**
     * Returns whether the native objects of the channel can't leave the event loop that it was registered with. Any
     * thread.
     */
    protected boolean isBoundToLoop() {
        return false;
    }

    @Override
    protected final void doRegister(ChannelPromise promise) {
        Future<IoRegistration> registering;
        try {
            registering = ((IoEventLoop) eventLoop()).register(ownUnsafe());
        } catch (Throwable t) {
            // The loop fails its promise with exceptions only, not with errors.
            promise.setFailure(t);
            return;
        }
        registering.addListener(future -> {
            if (!future.isSuccess()) {
                promise.setFailure(future.cause());
                return;
            }
            // The future's value is a wrapper that counts registrations. The handler's own object would not.
            registration = (IoRegistration) future.getNow();
            handler = registration.attachment();
            handler.registered((IoEventLoop) eventLoop());
            home = eventLoop();
            List<? extends ConnectionIdMigration.Owner> owners = owners();
            if (owners.isEmpty()) {
                registered(promise);
            } else {
                ownUnsafe().loopChange.start(owners, handler, promise);
            }
        });
    }

    /**
     * Handles an exception in the work for the channel, after which its state can't be relied upon. Called on the loop,
     * at any point of its work.
     */
    protected void unexpected(Throwable cause) {
        pipeline().fireExceptionCaught(cause);
        unsafe().close(unsafe().voidPromise());
    }

    /** Returns a listener for events of the connection manager, which reports exceptions to the channel. */
    final LoopEvents.Listener listener(Consumer<ConnectionEvent> listener) {
        return new LoopEvents.Listener() {
            @Override
            public void connectionEvent(ConnectionEvent event) {
                listener.accept(event);
            }

            @Override
            public void unexpected(Throwable cause) {
                AbstractRdmaChannel.this.unexpected(cause);
            }
        };
    }

    /** The native objects that go with the channel to another loop. */
    @SuppressWarnings("exports") // for the channels of this module
    protected abstract List<? extends ConnectionIdMigration.Owner> owners();

    /** Continues after a successful registration. Must complete the promise. */
    protected void registered(ChannelPromise promise) {
        promise.setSuccess();
    }

    /** Continues after the channel was registered again, with its native objects. */
    protected abstract void registeredAgain();

    /** Notes that the channel is deregistered. It is not closed, and not registered with another loop yet. */
    protected abstract void deregistered();

    /** Closes the native objects of the closed channel. */
    protected abstract void closeNative();

    /**
     * Deregisters the channel, by a deregistration or a close. A deregistration that was requested before the close may
     * take effect after it. Then the pipeline has its handlers for the last time, because the task of the close, which
     * follows, would find none to tell.
     */
    @Override
    protected void doDeregister() throws Exception {
        leaveLoop();
        if (ownUnsafe().loopChange.deregistered() && !isOpen() && closedActive) {
            pipeline().fireChannelInactive();
        }
    }

    private void leaveLoop() {
        boolean leaving = isRegistered() && isOpen();
        IoRegistration current = registration;
        if (current != null) {
            registration = null;
            current.cancel();
        }
        if (leaving) {
            deregistered();
        }
    }

    /** The handler that this channel is, or was last, registered with. On its loop. */
    @SuppressWarnings("exports") // for the channels of this module
    protected final LoopHandler handler() {
        return handler;
    }

    /** Returns whether the event loop is about to end, so that nothing may take long. On the loop. */
    protected final boolean isLoopEnding() {
        return handler != null && handler.isShuttingDown();
    }

    /** Sets the addresses of a connection that is not made yet. */
    protected final void addresses(InetSocketAddress newLocal, InetSocketAddress newRemote) {
        local = newLocal;
        remote = newRemote;
    }

    /** Makes the channel active, unless it is closed. On the loop. */
    void activate() {
        if (state == State.OPEN) {
            state = State.ACTIVE;
        }
    }

    /** Makes the channel active with these addresses. On the loop. */
    protected final void established(InetSocketAddress newLocal, InetSocketAddress newRemote) {
        addresses(newLocal, newRemote);
        activate();
    }

    /** Makes the listener get the events of the id. On the loop. */
    protected final void listen(ConnectionId id, Consumer<ConnectionEvent> listener) throws Exception {
        handler.events(id.verbs()).listen(id, listener(listener));
    }

    /** Stops the events of the id. On the loop. */
    protected final void forget(ConnectionId id) {
        if (handler != null) {
            handler.forget(id);
        }
    }

    /**
     * Moves the id of a connection request from an event channel of the application to that of this channel's loop. On
     * the loop.
     *
     * @param reader runs tasks on the thread that reads the events of the id. Only that thread may move the id away.
     * @param listener gets the events of the id. The next one may come before {@code arrived} is told.
     * @param arrived told on the loop: {@code null}, or the reason why the id can't move. If the loop has just ended,
     *         it is told on the thread of the reader.
     */
    protected final void moveHere(ConnectionId id, Executor reader, Consumer<ConnectionEvent> listener,
                                  Consumer<Throwable> arrived) throws Exception {
        EventChannel events = handler.events(id.verbs()).channel;
        listen(id, listener);
        ConnectionIdMigration.migrate(id::migrate, reader, events, eventLoop(), arrived);
    }

    /** Clears the pending {@code read()}. On the loop. */
    protected abstract void clearReadPending();

    /** Handles {@code setAutoRead(false)}: a {@code read()} that auto-read has called no longer counts. */
    protected final void autoReadCleared() {
        if (!isRegistered()) {
            return;
        }
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            clearReadPending();
        } else {
            loop.execute(() -> {
                if (!config().isAutoRead()) {
                    clearReadPending();
                }
            });
        }
    }

    protected final void onLoop(Runnable task) {
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }

    /** Runs the task on the event loop. If called there, the future is done at the return. */
    protected final <T> Future<T> callOnLoop(Callable<T> task) {
        Promise<T> promise = eventLoop().newPromise();
        onLoop(() -> {
            try {
                promise.setSuccess(task.call());
            } catch (Throwable t) {
                promise.setFailure(t);
            }
        });
        return promise;
    }

    @Override
    public final boolean isOpen() {
        return state != State.CLOSED;
    }

    @Override
    public final boolean isActive() {
        return state == State.ACTIVE;
    }

    /** Returns whether an end of the output waits for bytes that were flushed. Further writes fail then. Any thread. */
    protected final boolean isOutputEnding() {
        return outputEnding;
    }

    /** Sets whether an end of the output waits. On the loop. */
    protected final void outputEnding(boolean waits) {
        outputEnding = waits;
    }

    /** Returns whether a close waits for the bytes that were flushed before. On the loop. */
    protected boolean isCloseWaiting() {
        return false;
    }

    /**
     * Returns whether there is room for writes. As in {@link AbstractChannel}, there is none after a call of {@code
     * close}. Otherwise a handler that writes as long as there is room would write for ever, because each write fails
     * at once, and its event loop would do nothing else.
     */
    @Override
    public final boolean isWritable() {
        return !isOutputEnding() && super.isWritable();
    }

    @Override
    public final long bytesBeforeUnwritable() {
        return isOutputEnding() ? 0 : super.bytesBeforeUnwritable();
    }

    @Override
    public final long bytesBeforeWritable() {
        return isOutputEnding() ? Long.MAX_VALUE : super.bytesBeforeWritable();
    }

    @Override
    protected void doClose() throws Exception {
        closedActive = isActive();
        state = State.CLOSED;
        leaveLoop();
        if (!ownUnsafe().loopChange.isMoving()) {
            closeNative();
        }
    }

    @Override
    protected void doDisconnect() throws Exception {
        doClose();
    }

    @Override
    public InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return (InetSocketAddress) super.remoteAddress();
    }

    @Override
    protected final SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected final SocketAddress remoteAddress0() {
        return remote;
    }

    protected static InetSocketAddress checkResolved(SocketAddress address) {
        InetSocketAddress inet = (InetSocketAddress) address;
        if (inet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return inet;
    }

    @Override
    protected abstract AbstractRdmaUnsafe newUnsafe();

    /** The object that {@link #newUnsafe()} has made. */
    protected final AbstractRdmaUnsafe ownUnsafe() {
        return (AbstractRdmaUnsafe) super.unsafe();
    }

    @Override
    public final Unsafe unsafe() {
        return ownUnsafe().loopChange;
    }

    /** The handle under which the channel is registered. */
    protected abstract class AbstractRdmaUnsafe extends AbstractUnsafe implements RdmaIoHandle {
        private final LoopChange loopChange = new LoopChange(AbstractRdmaChannel.this, this);

        protected AbstractRdmaUnsafe() { }

        /** Is never called: the loop calls the listeners of the channel, so that events cost no object. */
        @Override
        public final void handle(IoRegistration registration, IoEvent ioEvent) {
            throw new UnsupportedOperationException();
        }

        @Override
        protected Executor prepareToClose() {
            return loopChange.closer();
        }

        /** Closes the channel, because the loop ends. A close that waits for native objects to arrive is done now. */
        @Override
        public final void close() {
            close(voidPromise());
            loopChange.close();
        }
    }
}
