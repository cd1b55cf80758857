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
package io.netty.example.rdma.requests;

import io.netty.channel.rdma.message.RdmaReceive;

/**
 * Receives blocks as messages.
 */
final class SendResponses extends Responses {
    private final int size;
    private final boolean immediate;
    private final boolean inLists;

    SendResponses(int size, boolean immediate, boolean inLists) {
        this.size = size;
        this.immediate = immediate;
        this.inLists = inLists;
    }

    @Override
    boolean areMessages() {
        return true;
    }

    @Override
    boolean areInLists() {
        return inLists;
    }

    @Override
    boolean isRight(long number, RdmaReceive message) {
        return message.hasImmediate() == immediate && (!immediate || message.immediate() == (int) number)
                && Blocks.matches(message.content(), number, size);
    }
}
