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
package io.netty.example.rdma.util;

import io.netty.channel.EventLoopGroup;
import picocli.CommandLine;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Runs an example as a command line program.
 */
public final class Commands {
    private Commands() {
    }

    /**
     * Runs a picocli command. Errors are printed in a line or two, for the user of a program.
     *
     * @return the exit status
     */
    public static int run(Object command, String... args) {
        CommandLine commandLine = new CommandLine(command)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, line, result) -> {
                    tell(failure, line);
                    return 1;
                });
        try {
            return commandLine.execute(args);
        } catch (UnsatisfiedLinkError e) {
            // A transport that can't be used here throws this error, and picocli handles exceptions only.
            tell(e, commandLine);
            return 1;
        }
    }

    /** Ends the event loops of a program that is done. */
    public static void shutdown(EventLoopGroup group) throws InterruptedException {
        // A shutdown without a quiet period may overtake the event loop's own close of its channels.
        group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).sync();
    }

    private static void tell(Throwable failure, CommandLine line) {
        String prefix = line.getCommandName() + ": ";
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            boolean wrapper = cause instanceof ExecutionException || cause instanceof CompletionException;
            if (!wrapper || cause.getCause() == null) {
                line.getErr().println(prefix + cause);
                prefix = "  caused by ";
            }
        }
        line.getErr().flush();
    }
}
