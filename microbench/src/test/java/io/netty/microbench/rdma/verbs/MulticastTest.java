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

import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.message.RdmaCapabilities;
import io.netty.channel.rdma.verbs.Device;
import io.netty.example.rdma.util.Commands;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Timeout(300)
class MulticastTest {
    @BeforeAll
    static void assumeMulticast() throws Exception {
        assumeTrue(RdmaCapabilities.of(Device.names().get(0)).supportsMulticast(), "the device has no multicast");
    }

    @Test
    void everySubscriberGetsDataThatAreRight() {
        PrintStream out = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            assertThat(Commands.run(new Multicast(), "--host", TestAddress.HOST, "--timeout",
                    VerbsCommandsTest.TIMEOUT, "--group", TestAddress.anyGroup().getHostAddress(),
                    "--subscribers", "2", "--count", "500",
                    "--rate", "1000")).isZero();
        } finally {
            System.setOut(out);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8).lines().filter(line -> line.startsWith("result: ")))
                .hasSize(3).allMatch(line -> line.contains("all right")).filteredOn(line ->
                        line.contains("published to 2 subscribers, 500 x 900 bytes")).hasSize(1);
    }
}
