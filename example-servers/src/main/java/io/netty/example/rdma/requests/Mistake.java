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

import io.netty.channel.rdma.message.RemoteMemory;

import java.util.Locale;

/**
 * Mistakes of a requester about the responder's memory, to see the effect. Only the responder's device can detect them:
 * an operation that this end knows to be wrong is never sent.
 */
enum Mistake {
    /** Another number in place of the key. */
    KEY {
        @Override
        RemoteMemory apply(RemoteMemory memory) {
            return new RemoteMemory(memory.address(), memory.length(), ~memory.key(), memory.permissions());
        }
    },
    /** The memory that lies behind. */
    RANGE {
        @Override
        RemoteMemory apply(RemoteMemory memory) {
            return new RemoteMemory(memory.address() + memory.length(), memory.length(), memory.key(),
                    memory.permissions());
        }
    };

    abstract RemoteMemory apply(RemoteMemory memory);

    /** As written on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
