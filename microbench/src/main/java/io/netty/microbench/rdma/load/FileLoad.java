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
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.Pattern;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.Future;
import picocli.CommandLine.Command;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The measuring client of the files example.
 */
@Command(name = "files-load", description = "Measures a server of the files that this example makes.")
public final class FileLoad extends LoadClient {
    private static final int SMALL_BYTES = 1 << 10;
    private static final int LARGE_BYTES = 64 << 20;
    private static final int RANGE_BYTES = 64 << 10;
    private static final int IN_FLIGHT = 8;

    private FileLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new FileLoad(), args));
    }

    /** Writes the files that the server must have. */
    public static void writeFiles(Path folder) throws IOException {
        for (int bytes : new int[] {SMALL_BYTES, LARGE_BYTES}) {
            try (OutputStream file = Files.newOutputStream(folder.resolve(name(bytes)))) {
                Pattern.write(file, bytes);
            }
        }
    }

    /** Returns the name of a file of this many bytes of the pattern. */
    private static String name(int bytes) {
        return "file-" + bytes;
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        HttpConnection connection = HttpConnection.open(options, group);
        return List.of(
                Scenario.oneByOne("file of 1 KiB", () -> connection.get('/' + name(SMALL_BYTES),
                        BodyCheck.pattern(SMALL_BYTES))),
                new Scenario("range of 64 KiB, " + IN_FLIGHT + " pipelined", IN_FLIGHT, RANGE_BYTES,
                        () -> range(connection)),
                Scenario.transfer("file of 64 MiB", LARGE_BYTES, () -> connection.get('/' + name(LARGE_BYTES),
                        BodyCheck.pattern(LARGE_BYTES))));
    }

    private static Future<HttpResponse> range(HttpConnection connection) {
        int first = ThreadLocalRandom.current().nextInt(LARGE_BYTES - RANGE_BYTES);
        FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET,
                '/' + name(LARGE_BYTES));
        request.headers().set(HttpHeaderNames.RANGE, "bytes=" + first + '-' + (first + RANGE_BYTES - 1));
        return connection.send(request, HttpResponseStatus.PARTIAL_CONTENT, BodyCheck.pattern(first, RANGE_BYTES));
    }
}
