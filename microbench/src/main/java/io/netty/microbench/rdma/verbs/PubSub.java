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

import io.netty.example.rdma.pubsub.PubSubCommand.Publisher;
import io.netty.example.rdma.pubsub.PubSubCommand.Subscriber;
import io.netty.example.rdma.pubsub.Subscription;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.VerbsOptions.SizeConverter;
import io.netty.microbench.rdma.verbs.PairOptions.End;
import io.netty.microbench.rdma.verbs.PairOptions.Way;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Runs a publisher and its subscribers, by read and by write, for each way of connecting them.
 */
@Command(name = "pubsub", sortOptions = false, description = {
        "Runs a publisher and its subscribers as processes, by read and by write, connected in each way. The exit "
                + "status is 0 if all of it was right."})
public final class PubSub implements Callable<Integer> {
    @Mixin
    private PairOptions pairs;

    @Option(names = "--by", split = ",", description = "Only so: ${COMPLETION-CANDIDATES} (default: all).")
    private List<Subscription.By> ways = List.of(Subscription.By.values());

    @Option(names = "--subscribers", defaultValue = "2", description = "How many (default: ${DEFAULT-VALUE}).")
    private int subscribers;

    @Option(names = "--size", defaultValue = "64K", converter = SizeConverter.class,
            description = "Bytes of each edition (default: ${DEFAULT-VALUE}).")
    private int size;

    @Option(names = "--count", defaultValue = "1000",
            description = "How many editions each subscriber wants to see (default: ${DEFAULT-VALUE}).")
    private int count;

    public static void main(String[] args) {
        System.exit(Commands.run(new PubSub(), args));
    }

    @Override
    public Integer call() throws Exception {
        for (Subscription.By by : ways) {
            List<String> arguments = List.of("--by", by.toString(), "--size", Integer.toString(size), "--count",
                    Integer.toString(count));
            List<End> ends = new ArrayList<>();
            for (int i = 0; i < subscribers; i++) {
                ends.add(new End(Subscriber.class, with(arguments, "--number", i)));
            }
            for (Way way : Way.values()) {
                pairs.run(way, new End(Publisher.class, with(arguments, "--subscribers", subscribers)), ends);
            }
        }
        return 0;
    }

    private static List<String> with(List<String> arguments, String option, int value) {
        List<String> all = new ArrayList<>(arguments);
        all.addAll(List.of(option, Integer.toString(value)));
        return all;
    }
}
