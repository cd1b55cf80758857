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
package io.netty.example.rdma.echo;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.DuplexChannel;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.util.Sha256;
import io.netty.example.rdma.util.TransportOptions;
import io.netty.util.concurrent.Promise;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * Sends a file to an echo server. The exit status is 0 if what came back is equal.
 */
@Command(name = "echo client",
        description = "Sends a file through an echo server and compares SHA-256.")
public final class EchoClient implements Callable<Integer> {
    @Mixin
    private TransportOptions options;

    @Option(names = "--host", description = "The server (default: where one on this host listens by default).")
    private String host;

    @Option(names = "--port", defaultValue = "8007", description = "Its port (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "--file", description = "The file (default: lib/modules of the running JDK, over 100 MB).")
    private Path file = Path.of(System.getProperty("java.home"), "lib", "modules");

    public static void main(String[] args) {
        System.exit(Commands.run(new EchoClient(), args));
    }

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        try (FileChannel source = FileChannel.open(file)) {
            Promise<FileEcho> result = group.next().newPromise();
            Channel channel = new Bootstrap()
                    .group(group)
                    .channel(options.transport().channelType())
                    .handler(new FileEchoHandler(source, result))
                    .connect(options.transport().address(host == null ? LocalHost.address() : host, port))
                    .sync().channel();
            System.out.println(file + " to " + channel.remoteAddress() + " and back (" + options + ')');
            FileEcho echo = result.get();
            System.out.println(echo);
            String counters = options.transport().counters();
            if (!counters.isEmpty()) {
                System.out.println("client " + counters);
            }
            return echo.isIntact() ? 0 : 1;
        } finally {
            Commands.shutdown(group);
        }
    }

    /**
     * Sends a file as fast as the channel takes it, hashes what comes back, and ends when the server has closed.
     */
    private static final class FileEchoHandler extends ChannelInboundHandlerAdapter {
        private static final int CHUNK_BYTES = 64 * 1024;

        private final FileChannel file;
        private final Promise<FileEcho> result;
        private final MessageDigest sentDigest = Sha256.newDigest();
        private final MessageDigest receivedDigest = Sha256.newDigest();
        private final long fileBytes;
        private long sentBytes;
        private long receivedBytes;
        private long startNanos;
        private boolean ending;

        FileEchoHandler(FileChannel file, Promise<FileEcho> result) throws IOException {
            this.file = file;
            this.result = result;
            fileBytes = file.size();
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) throws IOException {
            startNanos = System.nanoTime();
            send(ctx);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) throws IOException {
            send(ctx);
        }

        private void send(ChannelHandlerContext ctx) throws IOException {
            Channel channel = ctx.channel();
            while (sentBytes < fileBytes && channel.isWritable()) {
                // From the channel's own allocator: on RDMA this memory is registered, and is sent from where it is.
                ByteBuf chunk = ctx.alloc().directBuffer(CHUNK_BYTES);
                int length = (int) Math.min(CHUNK_BYTES, fileBytes - sentBytes);
                if (chunk.writeBytes(file, sentBytes, length) <= 0) {
                    chunk.release();
                    throw new EOFException("the file became shorter while it was sent");
                }
                sentDigest.update(chunk.nioBuffer());
                sentBytes += chunk.readableBytes();
                ctx.write(chunk);
            }
            ctx.flush();
            if (sentBytes == fileBytes && !ending) {
                ending = true;
                // The write completes after all writes before it. A shutdown at once would fail the writes that are
                // still queued.
                ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener((ChannelFutureListener) future -> {
                    if (future.isSuccess()) {
                        ((DuplexChannel) channel).shutdownOutput();
                    } else {
                        result.tryFailure(future.cause());
                    }
                });
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf received = (ByteBuf) msg;
            receivedBytes += received.readableBytes();
            receivedDigest.update(received.nioBuffer());
            received.release();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            result.trySuccess(new FileEcho(sentBytes, receivedBytes, sentDigest.digest(), receivedDigest.digest(),
                    System.nanoTime() - startNanos));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            result.tryFailure(cause);
            ctx.close();
        }
    }

    /**
     * Result of sending a file through an echo server.
     *
     * @param sentBytes      bytes sent
     * @param receivedBytes  bytes received until the server closed
     * @param sentDigest     SHA-256 of what was sent
     * @param receivedDigest SHA-256 of what was received
     * @param nanos          from the first write to the end of the connection
     */
    private record FileEcho(long sentBytes, long receivedBytes, byte[] sentDigest, byte[] receivedDigest,
                            long nanos) {
        boolean isIntact() {
            return sentBytes == receivedBytes && Arrays.equals(sentDigest, receivedDigest);
        }

        /** Returns a text for users. */
        @Override
        public String toString() {
            HexFormat hex = HexFormat.of();
            return String.format(Locale.ROOT, "sent     %,12d bytes, SHA-256 %s%nreceived %,12d bytes, SHA-256 %s%n"
                            + "%s, %.2f s, %.0f MB/s each way",
                    sentBytes, hex.formatHex(sentDigest), receivedBytes, hex.formatHex(receivedDigest),
                    isIntact() ? "EQUAL" : "DIFFERENT", nanos / 1e9, receivedBytes * 1e3 / nanos);
        }
    }
}
