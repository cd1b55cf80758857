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
package io.netty.microbench.rdma.bench;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.load.EchoLoadServer.RequestHandler;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.load.RepeatedMessage;
import io.netty.microbench.rdma.load.Scenario;
import io.netty.microbench.rdma.process.Control;
import picocli.CommandLine.Command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ExecutionException;

/**
 * The measuring client of the part "paced". It sends messages to an echo server at a fixed rate, over a number of
 * connections in all. It does not wait for the echoes of earlier messages.
 */
@Command(name = "paced-load", description = "Measures echoes of messages that are due at equal intervals.")
final class PacedLoad extends LoadClient {
    /** Opens connections up to this number. The connections of a scenario have to be open before it starts. */
    static final String OPEN = "open";
    /** Messages of a sixth of a second at the highest rate, more than a pause of a virtual machine holds back. */
    private static final int MAX_UNDER_WAY = 1 << 14;

    private final List<EchoConnection> connections = new ArrayList<>();

    private PacedLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new PacedLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        try {
            group.next().submit(PacedLoad::endTimerSlack).get();
        } catch (ExecutionException e) {
            System.err.println("The timer that paces may be late by the kernel's timer slack: " + e.getCause());
        }
        open(options, group, 1);
        List<Scenario> scenarios = new ArrayList<>();
        for (int number : Section.PACED_CONNECTIONS) {
            for (int rate : Section.PACED_RATES) {
                scenarios.add(Scenario.paced(Section.paced(rate, number), rate, MAX_UNDER_WAY, inTurn(number)));
            }
        }
        return scenarios;
    }

    /**
     * Has the kernel wake this thread when its timers expire. By default the kernel may do so up to 50 µs later, to
     * wake up once for several timers: see PR_SET_TIMERSLACK in prctl(2), and proc(5). Most messages have a shorter
     * latency.
     */
    private static Void endTimerSlack() throws IOException {
        Path thread = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName();
        Files.writeString(Path.of("/proc").resolve(thread).resolve("timerslack_ns"), "1");
        return null;
    }

    @Override
    protected void addCommands(Control control, ClientOptions options, EventLoopGroup group) {
        control.add(OPEN, arguments -> {
            open(options, group, Integer.parseInt(arguments[0]));
            return "open";
        });
    }

    private void open(ClientOptions options, EventLoopGroup group, int number) throws Exception {
        while (connections.size() < number) {
            EchoConnection connection = new EchoConnection();
            bootstrap(options, group).handler(connection).connect().sync();
            connections.add(connection);
        }
    }

    /** Sends one message on each of the first connections, in turn. */
    private Scenario.Operation inTurn(int number) {
        return new Scenario.Operation() {
            private int next;

            @Override
            public void start(Scenario.Completion completion) {
                connections.get(next).start(completion);
                next = (next + 1) % number;
            }
        };
    }

    /**
     * A connection to an echo server. An operation flushes a message, and ends when its echo has arrived. Any number
     * may be in flight. If the server sends more, the connection is closed. For its event loop. The bytes that come
     * back are counted, and not checked.
     */
    static final class EchoConnection extends ChannelInboundHandlerAdapter implements Scenario.Operation {
        static final int MESSAGE_BYTES = 64;
        /** Number of messages in flight at rates that are not too high. For further ones there are new objects. */
        private static final int USUALLY_UNDER_WAY = 64;

        private final Queue<Scenario.Completion> underWay = new ArrayDeque<>();
        private ChannelHandlerContext context;
        /** Message that is sent; {@code null} if the connection is not open. */
        private RepeatedMessage message;
        private int partialBytes;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            context = ctx;
            message = new RepeatedMessage(ctx.alloc(), MESSAGE_BYTES, USUALLY_UNDER_WAY);
            ctx.writeAndFlush(ctx.alloc().directBuffer(Integer.BYTES).writeInt(RequestHandler.ECHO), ctx.voidPromise());
        }

        @Override
        public void start(Scenario.Completion completion) {
            if (message == null) {
                completion.ended(new IOException("the server has closed"));
                return;
            }
            underWay.add(completion);
            context.writeAndFlush(message.next(), context.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf received = (ByteBuf) msg;
            partialBytes += received.readableBytes();
            received.release();
            for (; partialBytes >= MESSAGE_BYTES && !underWay.isEmpty(); partialBytes -= MESSAGE_BYTES) {
                underWay.remove().ended(null);
            }
            if (underWay.isEmpty() && partialBytes > 0) {
                // There is no operation for these bytes. The next operation finds the connection closed.
                ctx.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (message != null) {
                message.release();
                message = null;
            }
            end(new IOException("the server closed while messages were under way"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            end(cause);
            ctx.close();
        }

        private void end(Throwable cause) {
            while (!underWay.isEmpty()) {
                underWay.remove().ended(cause);
            }
        }
    }
}
