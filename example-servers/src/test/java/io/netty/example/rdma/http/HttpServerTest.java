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
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.socket.DuplexChannel;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.PatternInput;
import io.netty.example.rdma.util.RawClient;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.Transport;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.CharsetUtil;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("platforms")
class HttpServerTest {
    private static final HttpLimits LIMITS = new HttpLimits(0, 1L << 30);
    private static final long LARGE = RunningServer.SLOW_MACHINE ? 3_000_017 : 20_000_003;
    /** More bytes than TCP sockets and receive buffers hold, which is some MB. */
    private static final long LARGER_THAN_BUFFERS = 40_000_003;
    private static final byte[] HELLO = HttpServerHandler.HELLO.getBytes(CharsetUtil.US_ASCII);

    private RunningServer server;

    @AfterEach
    void stopServer() throws InterruptedException {
        server.close();
    }

    @ParameterizedTest
    @EachTransport
    void connectionIsKeptAlive(Transport transport) throws Exception {
        HttpConnection connection = serve(transport, LIMITS);
        assertThat(server.accepted() instanceof RdmaSocketChannel).isEqualTo(transport == Transport.RDMA);
        for (int i = 0; i < 100; i++) {
            HttpResponse plaintext = get(connection, () -> connection.get("/plaintext", BodyCheck.equalTo(HELLO)));
            assertThat(plaintext.headers().contains(HttpHeaderNames.DATE)).isTrue();
            HttpResponse json = get(connection, () -> connection.get("/json",
                    BodyCheck.equalTo("{\"message\":\"Hello, World!\"}".getBytes(CharsetUtil.US_ASCII))));
            assertThat(json.headers().get(HttpHeaderNames.CONTENT_TYPE)).isEqualTo("application/json");
        }
        assertThat(connection.channel().isActive()).isTrue();
    }

    @ParameterizedTest
    @EachTransport(tcp = true)
    void pipelinedRequestsAreAnsweredInOrder(Transport transport) throws Exception {
        HttpConnection connection = serve(transport, LIMITS);
        List<Future<HttpResponse>> answers = TestTimeouts.result(connection.channel().eventLoop().submit(() -> {
            List<Future<HttpResponse>> all = new ArrayList<>();
            // Two each: from Netty 4.2.18 on, its HttpServerCodec takes no more than 128 that are not answered.
            for (int i = 0; i < 60; i++) {
                // Long answers between short ones: these may not overtake.
                int length = i % 3 == 0 ? 100_000 + i : i;
                all.add(connection.get("/bytes/" + length, BodyCheck.pattern(length)));
                all.add(connection.get("/plaintext", BodyCheck.equalTo(HELLO)));
            }
            return all;
        }));
        for (Future<HttpResponse> answer : answers) {
            TestTimeouts.result(answer);
        }
    }

    @ParameterizedTest
    @EachTransport
    void largeBodyIsSent(Transport transport) throws Exception {
        HttpConnection connection = serve(transport, LIMITS);
        get(connection, () -> connection.get("/bytes/" + LARGE, BodyCheck.pattern(LARGE)));
    }

    @ParameterizedTest
    @EachTransport
    void largeChunkedBodyIsReceived(Transport transport) throws Exception {
        HttpConnection connection = serve(transport, LIMITS);
        for (boolean expectContinue : new boolean[] {true, false}) {
            get(connection, () -> connection.upload("/upload", new PatternInput(LARGE), expectContinue,
                    HttpResponseStatus.OK, BodyCheck.equalTo(BodyCheck.receipt(LARGE))));
        }
    }

    @ParameterizedTest
    @EachTransport
    void largeBodyIsEchoedWhileItComes(Transport transport) throws Exception {
        HttpConnection connection = serve(transport, LIMITS);
        get(connection, () -> connection.upload("/echo", new PatternInput(LARGE), false, HttpResponseStatus.OK,
                BodyCheck.pattern(LARGE)));
    }

    @ParameterizedTest
    @EachTransport
    void tooLargeBodyIsRefusedBeforeItIsSent(Transport transport) throws Exception {
        serve(transport, new HttpLimits(0, 1000));
        assertThat(RawClient.exchange(server, "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n"
                + "Expect: 100-continue\r\n\r\n")).startsWith("HTTP/1.1 413 ").contains("connection: close");
    }

