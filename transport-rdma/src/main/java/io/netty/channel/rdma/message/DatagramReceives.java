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
import io.netty.buffer.ByteBufHolder;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/**
 * The receives of a {@link RdmaDatagramChannel}. The header before a datagram goes to separate memory, so that the
 * datagram begins at the beginning of its buffer. Each receive has room for the longest datagram that the port may ever
 * carry, because with soft-RoCE a datagram that is longer than its receive would end the queue pair. While the channel
 * does not read, datagrams fill the receives. Then the device drops datagrams without a report.
 */
final class DatagramReceives extends OwnReceives {
    /** The length of the global header, which is there with RoCE, and with InfiniBand if a flag says so. */
    private static final int HEADER = WorkCompletions.GLOBAL_HEADER_LENGTH;

    private final RdmaDatagramChannel channel;
    private final ChannelQueuePair queuePair;
    private final boolean ethernet;
    private final RoutingHeader header;
    private final int[] queuePairNumbers;
    private final int[] lids;
    private final int[] serviceLevels;
    private final boolean[] withHeader;
    private ByteBuf headers;
    private volatile long dropped;

    DatagramReceives(RdmaDatagramChannel channel, ChannelQueuePair queuePair, DevicePort port,
                     RdmaMessageMetrics metrics) {
        super(channel, queuePair, Math.max(port.attributes.maxMtu(), port.attributes.activeMtu()),
                channel::isPosting, metrics);
        this.channel = channel;
        this.queuePair = queuePair;
        ethernet = port.attributes.isEthernet();
        header = new RoutingHeader(ethernet);
        int depth = queuePair.receiveDepth();
        queuePairNumbers = new int[depth];
        lids = new int[depth];
        serviceLevels = new int[depth];
        withHeader = new boolean[depth];
    }

    @Override
    public void postAll() throws IOException {
        headers = buffer(withHeader.length * HEADER);
        super.postAll();
    }

    @Override
    void addHeader(int slot, ReceiveWorkRequests receive) throws VerbsException {
        long address = headers.memoryAddress() + slot * HEADER;
        receive.addSge(address, HEADER, queuePair.localKey(headers));
    }

    @Override
    void note(int slot, WorkCompletions completions, int index) {
        queuePairNumbers[slot] = completions.sourceQueuePairNumber(index);
        lids[slot] = ethernet ? 0 : completions.sourceLid(index);
        serviceLevels[slot] = completions.serviceLevel(index);
        withHeader[slot] = ethernet || completions.hasGlobalHeader(index);
    }

    @Override
    ByteBufHolder message(int slot, int opcode, int length, boolean immediate, int value) {
        boolean global = withHeader[slot] && header.read(headers, slot * HEADER);
        // The sender can't be answered: the header has neither a LID nor a global identifier.
        if (length < HEADER || !global && lids[slot] == 0) {
            drop();
            return null;
        }
        RdmaDatagramAddress sender = RdmaDatagramAddress.sender(global ? header.source : null, lids[slot],
                serviceLevels[slot], queuePairNumbers[slot]);
        RdmaDatagramAddress peer = channel.peer();
        if (peer != null && !peer.isSamePeer(sender)) {
            drop();
            return null;
        }
        SocketAddress recipient = recipient(global);
        ByteBuf content = content(slot, length - HEADER);
        ByteBufHolder message = null;
        try {
            message = new RdmaDatagram(content, recipient, sender, immediate, value);
            return message;
        } finally {
            if (message == null) {
                content.release();
            }
        }
    }

    private SocketAddress recipient(boolean global) {
        InetAddress group = global ? channel.group(header.destination) : null;
        return group == null ? channel.localAddress() : new InetSocketAddress(group, channel.localAddress().getPort());
    }

    @SuppressWarnings("NonAtomicOperationOnVolatileField") // Only the loop writes.
    private void drop() {
        dropped++;
    }

    /** The number of datagrams that were not given to the pipeline. Any thread. */
    long dropped() {
        return dropped;
    }

    @Override
    public void release() {
        super.release();
        if (headers != null) {
            headers.release();
            headers = null;
        }
    }
}
