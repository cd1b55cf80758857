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
package io.netty.example.rdma.gpu;

import io.netty.example.rdma.util.Commands;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.List;
import java.util.concurrent.Callable;

/**
 * The end whose tensor the client writes and reads. It serves one client.
 */
@Command(name = "gpu-server", sortOptions = false, description = {
        "Has a tensor in memory of a graphics processor, which a client writes and reads, and checks it after each "
                + "round. Ends after the client. Give both the same --way, size and count."})
public final class TensorServer implements Callable<Integer> {
    @Mixin
    private TensorOptions options;

    public static void main(String[] args) {
        System.exit(Commands.run(new TensorServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        try (Tensor tensor = options.tensor()) {
            return options.run(group -> {
                if (options.way() == Way.COPY) {
                    return List.of(options.copy().serve(group, tensor));
                }
                TensorServerEnd end = new TensorServerEnd(options, tensor);
                options.connection().accept(group, options.verbs().timeout(), List.of(end));
                return List.of(end.result());
            });
        }
    }
}
