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
package io.netty.example.rdma.echo.compare;

import io.netty.example.rdma.compare.Comparison;
import io.netty.example.rdma.compare.LimitProgram;
import io.netty.example.rdma.compare.Measurement;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * What this machine can do between two processes, by a C program that uses nothing of the transports: messages through
 * a ring in shared memory, copied in and out, both ends polling.
 */
final class Limit implements Comparison.Reference {
    /** For each of the six that it measures. It warms up for a quarter of it, and has no compiler to wait for. */
    private static final int MILLIS = 300;
    private static final int MAX_SECONDS = 60;

    private final LimitProgram program;

    Limit(Path program) {
        this.program = new LimitProgram(program, MAX_SECONDS);
    }

    @Override
    public String name() {
        return "limit (C)";
    }

    @Override
    public List<Measurement> measure() throws IOException, InterruptedException {
        return program.measure("--only", "round-trips", "--only", "streams", "--millis", Integer.toString(MILLIS));
    }
}
