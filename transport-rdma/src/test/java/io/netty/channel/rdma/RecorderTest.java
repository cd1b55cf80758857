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
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.verbs.ChildJvm;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Events of the JDK's Flight Recorder. In a process of its own, as recording changes the whole of it.
 */
class RecorderTest {
    private static final Path SETTINGS = Path.of("src", "main", "resources", "META-INF", "netty-rdma.jfc");

    @TempDir
    private Path folder;

    @Test
    void recordingHasWhatHappened() throws Exception {
        Path file = folder.resolve("recording.jfr");
        try (ChildJvm child = new ChildJvm(Program.class, List.of(), file.toString(), SETTINGS.toString())) {
            assertThat(child.output()).contains("done");
        }
        Map<String, List<RecordedEvent>> events = RecordingFile.readAllEvents(file).stream()
                .collect(Collectors.groupingBy(event -> event.getEventType().getName()));

        List<RecordedEvent> connects = events.get("io.netty.rdma.Connect");
        assertThat(connects).extracting(event -> event.getBoolean("outgoing")).contains(true, false);
        RecordedEvent outgoing = connects.stream().filter(event -> event.getBoolean("outgoing")).findFirst().get();
        assertThat(outgoing.getString("kind")).isEqualTo("stream");
        assertThat(outgoing.getString("device")).isNotEmpty();
        assertThat(outgoing.getString("provider")).isIn("embedded", "ibverbs");
        assertThat(outgoing.getString("reason")).isIn("only", "nearest", "no_route");
        assertThat(outgoing.getString("remote")).contains(TestAddress.HOST);
        assertThat(connects).filteredOn(event -> !event.getBoolean("outgoing"))
                .extracting(event -> event.getString("reason")).containsOnly("accepted");
        assertThat(events.get("io.netty.rdma.Disconnect")).hasSameSizeAs(connects)
                .anySatisfy(event -> {
                    assertThat(event.getString("remote")).isEqualTo(outgoing.getString("remote"));
                    assertThat(event.getLong("bytesSent")).isEqualTo(Program.BYTES);
                    assertThat(event.getLong("stalled")).isPositive();
                });
        assertThat(events.get("io.netty.rdma.CreditStall")).isNotEmpty().allSatisfy(event ->
                assertThat(event.getDuration().isNegative()).isFalse());
        assertThat(events.get("io.netty.rdma.ReceiveMemoryGrown")).isNotEmpty().allSatisfy(event ->
                assertThat(event.getLong("after")).isGreaterThan(event.getLong("before")));
        assertThat(events.get("io.netty.rdma.ReceiveMemoryShrunk")).isNotEmpty().allSatisfy(event ->
                assertThat(event.getLong("after")).isLessThan(event.getLong("before")));
        assertThat(events.get("io.netty.rdma.ConnectionError")).isNotEmpty().allSatisfy(event ->
                assertThat(event.getString("message")).contains("reset by peer"));
        assertThat(events.get("io.netty.rdma.ConnectFailure")).hasSize(2).allSatisfy(event ->
                assertThat(event.getString("reason")).isEqualTo("refused"));
        assertThat(events.get("io.netty.rdma.FallBack")).singleElement().satisfies(event -> {
            assertThat(event.getString("reason")).isEqualTo("refused");
            assertThat(event.getString("remote")).isEqualTo(events.get("io.netty.rdma.ConnectFailure").get(0)
                    .getString("remote"));
        });
    }

    @Test
    void settingsNameAllEvents() throws Exception {
        Map<String, String> settings = Configuration.create(SETTINGS).getSettings();
        String source = Files.readString(Path.of("src", "main", "java", "io", "netty", "channel", "rdma", "monitor",
                "Events.java"));
        List<String> names = source.lines().filter(line -> line.contains("@Name("))
                .map(line -> line.replaceFirst(".*\"(.*)\".*", "$1")).collect(Collectors.toList());
        assertThat(names).hasSizeGreaterThan(5);
        assertThat(settings.keySet().stream().map(key -> key.replaceFirst("#.*", "")).distinct())
                .containsExactlyInAnyOrderElementsOf(names);
    }

    /** As in a run-time image without it. */
    @Test
    void transportRunsWithoutFlightRecorder() throws Exception {
        try (ChildJvm child = new ChildJvm(List.of("env", "JDK_JAVA_OPTIONS=--limit-modules " +
                "java.base,java.naming,java.management,java.xml,java.logging,java.desktop,jdk.unsupported"),
                Program.class, List.of())) {
            assertThat(child.output()).contains("done");
        }
    }

    /** Traffic that brings each event about; with a file and settings, it is recorded. */
    static final class Program {
        static final int BYTES = 8 << 20;

        private Program() { }

        public static void main(String[] arguments) throws Exception {
            if (arguments.length == 0) {
                assertThat(ModuleLayer.boot().findModule("jdk.jfr")).isEmpty();
                traffic();
            } else {
                try (Recording recording = new Recording(Configuration.create(Path.of(arguments[1])))) {
                    recording.start();
                    traffic();
                    recording.stop();
                    recording.dump(Path.of(arguments[0]));
                }
            }
            System.out.println("done");
        }

        private static void traffic() throws Exception {
            EventLoopGroup group = new RdmaEventLoopGroup(2);
            SocketAddress closed;
            try (ConnectedPair pair = new ConnectedPair(group,
                    server -> server.childOption(RdmaChannelOption.RECEIVE_BUFFER_IDLE_MILLIS, 50)
                            .childOption(ChannelOption.AUTO_READ, false),
                    client -> client.option(ChannelOption.SO_LINGER, 0))) {
                closed = pair.listener.localAddress();
                pair.client.writeAndFlush(pair.client.alloc().directBuffer(BYTES).writeZero(BYTES));
                TestTimeouts.awaitTrue(() -> pair.client.metrics().stalledConnections() == 1);
                pair.server.config().setAutoRead(true);
                pair.serverEvents.read(BYTES);
                TestTimeouts.awaitTrue(() -> pair.server.metrics().receiveMemory() < 128 << 10);
                pair.client.close();
                TestTimeouts.sync(pair.server.closeFuture());
            }
            TestTimeouts.await(new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(closed));
            TestTimeouts.await(new Bootstrap().group(group).channel(RdmaOrTcpSocketChannel.class)
                    .option(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS,
                            (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS))
                    .handler(new ChannelInboundHandlerAdapter()).connect(closed));
            TestTimeouts.shutdown(group);
        }
    }
}
