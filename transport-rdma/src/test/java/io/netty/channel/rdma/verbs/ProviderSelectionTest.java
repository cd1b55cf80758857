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
package io.netty.channel.rdma.verbs;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The choice is made once per process, so each one has a process of its own.
 */
@Tag("quick")
class ProviderSelectionTest {
    /** Prints what {@link VerbsApi} says. */
    static final class Report {
        private Report() { }

        public static void main(String[] arguments) {
            System.out.println("available " + VerbsApi.isAvailable());
            System.out.println("cause " + VerbsApi.unavailabilityCause());
            if (VerbsApi.isAvailable()) {
                System.out.println("chosen " + VerbsApi.preferred().provider() + ", " + VerbsApi.choice());
            } else {
                try {
                    EventChannel.create();
                } catch (UnsatisfiedLinkError | VerbsException e) {
                    System.out.println("thrown " + e);
                }
            }
        }
    }

    private static String report(String... properties) throws Exception {
        try (ChildJvm child = new ChildJvm(Report.class, List.of(properties))) {
            return child.output();
        }
    }

    @Test
    void theEmbeddedProviderNeedsNothing() throws Exception {
        assertThat(report("io.netty.rdma.provider=embedded")).contains("available true",
                "chosen EMBEDDED, -Dio.netty.rdma.provider=embedded");
    }

    @Test
    void automaticChoiceFindsAProvider() throws Exception {
        assertThat(report("io.netty.rdma.provider=auto")).contains("available true", "cause null",
                "automatic choice: ");
    }

    @Test
    void theLibrariesOfTheSystemAreTakenOrSayWhatIsMissing() throws Exception {
        String report = report("io.netty.rdma.provider=ibverbs");
        if (VerbsApi.preferred().provider() == VerbsProvider.IBVERBS) {
            assertThat(report).contains("available true", "cause null",
                    "chosen IBVERBS, -Dio.netty.rdma.provider=ibverbs");
            return;
        }
        assertThat(report).contains("available false",
                "-Dio.netty.rdma.provider=embedded", "thrown java.lang.UnsatisfiedLinkError: RDMA verbs are not")
                .containsAnyOf("there is no RDMA device", "libibverbs.so.1 cannot be loaded: install",
                        "librdmacm.so.1 cannot be loaded: install");
    }

    @Test
    void anUnknownProviderIsRefused() throws Exception {
        assertThat(report("io.netty.rdma.provider=infiniband")).contains("available false",
                "io.netty.rdma.provider=infiniband: expected auto, ibverbs or embedded");
    }

    @Test
    void aFolderThatIsNotThereSaysWhatToDo() throws Exception {
        for (String provider : List.of("embedded", "auto")) {
            assertThat(report("io.netty.rdma.provider=" + provider, "io.netty.rdma.embedded.folder=/missing"))
                    .contains("available false", "io.netty.rdma.embedded.folder=/missing: the folder cannot be opened",
                            "make it, or mount it here");
        }
    }

    @Test
    void usersOfNoFolderAreRefused() throws Exception {
        assertThat(report("io.netty.rdma.provider=embedded", "io.netty.rdma.embedded.users=1"))
                .contains("available false", "io.netty.rdma.embedded.users is set");
    }

    @Test
    void nativeTransportsCanBeDisabled() throws Exception {
        assertThat(report("io.netty.transport.noNative=true")).contains("available false",
                "disabled by -Dio.netty.transport.noNative=true");
    }

    /** As attributes.c has them. */
    @Test
    void limitsAreThoseOfTheEmbeddedDevice() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "limits of another device");
        try (Device device = Device.open(Device.names().get(0))) {
            assertThat(values(device.attributes())).isEqualTo(new TreeMap<>(Map.ofEntries(
                    entry("maxQueuePairs", 65536), entry("maxWorkRequests", 16384), entry("maxSges", 32),
                    entry("maxReadSges", 32), entry("maxCompletionQueues", 131072), entry("maxCompletions", 1 << 20),
                    entry("maxMemoryRegions", 1 << 24), entry("maxMemoryRegionSize", 1L << 47),
                    entry("maxProtectionDomains", 1 << 20), entry("maxResponderResources", 64),
                    entry("maxInitiatorDepth", 64), entry("maxSharedReceiveQueues", 65536),
                    entry("maxSharedReceiveRequests", 32768), entry("maxSharedReceiveSges", 32),
                    entry("maxMulticastGroups", 8192), entry("maxMulticastMembers", 512),
                    entry("maxMemoryWindows", 65536), entry("supportsSendWithInvalidate", true),
                    entry("portCount", 1), entry("supportsAtomics", true),
                    entry("atomicCapability", AtomicCapability.GLOBAL), entry("nodeGuid", 0x02006e6574747901L),
                    entry("vendorId", 0xffffff))));
            assertThat(values(device.portAttributes(1))).isEqualTo(new TreeMap<>(Map.of("isActive", true,
                    "maxMtu", 4096, "activeMtu", 4096, "lid", 1, "gidTableLength", 1, "maxMessageSize", 1 << 30,
                    "isEthernet", false, "partitionKeyTableLength", 1)));
        }
    }

    /** The results of all public methods, by their names. */
    private static Map<String, Object> values(Object attributes) throws Exception {
        Map<String, Object> values = new TreeMap<>();
        for (Method method : attributes.getClass().getDeclaredMethods()) {
            if (Modifier.isPublic(method.getModifiers()) && !method.getName().equals("toString")) {
                values.put(method.getName(), method.invoke(attributes));
            }
        }
        return values;
    }

    @Test
    void thisProcessHasAProvider() throws Exception {
        assertThat(VerbsApi.unavailabilityCause()).isNull();
        assertThat(Device.names()).isNotEmpty().doesNotContainAnyElementsOf(Collections.singleton(""));
        try (Device device = Device.open(Device.names().get(0))) {
            assertThat(device.portAttributes(1).isActive()).isTrue();
            assertThat(device.portAttributes(1).activeMtu()).isBetween(256, 4096);
            List<GidEntry> gids = device.gids(1);
            assertThat(gids).isNotEmpty().hasSizeLessThanOrEqualTo(device.portAttributes(1).gidTableLength());
            for (GidEntry gid : gids) {
                assertThat(gid.bytes()).hasSize(16).isEqualTo(device.gid(1, gid.index()));
                assertThat(gid.type()).isNotEqualTo(GidEntry.Type.UNKNOWN);
                assertThat(gid.interfaceIndex() > 0).as("RoCE has interfaces")
                        .isEqualTo(gid.type() != GidEntry.Type.INFINIBAND);
                assertThat(gid.toString()).startsWith(gid.index() + ": " + gid.type());
            }
            assertThatThrownBy(() -> device.gids(99)).isInstanceOf(VerbsException.class);
            assertThat(device.asyncFd()).isNotNegative();
        }
    }
}
