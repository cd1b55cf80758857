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

import io.netty.example.rdma.requests.TextEnd.TextRequester;
import io.netty.example.rdma.requests.TextEnd.TextResponder;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.EndCommand;
import io.netty.example.rdma.verbs.VerbsEnd;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.util.Objects;
import java.util.stream.Stream;

/**
 * Either end of an operation, as a command. Both ends need the same options.
 */
public abstract class OperationCommand extends EndCommand {
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

    @Spec
    private CommandSpec command;

    private OperationCommand(boolean client) {
        super(client);
    }

    @Override
    protected final VerbsEnd newEnd(VerbsOptions options, boolean isClient) {
        Operation chosen = operation();
        if (chosen.isText()) {
            String text = Objects.requireNonNullElse(textOf(chosen), TextEnd.DEFAULT);
            return isClient ? new TextRequester(chosen, text) : new TextResponder(chosen, text);
        }
        int size = options.size(1, Operation.MAX_SIZE);
        return isClient ? chosen.requester(size, options.count(), mistake)
                : chosen.responder(size, options.count(), mistake);
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
        return switch (chosen) {
        case READ_TEXT -> readText;
        case SEND_TEXT, SEND_IMM_TEXT -> sendText;
        case WRITE_TEXT, WRITE_IMM_TEXT -> writeText;
        default -> null;
        };
    }

    /** The end that makes requests. */
    @Command(name = "requester", sortOptions = false, description = {
            "Makes requests of one kind to a responder, and checks what they bring. The responder checks what they do "
                    + "there. Give both the same operation, size and count."})
    public static final class Requester extends OperationCommand {
        public Requester() {
            super(true);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new Requester(), args));
        }
    }

    /** The end whose memory is read and written, and which receives. It serves one requester. */
    @Command(name = "responder", sortOptions = false, description = {
            "Has the memory for the requests of a requester, and checks what they do there. Ends after it. "
                    + "Give both the same operation, size and count."})
    public static final class Responder extends OperationCommand {
        public Responder() {
            super(false);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new Responder(), args));
        }
    }
}
