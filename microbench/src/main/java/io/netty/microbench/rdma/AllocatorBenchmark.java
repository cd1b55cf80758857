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
package io.netty.microbench.rdma;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

import java.util.concurrent.TimeUnit;

/**
 * Costs of a direct buffer that is allocated and released on an event executor: registered memory beside Netty's own
 * pools, which can't be registered.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = {
        "-Djmh.executor=CUSTOM", "-Djmh.executor.class=io.netty.microbench.rdma.EventExecutors",
        "-Dio.netty.leakDetection.level=disabled"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class AllocatorBenchmark {
    /** An allocator by name. */
    public enum Allocator {
        RDMA(RdmaByteBufAllocator.DEFAULT),
        ADAPTIVE(new AdaptiveByteBufAllocator(true)),
        POOLED(PooledByteBufAllocator.DEFAULT);

        private final ByteBufAllocator allocator;

        Allocator(ByteBufAllocator allocator) {
            this.allocator = allocator;
        }
    }

    @Param
    public Allocator allocator;

    @Param({"64", "4096", "65536"})
    public int bytes;

    @Benchmark
    public boolean allocateAndRelease() {
        return allocator.allocator.directBuffer(bytes).release();
    }
}
