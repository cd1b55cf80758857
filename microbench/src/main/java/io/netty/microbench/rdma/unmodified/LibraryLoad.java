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
import java.util.stream.Stream;

/**
 * The clients of both libraries, on one event loop that Armeria chooses. Each answer is checked.
 */
public final class LibraryLoad {
    /** Text that servers answer. */
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
        OverRdma.addTo(LoadCommands.control(group, Stream.concat(
                armeria(group, "h1c://" + args[0] + ':' + args[1], bytes).stream(),
                webFlux(group, "http://" + args[0] + ':' + args[2], bytes).stream()).toList())).run();
        System.exit(0);
    }

    private static List<Scenario> armeria(EventLoopGroup group, String server, byte[] bytes) {
        WebClient client = WebClient.builder(server)
                .factory(ClientFactory.builder().workerGroup(group, true).build()).build();
        Scenario.Operation get = completion -> end(client.get("/text").aggregate(), completion,
                answer -> answer.contentUtf8().equals(TEXT));
        HttpData data = HttpData.wrap(bytes);
        Scenario.Operation post = completion -> end(client.post("/echo", data).aggregate(), completion,
                answer -> Arrays.equals(answer.content().array(), bytes));
        return scenarios("Armeria", get, post);
    }

    private static List<Scenario> webFlux(EventLoopGroup group, String server, byte[] bytes) {
        var client = org.springframework.web.reactive.function.client.WebClient.builder().baseUrl(server)
                .clientConnector(new ReactorClientHttpConnector(
                        HttpClient.create(ConnectionProvider.create("load", MANY)).runOn(group))).build();
        Scenario.Operation get = completion -> end(body(client.get().uri("/text")), completion,
                answer -> Arrays.equals(answer, TEXT.getBytes(StandardCharsets.UTF_8)));
        Scenario.Operation post = completion -> end(body(client.post().uri("/echo").bodyValue(bytes)), completion,
                answer -> Arrays.equals(answer, bytes));
        return scenarios("WebFlux", get, post);
    }

    private static List<Scenario> scenarios(String library, Scenario.Operation get, Scenario.Operation post) {
        return List.of(new Scenario(library + ", GET", 1, 0, get),
                new Scenario(library + ", GET on " + MANY + " connections", MANY, 0, get),
                new Scenario(library + ", POST of 64 KiB and back", 1, 0, post));
    }

    private static <T> void end(CompletionStage<T> answer, Scenario.Completion completion, Predicate<T> isRight) {
        answer.whenComplete((value, cause) -> completion.ended(cause != null || isRight.test(value) ? cause :
                new IOException("wrong answer")));
    }

    private static CompletionStage<byte[]> body(RequestHeadersSpec<?> request) {
        return request.retrieve().bodyToMono(byte[].class).toFuture();
    }
}
