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

import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Publishes until all subscribers have seen enough.
 */
@Command(name = "publisher", sortOptions = false, description = {
        "Publishes editions of the same record, one after the other, until all subscribers have seen as many as they "
                + "want, however early or late each of them comes and goes. One that dies "
                + "counts as gone. Give all of them the same --by and size."})
public final class Publisher implements Callable<Integer> {
    @Mixin
    private PubSubOptions options;

    @Option(names = "--subscribers", defaultValue = "1",
            description = "How many subscribers to wait for (default: ${DEFAULT-VALUE}).")
    private int subscribers;

    @Option(names = "--connect", description = "Connect to the subscribers, which are started first, with --listen: to "
            + "that of number N at the port plus N.")
    private boolean connecting;

    @Option(names = "--interval", defaultValue = "500",
            description = "Microseconds from one edition to the next (default: ${DEFAULT-VALUE}).")
    private int intervalMicros;

    public static void main(String[] args) {
        System.exit(Commands.run(new Publisher(), args));
    }

    @Override
    public Integer call() throws Exception {
        Subscription subscription = options.subscription();
        if (subscription.by() == Subscription.By.READ) {
            SharedMemory memory = new SharedMemory(subscription.edition());
            List<VerbsEnd> ends = new ArrayList<>();
            for (int i = 0; i < subscribers; i++) {
                ends.add(new ReadPublisher(subscription, memory));
            }
            return publish(memory, ends);
        }
        List<WritingPublisher> ends = new ArrayList<>();
        for (int i = 0; i < subscribers; i++) {
            ends.add(new WritingPublisher(subscription));
        }
        return publish(new Mailing(subscription.edition(), ends), ends);
    }

    private int publish(Outlet outlet, List<? extends VerbsEnd> ends) throws Exception {
        try (Press press = new Press(outlet, TimeUnit.MICROSECONDS.toNanos(intervalMicros))) {
            press.start();
            return options.verbs().run(group -> meet(group, ends));
        }
    }

    private List<CompletableFuture<Result>> meet(EventLoopGroup group, List<? extends VerbsEnd> ends)
            throws Exception {
        if (connecting) {
            for (int i = 0; i < ends.size(); i++) {
                options.connection().connectToOneOf(group, options.verbs().timeout(), ends.get(i), i);
            }
        } else {
            options.connection().accept(group, options.verbs().timeout(), ends);
        }
        List<CompletableFuture<Result>> results = new ArrayList<>();
        ends.forEach(end -> results.add(end.result()));
        return results;
    }
}
