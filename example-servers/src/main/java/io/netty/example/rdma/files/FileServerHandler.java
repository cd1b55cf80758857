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

import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.DefaultFileRegion;
import io.netty.example.rdma.files.FileServer.FileMode;
import io.netty.example.rdma.files.MappedFiles.MappedInput;
import io.netty.example.rdma.http.HttpLimits;
import io.netty.example.rdma.http.HttpRequestHandler;
import io.netty.example.rdma.http.Responses;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.stream.ChunkedNioFile;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLConnection;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;

/**
 * Answers with files of a folder, or with ranges of them.
 */
final class FileServerHandler extends HttpRequestHandler {
    private static final String ALLOWED = "GET, HEAD";
    private static final String INDEX = "index.html";
    private static final String HTML = "text/html; charset=utf-8";
    private static final int CHUNK_BYTES = 64 * 1024;

    private final Folder folder;
    private final boolean listFolders;
    private final MappedFiles mappedFiles;

    /**
     * @param listFolders whether a folder without {@code index.html} is answered with a list of its files
     * @param mappedFiles {@code null} if files are not mapped but sent as {@link FileMode#REGION}
     */
    FileServerHandler(HttpLimits limits, Folder folder, boolean listFolders, MappedFiles mappedFiles) {
        super(limits);
        this.folder = folder;
        this.listFolders = listFolders;
        this.mappedFiles = mappedFiles;
    }

