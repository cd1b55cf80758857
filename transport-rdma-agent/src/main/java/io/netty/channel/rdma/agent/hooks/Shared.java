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
package io.netty.channel.rdma.agent.hooks;

import io.netty.channel.rdma.agent.options.AgentOptions;

import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/** Objects that the agent ({@code transform.Agent}) shares with its classes in the loader of Netty. */
final class Shared {
    static final AgentOptions OPTIONS;
    /** Classes of channels that are not swapped, with the application's class that casts to them. */
    static final Map<String, String> CASTS;
    /** The classes of channels that were swapped. */
    static final Set<String> SWAPPED;
    /** Lets a module read the descriptors of selectors. */
    static final Consumer<Module> SELECTORS;

    static {
        try {
            Map<?, ?> shared = (Map<?, ?>) ClassLoader.getSystemClassLoader()
                    .loadClass("io.netty.channel.rdma.agent.Premain").getMethod("shared").invoke(null);
            OPTIONS = AgentOptions.parse((String) shared.get("arguments"));
            CASTS = cast(shared.get("casts"));
            SWAPPED = cast(shared.get("swapped"));
            SELECTORS = cast(shared.get("selectors"));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private Shared() { }

    @SuppressWarnings("unchecked")
    private static <T> T cast(Object object) {
        return (T) object;
    }
}
