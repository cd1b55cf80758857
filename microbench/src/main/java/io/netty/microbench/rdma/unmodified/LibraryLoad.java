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
package io.netty.microbench.rdma.unmodified;

import com.linecorp.armeria.client.ClientFactory;
import com.linecorp.armeria.client.WebClient;
import com.linecorp.armeria.common.HttpData;
import com.linecorp.armeria.common.util.EventLoopGroups;
import io.netty.channel.EventLoopGroup;
import io.netty.microbench.rdma.load.LoadCommands;
import io.netty.microbench.rdma.load.Scenario;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient.RequestHeadersSpec;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/**
 * The clients of both libraries, one for each scenario, on one event loop that Armeria chooses. Each answer is checked.
 */
public final class LibraryLoad {
    /** Text of the servers' answers. */
    static final String TEXT = "Hello, World!";
    private static final int MANY = 16;
    private static final int LARGE = 64 * 1024;

    private LibraryLoad() {
    }

    /** Runs until standard input ends. The arguments are the address of this host, and the servers' ports. */
    public static void main(String[] args) throws Exception {
        EventLoopGroup group = EventLoopGroups.newEventLoopGroup(1);
        byte[] bytes = new byte[LARGE];
        new SplittableRandom(1).nextBytes(bytes);
        String armeria = "h1c://" + args[0] + ':' + args[1];
        String webFlux = "http://" + args[0] + ':' + args[2];
        OverRdma.addTo(LoadCommands.control(group, List.of(
                new Scenario("Armeria, GET", 1, 0, armeriaGet(group, armeria)),
                new Scenario("Armeria, GET on " + MANY + " connections", MANY, 0, armeriaGet(group, armeria)),
                new Scenario("Armeria, POST of 64 KiB and back", 1, 0, armeriaPost(group, armeria, bytes)),
                new Scenario("WebFlux, GET", 1, 0, webFluxGet(group, webFlux)),
                new Scenario("WebFlux, GET on " + MANY + " connections", MANY, 0, webFluxGet(group, webFlux)),
                new Scenario("WebFlux, POST of 64 KiB and back", 1, 0, webFluxPost(group, webFlux, bytes))))).run();
        System.exit(0);
    }

    private static WebClient armeria(EventLoopGroup group, String server) {
        return WebClient.builder(server).factory(ClientFactory.builder().workerGroup(group, true).build()).build();
    }

    private static Scenario.Operation armeriaGet(EventLoopGroup group, String server) {
        WebClient client = armeria(group, server);
        return completion -> end(group, client.get("/text").aggregate(), completion,
                answer -> answer.contentUtf8().equals(TEXT));
    }

    private static Scenario.Operation armeriaPost(EventLoopGroup group, String server, byte[] bytes) {
        WebClient client = armeria(group, server);
        HttpData data = HttpData.wrap(bytes);
        return completion -> end(group, client.post("/echo", data).aggregate(), completion,
                answer -> Arrays.equals(answer.content().array(), bytes));
    }

    private static org.springframework.web.reactive.function.client.WebClient webFlux(EventLoopGroup group,
                                                                                      String server) {
        return org.springframework.web.reactive.function.client.WebClient.builder().baseUrl(server)
                .clientConnector(new ReactorClientHttpConnector(
                        HttpClient.create(ConnectionProvider.create("load", MANY)).runOn(group))).build();
    }

    private static Scenario.Operation webFluxGet(EventLoopGroup group, String server) {
        var client = webFlux(group, server);
        byte[] text = TEXT.getBytes(StandardCharsets.UTF_8);
        return completion -> end(group, body(client.get().uri("/text")), completion,
                answer -> Arrays.equals(answer, text));
    }

    private static Scenario.Operation webFluxPost(EventLoopGroup group, String server, byte[] bytes) {
        var client = webFlux(group, server);
        return completion -> end(group, body(client.post().uri("/echo").bodyValue(bytes)), completion,
                answer -> Arrays.equals(answer, bytes));
    }

    /**
     * Ends an operation when its connection is back in the client's pool. Otherwise the next operation, which starts
     * then, would make another connection, and operations one by one would use several connections in turn.
     */
    private static <T> void end(EventLoopGroup group, CompletionStage<T> answer, Scenario.Completion completion,
                                Predicate<T> isRight) {
        answer.whenCompleteAsync((value, cause) -> completion.ended(cause != null || isRight.test(value) ? cause :
                new IOException("wrong answer")), group.next());
    }

    private static CompletionStage<byte[]> body(RequestHeadersSpec<?> request) {
        return request.retrieve().bodyToMono(byte[].class).toFuture();
    }
}
