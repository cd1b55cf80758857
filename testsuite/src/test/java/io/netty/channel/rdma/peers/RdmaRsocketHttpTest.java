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
package io.netty.channel.rdma.peers;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.Generated;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * HTTP/1.1 between Netty's codec on our channels and a C program on librdmacm's rsockets: each as the server of the
 * other, small and large bodies, with a length and in chunks, several requests on a connection, and all ends of one.
 */
@Tag("iwarp")
class RdmaRsocketHttpTest {
    private static final int LARGE = 3_000_000;
    /** Options of the C program: the usual ones, and the least of everything. */
    private static final String USUAL = "";
    private static final String LEAST = "rcvbuf=2048 sndbuf=2048 sqsize=16 rqsize=16 inline=0";

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    @BeforeAll
    static void assumeInstalled() {
        RsocketProcess.assumeInstalled("/usr/bin/rstream", "rdmacm-utils");
    }

    @ParameterizedTest
    @ValueSource(strings = { USUAL, LEAST })
    void serverAnswersARsocketsClient(String options) throws Exception {
        String steps = String.join(" answer ", "get /0", "get /1", "get /" + LARGE, "get /chunked/" + LARGE, "post 0",
                "post " + LARGE, "post-chunked " + LARGE, "get /17", "close");
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), true, options, steps, true,
                GeneratedHttpServer.handlers())) {
            RsocketProcess client = connection.peer();
            for (int length : new int[] { 0, 1, LARGE, LARGE }) {
                client.assertNextLine("answer 200 " + Generated.sum(length));
            }
            for (int length : new int[] { 0, LARGE, LARGE }) {
                client.assertNextLine("answer 200 " + sumOfText(Generated.sum(length)));
            }
            client.assertNextLine("answer 200 " + Generated.sum(17));
            client.assertExit(0);
        }
    }

    /** The answer to a POST is a text; the C program prints the length and the checksum of that. */
    private static Generated sumOfText(String text) {
        Generated sum = new Generated();
        sum.add(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
        return sum;
    }

    @ParameterizedTest
    @ValueSource(strings = { USUAL, LEAST })
    void clientIsAnsweredByARsocketsServer(String options) throws Exception {
        GeneratedHttpClient client = new GeneratedHttpClient();
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), false, options, "serve close", true,
                client.handlers())) {
            client.get("/1");
            assertThat(client.nextAnswer()).startsWith("200 " + Generated.sum(1));
            client.get("/" + LARGE);
            assertThat(client.nextAnswer()).isEqualTo("200 " + Generated.sum(LARGE));
            client.get("/chunked/" + LARGE);
            assertThat(client.nextAnswer()).isEqualTo("200 " + Generated.sum(LARGE));
            for (boolean chunked : new boolean[] { false, true }) {
                client.post(LARGE, chunked);
                assertThat(client.nextAnswer()).startsWith("200 ").endsWith(' ' + Generated.sum(LARGE));
            }
            // several at once
            for (int i = 0; i < 50; i++) {
                client.get("/1000");
            }
            for (int i = 0; i < 50; i++) {
                assertThat(client.nextAnswer()).isEqualTo("200 " + Generated.sum(1000));
            }
            TestTimeouts.sync(client.channel().close());
            connection.peer().assertNextLine("serve 55");
            connection.peer().assertExit(0);
        }
    }

    @Test
    void clientEndsItsOutputBehindTheRequestAndReadsTheAnswer() throws Exception {
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), true, USUAL, "get /" + LARGE +
                " shutdown answer drain close", true, GeneratedHttpServer.handlers())) {
            connection.peer().assertNextLine("answer 200 " + Generated.sum(LARGE));
            connection.peer().assertNextLine("drain 0 00000000 end");
            connection.peer().assertExit(0);
        }
    }

    /** The answer is longer than all buffers between the two, so that it is being sent when the client is gone. */
    @ParameterizedTest
    @ValueSource(strings = { "wait exit", "wait close", "wait kill" })
    void serverEndsTheConnectionWhenTheClientIsGoneInTheMiddleOfTheAnswer(String end) throws Exception {
        GeneratedStream events = new GeneratedStream(0, Long.MAX_VALUE, false);
        ChannelHandler[] handlers = GeneratedHttpServer.handlers();
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), true, USUAL,
                "get /1000000000 receive 100000 " + end.replace("kill", "close"), true,
                handlers[0], handlers[1], handlers[2], events)) {
            connection.peer().nextLine();
            connection.peer().assertNextLine("waiting");
            if (end.endsWith("kill")) {
                connection.peer().kill();
            } else {
                connection.peer().resume();
                connection.peer().assertExit(0);
            }
            assertThat(events.nextEvent()).isSameAs(GeneratedStream.INACTIVE);
        }
    }

    @Test
    void clientIsToldWhenTheServerIsGoneInTheMiddleOfTheAnswer() throws Exception {
        GeneratedHttpClient client = new GeneratedHttpClient();
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), false, USUAL, "serve", true,
                client.handlers())) {
            client.get("/10");
            client.awaitHead();
            assertThat(client.nextAnswer()).startsWith("200 " + Generated.sum(10));
            client.get("/1000000000");
            client.awaitHead();
            connection.peer().kill();
            assertThat(client.nextAnswer()).contains("Connection reset by peer");
            assertThat(client.nextAnswer()).isEqualTo(GeneratedHttpClient.INACTIVE);
        }
    }
}
