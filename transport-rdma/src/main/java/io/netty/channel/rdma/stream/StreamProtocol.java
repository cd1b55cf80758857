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
 * A protocol of byte streams over a reliable connected queue pair: makes the state machines of connections, and says
 * what these need of the device and of the memory in which bytes arrive. Any thread.
 */
public interface StreamProtocol {
    /** The name for error messages. */
    String protocolName();

    /** Returns whether messages need immediate data, which iWARP devices do not have. */
    boolean needsImmediateData();

    /**
     * Length in bytes of each message that is sent by SEND; 0 if there are none. The receives have room for it.
     *
     * @param immediateData whether the device has it.
     */
    int sentMessageSize(boolean immediateData);

    /** Entries of the table in registered memory to which the peer writes where it receives; 0 without such a table. */
    int targetSglEntries();

    /**
     * Returns whether several segments are offered at a time, and of any lengths: then receive memory starts small and
     * grows. Otherwise all of it is there from the start.
     */
    boolean isReceiveMemoryGrowing();

    /**
     * A machine at its start.
     *
     * @param config the sizes; without a table that of the table means nothing.
     * @param area where the first bytes land.
     * @param sgl the table, or one without entries.
     */
    StreamMachine newMachine(StreamConfig config, ReceiveArea area, TargetSgl sgl);
}
