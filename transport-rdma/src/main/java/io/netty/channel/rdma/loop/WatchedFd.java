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
package io.netty.channel.rdma.loop;

import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.rdma.verbs.CompletionChannel;
import io.netty.channel.unix.FileDescriptor;

/** A file descriptor of the verbs provider that the loop's {@link EpollIoHandler} watches for reading. */
final class WatchedFd implements EpollIoHandle {
    /** Handles a readable descriptor. */
    interface Reader {
        void readable() throws Exception;
    }

    private final FileDescriptor fd;
    private final Reader reader;
    private final LoopHandler handler;
    private final IoRegistration registration;

    WatchedFd(LoopHandler handler, int fd, Reader reader) throws Exception {
        this(handler, fd, EpollIoOps.EPOLLIN, reader);
    }

    WatchedFd(LoopHandler handler, CompletionChannel channel, Reader reader) throws Exception {
        this(handler, channel.fd(),
                channel.isEdgeTriggered() ? EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLET) : EpollIoOps.EPOLLIN, reader);
    }

    private WatchedFd(LoopHandler handler, int fd, EpollIoOps ops, Reader reader) throws Exception {
        this.handler = handler;
        // The provider closes the descriptor, so close() is never called on this object.
        this.fd = new FileDescriptor(fd);
        this.reader = reader;
        registration = handler.epoll.register(this);
        registration.submit(ops);
    }

    /** Must be called before the descriptor is closed. */
    void unwatch() {
        registration.cancel();
    }

    @Override
    public FileDescriptor fd() {
        return fd;
    }

    @Override
    public void handle(IoRegistration ignored, IoEvent event) {
        handler.internalEvent();
        try {
            reader.readable();
        } catch (Throwable t) {
            handler.unexpected(t);
        }
    }

    @Override
    public void close() { }
}
