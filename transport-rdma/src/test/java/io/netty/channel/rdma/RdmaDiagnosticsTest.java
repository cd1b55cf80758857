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
package io.netty.channel.rdma;

import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.DeviceAddresses;
import io.netty.channel.rdma.verbs.GidEntry;
import io.netty.channel.rdma.verbs.LockedMemory;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Locale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class RdmaDiagnosticsTest {
    @Test
    void reportTellsTheProviderItsDevicesAndTheLimits() throws Exception {
        String text = RdmaDiagnostics.text();
        assertThat(text).startsWith("RDMA transport for Netty: can be used")
                .containsPattern("provider +" + VerbsApi.preferred().provider().name().toLowerCase(Locale.ROOT))
                .containsPattern("memlock +" + LockedMemory.describe() + "; [0-9]+ bytes pinned")
                .contains(VerbsApi.choice(), RdmaConnectMetrics.total().toString())
                .contains("up to " + RdmaMetrics.maxPinnedMemory() + " bytes", "What to do:");
        DeviceAddresses addresses = DeviceAddresses.find();
        for (String name : Device.names()) {
            assertThat(text).containsPattern("Device " + name + "\n +selected by +\\S+")
                    .contains(addresses.text(name));
            try (Device device = Device.open(name)) {
                assertThat(text).contains(device.attributes().toString(), "port 1",
                        device.portAttributes(1).toString());
                for (GidEntry gid : device.gids(1)) {
                    assertThat(text).contains("GID " + gid);
                }
            }
        }
    }

    @Test
    void programSaysThatTheTransportCanBeUsed() throws Exception {
        assertThat(run(0)).contains("can be used", "Device " + Device.names().get(0));
    }

    @Test
    void programSaysWhatToDoWithoutAnAdapter() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "there is a device");
        assertThat(run(1, "--provider", "ibverbs")).contains("can NOT be used", "reason", "provider     none",
                "What to do:\n- verbs provider ibverbs: ").containsAnyOf("modprobe", "install");
        assertThat(run(0, "--provider", "auto")).contains("provider     embedded", "chosen by    automatic choice: ",
                "To reach other hosts");
    }

    @Test
    void programRefusesWhatItDoesNotKnow() throws Exception {
        assertThat(run(2, "--verbose")).isEmpty();
        assertThat(run(1, "--provider", "infiniband")).contains("expected auto, ibverbs or embedded");
    }

    private static String run(int status, String... arguments) throws Exception {
        try (ChildJvm child = new ChildJvm(RdmaDiagnostics.class, List.of(), arguments)) {
            return child.output(status);
        }
    }
}
