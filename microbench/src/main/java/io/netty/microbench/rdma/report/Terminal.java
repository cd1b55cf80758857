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

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Abilities of the standard output.
 *
 * @param isTerminal whether it is a terminal, so that a line may change
 * @param columns    number of characters of a line
 * @param isUnicode  whether it has more characters than ASCII
 * @param isColoured whether it may have colours
 */
public record Terminal(boolean isTerminal, int columns, boolean isUnicode, boolean isColoured) {
    private static final int DEFAULT_COLUMNS = 80;
    private static final int MIN_COLUMNS = 40;
    private static final int MAX_COLUMNS = 160;

    /** Terminal of this process. */
    public static Terminal standardOutput() {
        return of(isOutputTerminal(), System.getenv(), Charset.forName(System.getProperty("native.encoding")));
    }

    /**
     * Returns the terminal that the environment describes: {@code COLUMNS}, <a href="https://no-color.org">{@code
     * NO_COLOR}</a> and {@code TERM}.
     */
    static Terminal of(boolean isTerminal, Map<String, String> environment, Charset charset) {
        return new Terminal(isTerminal, columns(environment.get("COLUMNS")),
                charset.newEncoder().canEncode(TerminalChart.BLOCKS),
                isTerminal && environment.getOrDefault("NO_COLOR", "").isEmpty()
                        && !environment.getOrDefault("TERM", "dumb").equals("dumb"));
    }

    private static int columns(String text) {
        try {
            return text == null ? DEFAULT_COLUMNS
                    : Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, Integer.parseInt(text)));
        } catch (NumberFormatException e) {
            return DEFAULT_COLUMNS;
        }
    }

    /** Returns whether the output is a terminal. Java 22 to 24 have a console without one, too. */
    private static boolean isOutputTerminal() {
        try {
            String output = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
            return output.startsWith("/dev/pts/") || output.startsWith("/dev/tty") || output.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }
}
