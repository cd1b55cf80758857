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

import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The responder's part of an operation.
 */
abstract class Responses implements AutoCloseable {
    /** Permissions of the requester on the connection: no more than it needs. */
    Set<RdmaPermission> permissions() {
        return Set.of();
    }

    /** Memory that the requester needs access to. */
    List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        return List.of();
    }

    /** Requests from {@code first} on are to come; those before are done. */
    void prepare(long first, int count) {
        // There may be nothing to be prepared.
    }

    /** Returns whether each request is a message here, too. */
    boolean areMessages() {
        return false;
    }

    /** Returns whether the program has receives of its own, for messages in pieces: see {@link ListReceiver}. */
    boolean areInLists() {
        return false;
    }

    /** The message of a request: whether it is right. */
    boolean isRight(long number, RdmaReceive message) {
        throw new IllegalStateException("not expected: " + message);
    }

    /** Number of these requests, which are done, that have left something wrong in the memory. */
    int wrong(long first, int count) {
        return 0;
    }

    @Override
    public void close() {
        // There may be no memory.
    }
}
