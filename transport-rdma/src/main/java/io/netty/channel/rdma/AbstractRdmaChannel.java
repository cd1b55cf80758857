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
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;

/**
 * What listening and connected RDMA channels have in common: registration with a {@link RdmaIoHandler}, and addresses.
 */
abstract class AbstractRdmaChannel extends AbstractChannel {
    private IoRegistration registration;
    private RdmaIoHandler handler;
    /** On its way from one event loop to another, with the native objects. On the new loop. */
    private boolean moving;
    private volatile boolean open = true;
    volatile boolean active;
    volatile InetSocketAddress local;
    volatile InetSocketAddress remote;

    AbstractRdmaChannel(Channel parent) {
        super(parent);
        Rdma.ensureAvailability();
    }

    @Override
    protected final boolean isCompatible(EventLoop loop) {
        return loop instanceof IoEventLoop && ((IoEventLoop) loop).isCompatible(RdmaIoHandle.class);
    }

    @Override
    protected final void doRegister(ChannelPromise promise) {
        ((IoEventLoop) eventLoop()).register((RdmaIoHandle) unsafe()).addListener(future -> {
            if (!future.isSuccess()) {
                promise.setFailure(future.cause());
                return;
            }
            // What the future gives is a wrapper that counts registrations: cancelling the handler's own object would
            // not.
            registration = (IoRegistration) future.getNow();
            handler = registration.attachment();
            handler.registered((IoEventLoop) eventLoop());
            IdMove.Owner owner = owner();
            if (owner == null) {
                registered(promise);
            } else {
                move(owner, promise);
            }
        });
    }

    private void move(IdMove.Owner owner, ChannelPromise promise) {
        moving = true;
        try {
            IdMove.start(owner, handler, failure -> moved(failure, promise));
        } catch (Throwable t) {
            moved(t, promise);
        }
    }

    private void moved(Throwable failure, ChannelPromise promise) {
        moving = false;
        if (!isOpen()) {
            closeNative();
            promise.setFailure(new ClosedChannelException());
        } else if (failure != null) {
            promise.setFailure(failure);
        } else {
            promise.setSuccess();
            registeredAgain();
        }
    }

    /** The native objects that go with the channel to another loop, or {@code null} if there are none. */
    abstract IdMove.Owner owner();

    /** The registration succeeded. Must complete the promise. */
    void registered(ChannelPromise promise) {
        promise.setSuccess();
    }

    /** The channel, with its native objects, is registered once more. */
    abstract void registeredAgain();

    /** The channel is deregistered, and neither closed nor registered with another loop yet. */
    abstract void deregistered();

    /** The channel is closed: closes what it has. */
    abstract void closeNative();

    @Override
    protected void doDeregister() throws Exception {
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
    final RdmaIoHandler handler() {
        return handler;
    }

    /** Read on the loop by the read paths. */
    abstract void clearReadPending();

    /** {@code setAutoRead(false)} was called: a {@code read()} that auto-read asked for no longer counts. */
    final void autoReadCleared() {
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

    final void onLoop(Runnable task) {
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }

    @Override
    public final boolean isOpen() {
        return open;
    }

    @Override
    public final boolean isActive() {
        return active;
    }

    @Override
    protected void doClose() throws Exception {
        open = false;
        active = false;
        doDeregister();
        if (!moving) {
            closeNative();
        }
    }

    @Override
    protected final void doDisconnect() throws Exception {
        doClose();
    }

    @Override
    protected final SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected final SocketAddress remoteAddress0() {
        return remote;
    }

    static InetSocketAddress checkResolved(SocketAddress address) {
        InetSocketAddress inet = (InetSocketAddress) address;
        if (inet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return inet;
    }

    @Override
    protected abstract AbstractRdmaUnsafe newUnsafe();

    /** The handle under which the channel is registered. */
    abstract class AbstractRdmaUnsafe extends AbstractUnsafe implements RdmaIoHandle {
        @Override
        public final void close() {
            close(voidPromise());
        }
    }
}
