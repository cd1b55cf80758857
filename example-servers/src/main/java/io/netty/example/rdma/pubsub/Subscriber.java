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

import io.netty.example.rdma.util.Commands;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * Looks at what is published, until it has seen enough editions.
 */
@Command(name = "subscriber", sortOptions = false, description = {
        "Looks at what a publisher publishes, until it has seen as many editions as --count says. Copies that are torn "
                + "are thrown away and taken again."})
public final class Subscriber implements Callable<Integer> {
    @Mixin
    private PubSubOptions options;

    @Option(names = "--listen", description = "Let the publisher connect, at the port plus --number.")
    private boolean listening;

    @Option(names = "--number", defaultValue = "0",
            description = "With --descriptors or --listen: which of the subscribers this one is, from 0 (default: "
                    + "${DEFAULT-VALUE}).")
    private int number;

    public static void main(String[] args) {
        System.exit(Commands.run(new Subscriber(), args));
    }

    @Override
    public Integer call() throws Exception {
        Subscription subscription = options.subscription();
        return options.verbs().run(group -> {
            SubscriberEnd end = subscription.by() == Subscription.By.READ ? new ReadSubscriber(subscription)
                    : new WrittenSubscriber(subscription);
            if (listening) {
                options.connection().accept(group, options.verbs().timeout(), end, number);
            } else {
                options.connection().connect(group, options.verbs().timeout(), end, number);
            }
            return List.of(end.result());
        });
    }
}
