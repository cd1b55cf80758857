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

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.util.concurrent.Future;

import java.util.concurrent.Callable;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Writes whose promises are cancelled before the flush: Netty's outbound buffer keeps them with an empty message.
 */
final class CancelledWrites {
    private CancelledWrites() {
    }

    /** Returns whether a close that only finds such writes is done at its return, as nothing is to be sent before. */
    static void closeAtOnce(Channel channel, Supplier<Object> message) throws Exception {
        onLoop(channel, () -> {
            cancelled(channel, message.get());
            channel.flush();
            assertThat(channel.unsafe().outboundBuffer().isEmpty()).as("flushed and cancelled is gone").isTrue();
            cancelled(channel, message.get());
            channel.flush();
            ChannelFuture close = channel.close();
            assertThat(close.isDone()).as("closed").isTrue();
            return null;
        });
    }

    /** Two messages are sent, with cancelled ones before, between and behind. */
    static void goWithThoseAround(Channel channel, Supplier<Object> message) throws Exception {
        ChannelFuture last = onLoop(channel, () -> {
            cancelled(channel, message.get());
            cancelled(channel, message.get());
            channel.write(message.get());
            cancelled(channel, message.get());
            ChannelFuture second = channel.write(message.get());
            cancelled(channel, message.get());
            channel.flush();
            return second;
        });
        TestTimeouts.sync(last);
        assertThat(onLoop(channel, () -> channel.unsafe().outboundBuffer().isEmpty())).as("nothing is left").isTrue();
    }

    private static void cancelled(Channel channel, Object message) {
        ChannelPromise promise = channel.newPromise();
        channel.write(message, promise);
        assertThat(promise.cancel(false)).isTrue();
    }

    private static <T> T onLoop(Channel channel, Callable<T> task) throws Exception {
        Future<T> future = channel.eventLoop().submit(task);
        TestTimeouts.sync(future);
        return future.getNow();
    }
}