    @Override
    protected RequestBody begin(ChannelHandlerContext ctx, HttpRequest request) {
        return () -> {
            if (request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD)) {
                try {
                    respond(ctx, request);
                } catch (NoSuchFileException e) {
                    write(ctx, Responses.error(ctx, HttpResponseStatus.NOT_FOUND));
                } catch (AccessDeniedException e) {
                    write(ctx, Responses.error(ctx, HttpResponseStatus.FORBIDDEN));
                } catch (IOException e) {
                    fail(ctx, e);
                }
            } else {
                FullHttpResponse response = Responses.error(ctx, HttpResponseStatus.METHOD_NOT_ALLOWED);
                response.headers().set(HttpHeaderNames.ALLOW, ALLOWED);
                write(ctx, response);
            }
        };
    }

    private void respond(ChannelHandlerContext ctx, HttpRequest request) throws IOException {
        String asked;
        try {
            asked = new QueryStringDecoder(request.uri()).path();
        } catch (IllegalArgumentException e) {
            // The path has an invalid escape.
            write(ctx, Responses.error(ctx, HttpResponseStatus.BAD_REQUEST));
            return;
        }
        Path path = folder.find(asked);
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        if (attributes.isDirectory()) {
            respondFolder(ctx, request, asked, path);
        } else {
            respondFile(ctx, request, path, attributes);
        }
    }

    private void respondFolder(ChannelHandlerContext ctx, HttpRequest request, String asked, Path path)
            throws IOException {
        String canonical = folder.pathOf(path);
        if (!asked.endsWith("/")) {
            // The redirect lets relative paths in the folder's files work. It has the canonical path, not the client's
            // text: a path that begins with two slashes would lead to another host.
            FullHttpResponse redirect = Responses.empty(HttpResponseStatus.MOVED_PERMANENTLY);
            redirect.headers().set(HttpHeaderNames.LOCATION, Listing.encode(canonical));
            write(ctx, redirect);
            return;
        }
        Path index = path.resolve(INDEX);
        if (Files.isRegularFile(index)) {
            respondFile(ctx, request, folder.find(canonical + INDEX),
                    Files.readAttributes(index, BasicFileAttributes.class));
        } else if (listFolders) {
            write(ctx, Responses.full(HttpResponseStatus.OK, HTML,
                    ByteBufUtil.writeUtf8(ctx.alloc(), Listing.of(path, canonical))));
        } else {
            throw new NoSuchFileException(canonical + INDEX);
        }
    }

    private void respondFile(ChannelHandlerContext ctx, HttpRequest request, Path path,
                             BasicFileAttributes attributes) throws IOException {
        if (!attributes.isRegularFile()) {
            // An open of a pipe would wait for its writer.
            throw new AccessDeniedException(path.toString());
        }
        ServedFile file = ServedFile.of(path, attributes);
        HttpResponseStatus instead = file.condition(request.headers());
        if (instead != null) {
            HttpResponse head = describe(Responses.head(instead), file);
            // The length of a 304 is that of the omitted body.
            HttpUtil.setContentLength(head, instead.equals(HttpResponseStatus.NOT_MODIFIED) ? file.size() : 0);
            write(ctx, head);
            write(ctx, LastHttpContent.EMPTY_LAST_CONTENT);
            return;
        }
        // RFC 9110, section 14.2, defines ranges for GET alone.
        ByteRange range = request.method().equals(HttpMethod.GET) && file.isRangeValid(request.headers())
                ? ByteRange.parse(request.headers().get(HttpHeaderNames.RANGE), file.size()) : null;
        if (range == ByteRange.UNSATISFIABLE) {
            FullHttpResponse response = Responses.error(ctx, HttpResponseStatus.REQUESTED_RANGE_NOT_SATISFIABLE);
            response.headers().set(HttpHeaderNames.CONTENT_RANGE, "bytes */" + file.size());
            write(ctx, response);
            return;
        }
        HttpResponse head = describe(
                Responses.head(range == null ? HttpResponseStatus.OK : HttpResponseStatus.PARTIAL_CONTENT), file);
        HttpHeaders headers = head.headers();
        String type = URLConnection.guessContentTypeFromName(path.getFileName().toString());
        headers.set(HttpHeaderNames.CONTENT_TYPE, type == null ? HttpHeaderValues.APPLICATION_OCTET_STREAM : type);
        if (range != null) {
            headers.set(HttpHeaderNames.CONTENT_RANGE, range.contentRange(file.size()));
        }
        ByteRange part = range == null ? new ByteRange(0, file.size() - 1) : range;
        HttpUtil.setContentLength(head, part.length());
        if (request.method().equals(HttpMethod.HEAD) || part.length() == 0) {
            write(ctx, head);
            write(ctx, LastHttpContent.EMPTY_LAST_CONTENT);
        } else {
            send(ctx, head, file, part);
        }
    }

    private static HttpResponse describe(HttpResponse head, ServedFile file) {
        head.headers().set(HttpHeaderNames.ETAG, file.etag())
                .set(HttpHeaderNames.LAST_MODIFIED, file.lastModified())
                .set(HttpHeaderNames.ACCEPT_RANGES, HttpHeaderValues.BYTES);
        return head;
    }

    private void send(ChannelHandlerContext ctx, HttpResponse head, ServedFile file, ByteRange part)
            throws IOException {
        ChannelFuture last;
        if (mappedFiles != null) {
            MappedInput content = new MappedInput(mappedFiles.get(file), part);
            write(ctx, head);
            last = write(ctx, new HttpChunkedInput(content));
        } else {
            // Both the region and the chunked file close the channel when they are sent, and when they can't be sent.
            FileChannel channel = FileChannel.open(file.path());
            write(ctx, head);
            if (ctx.pipeline().get(SslHandler.class) == null) {
                write(ctx, new DefaultFileRegion(channel, part.first(), part.length()));
                last = write(ctx, LastHttpContent.EMPTY_LAST_CONTENT);
            } else {
                last = write(ctx, new HttpChunkedInput(
                        new ChunkedNioFile(channel, part.first(), part.length(), CHUNK_BYTES)));
            }
        }
        awaitResponse(ctx, last);
    }

    /** The index of a folder, as a page. */
    private static final class Listing {
        private Listing() {
        }

        static String of(Path folder, String title) throws IOException {
            List<Path> files;
            try (var all = Files.list(folder)) {
                files = all.sorted().toList();
            }
            StringBuilder html = new StringBuilder("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>")
                    .append(escape(title)).append("</title></head><body><ul>\n");
            for (Path file : files) {
                String name = file.getFileName() + (Files.isDirectory(file) ? "/" : "");
                html.append("<li><a href=\"").append(escape(encode("./" + name))).append("\">").append(escape(name))
                    .append("</a></li>\n");
            }
            return html.append("</ul></body></html>\n").toString();
        }

        /** Encodes a path for a URI. */
        static String encode(String path) {
            try {
                return new URI(null, null, path, null).toASCIIString();
            } catch (URISyntaxException e) {
                throw new IllegalArgumentException(path, e);
            }
        }

        private static String escape(String text) {
            return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
        }
    }
}
