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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.valkey.CommandFile.Step;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Commands of a file, on connections of one transport.
 */
final class CommandRun implements AutoCloseable {
    /** Longer answers are cut where they are printed. */
    private static final int MAX_PRINTED = 400;

    /** Reason of an answer behind which the server disconnects. */
    private static final String END = "end";

    private final EventLoopGroup group;
    private final ValkeyTransport transport;
    private final ValkeyServer server;
    private final int protocol;
    private final Map<Integer, ValkeyConnection> connections = new TreeMap<>();

    /** An answer and the line that has brought it. */
    record Answer(Step step, String bytes) {
        /** Checks that another answer to the same line has what must be the same each time. */
        boolean isSame(Answer other) {
            if (bytes.equals(other.bytes)) {
                return true;
            }
            return step.reason() != null && (step.reason().equals(END) ? bytes.equals(ValkeyConnection.CLOSED)
                    : bytes.charAt(0) == other.bytes.charAt(0));
        }

        @Override
        public String toString() {
            String cut = bytes.length() <= MAX_PRINTED ? bytes
                    : bytes.substring(0, MAX_PRINTED) + "... (" + bytes.length() + " bytes)";
            return step.line() + " -> " + cut.replace("\r\n", "\\r\\n");
        }
    }

    /**
     * A run on connections that it makes.
     *
     * @param protocol 2 or 3: RESP2, RESP3
     */
    CommandRun(EventLoopGroup group, ValkeyTransport transport, ValkeyServer server, int protocol) {
        this.group = group;
        this.transport = transport;
        this.server = server;
        this.protocol = protocol;
    }

    /** Makes the server as new, and does the lines one after the other. */
    List<Answer> run(CommandFile file) throws InterruptedException {
        reset();
        List<Answer> answers = new ArrayList<>();
        for (Step step : file.steps()) {
            ValkeyConnection connection = connection(step.connection());
            switch (step.kind()) {
            case EXCHANGE:
                connection.send(ValkeyConnection.encode(step.words()));
                answers.add(answer(connection, step));
                break;
            case SEND:
                connection.send(ValkeyConnection.encode(step.words()));
                break;
            case AWAIT:
                for (int left = Integer.parseInt(step.word(0)); left > 0; left--) {
                    answers.add(answer(connection, step));
                }
                break;
            case RAW:
                connection.send(Unpooled.wrappedBuffer(step.words().get(0)));
                break;
            case CLOSED:
                answers.add(answer(connection, step));
                break;
            default:
                await(step);
                break;
            }
        }
        return answers;
    }

    /** Makes the server as new, and sends all lines at once. */
    List<Answer> pipeline(CommandFile file) throws InterruptedException {
        reset();
        ValkeyConnection connection = connection(1);
        connection.send(Unpooled.wrappedBuffer(file.steps().stream().map(Step::words).map(ValkeyConnection::encode)
                .toArray(ByteBuf[]::new)));
        List<Answer> answers = new ArrayList<>();
        for (Step step : file.steps()) {
            answers.add(answer(connection, step));
        }
        return answers;
    }

    private Answer answer(ValkeyConnection connection, Step step) throws InterruptedException {
        try {
            return new Answer(step, connection.answer());
        } catch (AssertionError e) {
            throw new AssertionError(transport + ": " + step.line(), e);
        }
    }

    private ValkeyConnection connection(int number) throws InterruptedException {
        ValkeyConnection connection = connections.get(number);
        if (connection == null) {
            connection = ValkeyConnection.open(group, transport, server);
            connections.put(number, connection);
            connection.exchange("HELLO", Integer.toString(protocol));
        }
        return connection;
    }

    private void reset() throws InterruptedException {
        for (String command : List.of("FLUSHALL SYNC", "FUNCTION FLUSH SYNC", "SCRIPT FLUSH SYNC", "CONFIG RESETSTAT",
                "SLOWLOG RESET", "ACL LOG RESET")) {
            connection(1).exchange(command.split(" "));
        }
    }

    /** Asks on a connection of its own until the server is in the state. */
    private void await(Step step) throws InterruptedException {
        try (ValkeyConnection observer = ValkeyConnection.open(group, transport, server)) {
            TestTimeouts.awaitTrue(() -> {
                try {
                    switch (step.word(0)) {
                    case "blocked":
                        return observer.exchange("INFO", "clients").contains("blocked_clients:" + step.word(1) + '\r');
                    case "cluster":
                        return observer.exchange("CLUSTER", "INFO").contains("cluster_state:ok");
                    case "busy":
                        return observer.exchange("PING").startsWith("-BUSY ");
                    default:
                        throw new IllegalArgumentException(step.line());
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new AssertionError(e);
                }
            });
        }
    }

    @Override
    public void close() {
        connections.values().forEach(ValkeyConnection::close);
    }
}
