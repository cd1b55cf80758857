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

import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Failures of kernel verbs, and their messages. Each case has its own process, with a view of
 * the file system of its own (unshare(1)) and without the privileges that override permissions and limits (setpriv(1)).
 */
@Tag("quick")
class RdmaUnavailabilityTest {
    /** Prints what the transport says. */
    static final class Report {
        private Report() { }

        public static void main(String[] arguments) {
            System.out.println("available " + Rdma.isAvailable());
            if (!Rdma.isAvailable()) {
                System.out.println("cause " + Rdma.unavailabilityCause().getMessage());
                try {
                    new RdmaSocketChannel();
                } catch (UnsatisfiedLinkError e) {
                    System.out.println("thrown " + e.getMessage());
                }
            }
        }
    }

    @BeforeEach
    void needsKernelVerbsAndRoot() {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.IBVERBS, "needs kernel verbs");
        assumeTrue("root".equals(System.getProperty("user.name")), "needs root, to take something away");
    }

    @Test
    void withNothingWrongItIsAvailable() throws Exception {
        assertThat(report("true", "unlimited")).contains("available true");
    }

    @Test
    void missingLibraryNamesThePackage() throws Exception {
        Path library = library("libibverbs.so.1");
        assertThat(report("mount --bind /dev/null " + library, "unlimited")).contains("available false",
                "thrown the RDMA transport is not available: verbs provider ibverbs: libibverbs.so.1 cannot be " +
                "loaded: install libibverbs1");
    }

    @Test
    void missingNodeOfTheConnectionManagerNamesTheModule() throws Exception {
        assertThat(report("mount -t tmpfs none /mnt; cp -a /dev/infiniband/uverbs* /mnt; " +
                "mount --bind /mnt /dev/infiniband", "unlimited"))
                .contains("available false", "/dev/infiniband/rdma_cm does not exist", "modprobe rdma_ucm");
    }

    @Test
    void unreadableNodeOfTheConnectionManagerSaysHowToGiveAccess() throws Exception {
        assertThat(report(copyOfNodes("chmod 0 /mnt/rdma_cm"), "unlimited"))
                .contains("available false", "this user may not open /dev/infiniband/rdma_cm", "KERNEL==\"rdma_cm\"");
    }

    @Test
    void unreadableNodesOfDevicesSayHowToGiveAccess() throws Exception {
        String report = report(copyOfNodes("chmod 0 /mnt/uverbs*"), "unlimited");
        assertThat(report).contains("available false", "this user may not open /dev/infiniband/uverbs0");
        for (String device : Device.names()) {
            assertThat(report).contains("the RDMA device " + device + " cannot be opened");
        }
    }

    @Test
    void missingNodesOfDevicesNameTheModule() throws Exception {
        assertThat(report(copyOfNodes("rm /mnt/uverbs*"), "unlimited")).contains("available false",
                "there is no /dev/infiniband/uverbs*", "modprobe ib_uverbs");
    }

    @Test
    void tooLittleLockedMemorySaysTheLimitAndHowToRaiseIt() throws Exception {
        assertThat(report("true", "65536")).contains("available false", "ibv_reg_mr",
                "this process may lock 65536 bytes (RLIMIT_MEMLOCK)", "ulimit -l unlimited", "LimitMEMLOCK=infinity");
    }

    private static String copyOfNodes(String change) {
        return "mount -t tmpfs none /mnt; cp -a /dev/infiniband/. /mnt; " + change +
                "; mount --bind /mnt /dev/infiniband";
    }

    private static Path library(String name) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            if (line.contains("/libibverbs.so")) {
                return Path.of(line.substring(line.indexOf('/')));
            }
        }
        throw new AssertionError(name + " is not loaded");
    }

    private static String report(String preparation, String memlock) throws Exception {
        List<String> launcher = new ArrayList<>(List.of("unshare", "--mount", "sh", "-ec",
                preparation + "; exec prlimit --memlock=" + memlock + " setpriv " +
                "--bounding-set=-ipc_lock,-dac_override,-dac_read_search \"$@\"", "sh"));
        try (ChildJvm child = new ChildJvm(launcher, Report.class, List.of("io.netty.rdma.provider=ibverbs"))) {
            return child.output();
        }
    }
}
