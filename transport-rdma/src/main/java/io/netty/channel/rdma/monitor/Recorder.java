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

import jdk.jfr.FlightRecorder;

import java.net.SocketAddress;

/**
 * Writes what happens to the recordings of the JDK's Flight Recorder. Costs the read of a static field as long as there
 * never was a recording in this process, and no object as long as none wants the event. Does nothing where there is no
 * module {@code jdk.jfr}. Any thread.
 *
 * <p>Nothing but static methods, so that the classes of the events, which need that module, are loaded by the first
 * event of a recording.
 */
public final class Recorder {
    private static final boolean AVAILABLE = isAvailable();

    private Recorder() { }

    private static boolean isAvailable() {
        try {
            return FlightRecorder.isAvailable();
        } catch (LinkageError e) {
            return false;
        }
    }

    /** Returns whether a recording is, or was, made. */
    public static boolean isOn() {
        return AVAILABLE && FlightRecorder.isInitialized();
    }

    static void connected(ConnectionRecord connection) {
        if (isOn()) {
            Events.connected(connection);
        }
    }

    static void disconnected(ConnectionRecord connection, Throwable loss) {
        if (isOn()) {
            Events.disconnected(connection, loss);
        }
    }

    /** A connect has failed. */
    public static void connectFailed(SocketAddress remote, String reason, Throwable cause) {
        if (isOn()) {
            Events.connectFailed(remote, reason, cause);
        }
    }

    /** TCP is tried instead of RDMA. */
    public static void fellBack(SocketAddress remote, String reason) {
        if (isOn()) {
            Events.fellBack(remote, reason);
        }
    }

    /** Flushed bytes wait for the peer from now on. Returns what {@link #stallEnds} is to get, perhaps {@code null}. */
    public static Object stallBegins() {
        return isOn() ? Events.stallBegins() : null;
    }

    /** @param stall of {@link #stallBegins()}. */
    public static void stallEnds(Object stall, SocketAddress remote) {
        if (stall != null) {
            Events.stallEnds(stall, remote);
        }
    }

    /**
     * A work request has failed. If {@link #isOn()}.
     *
     * @param status a constant of {@code enum ibv_wc_status}.
     */
    public static void completionFailed(String device, int queuePairNumber, String status, String description) {
        Events.completionFailed(device, queuePairNumber, status, description);
    }

    /** The receive memory of a connection has changed. If {@link #isOn()}. */
    public static void receiveMemory(SocketAddress remote, long before, long after) {
        Events.receiveMemory(remote, before, after);
    }
}
