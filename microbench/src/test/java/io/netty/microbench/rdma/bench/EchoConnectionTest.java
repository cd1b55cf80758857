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
package io.netty.microbench.rdma.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.microbench.rdma.bench.PacedLoad.EchoConnection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class EchoConnectionTest {
    private final EchoConnection connection = new EchoConnection();
    private final EmbeddedChannel channel = new EmbeddedChannel(connection);
    private final List<String> ended = new ArrayList<>();

    @AfterEach
    void closeChannel() {
        channel.finishAndReleaseAll();
    }

    private void start(String name) {
        connection.start(cause -> ended.add(cause == null ? name : name + ": " + cause.getMessage()));
    }

    private void receive(int bytes) {
        channel.writeInbound(Unpooled.buffer().writeZero(bytes));
    }

    private int sent() {
        ByteBuf message = channel.readOutbound();
        try {
            return message.readableBytes();
        } finally {
            message.release();
        }
    }

    @Test
    void asksForAnEchoAndSendsEachMessageAtOnce() {
        assertThat(sent()).isEqualTo(Integer.BYTES);
        for (int i = 0; i < 100; i++) {
            start("more than are usually under way");
            assertThat(sent()).isEqualTo(EchoConnection.MESSAGE_BYTES);
        }
    }

    @Test
    void operationsEndInOrderWhenAllOfTheirEchoIsThere() {
        start("a");
        start("b");
        start("c");
        receive(EchoConnection.MESSAGE_BYTES - 1);
        assertThat(ended).isEmpty();
        receive(1 + EchoConnection.MESSAGE_BYTES);
        assertThat(ended).containsExactly("a", "b");
        receive(EchoConnection.MESSAGE_BYTES);
        assertThat(ended).containsExactly("a", "b", "c");
    }

    @Test
    void closedConnectionEndsAllThatIsUnderWayAndAllLaterOnes() {
        start("a");
        start("b");
        channel.close();
        start("c");
        assertThat(ended).containsExactly("a: the server closed while messages were under way",
                "b: the server closed while messages were under way", "c: the server has closed");
    }

    @Test
    void failureEndsWhatIsUnderWay() {
        start("a");
        channel.pipeline().fireExceptionCaught(new IOException("wrong"));
        assertThat(ended).containsExactly("a: wrong");
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void serverThatSendsMoreThanWasAskedForIsLeft() {
        start("a");
        receive(EchoConnection.MESSAGE_BYTES + 1);
        assertThat(ended).containsExactly("a");
        assertThat(channel.isOpen()).isFalse();
        start("b");
        assertThat(ended).containsExactly("a", "b: the server has closed");
    }
}
