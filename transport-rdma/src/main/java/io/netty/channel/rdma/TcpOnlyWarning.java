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

import io.netty.channel.IoHandle;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.util.internal.SystemPropertyUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Warns, once in a process, of a TCP connection on an event loop for RDMA if the process has not used RDMA so far.
 * Libraries that choose the channel class by the kind of the event loop (Armeria does) take these loops for epoll's,
 * and everything works, but over TCP. Listeners, datagrams and Unix sockets cause no warning, and TCP beside RDMA does
 * not either, because these loops are made for both.
 */
final class TcpOnlyWarning {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(TcpOnlyWarning.class);
    private static final String PROPERTY = "io.netty.rdma.warnTcpOnly";

    /** True if RDMA has been used, if the warning was logged, or if the property turns it off. */
    private static final AtomicBoolean DONE = new AtomicBoolean(!SystemPropertyUtil.getBoolean(PROPERTY, true));

    private TcpOnlyWarning() { }

    /** Notes that an RDMA channel is registered, listening or not. Any thread. */
    static void rdmaUsed() {
        if (!DONE.get()) {
            DONE.set(true);
        }
    }

    /** Warns if the registered channel of epoll is a TCP connection. Any thread. */
    static void epollUsed(IoHandle handle) {
        if (!DONE.get() && handle.getClass().getEnclosingClass() == EpollSocketChannel.class &&
                DONE.compareAndSet(false, true)) {
            logger.warn("An {} was registered with an event loop for RDMA, and no RDMA channel so far: this process " +
                    "talks over TCP. For RDMA, give your library RdmaSocketChannel and RdmaServerSocketChannel as " +
                    "channel classes, or RdmaOrTcpSocketChannel and RdmaOrTcpServerSocketChannel. If TCP is meant, " +
                    "-D{}=false says so.", EpollSocketChannel.class.getSimpleName(), PROPERTY);
        }
    }
}
