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

import io.netty.example.rdma.pingpong.PingPongCommand.PingPongClient;
import io.netty.example.rdma.pingpong.PingPongCommand.PingPongServer;
import io.netty.example.rdma.pingpong.PingPongMode;
import io.netty.example.rdma.util.Commands;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.util.EnumSet;
import java.util.List;

/**
 * Plays all modes, beside perftest.
 */
@Command(name = "pingpong", description = "Round trips of a ping-pong in several modes, with the data checked, beside "
        + "those of perftest's programs on the same verbs provider.")
public final class PingPong extends PerftestComparison<PingPongMode> {
    private static final int MAX_SHORT = 4096;
    private static final int WARM_UP_SECONDS = 3;

    @Option(names = "--mode", split = ",", description = "Modes: ${COMPLETION-CANDIDATES} (default: those of one-sided "
            + "operations alone, CLIENT to READ).")
    private List<PingPongMode> modes = List.copyOf(EnumSet.range(PingPongMode.CLIENT, PingPongMode.READ));

    public PingPong() {
        super(PingPongServer.class, PingPongClient.class);
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new PingPong(), args));
    }

    @Override
    protected List<PingPongMode> modes() {
        return modes;
    }

    @Override
    protected Effort effort(int size, boolean quick) {
        boolean isShort = size <= MAX_SHORT;
        // ib_write_lat's processes don't poll completion queues while they wait. On the embedded provider, a thread of
        // the provider then does the work of a device. If this thread has no core for itself, a round trip takes
        // milliseconds.
        return quick ? new Effort(2000, 0, 50)
                : isShort ? new Effort(200_000, WARM_UP_SECONDS, 500) : new Effort(20_000, WARM_UP_SECONDS, 500);
    }

    @Override
    protected List<String> programs(PingPongMode mode) {
        return mode == PingPongMode.WRITE ? List.of("ib_write_lat", "ib_send_lat")
                : mode == PingPongMode.SEND ? List.of("ib_send_lat") : List.of();
    }

    @Override
    protected boolean isLatency() {
        return true;
    }

    @Override
    protected String explanation() {
        return "Microseconds. Perftest's figures are half round trips, doubled here. ib_write_lat looks at memory and "
                + "does not poll\nits completion queue meanwhile: a device needs no help, the embedded provider then "
                + "works in threads of its own.\nib_send_lat polls at both ends, as event loops do.";
    }
}
