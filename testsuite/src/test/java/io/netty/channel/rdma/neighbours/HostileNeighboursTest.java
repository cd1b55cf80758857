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
package io.netty.channel.rdma.neighbours;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestScope;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaDatagramAddress;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.channel.rdma.message.RdmaMulticastException;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.PeerProcess;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Hostile processes on the same host: another user of the network namespace, and processes of the same user in another
 * PID namespace and in the same one. While one does its worst a server and a client go on over RDMA, also with new
 * connections, and afterwards they have no more than before. The attacks are the program {@code hostile}:
 * {@code transport-rdma-native/src/test/c/hostile}. Skipped are those of neighbours that the system does not let this
 * process make.
 */
@Tag("hostile")
class HostileNeighboursTest {
    private static final Path HOSTILE = Path.of("../transport-rdma-native/target/c/hostile");
    /** At least so many exchanges, and until so many rounds of the attack have ended meanwhile. */
    private static final int EXCHANGES = 4;
    private static final int ROUNDS = TestScope.ALL ? 40 : 8;
    /** Limits of a server without room for all requests of its neighbours; an honest client needs little. */
    private static final List<String> FEW_DESCRIPTORS = List.of("sh", "-c", "ulimit -n 1024 && exec \"$@\"", "sh");
    private static final String LITTLE_MEMORY = "io.netty.rdma.maxPinnedMemory=" + (34 << 20);
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    private static PeerProcess server;
    /** From before the first attack. */
    private static RdmaOrTcpSocketChannel established;

    private enum Neighbour { STRANGER, FAR, NEAR }

    private enum Attack {
        LINGER, CONNECT_FOREVER, ASK_AND_NOT_READ, STAY_HALF_OPEN, CHANGE_FLAGS, SCRIBBLE, SPEAK_ANOTHER,
        STOP_CONNECTING, DIE_CONNECTING, TAKE_PORT, TAKE_NUMBERS, TAKE_GROUPS, MAKE_FIFO, MAKE_LINK;

        String argument() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Whoever is not let in has sockets alone. */
    static Stream<Arguments> attacks() {
        return Arrays.stream(Neighbour.values()).flatMap(neighbour -> Arrays.stream(Attack.values())
                .filter(attack -> attack.compareTo(
                        neighbour == Neighbour.STRANGER ? Attack.CONNECT_FOREVER : Attack.DIE_CONNECTING) <= 0)
                .map(attack -> Arguments.of(neighbour, attack)));
    }

