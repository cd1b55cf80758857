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
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.DeviceAddresses;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.example.rdma.requests.OperationCommand.Requester;
import io.netty.example.rdma.requests.OperationCommand.Responder;
import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.verbs.PairOptions.End;
import io.netty.microbench.rdma.verbs.PairOptions.Way;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The commands that run both ends of a verbs example as processes.
 */
@Timeout(180)
class VerbsCommandsTest {
    /** Maximum seconds of a process. */
    static final String TIMEOUT = Long.toString(60L * TestTimeouts.MULTIPLIER);

    @Test
    void requesterAndResponderFindEachOtherInEachWay() {
        assertThat(run(new AllRequests(), "--operations", "write-imm,read-text,write-imm-text", "--count", "20",
                "--size", "1K")).isZero();
    }

    @Test
    void requesterAndResponderTakeTheDeviceThatTheyAreTold() throws Exception {
        String device = DeviceAddresses.find().byDevice().entrySet().stream().filter(entry -> entry.getValue().stream()
                .anyMatch(address -> address.getHostAddress().equals(TestAddress.HOST))).findFirst().orElseThrow()
                .getKey();
        assertThat(sendList("-d", device, "-i", "1")).isZero();
        assertThat(sendList("-d", "nobody0")).isOne();
        assertThat(sendList("-g", "255")).isOne();
    }

    private static int sendList(String... choice) {
        List<String> arguments = new ArrayList<>(List.of("--operations", "send-list", "--count", "20"));
        arguments.addAll(List.of(choice));
        return run(new AllRequests(), arguments.toArray(new String[0]));
    }

    @Test
    void endTellsTheStatesOfItsConnectionAndWhatItHas() throws Exception {
        List<String> arguments = List.of("--operation", "send", "--count", "1", "--inline-receive", "64");
        List<String> telling = new ArrayList<>(arguments);
        telling.add("--states");
        List<String> lines = new PairOptions().lines(Way.CONNECTION_MANAGER, new End(Responder.class, arguments),
                List.of(new End(Requester.class, telling)));
        assertThat(lines).containsSubsequence("connection: STARTING", "connection: RUNNING", "connection: STOPPING",
                "connection: IDLE");
        String granted = VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED ?
                "receives with 64 bytes inline" : "receives";
        assertThat(lines).anyMatch(line -> line.startsWith("connection: ") && line.endsWith(granted));
    }

    @Test
    void endThatFailsFailsTheCommand() {
        assertThat(run(new AllRequests(), "--operations", "read", "--size", "2M")).isOne();
    }

    @Test
    void publisherAndSubscribersFindEachOtherInEachWay() {
        assertThat(run(new PubSub(), "--by", "write", "--count", "20", "--size", "1K")).isZero();
    }

    /** The other ways need a newer Java, and are in the tests of the programs. */
    @Test
    void tensorGoesThereAndBack() {
        assertThat(run(new GpuTransfer(), "--ways", "host", "--count", "5", "--size", "64K")).isZero();
    }

    private static int run(Object command, String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--host", TestAddress.HOST, "--timeout", TIMEOUT));
        return Commands.run(command, all.toArray(new String[0]));
    }
}
