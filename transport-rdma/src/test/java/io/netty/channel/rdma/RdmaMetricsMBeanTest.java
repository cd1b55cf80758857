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
package io.netty.channel.rdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.rdma.metrics.RdmaMetricsMBean;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFailures;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.OpenMBeanInfo;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Locale;

import static org.assertj.core.api.Assertions.assertThat;

class RdmaMetricsMBeanTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

    @Test
    void attributesHaveFiguresOfConnection() throws Exception {
        ObjectName name = new ObjectName(RdmaMetricsMBean.NAME);
        TestTimeouts.awaitTrue(() -> server.isRegistered(name));
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            TestTimeouts.sync(pair.client.writeAndFlush(Unpooled.wrappedBuffer(new byte[20_000])));
            pair.serverEvents.read(20_000);
            CompositeData[] connections = (CompositeData[]) server.getAttribute(name, "Connections");
            String remote = TestAddress.HOST + ':' + pair.listener.localAddress().getPort();
            CompositeData client = Arrays.stream(connections).filter(row -> row.get("remote").equals(remote))
                    .findFirst().get();
            assertThat(client.get("direction")).isEqualTo("out");
            assertThat(client.get("kind")).isEqualTo("stream");
            assertThat(client.get("reason")).isEqualTo(
                    pair.client.providerChoice().reason().name().toLowerCase(Locale.ROOT));
            assertThat(connections).filteredOn(row -> row.get("local").equals(remote))
                    .extracting(row -> row.get("reason")).containsExactly("accepted");
            assertThat(client.get("bytesSent")).isEqualTo(20_000L);
            assertThat(client.get("bytesCopied")).isEqualTo(20_000L);
            // A loop counts them when they are handled, and what that does is known here before.
            String loop = (String) client.get("loop");
            TestTimeouts.awaitTrue(() -> completions(name, loop) > 0);
            assertThat((CompositeData[]) server.getAttribute(name, "Devices")).anyMatch(device ->
                    device.get("name").equals(client.get("device")) && (Long) device.get("connections") == 2);
            CompositeData process = (CompositeData) server.getAttribute(name, "Process");
            assertThat((Long) process.get("pinnedMemory")).isPositive()
                    .isLessThanOrEqualTo((Long) process.get("maxPinnedMemory"));
            assertThat(server.getAttributes(name, new String[] { "Process", "Loops", "none" })).hasSize(2);
        }
    }

    private long completions(ObjectName name, String loop) {
        try {
            return (Long) Arrays.stream((CompositeData[]) server.getAttribute(name, "Loops"))
                    .filter(row -> row.get("name").equals(loop)).findFirst().get().get("completions");
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void transportRegistersItByItself() throws Exception {
        ObjectName name = new ObjectName(RdmaMetricsMBean.NAME);
        TestTimeouts.awaitTrue(() -> server.isRegistered(name));
        RdmaMetricsMBean.register();
        OpenMBeanInfo info = (OpenMBeanInfo) server.getMBeanInfo(name);
        assertThat(info.getAttributes()).extracting(attribute -> attribute.getName())
                .containsExactlyInAnyOrder("Process", "Loops", "Devices", "Connections", "TcpDestinations");
    }

    @Test
    void connectionsOverTcpAreToldByDestination() throws Exception {
        ObjectName name = new ObjectName(RdmaMetricsMBean.NAME);
        TestTimeouts.awaitTrue(() -> server.isRegistered(name));
        long connects = (Long) ((CompositeData) server.getAttribute(name, "Process")).get("tcpConnects");
        Channel listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                .channel(EpollServerSocketChannel.class).childHandler(new ChannelInboundHandlerAdapter())
                .bind(TestAddress.anyPort())).channel();
        InetSocketAddress address = (InetSocketAddress) listener.localAddress();
        Channel client = TestTimeouts.sync(new Bootstrap().group(LOOPS.group()).channel(RdmaOrTcpSocketChannel.class)
                .option(RdmaOrTcpChannelOption.FAILURES, new RdmaOrTcpFailures(1))
                .handler(new ChannelInboundHandlerAdapter()).connect(address)).channel();
        CompositeData row = Arrays.stream((CompositeData[]) server.getAttribute(name, "TcpDestinations"))
                .filter(each -> each.get("remote").equals(TestAddress.HOST + ':' + address.getPort()))
                .findFirst().get();
        assertThat(row.get("reason")).isEqualTo("refused");
        assertThat((String) row.get("message")).startsWith("Connection refused");
        assertThat(row.get("connections")).isEqualTo(1L);
        assertThat(row.get("connects")).isEqualTo(1L);
        assertThat((Long) ((CompositeData) server.getAttribute(name, "Process")).get("tcpConnects"))
                .isGreaterThan(connects);
        long open = RdmaOrTcpMetrics.total().tcpConnections();
        assertThat(open).isPositive();
        TestTimeouts.sync(client.close());
        TestTimeouts.awaitTrue(() -> RdmaOrTcpMetrics.total().tcpConnections() < open);
        TestTimeouts.sync(listener.close());
    }
}
