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

import io.netty.util.concurrent.Future;
import io.netty.util.internal.SystemPropertyUtil;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * How long the tests wait at most; slow machines multiply it with the property {@code test.timeout.multiplier}.
 */
final class TestTimeouts {
    /** How many times as long everything takes as on hardware: much more than once in an emulated guest. */
    static final int MULTIPLIER = SystemPropertyUtil.getInt("test.timeout.multiplier", 1);
    static final long SECONDS = 20L * MULTIPLIER;

    private TestTimeouts() {
    }

    /** Waits for the end of a future, whichever it is. */
    static <F extends Future<?>> F await(F future) throws InterruptedException {
        if (!future.await(SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("not done within " + SECONDS + " s: " + future);
        }
        return future;
    }

    static <T> T take(BlockingQueue<T> queue, String what) throws InterruptedException {
        T element = queue.poll(SECONDS, TimeUnit.SECONDS);
        if (element == null) {
            throw new AssertionError("nothing within " + SECONDS + " s: " + what);
        }
        return element;
    }
}
