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

import io.netty.example.rdma.gpu.TensorCommand.TensorClient;
import io.netty.example.rdma.gpu.TensorCommand.TensorServer;
import io.netty.example.rdma.gpu.TensorCommand.Way;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsOptions.SizeConverter;
import io.netty.microbench.rdma.verbs.PairOptions.End;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * Moves a tensor from one process's graphics memory to another's and back, and compares this with copies over TCP and
 * with host memory.
 */
@Command(name = "gpu", sortOptions = false, description = {
        "Moves a tensor between memory of graphics processors of two processes, there and back, in each way, and "
                + "checks it on the processors' side. It needs Java 22 or later. Without a processor it uses one in "
                + "software. The exit status is 0 if all of it was right."})
public final class GpuTransfer implements Callable<Integer> {
    @Mixin
    private PairOptions pairs;

    @Option(names = "--ways", split = ",", description = "Only these: ${COMPLETION-CANDIDATES} (default: all).")
    private List<Way> ways = List.of(Way.values());

    @Option(names = "--size", split = ",", defaultValue = "64K,4M", converter = SizeConverter.class,
            description = "Bytes of the tensor (default: ${DEFAULT-VALUE}).")
    private List<Integer> sizes;

    @Option(names = "--count", defaultValue = "200", description = "How often (default: ${DEFAULT-VALUE}).")
    private int count;

    @Option(names = "--software", paramLabel = "FILE", description = "The library of the processor in software.")
    private String software;

    public static void main(String[] args) {
        System.exit(Commands.run(new GpuTransfer(), args));
    }

    /** Lines with the location of a tensor, each of which is printed once. */
    private final Set<String> told = new HashSet<>();

    @Override
    public Integer call() throws Exception {
        for (int size : sizes) {
            for (Way way : ways) {
                List<String> arguments = new ArrayList<>(List.of("--way", way.toString(), "--size",
                        Integer.toString(size), "--count", Integer.toString(count)));
                if (software != null) {
                    arguments.addAll(List.of("--software", software));
                }
                pairs.lines(PairOptions.Way.CONNECTION_MANAGER, new End(TensorServer.class, arguments),
                        List.of(new End(TensorClient.class, arguments))).forEach(this::print);
            }
        }
        return 0;
    }

    /** Prints a line, but not the server's result: it has no times of the transfers. */
    private void print(String line) {
        if (line.startsWith(Result.PREFIX) ? line.contains(TensorClient.RESULT) : told.add(line)) {
            System.out.println(line);
        }
    }
}
