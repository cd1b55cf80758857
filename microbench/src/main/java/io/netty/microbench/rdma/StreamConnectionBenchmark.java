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
package io.netty.microbench.rdma;

import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.stream.ReceiveArea;
import io.netty.channel.rdma.stream.StreamConfig;
import io.netty.channel.rdma.stream.StreamConnection;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.stream.StreamWorkRequest;
import io.netty.channel.rdma.stream.TargetSgl;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/**
 * Costs of the byte-stream protocol itself for a message, on both sides together, credits included. No native code
 * runs, and no memory is moved.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StreamConnectionBenchmark {
    private static final int SEGMENTS = 4;
    private static final int SEGMENT_BYTES = 64 << 10;
    private static final int MESSAGE_BYTES = 64;
    private static final long RECEIVER_SGL = 0x7000;
    private static final long SENDER_SGL = 0x8000;

    private final ReceiveArea area = new ReceiveArea(0x100000, 77, SEGMENTS, SEGMENT_BYTES);
    private final Table sgl = new Table(StreamConfig.DEFAULT.targetSglEntries());
    private final StreamConnection sender =
            new StreamConnection(StreamConfig.DEFAULT, new ReceiveArea(0x200000, 78, SEGMENTS, SEGMENT_BYTES), sgl);
    private final StreamConnection receiver =
            new StreamConnection(StreamConfig.DEFAULT, area, new Table(StreamConfig.DEFAULT.targetSglEntries()));

    @Setup
    public void establish() {
        ConnectionData ofSender = sender.localData(RECEIVER_SGL, 8);
        ConnectionData ofReceiver = receiver.localData(SENDER_SGL, 9);
        sender.establish(ofReceiver);
        receiver.establish(ofSender);
    }

    @Benchmark
    public int message() throws StreamProtocolException {
        int bytes = Math.min(sender.writable(), MESSAGE_BYTES);
        StreamWorkRequest request = sender.write(bytes);
        if (request.signalled()) {
            sender.sendQueue().completed(request.sequence());
        }
        receiver.receive(request.immediate(), bytes);
        if (receiver.arrival().filled()) {
            area.release(receiver.arrival().segment());
        }
        for (request = receiver.nextControl(); request != null; request = receiver.nextControl()) {
            if (request.kind() == StreamWorkRequest.Kind.ADVERTISE) {
                sgl.write((int) (request.remoteAddress() - RECEIVER_SGL), request);
            }
            sender.receive(request.immediate(), request.length());
            if (request.signalled()) {
                receiver.sendQueue().completed(request.sequence());
            }
        }
        return bytes;
    }

    /** Table to which the peer writes its offered buffers. */
    private static final class Table implements TargetSgl {
        private static final int LENGTH_OFFSET = 12;
        private static final int KEY_OFFSET = 8;

        private final ByteBuffer memory;

        Table(int entries) {
            memory = ByteBuffer.allocateDirect(entries * ENTRY_SIZE).order(ByteOrder.nativeOrder());
        }

        void write(int offset, StreamWorkRequest request) {
            memory.putLong(offset, request.entryHead()).putLong(offset + Long.BYTES, request.entryTail());
        }

        @Override
        public int entries() {
            return memory.capacity() / ENTRY_SIZE;
        }

        @Override
        public int length(int entry) {
            return memory.getInt(entry * ENTRY_SIZE + LENGTH_OFFSET);
        }

        @Override
        public long address(int entry) {
            return memory.getLong(entry * ENTRY_SIZE);
        }

        @Override
        public int key(int entry) {
            return memory.getInt(entry * ENTRY_SIZE + KEY_OFFSET);
        }

        @Override
        public void clearLength(int entry) {
            memory.putInt(entry * ENTRY_SIZE + LENGTH_OFFSET, 0);
        }
    }
}
