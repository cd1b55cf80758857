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
import io.netty.example.rdma.http.HttpConnection;
import io.netty.example.rdma.http.HttpServerHandler;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.PatternInput;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.CharsetUtil;
import picocli.CommandLine.Command;

import java.util.List;

/**
 * The measuring client of the http example.
 */
@Command(name = "http-load", description = "Measures an http server and checks every answer.")
public final class HttpLoad extends LoadClient {
    private static final int PIPELINED = 16;
    private static final int LARGE = 64 << 20;
    private static final byte[] PLAINTEXT = HttpServerHandler.HELLO.getBytes(CharsetUtil.US_ASCII);
    private static final byte[] JSON =
            ("{\"message\":\"" + HttpServerHandler.HELLO + "\"}").getBytes(CharsetUtil.US_ASCII);

    private HttpLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new HttpLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        HttpConnection connection = HttpConnection.open(options, group);
        byte[] receipt = BodyCheck.receipt(LARGE);
        return List.of(
                Scenario.oneByOne("plaintext", () -> connection.get("/plaintext", BodyCheck.equalTo(PLAINTEXT))),
                new Scenario("plaintext, " + PIPELINED + " pipelined", PIPELINED, 0,
                        () -> connection.get("/plaintext", BodyCheck.equalTo(PLAINTEXT))),
                Scenario.oneByOne("json", () -> connection.get("/json", BodyCheck.equalTo(JSON))),
                Scenario.transfer("download of 64 MiB", LARGE,
                        () -> connection.get("/bytes/" + LARGE, BodyCheck.pattern(LARGE))),
                Scenario.transfer("chunked upload of 64 MiB", LARGE, () -> connection.upload("/upload",
                        new PatternInput(LARGE), true, HttpResponseStatus.OK, BodyCheck.equalTo(receipt))));
    }
}
