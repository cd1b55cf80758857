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
package consumer;

import io.netty.channel.rdma.reactor.RdmaLoopResources;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;

import java.time.Duration;

/** A server of Spring WebFlux over RDMA. */
@SpringBootApplication
@RestController
public class WebFlux {
    @Bean
    ReactorResourceFactory reactorResourceFactory() {
        ReactorResourceFactory factory = new ReactorResourceFactory();
        factory.setUseGlobalResources(false);
        factory.setLoopResourcesSupplier(() -> RdmaLoopResources.create("web"));
        return factory;
    }

    @GetMapping("/")
    Mono<String> hello() {
        return Mono.just("hello");
    }

    public static void main(String[] args) {
        try (ConfigurableApplicationContext application = SpringApplication.run(WebFlux.class,
                "--server.address=127.0.0.1", "--server.port=0", "--spring.main.banner-mode=off")) {
            ReactorResourceFactory resources = application.getBean(ReactorResourceFactory.class);
            WebClient client = WebClient.builder()
                    .clientConnector(new ReactorClientHttpConnector(resources, http -> http)).build();
            String port = application.getEnvironment().getRequiredProperty("local.server.port");
            Answer.print(client.get().uri("http://127.0.0.1:" + port + '/').retrieve().bodyToMono(String.class)
                    .block(Duration.ofSeconds(60)));
        }
    }
}
