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
package io.netty.channel.rdma.metrics;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

class RdmaDeviceMetricsTest {
    @Test
    void kernelCountersOfPortAreRead(@TempDir Path devices) throws IOException {
        Path port = devices.resolve("mlx5_0/ports/1");
        Files.createDirectories(port.resolve("counters"));
        Files.createDirectories(port.resolve("hw_counters"));
        Files.writeString(port.resolve("counters/port_xmit_data"), "18446744073709551615\n");
        Files.writeString(port.resolve("counters/port_rcv_data"), "12\n");
        Files.writeString(port.resolve("counters/unknown"), "N/A (no PMA)\n");
        Files.writeString(port.resolve("hw_counters/rnr_nak_retry_err"), "3\n");

        assertThat(RdmaDeviceMetrics.portCounters(devices, "mlx5_0", 1)).isEqualTo(
                Map.of("port_xmit_data", -1L, "port_rcv_data", 12L, "rnr_nak_retry_err", 3L));
        assertThat(RdmaDeviceMetrics.portCounters(devices, "mlx5_0", 2)).isEmpty();
    }
}
