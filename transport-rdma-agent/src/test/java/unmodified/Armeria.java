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

import com.linecorp.armeria.client.ClientFactory;
import com.linecorp.armeria.client.Endpoint;
import com.linecorp.armeria.client.WebClient;
import com.linecorp.armeria.common.AggregatedHttpResponse;
import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.HttpStatus;
import com.linecorp.armeria.common.MediaType;
import com.linecorp.armeria.common.SessionProtocol;
import com.linecorp.armeria.server.Server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;

/** Armeria's server and client, by HTTP/1.1 and by HTTP/2, with and without TLS. */
public final class Armeria {
    private Armeria() { }

    public static void main(String... args) {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        Server server = Server.builder().http(any).https(any).tlsSelfSigned().maxRequestLength(0)
                .service("/echo", (context, request) -> HttpResponse.of(request.aggregate().thenApply(whole ->
                        HttpResponse.of(HttpStatus.OK, MediaType.OCTET_STREAM, whole.content())))).build();
        server.start().join();
        byte[] bytes = new byte[1024 * 1024];
        ClientFactory clients = ClientFactory.builder().tlsNoVerify().build();
        for (SessionProtocol protocol : new SessionProtocol[] {SessionProtocol.H1C, SessionProtocol.H2C,
                SessionProtocol.H1, SessionProtocol.H2}) {
            WebClient client = WebClient.builder(protocol, Endpoint.of("127.0.0.1", server.activeLocalPort(
                    protocol.isTls() ? SessionProtocol.HTTPS : SessionProtocol.HTTP)))
                    .factory(clients).maxResponseLength(0).build();
            for (int i = 0; i < 10; i++) {
                Arrays.fill(bytes, (byte) i);
                AggregatedHttpResponse response = client.post("/echo", bytes).aggregate().join();
                System.out.println(protocol + " " + response.status() + ' ' +
                        Arrays.equals(bytes, response.content().array()));
            }
        }
        clients.close();
        server.stop().join();
        System.out.println("stopped");
    }
}
