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
package io.netty.channel.rdma.stream;

/**
 * A protocol of byte streams over an RC queue pair. It makes the state machines of connections, and tells what they
 * need of the device and of receive memory. Any thread.
 */
public interface StreamProtocol {
    /** The name for error messages. */
    String protocolName();

    /** Returns whether messages need immediate data, which iWARP devices do not have. */
    boolean needsImmediateData();

    /**
     * Returns the length in bytes of each message sent by SEND, and of the receives' buffers; 0 if there are none.
     *
     * @param immediateData whether the device has it.
     */
    int sentMessageSize(boolean immediateData);

    /** Returns the size of the table to which the peer writes addresses of its receive buffers; 0 without a table. */
    int targetSglEntries();

    /** Returns whether several segments of any lengths can be offered. Receive memory then starts small and grows. */
    boolean isReceiveMemoryGrowing();

    /**
     * Creates the state machine of a new connection.
     *
     * @param config the sizes; the size of the table is ignored if the protocol has no table.
     * @param area the memory where the first bytes arrive.
     * @param sgl the table, or one without entries.
     */
    StreamMachine newMachine(StreamConfig config, ReceiveArea area, TargetSgl sgl);
}
