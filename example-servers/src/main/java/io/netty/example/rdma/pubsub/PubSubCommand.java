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
import io.netty.example.rdma.pubsub.Press.Mailing;
import io.netty.example.rdma.pubsub.Press.Outlet;
import io.netty.example.rdma.pubsub.Press.SharedMemory;
import io.netty.example.rdma.pubsub.PublisherEnd.ReadPublisher;
import io.netty.example.rdma.pubsub.PublisherEnd.WritingPublisher;
import io.netty.example.rdma.pubsub.SubscriberEnd.ReadSubscriber;
import io.netty.example.rdma.pubsub.SubscriberEnd.WrittenSubscriber;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.ConnectionOptions;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A publisher or a subscriber, as a command.
 */
public abstract class PubSubCommand implements Callable<Integer> {
    @Mixin
    final VerbsOptions verbs = new VerbsOptions();

    @Mixin
    final ConnectionOptions connection = new ConnectionOptions();

    @Option(names = "--by", required = true, description = "One of ${COMPLETION-CANDIDATES}: subscribers read the "
            + "publisher's memory, or the publisher writes to that of the subscribers.")
    private Subscription.By by;

    @Option(names = "--check", defaultValue = "crc", description = "How a subscriber finds that a copy is torn, one of "
            + "${COMPLETION-CANDIDATES}: by a CRC at the end, or since the record is there twice (default: "
            + "${DEFAULT-VALUE}).")
    private Edition.Check check;

    private PubSubCommand() {
    }

    final Subscription subscription() {
        return new Subscription(by, new Edition(check, verbs.size(1, Subscription.MAX_SIZE)), verbs.count());
    }

    /** Publishes until all subscribers have seen enough. */
    @Command(name = "publisher", sortOptions = false, description = {
            "Publishes editions of the same record, one after the other, until all subscribers have seen as many as "
                    + "they want, however early or late each of them comes and goes. One that dies counts as gone. "
                    + "Give all of them the same --by and size."})
    public static final class Publisher extends PubSubCommand {
        @Option(names = "--subscribers", defaultValue = "1",
                description = "How many subscribers to wait for (default: ${DEFAULT-VALUE}).")
        private int subscribers;

        @Option(names = "--connect", description = "Connect to the subscribers, which are started first, with "
                + "--listen: to that of number N at the port plus N.")
        private boolean connecting;

        @Option(names = "--interval", defaultValue = "500",
                description = "Microseconds from one edition to the next (default: ${DEFAULT-VALUE}).")
        private int intervalMicros;

        public static void main(String[] args) {
            System.exit(Commands.run(new Publisher(), args));
        }

        @Override
        public Integer call() throws Exception {
            Subscription subscription = subscription();
            if (subscription.by() == Subscription.By.READ) {
                SharedMemory memory = new SharedMemory(subscription.edition());
                return publish(memory, ends(() -> new ReadPublisher(subscription, memory)));
            }
            List<WritingPublisher> ends = ends(() -> new WritingPublisher(subscription));
            return publish(new Mailing(subscription.edition(), ends), ends);
        }

        private <E> List<E> ends(Supplier<E> newEnd) {
            return Stream.generate(newEnd).limit(subscribers).toList();
        }

        private int publish(Outlet outlet, List<? extends VerbsEnd> ends) throws Exception {
            try (Press press = new Press(outlet, TimeUnit.MICROSECONDS.toNanos(intervalMicros))) {
                press.start();
                return verbs.run(group -> meet(group, ends));
            }
        }

        private List<CompletableFuture<Result>> meet(EventLoopGroup group, List<? extends VerbsEnd> ends)
                throws Exception {
            if (connecting) {
                for (int i = 0; i < ends.size(); i++) {
                    connection.connectToOneOf(group, verbs.timeout(), ends.get(i), i);
                }
            } else {
                connection.accept(group, verbs.timeout(), ends);
            }
            return ends.stream().map(VerbsEnd::result).toList();
        }
    }

    /** Looks at what is published, until it has seen enough editions. */
    @Command(name = "subscriber", sortOptions = false, description = {
            "Looks at what a publisher publishes, until it has seen as many editions as --count says. Copies that are "
                    + "torn are thrown away and taken again."})
    public static final class Subscriber extends PubSubCommand {
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
            Subscription subscription = subscription();
            return verbs.run(group -> {
                SubscriberEnd end = subscription.by() == Subscription.By.READ ? new ReadSubscriber(subscription)
                        : new WrittenSubscriber(subscription);
                if (listening) {
                    connection.accept(group, verbs.timeout(), end, number);
                } else {
                    connection.connect(group, verbs.timeout(), end, number);
                }
                return List.of(end.result());
            });
        }
    }
}
