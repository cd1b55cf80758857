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
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/** An echo by NIO that also runs on Netty 4.1. */
@SuppressWarnings("deprecation") // what programs have that were written for 4.1
public final class OldNioEcho {
    private OldNioEcho() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(2);
        Channel listener = Ends.bind(Ends.server(group, NioServerSocketChannel.class));
        Ends.exchange(group, NioSocketChannel.class, listener);
        Ends.end(group);
    }
}
