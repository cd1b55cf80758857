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
package io.netty.microbench.rdma.sample;

import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;

import java.util.List;
import java.util.Locale;

/**
 * A transport and how its event loops wait.
 */
public record Mode(Transport transport, Waiting waiting) {
    /** Returns the modes of a transport: the default, and, if it can poll, the one without sleeping. */
    public static List<Mode> of(Transport transport) {
        return transport.canPoll() ? List.of(byDefault(transport), polling(transport)) : List.of(byDefault(transport));
    }

    /** Returns the default mode. */
    public static Mode byDefault(Transport transport) {
        return new Mode(transport, Waiting.DEFAULT);
    }

    /** Returns the mode in which event loops never sleep. */
    public static Mode polling(Transport transport) {
        return new Mode(transport, Waiting.POLLING);
    }

    /** Returns a text for users. */
    @Override
    public String toString() {
        return transport + (waiting == Waiting.DEFAULT ? "" : ' ' + waiting.name().toLowerCase(Locale.ROOT));
    }
}
