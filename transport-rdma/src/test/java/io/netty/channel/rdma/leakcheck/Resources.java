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
package io.netty.channel.rdma.leakcheck;

import io.netty.channel.rdma.loop.KeptResources;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.verbs.VerbsResource;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Amounts of each resource that tests must give back, at some time: native objects by kind, bytes of
 * pinned memory, and file descriptors by kind.
 */
final class Resources {
    private static final String PINNED_BYTES = "pinned bytes";

    private final Map<String, Long> counts = new TreeMap<>();
    private final Map<String, Set<String>> descriptors;

    private Resources(Pattern ignoredDescriptors) {
        for (VerbsResource kind : VerbsResource.values()) {
            counts.put(kind.toString(), (long) kind.live() - KeptResources.count(kind));
        }
        counts.put(PINNED_BYTES, RdmaMetrics.pinnedMemory() - KeptResources.pinnedBytes());
        descriptors = Descriptors.open(KeptResources.descriptors());
        descriptors.keySet().removeIf(kind -> ignoredDescriptors.matcher(kind).matches());
        descriptors.forEach((kind, open) -> counts.put(kind, (long) open.size()));
    }

    static Resources count(Pattern ignoredDescriptors) {
        return new Resources(ignoredDescriptors);
    }

    boolean isMoreThan(Resources before) {
        return counts.keySet().stream().anyMatch(kind -> excess(kind, before) > 0);
    }

    private long excess(String kind, Resources before) {
        return counts.get(kind) - before.counts.getOrDefault(kind, 0L);
    }

    /** Resources with larger amounts than before, and the new descriptors. */
    String excess(Resources before) {
        Map<String, String> excess = new TreeMap<>();
        for (String kind : counts.keySet()) {
            long more = excess(kind, before);
            if (more > 0) {
                excess.put(kind, descriptors.containsKey(kind) ? more + " of " + opened(kind, before) : more + "");
            }
        }
        return excess.toString();
    }

    private List<String> opened(String kind, Resources before) {
        Set<String> known = before.descriptors.getOrDefault(kind, Set.of());
        return descriptors.get(kind).stream().filter(descriptor -> !known.contains(descriptor))
                .map(Descriptors::describe).toList();
    }
}
