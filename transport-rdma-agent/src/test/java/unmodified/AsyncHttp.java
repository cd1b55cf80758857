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
import org.asynchttpclient.AsyncHttpClient;
import org.asynchttpclient.Dsl;
import org.asynchttpclient.Response;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** async-http-client, which looks at the class of its event loops, to a server by Netty. */
public final class AsyncHttp {
    private AsyncHttp() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Channel listener = Http.bind(group);
        byte[] bytes = new byte[1024 * 1024];
        try (AsyncHttpClient client = Dsl.asyncHttpClient()) {
            for (int i = 0; i < 10; i++) {
                Arrays.fill(bytes, (byte) i);
                Response response = client.preparePost("http://127.0.0.1:" + Ends.port(listener) + "/").setBody(bytes)
                        .execute().get(Ends.SECONDS, TimeUnit.SECONDS);
                System.out.println(response.getStatusCode() + " " +
                        Arrays.equals(bytes, response.getResponseBodyAsBytes()));
            }
        }
        Ends.end(group);
    }
}
