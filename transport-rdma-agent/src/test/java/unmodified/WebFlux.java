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
package unmodified;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Flux;

import java.time.Duration;
import java.util.Arrays;

/** A server of Spring Boot with WebFlux, and Spring's client. */
@RestController
@EnableAutoConfiguration
public class WebFlux {
    private static final int BYTES = 1024 * 1024;

    @PostMapping("/echo")
    Flux<DataBuffer> echo(@RequestBody Flux<DataBuffer> body) {
        return body;
    }

    public static void main(String... args) {
        try (ConfigurableApplicationContext application = SpringApplication.run(WebFlux.class, "--server.port=0",
                "--server.address=127.0.0.1", "--spring.main.banner-mode=off")) {
            WebClient client = WebClient.builder()
                    .baseUrl("http://127.0.0.1:" + application.getEnvironment().getProperty("local.server.port"))
                    .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(2 * BYTES)).build();
            byte[] bytes = new byte[BYTES];
            for (int i = 0; i < 10; i++) {
                Arrays.fill(bytes, (byte) i);
                System.out.println(client.post().uri("/echo").contentType(MediaType.APPLICATION_OCTET_STREAM)
                        .bodyValue(bytes).exchangeToMono(response -> response.bodyToMono(byte[].class)
                                .map(received -> response.statusCode() + " " + Arrays.equals(bytes, received)))
                        .block(Duration.ofSeconds(Ends.SECONDS)));
            }
        }
        System.out.println("closed");
    }
}
