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
package io.netty.channel.rdma.bootstrap;

import io.netty.util.concurrent.Future;
import io.netty.util.internal.SystemPropertyUtil;

import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The address of the tests, and bounded waiting.
 */
final class TestNet {
    static final int MULTIPLIER = SystemPropertyUtil.getInt("test.timeout.multiplier", 1);
    static final long SECONDS = 30L * MULTIPLIER;

    private TestNet() { }

    /** An address of an RDMA device, which is one of TCP as well. */
    static InetSocketAddress address(int port) {
        return new InetSocketAddress(SystemPropertyUtil.get("io.netty.rdma.test.address", "127.0.0.1"), port);
    }

    /** Waits for the end of a future, whichever it is. */
    static <F extends Future<?>> F await(F future) throws InterruptedException {
        assertThat(future.await(SECONDS, TimeUnit.SECONDS)).as("done in time: %s", future).isTrue();
        return future;
    }

    /** The result of a future that is expected to succeed. */
    static <V> V get(Future<V> future) throws InterruptedException {
        assertThat(await(future).cause()).isNull();
        return future.getNow();
    }

    static <T> T take(BlockingQueue<T> queue, String what) throws InterruptedException {
        T element = queue.poll(SECONDS, TimeUnit.SECONDS);
        assertThat(element).as("%s in time", what).isNotNull();
        return element;
    }
}
