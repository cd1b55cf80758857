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
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;

import java.util.Date;
import java.util.concurrent.TimeUnit;

/**
 * Makes responses with the headers that all of them have.
 */
public final class Responses {
    private static final AsciiString SERVER = AsciiString.cached("netty");
    private static volatile Now now = new Now(0, AsciiString.EMPTY_STRING);

    private Responses() {
    }

    /** Returns the head of a response. The caller sets the length of the body. */
    public static HttpResponse head(HttpResponseStatus status) {
        HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, status);
        response.headers().set(HttpHeaderNames.SERVER, SERVER).set(HttpHeaderNames.DATE, date());
        return response;
    }

    /** Returns a response with its whole body, which it takes over. */
    public static FullHttpResponse full(HttpResponseStatus status, CharSequence contentType, ByteBuf body) {
        FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
        response.headers().set(HttpHeaderNames.SERVER, SERVER).set(HttpHeaderNames.DATE, date())
                .set(HttpHeaderNames.CONTENT_LENGTH, AsciiString.of(Integer.toString(body.readableBytes())));
        if (contentType != null) {
            response.headers().set(HttpHeaderNames.CONTENT_TYPE, contentType);
        }
        return response;
    }

    /** Returns a response whose body is its status as text. */
    public static FullHttpResponse error(ChannelHandlerContext ctx, HttpResponseStatus status) {
        return full(status, HttpHeaderValues.TEXT_PLAIN, ByteBufUtil.writeUtf8(ctx.alloc(), status + "\n"));
    }

    /** Returns a response without a body. */
    public static FullHttpResponse empty(HttpResponseStatus status) {
        return full(status, null, Unpooled.EMPTY_BUFFER);
    }

    /** Value of the header Date, which RFC 9110, section 6.6.1, asks for in every response. Formatted once a second. */
    private static AsciiString date() {
        long millis = System.currentTimeMillis();
        Now last = now;
        long second = TimeUnit.MILLISECONDS.toSeconds(millis);
        if (last.second != second) {
            last = new Now(second, AsciiString.of(DateFormatter.format(new Date(millis))));
            now = last;
        }
        return last.text;
    }

    private record Now(long second, AsciiString text) {
    }
}
