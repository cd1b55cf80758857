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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaOperation;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/**
 * Costs of an operation of a message channel at both ends. They are on one event loop, which the benchmark's thread
 * runs itself, so no waiting is measured.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = {
        "-Djmh.executor=CUSTOM", "-Djmh.executor.class=io.netty.microbench.rdma.EventExecutors"})
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class MessageChannelBenchmark {
    private static final int OPERATIONS = 64;

    @Param({ "64", "65536" })
    public int size;

    /** Number of operations in one flush. */
    @Param({ "1", "64" })
    public int flushed;

    private ManualIoEventLoop loop;
    private Channel listener;
    private RdmaMessageChannel client;
    private RegisteredMemory memory;
    private RemoteMemory remote;
    private ByteBuf source;
    private RdmaWrite[] writes;
    private RdmaRead[] reads;
    private int received;

    @Setup
    public void connect() throws Exception {
        loop = new ManualIoEventLoop(Thread.currentThread(),
                RdmaIoHandler.newFactory(new RdmaIoHandlerConfig().setBusyPoll(true)));
        Channel[] accepted = new Channel[1];
        listener = await(new ServerBootstrap().group(loop).channel(RdmaServerMessageChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        accepted[0] = ctx.channel();
                    }

                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        received++;
                        ((RdmaReceive) msg).release();
                    }
                }).bind(new InetSocketAddress("127.0.0.1", 0))).channel();
        client = (RdmaMessageChannel) await(new Bootstrap().group(loop).channel(RdmaMessageChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(listener.localAddress())).channel();
        while (accepted[0] == null) {
            loop.runNow();
        }
        memory = RegisteredMemory.allocate(size, EnumSet.allOf(RdmaPermission.class));
        remote = ((RdmaMessageChannel) accepted[0]).export(memory);
        source = client.alloc().directBuffer(size, size).writeZero(size);
        writes = new RdmaWrite[flushed];
        reads = new RdmaRead[flushed];
        for (int i = 0; i < flushed; i++) {
            writes[i] = new RdmaWrite(memory.slice(0, size), remote, 0);
            reads[i] = new RdmaRead(memory.slice(0, size), remote, 0);
        }
    }

    private ChannelFuture await(ChannelFuture future) {
        while (!future.isDone()) {
            loop.runNow();
        }
        return future.syncUninterruptibly();
    }

    @TearDown
    public void close() {
        await(client.close());
        await(listener.close());
        source.release();
        memory.close();
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        while (!loop.isTerminated()) {
            loop.runNow();
        }
    }

    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public void write() {
        operate(j -> new RdmaWrite(source.retain(), remote, 0));
    }

    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public void read() {
        operate(j -> new RdmaRead(source.duplicate().clear(), remote, 0));
    }

    /** As above, with slices, and with a new operation each time. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public void writeSlices() {
        operate(j -> new RdmaWrite(memory.slice(0, size), remote, 0));
    }

    /** As above, with operations that are written again. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public void writeAgain() {
        operate(j -> writes[j].offset(0).length(size));
    }

    /** Reads into slices, with a new operation each time. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public void readSlices() {
        operate(j -> new RdmaRead(memory.slice(0, size), remote, 0));
    }

    /** As above, with operations that are written again. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public void readAgain() {
        operate(j -> reads[j].offset(0).length(size));
    }

    /** Writes operations. Each benchmark has a process of its own, with only one such function. */
    private void operate(IntFunction<RdmaOperation> operation) {
        for (int i = 0; i < OPERATIONS; i += flushed) {
            ChannelPromise promise = client.voidPromise();
            for (int j = 0; j < flushed; j++) {
                promise = j == flushed - 1 ? client.newPromise() : client.voidPromise();
                client.write(operation.apply(j), promise);
            }
            client.flush();
            while (!promise.isDone()) {
                loop.runNow();
            }
        }
    }

    /** A message of 64 bytes: the default RECEIVE_BUFFER_SIZE is 4096. */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public int send() {
        int end = received + OPERATIONS;
        operate(j -> new RdmaSend(source.retainedSlice(0, 64)));
        while (received < end) {
            loop.runNow();
        }
        return received;
    }
}
