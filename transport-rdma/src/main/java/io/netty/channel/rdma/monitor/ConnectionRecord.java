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

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * One established connection. It counts for its device, and is listed, until it is closed. Any thread may read its
 * figures.
 */
public abstract class ConnectionRecord {
    private static final Registry<ConnectionRecord> OPEN = new Registry<>();

    private final DeviceCounters device;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private final String reason;
    private boolean outgoing;
    private long openedNanos;
    private boolean open;

    /**
     * @param local and remote {@code null} if there is no such address.
     * @param reason see {@link #reason()}.
     */
    protected ConnectionRecord(DeviceCounters device, InetSocketAddress local, InetSocketAddress remote,
                               String reason) {
        this.device = device;
        this.local = local;
        this.remote = remote;
        this.reason = reason;
    }

    /** Returns the records of the open connections. */
    public static Registry<ConnectionRecord> open() {
        return OPEN;
    }

    /** Begins the record of an established connection. {@link #close} must follow. */
    public final void open(boolean isOutgoing) {
        open = true;
        outgoing = isOutgoing;
        openedNanos = System.nanoTime();
        device.opened(outgoing);
        OPEN.add(this);
        Recorder.connected(this);
    }

    /**
     * Ends the record when the queue pair is gone. A second call has no effect.
     *
     * @param loss the cause if the connection has ended without a close; else {@code null}.
     */
    public final void close(Throwable loss) {
        if (open) {
            open = false;
            OPEN.remove(this);
            device.closed(loss != null);
            Recorder.disconnected(this, loss);
        }
    }

    /** Returns the kind of the connection. */
    public abstract ConnectionKind kind();

    /** Returns the event loop to which the connection belongs now. */
    public abstract LoopRecord loop();

    /** Bytes of all operations that take bytes to the peer. */
    public abstract long bytesSent();

    /** Bytes of all operations that bring bytes from the peer. */
    public abstract long bytesReceived();

    /** Bytes in both directions that were copied on this host. */
    public abstract long bytesCopied();

    /** Time for which flushed bytes have waited for the peer, in nanoseconds. */
    public abstract long creditStallNanos();

    /** Returns the bytes of the connection's own receive memory. */
    public abstract long receiveMemory();

    public final DeviceCounters device() {
        return device;
    }

    /** {@code null} if there is no such address. */
    public final InetSocketAddress local() {
        return local;
    }

    /** {@code null} if there is no such address. */
    public final InetSocketAddress remote() {
        return remote;
    }

    /**
     * Returns the reason why the connection uses the provider of its device; {@code null} if the application has
     * connected the queue pair itself.
     */
    public final String reason() {
        return reason;
    }

    /** Returns whether this side has requested the connection. */
    public final boolean isOutgoing() {
        return outgoing;
    }

    public final long ageMillis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - openedNanos);
    }
}
