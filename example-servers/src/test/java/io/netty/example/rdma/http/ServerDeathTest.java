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
package io.netty.example.rdma.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.ServerProcess;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ServerDeathTest {
    @ParameterizedTest
    @EachTransport
    void clientHearsOfAServerThatIsKilledInTheMiddleOfAnAnswer(Transport transport) throws Exception {
        EventLoopGroup group = transport.newGroup(1, Waiting.DEFAULT);
        try (ServerProcess server = new ServerProcess(HttpServer.class, transport, RunningServer.HOST)) {
            HttpConnection connection = HttpConnection.open(ClientTransport.valueOf(transport.name()), group, null,
                    RunningServer.HOST, server.address().getPort());
            CountDownLatch begun = new CountDownLatch(1);
            Future<HttpResponse> answer = TestTimeouts.result(connection.channel().eventLoop().submit(
                    () -> connection.get("/bytes/1000000000000", new BodyCheck() {
                        @Override
                        public void data(ByteBuf data) {
                            begun.countDown();
                        }

                        @Override
                        public void end() {
                            // Never comes.
                        }
                    })));
            assertThat(begun.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            server.kill();
            assertThatThrownBy(() -> TestTimeouts.result(answer)).isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(IOException.class);
            TestTimeouts.result(connection.channel().closeFuture());
        } finally {
            TestTimeouts.shutdown(group);
        }
    }
}
