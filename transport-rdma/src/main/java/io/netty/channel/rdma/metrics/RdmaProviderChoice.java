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
package io.netty.channel.rdma.metrics;

import io.netty.channel.rdma.verbs.VerbsProvider;

import java.util.Locale;

/**
 * The provider of a connection, and the reason for it.
 *
 * @param provider shared memory of this host, or an RDMA device.
 * @param reason   for metrics and decisions.
 * @param message  a description for a person.
 */
public record RdmaProviderChoice(VerbsProvider provider, Reason reason, String message) {
    /** The reason why a connection uses its provider: see {@link RdmaProviderChoice}. */
    public enum Reason {
        /** The process uses one provider. */
        ONLY,
        /**
         * {@link io.netty.channel.rdma.RdmaChannelOption#PROVIDERS} or {@link
         * io.netty.channel.rdma.RdmaChannelOption#DEVICE} allows only this one.
         */
        OPTION,
        /** The provider is the nearest one that the channel may use, and a process listens there. */
        NEAREST,
        /** The channel was bound before it was connected. */
        BOUND,
        /** No process listens by the nearer provider. */
        REFUSED,
        /** The nearer provider does not lead to the address, which is not of this host and network namespace. */
        NO_ROUTE,
        /** The nearer provider got no answer in time. */
        TIMEOUT,
        /** The nearer one has failed in another way. */
        FAILED,
        /** The nearer one was passed over, because it had not answered a while ago. */
        REMEMBERED,
        /** The peer has chosen the provider: the channel was accepted by a listener. */
        ACCEPTED
    }

    /** A text such as {@code ibverbs (REFUSED: embedded: Connection refused)}. */
    @Override
    public String toString() {
        return provider.name().toLowerCase(Locale.ROOT) + " (" + reason + ": " + message + ')';
    }
}
