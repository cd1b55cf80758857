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
package io.netty.example.rdma.websocket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.util.RawClient;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.TlsEngine;
import io.netty.example.rdma.util.TlsOptions;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.websocket.WebSocketServerInitializer.Limits;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.ContinuationWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class WebSocketServerTest {
    private static final int MAX_FRAME_BYTES = 1 << 20;
    private static final Limits LIMITS = new Limits(0, MAX_FRAME_BYTES);

    private RunningServer server;
    private WebSocketConnection connection;

    @AfterEach
    void stopServer() {
        server.close();
    }

    @ParameterizedTest
    @EachTransport
    void textComesBackAsText(Transport transport) throws Exception {
        connect(transport, LIMITS, false);
        for (String text : new String[] {"", "Hello", "\u00e4\u20ac\ud83d\ude00", "x".repeat(100_000)}) {
            assertThat(text(new TextWebSocketFrame(text))).isEqualTo(text);
        }
    }

    @ParameterizedTest
    @EachTransport
    void compressedTextComesBack(Transport transport) throws Exception {
        connect(transport, LIMITS, true);
        Channel other = server.accepted();
        for (String text : new String[] {"Hello", "x".repeat(100_000)}) {
            assertThat(text(new TextWebSocketFrame(text))).isEqualTo(text);
        }
        assertThat(other.pipeline().names()).anyMatch(name -> name.contains("PerMessageDeflateDecoder"));
    }

    @ParameterizedTest
    @EachTransport(tcp = true)
    void largeFramesComeBackInOrder(Transport transport) throws Exception {
        connect(transport, LIMITS, false);
        int[] sizes = {MAX_FRAME_BYTES, 1, 70_000, 0, 1 << 16, MAX_FRAME_BYTES - 1};
        List<Future<WebSocketFrame>> answers = TestTimeouts.result(connection.channel().eventLoop().submit(() -> {
            List<Future<WebSocketFrame>> all = new ArrayList<>();
            for (int size : sizes) {
                ByteBuf content = connection.channel().alloc().directBuffer(size);
                Pattern.write(content, size, size);
                all.add(connection.send(new BinaryWebSocketFrame(content)));
            }
            return all;
        }));
        for (int i = 0; i < sizes.length; i++) {
            WebSocketFrame frame = TestTimeouts.result(answers.get(i));
            assertThat(frame).isInstanceOf(BinaryWebSocketFrame.class);
            assertThat(frame.content().readableBytes()).isEqualTo(sizes[i]);
            assertThat(Pattern.matches(frame.content(), sizes[i])).isTrue();
            frame.release();
        }
    }

    @ParameterizedTest
    @EachTransport
    void fragmentsComeBackAsFragments(Transport transport) throws Exception {
        connect(transport, LIMITS, false);
        WebSocketFrame[] fragments = {
                new TextWebSocketFrame(false, 0, "one, "), new ContinuationWebSocketFrame(false, 0, "two, "),
                new ContinuationWebSocketFrame(true, 0, "three")};
        String[] texts = {"one, ", "two, ", "three"};
        for (int i = 0; i < fragments.length; i++) {
            Class<?> type = fragments[i].getClass();
            WebSocketFrame answer = exchange(fragments[i]);
            assertThat(answer).isInstanceOf(type);
            assertThat(answer.content().toString(StandardCharsets.UTF_8)).isEqualTo(texts[i]);
            assertThat(answer.isFinalFragment()).isEqualTo(i == 2);
            answer.release();
            // Control frames may come between fragments.
            WebSocketFrame pong = exchange(new PingWebSocketFrame(Unpooled.wrappedBuffer(new byte[] {(byte) i})));
            assertThat(pong).isInstanceOf(PongWebSocketFrame.class);
            assertThat(pong.content().getByte(0)).isEqualTo((byte) i);
            pong.release();
        }
    }

    @ParameterizedTest
    @EachTransport
    void closeIsAnsweredAndEndsTheConnection(Transport transport) throws Exception {
        connect(transport, LIMITS, false);
        assertClose(exchange(new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE)), 1000);
    }

    @ParameterizedTest
    @EachTransport
    void tooLargeFrameIsRefused(Transport transport) throws Exception {
        connect(transport, new Limits(0, 1000), false);
        assertClose(exchange(new BinaryWebSocketFrame(Unpooled.wrappedBuffer(new byte[1001]))), 1009);
    }

    @ParameterizedTest
    @EachTransport
    void textThatIsNoUtf8IsRefused(Transport transport) throws Exception {
        connect(transport, LIMITS, false);
        assertClose(exchange(new TextWebSocketFrame(Unpooled.wrappedBuffer(new byte[] {(byte) 0xff}))), 1007);
    }

    @ParameterizedTest
    @EachTransport
    void idleClientIsToldAndClosed(Transport transport) throws Exception {
        connect(transport, new Limits(RunningServer.SLOW_MACHINE ? 20_000 : 2000, 1000), false);
        // The answer to a pong that nobody asked for is none: what comes is the close.
        assertClose(exchange(new PongWebSocketFrame()), 1001);
    }

    @ParameterizedTest
    @EachTransport
    void clientThatDoesNotReadIsNotReadFrom(Transport transport) throws Exception {
        connect(transport, LIMITS, false);
        Channel other = server.accepted();
        connection.channel().config().setAutoRead(false);
        // More than TCP sockets hold on the way.
        int frames = 250;
        int size = 64 * 1024;
        List<Future<WebSocketFrame>> answers = TestTimeouts.result(connection.channel().eventLoop().submit(() -> {
            List<Future<WebSocketFrame>> all = new ArrayList<>();
            for (int i = 0; i < frames; i++) {
                ByteBuf content = connection.channel().alloc().directBuffer(size);
                Pattern.write(content, i, size);
                all.add(connection.send(new BinaryWebSocketFrame(content)));
            }
            return all;
        }));
        RunningServer.awaitFull(other);
        // One frame may go over the mark.
        assertThat(other.unsafe().outboundBuffer().totalPendingWriteBytes()).isLessThan(
                other.config().getWriteBufferHighWaterMark() + size + 1000L);
        connection.channel().config().setAutoRead(true);
        for (int i = 0; i < frames; i++) {
            WebSocketFrame frame = TestTimeouts.result(answers.get(i));
            assertThat(Pattern.matches(frame.content(), i)).isTrue();
            frame.release();
        }
    }

    @ParameterizedTest
    @EachTransport
    void whatIsNoWebSocketIsRefused(Transport transport) throws Exception {
        serve(transport, null, LIMITS);
        assertThat(RawClient.exchange(server, "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")).startsWith("HTTP/1.1 404 ");
        assertThat(RawClient.exchange(server, "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n")).startsWith("HTTP/1.1 400 ");
    }

    @ParameterizedTest
    @EachTransport
    void clientThatGoesAwayEndsTheConnection(Transport transport) throws Exception {
        connect(transport, LIMITS, false);
        Channel other = server.accepted();
        TestTimeouts.result(connection.channel().close());
        TestTimeouts.result(other.closeFuture());
        assertThatThrownBy(() -> exchange(new TextWebSocketFrame("Hello"))).isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @EnumSource
    void framesGoThroughTls(TlsEngine engine) throws Exception {
        X509Bundle certificate = TlsOptions.selfSigned(RunningServer.HOST);
        serve(Transport.RDMA, SslContextBuilder.forServer(certificate.getKeyPair().getPrivate(),
                certificate.getCertificate()).sslProvider(engine.provider()).build(), LIMITS);
        connection = WebSocketConnection.open(server.clientTransport(), server.clientGroup(),
                SslContextBuilder.forClient().sslProvider(engine.provider())
                        .trustManager(certificate.getCertificate()).build(),
                RunningServer.HOST, server.port(), false);
        assertThat(text(new TextWebSocketFrame("x".repeat(100_000)))).hasSize(100_000);
    }

    private void serve(Transport transport, SslContext ssl, Limits limits) throws Exception {
        server = new RunningServer(transport, new WebSocketServerInitializer(ssl, limits));
    }

    private void connect(Transport transport, Limits limits, boolean compression) throws Exception {
        serve(transport, null, limits);
        connection = WebSocketConnection.open(server.clientTransport(), server.clientGroup(), null,
                RunningServer.HOST, server.port(), compression);
    }

    private WebSocketFrame exchange(WebSocketFrame frame) throws Exception {
        return TestTimeouts.result(TestTimeouts.result(
                connection.channel().eventLoop().submit(() -> connection.send(frame))));
    }

    private String text(TextWebSocketFrame frame) throws Exception {
        WebSocketFrame answer = exchange(frame);
        try {
            return ((TextWebSocketFrame) answer).text();
        } finally {
            answer.release();
        }
    }

    private void assertClose(WebSocketFrame frame, int status) throws Exception {
        assertThat(frame).isInstanceOf(CloseWebSocketFrame.class);
        assertThat(((CloseWebSocketFrame) frame).statusCode()).isEqualTo(status);
        frame.release();
        TestTimeouts.result(connection.channel().closeFuture());
    }
}
