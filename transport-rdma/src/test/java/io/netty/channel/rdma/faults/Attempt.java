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
package io.netty.channel.rdma.faults;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.loop.KeptResources;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.slf4j.LoggerFactory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The channels of a scenario, and what went wrong with them.
 */
final class Attempt implements AutoCloseable {
    private final Queue<Throwable> troubles = new ConcurrentLinkedQueue<>();
    private final Queue<Channel> channels = new ConcurrentLinkedQueue<>();
    private final Deque<Runnable> ends = new ArrayDeque<>();
    /** Written buffers, and their release. */
    private final Queue<ByteBuf> written = new ConcurrentLinkedQueue<>();
    private final Queue<ChannelFuture> noted = new ConcurrentLinkedQueue<>();

    /** The tried operation. */
    @FunctionalInterface
    interface Try {
        void run(Attempt attempt) throws Exception;
    }

    /** Runs a try. A failure is in the result, whose channels are closed. */
    static Attempt of(Try tried) throws Exception {
        Attempt attempt = new Attempt();
        attempt.hearLogs();
        try {
            tried.run(attempt);
        } catch (ExecutionException e) {
            attempt.failed(e.getCause());
        } catch (TimeoutException e) {
            throw e;
        } catch (Exception | OutOfMemoryError e) {
            attempt.failed(e);
        } finally {
            attempt.close();
        }
        return attempt;
    }

    /** Numbers of native objects, without those that are kept on purpose. */
    static Map<VerbsResource, Integer> live() {
        Map<VerbsResource, Integer> counts = new LinkedHashMap<>();
        for (VerbsResource kind : VerbsResource.values()) {
            counts.put(kind, kind.live() - KeptResources.count(kind));
        }
        return counts;
    }

    /** Waits until there are no more than before. */
    static void awaitNoMoreThan(Map<VerbsResource, Integer> before) throws InterruptedException {
        for (VerbsResource kind : VerbsResource.values()) {
            try {
                TestTimeouts.awaitTrue(() -> kind.live() - KeptResources.count(kind) <= before.get(kind));
            } catch (AssertionError e) {
                throw new AssertionError("left: " + kind + ", " + (kind.live() - KeptResources.count(kind)) + " of " +
                        before.get(kind) + " before", e);
            }
        }
    }

    /** Adds a buffer that is about to be written, and must be released at the end in any case. */
    <T extends ByteBuf> T writes(T data) {
        written.add(data);
        return data;
    }

    /** At the end of each pipeline. A connection ends with what nobody has handled, as those of applications do. */
    ChannelHandler watch() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRegistered(ChannelHandlerContext ctx) {
                channels.add(ctx.channel());
                ctx.fireChannelRegistered();
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                troubles.add(cause);
                if (ctx.channel().parent() != null) {
                    ctx.close();
                }
            }
        };
    }

    void failed(Throwable cause) {
        troubles.add(cause);
    }

    /**
     * Bootstraps log why a channel that was accepted can't be registered, initializers why a handler can't be added,
     * and contexts why a close could not wait, and tell nobody else.
     */
    void hearLogs() {
        hear(ServerBootstrap.class.getName());
        hear(ChannelInitializer.class.getName());
        hear("io.netty.channel.AbstractChannelHandlerContext");
    }

    private void hear(String name) {
        Logger logger = (Logger) LoggerFactory.getLogger(name);
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                if (event.getThrowableProxy() instanceof ThrowableProxy) {
                    troubles.add(((ThrowableProxy) event.getThrowableProxy()).getThrowable());
                }
            }
        };
        appender.start();
        logger.addAppender(appender);
        atEnd(() -> logger.detachAppender(appender));
    }

    /** Waits for its success. */
    Channel sync(ChannelFuture future) throws Exception {
        return TestTimeouts.sync(future).channel();
    }

    /** A failure is noted. */
    ChannelFuture note(ChannelFuture future) {
        noted.add(future);
        return future.addListener((ChannelFutureListener) done -> {
            if (!done.isSuccess()) {
                troubles.add(done.cause());
            }
        });
    }

    /** Runs when all channels are closed. */
    void atEnd(Runnable end) {
        ends.push(end);
    }

    boolean hasFailed() {
        return !troubles.isEmpty();
    }

    /** Returns whether a message of any exception has the text. */
    boolean says(String text) {
        return troubles.stream().anyMatch(trouble -> says(trouble, text));
    }

    /**
     * Waits until a message of any exception has the text. The end that fails disconnects first, so that the other end
     * may be closed before the exception is there.
     */
    void awaitSays(String text) throws InterruptedException {
        try {
            TestTimeouts.awaitTrue(() -> says(text));
        } catch (AssertionError e) {
            throw new AssertionError("nothing says " + text + ": " + this, e);
        }
    }

    private static boolean says(Throwable trouble, String text) {
        for (Throwable cause = trouble; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains(text)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        for (Channel channel : channels) {
            if (channel.parent() == null) {
                await(channel.close());
            }
        }
        // Accepted channels end by themselves, and say why.
        for (Channel channel : channels) {
            await(channel.closeFuture());
        }
        for (ChannelFuture future : noted) {
            await(future);
        }
        ends.forEach(Runnable::run);
        for (ByteBuf data : written) {
            assertReleased(data);
        }
    }

    private static void assertReleased(ByteBuf data) {
        try {
            TestTimeouts.awaitTrue(() -> data.refCnt() == 0);
        } catch (InterruptedException | AssertionError e) {
            throw new AssertionError("not released: " + data, e);
        }
    }

    private static void await(ChannelFuture future) {
        assertThat(future.awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).as("" + future).isTrue();
    }

    @Override
    public String toString() {
        return troubles.stream().map(Attempt::describe).distinct().toList().toString();
    }

    private static String describe(Throwable trouble) {
        return trouble.getCause() == null ? trouble.toString() : trouble + " <- " + describe(trouble.getCause());
    }
}
