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

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** The present objects of a kind, and watchers of changes. Any thread. */
public final class Registry<T> {
    /** A watcher, which is called under a lock until {@link #close()}. */
    public final class Watch implements AutoCloseable {
        private final Consumer<? super T> added;
        private final Consumer<? super T> removed;

        private Watch(Consumer<? super T> added, Consumer<? super T> removed) {
            this.added = added;
            this.removed = removed;
        }

        @Override
        public void close() {
            synchronized (Registry.this) {
                watches.remove(this);
            }
        }
    }

    private final Set<T> elements = new LinkedHashSet<>();
    private final Set<Watch> watches = new LinkedHashSet<>();

    public synchronized void add(T element) {
        if (elements.add(element)) {
            watches.forEach(watch -> watch.added.accept(element));
        }
    }

    public synchronized void remove(T element) {
        if (elements.remove(element)) {
            watches.forEach(watch -> watch.removed.accept(element));
        }
    }

    /** Returns the present elements, in the order in which they were added. */
    public synchronized List<T> elements() {
        return new ArrayList<>(elements);
    }

    /** Calls {@code added} for each present element, and from now on the watcher for each change. */
    public synchronized Watch watch(Consumer<? super T> added, Consumer<? super T> removed) {
        Watch watch = new Watch(added, removed);
        elements.forEach(added);
        watches.add(watch);
        return watch;
    }
}
