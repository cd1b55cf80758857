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

import io.micronaut.context.ApplicationContext;
import io.micronaut.context.RuntimeBeanDefinition;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.ServerHttpRequest;
import io.micronaut.http.filter.HttpServerFilter;
import io.micronaut.http.filter.ServerFilterChain;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.web.router.DefaultRouteBuilder;
import io.micronaut.web.router.RouteBuilder;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;

import java.util.Map;

/** Micronaut's server, with the client of Reactor Netty. A filter answers, which needs no code that is generated. */
public final class Micronaut {
    private Micronaut() { }

    public static void main(String... args) {
        try (ApplicationContext context = ApplicationContext.builder(
                Map.of("micronaut.server.port", -1, "micronaut.server.host", "127.0.0.1")).start()) {
            RuntimeBeanDefinition<Echo> echo = RuntimeBeanDefinition.of(new Echo());
            context.registerBeanDefinition(echo);
            RouteBuilder routes = new Routes(context);
            routes.addFilter("/**", context, echo);
            context.registerSingleton(RouteBuilder.class, routes);
            try (EmbeddedServer server = context.getBean(EmbeddedServer.class).start()) {
                ReactorNetty.post(HttpClient.create(), server.getPort());
            }
        }
        ReactorNetty.end();
        System.out.println("closed");
    }

    @SuppressWarnings("overrides") // methods of Micronaut's own
    private static final class Routes extends DefaultRouteBuilder {
        Routes(ApplicationContext context) {
            super(context);
        }
    }

    private static final class Echo implements HttpServerFilter {
        @Override
        public Publisher<MutableHttpResponse<?>> doFilter(HttpRequest<?> request, ServerFilterChain chain) {
            return Mono.fromFuture(((ServerHttpRequest<?>) request).byteBody().buffer()).map(body ->
                    HttpResponse.ok(body.toByteArray()).contentType(MediaType.APPLICATION_OCTET_STREAM_TYPE));
        }
    }
}
