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
package io.netty.channel.rdma.netty;

import io.netty.testsuite.transport.socket.SocketSslEchoTest;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Variants of {@link SocketSslEchoTest}: engines of TLS times options.
 */
public final class SslEchoVariants {
    /** The variants count flags in binary, so that with an odd step each flag has both values. */
    private static final int STEP = 5;

    private SslEchoVariants() {
    }

    /** One in five. */
    public static Collection<Object[]> sample() throws Exception {
        List<Object[]> all = new ArrayList<>(SocketSslEchoTest.data());
        List<Object[]> sample = new ArrayList<>();
        for (int i = 0; i < all.size(); i += STEP) {
            sample.add(all.get(i));
        }
        return sample;
    }
}
