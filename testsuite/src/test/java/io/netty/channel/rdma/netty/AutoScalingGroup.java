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
package io.netty.channel.rdma.netty;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.util.concurrent.AutoScalingEventExecutorChooserFactory;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * The event loops for the tests of scaling of {@code AbstractSingleThreadEventLoopTest}: as its {@code
 * AUTO_SCALING_CHOOSER_FACTORY} has them, but that loops are looked at every second and not ten times as often. The
 * tests expect both loops of a new group to be there, and the first one may have been idle for 100 ms by then on a busy
 * machine. They wait 5 seconds for one to be suspended.
 */
public final class AutoScalingGroup {
    private static final int MAX_THREADS = 2;

    private AutoScalingGroup() {
    }

    public static EventLoopGroup create() {
        return new MultiThreadIoEventLoopGroup(MAX_THREADS, (Executor) null,
                new AutoScalingEventExecutorChooserFactory(1, MAX_THREADS, 1, TimeUnit.SECONDS, 0.2, 0.9, MAX_THREADS,
                        MAX_THREADS, 1),
                RdmaIoHandler.newFactory());
    }
}
