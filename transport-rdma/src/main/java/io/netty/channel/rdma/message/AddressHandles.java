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
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The last used address handles of one channel, because a device has to set up each handle. They are made to send,
 * never because a datagram was received. On the loop of the channel.
 *
 * <p>With RoCE, ibv_create_ah(3) waits until the Ethernet address of the destination is known, for a second if no host
 * has the address. So threads beside the loops make these handles, and datagrams wait.
 */
final class AddressHandles {
    /** The most handles: each is a small piece of the device's memory. */
    static final int MAX_HANDLES = 1024;
    static final int MAX_PENDING = 256;
    /** The executor for ports on which a handle is made at once. */
    static final Executor AT_ONCE = Runnable::run;
    /** The executor for other ports. */
    static final Executor BESIDE = newExecutor();

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(AddressHandles.class);
    private static final int THREADS = 4;
    private static final long IDLE_SECONDS = 5;

    private final ProtectionDomain domain;
    private final int max;
    private final Executor makers;
    private final Executor loop;
    private final Listener listener;
    private final Map<AddressVector, Used> handles = new LinkedHashMap<>(16, 0.75f, true);
    private final Map<AddressVector, List<DatagramSend>> pending = new HashMap<>();
    /** Handles that are no longer in the map, in the order of their last use. Work requests in flight may need them. */
    private final ArrayDeque<Used> retired = new ArrayDeque<>();
    private boolean closed;

    /** A listener that is told about datagrams that have waited for their handle. */
    interface Listener {
        /** Called when the handle exists. */
        void made(List<DatagramSend> sends);

        void failed(Collection<DatagramSend> sends, Throwable cause);
    }

    private static final class Used {
        final AddressHandle handle;
        long last;

        Used(AddressHandle handle) {
            this.handle = handle;
        }
    }

    /**
     * @param makers {@link #AT_ONCE} or {@link #BESIDE}
     * @param loop   of the channel
     */
    AddressHandles(ProtectionDomain domain, int max, Executor makers, Executor loop, Listener listener) {
        this.domain = domain;
        this.max = max;
        this.makers = makers;
        this.loop = loop;
        this.listener = listener;
    }

    private static Executor newExecutor() {
        ThreadPoolExecutor executor = new ThreadPoolExecutor(THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), new DefaultThreadFactory("rdma-address-handles", true));
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /**
     * Returns the handle for a work request, which keeps it.
     *
     * @return {@code null} if the handle is not made yet. The datagram waits, and the listener is told later.
     * @throws IOException if it can't be made.
     */
    AddressHandle get(AddressVector vector, DatagramSend send, long workRequest) throws IOException {
        Used used = handles.get(vector);
        if (used == null && makers == AT_ONCE) {
            used = add(vector, domain.createAddressHandle(vector));
        }
        if (used == null) {
            make(vector, send);
            return null;
        }
        used.last = workRequest;
        return used.handle;
    }

    private Used add(AddressVector vector, AddressHandle handle) {
        Used used = null;
        try {
            used = new Used(handle);
            handles.put(vector, used);
        } catch (Throwable t) {
            handle.close();
            throw t;
        }
        if (handles.size() > max) {
            Iterator<Used> eldest = handles.values().iterator();
            retired.add(eldest.next());
            eldest.remove();
        }
        return used;
    }

    private void make(AddressVector vector, DatagramSend send) throws IOException {
        List<DatagramSend> waiting = pending.get(vector);
        if (waiting == null) {
            if (pending.size() >= MAX_PENDING) {
                throw new IOException("too many hosts are being looked for: " + pending.size() + "; send to " +
                        send.recipient + " again when some are found");
            }
            waiting = new ArrayList<>(1);
            pending.put(vector, waiting);
            makers.execute(() -> make(vector));
        }
        waiting.add(send);
    }

    /** Makes a handle. On a thread beside the loop. */
    private void make(AddressVector vector) {
        AddressHandle handle = null;
        VerbsException failure = null;
        try {
            handle = domain.createAddressHandle(vector);
        } catch (VerbsException e) {
            failure = e;
        }
        AddressHandle made = handle;
        VerbsException cause = failure;
        try {
            loop.execute(() -> made(vector, made, cause));
        } catch (RejectedExecutionException e) {
            logger.debug("The event loop has ended before {} was made", made, e);
            if (made != null) {
                made.close();
            }
        }
    }

    private void made(AddressVector vector, AddressHandle handle, VerbsException failure) {
        List<DatagramSend> waiting = pending.remove(vector);
        if (closed) {
            if (handle != null) {
                handle.close();
            }
        } else if (handle == null) {
            listener.failed(waiting, failure);
        } else {
            try {
                add(vector, handle);
            } catch (OutOfMemoryError e) {
                listener.failed(waiting, e);
                return;
            }
            listener.made(waiting);
        }
    }

    /** Closes handles after all work requests before this one have completed. */
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
        closed = true;
        for (Used used : handles.values()) {
            used.handle.close();
        }
        handles.clear();
        completed(Long.MAX_VALUE);
    }
}
