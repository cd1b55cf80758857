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

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.SystemPropertyUtil;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Maximum waits of the tests; slow machines multiply them with the property {@code test.timeout.multiplier}.
 */
public final class TestTimeouts {
    /** Factor by which everything is slower than on hardware: large in an emulated guest. */
    public static final int MULTIPLIER = SystemPropertyUtil.getInt("test.timeout.multiplier", 1);
    /** Limit of a wait; longer is a hang, also on a machine with ten times as many busy processes as cores. */
    public static final long SECONDS = 120L * MULTIPLIER;
    private static final long QUIET_MILLIS = 20;
    private static final int MAX_FRAMES = 8;

    private TestTimeouts() {
    }

    /** Waits for the end of a future, whichever it is. */
    public static <F extends Future<?>> F await(F future) throws InterruptedException {
        if (!future.await(SECONDS, TimeUnit.SECONDS)) {
            throw timedOut("not done", future.toString());
        }
        return future;
    }

    /** Waits for the success of a future, and throws the cause of its failure. */
    public static <F extends Future<?>> F sync(F future) throws InterruptedException {
        await(future).sync();
        return future;
    }

    /** Waits for the result of a future, of Netty or not. Its failure comes as an {@code ExecutionException}. */
    public static <T> T result(java.util.concurrent.Future<T> future) throws Exception {
        try {
            return future.get(SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw timedOut("no result", future.toString());
        }
    }

    public static void awaitTrue(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw timedOut("not true", "the condition");
            }
            Thread.sleep(1);
        }
    }

    public static <T> T take(BlockingQueue<T> queue, String what) throws InterruptedException {
        T element = queue.poll(SECONDS, TimeUnit.SECONDS);
        if (element == null) {
            throw timedOut("nothing", what);
        }
        return element;
    }

    /** With what each thread does that does not merely wait for a task: a hang is rarely seen twice. */
    private static AssertionError timedOut(String verb, String what) {
        String threads = Thread.getAllStackTraces().entrySet().stream()
                .filter(entry -> entry.getValue().length > 0 && entry.getKey().getState() != Thread.State.WAITING)
                .map(entry -> entry.getKey().getName() + ": " + Stream.of(entry.getValue()).limit(MAX_FRAMES)
                        .map(frame -> frame.getFileName() + ':' + frame.getLineNumber())
                        .collect(Collectors.joining(" < ")))
                .sorted().collect(Collectors.joining("\n"));
        return new AssertionError(verb + " within " + SECONDS + " s: " + what + '\n' + threads);
    }

    /** Ends event loops that tests are done with. */
    public static void shutdown(EventLoopGroup group) throws InterruptedException {
        // Without a quiet period a loop ends right after a task that registers an accepted channel with it, and leaves
        // that open: SingleThreadEventExecutor.confirmShutdown, with any transport.
        await(group.shutdownGracefully(QUIET_MILLIS, TimeUnit.SECONDS.toMillis(SECONDS), TimeUnit.MILLISECONDS));
    }
}
