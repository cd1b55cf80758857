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
package io.netty.example.rdma.http2;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.http.BodyCheck;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.stream.ChunkedNioFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/**
 * Gets a resource from an HTTP/2 server, or sends it a file. The exit status is 0 if the answer is 200 and complete.
 */
@Command(name = "h2-client", description = "Gets a resource from an HTTP/2 server, or posts a file to it.")
public final class Http2ClientCommand implements Callable<Integer> {
    private static final int OK = 200;

    @Mixin
    private ClientOptions options;

    @Option(names = "--upgrade", description = "Without TLS: begin with HTTP/1.1, not with prior knowledge.")
    private boolean upgrade;

    @Option(names = "--post", description = "Post this file.")
    private Path file;

    @Option(names = "--output", description = "Write the body to this file instead of the standard output.")
    private Path output;

    @Parameters(defaultValue = "/plaintext", description = "Path (default: ${DEFAULT-VALUE}).")
    private String path;

    public static void main(String[] args) {
        System.exit(Commands.run(new Http2ClientCommand(), args));
    }

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        try (OutputStream target = output == null ? System.out : Files.newOutputStream(output)) {
            Http2Client client = connect(options, group,
                    upgrade ? Http2Client.Start.UPGRADE : Http2Client.Start.PRIOR_KNOWLEDGE);
            BodyCheck body = writeTo(target);
            Exchange exchange = file == null ? client.get(path, body)
                    : client.post(path, new ChunkedNioFile(file.toFile()), body);
            Exchange.Answer answer = exchange.answer().get();
            target.flush();
            System.err.printf("%nstatus %d, %d bytes (%s)%n", answer.status(), answer.bodyLength(), options);
            client.close().sync();
            return answer.status() == OK ? 0 : 1;
        } finally {
            Commands.shutdown(group);
        }
    }

    /** Connects as the options say. Not to be called on an event loop. */
    public static Http2Client connect(ClientOptions options, EventLoopGroup group, Http2Client.Start start)
            throws Exception {
        SslContextBuilder tls = options.sslContext();
        InetSocketAddress server = new InetSocketAddress(options.host(), options.port());
        return Http2Client.connect(
                new Bootstrap().group(group).channel(options.transport().find(group, server).channelType()), server,
                tls == null ? null : Http2Tls.configure(tls, ApplicationProtocolNames.HTTP_2), start).get();
    }

    private static BodyCheck writeTo(OutputStream target) {
        return new BodyCheck() {
            @Override
            public void data(ByteBuf data) throws IOException {
                data.readBytes(target, data.readableBytes());
            }

            @Override
            public void end() {
                // The protocol marks the end of the body.
            }
        };
    }
}
