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

import io.netty.example.rdma.blast.BlastCommand.BlastClient;
import io.netty.example.rdma.blast.BlastCommand.BlastServer;
import io.netty.example.rdma.blast.BlastMode;
import io.netty.example.rdma.util.Commands;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.util.List;

/**
 * Blasts in all modes, beside perftest.
 */
@Command(name = "blast", description = "Writes and reads as fast as they go, with the data checked, beside those of "
        + "perftest's programs on the same verbs provider.")
public final class Blast extends PerftestComparison<BlastMode> {
    private static final int MAX_SHORT = 4096;
    private static final int WARM_UP_SECONDS = 3;

    @Option(names = "--mode", split = ",", description = "Modes: ${COMPLETION-CANDIDATES} (default: all).")
    private List<BlastMode> modes = List.of(BlastMode.values());

    public Blast() {
        super(BlastServer.class, BlastClient.class);
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new Blast(), args));
    }

    @Override
    protected List<BlastMode> modes() {
        return modes;
    }

    @Override
    protected Effort effort(int size, boolean quick) {
        boolean isShort = size <= MAX_SHORT;
        return quick ? new Effort(isShort ? 20_000 : 1000, 0, isShort ? 5000 : 500)
                : isShort ? new Effort(5_000_000, WARM_UP_SECONDS, 500_000)
                        : new Effort(100_000, WARM_UP_SECONDS, 50_000);
    }

    @Override
    protected List<String> programs(BlastMode mode) {
        return mode == BlastMode.WRITE ? List.of("ib_write_bw", "ib_send_bw") : List.of("ib_read_bw");
    }

    @Override
    protected boolean isLatency() {
        return false;
    }

    @Override
    protected String explanation() {
        return "Two chains of 64 operations are under way; perftest's programs have 128 operations. The servers of "
                + "ib_write_bw and\nib_read_bw do nothing: on the embedded provider its own threads do the work of a "
                + "device there. That of ib_send_bw polls.";
    }
}
