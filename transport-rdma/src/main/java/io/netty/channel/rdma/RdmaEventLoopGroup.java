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

import io.netty.channel.MultiThreadIoEventLoopGroup;

import java.util.concurrent.ThreadFactory;

/**
 * A {@link MultiThreadIoEventLoopGroup} whose event loops serve RDMA channels and, at the same time, the channels of
 * Netty's epoll transport. A short form of {@code new MultiThreadIoEventLoopGroup(n, RdmaIoHandler.newFactory())}.
 */
public final class RdmaEventLoopGroup extends MultiThreadIoEventLoopGroup {
    /** Creates a group with Netty's default number of threads. */
    public RdmaEventLoopGroup() {
        this(0);
    }

    /** @param nThreads the number of event loops; 0 for Netty's default. */
    public RdmaEventLoopGroup(int nThreads) {
        super(nThreads, RdmaIoHandler.newFactory());
    }

    /**
     * @param nThreads the number of event loops; 0 for Netty's default.
     * @param config   how the loops wait.
     */
    public RdmaEventLoopGroup(int nThreads, RdmaIoHandlerConfig config) {
        super(nThreads, RdmaIoHandler.newFactory(config));
    }

    /**
     * @param nThreads      the number of event loops; 0 for Netty's default.
     * @param threadFactory makes their threads.
     * @param config        how the loops wait.
     */
    public RdmaEventLoopGroup(int nThreads, ThreadFactory threadFactory, RdmaIoHandlerConfig config) {
        super(nThreads, threadFactory, RdmaIoHandler.newFactory(config));
    }
}
