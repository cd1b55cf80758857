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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.http.BodyCheck;
import io.netty.example.rdma.http.HttpServerHandler;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.PatternInput;
import io.netty.example.rdma.util.Transport;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2PingFrame;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.stream.ChunkedInput;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(120)
class Http2Test {
    private static final int MIB = 1 << 20;
    /** Many times what is under way at once. */
    private static final int LARGE = (TestTimeouts.MULTIPLIER == 1 ? 16 : 8) * MIB;
    /** Half of the connection's window. A client that does not read takes that, whatever the transport. */
    private static final int HALF_A_WINDOW = Http2CodecUtil.DEFAULT_WINDOW_SIZE / 2;
    private static final int STREAMS = 1100;
    private static final BodyCheck ANYTHING = new BodyCheck() {
        @Override
        public void data(ByteBuf data) {
            // Words for people.
        }

        @Override
        public void end() {
            // A body of any length.
        }
    };

    static Stream<Arguments> starts() {
        return EachTransport.Source.with((Object[]) Http2Client.Start.values());
    }

    @ParameterizedTest
    @MethodSource("starts")
    void bodiesOfEverySizeComeAsTheyShould(Transport transport, Http2Client.Start start) throws Exception {
        try (Http2Pair pair = new Http2Pair(transport)) {
            Http2Client client = pair.connect(start);
            for (int bytes : new int[] {0, 1, 1000, 16_384, 65_536, MIB + 1, LARGE}) {
                assertThat(TestTimeouts.result(Http2Pair.get(client, bytes).answer()))
                        .isEqualTo(new Exchange.Answer(200, bytes));
                assertThat(TestTimeouts.result(Http2Pair.echo(client, bytes).answer()))
                        .isEqualTo(new Exchange.Answer(200, bytes));
            }
            TestTimeouts.sync(client.close());
        }
    }

    @Test
    void bodiesAreSentInPlace() throws Exception {
        try (Http2Pair pair = new Http2Pair(Transport.RDMA)) {
            Http2Client client = pair.connect();
            RdmaMetrics metrics = RdmaMetrics.total();
            long inPlace = metrics.bytesSentInPlace();
            long copied = metrics.bytesSentCopied();
            assertThat(TestTimeouts.result(Http2Pair.echo(client, LARGE).answer()))
                    .isEqualTo(new Exchange.Answer(200, LARGE));
            // More than one direction alone could: streams with Netty's allocator would have their own bytes copied.
            assertThat(metrics.bytesSentInPlace() - inPlace).isGreaterThan(LARGE * 6L / 5);
            assertThat(metrics.bytesSentCopied() - copied).isLessThan(LARGE * 4L / 5);
            TestTimeouts.sync(client.close());
        }
    }

    @ParameterizedTest
    @EachTransport
    void whatIsNotThereIsSaidSo(Transport transport) throws Exception {
        try (Http2Pair pair = new Http2Pair(transport)) {
            Http2Client client = pair.connect();
            assertThat(TestTimeouts.result(client.get("/nowhere", ANYTHING).answer()).status()).isEqualTo(404);
            Exchange notAllowed = client.post("/bytes/10", new PatternInput(100_000), ANYTHING);
            assertThat(TestTimeouts.result(notAllowed.answer()).status()).isEqualTo(405);
            assertThat(TestTimeouts.result(client.get("/echo", ANYTHING).answer()).status()).isEqualTo(405);
            TestTimeouts.sync(client.close());
        }
    }

