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
package io.netty.channel.rdma.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Registers the metrics of the RDMA transport: of the process, of each event loop that runs, and of each device that is
 * in use. Meters of later event loops and devices are added automatically. Meters of loops that have ended are removed.
 *
 * <p>Thread-safe.
 */
public final class RdmaMeterBinder implements MeterBinder, AutoCloseable {
    private final Tags tags;
    private final List<Bound> bound = new ArrayList<>();

    public RdmaMeterBinder() {
        this(Collections.emptyList());
    }

    /** @param tags for all meters, in addition to their own. */
    public RdmaMeterBinder(Iterable<Tag> tags) {
        this.tags = Tags.of(tags);
    }

    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        bound.add(new Bound(registry, tags));
    }

    /** Removes all that was registered by this object, from all registries. */
    @Override
    public synchronized void close() {
        bound.forEach(Bound::close);
        bound.clear();
    }
}
