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
package io.netty.channel.rdma;

import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("quick")
class RdmaSocketChannelConfigTest {
    private final RdmaSocketChannel channel = new RdmaSocketChannel();
    private final RdmaSocketChannelConfig config = channel.config;

    @AfterEach
    void close() {
        channel.unsafe().closeForcibly();
    }

    static Stream<Arguments> ranges() {
        return Stream.of(
                Arguments.of(RdmaChannelOption.SEND_QUEUE_DEPTH, 16, 32768),
                Arguments.of(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16, 32768),
                Arguments.of(RdmaChannelOption.MAX_INLINE, 0, 1024),
                Arguments.of(RdmaChannelOption.SEND_COPY_THRESHOLD, 0, 65536),
                Arguments.of(RdmaChannelOption.RECEIVE_COPY_THRESHOLD, 0, 65536),
                Arguments.of(RdmaChannelOption.RETRY_COUNT, 0, 7),
                Arguments.of(RdmaChannelOption.RNR_RETRY_COUNT, 0, 7),
                Arguments.of(RdmaChannelOption.ACK_TIMEOUT, 0, 31),
                Arguments.of(RdmaChannelOption.MIN_RNR_TIMER, 0, 31),
                Arguments.of(RdmaChannelOption.RESOLVE_TIMEOUT_MILLIS, 1, 3_600_000),
                Arguments.of(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS, 10, 86_400_000),
                Arguments.of(RdmaChannelOption.KEEP_ALIVE_INTERVAL_MILLIS, 10, 86_400_000),
                Arguments.of(RdmaChannelOption.KEEP_ALIVE_COUNT, 1, 127),
                Arguments.of(RdmaChannelOption.USER_TIMEOUT_MILLIS, 0, 86_400_000),
                Arguments.of(ChannelOption.IP_TOS, 0, 255),
                Arguments.of(ChannelOption.SO_SNDBUF, 1, Integer.MAX_VALUE));
    }

    @ParameterizedTest
    @MethodSource("ranges")
    void valuesInTheRangeAreKeptAndOthersNamed(ChannelOption<Integer> option, int min, int max) {
        for (int value : new int[] { min, max }) {
            assertThat(config.setOption(option, value)).isTrue();
            assertThat(config.getOption(option)).isEqualTo(value);
            assertThat(config.getOptions()).containsEntry(option, value);
        }
        for (long value : new long[] { min - 1L, max + 1L }) {
            if (value == (int) value) {
                assertThatThrownBy(() -> config.setOption(option, (int) value))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(option.name().substring(option.name().lastIndexOf('#') + 1))
                        .hasMessageContaining(String.valueOf(value)).hasMessageContaining(min + " to " + max);
            }
        }
        assertThat(config.getOption(option)).isEqualTo(max);
    }

    @Test
    void receiveBufferIsRoundedLikeASocketDoes() {
        config.setOption(ChannelOption.SO_RCVBUF, 1);
        assertThat(config.getReceiveBufferSize()).isEqualTo(4096);
        config.setOption(ChannelOption.SO_RCVBUF, 100_000);
        assertThat(config.getReceiveBufferSize()).isEqualTo(131_072);
        config.setOption(ChannelOption.SO_RCVBUF, Integer.MAX_VALUE);
        assertThat(config.getReceiveBufferSize()).isEqualTo(256 << 20);
        assertThatThrownBy(() -> config.setOption(ChannelOption.SO_RCVBUF, 0))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("SO_RCVBUF");
    }

    @Test
    void optionsOfTcpAreAccepted() {
        assertThat(config.setOption(ChannelOption.TCP_NODELAY, true)).isTrue();
        assertThat(config.getOption(ChannelOption.TCP_NODELAY)).isTrue();
        assertThat(config.setOption(ChannelOption.SO_KEEPALIVE, true)).isTrue();
        assertThat(config.isKeepAlive()).isTrue();
        assertThat(config.setOption(ChannelOption.SO_LINGER, 0)).isTrue();
        assertThat(config.getSoLinger()).isZero();
        assertThat(config.setOption(ChannelOption.ALLOW_HALF_CLOSURE, true)).isTrue();
        assertThat(config.isAllowHalfClosure()).isTrue();
        assertThat(config.setOption(ChannelOption.SO_REUSEADDR, true)).isTrue();
        assertThat(config.isReuseAddress()).isTrue();
        assertThat(config.getAllocator()).isSameAs(RdmaByteBufAllocator.DEFAULT);
    }

    @Test
    void optionsOfEpollForDeadPeersAreOurs() {
        config.setOption(EpollChannelOption.TCP_KEEPIDLE, 7);
        config.setOption(EpollChannelOption.TCP_KEEPINTVL, 8);
        config.setOption(EpollChannelOption.TCP_KEEPCNT, 9);
        config.setOption(EpollChannelOption.TCP_USER_TIMEOUT, 10);
        assertThat(config.getOption(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS)).isEqualTo(7000);
        assertThat(config.getOption(RdmaChannelOption.KEEP_ALIVE_INTERVAL_MILLIS)).isEqualTo(8000);
        assertThat(config.getOption(RdmaChannelOption.KEEP_ALIVE_COUNT)).isEqualTo(9);
        assertThat(config.getOption(RdmaChannelOption.USER_TIMEOUT_MILLIS)).isEqualTo(10);
        assertThat(config.getOption(EpollChannelOption.TCP_KEEPIDLE)).isEqualTo(7);
        assertThat(config.getOption(EpollChannelOption.TCP_KEEPINTVL)).isEqualTo(8);
        assertThat(config.getOption(EpollChannelOption.TCP_KEEPCNT)).isEqualTo(9);
        assertThat(config.getOption(EpollChannelOption.TCP_USER_TIMEOUT)).isEqualTo(10);
        assertThatThrownBy(() -> config.setOption(EpollChannelOption.TCP_KEEPIDLE, 0))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("1 to 86400");
    }
}
