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
package io.netty.channel.rdma.valkey;

import io.netty.channel.rdma.stream.Arrival;
import io.netty.channel.rdma.stream.ReceiveArea;
import io.netty.channel.rdma.stream.StreamConfig;
import io.netty.channel.rdma.stream.StreamEvent;
import io.netty.channel.rdma.stream.StreamWorkRequest;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** A {@link SimulatedEnd} on {@link ValkeyStream}, as a channel uses it. */
final class MachineEnd extends SimulatedEnd {
    private final ReceiveArea area;
    private final ValkeyStream stream;
    /** Bytes that the application holds in each segment, and whether more can arrive there. */
    private final List<int[]> slices = new ArrayList<>();
    private final int[] held;
    private final boolean[] filled;
    private final int sendDepth;
    private long completedUntil;

    MachineEnd(ValkeyProtocol role, StreamConfig config, int segments, int segmentLength, long toSend,
               long toReceive) {
        super(segments * segmentLength, config.receiveQueueDepth(), true, toSend, toReceive);
        area = new ReceiveArea(BASE, KEY, segments, segmentLength);
        sendDepth = config.sendQueueDepth();
        held = new int[segments];
        filled = new boolean[segments];
        stream = new ValkeyStream(role, config, area);
        stream.establish(null);
    }

    ValkeyStream stream() {
        return stream;
    }

    private void post(Request request) {
        assertThat(request.id() - completedUntil).as("send queue").isLessThan(sendDepth);
        requests.add(request);
    }

    @Override
    boolean produce(int limit) {
        int writable = sent < toSend ? stream.writable() : 0;
        if (writable == 0) {
            return false;
        }
        int n = (int) Math.min(Math.min(limit, writable), toSend - sent);
        StreamWorkRequest request = stream.write(n);
        boolean last = sent + n == toSend;
        if (last) {
            stream.sendQueue().signal();
        }
        post(new Request(request.sequence(), request.signalled() || last, request.remoteAddress(), request.remoteKey(),
                request.immediate(), values(sent, n)));
        sent += n;
        return true;
    }

    @Override
    boolean poll(int limit) throws Exception {
        int n = 0;
        for (Completion completion; n < limit && (completion = completions.poll()) != null; n++) {
            if (!completion.receive()) {
                completedUntil = completion.id() + 1;
                stream.sendQueue().completed(completion.id());
                continue;
            }
            StreamEvent event = completion.sent() ?
                    stream.receiveSent(slots, (int) completion.id() * ValkeyMessage.SIZE) :
                    stream.receive(completion.immediate(), completion.bytes());
            if (event == StreamEvent.DATA) {
                Arrival arrival = stream.arrival();
                check(arrival.segment() * area.segmentLength() + arrival.offset(), arrival.length());
                held[arrival.segment()]++;
                filled[arrival.segment()] = arrival.filled();
                slices.add(new int[] {arrival.segment()});
            }
        }
        return n > 0;
    }

    @Override
    boolean consume(Random random, boolean all) {
        boolean did = false;
        for (int n = all ? slices.size() : random.nextInt(4); n > 0 && !slices.isEmpty(); n--) {
            int segment = slices.remove(random.nextInt(slices.size()))[0];
            if (--held[segment] == 0 && filled[segment]) {
                filled[segment] = false;
                area.release(segment);
            }
            did = true;
        }
        return did;
    }

    @Override
    boolean control() {
        int post = stream.receivesToPost();
        receives += post;
        boolean did = post > 0;
        for (StreamWorkRequest request; (request = stream.nextControl()) != null; did = true) {
            boolean empty = request.kind() == StreamWorkRequest.Kind.KEEP_ALIVE;
            post(new Request(request.sequence(), request.signalled(), empty ? EMPTY : SEND, 0, 0,
                    empty ? new byte[0] : request.message().clone()));
        }
        return did;
    }

    @Override
    void surprise() {
        stream.keepAlive();
    }

    /** Returns whether all requests that were posted are known to be complete. */
    boolean isCompleted() {
        return completedUntil == stream.sendQueue().next();
    }
}
