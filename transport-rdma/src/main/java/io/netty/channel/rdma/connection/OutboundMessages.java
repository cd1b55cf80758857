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
package io.netty.channel.rdma.connection;

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundBuffer.MessageProcessor;

/**
 * The flushed messages of a connection, in their order: those of its channel, or what the channel has left behind.
 */
interface OutboundMessages {
    /** The first one, or {@code null}. */
    Object current();

    /** Gives them to the processor as long as that returns true. */
    void forEach(MessageProcessor processor) throws Exception;

    /** Notes that so many bytes of the first message are done. */
    void progress(long bytes);

    /** The first one is done. */
    void remove();

    /** The messages of a channel, whose promises are told. */
    static OutboundMessages of(ChannelOutboundBuffer messages) {
        return new OutboundMessages() {
            @Override
            public Object current() {
                return messages.current();
            }

            @Override
            public void forEach(MessageProcessor processor) throws Exception {
                messages.forEachFlushedMessage(processor);
            }

            @Override
            public void progress(long bytes) {
                messages.progress(bytes);
            }

            @Override
            public void remove() {
                messages.remove();
            }
        };
    }
}
