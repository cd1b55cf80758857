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
package io.netty.example.rdma.pubsub;

import io.netty.example.rdma.verbs.ConnectionOptions;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command line options of publishers and subscribers.
 */
final class PubSubOptions {
    @Mixin
    private VerbsOptions options;

    @Mixin
    private ConnectionOptions connection;

    @Option(names = "--by", required = true, description = "One of ${COMPLETION-CANDIDATES}: subscribers read the "
            + "publisher's memory, or the publisher writes to that of the subscribers.")
    private Subscription.By by;

    @Option(names = "--check", defaultValue = "crc", description = "How a subscriber finds that a copy is torn, one of "
            + "${COMPLETION-CANDIDATES}: by a CRC at the end, or since the record is there twice (default: "
            + "${DEFAULT-VALUE}).")
    private Edition.Check check;

    VerbsOptions verbs() {
        return options;
    }

    ConnectionOptions connection() {
        return connection;
    }

    Subscription subscription() {
        return new Subscription(by, new Edition(check, options.size(1, Subscription.MAX_SIZE)), options.count());
    }
}
