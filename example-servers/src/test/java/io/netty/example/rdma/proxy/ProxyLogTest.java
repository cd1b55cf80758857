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
package io.netty.example.rdma.proxy;

import ch.qos.logback.classic.Level;
import io.netty.channel.rdma.LogRecorder;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFailures;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.example.rdma.proxy.ProxyFixture.Route;
import io.netty.example.rdma.util.Transport;
import io.netty.util.NetUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Log lines of the proxy about its connections, one for each event.
 */
@Timeout(120)
class ProxyLogTest {
    private static final Route TCP_TO_RDMA = new Route(Transport.EPOLL, Transport.RDMA);
    private static final Route RDMA_TO_TCP = new Route(Transport.RDMA, Transport.EPOLL);

    private final LogRecorder log = new LogRecorder(Proxy.class.getPackageName(), Level.INFO);

    @BeforeEach
    void forgetPorts() {
        RdmaOrTcpFailures.shared().clear();
    }

    @AfterEach
    void stopLog() {
        log.close();
    }

    @Test
    void connectionOverRdmaIsToldWithWhatItGoesOverAndItsEndWithTheBytes() throws Exception {
        String device = VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED ? "shared memory"
                : "device " + TestAddress.device();
        try (ProxyFixture proxy = new ProxyFixture(TCP_TO_RDMA).logged().start()) {
            Peer client = proxy.connect();
            String who = who(client, "TCP", proxy);
            Peer server = proxy.accepted();
            client.send("question");
            server.awaitText("question");
            server.send("answer");
            client.awaitText("answer");
            TestTimeouts.sync(client.duplex().shutdownOutput());
            TestTimeouts.sync(server.duplex().shutdownOutput());
            List<String> lines = lines(Level.INFO, 2);
            assertThat(lines.get(0)).isEqualTo(who + ": connected over RDMA, " + device);
            assertThat(lines.get(1)).matches(Pattern.quote(who + ": ended after ") +
                    "\\d+\\.\\d{3} s, 8 bytes to the server, 6 bytes back");
            client.channel().close();
            server.channel().close();
        }
    }

    @Test
    void connectionOverTcpIsToldWithTheReasonWhyItIsNotRdma() throws Exception {
        try (ProxyFixture tcp = new ProxyFixture(RDMA_TO_TCP).logged().start();
             ProxyFixture auto = new ProxyFixture(TCP_TO_RDMA).logged()) {
            auto.startProxy(tcp.serverAddress(), ProxyTransport.AUTO, 0);
            Peer first = auto.connect();
            assertThat(lines(Level.INFO, 1)).singleElement().asString()
                    .startsWith(who(first, "TCP", tcp) + ": connected over TCP: REFUSED: Connection refused");

            Peer second = auto.connect();
            assertThat(lines(Level.INFO, 2).get(1)).contains(" ms ago: REFUSED: Connection refused")
                    .startsWith(who(second, "TCP", tcp) + ": connected over TCP: REMEMBERED: ");

            // The third connection has to use TCP.
            Peer third = tcp.connect();
            assertThat(lines(Level.INFO, 3).get(2)).endsWith(" is TCP_ONLY")
                    .startsWith(who(third, "RDMA", tcp) + ": connected over TCP: RULE: ");
            for (Peer client : List.of(first, second, third)) {
                client.channel().close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void serverThatRefusesIsWarnedOfWithTheReason(ProxyTransport transport) throws Exception {
        InetSocketAddress nobody = ProxyFixture.freePort();
        try (ProxyFixture proxy = new ProxyFixture(TCP_TO_RDMA).logged().startProxy(nobody, transport, 0)) {
            // The proxy may reset the connection before the client knows that it is connected.
            TestTimeouts.await(proxy.beginConnect(new Peer(connected -> { })).channel().closeFuture());
            List<String> lines = lines(Level.INFO, 2);
            assertThat(log.messages(Level.WARN)).containsExactly(lines.get(0));
            assertThat(lines.get(0)).contains("Connection refused").containsPattern(Pattern.quote(" (TCP) -> " +
                    address(nobody) + ": the server can't be reached, the client's connection is reset: "));
            assertThat(lines.get(1)).contains(": ended after ").endsWith(" s, 0 bytes to the server, 0 bytes back");
        }
    }

    @Test
    void sideThatFailsIsNamed() throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(TCP_TO_RDMA).start()) {
            Peer client = proxy.connect();
            Peer server = proxy.accepted();
            String failed = who(client, "TCP", proxy) + ": the connection of the client " +
                    address(client.channel().localAddress()) + " failed, the other one is reset: ";
            client.reset();
            server.awaitClosed();
            assertThat(lines(Level.WARN, 1)).singleElement().asString().startsWith(failed).contains("reset by peer");

            Peer other = proxy.connect();
            proxy.accepted().reset();
            other.awaitClosed();
            assertThat(lines(Level.WARN, 2).get(1)).contains("reset by peer", ": the connection of the server " +
                    address(proxy.serverAddress()) + " failed, the other one is reset: ");
        }
    }

    @Test
    void connectionOnWhichNothingMovesIsWarnedOf() throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(TCP_TO_RDMA).start(() -> new Peer(accepted -> { }), 100)) {
            proxy.connect().awaitClosed();
            assertThat(lines(Level.WARN, 1)).singleElement().asString()
                    .containsPattern(": the connection of the (client|server) \\S+ failed, the other one is reset: ")
                    .endsWith("TimeoutException: nothing moved for 100 ms");
        }
    }

    @Test
    void quietProxyTellsOfFailuresAlone() throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(TCP_TO_RDMA).start()) {
            Peer client = proxy.connect();
            Peer server = proxy.accepted();
            TestTimeouts.sync(client.duplex().shutdownOutput());
            TestTimeouts.sync(server.duplex().shutdownOutput());
            client.awaitEnd();
            proxy.awaitNoConnections();
            client.channel().close();
            server.channel().close();
            Peer other = proxy.connect();
            proxy.accepted().reset();
            other.awaitClosed();
            assertThat(lines(Level.INFO, 1)).isEqualTo(log.messages(Level.WARN));
        }
    }

    /** Waits for so many lines, as the last one may come after the end of what it tells of. */
    private List<String> lines(Level atLeast, int count) throws InterruptedException {
        TestTimeouts.awaitTrue(() -> log.messages(atLeast).size() >= count);
        return log.messages(atLeast);
    }

    /** Beginning of each line. */
    private static String who(Peer client, String transport, ProxyFixture server) {
        return address(client.channel().localAddress()) + " (" + transport + ") -> " + address(server.serverAddress());
    }

    private static String address(SocketAddress address) {
        return NetUtil.toSocketAddressString((InetSocketAddress) address);
    }
}
