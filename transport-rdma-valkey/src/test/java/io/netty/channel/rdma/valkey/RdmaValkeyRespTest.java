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

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** RESP by Netty's codec, from a client's channel to a server's. */
@Tag("quick")
class RdmaValkeyRespTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);
    private Channel server;

    @BeforeEach
    void start() throws InterruptedException {
        server = Resp.server(LOOPS.group(), b -> b.childOption(ChannelOption.SO_RCVBUF, 1 << 16));
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.close().sync();
    }

    private Resp.Client client() throws InterruptedException {
        return new Resp.Client(LOOPS.group(), (InetSocketAddress) server.localAddress());
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 64, 100, 1024, 4096, 32767, 32768, 65536, 100_000, 1 << 20})
    void valuesOfAnyLengthComeBack(int length) throws Exception {
        byte[] value = random(length);
        try (Resp.Client client = client()) {
            client.send(null, "GET", "key");
            assertThat(client.answer()).isEqualTo("null");
            client.send(value, "SET", "key");
            assertThat(client.answer()).isEqualTo("OK");
            for (int i = 0; i < 3; i++) {
                client.send(null, "GET", "key");
                assertThat(client.answer()).isEqualTo(value);
            }
        }
    }

    @Test
    void commandsThatAreFlushedOneByOneAreAnsweredInTheirOrder() throws Exception {
        int count = 5000;
        try (Resp.Client client = client()) {
            for (int i = 0; i < count; i++) {
                client.send(String.valueOf(i).getBytes(), "SET", "key" + i % 100);
                client.send(null, "GET", "key" + i % 100);
            }
            for (int i = 0; i < count; i++) {
                assertThat(client.answer()).isEqualTo("OK");
                assertThat(client.answer()).isEqualTo(String.valueOf(i).getBytes());
            }
        }
    }

    @Test
    void longValuesInBothDirectionsAtOnceDoNotBlockOneAnother() throws Exception {
        byte[] value = random(1 << 20);
        try (Resp.Client client = client()) {
            client.send(value, "SET", "key");
            assertThat(client.answer()).isEqualTo("OK");
            for (int i = 0; i < 20; i++) {
                client.send(null, "GET", "key");
                client.send(value, "SET", "other" + i);
            }
            for (int i = 0; i < 20; i++) {
                assertThat(client.answer()).isEqualTo(value);
                assertThat(client.answer()).isEqualTo("OK");
            }
        }
    }

    @Test
    void manyConnectionsShareALoop() throws Exception {
        List<Resp.Client> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 200; i++) {
                clients.add(client());
            }
            for (int round = 0; round < 5; round++) {
                for (int i = 0; i < clients.size(); i++) {
                    clients.get(i).send(random(i), "SET", "key");
                    clients.get(i).send(null, "GET", "key");
                }
                for (int i = 0; i < clients.size(); i++) {
                    assertThat(clients.get(i).answer()).isEqualTo("OK");
                    assertThat(clients.get(i).answer()).isEqualTo(random(i));
                }
            }
        } finally {
            for (Resp.Client client : clients) {
                client.close();
            }
        }
    }
}
