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
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.Sha256;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.stream.ChunkedNioFile;
import io.netty.util.concurrent.Future;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.Callable;

/**
 * Gets a resource from an HTTP server, or sends it a file. The exit status is 0 if the answer is 200 and complete.
 */
@Command(name = "http-client", description = "Gets a resource from an HTTP/1.1 server, or posts a file to it.")
public final class HttpClient implements Callable<Integer> {
    @Mixin
    private ClientOptions options;

    @Option(names = "--post", description = "Post this file, in chunks, when the server has agreed (100-continue).")
    private Path file;

    @Option(names = "--output", description = "Write the body to this file instead of the standard output.")
    private Path output;

    @Parameters(defaultValue = "/plaintext", description = "Path (default: ${DEFAULT-VALUE}).")
    private String path;

    public static void main(String[] args) {
        System.exit(Commands.run(new HttpClient(), args));
    }

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        try (OutputStream target = output == null ? System.out : Files.newOutputStream(output)) {
            HttpConnection connection = HttpConnection.open(options, group);
            Body body = new Body(target);
            EventLoop loop = connection.channel().eventLoop();
            Future<HttpResponse> answer = loop.submit(() -> file == null ? connection.get(path, body)
                    : connection.upload(path, new ChunkedNioFile(file.toFile()), true, HttpResponseStatus.OK, body))
                    .get();
            HttpResponse response = answer.get();
            target.flush();
            System.err.printf("%n%s, %d bytes, SHA-256 %s (%s)%n", response.status(), body.bytes,
                    HexFormat.of().formatHex(body.digest.digest()),
                    options.transport().describe(connection.channel()));
            return 0;
        } finally {
            Commands.shutdown(group);
        }
    }

    private static final class Body implements BodyCheck {
        private final OutputStream target;
        private final MessageDigest digest = Sha256.newDigest();
        private long bytes;

        Body(OutputStream target) {
            this.target = target;
        }

        @Override
        public void data(ByteBuf data) throws IOException {
            bytes += data.readableBytes();
            digest.update(data.nioBuffer());
            data.readBytes(target, data.readableBytes());
        }

        @Override
        public void end() {
            // The codec knows the length.
        }
    }
}
