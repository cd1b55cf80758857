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
package io.netty.channel.rdma.monitor;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("quick")
class RegistryTest {
    private final Registry<String> registry = new Registry<>();
    private final List<String> told = new ArrayList<>();

    @Test
    void watchIsToldOfThoseThatThereAreAndOfChanges() {
        registry.add("a");
        Registry<String>.Watch watch = registry.watch(added -> told.add('+' + added),
                removed -> told.add('-' + removed));
        registry.add("b");
        registry.add("b");
        registry.remove("a");
        registry.remove("a");
        assertThat(registry.elements()).containsExactly("b");
        watch.close();
        registry.add("c");

        assertThat(told).containsExactly("+a", "+b", "-a");
    }
}
