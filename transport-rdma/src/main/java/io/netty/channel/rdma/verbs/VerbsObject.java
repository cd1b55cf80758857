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

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.function.Supplier;

/**
 * A native object and its one owner in Java.
 * <p>
 * An object keeps its parents (a queue pair: its protection domain and completion queues) from being closed:
 * {@link #close()} of an object that others still use throws, whatever the provider would have done. After
 * {@code close()} every method throws {@link IllegalStateException}; no call ever reaches C with a stale address, as
 * long as {@code close()} is ordered with the other calls on the same object (see the package description).
 */
public abstract class VerbsObject implements AutoCloseable {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(VerbsObject.class);

    private final VerbsResource kind;
    private final VerbsObject[] parents;
    private volatile long address;
    private int users;

    /**
     * Takes over the reference to each parent that {@link #retainAll} acquired.
     */
    VerbsObject(VerbsResource kind, long address, VerbsObject... parents) {
        this.kind = kind;
        this.address = address;
        this.parents = parents;
        kind.created();
    }

    /**
     * Destroys the native object.
     *
     * @return 0, or a positive errno.
     */
    abstract int destroy(long address);

    /**
     * The address of the C object.
     *
     * @throws IllegalStateException if closed.
     */
    final long address() {
        long a = address;
        if (a == 0) {
            throw new IllegalStateException(kind + " is closed");
        }
        return a;
    }

    /**
     * Whether the native object exists. Any thread.
     */
    public final boolean isOpen() {
        return address != 0;
    }

    /**
     * Destroys the native object; does nothing the second time.
     *
     * @throws IllegalStateException if other objects still use this one. It then stays open.
     */
    @Override
    public void close() {
        synchronized (this) {
            long a = address;
            if (a == 0) {
                return;
            }
            if (users > 0) {
                throw new IllegalStateException(
                        this + " is still used by " + users + " other object(s): close them first");
            }
            int errno = destroy(a);
            if (errno == Errno.EBUSY) {
                throw new IllegalStateException(this + " is still in use");
            }
            if (errno != 0) {
                // As after close(2): there is nothing that a retry could do better, for example after device removal.
                logger.warn("Destroying {} failed: {} (errno {})", this, NativeMemory.errorText(errno), errno);
            }
            address = 0;
            kind.destroyed();
        }
        releaseAll(parents);
    }

    /**
     * Keeps each parent from being closed, until {@link #releaseAll}: all of them or, where one is closed, none.
     */
    static void retainAll(VerbsObject... parents) {
        int done = 0;
        try {
            for (; done < parents.length; done++) {
                parents[done].retain();
            }
        } finally {
            if (done < parents.length) {
                for (int i = 0; i < done; i++) {
                    parents[i].release();
                }
            }
        }
    }

    static void releaseAll(VerbsObject... parents) {
        for (VerbsObject parent : parents) {
            parent.release();
        }
    }

    /**
     * Interprets the result of a creating call: an address, or a negative errno.
     *
     * @throws VerbsException for an errno, after having released the parents.
     */
    static long created(long result, String call, String what, VerbsObject... parents) throws VerbsException {
        if (result < 0) {
            releaseAll(parents);
            throw new VerbsException(call, (int) -result, what);
        }
        return result;
    }

    /** As above, where each connection comes by and the text has to be composed. */
    static long created(long result, String call, Supplier<String> what, VerbsObject... parents)
            throws VerbsException {
        return result < 0 ? created(result, call, what.get(), parents) : result;
    }

    static void check(int errno, String call, String what) throws VerbsException {
        if (errno != 0) {
            throw new VerbsException(call, errno, what);
        }
    }

    /** As above, where each connection comes by and the text has to be composed. */
    static void check(int errno, String call, Supplier<String> what) throws VerbsException {
        if (errno != 0) {
            check(errno, call, what.get());
        }
    }

    final void replaceParent(int index, VerbsObject parent) {
        VerbsObject old;
        synchronized (this) {
            old = parents[index];
            parents[index] = parent;
        }
        old.release();
    }

    final synchronized VerbsObject parent(int index) {
        return parents[index];
    }

    synchronized void retain() {
        address();
        users++;
    }

    synchronized void release() {
        users--;
    }

    @Override
    public String toString() {
        return kind + (isOpen() ? "" : " (closed)");
    }
}
