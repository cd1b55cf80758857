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
package io.netty.channel.rdma.connection;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the bytes of one connection, or of all. Any thread.
 */
public final class StreamCounters {
    /** The sum over all byte-stream connections of this process, also those that are closed. */
    public static final StreamCounters TOTAL = new StreamCounters(null);

    private final StreamCounters total;
    private final LongAdder sentInPlace = new LongAdder();
    private final LongAdder sentInline = new LongAdder();
    private final LongAdder sentCopied = new LongAdder();
    private final LongAdder receivedInPlace = new LongAdder();
    private final LongAdder receivedCopied = new LongAdder();
    private final LongAdder receiveMemory = new LongAdder();

    /** @param total counts the same, or {@code null}. */
    public StreamCounters(StreamCounters total) {
        this.total = total;
    }

    void sent(int inPlace, int inline, int copied) {
        if (inPlace > 0) {
            sentInPlace.add(inPlace);
        }
        if (inline > 0) {
            sentInline.add(inline);
        }
        if (copied > 0) {
            sentCopied.add(copied);
        }
        if (total != null) {
            total.sent(inPlace, inline, copied);
        }
    }

    void received(int inPlace, int copied) {
        if (inPlace > 0) {
            receivedInPlace.add(inPlace);
        }
        if (copied > 0) {
            receivedCopied.add(copied);
        }
        if (total != null) {
            total.received(inPlace, copied);
        }
    }

    void receiveMemory(int bytes) {
        receiveMemory.add(bytes);
        if (total != null) {
            total.receiveMemory(bytes);
        }
    }

    public long sentInPlace() {
        return sentInPlace.sum();
    }

    public long sentInline() {
        return sentInline.sum();
    }

    public long sentCopied() {
        return sentCopied.sum();
    }

    public long receivedInPlace() {
        return receivedInPlace.sum();
    }

    public long receivedCopied() {
        return receivedCopied.sum();
    }

    /** Bytes of registered memory in which bytes of the peers arrive, now. */
    public long receiveMemory() {
        return receiveMemory.sum();
    }
}
