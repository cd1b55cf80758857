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
 * The end that moves its tensor to the server's and back.
 */
@Command(name = "gpu-client", sortOptions = false, description = {
        "Has a tensor in memory of a graphics processor, moves it to that of the server and back, and checks what came "
                + "back. Give both the same --way, size and count."})
public final class TensorClient implements Callable<Integer> {
    /** End of what the client's result tells that it did. */
    public static final String RESULT = ", there and back";

    @Mixin
    private TensorOptions options;

    public static void main(String[] args) {
        System.exit(Commands.run(new TensorClient(), args));
    }

    @Override
    public Integer call() throws Exception {
        try (Tensor tensor = options.tensor()) {
            return options.run(group -> {
                if (options.way() == Way.COPY) {
                    return List.of(options.copy().move(group, tensor));
                }
                TensorClientEnd end = new TensorClientEnd(options, tensor);
                options.connection().connect(group, options.verbs().timeout(), end, 0);
                return List.of(end.result());
            });
        }
    }
}
