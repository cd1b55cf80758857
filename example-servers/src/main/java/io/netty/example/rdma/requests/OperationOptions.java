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
package io.netty.example.rdma.requests;

import io.netty.example.rdma.verbs.ConnectionOptions;
import io.netty.example.rdma.verbs.VerbsEnd;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The command line options of both ends, which have to be given the same.
 */
final class OperationOptions {
    @Mixin
    private VerbsOptions options;

    @Mixin
    private ConnectionOptions connection;

    @Option(names = "--operation", description = "One of ${COMPLETION-CANDIDATES}; may be left out with one of the "
            + "next three.")
    private Operation operation;

    @Option(names = {"-r", "--read-string"}, arity = "0..1", paramLabel = "TEXT", fallbackValue = TextEnd.DEFAULT,
            description = "With read-text: what the responder has to be read (default: ${FALLBACK-VALUE}).")
    private String readText;

    @Option(names = {"-s", "--send-string"}, arity = "0..1", paramLabel = "TEXT", fallbackValue = TextEnd.DEFAULT,
            description = "With send-text and send-imm-text: what the requester sends (default: ${FALLBACK-VALUE}).")
    private String sendText;

    @Option(names = {"-w", "--write-string"}, arity = "0..1", paramLabel = "TEXT", fallbackValue = TextEnd.DEFAULT,
            description = "With write-text and write-imm-text: what the requester writes (default: "
            + "${FALLBACK-VALUE}).")
    private String writeText;

    @Option(names = "--mistake", description = "Make a mistake, to see what comes of it: ${COMPLETION-CANDIDATES}. The "
            + "requester's are key and range, for read, write and atomics. The responder's are permission, for the "
            + "same; short-receive, for send and send-imm of more than 512 bytes; and no-receive, for all, which both "
            + "ends need if they are connected by descriptors.")
    private Mistake mistake;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    int request() throws Exception {
        Operation chosen = operation();
        return options.run(group -> {
            VerbsEnd end = chosen.isText() ? new TextRequester(chosen, text(chosen))
                    : chosen.requester(size(), options.count(), mistake);
            connection.connect(group, options.timeout(), end, 0);
            return List.of(end.result());
        });
    }

    int respond() throws Exception {
        Operation chosen = operation();
        return options.run(group -> {
            VerbsEnd end = chosen.isText() ? new TextResponder(chosen, text(chosen))
                    : chosen.responder(size(), options.count(), mistake);
            connection.accept(group, options.timeout(), List.of(end));
            return List.of(end.result());
        });
    }

    private Operation operation() {
        Operation chosen = operation != null ? operation : readText != null ? Operation.READ_TEXT
                : sendText != null ? Operation.SEND_TEXT : writeText != null ? Operation.WRITE_TEXT : null;
        if (chosen == null) {
            throw new ParameterException(command.commandLine(), "no --operation, and none of -r, -s and -w");
        }
        long given = Stream.of(readText, sendText, writeText).filter(Objects::nonNull).count();
        if (given > (textOf(chosen) == null ? 0 : 1)) {
            throw new ParameterException(command.commandLine(), "-r is for read-text, -s for send-text and "
                    + "send-imm-text, -w for write-text and write-imm-text (--operation: " + chosen + ')');
        }
        return chosen;
    }

    /** The text that was given for an operation, or {@code null}. */
    private String textOf(Operation chosen) {
        switch (chosen) {
        case READ_TEXT:
            return readText;
        case SEND_TEXT:
        case SEND_IMM_TEXT:
            return sendText;
        case WRITE_TEXT:
        case WRITE_IMM_TEXT:
            return writeText;
        default:
            return null;
        }
    }

    private String text(Operation chosen) {
        return Objects.requireNonNullElse(textOf(chosen), TextEnd.DEFAULT);
    }

    private int size() {
        return options.size(1, Operation.MAX_SIZE);
    }
}
