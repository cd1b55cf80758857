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

import io.netty.channel.rdma.stream.TargetSgl;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.DeviceAttributes;
import io.netty.channel.rdma.verbs.VerbsException;

/**
 * Access of other packages' tests to a connection. On its loop.
 */
public final class ConnectionInternals {
    /** The receive memory of an idle connection, in bytes. */
    public static final int FIRST_RECEIVE_BYTES = ReceiveMemory.FIRST_BYTES;
    private static final int SEND_QUEUE_DEPTH = 256;
    private static final int RECEIVE_QUEUE_DEPTH = 256;

    private ConnectionInternals() {
    }

    /** Number of bytes of receive memory that are not for the stream, with the default options. */
    public static int tableBytes() {
        int entries = 16;
        try (Device device = Device.open(Device.names().get(0))) {
            return device.isIwarp() ? (entries + SEND_QUEUE_DEPTH / 2) * TargetSgl.ENTRY_SIZE +
                    RECEIVE_QUEUE_DEPTH * Integer.BYTES
                    : (entries + SEND_QUEUE_DEPTH) * TargetSgl.ENTRY_SIZE;
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Attributes of the connection's device. */
    public static DeviceAttributes attributes(RdmaConnection connection) {
        return connection.sendPath().device.attributes;
    }

    /** Drops all that is in flight. */
    public static void destroyOutbound(RdmaConnection connection) {
        connection.sendPath().destroy();
    }

    /** Returns whether a completion is asked for that has not come. */
    public static boolean awaitsCompletion(RdmaConnection connection) {
        return !connection.sendPath().stream.sendQueue().isDrained();
    }

    /** As when work requests up to this one have completed. */
    public static void complete(RdmaConnection connection, long sequence) {
        connection.sendPath().complete(sequence);
    }
}
