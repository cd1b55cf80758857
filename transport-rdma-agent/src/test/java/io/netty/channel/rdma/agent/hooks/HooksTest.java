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
package io.netty.channel.rdma.agent.hooks;

import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandler;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Hooks in a JVM without the agent, where the lists that it shares are missing, so that what they do throws.
 */
@Tag("quick")
class HooksTest {
    @Test
    void hookThatThrowsReturnsTheChannelOfTheProgram() {
        AtomicReference<Channel> made = new AtomicReference<>();
        ChannelFactory<Channel> factory = () -> {
            made.set(new NioSocketChannel());
            return made.get();
        };
        assertThat(Hooks.newChannel(factory)).isSameAs(made.get());
        assertThat(made.get().isOpen()).isTrue();
        made.get().unsafe().closeForcibly();
    }

    @Test
    void exceptionOfTheProgramsFactoryIsThrown() {
        ChannelFactory<Channel> factory = () -> {
            throw new IllegalStateException("of the program");
        };
        assertThatThrownBy(() -> Hooks.newChannel(factory)).hasMessage("of the program");
    }

    @Test
    void optionIsThatOfTheProgramIfSettingItsLikeThrows() {
        NioSocketChannel channel = new NioSocketChannel();
        ChannelConfig config = new DefaultChannelConfig(channel) {
            @Override
            public <T> boolean setOption(ChannelOption<T> option, T value) {
                if (option == EpollChannelOption.TCP_KEEPIDLE) {
                    throw new IllegalArgumentException("thrown for " + option);
                }
                return super.setOption(option, value);
            }
        };
        try {
            assertThat(Hooks.setOption(config, NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), 5)).isFalse();
            assertThatThrownBy(() -> Hooks.setOption(config, EpollChannelOption.TCP_KEEPIDLE, 5))
                    .hasMessageStartingWith("thrown for ");
        } finally {
            channel.unsafe().closeForcibly();
        }
    }

    @Test
    void whatIsNoChannelIsReturned() {
        assertThat(Hooks.inPlaceOf("no channel")).isEqualTo("no channel");
        assertThat(Hooks.inPlaceOf(null)).isNull();
    }

    @Test
    void otherHandlersAndConfigurationsAreAsTheyWere() throws InterruptedException {
        AtomicReference<IoHandler> handler = new AtomicReference<>();
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, executor -> {
            handler.set(NioIoHandler.newFactory().newHandler(executor));
            return handler.get();
        });
        try {
            assertThat(Hooks.tcpHandler(handler.get())).isSameAs(handler.get());
            assertThat(Hooks.classOf(handler.get())).isEqualTo(NioIoHandler.class);
            NioSocketChannel channel = new NioSocketChannel();
            assertThat(Hooks.setOption(channel.config(), ChannelOption.TCP_NODELAY, false)).isTrue();
            assertThat(channel.config().isTcpNoDelay()).isFalse();
            assertThat(Hooks.setOption(channel.config(), ChannelOption.valueOf("unknown"), 1)).isFalse();
            channel.unsafe().closeForcibly();
        } finally {
            TestTimeouts.shutdown(group);
        }
    }
}
