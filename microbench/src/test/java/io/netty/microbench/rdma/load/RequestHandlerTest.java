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
package io.netty.microbench.rdma.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.microbench.rdma.load.EchoLoadServer.RequestHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class RequestHandlerTest {
    private final EmbeddedChannel channel = new EmbeddedChannel(new RequestHandler());

    @ParameterizedTest
    @ValueSource(ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void impossibleWriteSizeClosesTheConnection(int bytes) {
        channel.writeInbound(Unpooled.buffer().writeInt(bytes));
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void whatFollowsTheRequestForAnEchoComesBack() {
        channel.writeInbound(Unpooled.buffer().writeShort(0));
        channel.writeInbound(Unpooled.buffer().writeShort(0).writeByte(7));
        channel.writeInbound(Unpooled.buffer().writeByte(8));
        for (int expected : new int[] {7, 8}) {
            ByteBuf echo = channel.readOutbound();
            assertThat(echo.readByte()).isEqualTo((byte) expected);
            echo.release();
        }
        channel.finishAndReleaseAll();
    }

    @Test
    void writesBuffersOfTheRequestedSizeUntilTheChannelIsFull() {
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(0, 4000));
        channel.writeInbound(Unpooled.buffer().writeInt(1000));
        ByteBuf first = channel.readOutbound();
        assertThat(first.readableBytes()).isEqualTo(1000);
        first.release();
        channel.finishAndReleaseAll();
    }
}
