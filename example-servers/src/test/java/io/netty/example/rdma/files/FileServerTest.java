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
package io.netty.example.rdma.files;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.files.FileServer.FileMode;
import io.netty.example.rdma.http.BodyCheck;
import io.netty.example.rdma.http.HttpConnection;
import io.netty.example.rdma.http.HttpLimits;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.util.RawClient;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.Transport;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class FileServerTest {
    private static final int BYTES = RunningServer.SLOW_MACHINE ? 3_000_017 : 30_000_001;
    private static final String END = " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

    @TempDir
    private Path outside;
    private Path root;
    private Path file;
    private RunningServer server;
    private HttpConnection connection;

    static Stream<Arguments> everything() {
        return EachTransport.Source.with((Object[]) FileMode.values());
    }

    @BeforeEach
    void writeFiles() throws IOException {
        root = Files.createDirectory(outside.resolve("root"));
        file = root.resolve("a file.txt");
        try (OutputStream target = Files.newOutputStream(file)) {
            Pattern.write(target, BYTES);
        }
        Files.writeString(outside.resolve("secret"), "secret");
    }

    @AfterEach
    void stopServer() {
        server.close();
    }

    @ParameterizedTest
    @MethodSource("everything")
    void fileArrivesAsItIs(Transport transport, FileMode mode) throws Exception {
        serve(transport, mode, false);
        for (int i = 0; i < 2; i++) {
            HttpResponse response = get(HttpResponseStatus.OK, BodyCheck.pattern(BYTES));
            assertThat(response.headers().get(HttpHeaderNames.CONTENT_TYPE)).isEqualTo("text/plain");
            assertThat(response.headers().get(HttpHeaderNames.CONTENT_LENGTH)).isEqualTo(Integer.toString(BYTES));
            assertThat(response.headers().get(HttpHeaderNames.ACCEPT_RANGES)).isEqualTo("bytes");
        }
        Files.createFile(root.resolve("empty"));
        send(HttpMethod.GET, "/empty", HttpResponseStatus.OK, BodyCheck.pattern(0));
    }

    @ParameterizedTest
    @MethodSource("everything")
    void headTellsAboutTheFile(Transport transport, FileMode mode) throws Exception {
        serve(transport, mode, false);
        HttpResponse response = send(HttpMethod.HEAD, "/a%20file.txt", HttpResponseStatus.OK, BodyCheck.pattern(0),
                HttpHeaderNames.RANGE, "bytes=0-1");
        assertThat(response.headers().get(HttpHeaderNames.CONTENT_LENGTH)).isEqualTo(Integer.toString(BYTES));
        assertThat(response.headers().contains(HttpHeaderNames.ETAG)).isTrue();
        assertThat(response.headers().contains(HttpHeaderNames.LAST_MODIFIED)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("everything")
    void rangeArrivesAlone(Transport transport, FileMode mode) throws Exception {
        serve(transport, mode, false);
        range("bytes=0-0", 0, 1);
        range("bytes=1000000-1999999", 1_000_000, 1_000_000);
        range("bytes=" + (BYTES - 5) + '-', BYTES - 5, 5);
        range("bytes=-7", BYTES - 7, 7);
        range("bytes=-" + 2L * BYTES, 0, BYTES);
        HttpResponse response = get(HttpResponseStatus.REQUESTED_RANGE_NOT_SATISFIABLE, BodyCheck.equalTo(
                "416 Requested Range Not Satisfiable\n".getBytes()), HttpHeaderNames.RANGE, "bytes=" + BYTES + '-');
        assertThat(response.headers().get(HttpHeaderNames.CONTENT_RANGE)).isEqualTo("bytes */" + BYTES);
    }

    private void range(String header, long first, long length) throws Exception {
        HttpResponse response = get(HttpResponseStatus.PARTIAL_CONTENT, BodyCheck.pattern(first, length),
                HttpHeaderNames.RANGE, header);
        assertThat(response.headers().get(HttpHeaderNames.CONTENT_RANGE))
                .isEqualTo("bytes " + first + '-' + (first + length - 1) + '/' + BYTES);
    }

    @ParameterizedTest
    @MethodSource("everything")
    void conditionsAreObeyed(Transport transport, FileMode mode) throws Exception {
        serve(transport, mode, false);
        HttpResponse response = send(HttpMethod.HEAD, "/a%20file.txt", HttpResponseStatus.OK, BodyCheck.pattern(0));
        String etag = response.headers().get(HttpHeaderNames.ETAG);
        String date = response.headers().get(HttpHeaderNames.LAST_MODIFIED);
        String past = "Thu, 01 Jan 1970 00:00:00 GMT";
        BodyCheck nothing = BodyCheck.pattern(0);
        BodyCheck everything = BodyCheck.pattern(BYTES);
        get(HttpResponseStatus.NOT_MODIFIED, nothing, HttpHeaderNames.IF_NONE_MATCH, "\"x\", W/" + etag);
        get(HttpResponseStatus.NOT_MODIFIED, nothing, HttpHeaderNames.IF_NONE_MATCH, "*");
        get(HttpResponseStatus.NOT_MODIFIED, nothing, HttpHeaderNames.IF_MODIFIED_SINCE, date);
        get(HttpResponseStatus.OK, everything, HttpHeaderNames.IF_MODIFIED_SINCE, past);
        get(HttpResponseStatus.OK, BodyCheck.pattern(BYTES), HttpHeaderNames.IF_NONE_MATCH, "\"x\"",
                HttpHeaderNames.IF_MODIFIED_SINCE, date);
        get(HttpResponseStatus.PRECONDITION_FAILED, nothing, HttpHeaderNames.IF_MATCH, "\"x\"");
        get(HttpResponseStatus.PRECONDITION_FAILED, nothing, HttpHeaderNames.IF_UNMODIFIED_SINCE, past);
        get(HttpResponseStatus.PARTIAL_CONTENT, BodyCheck.pattern(0, 10), HttpHeaderNames.RANGE, "bytes=0-9",
                HttpHeaderNames.IF_RANGE, etag, HttpHeaderNames.IF_MATCH, etag);
        get(HttpResponseStatus.PARTIAL_CONTENT, BodyCheck.pattern(0, 10), HttpHeaderNames.RANGE, "bytes=0-9",
                HttpHeaderNames.IF_RANGE, date);
        get(HttpResponseStatus.OK, BodyCheck.pattern(BYTES), HttpHeaderNames.RANGE, "bytes=0-9",
                HttpHeaderNames.IF_RANGE, "\"x\"");
    }

    @ParameterizedTest
    @MethodSource("everything")
    void nothingOutsideOfTheFolderIsFound(Transport transport, FileMode mode) throws Exception {
        serve(transport, mode, true);
        Files.createSymbolicLink(root.resolve("link"), outside.resolve("secret"));
        Files.createSymbolicLink(root.resolve("up"), outside);
        for (String path : new String[] {"/../secret", "/%2e%2e/secret", "/..%2fsecret", "/x/../../secret",
                "/../root/../secret", "//" + outside + "/secret", "/link", "/up/secret", "/up/", "/..", "/../",
                outside + "/secret", "/%00", "/a%20file.txt%00.html", "/a%20file.txt/x", "..%2fsecret"}) {
            assertThat(RawClient.exchange(server, "GET " + path + END)).as(path).startsWith("HTTP/1.1 404 ")
                    .doesNotContain("secret");
        }
        assertThat(RawClient.exchange(server, "GET /%zz" + END)).startsWith("HTTP/1.1 400 ");
        assertThat(RawClient.exchange(server, "DELETE /a%20file.txt" + END)).startsWith("HTTP/1.1 405 ");
        assertThat(file).exists();
    }

    @ParameterizedTest
    @MethodSource("everything")
    void folderIsItsIndex(Transport transport, FileMode mode) throws Exception {
        serve(transport, mode, true);
        Path folder = Files.createDirectory(root.resolve("a <b>"));
        Files.writeString(folder.resolve("\"x\" & y"), "");
        assertThat(RawClient.exchange(server, "GET /a%20%3Cb%3E" + END)).startsWith("HTTP/1.1 301 ")
                .contains("location: /a%20%3Cb%3E/\r\n");
        assertThat(RawClient.exchange(server, "GET /a%20%3Cb%3E/" + END)).startsWith("HTTP/1.1 200 ")
                .contains("<title>/a &lt;b&gt;/</title>")
                .contains("<a href=\"./%22x%22%20&amp;%20y\">&quot;x&quot; &amp; y</a>");
        Files.writeString(folder.resolve("index.html"), "here");
        assertThat(RawClient.exchange(server, "GET /a%20%3Cb%3E/" + END)).startsWith("HTTP/1.1 200 ")
                .contains("content-type: text/html").endsWith("here");
    }

    @ParameterizedTest
    @MethodSource("everything")
    void folderIsNotListedUnlessThatIsAskedFor(Transport transport, FileMode mode) throws Exception {
        serve(transport, mode, false);
        assertThat(RawClient.exchange(server, "GET /" + END)).startsWith("HTTP/1.1 404 ").doesNotContain("a file");
    }

    @ParameterizedTest
    @MethodSource("everything")
    void clientThatGoesAwayLeavesNoOpenFile(Transport transport, FileMode mode) throws Exception {
        serve(transport, mode, false);
        CountDownLatch begun = new CountDownLatch(1);
        Channel client = server.connect(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
                ctx.channel().config().setAutoRead(false);
                begun.countDown();
                super.channelRead(ctx, msg);
            }
        });
        Channel other = server.accepted();
        // More than TCP sockets hold, so that most of it is not sent yet when the client goes.
        client.writeAndFlush(RawClient.text("GET /a%20file.txt HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20)));
        assertThat(begun.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        if (mode == FileMode.REGION) {
            RunningServer.await(() -> openFiles() > 0);
        }
        TestTimeouts.result(client.close());
        TestTimeouts.result(other.closeFuture());
        // Bytes in flight keep their memory until the transport has it back.
        RunningServer.await(() -> openFiles() == 0);
        Files.delete(file);
    }

    private long openFiles() throws IOException {
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(descriptor -> {
                try {
                    return Files.readSymbolicLink(descriptor).equals(file.toRealPath());
                } catch (IOException e) {
                    // Closed meanwhile.
                    return false;
                }
            }).count();
        }
    }

    private void serve(Transport transport, FileMode mode, boolean listFolders) throws Exception {
        server = new RunningServer(transport, FileServer.initializer(null, new HttpLimits(0, 1000), root, listFolders,
                mode));
        connection = HttpConnection.open(server.clientTransport(), server.clientGroup(), null, RunningServer.HOST,
                server.port());
        server.accepted();
    }

    private HttpResponse get(HttpResponseStatus status, BodyCheck check, Object... headers) throws Exception {
        return send(HttpMethod.GET, "/a%20file.txt", status, check, headers);
    }

    private HttpResponse send(HttpMethod method, String path, HttpResponseStatus status, BodyCheck check,
                              Object... headers) throws Exception {
        FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, method, path);
        for (int i = 0; i < headers.length; i += 2) {
            request.headers().set((AsciiString) headers[i], headers[i + 1]);
        }
        Future<HttpResponse> response = TestTimeouts.result(connection.channel().eventLoop().submit(
                () -> connection.send(request, status, check)));
        return TestTimeouts.result(response);
    }
}
