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

import io.netty.example.rdma.requests.Operation;
import io.netty.example.rdma.requests.OperationCommand.Requester;
import io.netty.example.rdma.requests.OperationCommand.Responder;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.VerbsOptions.SizeConverter;
import io.netty.microbench.rdma.verbs.PairOptions.End;
import io.netty.microbench.rdma.verbs.PairOptions.Way;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * Runs a requester and a responder for each operation, and for each way of connecting them.
 */
@Command(name = "requests", sortOptions = false, description = {
        "Runs requester and responder as two processes, for each operation, connected in each way. The exit status is "
                + "0 if all of it was right."})
public final class AllRequests implements Callable<Integer> {
    @Mixin
    private PairOptions pairs;

    @Option(names = "--operations", split = ",", description = "Only these: ${COMPLETION-CANDIDATES} (default: all).")
    private List<Operation> operations = List.of(Operation.values());

    @Option(names = "--size", defaultValue = "4K", converter = SizeConverter.class,
            description = "Bytes of each request that has a size (default: ${DEFAULT-VALUE}).")
    private int size;

    @Option(names = "--count", defaultValue = "1000", description = "Requests of each (default: ${DEFAULT-VALUE}).")
    private int count;

    public static void main(String[] args) {
        System.exit(Commands.run(new AllRequests(), args));
    }

    @Override
    public Integer call() throws Exception {
        for (Operation operation : operations) {
            List<String> arguments = List.of("--operation", operation.toString(), "--size", Integer.toString(size),
                    "--count", Integer.toString(count));
            for (Way way : Way.values()) {
                pairs.run(way, new End(Responder.class, arguments), List.of(new End(Requester.class, arguments)));
            }
        }
        return 0;
    }
}
