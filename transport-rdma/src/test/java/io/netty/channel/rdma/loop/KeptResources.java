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
package io.netty.channel.rdma.loop;

import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.memory.RegisteredRanges;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsResource;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.ToIntFunction;

/**
 * Numbers of native objects that are kept on purpose: by event loops as long as they run, and slabs of registered
 * memory by the process.
 */
public final class KeptResources {
    private KeptResources() {
    }

    /** Exact if the event loops have nothing to do at the moment. */
    public static int count(VerbsResource kind) {
        switch (kind) {
        case EVENT_CHANNEL:
            return sum(handler -> events(handler).size());
        case COMPLETION_CHANNEL:
            return sum(handler -> handler.devices.length);
        case COMPLETION_QUEUE:
            return sum(handler -> {
                int queues = 0;
                for (LoopDevice device : handler.devices) {
                    queues += device.queues.length;
                }
                return queues;
            });
        case MEMORY_REGION:
            return RegisteredRanges.regions();
        case DEVICE:
        case PROTECTION_DOMAIN:
            // One for each device.
            return kind.live();
        default:
            return 0;
        }
    }

    private static List<LoopEvents> events(LoopHandler handler) {
        return VerbsApi.usable().stream().map(handler::eventsIfAny).filter(Objects::nonNull).toList();
    }

    /** The numbers of the descriptors of what event loops keep. */
    public static Set<Integer> descriptors() {
        Set<Integer> descriptors = new HashSet<>();
        for (LoopHandler handler : LoopHandler.all().elements()) {
            for (LoopEvents events : events(handler)) {
                descriptors.add(events.channel.fd());
            }
            for (LoopDevice device : handler.devices) {
                descriptors.add(device.channel.fd());
            }
        }
        return descriptors;
    }

    /** Bytes of the slabs. */
    public static long pinnedBytes() {
        return RdmaByteBufAllocator.DEFAULT.pinnedMemory() + RdmaMetrics.stagingMemory();
    }

    /** Closes all channels that tests have left open. Some of Netty's do. */
    public static void closeChannels() {
        for (LoopHandler handler : LoopHandler.all().elements()) {
            if (handler.loop() != null) {
                try {
                    handler.loop().execute(handler::closeChannels);
                } catch (RejectedExecutionException ignore) {
                    // The loop is ending, and closes them itself.
                }
            }
        }
    }

    private static int sum(ToIntFunction<LoopHandler> count) {
        return LoopHandler.all().elements().stream().mapToInt(count).sum();
    }
}
