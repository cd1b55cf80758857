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
package io.netty.example.rdma.requests;

import io.netty.example.rdma.util.Commands;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;

/**
 * The end whose memory is read and written, and which receives. It serves one requester.
 */
@Command(name = "responder", sortOptions = false, description = {
        "Has the memory for the requests of a requester, and checks what they do there. Ends after it. "
                + "Give both the same operation, size and count."})
public final class Responder implements Callable<Integer> {
    @Mixin
    private OperationOptions options;

    public static void main(String[] args) {
        System.exit(Commands.run(new Responder(), args));
    }

    @Override
    public Integer call() throws Exception {
        return options.respond();
    }
}
