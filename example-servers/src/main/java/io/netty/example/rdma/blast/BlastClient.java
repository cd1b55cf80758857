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
package io.netty.example.rdma.blast;

import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.ConnectionOptions;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * The end of a blast that connects.
 */
@Command(name = "blast-client",
        description = "Writes to, or reads, the memory of a blast-server that has the same options.")
public final class BlastClient implements Callable<Integer> {
    @Mixin
    private BlastOptions options;

    @Mixin
    private ConnectionOptions connection;

    public static void main(String[] args) {
        System.exit(Commands.run(new BlastClient(), args));
    }

    @Override
    public Integer call() throws Exception {
        VerbsOptions verbs = options.verbs();
        return verbs.run(group -> {
            BlastEnd end = options.newEnd(true);
            connection.connect(group, verbs.timeout(), end, 0);
            return List.of(end.result());
        });
    }
}
