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
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.SoftwareDevice;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Memory of devices of two processes that ask for the direct way between them (docs/peer-memory.md). {@link End} is
 * what both processes run.
 */
class DevicesOfTwoProcessesTest {
    private static final int SIZE = 1 << 20;
    private static final int ATTEMPTS = 10_000;

    @Test
    void bytesAreCopiedFromDeviceToDevice() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "a device asks its driver");
        List<String> asking = List.of("env", "RDMA_EMBEDDED_PEER_MEMORY_DIRECT=1");
        List<String> properties = List.of("io.netty.rdma.maxPinnedMemory=" + (256 << 20));
        try (ChildJvm server = new ChildJvm(asking, End.class, properties);
             ChildJvm client = new ChildJvm(asking, End.class, properties, server.line("port"))) {
            assertThat(client.output()).contains("read directly", "done");
            assertThat(server.output()).contains("written", "done");
        }
    }

    /** A server, or the client of the one at the port that its argument is. */
    static final class End {
        private static void listen(EventLoopGroup group, ByteBuffer bytes, RegisteredMemory memory) throws Exception {
            MessagePair.Recorder events = new MessagePair.Recorder();
            Channel listener = TestTimeouts.sync(MessagePair.listening(group, events).bind(TestAddress.anyPort()))
                    .channel();
            System.out.println("port " + ((InetSocketAddress) listener.localAddress()).getPort());
            assertThat(events.next()).isEqualTo("active");
            RdmaMessageChannel channel = (RdmaMessageChannel) events.channel();
            ByteBuf message = Unpooled.buffer();
            channel.export(memory).write(message);
            MessagePair.write(channel, message);
            // The client has written, and waits until that was seen.
            RdmaReceive done = events.message();
            int value = done.content().readInt();
            done.release();
            for (int i = 0; i < SIZE; i += Integer.BYTES) {
                assertThat(bytes.getInt(i)).isEqualTo(value + i);
            }
            System.out.println("written");
            MessagePair.write(channel, Unpooled.copyInt(1));
            TestTimeouts.sync(channel.closeFuture());
            TestTimeouts.sync(listener.close());
        }

        private static void connect(EventLoopGroup group, SoftwareDevice device, ByteBuffer bytes,
                                    RegisteredMemory memory, int port) throws Exception {
            MessagePair.Recorder events = new MessagePair.Recorder();
            Channel channel = TestTimeouts.sync(MessagePair.connecting(group, events)
                    .connect(new InetSocketAddress(TestAddress.HOST, port))).channel();
            RdmaReceive message = events.message();
            RemoteMemory remote = RemoteMemory.read(message.content());
            message.release();
            int value = 0;
            while (device.directCopies() == 0 && value < ATTEMPTS) {
                value++;
                for (int i = 0; i < SIZE; i += Integer.BYTES) {
                    bytes.putInt(i, value + i);
                }
                MessagePair.write(channel, new RdmaWrite(memory.slice(0, SIZE), remote, 0));
                bytes.putInt(0, 0);
                MessagePair.write(channel, new RdmaRead(memory.slice(0, SIZE), remote, 0));
                assertThat(bytes.getInt(0)).isEqualTo(value);
            }
            System.out.println(value < ATTEMPTS ? "read directly" : "read by host memory");
            MessagePair.write(channel, Unpooled.copyInt(value));
            events.message().release();
            TestTimeouts.sync(channel.close());
        }

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            try (SoftwareDevice device = new SoftwareDevice(); SoftwareDevice.Memory there = device.allocate(SIZE);
                 RegisteredMemory memory = RegisteredMemory.ofAddress(there.address(), SIZE,
                         EnumSet.allOf(RdmaPermission.class))) {
                if (arguments.length == 0) {
                    listen(group, there.bytes(), memory);
                } else {
                    connect(group, device, there.bytes(), memory, Integer.parseInt(arguments[0]));
                }
            } catch (Throwable t) {
                t.printStackTrace(System.out);
                // The event loops would keep the process.
                System.exit(1);
            }
            TestTimeouts.shutdown(group);
            System.out.println("done");
        }
    }
}