    @ParameterizedTest
    @EachTransport
    void moreStreamsThanTheServerAllowsWaitForEachOther(Transport transport) throws Exception {
        try (Http2Pair pair = new Http2Pair(transport)) {
            Http2Client client = pair.connect();
            List<Exchange> all = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                all.add(Http2Pair.echo(client, 5000 + i));
            }
            for (int i = 0; i < all.size(); i++) {
                assertThat(TestTimeouts.result(all.get(i).answer())).isEqualTo(new Exchange.Answer(200, 5000 + i));
            }
            TestTimeouts.sync(client.close());
        }
    }

    @Test
    void answeredStreamTakesNoPlaceHoweverLateItsWritesAreDone() throws Exception {
        LateWrites late = new LateWrites();
        try (Http2Pair pair = new Http2Pair(Transport.RDMA, null, null, () -> late)) {
            Http2Client client = pair.connect();
            List<Exchange> all = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                all.add(Http2Pair.echo(client, 100 + i));
            }
            for (int i = 0; i < all.size(); i++) {
                assertThat(TestTimeouts.result(all.get(i).answer())).isEqualTo(new Exchange.Answer(200, 100 + i));
            }
            late.end();
            TestTimeouts.sync(client.close());
        }
    }

    @Test
    void brokenProtocolIsToldToTheClient() throws Exception {
        try (Http2Pair pair = new Http2Pair(Transport.RDMA)) {
            Http2Client client = pair.connect();
            Exchange exchange = Http2Pair.get(client, 100_000_000_000L);
            TestTimeouts.awaitTrue(() -> exchange.received() > 0);
            // Data of a stream that was never opened: RFC 7540, 4.1 and 5.1.
            client.channel().pipeline().firstContext().writeAndFlush(
                    client.channel().alloc().buffer().writeMedium(0).writeShort(0).writeInt(1001));
            assertThatThrownBy(() -> TestTimeouts.result(exchange.answer()))
                    .hasStackTraceContaining("PROTOCOL_ERROR").hasStackTraceContaining("Stream 1001");
        }
    }

    @ParameterizedTest
    @EachTransport
    void cancelledStreamIsGoneAtTheServerAndTheOthersGoOn(Transport transport) throws Exception {
        try (Http2Pair pair = new Http2Pair(transport)) {
            Http2Client client = pair.connect();
            Exchange other = Http2Pair.echo(client, LARGE);
            for (int i = 0; i < 20; i++) {
                Exchange cancelled = Http2Pair.get(client, 100_000_000_000L);
                TestTimeouts.awaitTrue(() -> cancelled.received() > 0);
                cancelled.cancel();
                assertThat(cancelled.answer().isCancelled()).isTrue();
            }
            assertThat(TestTimeouts.result(other.answer())).isEqualTo(new Exchange.Answer(200, LARGE));
            TestTimeouts.awaitTrue(() -> pair.open.get() == 0);
            TestTimeouts.sync(client.close());
        }
    }

    @ParameterizedTest
    @EachTransport
    void serverThatResetsAStreamIsSeenByItAlone(Transport transport) throws Exception {
        try (Http2Pair pair = new Http2Pair(transport, null, null, Reset::new)) {
            Http2Client client = pair.connect();
            Exchange exchange = Http2Pair.echo(client, LARGE);
            assertThatThrownBy(() -> TestTimeouts.result(exchange.answer())).hasMessageContaining("reset the stream");
            assertThat(client.channel().isActive()).isTrue();
            TestTimeouts.sync(client.close());
        }
    }

    @ParameterizedTest
    @EachTransport
    void slowReaderHoldsItsStreamBackAndNoOther(Transport transport) throws Exception {
        AtomicLong made = new AtomicLong();
        try (Http2Pair pair = new Http2Pair(transport, null, null, () -> new Counting(made))) {
            Http2Client client = pair.connect();
            SlowReader reader = new SlowReader();
            Http2StreamChannel slow = TestTimeouts.result(client.open(reader));
            slow.config().setAutoRead(false);
            slow.writeAndFlush(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().method("GET").scheme("http")
                    .authority("test").path(Counting.PATH), true)).sync();
            TestTimeouts.awaitTrue(() -> made.get() >= Http2ServerInitializer.WINDOW_BYTES);
            // The answers to these follow everything that the server has sent on the slow stream.
            for (int i = 0; i < 50; i++) {
                assertThat(TestTimeouts.result(Http2Pair.get(client, 1).answer()).status()).isEqualTo(200);
            }
            assertThat(made.get()).isLessThan(4 * MIB);
            slow.config().setAutoRead(true);
            assertThat(TestTimeouts.result(reader.end)).isEqualTo(Counting.LENGTH);
            TestTimeouts.sync(client.close());
        }
    }

    @ParameterizedTest
    @EachTransport
    void slowReaderOfItsOwnUploadIsNotReadFrom(Transport transport) throws Exception {
        try (Http2Pair pair = new Http2Pair(transport)) {
            Http2Client client = pair.connect();
            SlowReader reader = new SlowReader();
            Http2StreamChannel slow = TestTimeouts.result(client.open(reader));
            slow.config().setAutoRead(false);
            slow.write(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().method("POST").scheme("http")
                    .authority("test").path("/echo")));
            AtomicLong taken = new AtomicLong();
            int length = 16 * MIB;
            for (int sent = 0; sent < length; sent += MIB) {
                ByteBuf piece = slow.alloc().directBuffer(MIB).writeZero(MIB);
                slow.writeAndFlush(new DefaultHttp2DataFrame(piece, sent + MIB == length))
                        .addListener(written -> taken.addAndGet(MIB));
            }
            TestTimeouts.awaitTrue(() -> taken.get() >= Http2ServerInitializer.WINDOW_BYTES);
            for (int i = 0; i < 50; i++) {
                assertThat(TestTimeouts.result(Http2Pair.get(client, 1).answer()).status()).isEqualTo(200);
            }
            // A window each way, and what is on its way between them.
            assertThat(taken.get()).isLessThan(8 * MIB);
            slow.config().setAutoRead(true);
            assertThat(TestTimeouts.result(reader.end)).isEqualTo(length);
            TestTimeouts.sync(client.close());
        }
    }

    @ParameterizedTest
    @EachTransport
    void shutdownLetsStreamsEndAndTakesNoMore(Transport transport) throws Exception {
        try (Http2Pair pair = new Http2Pair(transport)) {
            Http2Client client = pair.connect();
            SlowReader reader = new SlowReader();
            Http2StreamChannel open = TestTimeouts.result(client.open(reader));
            open.writeAndFlush(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().method("POST").scheme("http")
                    .authority("test").path("/echo"))).sync();
            TestTimeouts.awaitTrue(() -> pair.open.get() == 1);

            TestTimeouts.sync(pair.server.close());
            Future<?> shutdown = pair.connections.shutdown();
            TestTimeouts.awaitTrue(client::isGoingAway);
            assertThatThrownBy(() -> TestTimeouts.result(Http2Pair.get(client, 1).answer()))
                    .isInstanceOf(ExecutionException.class);
            assertThat(shutdown.isDone()).isFalse();
            open.writeAndFlush(new DefaultHttp2DataFrame(open.alloc().directBuffer(MIB).writeZero(MIB), true));
            assertThat(TestTimeouts.result(reader.end)).isEqualTo(MIB);
            TestTimeouts.result(shutdown);
            TestTimeouts.sync(client.channel().closeFuture());
        }
    }

    @ParameterizedTest
    @EachTransport(tcp = true)
    void clientThatStillSendsWhenTheServerClosesGetsTheWholeAnswer(Transport transport) throws Exception {
        AtomicLong requests = new AtomicLong();
        try (Http2Pair pair = new Http2Pair(transport, null, null, () -> {
            requests.incrementAndGet();
            return new HttpServerHandler(Http2Pair.LIMITS);
        })) {
            Http2Client client = pair.connect();
            if (transport != Transport.RDMA) {
                // Bytes that the client does not read yet have to wait in the server's kernel. RDMA has no such place.
                client.channel().config().setOption(ChannelOption.SO_RCVBUF, 4096);
            }
            client.channel().config().setAutoRead(false);
            Exchange exchange = Http2Pair.get(client, HALF_A_WINDOW);
            TestTimeouts.awaitTrue(() -> requests.get() == 1 && pair.open.get() == 0);
            TestTimeouts.sync(pair.server.close());
            Future<?> shutdown = pair.connections.shutdown();
            for (int i = 0; i < 50; i++) {
                // One of these comes after the server has closed, which nobody here can see.
                TestTimeouts.result(client.channel().eventLoop().schedule(
                        () -> client.channel().writeAndFlush(new DefaultHttp2PingFrame(0)), 10, TimeUnit.MILLISECONDS));
            }
            client.channel().config().setAutoRead(true);
            assertThat(TestTimeouts.result(exchange.answer()))
                    .isEqualTo(new Exchange.Answer(200, HALF_A_WINDOW));
            TestTimeouts.result(shutdown);
        }
    }

    @Test
    void clientsOfRdmaAndTcpAreServedAtTheSamePortAtOnce() throws Exception {
        try (Http2Pair pair = new Http2Pair(Transport.RDMA)) {
            List<Http2Client> clients = new ArrayList<>();
            List<Exchange> all = new ArrayList<>();
            for (Transport transport : new Transport[] {Transport.RDMA, Transport.EPOLL, Transport.RDMA}) {
                Http2Client client = pair.connect(transport);
                assertThat(client.channel()).isInstanceOf(transport.channelType());
                clients.add(client);
            }
            for (int i = 0; i < 4; i++) {
                clients.forEach(client -> all.add(Http2Pair.echo(client, MIB)));
            }
            for (Exchange exchange : all) {
                assertThat(TestTimeouts.result(exchange.answer())).isEqualTo(new Exchange.Answer(200, MIB));
            }
            for (Http2Client client : clients) {
                TestTimeouts.sync(client.close());
            }
        }
    }

    /** Behind the multiplexer it would find a connection idle whose streams are busy. */
    @ParameterizedTest
    @EnumSource
    void idleCheckSeesAllThatIsRead(Http2Client.Start start) throws Exception {
        CompletableFuture<List<Class<?>>> handlers = new CompletableFuture<>();
        try (Http2Pair pair = new Http2Pair(Transport.RDMA, null, null, () -> new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                List<Class<?>> ofConnection = new ArrayList<>();
                stream.parent().pipeline().forEach(entry -> ofConnection.add(entry.getValue().getClass()));
                handlers.complete(ofConnection);
                stream.pipeline().addLast(new HttpServerHandler(Http2Pair.LIMITS));
            }
        })) {
            Http2Client client = pair.connect(start);
            assertThat(TestTimeouts.result(Http2Pair.get(client, 1).answer()).status()).isEqualTo(200);
            assertThat(TestTimeouts.result(handlers))
                    .containsSubsequence(IdleStateHandler.class, Http2FrameCodec.class, Http2MultiplexHandler.class);
            TestTimeouts.sync(client.close());
        }
    }

    @ParameterizedTest
    @EachTransport
    void nobodyListeningIsAnErrorAndNotAHang(Transport transport) throws Exception {
        try (Http2Pair pair = new Http2Pair(transport)) {
            TestTimeouts.sync(pair.server.close());
            assertThatThrownBy(pair::connect).hasCauseInstanceOf(IOException.class);
        }
    }

    /** Counts what has come, until the end of the stream. */
    private static final class SlowReader extends ChannelInboundHandlerAdapter {
        final CompletableFuture<Long> end = new CompletableFuture<>();
        private long received;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2DataFrame data) {
                received += data.content().readableBytes();
                if (data.isEndStream()) {
                    end.complete(received);
                }
            }
            ReferenceCountUtil.release(message);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            end.completeExceptionally(new IOException("ended after " + received + " bytes"));
        }
    }

    /** Counts the bytes of an answer as they are made. */
    private static final class Counting extends ChannelInboundHandlerAdapter {
        static final String PATH = "/counted";
        static final long LENGTH = LARGE;
        private final AtomicLong made;

        Counting(AtomicLong made) {
            this.made = made;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            ctx.pipeline().addLast(new HttpServerHandler(Http2Pair.LIMITS));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (!(message instanceof HttpRequest request) || !request.uri().equals(PATH)) {
                ctx.fireChannelRead(message);
                return;
            }
            ReferenceCountUtil.release(message);
            ctx.write(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
            PatternInput input = new PatternInput(LENGTH);
            ctx.writeAndFlush(new HttpChunkedInput(new ChunkedInput<>() {
                @Override
                public ByteBuf readChunk(ByteBufAllocator allocator) {
                    ByteBuf chunk = input.readChunk(allocator);
                    made.addAndGet(chunk.readableBytes());
                    return chunk;
                }

                @Override
                @Deprecated
                public ByteBuf readChunk(ChannelHandlerContext ctx) {
                    return readChunk(ctx.alloc());
                }

                @Override
                public boolean isEndOfInput() {
                    return input.isEndOfInput();
                }

                @Override
                public void close() {
                    input.close();
                }

                @Override
                public long length() {
                    return input.length();
                }

                @Override
                public long progress() {
                    return input.progress();
                }
            }));
        }
    }

    /** Answers the requests of one connection, whose writes are not done before {@link #end}. */
    @Sharable
    private static final class LateWrites extends ChannelInboundHandlerAdapter {
        private final Queue<ChannelPromise> late = new ConcurrentLinkedQueue<>();
        private volatile Channel connection;
        private volatile boolean ended;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            if (connection == null) {
                connection = ctx.channel().parent();
                connection.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void write(ChannelHandlerContext first, Object message, ChannelPromise promise) {
                        first.write(message).addListener(done -> {
                            late.add(promise);
                            setLate();
                        });
                    }
                });
            }
            ctx.pipeline().addAfter(ctx.name(), null, new HttpServerHandler(Http2Pair.LIMITS));
        }

        void end() {
            ended = true;
            connection.eventLoop().execute(this::setLate);
        }

        private void setLate() {
            for (ChannelPromise promise; ended && (promise = late.poll()) != null;) {
                promise.trySuccess();
            }
        }
    }

    /** Resets the stream when the first piece of the body comes. */
    private static final class Reset extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof HttpContent) {
                ctx.close();
            }
            ReferenceCountUtil.release(message);
        }
    }
}
