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

import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.verbs.AtomicCapability;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.DeviceAttributes;
import io.netty.channel.rdma.verbs.PortAttributes;
import io.netty.channel.rdma.verbs.VerbsException;

import java.util.List;

/** The features and limits of a device for channels of messages and of datagrams. Immutable. */
public final class RdmaCapabilities {
    private final String deviceName;
    private final boolean iwarp;
    private final DeviceAttributes attributes;
    private final int maxInlineReceive;
    private final boolean dmabuf;
    private final List<String> peerMemoryClients;
    private final long maxMessageLength;
    private final int maxDatagramLength;

    RdmaCapabilities(Device device, DeviceAttributes attributes) throws VerbsException {
        deviceName = device.name();
        iwarp = device.isIwarp();
        this.attributes = attributes;
        maxInlineReceive = device.maxInlineReceive();
        dmabuf = device.supportsDmabuf();
        peerMemoryClients = device.peerMemoryClients();
        long least = Long.MAX_VALUE;
        int mtu = Integer.MAX_VALUE;
        for (int port = 1; port <= attributes.portCount(); port++) {
            PortAttributes portAttributes = device.portAttributes(port);
            long size = Integer.toUnsignedLong(portAttributes.maxMessageSize());
            mtu = portAttributes.isActive() ? Math.min(mtu, portAttributes.activeMtu()) : mtu;
            // A port that is down may not tell.
            least = size == 0 ? least : Math.min(least, size);
        }
        maxDatagramLength = iwarp || mtu == Integer.MAX_VALUE ? 0 : mtu;
        // Buffers have no more.
        maxMessageLength = Math.min(least, Integer.MAX_VALUE);
    }

    /**
     * Asks a device.
     *
     * @param deviceName one of {@link Device#names()}.
     * @throws VerbsException if there is no such device, or it can't be opened.
     */
    public static RdmaCapabilities of(String deviceName) throws VerbsException {
        try (Device device = Device.open(deviceName)) {
            return new RdmaCapabilities(device, device.attributes());
        }
    }

    public String deviceName() {
        return deviceName;
    }

    /**
     * Returns whether the device has an operation. iWARP has neither immediate data nor atomics (RFC 5040), nor {@link
     * RdmaSyncEventGet}, because {@link #readsNeedRemoteWrite()}.
     */
    public boolean isSupported(Class<? extends RdmaOperation> operation) {
        return isSupported(operation, iwarp, attributes);
    }

    static boolean isSupported(Class<? extends RdmaOperation> operation, boolean iwarp, DeviceAttributes attributes) {
        if (operation == RdmaCompareAndSwap.class || operation == RdmaFetchAndAdd.class) {
            return attributes.supportsAtomics();
        }
        if (operation == RdmaSendInv.class) {
            return attributes.supportsSendWithInvalidate();
        }
        return !iwarp || operation != RdmaWriteImm.class && operation != RdmaSendImm.class &&
                operation != RdmaSyncEventGet.class;
    }

    /**
     * Returns whether an {@link RdmaRead} needs {@link RdmaPermission#REMOTE_WRITE} of the memory that it reads into,
     * as with iWARP, where the peer writes the answer there (RFC 5040). The read must use a slice of such memory, not a
     * buffer, and only one: {@link #maxReadSges()} is 1.
     */
    public boolean readsNeedRemoteWrite() {
        return iwarp;
    }

    /** Returns whether the device supports {@link RdmaMessageChannel#bindWindow}. */
    public boolean supportsMemoryWindows() {
        return attributes.maxMemoryWindows() > 0;
    }

    /** The accesses against which atomic operations are atomic. */
    public AtomicCapability atomicCapability() {
        return attributes.atomicCapability();
    }

    /** The most that {@code SEND_QUEUE_DEPTH} and {@code RECEIVE_QUEUE_DEPTH} can be. */
    public int maxQueueDepth() {
        return attributes.maxWorkRequests();
    }

    /** The most that {@code MAX_SEND_SGES} can be. */
    public int maxSendSges() {
        return attributes.maxSges();
    }

    /** The most that {@code MAX_RECEIVE_SGES} can be. */
    public int maxReceiveSges() {
        return attributes.maxSges();
    }

    /** The most pieces of the buffer of an {@link RdmaRead}. */
    public int maxReadSges() {
        return attributes.maxReadSges();
    }

    /** The most that {@code INITIATOR_DEPTH} can be. */
    public int maxInitiatorDepth() {
        return attributes.maxInitiatorDepth();
    }

    /** The most that {@code RESPONDER_RESOURCES} can be. */
    public int maxResponderResources() {
        return attributes.maxResponderResources();
    }

    /** Returns whether {@code SHARED_RECEIVE_QUEUE} can be true. */
    public boolean supportsSharedReceives() {
        return attributes.maxSharedReceiveQueues() > 0;
    }

    /** The most that the depth of a shared receive queue can be; 0 if there are none. */
    public int maxSharedReceives() {
        return supportsSharedReceives() ? attributes.maxSharedReceiveRequests() : 0;
    }

    /** The most that {@code MAX_INLINE_RECEIVE} can be; 0 if the device has no inline receives. */
    public int maxInlineReceive() {
        return maxInlineReceive;
    }

    /** Returns whether the memory of a file descriptor can be registered: {@link RegisteredMemory#ofDmabuf}. */
    public boolean supportsDmabuf() {
        return dmabuf;
    }

    /**
     * The peer memory clients of the device's driver, by which memory of another device can be registered by its
     * address: {@link RegisteredMemory#ofAddress}. With a device of the kernel these are kernel modules, such as {@code
     * nv_mem}; with the embedded provider libraries that this process has loaded so far, such as {@code CUDA}, or has
     * registered. Unmodifiable, and empty if there are none.
     */
    public List<String> peerMemoryClients() {
        return peerMemoryClients;
    }

    /** The most bytes of one operation. */
    public long maxMessageLength() {
        return maxMessageLength;
    }

    /** Returns whether the device supports {@link RdmaDatagramChannel}s: iWARP has no datagrams (RFC 5040). */
    public boolean supportsDatagrams() {
        return !iwarp;
    }

    /** Returns whether datagram channels can join groups. */
    public boolean supportsMulticast() {
        return supportsDatagrams() && attributes.maxMulticastGroups() > 0;
    }

    /** The most groups of the device; 0 if it has none. */
    public int maxMulticastGroups() {
        return attributes.maxMulticastGroups();
    }

    /** The most bytes of a datagram: the least MTU of its active ports; 0 if it has none, or no datagrams. */
    public int maxDatagramLength() {
        return maxDatagramLength;
    }

    @Override
    public String toString() {
        return deviceName + ": " + attributes + ", operations of up to " + maxMessageLength + " bytes, atomics: " +
                atomicCapability() + ", shared receives: " + maxSharedReceives() + ", inline receive: " +
                maxInlineReceive + " bytes, dma-bufs: " + (dmabuf ? "yes" : "no") + ", peer memory: " +
                (peerMemoryClients.isEmpty() ? "none" : String.join(", ", peerMemoryClients)) +
                ", memory windows: " + attributes.maxMemoryWindows();
    }
}
