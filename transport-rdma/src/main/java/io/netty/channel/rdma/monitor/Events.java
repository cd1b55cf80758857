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

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;

import java.net.SocketAddress;
import java.util.Locale;

/**
 * The events of {@link Recorder}. They are enabled by default, because they are as rare as connects. Only long stalls
 * are recorded.
 */
final class Events {
    private Events() { }

    @Category({ "Netty", "RDMA" })
    @StackTrace(false)
    private abstract static class RdmaEvent extends Event {
    }

    private abstract static class PeerEvent extends RdmaEvent {
        @Label("Remote Address")
        String remote;
    }

    private abstract static class ConnectionEvent extends PeerEvent {
        @Label("Local Address")
        String local;
        @Label("Kind")
        String kind;
        @Label("Device")
        String device;

        final void describe(ConnectionRecord connection) {
            local = text(connection.local());
            remote = text(connection.remote());
            kind = connection.kind().name().toLowerCase(Locale.ROOT);
            device = connection.device().device();
        }
    }

    private abstract static class ReceiveMemoryEvent extends PeerEvent {
        @Label("Before")
        @DataAmount
        long before;
        @Label("After")
        @DataAmount
        long after;
    }

    @Name("io.netty.rdma.Connect")
    @Label("RDMA Connect")
    @Description("A connection is established")
    static final class Connect extends ConnectionEvent {
        @Label("Provider")
        String provider;
        @Label("Reason")
        @Description("Why by this provider; none if the application has connected it by itself")
        String reason;
        @Label("Outgoing")
        @Description("Whether this side has asked for it")
        boolean outgoing;
    }

    @Name("io.netty.rdma.Disconnect")
    @Label("RDMA Disconnect")
    @Description("The queue pair of a connection is gone")
    static final class Disconnect extends ConnectionEvent {
        @Label("Age")
        @Timespan(Timespan.MILLISECONDS)
        long age;
        @Label("Bytes Sent")
        @DataAmount
        long bytesSent;
        @Label("Bytes Received")
        @DataAmount
        long bytesReceived;
        @Label("Bytes Copied")
        @DataAmount
        long bytesCopied;
        @Label("Time Stalled")
        @Description("How long flushed bytes have waited for the peer")
        @Timespan(Timespan.NANOSECONDS)
        long stalled;
    }

    @Name("io.netty.rdma.ConnectionError")
    @Label("RDMA Connection Error")
    @Description("A connection has ended by an error")
    static final class ConnectionError extends PeerEvent {
        @Label("Local Address")
        String local;
        @Label("Message")
        String message;
    }

    @Name("io.netty.rdma.CompletionError")
    @Label("RDMA Completion Error")
    @Description("A work request has failed; not those that were flushed after that")
    static final class CompletionError extends RdmaEvent {
        @Label("Device")
        String device;
        @Label("Queue Pair Number")
        int queuePair;
        @Label("Status")
        @Description("Of enum ibv_wc_status, without IBV_WC_")
        String status;
        @Label("Message")
        String message;
    }

    @Name("io.netty.rdma.ConnectFailure")
    @Label("RDMA Connect Failure")
    @Description("A connection that this process has asked for was not made")
    static final class ConnectFailure extends PeerEvent {
        @Label("Reason")
        String reason;
        @Label("Message")
        String message;
    }

    @Name("io.netty.rdma.FallBack")
    @Label("RDMA Fall Back")
    @Description("TCP is tried instead of RDMA; a connect failure on the same thread, if any, says more")
    static final class FallBack extends PeerEvent {
        @Label("Reason")
        String reason;
    }

    @Name("io.netty.rdma.CreditStall")
    @Label("RDMA Credit Stall")
    @Description("Flushed bytes have waited for the peer, and for nothing else")
    @Threshold("10 ms")
    static final class CreditStall extends PeerEvent {
    }

    @Name("io.netty.rdma.ReceiveMemoryGrown")
    @Label("RDMA Receive Memory Grown")
    @Description("A connection has got more receive memory, since its peer had to wait for it")
    static final class ReceiveMemoryGrown extends ReceiveMemoryEvent {
    }

    @Name("io.netty.rdma.ReceiveMemoryShrunk")
    @Label("RDMA Receive Memory Shrunk")
    @Description("A connection gives receive memory back, since it was not used")
    static final class ReceiveMemoryShrunk extends ReceiveMemoryEvent {
    }

    static void connected(ConnectionRecord connection) {
        Connect event = new Connect();
        if (event.shouldCommit()) {
            event.describe(connection);
            event.provider = connection.device().provider();
            event.reason = connection.reason();
            event.outgoing = connection.isOutgoing();
            event.commit();
        }
    }

    static void disconnected(ConnectionRecord connection, Throwable loss) {
        Disconnect event = new Disconnect();
        if (event.shouldCommit()) {
            event.describe(connection);
            event.age = connection.ageMillis();
            event.bytesSent = connection.bytesSent();
            event.bytesReceived = connection.bytesReceived();
            event.bytesCopied = connection.bytesCopied();
            event.stalled = connection.creditStallNanos();
            event.commit();
        }
        ConnectionError error = new ConnectionError();
        if (loss != null && error.shouldCommit()) {
            error.local = text(connection.local());
            error.remote = text(connection.remote());
            error.message = loss.toString();
            error.commit();
        }
    }

    static void connectFailed(SocketAddress remote, String reason, Throwable cause) {
        ConnectFailure event = new ConnectFailure();
        if (event.shouldCommit()) {
            event.remote = text(remote);
            event.reason = reason;
            event.message = cause.toString();
            event.commit();
        }
    }

    static void fellBack(SocketAddress remote, String reason) {
        FallBack event = new FallBack();
        if (event.shouldCommit()) {
            event.remote = text(remote);
            event.reason = reason;
            event.commit();
        }
    }

    static Object stallBegins() {
        CreditStall event = new CreditStall();
        if (!event.isEnabled()) {
            return null;
        }
        event.begin();
        return event;
    }

    static void stallEnds(Object stall, SocketAddress remote) {
        CreditStall event = (CreditStall) stall;
        event.end();
        if (event.shouldCommit()) {
            event.remote = text(remote);
            event.commit();
        }
    }

    static void completionFailed(String device, int queuePairNumber, String status, String description) {
        CompletionError event = new CompletionError();
        if (event.shouldCommit()) {
            event.device = device;
            event.queuePair = queuePairNumber;
            event.status = status;
            event.message = description;
            event.commit();
        }
    }

    static void receiveMemory(SocketAddress remote, long before, long after) {
        ReceiveMemoryEvent event = after > before ? new ReceiveMemoryGrown() : new ReceiveMemoryShrunk();
        if (event.shouldCommit()) {
            event.remote = text(remote);
            event.before = before;
            event.after = after;
            event.commit();
        }
    }

    private static String text(SocketAddress address) {
        return address == null ? null : address.toString();
    }
}
