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
package io.netty.channel.rdma.agent;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Output of a program, and its exit status.
 *
 * @param answers of the program, on the standard output.
 * @param errors  the log, and lines of the agent.
 */
record ProgramResult(List<String> answers, List<String> errors, int exitStatus) {
    private static final String PREFIX = "netty-transport-rdma-agent: ";

    /** Bytes that were sent over RDMA, by the MBean of the transport. */
    long bytesOverRdma() {
        return count("bytesSentInPlace") + count("bytesSentInline") + count("bytesSentCopied");
    }

    /** A number of the MBean's at the end of the program; 0 if the transport was never there. */
    long count(String name) {
        String start = PREFIX + "count " + name + ": ";
        return errors.stream().filter(line -> line.startsWith(start))
                .mapToLong(line -> Long.parseLong(line.substring(start.length()))).findFirst().orElse(0);
    }

    /** Returns how many objects have taken the place of objects of a class. */
    long swapped(Class<?> type) {
        String start = PREFIX + "swapped " + type.getName() + ": ";
        return errors.stream().filter(line -> line.startsWith(start))
                .mapToLong(line -> Long.parseLong(line.substring(start.length()))).findFirst().orElse(0);
    }

    /** Success: it has ended as it should, also if it is one of several programs in a JVM. */
    boolean isSuccess() {
        return exitStatus == 0 && lines("InvocationTargetException").isEmpty();
    }

    /** The part of one of several programs in a JVM ({@code unmodified.Several}), with its counts alone. */
    ProgramResult of(String program) {
        return new ProgramResult(part(answers, program), part(errors, program), exitStatus);
    }

    private static List<String> part(List<String> lines, String program) {
        int start = lines.indexOf("program " + program);
        assertThat(start).as("%s: %s", program, lines).isNotNegative();
        List<String> rest = lines.subList(start + 1, lines.size());
        return rest.stream().takeWhile(line -> !line.equals("program") && !line.startsWith("program ")).toList();
    }

    /** Lines of the agent and the log with these words. */
    List<String> lines(String words) {
        return errors.stream().filter(line -> line.contains(words)).toList();
    }

    @Override
    public String toString() {
        return "exit status " + exitStatus + "\n" + String.join("\n", answers) + "\n--\n" + String.join("\n", errors);
    }
}
