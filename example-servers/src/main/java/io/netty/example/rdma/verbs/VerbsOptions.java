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
package io.netty.example.rdma.verbs;

import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.EventLoopOptions;
import io.netty.example.rdma.util.Transport;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The command line options of every verbs program, and the code that runs it.
 */
public final class VerbsOptions {
    @Mixin
    private EventLoopOptions eventLoops;

    @Option(names = "--size", defaultValue = "4K", converter = SizeConverter.class,
            description = "Bytes of each, for example 100, 64K or 1M (default: ${DEFAULT-VALUE}).")
    private int size;

    @Option(names = "--count", defaultValue = "1000", description = "How many (default: ${DEFAULT-VALUE}).")
    private int count;

    @Option(names = "--timeout", defaultValue = "60",
            description = "Seconds that all of it may take, and the wait for the peer (default: ${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /**
     * Size in bytes.
     *
     * @param max maximum size that the program has room for
     * @throws ParameterException if the value is not in that range
     */
    public int size(int min, int max) {
        return checked("--size", size, min, max);
    }

    /** Number of operations, at least 1. */
    public int count() {
        return checked("--count", count, 1, Integer.MAX_VALUE);
    }

    private int checked(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw new ParameterException(command.commandLine(),
                    option + ": " + value + " (expected: " + min + " to " + max + ')');
        }
        return value;
    }

    /** Maximum time of every wait. */
    public Duration timeout() {
        return Duration.ofSeconds(timeoutSeconds);
    }

    /**
     * Runs the program, and prints its results.
     *
     * @return the exit status: 0 if all results are right, else 1
     */
    public int run(Body body) throws Exception {
        return run(Transport.RDMA, body);
    }

    /** Runs the program on event loops of a transport, and prints its results. */
    public int run(Transport transport, Body body) throws Exception {
        EventLoopGroup group = eventLoops.newGroup(transport);
        boolean right = true;
        try {
            long deadline = System.nanoTime() + timeout().toNanos();
            for (CompletableFuture<Result> future : body.start(group)) {
                Result result = get(future, deadline - System.nanoTime());
                System.out.println(result);
                right &= result.isRight();
            }
            return right ? 0 : 1;
        } finally {
            Commands.shutdown(group);
        }
    }

    private Result get(CompletableFuture<Result> future, long nanos) throws Exception {
        try {
            return future.get(nanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new TimeoutException("not done within " + timeoutSeconds + " s (--timeout)");
        }
    }

    /** The work of a program. */
    @FunctionalInterface
    public interface Body {
        /** Starts the program. Not to be called on an event loop. */
        List<CompletableFuture<Result>> start(EventLoopGroup group) throws Exception;
    }

    /** Sizes in bytes on the command line: {@code 100}, {@code 64K}, {@code 1M}. */
    public static final class SizeConverter implements ITypeConverter<Integer> {
        private static final Pattern SIZE = Pattern.compile("(\\d{1,9})([kKmM]?)");

        @Override
        public Integer convert(String value) {
            Matcher matcher = SIZE.matcher(value);
            if (matcher.matches()) {
                String unit = matcher.group(2);
                int shift = unit.isEmpty() ? 0 : unit.equalsIgnoreCase("k") ? 10 : 20;
                long bytes = Long.parseLong(matcher.group(1)) << shift;
                if (bytes <= Integer.MAX_VALUE) {
                    return (int) bytes;
                }
            }
            throw new TypeConversionException("'" + value + "' is no size (expected: for example 100, 64K or 1M)");
        }
    }
}
