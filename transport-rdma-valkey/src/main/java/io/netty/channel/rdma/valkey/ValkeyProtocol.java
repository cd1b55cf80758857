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
package io.netty.channel.rdma.valkey;

import io.netty.channel.rdma.stream.ReceiveArea;
import io.netty.channel.rdma.stream.StreamConfig;
import io.netty.channel.rdma.stream.StreamMachine;
import io.netty.channel.rdma.stream.StreamProtocol;
import io.netty.channel.rdma.stream.TargetSgl;

/** The protocol for one of the two roles. */
enum ValkeyProtocol implements StreamProtocol {
    CLIENT,
    SERVER;

    @Override
    public String protocolName() {
        return "connections to Valkey";
    }

    @Override
    public boolean needsImmediateData() {
        return true;
    }

    @Override
    public int sentMessageSize(boolean immediateData) {
        return ValkeyMessage.SIZE;
    }

    @Override
    public int targetSglEntries() {
        return 0;
    }

    @Override
    public boolean isReceiveMemoryGrowing() {
        return false;
    }

    @Override
    public StreamMachine newMachine(StreamConfig config, ReceiveArea area, TargetSgl sgl) {
        return new ValkeyStream(this, config, area);
    }
}
