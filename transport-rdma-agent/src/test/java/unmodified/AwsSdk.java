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
package unmodified;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.http.async.AsyncExecuteRequest;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.async.SdkAsyncHttpResponseHandler;
import software.amazon.awssdk.http.async.SdkHttpContentPublisher;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;

import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The client of the AWS SDK, to a server by Netty. */
public final class AwsSdk {
    private AwsSdk() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Channel listener = Http.bind(group);
        URI uri = URI.create("http://127.0.0.1:" + Ends.port(listener) + "/");
        byte[] bytes = new byte[1024 * 1024];
        try (SdkAsyncHttpClient client = NettyNioAsyncHttpClient.create()) {
            for (int i = 0; i < 10; i++) {
                Arrays.fill(bytes, (byte) i);
                Answer answer = new Answer();
                client.execute(AsyncExecuteRequest.builder().request(SdkHttpRequest.builder().uri(uri)
                        .method(SdkHttpMethod.POST).putHeader("Host", uri.getAuthority())
                        .putHeader("Content-Length", String.valueOf(bytes.length)).build())
                        .requestContentPublisher(new Body(bytes)).responseHandler(answer).build())
                        .get(Ends.SECONDS, TimeUnit.SECONDS);
                System.out.println(answer.status + " " + Arrays.equals(bytes,
                        answer.bytes.get(Ends.SECONDS, TimeUnit.SECONDS)));
            }
        }
        Ends.end(group);
    }

    private static final class Body implements SdkHttpContentPublisher {
        private final byte[] bytes;

        Body(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public Optional<Long> contentLength() {
            return Optional.of((long) bytes.length);
        }

        @Override
        public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
            Mono.just(ByteBuffer.wrap(bytes)).subscribe(subscriber);
        }
    }

    private static final class Answer implements SdkAsyncHttpResponseHandler {
        final CompletableFuture<byte[]> bytes = new CompletableFuture<>();
        private int status;

        @Override
        public void onHeaders(SdkHttpResponse response) {
            status = response.statusCode();
        }

        @Override
        public void onStream(Publisher<ByteBuffer> stream) {
            Flux.from(stream).reduceWith(() -> ByteBuffer.allocate(1024 * 1024), ByteBuffer::put)
                    .subscribe(all -> bytes.complete(all.array()), bytes::completeExceptionally);
        }

        @Override
        public void onError(Throwable cause) {
            bytes.completeExceptionally(cause);
        }
    }
}
