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
package io.netty.microbench.rdma.verbs;

import io.netty.example.rdma.datagrams.MulticastCommand.MulticastPublisher;
import io.netty.example.rdma.datagrams.MulticastCommand.MulticastSubscriber;
import io.netty.example.rdma.util.Commands;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Runs a publisher and subscribers, each as a process.
 */
@Command(name = "multicast", description = "Runs a publisher and subscribers of a group as processes, and checks what "
        + "they got.")
public final class Multicast implements Callable<Integer> {
    @Mixin
    private PairOptions options;

    @Option(names = "--subscribers", defaultValue = "2", description = "How many (default: ${DEFAULT-VALUE}).")
    private int subscribers;

    @Option(names = "--group", defaultValue = "239.195.8.8",
            description = "The address of the group (default: ${DEFAULT-VALUE}).")
    private String group;

    @Option(names = "--size", defaultValue = "900",
            description = "Bytes of data in each datagram (default: ${DEFAULT-VALUE}).")
    private String size;

    @Option(names = "--count", defaultValue = "20000", description = "How many (default: ${DEFAULT-VALUE}).")
    private String count;

    @Option(names = "--rate", defaultValue = "10000",
            description = "Datagrams a second (default: ${DEFAULT-VALUE}).")
    private String rate;

    public static void main(String[] args) {
        System.exit(Commands.run(new Multicast(), args));
    }

    @Override
    public Integer call() throws Exception {
        List<PairOptions.End> ends = new ArrayList<>();
        for (int i = 0; i < subscribers; i++) {
            ends.add(new PairOptions.End(MulticastSubscriber.class, List.of("--group", group)));
        }
        ends.add(new PairOptions.End(MulticastPublisher.class, List.of("--group", group, "--subscribers",
                String.valueOf(subscribers), "--size", size, "--count", count, "--rate", rate)));
        options.run(ends);
        return 0;
    }
}
