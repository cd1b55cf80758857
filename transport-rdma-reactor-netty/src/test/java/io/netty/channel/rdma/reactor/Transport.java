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
package io.netty.channel.rdma.reactor;

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import reactor.netty.resources.LoopResources;

import java.time.Duration;
import java.util.Random;

/**
 * The event loops that a test runs on, and what is used for comparison.
 */
enum Transport {
    RDMA {
        @Override
        LoopResources newLoops() {
            return RdmaLoopResources.create("test", 2, true);
        }

        @Override
        boolean carries(Channel connection) {
            return connection.attr(RdmaOrTcp.TRANSPORT).get() == RdmaOrTcpTransport.RDMA;
        }
    },

    EPOLL {
        @Override
        LoopResources newLoops() {
            return LoopResources.create("test", 2, true);
        }

        @Override
        boolean carries(Channel connection) {
            return connection instanceof EpollSocketChannel;
        }
    };

    static final Duration LIMIT = Duration.ofSeconds(TestTimeouts.SECONDS);
    private static final Duration QUIET_PERIOD = Duration.ofMillis(20);

    abstract LoopResources newLoops();

    /** Returns whether a connection, not a stream of HTTP/2, is one of this transport. */
    abstract boolean carries(Channel connection);

    static void dispose(LoopResources loops) {
        loops.disposeLater(QUIET_PERIOD, LIMIT).block(LIMIT);
    }

    static byte[] bytes(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
