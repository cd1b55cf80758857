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
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;

/** Channels of a class of the program, of a factory of its own, and around a listener of the JDK. */
public final class OwnChannel {
    private OwnChannel() { }

    /** Channel class of a program, whose additions the agent can't know. */
    public static final class Derived extends NioSocketChannel {
    }

    public static void main(String... args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        Channel listener = Ends.bind(Ends.server(group, NioServerSocketChannel.class));
        Ends.exchange(group, Derived.class, listener);

        ServerSocketChannel bound = ServerSocketChannel.open();
        bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        Channel given = new io.netty.bootstrap.ServerBootstrap().group(group)
                .channelFactory((ChannelFactory<NioServerSocketChannel>) () -> new NioServerSocketChannel(bound))
                .childHandler(new Ends.Echo() {
                    @Override
                    public boolean isSharable() {
                        return true;
                    }
                }).register().sync().channel();
        System.out.println("given: " + given.localAddress().equals(bound.getLocalAddress()));
        given.read();
        Ends.exchange(group, NioSocketChannel.class, given);

        ChannelFactory<Channel> factory = NioSocketChannel::new;
        Channel made = factory.newChannel();
        System.out.println("made: " + made.isOpen() + ' ' + made.isActive());
        made.unsafe().closeForcibly();
        Ends.end(group);
    }
}
