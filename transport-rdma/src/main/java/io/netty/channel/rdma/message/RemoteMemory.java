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

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.VerbsException;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * The address and the key of a peer's memory. The owner gets a description by {@link RdmaMessageChannel#export}, or
 * before there is a channel by {@link #of(RegisteredMemory, String)}. It sends the description as a blob, in a message,
 * or in the data of a connect request or of its answer. The peer reads the blob and uses it on its channel to the
 * owner. Immutable.
 *
 * <p>A peer that has a connection to the owner's protection domain and knows the key can do what the memory allows. So
 * treat a blob like a password. The owner's device refuses a key that is wrong, of memory that is not registered any
 * more, or of another process, with the status {@code REMOTE_ACCESS_ERROR}, and ends the connection.
 *
 * <p>The blob, in network order:
 * <pre>
 *  offset  size
 *       0     4   magic, 0x52444d41
 *       4     1   version, 1
 *       5     1   what is allowed: 1 read, 2 write, 4 atomic
 *       6     2   reserved, 0
 *       8     8   address
 *      16     8   length in bytes
 *      24     4   rkey
 * </pre>
 */
public final class RemoteMemory {
    /** The length of a blob in bytes. */
    public static final int BLOB_LENGTH = 28;

    private static final int MAGIC = 0x52444d41;
    private static final int VERSION = 1;
    private static final RdmaPermission[] BITS = {
            RdmaPermission.REMOTE_READ, RdmaPermission.REMOTE_WRITE, RdmaPermission.REMOTE_ATOMIC
    };

    private final long address;
    private final long length;
    private final int key;
    private final Set<RdmaPermission> permissions;

    /**
     * @param address in the address space of the owner, 0 or more.
     * @param length in bytes, at least 1; the last byte must have an address, too.
     * @param key the rkey.
     * @param permissions remote ones.
     * @throws IllegalArgumentException that names the first of these that is not as said.
     */
    public RemoteMemory(long address, long length, int key, Set<RdmaPermission> permissions) {
        if (address < 0) {
            throw new IllegalArgumentException("address: " + Long.toUnsignedString(address) + " (expected: < 2^63)");
        }
        if (length <= 0 || length > Long.MAX_VALUE - address) {
            throw new IllegalArgumentException("length: " + Long.toUnsignedString(length) + " (expected: 1 to " +
                    (Long.MAX_VALUE - address) + ')');
        }
        if (permissions.contains(RdmaPermission.LOCAL_WRITE)) {
            throw new IllegalArgumentException("permissions: " + permissions + " (expected: remote ones)");
        }
        this.address = address;
        this.length = length;
        this.key = key;
        EnumSet<RdmaPermission> copy = EnumSet.noneOf(RdmaPermission.class);
        copy.addAll(permissions);
        this.permissions = Collections.unmodifiableSet(copy);
    }

    /**
     * Registers memory with a device, if that has not been done, and returns its key, for the peers of all channels on
     * the device. No connection is needed, so the description can be in {@link
     * io.netty.channel.rdma.RdmaChannelOption#CONNECT_DATA}. A channel that knows its device has {@link
     * RdmaMessageChannel#export}. Any thread.
     *
     * @param deviceName one of {@link Device#names()}.
     * @throws VerbsException if there is no such device, or it does not register the memory.
     * @throws io.netty.util.IllegalReferenceCountException if the memory is closed.
     */
    public static RemoteMemory of(RegisteredMemory memory, String deviceName) throws VerbsException {
        return of(memory, Device.shared(deviceName));
    }

    /** @param device that the connection manager shares. */
    static RemoteMemory of(RegisteredMemory memory, Device device) throws VerbsException {
        memory.retain();
        try {
            EnumSet<RdmaPermission> remote = EnumSet.noneOf(RdmaPermission.class);
            remote.addAll(memory.permissions());
            remote.remove(RdmaPermission.LOCAL_WRITE);
            return new RemoteMemory(memory.address(), memory.length(),
                    ChannelQueuePair.region(device, memory).rkey(), remote);
        } finally {
            memory.release();
        }
    }

    /**
     * Reads a blob, and checks all fields, because the source may not be trusted.
     *
     * @param blob {@value #BLOB_LENGTH} bytes are read.
     * @throws IllegalArgumentException that names what is wrong with it.
     */
    public static RemoteMemory read(ByteBuf blob) {
        if (blob.readableBytes() < BLOB_LENGTH) {
            throw new IllegalArgumentException("blob of remote memory: " + blob.readableBytes() +
                    " bytes (expected: " + BLOB_LENGTH + ')');
        }
        int magic = blob.readInt();
        if (magic != MAGIC) {
            throw new IllegalArgumentException("not a blob of remote memory: it begins with 0x" +
                    Integer.toHexString(magic));
        }
        int version = blob.readUnsignedByte();
        if (version != VERSION) {
            throw new IllegalArgumentException("blob of remote memory: version " + version + " (expected: " + VERSION +
                    ')');
        }
        int bits = blob.readUnsignedByte();
        int reserved = blob.readUnsignedShort();
        if (bits >>> BITS.length != 0 || reserved != 0) {
            throw new IllegalArgumentException("blob of remote memory: unknown permissions 0x" +
                    Integer.toHexString(bits) + " or reserved bits 0x" + Integer.toHexString(reserved));
        }
        EnumSet<RdmaPermission> permissions = EnumSet.noneOf(RdmaPermission.class);
        for (int i = 0; i < BITS.length; i++) {
            if ((bits & 1 << i) != 0) {
                permissions.add(BITS[i]);
            }
        }
        return new RemoteMemory(blob.readLong(), blob.readLong(), blob.readInt(), permissions);
    }

    /** Writes the blob, {@value #BLOB_LENGTH} bytes. */
    public void write(ByteBuf out) {
        int bits = 0;
        for (int i = 0; i < BITS.length; i++) {
            if (permissions.contains(BITS[i])) {
                bits |= 1 << i;
            }
        }
        out.writeInt(MAGIC).writeByte(VERSION).writeByte(bits).writeShort(0).writeLong(address).writeLong(length)
                .writeInt(key);
    }

    /** The address in the address space of the owner. */
    public long address() {
        return address;
    }

    /** The length in bytes. */
    public long length() {
        return length;
    }

    /** The rkey. */
    public int key() {
        return key;
    }

    /** The permissions that the owner says it gives. Unmodifiable. */
    public Set<RdmaPermission> permissions() {
        return permissions;
    }

    /**
     * A part of the memory.
     *
     * @throws IndexOutOfBoundsException if that is not inside.
     */
    public RemoteMemory slice(long offset, long newLength) {
        if (offset < 0 || newLength <= 0 || offset > length - newLength) {
            throw new IndexOutOfBoundsException("offset: " + offset + ", length: " + newLength + " of the " + this);
        }
        return new RemoteMemory(address + offset, newLength, key, permissions);
    }

    @Override
    public String toString() {
        return "remote memory of " + length + " bytes with " + permissions;
    }
}
