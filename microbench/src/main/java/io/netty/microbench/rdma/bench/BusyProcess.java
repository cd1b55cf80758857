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

import io.netty.microbench.rdma.process.Child;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that takes all it can get of a core until its standard input ends, so no longer than its parent lives.
 */
final class BusyProcess {
    private static final String BUSY = "busy";

    private BusyProcess() {
    }

    public static void main(String[] args) throws IOException {
        Thread busy = new Thread(() -> {
            while (true) {
                Thread.onSpinWait();
            }
        }, "busy");
        busy.setDaemon(true);
        busy.start();
        System.out.println(BUSY);
        while (System.in.read() >= 0) {
            // Input does not matter.
        }
    }

    /** Starts a number of busy processes. They end when they are closed. */
    static List<Child> start(int count) throws IOException {
        List<Child> processes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            processes.add(new Child(List.of(), BusyProcess.class, List.of()));
        }
        for (Child process : processes) {
            process.await(BUSY);
        }
        return processes;
    }
}
