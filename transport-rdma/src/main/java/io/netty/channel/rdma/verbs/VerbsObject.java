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

import io.netty.util.internal.UnstableApi;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.function.Supplier;

/**
 * A native object and its one owner in Java.
 * <p>
 * An object keeps its parents (for a queue pair: its protection domain and completion queues) from being closed. {@link
 * #close()} of an object that others still use throws, with every provider. After {@code close()} every method throws
 * {@link IllegalStateException}. No call reaches C with a stale address, if {@code close()} is ordered with the other
 * calls on the same object (see the package description).
 */
@UnstableApi
public abstract class VerbsObject implements AutoCloseable {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(VerbsObject.class);

    private final VerbsResource kind;
    private final VerbsApi verbs;
    private final VerbsObject[] parents;
    private volatile long address;
    private int users;

    /** Takes over the reference to each parent that {@link #retainAll} acquired. At least one parent is needed. */
    VerbsObject(VerbsResource kind, long address, VerbsObject... parents) {
        this(kind, parents[0].verbs, address, parents);
    }

    VerbsObject(VerbsResource kind, VerbsApi verbs, long address, VerbsObject... parents) {
        this.kind = kind;
        this.verbs = verbs;
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

    /** Returns the provider that made the object; no other one knows it. Any thread, also after {@link #close()}. */
    public final VerbsApi verbs() {
        return verbs;
    }

    /** The function table to call with the address. */
    final long api() {
        return verbs.api();
    }

    /** Returns whether the native object exists. Any thread. */
    public final boolean isOpen() {
        return address != 0;
    }

    /**
     * Destroys the native object. A second call has no effect.
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
                // As with close(2), a retry would not help, for example after the removal of the device.
                logger.warn("Destroying {} failed: {} (errno {})", this, NativeMemory.errorText(errno), errno);
            }
            address = 0;
            kind.destroyed();
        }
        releaseAll(parents);
    }

    /**
     * Keeps all parents from being closed, until {@link #releaseAll}. If one of them is closed, none is kept.
     *
     * @throws IllegalArgumentException if they are of several providers.
     */
    static void retainAll(VerbsObject... parents) {
        for (VerbsObject parent : parents) {
            parents[0].requireSameVerbs(parent);
        }
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

    /**
     * Interprets the result of a creating call. The text is composed only for an error, because each connection calls
     * this.
     */
    static long created(long result, String call, Supplier<String> what, VerbsObject... parents)
            throws VerbsException {
        return result < 0 ? created(result, call, what.get(), parents) : result;
    }

    static void check(int errno, String call, String what) throws VerbsException {
        if (errno != 0) {
            throw new VerbsException(call, errno, what);
        }
    }

    /** Checks the result of a call. The text is composed only for an error, because each connection calls this. */
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

    /**
     * @throws IllegalArgumentException if the other object is of another provider, whose C code would treat it as its
     *         own.
     */
    final void requireSameVerbs(VerbsObject other) {
        if (other.verbs != verbs) {
            throw new IllegalArgumentException(other + " is of the verbs provider " + other.verbs + ", and cannot be " +
                    "used together with " + this + " of the provider " + verbs);
        }
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
