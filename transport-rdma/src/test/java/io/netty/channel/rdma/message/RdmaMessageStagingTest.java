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
package io.netty.channel.rdma.message;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.MessagePair.Recorder;
import io.netty.util.concurrent.EventExecutor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Messages that are copied to be sent, by more loops than there is staging memory for if each keeps what it has used.
 */
@Tag("quick")
class RdmaMessageStagingTest {
    /** The longest that can be copied; there is memory for 16 of them (io.netty.rdma.maxStagingMemory). */
    private static final int LENGTH = 4 << 20;
    private static final int SENDERS = 18;

    @RegisterExtension
    static final LoopGroupExtension SERVER_LOOPS = new LoopGroupExtension(1);
    @RegisterExtension
    static final LoopGroupExtension SENDER_LOOPS = new LoopGroupExtension(SENDERS);

    @Test
    void loopsThatHaveSentLeaveTheMemoryToTheOthers() throws Exception {
        Recorder received = new Recorder();
        Channel listener = TestTimeouts.sync(MessagePair.listening(SERVER_LOOPS.group(), received)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, LENGTH)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16).bind(TestAddress.anyPort())).channel();
        try {
            int number = 0;
            for (EventExecutor loop : SENDER_LOOPS.group()) {
                int i = number++;
                Channel sender = TestTimeouts.sync(MessagePair.connecting((EventLoop) loop, new Recorder())
                        .connect(listener.localAddress())).channel();
                MessagePair.write(sender, Unpooled.buffer(LENGTH).writeByte(i).writeZero(LENGTH - 1));
                RdmaReceive message = received.message();
                assertThat(message.length()).isEqualTo(LENGTH);
                assertThat(message.content().getByte(0)).isEqualTo((byte) i);
                message.release();
                TestTimeouts.sync(sender.close());
            }
            assertThat(number).isEqualTo(SENDERS);
        } finally {
            TestTimeouts.sync(listener.close());
        }
    }
}
