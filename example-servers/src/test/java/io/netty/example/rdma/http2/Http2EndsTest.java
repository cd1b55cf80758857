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
package io.netty.example.rdma.http2;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.ServerProcess;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

import java.io.IOException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Servers that end while they answer.
 */
@Timeout(120)
class Http2EndsTest {
    @ParameterizedTest
    @EachTransport
    void serverThatIsKilledMidResponseEndsTheStream(Transport transport) throws Exception {
        EventLoopGroup group = transport.newGroup(1, Waiting.DEFAULT);
        try (ServerProcess server = new ServerProcess(Http2Server.class, transport, Http2Pair.HOST)) {
            Http2Client client = connect(transport, group, server);
            Exchange exchange = Http2Pair.get(client, 1_000_000_000_000L);
            TestTimeouts.awaitTrue(() -> exchange.received() > 3_000_000);
            server.kill();
            assertThatThrownBy(() -> TestTimeouts.result(exchange.answer())).hasCauseInstanceOf(IOException.class);
            TestTimeouts.awaitTrue(() -> !client.channel().isOpen());
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    @ParameterizedTest
    @EachTransport(tcp = true)
    void serverThatIsToldToStopEndsWhatItHasBegun(Transport transport) throws Exception {
        EventLoopGroup group = transport.newGroup(1, Waiting.DEFAULT);
        try (ServerProcess server = new ServerProcess(Http2Server.class, transport, Http2Pair.HOST,
                "--grace-seconds", Long.toString(TestTimeouts.SECONDS))) {
            Http2Client client = connect(transport, group, server);
            long length = TestTimeouts.MULTIPLIER == 1 ? 300_000_000 : 30_000_000;
            Exchange exchange = Http2Pair.get(client, length);
            TestTimeouts.awaitTrue(() -> exchange.received() > 0);
            server.terminate();
            TestTimeouts.awaitTrue(client::isGoingAway);
            assertThat(TestTimeouts.result(exchange.answer())).isEqualTo(new Exchange.Answer(200, length));
            server.awaitTermination();
            TestTimeouts.awaitTrue(() -> !client.channel().isOpen());
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    private static Http2Client connect(Transport transport, EventLoopGroup group, ServerProcess server)
            throws Exception {
        return TestTimeouts.result(Http2Client.connect(new Bootstrap().group(group).channel(transport.channelType()),
                server.address(), null, Http2Client.Start.PRIOR_KNOWLEDGE));
    }
}
