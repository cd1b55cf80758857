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

import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.TestTimeouts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Lettuce on channels of our choice, with Valkey's own server.
 */
@Tag("valkey")
class LettuceTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    @TempDir
    private Path folder;

    /** Something that is done with a client. */
    @FunctionalInterface
    private interface Program {
        void run(LettuceClient client, ValkeyServer server) throws Exception;
    }

    private void run(ValkeyTransport transport, Program program) throws Exception {
        ClientResources resources = ClientResources.create();
        try (ValkeyServer server = new ValkeyServer(folder)) {
            RedisURI uri = RedisURI.builder().withHost(server.address().getHostString())
                    .withPort(server.address().getPort()).withTimeout(Duration.ofSeconds(TestTimeouts.SECONDS)).build();
            LettuceClient client = new LettuceClient(resources, uri, LOOPS.group(), transport.channelType());
            try {
                program.run(client, server);
            } finally {
                client.shutdown();
            }
        } finally {
            TestTimeouts.await(resources.shutdown());
        }
    }

    @ParameterizedTest
    @EnumSource(names = "UNIX", mode = EnumSource.Mode.EXCLUDE)
    void commandsAreAnswered(ValkeyTransport transport) throws Exception {
        run(transport, (client, server) -> {
            try (StatefulRedisConnection<String, String> connection = client.connect()) {
                assertThat(connection.isOpen()).isTrue();
                RedisCommands<String, String> commands = connection.sync();
                String large = "x".repeat(5 << 20);
                assertThat(commands.set("large", large)).isEqualTo("OK");
                assertThat(commands.get("large").equals(large)).isTrue();
                assertThat(commands.rpush("list", "a", "b", "c")).isEqualTo(3);
                assertThat(commands.lrange("list", 0, -1)).containsExactly("a", "b", "c");
                assertThat(commands.hset("hash", Map.of("one", "1", "two", "2"))).isEqualTo(2);
                assertThat(commands.hgetall("hash")).isEqualTo(Map.of("one", "1", "two", "2"));
                assertThat(commands.<Long>eval("return redis.call('INCRBY', KEYS[1], ARGV[1])",
                        ScriptOutputType.INTEGER, new String[] {"number"}, "5")).isEqualTo(5);
                assertThatThrownBy(() -> commands.incr("list")).isInstanceOf(RedisCommandExecutionException.class)
                        .hasMessageStartingWith("WRONGTYPE");
                commands.multi();
                commands.set("key", "value");
                commands.get("key");
                TransactionResult result = commands.exec();
                assertThat(result.<String>get(0)).isEqualTo("OK");
                assertThat(result.<String>get(1)).isEqualTo("value");
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = "UNIX", mode = EnumSource.Mode.EXCLUDE)
    void manyCommandsAreInFlight(ValkeyTransport transport) throws Exception {
        run(transport, (client, server) -> {
            try (StatefulRedisConnection<String, String> connection = client.connect()) {
                List<RedisFuture<String>> answers = new ArrayList<>();
                for (int i = 0; i < 10_000; i++) {
                    connection.async().set("key" + i, "value" + i);
                    answers.add(connection.async().get("key" + i));
                }
                for (int i = 0; i < answers.size(); i++) {
                    assertThat(answers.get(i).get(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isEqualTo("value" + i);
                }
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = "UNIX", mode = EnumSource.Mode.EXCLUDE)
    void messagesAndBlockingCommandsComeThrough(ValkeyTransport transport) throws Exception {
        run(transport, (client, server) -> {
            BlockingQueue<String> messages = new LinkedBlockingQueue<>();
            try (StatefulRedisPubSubConnection<String, String> subscriber = client.connectPubSub();
                 StatefulRedisConnection<String, String> blocking = client.connect();
                 StatefulRedisConnection<String, String> connection = client.connect()) {
                subscriber.addListener(new RedisPubSubAdapter<>() {
                    @Override
                    public void message(String channel, String message) {
                        messages.add(channel + ": " + message);
                    }
                });
                subscriber.sync().subscribe("channel");
                assertThat(connection.sync().publish("channel", "message")).isOne();
                assertThat(TestTimeouts.take(messages, "a message")).isEqualTo("channel: message");
                RedisFuture<KeyValue<String, String>> taken = blocking.async().blpop(0, "list");
                assertThat(connection.sync().rpush("list", "element")).isOne();
                assertThat(taken.get(TestTimeouts.SECONDS, TimeUnit.SECONDS))
                        .isEqualTo(KeyValue.just("list", "element"));
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = "UNIX", mode = EnumSource.Mode.EXCLUDE)
    void clientConnectsAgainToAServerThatWasKilled(ValkeyTransport transport) throws Exception {
        run(transport, (client, server) -> {
            try (StatefulRedisConnection<String, String> connection = client.connect()) {
                assertThat(connection.sync().ping()).isEqualTo("PONG");
                server.kill();
                server.restart();
                // Lettuce queues commands while it connects again.
                assertThat(connection.sync().set("key", "value")).isEqualTo("OK");
                assertThat(connection.sync().get("key")).isEqualTo("value");
            }
        });
    }
}
