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
package io.netty.microbench.rdma.count;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/** Numbers of bytecodes and calls by method. Written by one event loop. */
public final class Counts {
    private static final int MAX_METHODS = 1 << 17;
    private static final AtomicInteger METHODS = new AtomicInteger();
    private static final String[] NAMES = new String[MAX_METHODS];
    private static final long[] EXECUTED = new long[MAX_METHODS];
    private static final long[] CALLED = new long[MAX_METHODS];

    private Counts() {
    }

    static int number(String method) {
        int number = METHODS.getAndIncrement();
        NAMES[number] = method;
        return number;
    }

    /** Counts a call of a method. Called by counted code, as is the next method. */
    public static void called(int method) {
        CALLED[method]++;
    }

    public static void executed(int method, int bytecodes) {
        EXECUTED[method] += bytecodes;
    }

    public static void clear() {
        Arrays.fill(EXECUTED, 0);
        Arrays.fill(CALLED, 0);
    }

    /** Returns a row for work that was done {@code times} times, and one for each method with the most bytecodes. */
    public static String report(String what, int times, int methods) {
        StringBuilder text = new StringBuilder(row(what, Arrays.stream(EXECUTED).sum(),
                Arrays.stream(CALLED).sum(), times));
        Integer[] order = new Integer[METHODS.get()];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (a, b) -> Long.compare(EXECUTED[b], EXECUTED[a]));
        Arrays.stream(order).limit(methods).forEach(i -> text.append(row("    " + NAMES[i], EXECUTED[i], CALLED[i],
                times)));
        return text.toString();
    }

    private static String row(String what, long executed, long called, int times) {
        return String.format("%,12.1f bytecodes %,10.1f calls  %s%n", (double) executed / times,
                (double) called / times, what);
    }
}
