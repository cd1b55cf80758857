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

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufOutputStream;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.util.PatternInput;
import io.netty.example.rdma.util.Sha256;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.CharsetUtil;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.function.Supplier;

/**
 * The resources of the server.
 *
 * <table>
 * <caption>Resources</caption>
 * <tr><td>{@code GET /plaintext}</td><td>a short text</td></tr>
 * <tr><td>{@code GET /json}</td><td>an object with the same text</td></tr>
 * <tr><td>{@code GET /bytes/N}</td><td>N bytes of {@link Pattern}</td></tr>
 * <tr><td>{@code POST /upload}</td><td>length and SHA-256 of what was sent, as JSON</td></tr>
 * <tr><td>{@code POST /echo}</td><td>what was sent, while it is being sent</td></tr>
 * </table>
 */
public final class HttpServerHandler extends HttpRequestHandler {
    /** Answer of {@code /plaintext}. */
    public static final String HELLO = "Hello, World!";

    private static final ByteBuf PLAINTEXT = Unpooled.unreleasableBuffer(
            Unpooled.directBuffer().writeBytes(HELLO.getBytes(CharsetUtil.US_ASCII))).asReadOnly();
    private static final JsonFactory JSON = new JsonFactory();
    private static final String BYTES = "/bytes/";

    public HttpServerHandler(HttpLimits limits) {
        super(limits);
    }

    @Override
    protected RequestBody begin(ChannelHandlerContext ctx, HttpRequest request) {
        String path = new QueryStringDecoder(request.uri()).rawPath();
        if (path.startsWith(BYTES)) {
            return get(ctx, request, () -> respondBytes(ctx, request, path.substring(BYTES.length())));
        }
        return switch (path) {
            case "/plaintext" -> get(ctx, request, () -> write(ctx, Responses.full(HttpResponseStatus.OK,
                        HttpHeaderValues.TEXT_PLAIN, PLAINTEXT.duplicate())));
            case "/json" -> get(ctx, request, () -> respondJson(ctx, json -> json.writeStringField("message", HELLO)));
            case "/upload" -> post(ctx, request, () -> new Upload(ctx));
            case "/echo" -> post(ctx, request, () -> new Echo(ctx, request));
            default -> () -> write(ctx, Responses.error(ctx, HttpResponseStatus.NOT_FOUND));
        };
    }

    private RequestBody get(ChannelHandlerContext ctx, HttpRequest request, RequestBody body) {
        // Netty's encoder leaves out the body of an answer to HEAD.
        return request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD)
                ? body : notAllowed(ctx, "GET, HEAD");
    }

    private RequestBody post(ChannelHandlerContext ctx, HttpRequest request, Supplier<RequestBody> body) {
        return request.method().equals(HttpMethod.POST) ? body.get() : notAllowed(ctx, "POST");
    }

    private RequestBody notAllowed(ChannelHandlerContext ctx, String allowed) {
        FullHttpResponse response = Responses.error(ctx, HttpResponseStatus.METHOD_NOT_ALLOWED);
        response.headers().set(HttpHeaderNames.ALLOW, allowed);
        return () -> write(ctx, response);
    }

    private void respondBytes(ChannelHandlerContext ctx, HttpRequest request, String number) {
        long length = parseLength(number);
        if (length < 0) {
            write(ctx, Responses.error(ctx, HttpResponseStatus.NOT_FOUND));
            return;
        }
        HttpResponse head = Responses.head(HttpResponseStatus.OK);
        head.headers().set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_OCTET_STREAM);
        HttpUtil.setContentLength(head, length);
        write(ctx, head);
        if (request.method().equals(HttpMethod.HEAD)) {
            write(ctx, LastHttpContent.EMPTY_LAST_CONTENT);
        } else {
            awaitResponse(ctx, write(ctx, new HttpChunkedInput(new PatternInput(length))));
        }
    }

    /** Parses a length. Returns -1 if the text is no length. */
    private static long parseLength(String number) {
        try {
            return Long.parseUnsignedLong(number) < 0 ? -1 : Long.parseLong(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private void respondJson(ChannelHandlerContext ctx, JsonFields fields) {
        ByteBuf body = ctx.alloc().directBuffer();
        try (JsonGenerator json = JSON.createGenerator((OutputStream) new ByteBufOutputStream(body))) {
            json.writeStartObject();
            fields.write(json);
            json.writeEndObject();
        } catch (IOException e) {
            body.release();
            throw new UncheckedIOException("a buffer does not fail", e);
        }
        write(ctx, Responses.full(HttpResponseStatus.OK, HttpHeaderValues.APPLICATION_JSON, body));
    }

    @FunctionalInterface
    private interface JsonFields {
        void write(JsonGenerator json) throws IOException;
    }

    private final class Upload implements RequestBody {
        private final ChannelHandlerContext ctx;
        private final MessageDigest digest = Sha256.newDigest();
        private long bytes;

        Upload(ChannelHandlerContext ctx) {
            this.ctx = ctx;
        }

        @Override
        public void data(ByteBuf data) {
            bytes += data.readableBytes();
            digest.update(data.nioBuffer());
        }

        @Override
        public void end() {
            String sha256 = HexFormat.of().formatHex(digest.digest());
            respondJson(ctx, json -> {
                json.writeNumberField("bytes", bytes);
                json.writeStringField("sha256", sha256);
            });
        }
    }

    private final class Echo implements RequestBody {
        private final ChannelHandlerContext ctx;

        Echo(ChannelHandlerContext ctx, HttpRequest request) {
            this.ctx = ctx;
            HttpResponse head = Responses.head(HttpResponseStatus.OK);
            head.headers().set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_OCTET_STREAM);
            if (HttpUtil.isContentLengthSet(request)) {
                HttpUtil.setContentLength(head, HttpUtil.getContentLength(request));
            } else {
                HttpUtil.setTransferEncodingChunked(head, true);
            }
            write(ctx, head);
        }

        @Override
        public void data(ByteBuf data) {
            write(ctx, new DefaultHttpContent(data.retain()));
        }

        @Override
        public void end() {
            write(ctx, LastHttpContent.EMPTY_LAST_CONTENT);
        }
    }
}
