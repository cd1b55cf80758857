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

import io.ktor.http.content.OutgoingContent;
import io.ktor.server.application.ApplicationCallPipeline;
import io.ktor.server.application.PipelineCall;
import io.ktor.server.engine.EmbeddedServer;
import io.ktor.server.engine.EmbeddedServerKt;
import io.ktor.server.engine.EngineConnectorConfig;
import io.ktor.server.netty.Netty;
import io.ktor.server.netty.NettyApplicationEngine;
import io.ktor.utils.io.ByteReadChannel;
import kotlin.Unit;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.BuildersKt;
import reactor.netty.http.client.HttpClient;

import java.util.List;
import java.util.concurrent.TimeUnit;

/** Ktor's server by its engine on Netty, with the client of Reactor Netty. */
public final class Ktor {
    private Ktor() { }

    public static void main(String... args) throws Exception {
        EmbeddedServer<NettyApplicationEngine, NettyApplicationEngine.Configuration> server =
                EmbeddedServerKt.embeddedServer(Netty.INSTANCE, 0, "127.0.0.1", List.of(),
                        (application, continuation) -> {
                            application.intercept(ApplicationCallPipeline.ApplicationPhase.getCall(),
                                    (context, subject, next) -> {
                                        PipelineCall call = context.getContext();
                                        return call.respond(new Echo(call.getRequest().receiveChannel()), null, next);
                                    });
                            return Unit.INSTANCE;
                        });
        server.start(false);
        List<? extends EngineConnectorConfig> connectors =
                BuildersKt.<List<? extends EngineConnectorConfig>>runBlocking(EmptyCoroutineContext.INSTANCE,
                        (scope, continuation) -> server.getEngine().resolvedConnectors(continuation));
        ReactorNetty.post(HttpClient.create(), connectors.get(0).getPort());
        ReactorNetty.end();
        server.stop(0, Ends.SECONDS, TimeUnit.SECONDS);
        System.out.println("stopped");
    }

    private static final class Echo extends OutgoingContent.ReadChannelContent {
        private final ByteReadChannel request;

        Echo(ByteReadChannel request) {
            this.request = request;
        }

        @Override
        public ByteReadChannel readFrom() {
            return request;
        }
    }
}