    @BeforeAll
    static void connect() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "the embedded provider's neighbours");
        assertThat(HOSTILE).as("made by the build of transport-rdma-native").isExecutable();
        // With what an honest service needs, and not much more.
        server = new PeerProcess(FEW_DESCRIPTORS, List.of(LITTLE_MEMORY), HonestProcess.class, "0");
        established = connect(server.address());
        exchangeByRdma();
    }

    @AfterAll
    static void disconnect() throws Exception {
        if (server != null) {
            RdmaOrTcpEnds.close(established);
            server.close();
        }
    }

    private static RdmaOrTcpSocketChannel connect(InetSocketAddress address) throws InterruptedException {
        return RdmaOrTcpEnds.connect(new RdmaOrTcpEnds(LOOPS.group()).bootstrap(), address);
    }

    /** Over the connection that there is, and over a new one. */
    private static void exchangeByRdma() throws InterruptedException {
        RdmaOrTcpEnds.assertRdma(established);
        sync(EchoClient.exchange(established));
        RdmaOrTcpSocketChannel channel = connect(server.address());
        RdmaOrTcpEnds.assertRdma(channel);
        sync(EchoClient.exchange(channel));
        RdmaOrTcpEnds.close(channel);
    }

    private static PeerProcess begin(Neighbour neighbour, Attack attack, int port, List<String> names)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(HOSTILE.toString(), neighbour.name().toLowerCase(Locale.ROOT),
                attack.argument(), Integer.toString(port)));
        command.addAll(names);
        PeerProcess hostile = new PeerProcess(command);
        boolean skipped = hostile.answer().startsWith("skipped");
        if (skipped) {
            hostile.close();
        }
        assumeFalse(skipped, hostile.answer());
        return hostile;
    }

    /** Number of rounds that have ended. */
    private static int rounds(PeerProcess hostile) throws Exception {
        hostile.send("");
        return Integer.parseInt(hostile.expect("ROUNDS "));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("attacks")
    void echoesGoOnByRdmaAndNothingIsKept(Neighbour neighbour, Attack attack) throws Exception {
        long begun = System.nanoTime();
        server.send(HonestProcess.REMEMBER);
        server.expect(HonestProcess.DONE);
        KeptForPeers before = new KeptForPeers();
        List<String> names = namesOf(server.pid());
        names.addAll(namesOf(ProcessHandle.current().pid()));
        try (PeerProcess hostile = begin(neighbour, attack, server.address().getPort(), names)) {
            int last = rounds(hostile) + ROUNDS;
            for (int i = 0; i < EXCHANGES || rounds(hostile) < last; i++) {
                exchangeByRdma();
            }
            if (attack.compareTo(Attack.CONNECT_FOREVER) <= 0) {
                // A process that the server has no link to.
                assertConnects(List.of(), server.address(), "RDMA null");
            }
        }
        exchangeByRdma();
        server.send(HonestProcess.COMPARE);
        assertThat(server.expect(HonestProcess.KEPT)).isEqualTo("nothing");
        assertThat(before.awaitNoMore()).isEqualTo("nothing");
        // A server warns of connections that it refuses once a minute.
        long minutes = TimeUnit.NANOSECONDS.toMinutes(System.nanoTime() - begun);
        assertThat(warnings(server)).as("peers can't fill the log").hasSizeLessThanOrEqualTo(1 + (int) minutes);
    }

    private static List<String> warnings(PeerProcess process) throws Exception {
        List<String> warnings = new ArrayList<>();
        process.send(HonestProcess.TELL_WARNINGS);
        for (String line; !(line = process.expect("")).equals(HonestProcess.DONE);) {
            if (line.startsWith(HonestProcess.WARNING)) {
                warnings.add(line);
            }
        }
        return warnings;
    }

    /** The abstract names at which a process listens. */
    private static List<String> namesOf(long pid) throws IOException {
        Map<String, String> listening = KeptForPeers.listening();
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/" + pid + "/fd"))) {
            for (Path descriptor : descriptors) {
                try {
                    String name = listening.get(Files.readSymbolicLink(descriptor).toString());
                    if (name != null) {
                        names.add(name);
                    }
                } catch (IOException ignore) {
                    // Closed meanwhile.
                }
            }
        }
        assertThat(names).isNotEmpty();
        return names;
    }

    // ---- neighbours that are there first

    @ParameterizedTest
    @EnumSource(names = "STRANGER")
    void serverWhosePortAnotherUserHasTakenListensForTcpAndSaysSoOnce(Neighbour neighbour) throws Exception {
        int port = freePort();
        try (PeerProcess hostile = begin(neighbour, Attack.TAKE_PORT, port, List.of());
             PeerProcess victim = new PeerProcess(HonestProcess.class, Integer.toString(port))) {
            assertThat(victim.address().getPort()).isEqualTo(port);
            assertThat(warnings(victim)).singleElement().asString()
                    .contains("listens for TCP alone", "another user");
            Channel channel = connect(victim.address());
            sync(EchoClient.exchange(channel));
            assertThat(channel).isNotInstanceOf(RdmaSocketChannel.class);
            RdmaOrTcpEnds.close(channel);
            rounds(hostile);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(TestAddress.HOST))) {
            return socket.getLocalPort();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "STRANGER")
    void clientGoesOnWhenAnotherUserHasTakenTheNamesOfQueuePairs(Neighbour neighbour) throws Exception {
        try (PeerProcess hostile = begin(neighbour, Attack.TAKE_NUMBERS, 0, List.of())) {
            assertConnects(List.of(), server.address(), "RDMA null");
            exchangeByRdma();
            rounds(hostile);
        }
    }

    /** The refusal of a stranger's name is remembered for a second. */
    static Stream<Neighbour> strangerLast() {
        return Stream.of(Neighbour.NEAR, Neighbour.FAR, Neighbour.STRANGER);
    }

    @ParameterizedTest
    @MethodSource("strangerLast")
    void loopGoesOnWhenANeighbourHasTakenTheNameOfTheListOfGroups(Neighbour neighbour) throws Exception {
        try (PeerProcess hostile = begin(neighbour, Attack.TAKE_GROUPS, 0, List.of())) {
            RdmaDatagramChannel channel = (RdmaDatagramChannel) sync(new Bootstrap().group(LOOPS.group())
                    .channel(RdmaDatagramChannel.class).handler(new ChannelInboundHandlerAdapter())
                    .bind(TestAddress.anyPort())).channel();
            Future<RdmaDatagramAddress> joining = channel.joinGroup(TestAddress.anyGroup());
            channel.joinGroup(TestAddress.anyGroup());
            exchangeByRdma();
            assertThat(TestTimeouts.await(joining).cause()).isInstanceOf(RdmaMulticastException.class);
            sync(channel.close());
            rounds(hostile);
        }
    }

    /** The client connects some times, each time over this transport. */
    private static void assertConnects(List<String> properties, InetSocketAddress address, String transport)
            throws Exception {
        try (PeerProcess client = new PeerProcess(List.of(), properties, HonestProcess.class,
                address.getHostString(), Integer.toString(address.getPort()), Integer.toString(EXCHANGES))) {
            for (int i = 0; i < EXCHANGES; i++) {
                assertThat(client.expect(HonestProcess.TRANSPORT)).matches(transport);
            }
            client.awaitExit(0);
        }
    }

    /** Files know users, not PID namespaces. */
    static Stream<Arguments> locks() {
        return Stream.of(Neighbour.STRANGER, Neighbour.NEAR).flatMap(neighbour -> Stream.of(Attack.MAKE_FIFO,
                Attack.MAKE_LINK).map(attack -> Arguments.of(neighbour, attack)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("locks")
    void processesMeetInAFolderWithAFileThatIsNoLock(Neighbour neighbour, Attack attack) throws Exception {
        // Where other users come to, too.
        Path folder = Files.createTempDirectory(Path.of("/tmp"), "netty-rdma-test-");
        List<String> properties = List.of("io.netty.rdma.embedded.folder=" + folder);
        try {
            // Java can't set the sticky bit.
            assertThat(new ProcessBuilder("chmod", "1777", folder.toString()).inheritIO().start().waitFor()).isZero();
            try (PeerProcess hostile = begin(neighbour, attack, 0, List.of(folder.toString()));
                 PeerProcess victim = new PeerProcess(List.of(), properties, HonestProcess.class, "0")) {
                assertConnects(properties, victim.address(), "RDMA null");
                rounds(hostile);
            }
        } finally {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
                for (Path file : files) {
                    Files.delete(file);
                }
            }
            Files.delete(folder);
        }
    }
}
