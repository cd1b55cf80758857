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
package io.netty.microbench.rdma.bench;

import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.load.EchoLoad;
import picocli.CommandLine.Command;

import java.util.List;

/**
 * Round trips and streams of sizes that a wire of some ten megabytes a second carries often enough in a window.
 */
@Command(name = "wire-load", description = "Measures round trips and streams over a slow wire.")
public final class WireLoad extends EchoLoad {
    static final String WHERE = " over the wire";
    static final List<Integer> MESSAGE_BYTES = List.of(64, 4 << 10, 64 << 10);
    private static final int PIECE_BYTES = 2 << 20;

    private WireLoad() {
        super(WHERE, MESSAGE_BYTES, PIECE_BYTES);
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new WireLoad(), args));
    }
}
