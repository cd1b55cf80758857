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

import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Either end of multicast, as a command: the group and the device.
 */
public abstract class MulticastCommand implements Callable<Integer> {
    @Mixin
    private VerbsOptions options;

    @Option(names = "--group", defaultValue = "239.195.8.8",
            description = "The address of the group (default: ${DEFAULT-VALUE}).")
    private InetAddress group;

    @Mixin
    private BindOptions local;

    private MulticastCommand() {
    }

    abstract DatagramEnd newEnd(VerbsOptions verbs, InetAddress address);

    @Override
    public final Integer call() throws Exception {
        DatagramEnd end = newEnd(options, group);
        return options.run(loops -> {
            RdmaDatagramChannel channel = local.bind(loops, end, 0);
            if (!channel.capabilities().supportsMulticast()) {
                throw new UnsupportedOperationException(channel.capabilities().deviceName() + " has no multicast");
            }
            channel.joinGroup(group).sync();
            channel.pipeline().fireUserEventTriggered(DatagramEnd.READY);
            return List.of(end.result());
        });
    }

    /** Publishes to a group. */
    @Command(name = "multicast-publisher", description = "Sends numbered data to the subscribers of a group, and tells "
            + "how much of it they got. A --size beyond the MTU is lowered to that: the result tells.")
    public static final class MulticastPublisher extends MulticastCommand {
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
        DatagramEnd newEnd(VerbsOptions verbs, InetAddress address) {
            return new Publisher(new InetSocketAddress(address, 0), Math.max(1, subscribers), verbs.count(),
                    verbs.size(0, Integer.MAX_VALUE), Math.max(1, rate));
        }
    }

    /** Subscribes to a group. */
    @Command(name = "multicast-subscriber", description = "Checks what a publisher sends to a group, and counts what "
            + "is lost. The publisher says of which size, and how many. One that comes later gets the rest.")
    public static final class MulticastSubscriber extends MulticastCommand {
        @Option(names = "--leave-after", paramLabel = "NUMBER", defaultValue = "0", description = "Leave the group "
                + "when so many datagrams have come, while the publisher goes on (default: stay to the end).")
        private int leaveAfter;

        public static void main(String[] args) {
            System.exit(Commands.run(new MulticastSubscriber(), args));
        }

        @Override
        DatagramEnd newEnd(VerbsOptions verbs, InetAddress address) {
            return new Subscriber(address, leaveAfter);
        }
    }
}
