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
package io.netty.channel.rdma.bytestream;

import io.netty.channel.rdma.TestTimeouts;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The wire between the two devices of the soft-RoCE guest (testsuite/rxe), which can be broken while one process is at
 * both ends.
 */
final class Wire {
    /** The variable that only the guest has, with the value 1. */
    static final String GUEST = "RXE_GUEST";

    private Wire() {
    }

    /** Where a server is to listen: what is sent there leaves through the other device. */
    static InetSocketAddress farEnd() {
        return new InetSocketAddress("10.99.0.2", 0);
    }

    /** Everything is lost, in both directions. */
    static void cut() throws Exception {
        net("cut");
    }

    /** Cuts the way back: packets of the far end are lost. */
    static void cutBack() throws Exception {
        net("cut", "back");
    }

    /** The link is down, and the ports of both devices report it. */
    static void down() throws Exception {
        net("down");
    }

    /** @param faults as tc-netem(8) has them; in both directions. */
    static void disturb(String faults) throws Exception {
        net(("netem " + faults).split(" "));
    }

    static void heal() throws Exception {
        net("heal");
    }

    private static void net(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("rxe-net"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(command + ": " + output).isZero();
    }
}
