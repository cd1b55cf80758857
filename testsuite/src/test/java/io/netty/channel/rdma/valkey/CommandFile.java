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
package io.netty.channel.rdma.valkey;

import io.netty.channel.rdma.support.Generated;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file of commands: {@code src/test/resources/valkey}, whose file {@code README} describes the lines.
 */
record CommandFile(String name, List<Step> steps) {
    private static final Pattern LINE = Pattern.compile(
            "(?:(?<connection>[1-9])(?<sign>[:><=.]) ?)?(?:~(?<reason>[a-z]+) ?)?(?<rest>.*)");
    /** A word, or one in quotation marks, with escapes in either. */
    private static final Pattern WORD = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"|((?:[^ \\\\]|\\\\.)+)");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:x([0-9a-f]{2})|(.))");
    private static final Pattern GENERATED = Pattern.compile("@([0-9]+)([km]?)");

    enum Kind {
        /** Sends a command and awaits its answer. */
        EXCHANGE(':'),
        SEND('>'),
        AWAIT('<'),
        /** Sends bytes as they are. */
        RAW('='),
        /** Awaits the end of the connection. */
        CLOSED('.'),
        /** Awaits a state of the server. */
        WAIT(' ');

        private final char sign;

        Kind(char sign) {
            this.sign = sign;
        }

        static Kind of(String sign) {
            for (Kind kind : values()) {
                if (sign != null && sign.charAt(0) == kind.sign) {
                    return kind;
                }
            }
            return EXCHANGE;
        }
    }

    /**
     * A line.
     *
     * @param connection its number, from 1
     * @param words      of a command; the bytes of {@link Kind#RAW}; the arguments of others
     * @param reason     why answers may differ from one time to the next one, or {@code null} if they may not
     */
    record Step(String line, int connection, Kind kind, List<byte[]> words, String reason) {
        String word(int number) {
            return new String(words.get(number), StandardCharsets.ISO_8859_1);
        }
    }

    /** Reads one by its name, without the ending. */
    static CommandFile read(String name) throws IOException {
        try (InputStream in = CommandFile.class.getResourceAsStream("/valkey/" + name + ".txt")) {
            List<Step> steps = new String(in.readAllBytes(), StandardCharsets.UTF_8).lines()
                    .filter(line -> !line.isEmpty() && !line.startsWith("# ")).map(CommandFile::step).toList();
            return new CommandFile(name, steps);
        }
    }

    private static Step step(String line) {
        Matcher parts = LINE.matcher(line);
        if (!parts.matches()) {
            throw new IllegalArgumentException("not a line: " + line);
        }
        List<byte[]> words = new ArrayList<>();
        Matcher word = WORD.matcher(parts.group("rest"));
        while (word.find()) {
            words.add(word.group(1) == null ? bytes(word.group(2)) : unescape(word.group(1)));
        }
        Kind kind = Kind.of(parts.group("sign"));
        if (parts.group("rest").startsWith("wait ")) {
            kind = Kind.WAIT;
            words.remove(0);
        }
        String connection = parts.group("connection");
        return new Step(line, connection == null ? 1 : Integer.parseInt(connection), kind, words,
                parts.group("reason"));
    }

    private static byte[] bytes(String word) {
        Matcher generated = GENERATED.matcher(word);
        if (!generated.matches()) {
            return unescape(word);
        }
        int shift = generated.group(2).isEmpty() ? 0 : 10 + 10 * "km".indexOf(generated.group(2));
        byte[] bytes = new byte[Integer.parseInt(generated.group(1)) << shift];
        Generated.fill(bytes, bytes.length);
        return bytes;
    }

    private static byte[] unescape(String text) {
        return ESCAPE.matcher(text).replaceAll(match -> Matcher.quoteReplacement(match.group(1) != null
                ? String.valueOf((char) Integer.parseInt(match.group(1), 16))
                : match.group(2).replace('n', '\n').replace('r', '\r').replace('t', '\t').replace('0', '\0')))
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns whether it has one connection and no answer that comes by itself, so that it can be sent at once. */
    boolean canBePipelined() {
        return steps.stream().allMatch(step -> step.connection == 1 && step.kind == Kind.EXCHANGE);
    }
}
