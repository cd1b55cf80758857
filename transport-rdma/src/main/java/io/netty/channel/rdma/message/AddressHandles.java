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
package io.netty.channel.rdma.message;

import io.netty.channel.rdma.verbs.AddressHandle;
import io.netty.channel.rdma.verbs.AddressVector;
import io.netty.channel.rdma.verbs.ProtectionDomain;
import io.netty.channel.rdma.verbs.VerbsException;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The address handles of one channel: those that were used last, as a device has to set each up. Made when something is
 * sent, never because something was received. On the loop of the channel.
 */
final class AddressHandles {
    /** Each is a small piece of the device's memory. */
    static final int MAX_HANDLES = 1024;

    private final ProtectionDomain domain;
    private final int max;
    private final Map<AddressVector, Used> handles = new LinkedHashMap<>(16, 0.75f, true);
    /** No longer in the map, in the order of their last use; work requests that need them may be in flight. */
    private final ArrayDeque<Used> retired = new ArrayDeque<>();

    private static final class Used {
        final AddressHandle handle;
        long last;

        Used(AddressHandle handle) {
            this.handle = handle;
        }
    }

    AddressHandles(ProtectionDomain domain, int max) {
        this.domain = domain;
        this.max = max;
    }

    /** The handle for a work request, which keeps it. */
    AddressHandle get(AddressVector vector, long workRequest) throws VerbsException {
        Used used = handles.get(vector);
        if (used == null) {
            used = new Used(domain.createAddressHandle(vector));
            handles.put(vector, used);
            if (handles.size() > max) {
                Iterator<Used> eldest = handles.values().iterator();
                retired.add(eldest.next());
                eldest.remove();
            }
        }
        used.last = workRequest;
        return used.handle;
    }

    /** All work requests before this one have completed. */
    void completed(long workRequest) {
        while (!retired.isEmpty() && retired.peek().last < workRequest) {
            retired.poll().handle.close();
        }
    }

    int size() {
        return handles.size() + retired.size();
    }

    /** The queue pair is gone. */
    void close() {
        handles.values().forEach(used -> used.handle.close());
        handles.clear();
        completed(Long.MAX_VALUE);
    }
}
