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
package io.netty.microbench.rdma.report;

/**
 * Tells what is going on: on a terminal with one line that changes, elsewhere with a line for each change that is worth
 * one.
 */
public final class Progress {
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final boolean terminal = Terminal.standardOutput().isTerminal();
    private String line = "";

    /** Announces work of some seconds. */
    public void say(String what) {
        line = what;
        if (terminal) {
            System.out.print(CLEAR_LINE + what);
            System.out.flush();
        } else {
            System.out.println(what);
        }
    }

    /** Announces a part of that work. */
    public void detail(String what) {
        if (terminal) {
            System.out.print(CLEAR_LINE + line + ": " + what);
            System.out.flush();
        }
    }

    /** Something else is printed. */
    public void end() {
        if (terminal) {
            System.out.print(CLEAR_LINE);
            System.out.flush();
        }
    }
}
