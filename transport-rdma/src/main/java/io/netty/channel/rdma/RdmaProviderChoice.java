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
package io.netty.channel.rdma;

import io.netty.channel.rdma.verbs.VerbsProvider;

import java.util.Locale;

/** The provider by which a connection goes, and the reason. Immutable. */
public final class RdmaProviderChoice {
    private final VerbsProvider provider;
    private final RdmaProviderReason reason;
    private final String message;

    RdmaProviderChoice(VerbsProvider provider, RdmaProviderReason reason, String message) {
        this.provider = provider;
        this.reason = reason;
        this.message = message;
    }

    /** The provider: shared memory of this host, or an RDMA device. */
    public VerbsProvider provider() {
        return provider;
    }

    public RdmaProviderReason reason() {
        return reason;
    }

    /** A description of what happened, for a person. */
    public String message() {
        return message;
    }

    /** A text such as {@code ibverbs (REFUSED: embedded: Connection refused)}. */
    @Override
    public String toString() {
        return provider.name().toLowerCase(Locale.ROOT) + " (" + reason + ": " + message + ')';
    }
}
