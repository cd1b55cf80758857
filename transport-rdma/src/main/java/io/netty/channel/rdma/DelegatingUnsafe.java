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

import io.netty.channel.Channel.Unsafe;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.internal.UnstableApi;

import java.net.SocketAddress;

/**
 * The object that the pipeline calls in place of a channel's {@code AbstractUnsafe}. It passes all calls on to that.
 * Subclasses override methods that are final there: {@code write} and {@code flush}, and before Netty 4.2.11 {@code
 * deregister}.
 */
@UnstableApi
public abstract class DelegatingUnsafe implements Unsafe {
    private final Unsafe unsafe;

    protected DelegatingUnsafe(Unsafe unsafe) {
        this.unsafe = unsafe;
    }

    @Override
    @SuppressWarnings("deprecation") // the type is that of the interface
    public RecvByteBufAllocator.Handle recvBufAllocHandle() {
        return unsafe.recvBufAllocHandle();
    }

    @Override
    public SocketAddress localAddress() {
        return unsafe.localAddress();
    }

    @Override
    public SocketAddress remoteAddress() {
        return unsafe.remoteAddress();
    }

    @Override
    public void register(EventLoop eventLoop, ChannelPromise promise) {
        unsafe.register(eventLoop, promise);
    }

    @Override
    public void bind(SocketAddress localAddress, ChannelPromise promise) {
        unsafe.bind(localAddress, promise);
    }

    @Override
    public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
        unsafe.connect(remoteAddress, localAddress, promise);
    }

    @Override
    public void disconnect(ChannelPromise promise) {
        unsafe.disconnect(promise);
    }

    @Override
    public void close(ChannelPromise promise) {
        unsafe.close(promise);
    }

    @Override
    public void closeForcibly() {
        unsafe.closeForcibly();
    }

    @Override
    public void deregister(ChannelPromise promise) {
        unsafe.deregister(promise);
    }

    @Override
    public void beginRead() {
        unsafe.beginRead();
    }

    @Override
    public void write(Object msg, ChannelPromise promise) {
        unsafe.write(msg, promise);
    }

    @Override
    public void flush() {
        unsafe.flush();
    }

    @Override
    public ChannelPromise voidPromise() {
        return unsafe.voidPromise();
    }

    @Override
    public ChannelOutboundBuffer outboundBuffer() {
        return unsafe.outboundBuffer();
    }
}
