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

import io.netty.channel.rdma.verbs.CompletionChannel;
import io.netty.channel.rdma.verbs.CompletionQueue;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletions;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import java.util.concurrent.TimeUnit;

/**
 * Costs of a look at an empty completion queue: one spin of a polling loop, and one attempt to sleep.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CompletionQueueBenchmark {
    private final WorkCompletions completions = new WorkCompletions(64);
    private Device device;
    private CompletionChannel channel;
    private CompletionQueue queue;

    @Setup
    public void open() throws VerbsException {
        device = Device.open(Device.names().get(0));
        channel = device.createCompletionChannel();
        queue = device.createCompletionQueue(1024, channel);
    }

    @TearDown
    public void close() {
        queue.close();
        channel.close();
        device.close();
    }

    @Benchmark
    public int pollEmpty() throws VerbsException {
        return queue.poll(completions);
    }

    @Benchmark
    public boolean pollEmptyAndArm() throws VerbsException {
        return queue.pollOrArm(completions);
    }
}
