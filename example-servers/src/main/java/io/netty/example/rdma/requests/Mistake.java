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

import io.netty.channel.ChannelConfig;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RemoteMemory;

import java.util.Locale;
import java.util.Set;

/**
 * Deliberate mistakes of one end, which show the effect at both ends. Mistakes of the requester are about the
 * responder's memory, so that only the responder's device can detect them: a channel never sends an operation that it
 * knows to be wrong.
 */
enum Mistake {
    /** Mistake of the requester: a wrong number in place of the key. */
    KEY {
        @Override
        RemoteMemory apply(RemoteMemory memory) {
            return new RemoteMemory(memory.address(), memory.length(), ~memory.key(), memory.permissions());
        }
    },
    /** Mistake of the requester: it uses the memory behind the exported one. */
    RANGE {
        @Override
        RemoteMemory apply(RemoteMemory memory) {
            return new RemoteMemory(memory.address() + memory.length(), memory.length(), memory.key(),
                    memory.permissions());
        }
    },
    /** Mistake of the responder: its memory may be accessed, but not over this connection. */
    PERMISSION {
        @Override
        void configure(ChannelConfig config) {
            config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
        }
    },
    /**
     * Mistake of the responder: it posts only one receive, which the introduction uses. With the default
     * RNR_RETRY_COUNT the requester's device would try again without end.
     */
    NO_RECEIVE {
        @Override
        void configure(ChannelConfig config) {
            config.setOption(RdmaChannelOption.RNR_RETRY_COUNT, RETRIES);
        }
    },
    /** Mistake of the responder: its receives only have room for the introduction. */
    SHORT_RECEIVE;

    private static final int RETRIES = 1;

    /** Returns the memory that the requester uses in place of the right one. */
    RemoteMemory apply(RemoteMemory memory) {
        return memory;
    }

    /** Sets options of a channel, after the right ones. */
    void configure(ChannelConfig config) {
        // Other mistakes are not about options.
    }

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
