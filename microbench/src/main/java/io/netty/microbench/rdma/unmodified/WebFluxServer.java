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

import io.netty.example.rdma.util.ExampleServer;
import io.netty.microbench.rdma.process.Control;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.reactive.context.ReactiveWebServerApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.netty.http.HttpResources;
import reactor.netty.resources.LoopResources;

/**
 * A server of Spring Boot with WebFlux on Reactor Netty, which chooses transport and event loops.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@RestController
public class WebFluxServer {
    @GetMapping("/text")
    Mono<String> text() {
        return Mono.just(LibraryLoad.TEXT);
    }

    @PostMapping("/echo")
    Mono<byte[]> echo(@RequestBody Mono<byte[]> body) {
        return body;
    }

    /** Runs it until standard input ends. The argument is the address of this host. */
    public static void main(String[] args) throws Exception {
        ReactiveWebServerApplicationContext application = (ReactiveWebServerApplicationContext) SpringApplication.run(
                WebFluxServer.class, "--server.address=" + args[0], "--server.port=0", "--spring.main.banner-mode=off");
        System.out.println(ExampleServer.READY + args[0] + ':' + application.getWebServer().getPort());
        OverRdma.addTo(new Control(HttpResources.get().onServer(LoopResources.DEFAULT_NATIVE))).run();
        System.exit(0);
    }
}
