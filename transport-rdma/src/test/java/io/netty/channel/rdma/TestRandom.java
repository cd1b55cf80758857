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

import io.netty.util.internal.SystemPropertyUtil;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/**
 * The seeds of tests with random input. Without any property these are the fixed set of the test, the same in each run.
 * {@code test.seed} replays one. {@code test.seconds} goes on with new seeds for that many seconds. A test has to print
 * the seed of each run before it begins, so that a run that hangs can be replayed as well.
 */
public final class TestRandom {
    private static final String SEED = SystemPropertyUtil.get("test.seed");
    private static final long SECONDS = SystemPropertyUtil.getLong("test.seconds", 0);

    private TestRandom() {
    }

    /** The seeds to run: 1 to {@code fixed} and those that found something, or what the properties say. */
    public static LongStream seeds(int fixed, long... found) {
        if (SEED != null) {
            return LongStream.of(Long.parseLong(SEED));
        }
        return SECONDS == 0 ? LongStream.concat(LongStream.rangeClosed(1, fixed), LongStream.of(found)) : newSeeds();
    }

    private static LongStream newSeeds() {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        // Positive and short enough to be typed; the fixed ones are below.
        SplittableRandom random = new SplittableRandom();
        return LongStream.generate(() -> random.nextLong(1_000_000, 1_000_000_000_000L))
                .takeWhile(seed -> System.nanoTime() - end < 0);
    }
}
