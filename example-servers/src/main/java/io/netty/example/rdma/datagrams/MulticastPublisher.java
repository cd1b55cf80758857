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
package io.netty.example.rdma.datagrams;

import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * Publishes to a group.
 */
@Command(name = "multicast-publisher", description = "Sends numbered data to the subscribers of a group, and tells how "
        + "much of it they got. A --size beyond the MTU is lowered to that: the result tells.")
public final class MulticastPublisher implements Callable<Integer> {
    @Mixin
    private VerbsOptions options;

    @Mixin
    private MulticastOptions multicast;

    @Option(names = "--subscribers", defaultValue = "1",
            description = "How many subscribers to wait for (default: ${DEFAULT-VALUE}).")
    private int subscribers;

    @Option(names = "--rate", defaultValue = "10000",
            description = "Datagrams a second; nothing else holds the publisher up (default: ${DEFAULT-VALUE}).")
    private int rate;

    public static void main(String[] args) {
        System.exit(Commands.run(new MulticastPublisher(), args));
    }

    @Override
    public Integer call() throws Exception {
        int size = options.size(0, Integer.MAX_VALUE);
        return options.run(group -> {
            Publisher publisher = new Publisher(multicast.group(), Math.max(1, subscribers), options.count(), size,
                    Math.max(1, rate));
            multicast.join(group, publisher);
            return List.of(publisher.result());
        });
    }
}
