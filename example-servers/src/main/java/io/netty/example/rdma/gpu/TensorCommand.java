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
package io.netty.example.rdma.gpu;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.gpu.TensorCommand.TensorClient;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.verbs.ConnectionOptions;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/**
 * Either end of the example, as a command. Both ends have the same options.
 */
public abstract class TensorCommand implements Callable<Integer> {
    private static final int MAX_SIZE = 1 << 30;

    @Mixin
    final VerbsOptions verbs = new VerbsOptions();

    @Mixin
    final ConnectionOptions connection = new ConnectionOptions();

    @Option(names = "--way", defaultValue = "gpu", description = "One of ${COMPLETION-CANDIDATES}: RDMA between "
            + "memory of graphics processors, or of the host, or copies by the host and TCP (default: "
            + "${DEFAULT-VALUE}).")
    Way way;

    @Option(names = "--library", defaultValue = "libcuda.so.1",
            description = "CUDA's driver library (default: ${DEFAULT-VALUE}).")
    private String library;

    @Option(names = "--software", paramLabel = "FILE", description = "The library of a processor in software, for a "
            + "machine without one.")
    private String software;

    private TensorCommand() {
    }

    abstract CompletableFuture<Result> start(EventLoopGroup group, Tensor tensor) throws Exception;

    @Override
    public final Integer call() throws Exception {
        try (Tensor tensor = tensor()) {
            return verbs.run(way == Way.COPY ? Transport.EPOLL : Transport.RDMA,
                    group -> List.of(start(group, tensor)));
        }
    }

    /** Text of the options, which must be the same at both ends. */
    final String program() {
        return "tensor by " + way + ", " + verbs.count() + " times " + size() + " bytes";
    }

    private int size() {
        return verbs.size(1, MAX_SIZE);
    }

    /** Allocates the tensor, and prints its location. */
    private Tensor tensor() throws IOException {
        Cuda cuda = way == Way.HOST ? null : load();
        System.out.println("tensor in memory of " + (cuda == null ? "the host" : cuda.name()));
        return new Tensor(cuda, size());
    }

    private Cuda load() throws IOException {
        try {
            return Cuda.load(library);
        } catch (IOException e) {
            if (software == null || Runtime.version().feature() < Cuda.JAVA) {
                throw e;
            }
            System.out.println("no graphics processor, but one in software: " + e.getMessage());
            return Cuda.load(software);
        }
    }

    /** The end whose tensor the client writes and reads. It serves one client. */
    @Command(name = "gpu-server", sortOptions = false, description = {
            "Has a tensor in memory of a graphics processor, which a client writes and reads, and checks it after each "
                    + "round. Ends after the client. Give both the same --way, size and count."})
    public static final class TensorServer extends TensorCommand {
        public static void main(String[] args) {
            System.exit(Commands.run(new TensorServer(), args));
        }

        @Override
        CompletableFuture<Result> start(EventLoopGroup group, Tensor tensor) throws Exception {
            if (way == Way.COPY) {
                return new TensorCopy(this).serve(group, tensor);
            }
            TensorServerEnd end = new TensorServerEnd(this, tensor);
            connection.accept(group, verbs.timeout(), List.of(end));
            return end.result();
        }
    }

    /** The end that moves its tensor to the server's and back. */
    @Command(name = "gpu-client", sortOptions = false, description = {
            "Has a tensor in memory of a graphics processor, moves it to that of the server and back, and checks what "
                    + "came back. Give both the same --way, size and count."})
    public static final class TensorClient extends TensorCommand {
        /** End of the text of the client's result. */
        public static final String RESULT = ", there and back";

        public static void main(String[] args) {
            System.exit(Commands.run(new TensorClient(), args));
        }

        @Override
        CompletableFuture<Result> start(EventLoopGroup group, Tensor tensor) throws Exception {
            if (way == Way.COPY) {
                return new TensorCopy(this).move(group, tensor);
            }
            TensorClientEnd end = new TensorClientEnd(this, tensor);
            connection.connect(group, verbs.timeout(), end, 0);
            return end.result();
        }
    }

    /** Ways in which the bytes of a tensor get from one process to the other. */
    public enum Way {
        /** RDMA between memory of graphics processors. */
        GPU("memory of a graphics processor, RDMA"),
        /** RDMA between tensors in memory of the hosts. */
        HOST("memory of the host, RDMA"),
        /** A copy to the host, a TCP connection, and a copy to the graphics processor. */
        COPY("memory of a graphics processor, copies and TCP");

        /** Text for users. */
        final String text;

        Way(String text) {
            this.text = text;
        }

        /** Returns the name on the command line. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Lets the client write and read the tensor, and checks it after each round, at the client's message. */
    private static final class TensorServerEnd extends VerbsEnd {
        private final TensorCommand options;
        private final Tensor tensor;
        private long rounds;
        private long wrong;

        TensorServerEnd(TensorCommand options, Tensor tensor) {
            super(options.program());
            this.options = options;
            this.tensor = tensor;
        }

        @Override
        protected void configure(ChannelConfig config) {
            config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS,
                    Set.of(RdmaPermission.REMOTE_READ, RdmaPermission.REMOTE_WRITE));
        }

        @Override
        protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
            return List.of(channel.export(tensor.registered()));
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) throws IOException {
            long round = NumberMessage.read(msg);
            if (round != rounds++) {
                throw new IllegalArgumentException("the peer has made round " + round + " (expected: " + (rounds - 1)
                        + ')');
            }
            wrong += tensor.matches(round) ? 0 : 1;
            writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), wrong));
            if (rounds == options.verbs.count()) {
                finish(ctx, options.way.text + ", server", rounds, tensor.size(), wrong);
            }
        }
    }

    /** Writes the tensor to the server's memory and reads it back, and checks what came back. */
    private static final class TensorClientEnd extends VerbsEnd {
        private final TensorCommand options;
        private final Tensor tensor;
        private RemoteMemory remote;
        private long round;
        private long wrong;
        private long startNanos;
        /** Time of the writes and reads, without the checks. */
        private long nanos;

        TensorClientEnd(TensorCommand options, Tensor tensor) {
            super(options.program());
            this.options = options;
            this.tensor = tensor;
        }

        @Override
        protected void configure(ChannelConfig config) {
            config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
        }

        @Override
        protected void begin(ChannelHandlerContext ctx, Introduction peer) throws IOException {
            remote = peer.memory(0, tensor.size());
            next(ctx);
        }

        private void next(ChannelHandlerContext ctx) throws IOException {
            tensor.fill(round);
            startNanos = System.nanoTime();
            then(ctx, ctx.writeAndFlush(new RdmaWrite(tensor.slice(), remote, 0)), written -> {
                nanos += System.nanoTime() - startNanos;
                tensor.clear();
                startNanos = System.nanoTime();
                then(ctx, ctx.writeAndFlush(new RdmaRead(tensor.slice(), remote, 0)), read -> {
                    nanos += System.nanoTime() - startNanos;
                    wrong += tensor.matches(round) ? 0 : 1;
                    writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), round));
                });
            });
        }

        /** Handles the server's answer: it has checked its tensor. */
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) throws IOException {
            long wrongThere = NumberMessage.read(msg);
            if (++round < options.verbs.count()) {
                next(ctx);
            } else {
                finish(ctx, new Result(options.way.text + TensorClient.RESULT, round, 2L * tensor.size(),
                        wrong + wrongThere, nanos));
            }
        }
    }
}