    @ParameterizedTest
    @EachTransport
    void tooLargeBodyIsRefusedAfterItsHead(Transport transport) throws Exception {
        serve(transport, new HttpLimits(0, 1000));
        assertThat(RawClient.exchange(server, "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"))
                .startsWith("HTTP/1.1 413 ").contains("connection: close");
    }

    /** On NIO as well: a client of epoll's may read what came before the reset. */
    @ParameterizedTest
    @EnumSource(names = {"RDMA", "EPOLL", "NIO"})
    void refusalReachesAClientThatSendsOn(Transport transport) throws Exception {
        serve(transport, new HttpLimits(0, 1000));
        server.accepted();
        RawClient client = new RawClient(server);
        DuplexChannel other = (DuplexChannel) server.accepted();
        client.channel().config().setAutoRead(false);
        client.send("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n");
        RunningServer.await(() -> other.isOutputShutdown() || !other.isActive());
        // A socket that is closed answers the first one by a reset: the next one fails, and nothing is read any more.
        client.channel().eventLoop().submit(() -> {
            for (int i = 0; i < 10; i++) {
                client.send("x".repeat(10_000));
            }
        }).get();
        client.channel().config().setAutoRead(true);
        assertThat(client.everything()).startsWith("HTTP/1.1 413 ").endsWith("413 Request Entity Too Large\n");
    }

    @ParameterizedTest
    @EachTransport
    void chunkedBodyIsRefusedWhenItBecomesTooLarge(Transport transport) throws Exception {
        serve(transport, new HttpLimits(0, 1000));
        assertThat(RawClient.exchange(server, "POST /upload HTTP/1.1\r\nHost: a\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n3E9\r\n" + "x".repeat(1001) + "\r\n"))
                .startsWith("HTTP/1.1 413 ").contains("connection: close");
    }

    @ParameterizedTest
    @EachTransport
    void echoThatBecomesTooLargeEndsInTheMiddle(Transport transport) throws Exception {
        serve(transport, new HttpLimits(0, 1000));
        assertThat(RawClient.exchange(server, "POST /echo HTTP/1.1\r\nHost: a\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n1F4\r\n" + "x".repeat(500) + "\r\n3E9\r\n" + "x".repeat(1001)
                + "\r\n")).doesNotContain("413").doesNotEndWith("0\r\n\r\n");
    }

    @ParameterizedTest
    @EachTransport
    void whatIsWrongIsSaidByTheStatus(Transport transport) throws Exception {
        serve(transport, LIMITS);
        String end = " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        assertThat(RawClient.exchange(server, "GET /nothing" + end)).startsWith("HTTP/1.1 404 ");
        assertThat(RawClient.exchange(server, "GET /bytes/-1" + end)).startsWith("HTTP/1.1 404 ");
        assertThat(RawClient.exchange(server, "POST /plaintext" + end)).startsWith("HTTP/1.1 405 ")
                .contains("allow: GET, HEAD\r\n");
        assertThat(RawClient.exchange(server, "GET /upload" + end)).startsWith("HTTP/1.1 405 ")
                .contains("allow: POST\r\n");
        assertThat(RawClient.exchange(server, "GET /plaintext HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"))
                .startsWith("HTTP/1.1 400 ").contains("connection: close");
        assertThat(RawClient.exchange(server, "GET /" + "x".repeat(5000) + end)).startsWith("HTTP/1.1 414 ");
        assertThat(RawClient.exchange(server, "GET / HTTP/1.1\r\nX: " + "x".repeat(10_000) + "\r\n\r\n"))
                .startsWith("HTTP/1.1 431 ");
        assertThat(RawClient.exchange(server, "GET /plaintext HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ").contains("Hello, World!HTTP/1.1 400 ");
    }

    @ParameterizedTest
    @EachTransport
    void headHasTheHeadersOfGetAndNoBody(Transport transport) throws Exception {
        HttpConnection connection = serve(transport, LIMITS);
        for (String path : new String[] {"/plaintext", "/bytes/13"}) {
            HttpResponse response = get(connection, () -> connection.send(new DefaultFullHttpRequest(
                    HttpVersion.HTTP_1_1, HttpMethod.HEAD, path), HttpResponseStatus.OK, BodyCheck.pattern(0)));
            assertThat(response.headers().getInt(HttpHeaderNames.CONTENT_LENGTH)).isEqualTo(13);
        }
    }

    @ParameterizedTest
    @EachTransport
    void clientOfHttp10IsClosedAfterItsAnswer(Transport transport) throws Exception {
        serve(transport, LIMITS);
        assertThat(RawClient.exchange(server, "GET /plaintext HTTP/1.0\r\n\r\n")).endsWith("Hello, World!");
    }

    @ParameterizedTest
    @EachTransport
    void idleConnectionIsClosed(Transport transport) throws Exception {
        HttpConnection connection = serve(transport, new HttpLimits(50, 1000));
        TestTimeouts.result(connection.channel().closeFuture());
    }

    @ParameterizedTest
    @EachTransport
    void clientThatGoesAwayInTheMiddleOfADownloadEndsIt(Transport transport) throws Exception {
        serve(transport, LIMITS);
        server.accepted();
        CountDownLatch begun = new CountDownLatch(1);
        Channel client = server.connect(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
                super.channelRead(ctx, msg);
                begun.countDown();
            }
        });
        Channel other = server.accepted();
        client.writeAndFlush(RawClient.text("GET /bytes/1000000000000 HTTP/1.1\r\nHost: a\r\n\r\n"));
        assertThat(begun.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        TestTimeouts.result(client.close());
        TestTimeouts.result(other.closeFuture());
    }

