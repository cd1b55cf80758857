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
 * Mistakes of one end, to see the effect at both. Those of the requester are about the responder's memory, and only the
 * responder's device can detect them: an operation that this end knows to be wrong is never sent.
 */
enum Mistake {
    /** Requester's: another number in place of the key. */
    KEY {
        @Override
        RemoteMemory apply(RemoteMemory memory) {
            return new RemoteMemory(memory.address(), memory.length(), ~memory.key(), memory.permissions());
        }
    },
    /** Requester's: the memory that lies behind. */
    RANGE {
        @Override
        RemoteMemory apply(RemoteMemory memory) {
            return new RemoteMemory(memory.address() + memory.length(), memory.length(), memory.key(),
                    memory.permissions());
        }
    },
    /** Responder's: its memory may be accessed, but not by this connection. */
    PERMISSION {
        @Override
        void configure(ChannelConfig config) {
            config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
        }
    },
    /**
     * Responder's: it posts one receive and no more, which the introduction takes. By default the requester's
     * device would try again for ever.
     */
    NO_RECEIVE {
        @Override
        void configure(ChannelConfig config) {
            config.setOption(RdmaChannelOption.RNR_RETRY_COUNT, RETRIES);
        }
    },
    /** Responder's: its receives have no more room than the introduction needs. */
    SHORT_RECEIVE;

    private static final int RETRIES = 1;

    /** Takes memory of the other end for something else. */
    RemoteMemory apply(RemoteMemory memory) {
        return memory;
    }

    /** Sets options of a channel, after those that are right. */
    void configure(ChannelConfig config) {
        // Others are not about options.
    }

    /** As written on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
