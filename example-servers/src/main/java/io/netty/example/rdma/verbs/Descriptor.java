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
package io.netty.example.rdma.verbs;

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.message.RdmaEndpoint;
import io.netty.channel.rdma.message.RemoteMemory;

import java.util.List;

/**
 * Contents of a file from one end to the other: the blob of its queue pair, and then its {@link Introduction}.
 */
record Descriptor(RdmaEndpoint endpoint, Introduction introduction) {
    static final int MAX_LENGTH = RdmaEndpoint.BLOB_LENGTH + Introduction.MAX_LENGTH;

    /**
     * Reads one, whose fields are all checked.
     *
     * @throws IllegalArgumentException that says what is wrong with it
     */
    static Descriptor read(ByteBuf from) {
        return new Descriptor(RdmaEndpoint.read(from), Introduction.read(from));
    }

    /** The same with other memory. */
    Descriptor with(List<RemoteMemory> memory) {
        return new Descriptor(endpoint, introduction.with(memory));
    }

    void write(ByteBuf to) {
        endpoint.write(to);
        introduction.write(to);
    }
}
