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
import io.netty.channel.IoEventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoHandler;

/** An echo by epoll, at the address of its argument, that asks event loops of which type they are. */
public final class EpollEcho {
    private EpollEcho() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, EpollIoHandler.newFactory());
        IoEventLoop loop = (IoEventLoop) group.next();
        System.out.println("epoll: " + loop.isIoType(EpollIoHandler.class) + ' ' +
                loop.isCompatible(EpollIoHandle.class));
        System.out.println("nio: " + loop.isIoType(NioIoHandler.class) + ' ' + loop.isCompatible(NioIoHandle.class));
        Channel listener = Ends.server(group, EpollServerSocketChannel.class)
                .bind(args.length == 0 ? "127.0.0.1" : args[0], 0).sync().channel();
        Ends.exchange(group, EpollSocketChannel.class, listener);
        listener.close().sync();
        Ends.end(group);
    }
}
