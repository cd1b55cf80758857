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
package io.netty.channel.rdma.neighbours;

import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.loop.KeptResources;
import io.netty.channel.rdma.verbs.VerbsResource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Resources of this process that neighbours can make it keep: native objects, pinned memory, descriptors, mappings
 * of shared memory. Unlike the check after each class of tests it counts what the embedded provider keeps for some
 * seconds as well, as nobody can have it keep that for longer; and not the sockets that it listens with, as it keeps
 * blocks of queue pair numbers for the next ones.
 */
final class KeptForPeers {
    /** Counting takes some milliseconds of the processor. */
    private static final long POLL_MILLIS = 50;
    private final Map<String, Long> counts = new TreeMap<>();

    KeptForPeers() {
        Set<String> listening = listening().keySet();
        for (VerbsResource kind : VerbsResource.values()) {
            counts.put(kind.toString(), (long) kind.live() - KeptResources.count(kind));
        }
        counts.put("pinned bytes", RdmaMetrics.pinnedMemory() - KeptResources.pinnedBytes());
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                count(descriptor, listening);
            }
            counts.put("shared mappings", Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains("memfd:")).count());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** By the sockets, as {@code /proc} names them, the abstract names (unix(7)) at which any process listens. */
    static Map<String, String> listening() {
        Map<String, String> names = new HashMap<>();
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/net/unix"), StandardCharsets.ISO_8859_1)) {
                // Num: RefCount Protocol Flags Type St Inode Path; the flag is the kernel's __SO_ACCEPTCON.
                String[] columns = line.trim().split(" +");
                if (columns.length == 8 && columns[3].equals("00010000") && columns[7].startsWith("@")) {
                    names.put("socket:[" + columns[6] + ']', columns[7].substring(1));
                }
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return names;
    }

    /** Class loaders open JARs when they need them. */
    private void count(Path descriptor, Set<String> listening) {
        String target;
        try {
            target = Files.readSymbolicLink(descriptor).toString();
        } catch (IOException ignore) {
            // Closed meanwhile.
            return;
        }
        if (!target.endsWith(".jar") && !target.startsWith("/proc/") && !listening.contains(target)) {
            counts.merge("descriptors: " + target.replaceFirst(":\\[\\d+]$", ""), 1L, Long::sum);
        }
    }

    private Map<String, Long> excess(KeptForPeers before) {
        Map<String, Long> excess = new TreeMap<>();
        counts.forEach((kind, count) -> {
            long more = count - before.counts.getOrDefault(kind, 0L);
            if (more > 0) {
                excess.put(kind, more);
            }
        });
        return excess;
    }

    /**
     * Waits until there is no more than now. Returns what there still is when that takes too long: before others stop
     * waiting for this.
     */
    String awaitNoMore() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS) / 2;
        for (Map<String, Long> excess; !(excess = new KeptForPeers().excess(this)).isEmpty();) {
            if (System.nanoTime() - deadline > 0) {
                return excess.toString();
            }
            Thread.sleep(POLL_MILLIS);
        }
        return "nothing";
    }
}
