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

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.rdma.message.RdmaOperation;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;

import java.io.IOException;

/**
 * The requester's part of an operation.
 */
abstract class Requests implements AutoCloseable {
    /**
     * Begins with the memory that the responder gives access to, if any.
     *
     * @throws IllegalArgumentException if that is not what the operation needs
     */
    void begin(Introduction peer) throws IOException {
        // Some operations need no memory of the peer.
    }

    /** A request; they are numbered from 0. */
    abstract RdmaOperation next(ByteBufAllocator allocator, long number);

    /** Returns whether what the request has brought is right. Called once for each, when it is done. */
    boolean isRight(long number) {
        return true;
    }

    /**
     * Returns whether requests bring something. A message that is sent after such a one may overtake it (InfiniBand
     * Architecture Specification, volume 1, 10.8.3.3, table "Work Request Operation Ordering").
     */
    boolean areReads() {
        return false;
    }

    @Override
    public void close() {
        // Most hold nothing.
    }
}
