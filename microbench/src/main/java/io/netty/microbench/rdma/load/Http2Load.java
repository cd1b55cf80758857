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
package io.netty.microbench.rdma.load;

import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.http.BodyCheck;
import io.netty.example.rdma.http.HttpServerHandler;
import io.netty.example.rdma.http2.Http2Client;
import io.netty.example.rdma.http2.Http2ClientCommand;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.PatternInput;
import io.netty.util.CharsetUtil;
import io.netty.util.concurrent.Future;
import picocli.CommandLine.Command;

import java.util.List;

/**
 * The measuring client of the h2 example.
 */
@Command(name = "h2-load", description = "Measures an HTTP/2 server and checks every answer.")
public final class Http2Load extends LoadClient {
    private static final int STREAMS = 64;
    private static final int LARGE = 64 << 20;
    private static final byte[] PLAINTEXT = HttpServerHandler.HELLO.getBytes(CharsetUtil.US_ASCII);

    private Http2Load() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new Http2Load(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        Http2Client client = Http2ClientCommand.connect(options, group, Http2Client.Start.PRIOR_KNOWLEDGE);
        return List.of(
                Scenario.oneByOne("plaintext", () -> plaintext(client)),
                new Scenario("plaintext, " + STREAMS + " streams", STREAMS, 0, () -> plaintext(client)),
                Scenario.transfer("download of 64 MiB", LARGE,
                        () -> client.get("/bytes/" + LARGE, BodyCheck.pattern(LARGE)).answer()),
                Scenario.transfer("echo of 64 MiB", LARGE,
                        () -> client.post("/echo", new PatternInput(LARGE), BodyCheck.pattern(LARGE)).answer()));
    }

    private static Future<?> plaintext(Http2Client client) {
        return client.get("/plaintext", BodyCheck.equalTo(PLAINTEXT)).answer();
    }
}
