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
 * Subscribes to a group.
 */
@Command(name = "multicast-subscriber", description = "Checks what a publisher sends to a group, and counts what is "
        + "lost. The publisher says of which size, and how many. One that comes later gets the rest.")
public final class MulticastSubscriber implements Callable<Integer> {
    @Mixin
    private VerbsOptions options;

    @Mixin
    private MulticastOptions multicast;

    @Option(names = "--leave-after", paramLabel = "NUMBER", defaultValue = "0", description = "Leave the group when so "
            + "many datagrams have come, while the publisher goes on (default: stay to the end).")
    private int leaveAfter;

    public static void main(String[] args) {
        System.exit(Commands.run(new MulticastSubscriber(), args));
    }

    @Override
    public Integer call() throws Exception {
        return options.run(group -> {
            Subscriber subscriber = new Subscriber(multicast.group().getAddress(), leaveAfter);
            multicast.join(group, subscriber);
            return List.of(subscriber.result());
        });
    }
}
