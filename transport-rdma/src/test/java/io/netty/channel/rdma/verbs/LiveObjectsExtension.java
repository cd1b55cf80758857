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

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.util.EnumMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Fails a test that leaves native objects behind. Devices don't count: the connection manager's stay for ever.
 */
final class LiveObjectsExtension implements BeforeEachCallback, AfterEachCallback {
    private Map<VerbsResource, Integer> before;

    @Override
    public void beforeEach(ExtensionContext context) {
        before = count();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        assertThat(count()).as("live native objects").isEqualTo(before);
    }

    private static Map<VerbsResource, Integer> count() {
        Map<VerbsResource, Integer> counts = new EnumMap<>(VerbsResource.class);
        for (VerbsResource resource : VerbsResource.values()) {
            if (resource != VerbsResource.DEVICE) {
                counts.put(resource, resource.live());
            }
        }
        return counts;
    }
}
