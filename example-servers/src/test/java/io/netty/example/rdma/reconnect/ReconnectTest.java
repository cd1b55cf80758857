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
package io.netty.example.rdma.reconnect;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.reconnect.TickerClient.TickReader;
import io.netty.example.rdma.reconnect.TickerServer.Ticker;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.example.rdma.verbs.Result;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(180)
class ReconnectTest {
    private static final int TICKS = 5;
    private static final int COUNT = 4 * TICKS + 1;
    private static final long INTERVAL_MICROS = 500;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(RunningServer.HOST, 0);

    private EventLoopGroup servers;
    private EventLoopGroup clients;

    @BeforeEach
    void start() {
        servers = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
        clients = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
    }

    @AfterEach
    void stop() throws Exception {
        TestTimeouts.shutdown(clients);
        TestTimeouts.shutdown(servers);
    }

    @Test
    void clientGoesOnOverSeveralConnections() throws Exception {
        Channel server = TickerServer.listen(servers, new Ticker(TICKS, INTERVAL_MICROS), ANY_PORT);
        Client client = new Client((InetSocketAddress) server.localAddress());
        client.start();
        Result result = TestTimeouts.result(client.result());
        assertThat(result.wrong()).isZero();
        assertThat(result.count()).isEqualTo(COUNT);
        assertThat(result.what()).isEqualTo("numbers on 5 connections");
        server.close().sync();
    }

    @Test
    void clientWaitsForAServerThatComesLater() throws Exception {
        Channel early = TickerServer.listen(servers, new Ticker(0, INTERVAL_MICROS), ANY_PORT);
        InetSocketAddress address = (InetSocketAddress) early.localAddress();
        early.close().sync();
        Client client = new Client(address);
        client.start();
        TestTimeouts.awaitTrue(() -> client.refused.getCount() == 0);
        Channel server = TickerServer.listen(servers, new Ticker(0, INTERVAL_MICROS), address);
        Result result = TestTimeouts.result(client.result());
        assertThat(result.wrong()).isZero();
        assertThat(result.what()).isEqualTo("numbers on 1 connections");
        server.close().sync();
    }

    /** Notices that it was refused. */
    private final class Client extends TickReader {
        final CountDownLatch refused = new CountDownLatch(2);

        Client(InetSocketAddress server) throws IOException {
            super(TickerClient.bootstrap(), clients, server, COUNT);
        }

        @Override
        void waiting(Throwable cause, long millis) {
            assertThat(millis).isPositive();
            if (cause != null) {
                refused.countDown();
            }
            super.waiting(cause, millis);
        }
    }
}
