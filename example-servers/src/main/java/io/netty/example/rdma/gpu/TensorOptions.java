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

import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.verbs.ConnectionOptions;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;

/**
 * The command line options of both ends.
 */
final class TensorOptions {
    private static final int MAX_SIZE = 1 << 30;

    @Mixin
    private VerbsOptions options;

    @Mixin
    private ConnectionOptions connection;

    @Option(names = "--way", defaultValue = "gpu", description = "One of ${COMPLETION-CANDIDATES}: RDMA between "
            + "memory of graphics processors, or of the host, or copies by the host and TCP (default: "
            + "${DEFAULT-VALUE}).")
    private Way way;

    @Option(names = "--library", defaultValue = "libcuda.so.1",
            description = "CUDA's driver library (default: ${DEFAULT-VALUE}).")
    private String library;

    @Option(names = "--software", paramLabel = "FILE", description = "The library of a processor in software, for a "
            + "machine without one.")
    private String software;

    VerbsOptions verbs() {
        return options;
    }

    /** Runs the program on event loops for the way: prints its result. */
    int run(VerbsOptions.Body body) throws Exception {
        return options.run(way == Way.COPY ? Transport.EPOLL : Transport.RDMA, body);
    }

    ConnectionOptions connection() {
        return connection;
    }

    TensorCopy copy() {
        return new TensorCopy(this);
    }

    Way way() {
        return way;
    }

    /** The text on which both ends have to agree. */
    String program() {
        return "tensor by " + way + ", " + options.count() + " times " + size() + " bytes";
    }

    private int size() {
        return options.size(1, MAX_SIZE);
    }

    /** Allocates the tensor, and prints where it is. */
    Tensor tensor() throws IOException {
        Cuda cuda = way == Way.HOST ? null : load();
        System.out.println("tensor in memory of " + (cuda == null ? "the host" : cuda.name()));
        return new Tensor(cuda, size());
    }

    private Cuda load() throws IOException {
        try {
            return Cuda.load(library);
        } catch (IOException e) {
            if (software == null || Runtime.version().feature() < Cuda.JAVA) {
                throw e;
            }
            System.out.println("no graphics processor, but one in software: " + e.getMessage());
            return Cuda.load(software);
        }
    }
}