    @ParameterizedTest
    @EachTransport
    void slowReaderHoldsBackTheServerAndGetsEverything(Transport transport) throws Exception {
        HttpConnection connection = serve(transport, LIMITS);
        Channel other = server.accepted();
        connection.channel().config().setAutoRead(false);
        Future<HttpResponse> answer = TestTimeouts.result(connection.channel().eventLoop().submit(
                () -> connection.get("/bytes/" + LARGER_THAN_BUFFERS, BodyCheck.pattern(LARGER_THAN_BUFFERS))));
        RunningServer.awaitFull(other);
        // One chunk may go over the mark.
        assertThat(other.unsafe().outboundBuffer().totalPendingWriteBytes()).isLessThan(
                other.config().getWriteBufferHighWaterMark() + 100_000L);
        connection.channel().config().setAutoRead(true);
        TestTimeouts.result(answer);
    }

    @ParameterizedTest
    @EachTransport(tcp = true)
    void clientThatAsksAndDoesNotReadIsNotReadFrom(Transport transport) throws Exception {
        serve(transport, LIMITS);
        server.accepted();
        RawClient client = new RawClient(server);
        Channel other = server.accepted();
        client.channel().config().setAutoRead(false);
        String requests = ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n" + "x".repeat(10_000))
                .repeat(100);
        // Many times what all buffers on the way can hold.
        for (int i = 0; i < 30; i++) {
            client.send(requests);
        }
        RunningServer.awaitFull(other);
        assertThat(other.unsafe().outboundBuffer().totalPendingWriteBytes()).isLessThan(
                other.config().getWriteBufferHighWaterMark() + 100_000L);
        client.channel().config().setAutoRead(true);
        client.send("GET /plaintext HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assertThat(client.everything()).endsWith("Hello, World!");
    }

    @ParameterizedTest
    @EachTransport
    void answerThatEndsEarlyIsAnErrorForTheClient(Transport transport) throws Exception {
        HttpConnection connection = serve(transport, LIMITS);
        Channel other = server.accepted();
        CountDownLatch begun = new CountDownLatch(1);
        Future<HttpResponse> answer = TestTimeouts.result(connection.channel().eventLoop().submit(() -> connection.get(
                "/bytes/1000000000000", new BegunCheck(begun))));
        assertThat(begun.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        other.close();
        assertThatThrownBy(() -> TestTimeouts.result(answer)).isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(IOException.class);
    }

    private HttpConnection serve(Transport transport, HttpLimits limits) throws Exception {
        server = new RunningServer(transport, new HttpServerInitializer(null, limits,
                () -> new HttpServerHandler(limits)));
        return HttpConnection.open(server.clientTransport(), server.clientGroup(), null, RunningServer.HOST,
                server.port());
    }

    private static HttpResponse get(HttpConnection connection, Callable<Future<HttpResponse>> request)
            throws Exception {
        return TestTimeouts.result(TestTimeouts.result(connection.channel().eventLoop().submit(request)));
    }

    /** Tells when the first bytes come. */
    private record BegunCheck(CountDownLatch begun) implements BodyCheck {
        @Override
        public void data(ByteBuf data) {
            begun.countDown();
        }

        @Override
        public void end() {
            // Anything is fine.
        }
    }
}
