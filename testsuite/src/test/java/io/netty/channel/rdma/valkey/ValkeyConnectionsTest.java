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

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.Generated;
import io.netty.handler.codec.redis.ArrayRedisMessage;
import io.netty.handler.codec.redis.FullBulkStringRedisMessage;
import io.netty.handler.codec.redis.RedisMessage;
import io.netty.handler.codec.redis.SimpleStringRedisMessage;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Connections to Valkey's own server: their beginning and end, what becomes of them when the server ends, saves or has
 * no memory left, and of clients that do not read.
 */
@Tag("valkey")
class ValkeyConnectionsTest {
    /** Fewer on an emulated processor, where a connection takes some 30 ms. */
    private static final int CONNECTIONS = 10_000 / (TestTimeouts.MULTIPLIER * TestTimeouts.MULTIPLIER);
    private static final int AT_ONCE = 50;
    private static final int MIB = 1 << 20;
    private static final Pattern OUTPUT_MEMORY = Pattern.compile(" omem=(\\d+) ");

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    @TempDir
    private Path folder;

    private static ValkeyConnection open(ValkeyTransport transport, ValkeyServer server) throws InterruptedException {
        return ValkeyConnection.open(LOOPS.group(), transport, server);
    }

    private static String generated(int length) {
        byte[] bytes = new byte[length];
        Generated.fill(bytes, 0);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static String bulk(String value) {
        return "$" + value.length() + "\r\n" + value + "\r\n";
    }

    /** The number after a name in an answer of INFO. */
    private static long info(ValkeyConnection connection, String name) throws InterruptedException {
        return connection.exchange("INFO", "everything").lines().filter(line -> line.startsWith(name + ':'))
                .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1))).findFirst().orElseThrow();
    }

    private static void awaitInfo(ValkeyConnection connection, String name, long value) throws InterruptedException {
        TestTimeouts.awaitTrue(() -> {
            try {
                return info(connection, name) == value;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError(e);
            }
        });
    }

    /** Waits until the server has answers in memory that it can't send to a client. */
    private static void awaitWaitingAnswers(ValkeyConnection connection, String id) throws InterruptedException {
        TestTimeouts.awaitTrue(() -> {
            try {
                Matcher bytes = OUTPUT_MEMORY.matcher(connection.exchange("CLIENT", "LIST", "ID", id));
                return bytes.find() && Long.parseLong(bytes.group(1)) > 0;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError(e);
            }
        });
    }

    /** Connects, asks, gets an answer and closes, and then does the same again. */
    private static void connectInTurn(ValkeyTransport transport, ValkeyServer server, int[] left,
                                      Promise<Void> done) {
        if (left[0]-- <= 0) {
            done.trySuccess(null);
            return;
        }
        ChannelFuture connected = ValkeyConnection.connect(LOOPS.group(), transport, server,
                new SimpleChannelInboundHandler<byte[]>() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        ctx.writeAndFlush(ValkeyConnection.encode("PING"));
                    }

                    @Override
                    protected void channelRead0(ChannelHandlerContext ctx, byte[] answer) {
                        if (new String(answer, StandardCharsets.US_ASCII).equals("+PONG\r\n")) {
                            ctx.close();
                        } else {
                            done.tryFailure(new AssertionError(new String(answer, StandardCharsets.US_ASCII)));
                        }
                    }

                    @Override
                    public void channelInactive(ChannelHandlerContext ctx) {
                        connectInTurn(transport, server, left, done);
                    }

                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        done.tryFailure(cause);
                    }
                });
        connected.addListener(future -> {
            if (!future.isSuccess()) {
                done.tryFailure(future.cause());
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void tenThousandConnectionsAreOpenedAndClosed(ValkeyTransport transport) throws Exception {
        // The server raises its limit of descriptors by this number. Of each connection over RDMA it keeps one that it
        // can't close: it destroys the completion queue before the queue pair that uses it (rdma.c, connRdmaClose).
        try (ValkeyServer server = new ValkeyServer(folder, "--maxclients", Integer.toString(2 * CONNECTIONS));
             ValkeyConnection observer = open(ValkeyTransport.TCP, server)) {
            assumeTrue(server.maxDescriptors() > CONNECTIONS + 3 * AT_ONCE, "a process may not have enough open files");
            int[] left = {CONNECTIONS};
            List<Promise<Void>> all = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                Promise<Void> done = LOOPS.group().next().newPromise();
                all.add(done);
                LOOPS.group().next().execute(() -> connectInTurn(transport, server, left, done));
            }
            for (Promise<Void> done : all) {
                TestTimeouts.sync(done);
            }
            assertThat(info(observer, "total_connections_received")).isEqualTo(CONNECTIONS + 1);
            awaitInfo(observer, "connected_clients", 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void manyConnectionsAtOnceDoNotMix(ValkeyTransport transport) throws Exception {
        List<ValkeyConnection> connections = new ArrayList<>();
        try (ValkeyServer server = new ValkeyServer(folder)) {
            for (int i = 0; i < 200; i++) {
                connections.add(open(transport, server));
            }
            for (int round = 0; round < 10; round++) {
                for (int i = 0; i < connections.size(); i++) {
                    connections.get(i).send(ValkeyConnection.encode("ECHO", round + "," + i));
                    connections.get(i).send(ValkeyConnection.encode("INCR", "sum"));
                }
            }
            for (int i = 0; i < connections.size(); i++) {
                for (int round = 0; round < 10; round++) {
                    assertThat(connections.get(i).answer()).isEqualTo(bulk(round + "," + i));
                    assertThat(connections.get(i).answer()).startsWith(":");
                }
            }
            assertThat(connections.get(0).exchange("GET", "sum")).isEqualTo(bulk("2000"));
        } finally {
            for (ValkeyConnection connection : connections) {
                connection.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void serverThatIsKilledClosesConnectionsAndItsSuccessorTakesThem(ValkeyTransport transport) throws Exception {
        try (ValkeyServer server = new ValkeyServer(folder)) {
            try (ValkeyConnection idle = open(transport, server);
                 ValkeyConnection waiting = open(transport, server)) {
                waiting.send(ValkeyConnection.encode("BLPOP", "list", "0"));
                awaitInfo(idle, "blocked_clients", 1);
                server.kill();
                assertThat(idle.answer()).isEqualTo(ValkeyConnection.CLOSED);
                assertThat(waiting.answer()).isEqualTo(ValkeyConnection.CLOSED);
            }
            server.restart();
            try (ValkeyConnection connection = open(transport, server)) {
                assertThat(connection.exchange("PING")).isEqualTo("+PONG\r\n");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void serverThatIsShutDownClosesConnectionsAndKeepsItsData(ValkeyTransport transport) throws Exception {
        String value = generated(3 * MIB);
        try (ValkeyServer server = new ValkeyServer(folder)) {
            try (ValkeyConnection connection = open(transport, server)) {
                assertThat(connection.exchange("SET", "key", value)).isEqualTo("+OK\r\n");
                assertThat(connection.exchange("SHUTDOWN", "SAVE")).isEqualTo(ValkeyConnection.CLOSED);
            }
            assertThat(server.awaitExit()).isZero();
            server.restart();
            try (ValkeyConnection connection = open(transport, server)) {
                assertThat(connection.exchange("GET", "key").equals(bulk(value))).isTrue();
            }
        }
    }

    /** The server forks a process for it, which has copies of the connections' memory. */
    @ParameterizedTest
    @EnumSource
    void connectionsGoOnWhileTheServerSaves(ValkeyTransport transport) throws Exception {
        // So many microseconds for a key: longer than the commands meanwhile.
        try (ValkeyServer server = new ValkeyServer(folder, "--rdb-key-save-delay", "1000");
             ValkeyConnection connection = open(transport, server);
             ValkeyConnection before = open(transport, server)) {
            for (int i = 0; i < 2000; i++) {
                connection.send(ValkeyConnection.encode("SET", "key" + i, "value" + i));
            }
            for (int i = 0; i < 2000; i++) {
                assertThat(connection.answer()).isEqualTo("+OK\r\n");
            }
            for (String command : List.of("BGSAVE", "BGREWRITEAOF")) {
                assertThat(connection.exchange(command)).startsWith("+Background ");
                try (ValkeyConnection meanwhile = open(transport, server)) {
                    for (int i = 0; i < 200; i++) {
                        for (ValkeyConnection each : List.of(connection, before, meanwhile)) {
                            assertThat(each.exchange("SET", "key" + i, "new" + i)).isEqualTo("+OK\r\n");
                            assertThat(each.exchange("GET", "key" + i)).isEqualTo(bulk("new" + i));
                        }
                    }
                    String large = generated(2 * MIB);
                    assertThat(meanwhile.exchange("ECHO", large).equals(bulk(large))).isTrue();
                    assertThat(info(meanwhile, command.equals("BGSAVE") ? "rdb_bgsave_in_progress"
                            : "aof_rewrite_in_progress")).isOne();
                }
                assertThat(connection.exchange("CONFIG", "SET", "rdb-key-save-delay", "0")).isEqualTo("+OK\r\n");
                awaitInfo(connection, "rdb_bgsave_in_progress", 0);
                awaitInfo(connection, "aof_rewrite_in_progress", 0);
                assertThat(connection.exchange("CONFIG", "SET", "rdb-key-save-delay", "1000")).isEqualTo("+OK\r\n");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void serverWithoutMemoryLeftRefusesWhatWritesAndGoesOn(ValkeyTransport transport) throws Exception {
        String value = generated(64 << 10);
        try (ValkeyServer server = new ValkeyServer(folder, "--maxmemory", "50mb");
             ValkeyConnection connection = open(transport, server)) {
            int keys = 0;
            String answer;
            while ((answer = connection.exchange("SET", "key" + keys, value)).equals("+OK\r\n")) {
                keys++;
                assertThat(keys).isLessThan(50 * MIB / value.length());
            }
            assertThat(answer).isEqualTo("-OOM command not allowed when used memory > 'maxmemory'.\r\n");
            assertThat(connection.exchange("GET", "key0").equals(bulk(value))).isTrue();
            assertThat(connection.exchange("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")).isEqualTo("+OK\r\n");
            for (int i = 0; i < 2 * keys; i++) {
                assertThat(connection.exchange("SET", "more" + i, value)).isEqualTo("+OK\r\n");
            }
            assertThat(info(connection, "evicted_keys")).isPositive();
        }
    }

    @ParameterizedTest
    @EnumSource
    void clientThatDoesNotReadDelaysNobody(ValkeyTransport transport) throws Exception {
        String value = generated(8 * MIB);
        try (ValkeyServer server = new ValkeyServer(folder);
             ValkeyConnection slow = open(transport, server);
             ValkeyConnection other = open(transport, server)) {
            assertThat(other.exchange("SET", "key", value)).isEqualTo("+OK\r\n");
            String id = slow.exchange("CLIENT", "ID").substring(1).trim();
            slow.channel().config().setAutoRead(false);
            for (int i = 0; i < 8; i++) {
                slow.send(ValkeyConnection.encode("GET", "key"));
            }
            awaitWaitingAnswers(other, id);
            for (int i = 0; i < 1000; i++) {
                assertThat(other.exchange("PING")).isEqualTo("+PONG\r\n");
            }
            awaitWaitingAnswers(other, id);
            slow.channel().config().setAutoRead(true);
            for (int i = 0; i < 8; i++) {
                assertThat(slow.answer().equals(bulk(value))).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void serverClosesASubscriberThatDoesNotRead(ValkeyTransport transport) throws Exception {
        String message = generated(MIB);
        try (ValkeyServer server = new ValkeyServer(folder, "--client-output-buffer-limit", "pubsub 16mb 0 0");
             ValkeyConnection slow = open(transport, server);
             ValkeyConnection publisher = open(transport, server)) {
            assertThat(slow.exchange("SUBSCRIBE", "channel")).startsWith("*3");
            slow.channel().config().setAutoRead(false);
            int messages = 0;
            while (publisher.exchange("PUBLISH", "channel", message).equals(":1\r\n")) {
                messages++;
                assertThat(messages).isLessThan(1000);
            }
            assertThat(messages).isPositive();
            slow.channel().config().setAutoRead(true);
            for (int i = 0; i < messages; i++) {
                if (slow.answer().equals(ValkeyConnection.CLOSED)) {
                    break;
                }
            }
            assertThat(TestTimeouts.await(slow.channel().closeFuture()).isDone()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void anotherClientEndsAWaitAndAConnection(ValkeyTransport transport) throws Exception {
        try (ValkeyServer server = new ValkeyServer(folder);
             ValkeyConnection waiting = open(transport, server);
             ValkeyConnection other = open(transport, server)) {
            String id = waiting.exchange("CLIENT", "ID").substring(1).trim();
            waiting.send(ValkeyConnection.encode("BLPOP", "list", "0"));
            awaitInfo(other, "blocked_clients", 1);
            assertThat(other.exchange("CLIENT", "UNBLOCK", id, "ERROR")).isEqualTo(":1\r\n");
            assertThat(waiting.answer()).startsWith("-UNBLOCKED ");
            waiting.send(ValkeyConnection.encode("BLPOP", "list", "0"));
            awaitInfo(other, "blocked_clients", 1);
            assertThat(other.exchange("CLIENT", "KILL", "ID", id)).isEqualTo(":1\r\n");
            assertThat(waiting.answer()).isEqualTo(ValkeyConnection.CLOSED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void serverForgetsAClientThatClosesWhileItWaits(ValkeyTransport transport) throws Exception {
        try (ValkeyServer server = new ValkeyServer(folder);
             ValkeyConnection observer = open(ValkeyTransport.TCP, server)) {
            try (ValkeyConnection waiting = open(transport, server)) {
                waiting.send(ValkeyConnection.encode("BLPOP", "list", "0"));
                awaitInfo(observer, "blocked_clients", 1);
            }
            awaitInfo(observer, "blocked_clients", 0);
            awaitInfo(observer, "connected_clients", 1);
        }
    }

    @Test
    void codecOfNettySpeaksToTheServer() throws Exception {
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        try (ValkeyServer server = new ValkeyServer(folder)) {
            Channel channel = CodecClient.connect(LOOPS.group(), server.address().getHostString(),
                    server.address().getPort(), new SimpleChannelInboundHandler<RedisMessage>() {
                        @Override
                        protected void channelRead0(ChannelHandlerContext ctx, RedisMessage message) {
                            answers.add(message instanceof FullBulkStringRedisMessage
                                    ? ((FullBulkStringRedisMessage) message).content().toString(StandardCharsets.UTF_8)
                                    : ((SimpleStringRedisMessage) message).content());
                        }
                    });
            for (String command : List.of("SET key value", "GET key")) {
                channel.writeAndFlush(new ArrayRedisMessage(Arrays.stream(command.split(" ")).<RedisMessage>map(word ->
                        new FullBulkStringRedisMessage(Unpooled.copiedBuffer(word, StandardCharsets.UTF_8))).toList()));
            }
            assertThat(TestTimeouts.take(answers, "the first answer")).isEqualTo("OK");
            assertThat(TestTimeouts.take(answers, "the second answer")).isEqualTo("value");
            TestTimeouts.sync(channel.close());
        }
    }

    /** More messages than the server has receives for, 1024, would end the connection: the client has to count. */
    @ParameterizedTest
    @EnumSource
    void commandsThatAreSentOneByOneToABusyServerAreAnswered(ValkeyTransport transport) throws Exception {
        try (ValkeyServer server = new ValkeyServer(folder); ValkeyConnection connection = open(transport, server)) {
            connection.send(ValkeyConnection.encode("EVAL",
                    "local i = 0 while i < tonumber(ARGV[1]) do i = i + 1 end return i", "0", "50000000"));
            for (int i = 0; i < 3000; i++) {
                connection.send(ValkeyConnection.encode("ECHO", Integer.toString(i)));
                // So that each is a message of its own.
                TestTimeouts.sync(connection.channel().eventLoop().submit(() -> { }));
            }
            assertThat(connection.answer()).isEqualTo(":50000000\r\n");
            for (int i = 0; i < 3000; i++) {
                assertThat(connection.answer()).isEqualTo(bulk(Integer.toString(i)));
            }
        }
    }

    /** The server sends a message to keep a connection alive every 3 s: rdma.c, VALKEY_RDMA_KEEPALIVE_MS. */
    @ParameterizedTest
    @EnumSource
    void idleConnectionStays(ValkeyTransport transport) throws Exception {
        try (ValkeyServer server = new ValkeyServer(folder); ValkeyConnection connection = open(transport, server)) {
            TestTimeouts.sync(LOOPS.group().next().schedule(() -> { }, 7, TimeUnit.SECONDS));
            assertThat(connection.exchange("PING")).isEqualTo("+PONG\r\n");
            assertThat(connection.failure()).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource
    void serverThatHasEnoughClientsClosesTheNextOne(ValkeyTransport transport) throws Exception {
        try (ValkeyServer server = new ValkeyServer(folder, "--maxclients", "1");
             ValkeyConnection first = open(ValkeyTransport.TCP, server)) {
            assertThat(first.exchange("PING")).isEqualTo("+PONG\r\n");
            try (ValkeyConnection second = open(transport, server)) {
                // The server knows no memory of an RDMA client yet where it could write.
                if (transport != ValkeyTransport.RDMA) {
                    assertThat(second.answer()).isEqualTo("-ERR max number of clients reached\r\n");
                }
                assertThat(second.answer()).isEqualTo(ValkeyConnection.CLOSED);
            } catch (Exception e) {
                // The server may disconnect before its acceptance has arrived.
                assertThat(transport).isEqualTo(ValkeyTransport.RDMA);
                assertThat(e).isInstanceOf(ConnectException.class);
            }
            assertThat(first.exchange("PING")).isEqualTo("+PONG\r\n");
        }
    }
}
