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

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Requests that wait. The peers take turns, one request at a time; the requests of a peer stay in order. */
final class RequestQueue<T> {
    private final Map<Object, Queue<T>> byPeer = new LinkedHashMap<>();

    void add(Object peer, T request) {
        byPeer.computeIfAbsent(peer, key -> new ArrayDeque<>()).add(request);
    }

    boolean isEmpty() {
        return byPeer.isEmpty();
    }

    /**
     * Removes the first request of the first peer whose first request may be taken.
     *
     * @return {@code null} if there is none.
     */
    T poll(Predicate<T> mayBeTaken) {
        for (Map.Entry<Object, Queue<T>> entry : byPeer.entrySet()) {
            Queue<T> requests = entry.getValue();
            if (mayBeTaken.test(requests.peek())) {
                T request = requests.poll();
                // The next turn of this peer comes after the turns of the others.
                byPeer.remove(entry.getKey());
                if (!requests.isEmpty()) {
                    byPeer.put(entry.getKey(), requests);
                }
                return request;
            }
        }
        return null;
    }

    boolean remove(Object request) {
        for (Iterator<Queue<T>> each = byPeer.values().iterator(); each.hasNext();) {
            Queue<T> requests = each.next();
            if (requests.remove(request)) {
                if (requests.isEmpty()) {
                    each.remove();
                }
                return true;
            }
        }
        return false;
    }

    void forEach(Consumer<T> action) {
        byPeer.values().forEach(requests -> requests.forEach(action));
    }
}
