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
 * Writes events to recordings of the JDK's Flight Recorder. Before the first recording of the process a call costs only
 * the read of a static field. It creates no object if no recording wants the event. Does nothing without the module
 * {@code jdk.jfr}. Any thread.
 *
 * <p>All methods are static, so that the first recorded event loads the event classes, which need the module.
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

    /** Returns whether there is or was a recording in this process. */
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

    /** Records a connect that has failed. */
    public static void connectFailed(SocketAddress remote, String reason, Throwable cause) {
        if (isOn()) {
            Events.connectFailed(remote, reason, cause);
        }
    }

    /** Records that TCP is tried instead of RDMA. */
    public static void fellBack(SocketAddress remote, String reason) {
        if (isOn()) {
            Events.fellBack(remote, reason);
        }
    }

    /** Records that flushed bytes begin to wait for the peer. Returns the argument for {@link #stallEnds}. */
    public static Object stallBegins() {
        return isOn() ? Events.stallBegins() : null;
    }

    /** @param stall the result of {@link #stallBegins()}. */
    public static void stallEnds(Object stall, SocketAddress remote) {
        if (stall != null) {
            Events.stallEnds(stall, remote);
        }
    }

    /**
     * Records a work request that has failed. Only if {@link #isOn()}.
     *
     * @param status a constant of {@code enum ibv_wc_status}.
     */
    public static void completionFailed(String device, int queuePairNumber, String status, String description) {
        Events.completionFailed(device, queuePairNumber, status, description);
    }

    /** Records a change of the receive memory of a connection. Only if {@link #isOn()}. */
    public static void receiveMemory(SocketAddress remote, long before, long after) {
        Events.receiveMemory(remote, before, after);
    }
}
