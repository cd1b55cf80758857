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
package io.netty.example.rdma.pubsub;

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.pubsub.Press.Outlet;
import io.netty.example.rdma.pubsub.PublisherEnd.WritingPublisher;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Publishes one edition after the other, on a thread of its own. The subscribers that copy them do not slow it down.
 */
final class Press implements AutoCloseable {
    private final Outlet outlet;
    private final long intervalNanos;
    private final Thread thread = new Thread(this::run, "press");
    private volatile boolean stopped;

    /** @param outlet owned by this object */
    Press(Outlet outlet, long intervalNanos) {
        this.outlet = outlet;
        this.intervalNanos = intervalNanos;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    private void run() {
        try (Outlet open = outlet) {
            for (long number = 1; !stopped; number++) {
                open.publish(number);
                LockSupport.parkNanos(intervalNanos);
            }
        }
    }

    /** Returns when the last edition is out. */
    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                // The thread ends soon: an edition takes hardly any time.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * A way of editions from the publisher to its subscribers. Only the thread of the {@link Press} uses it, except for
     * the ends of connections.
     */
    interface Outlet extends AutoCloseable {
        void publish(long number);

        /** Ends the use: no more editions will be published. */
        @Override
        void close();
    }

    /** The publisher's memory, which all subscribers read while each edition replaces the one before. */
    static final class SharedMemory implements Outlet {
        private final Edition format;
        private final RegisteredMemory memory;

        SharedMemory(Edition format) throws IOException {
            this.format = format;
            memory = RegisteredMemory.allocate(format.length(), Set.of(RdmaPermission.REMOTE_READ));
            format.write(memory.buf(), 0);
        }

        RemoteMemory export(RdmaMessageChannel channel) throws IOException {
            return channel.export(memory);
        }

        @Override
        public void publish(long number) {
            format.write(memory.buf(), number);
        }

        @Override
        public void close() {
            memory.close();
        }
    }

    /** Writes each edition into the memory of all subscribers who have got the one before. */
    static final class Mailing implements Outlet {
        private final Edition format;
        private final List<WritingPublisher> ends;

        Mailing(Edition format, List<WritingPublisher> ends) {
            this.format = format;
            this.ends = ends;
        }

        @Override
        public void publish(long number) {
            int length = format.length();
            // Each edition needs memory of its own: the device uses it until all writes of it are done.
            ByteBuf edition = RdmaByteBufAllocator.DEFAULT.directBuffer(length, length);
            try {
                format.write(edition, number);
                for (WritingPublisher end : ends) {
                    end.offer(edition);
                }
            } finally {
                edition.release();
            }
        }

        @Override
        public void close() {
            // The ends own the editions in flight.
        }
    }
}
