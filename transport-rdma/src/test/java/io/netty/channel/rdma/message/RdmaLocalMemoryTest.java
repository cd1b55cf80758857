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
import io.netty.channel.ChannelFuture;
import io.netty.channel.rdma.FakeGpu;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.MemoryFile;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaDiagnostics;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.SoftwareDevice;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.internal.PlatformDependent;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;

import static io.netty.channel.rdma.RdmaPermission.LOCAL_WRITE;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_ATOMIC;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_READ;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Operations on registered memory without a buffer, and memory that has none: that of a file descriptor or of an
 * address.
 */
@Tag("quick")
class RdmaLocalMemoryTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final EnumSet<RdmaPermission> ALL = EnumSet.allOf(RdmaPermission.class);
    private static final int SIZE = 65536;
    private static final int PAGE = 4096;

    @Test
    void slicesAreTheLocalSideOfEachOperation() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory own = RegisteredMemory.of(ByteBuffer.allocateDirect(SIZE), EnumSet.of(LOCAL_WRITE));
             RegisteredMemory memory = RegisteredMemory.allocate(SIZE, ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            byte[] bytes = fill(own.buf().nioBuffer(0, SIZE), 1);
            operate(pair, own, memory, remote);
            assertThat(own.refCnt()).as("nothing is in flight").isEqualTo(1);
            assertThat(own.buf().getByte(SIZE - 1)).isEqualTo(bytes[SIZE - 1]);
        }
    }

    @Test
    void memoryOfAFileDescriptorIsTheLocalSideOfEachOperation() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(SIZE, ALL)) {
            assumeTrue(pair.client.capabilities().supportsDmabuf(), "the device has no dma-bufs");
            try (MemoryFile file = new MemoryFile(2 * SIZE);
                 RegisteredMemory own = RegisteredMemory.ofDmabuf(file.fd(), SIZE, SIZE, EnumSet.of(LOCAL_WRITE))) {
                ByteBuffer mapped = file.map().position(SIZE).slice();
                byte[] bytes = fill(mapped, 2);
                assertThat(own.buf().capacity()).isZero();
                operate(pair, own, memory, pair.server.export(memory));
                assertThat(mapped.get(SIZE - 1)).isEqualTo(bytes[SIZE - 1]);
                assertThat(mapped.getInt(5000)).isEqualTo(memory.buf().getInt(0));
            }
        }
    }

    @Test
    void memoryOfAnAddressIsTheLocalSideOfEachOperation() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             MemoryFile file = new MemoryFile(SIZE);
             RegisteredMemory memory = RegisteredMemory.allocate(SIZE, ALL)) {
            MappedByteBuffer mapped = file.map();
            try (RegisteredMemory own = ofAddress(mapped)) {
                byte[] bytes = fill(mapped, 7);
                assertThat(own.buf().capacity()).isZero();
                operate(pair, own, memory, pair.server.export(memory));
                assertThat(mapped.get(SIZE - 1)).isEqualTo(bytes[SIZE - 1]);
                assertThat(mapped.getInt(5000)).isEqualTo(memory.buf().getInt(0));
            }
            unmap(mapped);
        }
    }

    @Test
    void peersUseMemoryOfAnAddress() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); MemoryFile file = new MemoryFile(SIZE)) {
            MappedByteBuffer mapped = file.map();
            try (RegisteredMemory memory = ofAddress(mapped)) {
                RemoteMemory remote = pair.server.export(memory);
                MessagePair.write(pair.client, new RdmaWrite(Unpooled.buffer(8).writeLong(11), remote, SIZE - 8));
                assertThat(mapped.getLong(SIZE - 8)).isEqualTo(11);
            }
            unmap(mapped);
        }
    }

    @Test
    void addressesAtWhichNothingIsMappedAreRefusedAndTheConnectionGoesOn() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory nowhere = RegisteredMemory.ofAddress(PAGE, PAGE, ALL)) {
            assertThatThrownBy(() -> pair.server.export(nowhere)).isInstanceOf(IOException.class)
                    .hasMessageContaining("Bad address");
            assertThat(MessagePair.failure(pair.client, new RdmaSend(nowhere.slice(0, 8))))
                    .isInstanceOf(IOException.class).hasMessageContaining("Bad address");
            MessagePair.write(pair.client, Unpooled.copyInt(1));
            pair.serverEvents.message().release();
        }
    }

    /** A device has pinned the pages and goes on, or has the same answer as the embedded provider: an error. */
    @ParameterizedTest
    @ValueSource(ints = { 8, 4000 })
    void memoryThatIsUnmappedWhileItIsRegisteredFailsOperationsOnItAndNothingElse(int length) throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             MessagePair target = new MessagePair(loops.group());
             MessagePair other = new MessagePair(loops.group());
             MemoryFile file = new MemoryFile(SIZE)) {
            MappedByteBuffer mapped = file.map();
            try (RegisteredMemory memory = ofAddress(mapped)) {
                MessagePair.write(pair.client, new RdmaSend(memory.slice(0, length)));
                pair.serverEvents.message().release();
                RemoteMemory remote = target.server.export(memory);
                MessagePair.write(target.client, new RdmaWrite(Unpooled.buffer(length).writeZero(length), remote, 0));
                unmap(mapped);

                assertGone(pair.client.writeAndFlush(new RdmaSend(memory.slice(0, length))),
                        WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
                assertGone(target.client.writeAndFlush(
                        new RdmaWrite(Unpooled.buffer(length).writeZero(length), remote, 0)),
                        WorkCompletionStatus.REMOTE_OPERATION_ERROR, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            }
            MessagePair.write(other.client, Unpooled.copyInt(1));
            other.serverEvents.message().release();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void memoryOfAnotherDeviceIsUsedByItsClient(boolean byDescriptor) throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "a device asks its driver");
        try (SoftwareDevice device = new SoftwareDevice(); MessagePair pair = new MessagePair(loops.group());
             SoftwareDevice.Memory there = device.allocate(SIZE);
             RegisteredMemory memory = RegisteredMemory.allocate(SIZE, ALL);
             RegisteredMemory own = byDescriptor ? RegisteredMemory.ofDmabuf(there.fd(), 0, SIZE, ALL) :
                     RegisteredMemory.ofAddress(there.address(), SIZE, ALL)) {
            byte[] bytes = fill(there.bytes(), 8);
            assertThat(own.buf().capacity()).isZero();
            operate(pair, own, memory, pair.server.export(memory));
            assertThat(there.bytes().get(SIZE - 1)).isEqualTo(bytes[SIZE - 1]);
            assertThat(there.bytes().getInt(5000)).isEqualTo(memory.buf().getInt(0));

            RemoteMemory remote = pair.server.export(own);
            MessagePair.write(pair.client, new RdmaWrite(memory.slice(0, 30000), remote, 30000));
            assertThat(Unpooled.wrappedBuffer(there.bytes()).slice(30000, 30000))
                    .isEqualTo(memory.buf().slice(0, 30000));
            there.bytes().putLong(8, 77);
            MessagePair.write(pair.client, new RdmaRead(memory.slice(0, 16), remote, 0));
            assertThat(memory.buf().nioBuffer(8, 8).order(ByteOrder.BIG_ENDIAN).getLong()).isEqualTo(77);
            assertThat(MessagePair.failure(pair.client, new RdmaFetchAndAdd(remote, 0, 1)))
                    .isInstanceOfSatisfying(RdmaOperationException.class,
                            e -> assertThat(e.status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR));
        }
    }

    @Test
    void memoryOfAnotherDeviceThatIsFreedFailsOperationsOnItAndNothingElse() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "a device asks its driver");
        try (SoftwareDevice device = new SoftwareDevice(); MessagePair pair = new MessagePair(loops.group());
             MessagePair target = new MessagePair(loops.group()); MessagePair other = new MessagePair(loops.group());
             SoftwareDevice.Memory there = device.allocate(SIZE);
             RegisteredMemory memory = RegisteredMemory.ofAddress(there.address(), SIZE, ALL)) {
            MessagePair.write(pair.client, new RdmaSend(memory.slice(0, 4000)));
            pair.serverEvents.message().release();
            RemoteMemory remote = target.server.export(memory);
            MessagePair.write(target.client, new RdmaWrite(Unpooled.buffer(8).writeZero(8), remote, 0));
            there.free();

            assertGone(pair.client.writeAndFlush(new RdmaSend(memory.slice(0, 4000))),
                    WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            assertGone(target.client.writeAndFlush(new RdmaWrite(Unpooled.buffer(8).writeZero(8), remote, 0)),
                    WorkCompletionStatus.REMOTE_OPERATION_ERROR);
            MessagePair.write(other.client, Unpooled.copyInt(1));
            other.serverEvents.message().release();
        }
    }

    @Test
    void memoryOfAGraphicsProcessorIsUsedOnceItsLibraryIsLoaded() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "a device asks its driver");
        try (MessagePair pair = new MessagePair(loops.group())) {
            if (!FakeGpu.isLoaded()) {
                assertThat(pair.client.capabilities().peerMemoryClients()).doesNotContain("CUDA");
                try (RegisteredMemory none = RegisteredMemory.ofCuda(1L << 40, SIZE, ALL)) {
                    assertThatThrownBy(() -> pair.client.export(none)).isInstanceOf(VerbsException.class)
                            .hasMessageContaining("CUDA").hasMessageContaining("No such device");
                }
            }
            try (FakeGpu gpu = new FakeGpu(SIZE);
                 RegisteredMemory own = RegisteredMemory.ofCuda(gpu.pointer(), SIZE, ALL);
                 RegisteredMemory memory = RegisteredMemory.allocate(SIZE, ALL)) {
                assertThat(RdmaCapabilities.of(pair.client.capabilities().deviceName()).peerMemoryClients())
                        .contains("CUDA");
                assertThat(RdmaDiagnostics.text()).contains("peer memory", "CUDA");
                byte[] bytes = fill(gpu.bytes(), 9);
                assertThat(own.buf().capacity()).isZero();
                int copies = FakeGpu.copies();
                operate(pair, own, memory, pair.server.export(memory));
                assertThat(FakeGpu.copies()).isGreaterThan(copies);
                assertThat(gpu.bytes().get(SIZE - 1)).isEqualTo(bytes[SIZE - 1]);
                assertThat(gpu.bytes().getInt(5000)).isEqualTo(memory.buf().getInt(0));

                RemoteMemory remote = pair.server.export(own);
                MessagePair.write(pair.client, new RdmaWrite(memory.slice(0, 30000), remote, 30000));
                assertThat(Unpooled.wrappedBuffer(gpu.bytes()).slice(30000, 30000))
                        .isEqualTo(memory.buf().slice(0, 30000));
                gpu.free();
                assertGone(pair.client.writeAndFlush(new RdmaWrite(memory.slice(0, 8), remote, 0)),
                        WorkCompletionStatus.REMOTE_OPERATION_ERROR);
            }
        }
    }

    @Test
    void rangesAndPermissionsOfAGraphicsProcessorsMemoryAreChecked() {
        assertThatThrownBy(() -> RegisteredMemory.ofCuda(0, SIZE, ALL)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("pointer");
        assertThatThrownBy(() -> RegisteredMemory.ofCuda(PAGE, 0, ALL)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("length");
        assertThatThrownBy(() -> RegisteredMemory.ofCuda(PAGE, Long.MAX_VALUE, ALL))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("length");
        assertThatThrownBy(() -> RegisteredMemory.ofCuda(PAGE, SIZE, EnumSet.of(REMOTE_WRITE)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("LOCAL_WRITE");
    }

    private static void assertGone(ChannelFuture future, Integer... statuses) throws Exception {
        TestTimeouts.await(future);
        if (VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED || !future.isSuccess()) {
            assertThat(future.cause()).isInstanceOfSatisfying(RdmaOperationException.class,
                    e -> assertThat(e.status()).isIn((Object[]) statuses));
        }
    }

    private static RegisteredMemory ofAddress(MappedByteBuffer mapped) {
        return RegisteredMemory.ofAddress(PlatformDependent.directBufferAddress(mapped), mapped.capacity(), ALL);
    }

    @SuppressWarnings("deprecation") // Unmaps a buffer that Netty did not make.
    private static void unmap(MappedByteBuffer mapped) {
        PlatformDependent.freeDirectBuffer(mapped);
    }

    /** Sends, writes, and reads back from what was written to. */
    private static void operate(MessagePair pair, RegisteredMemory own, RegisteredMemory memory, RemoteMemory remote)
            throws Exception {
        // Longer than what goes inline, and shorter.
        MessagePair.write(pair.client, new RdmaSend(own.slice(100, 4000)));
        RdmaReceive sent = pair.serverEvents.message();
        MessagePair.write(pair.client, new RdmaSendImm(own.slice(100, 10), 7));
        RdmaReceive withImmediate = pair.serverEvents.message();
        MessagePair.write(pair.client, new RdmaWrite(own.slice(100, 4000), remote, 0));
        MessagePair.write(pair.client, new RdmaWriteImm(own.slice(101, 3999), remote, 8000, 9));
        RdmaReceive written = pair.serverEvents.message();
        assertThat(sent.content()).isEqualTo(memory.buf().slice(0, 4000));
        assertThat(sent.content().isReadable(4000)).isTrue();
        assertThat(withImmediate.immediate()).isEqualTo(7);
        assertThat(withImmediate.content()).isEqualTo(memory.buf().slice(0, 10));
        assertThat(written.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
        assertThat(written.length()).isEqualTo(3999);
        assertThat(memory.buf().slice(8000, 3999)).isEqualTo(memory.buf().slice(1, 3999));
        sent.release();
        withImmediate.release();
        written.release();

        MessagePair.write(pair.client, new RdmaRead(own.slice(5000, 4000), remote, 0));
        MessagePair.write(pair.client, new RdmaWrite(own.slice(5000, 4000), remote, 20000).fenced());
        MessagePair.write(pair.client, new RdmaWrite(own.slice(0, 0), remote, SIZE));
        MessagePair.write(pair.client, new RdmaSend(own.slice(SIZE, 0)));
        pair.serverEvents.message().release();
        assertThat(memory.buf().slice(20000, 4000)).isEqualTo(memory.buf().slice(0, 4000));
    }

    @Test
    void listsOfSlicesAreGatheredAndScatteredInTheirOrder() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> { },
                client -> client.option(RdmaChannelOption.MAX_SEND_SGES, 4));
             RegisteredMemory own = RegisteredMemory.of(ByteBuffer.allocateDirect(SIZE), EnumSet.of(LOCAL_WRITE));
             RegisteredMemory other = RegisteredMemory.allocate(SIZE, EnumSet.of(LOCAL_WRITE));
             RegisteredMemory memory = RegisteredMemory.allocate(SIZE, ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            fill(own.buf().nioBuffer(0, SIZE), 4);
            fill(other.buf().nioBuffer(0, SIZE), 5);
            List<RegisteredSlice> list = List.of(own.slice(1000, 100), other.slice(7, 1000), own.slice(0, 0),
                    own.slice(10, 3), own.slice(0, 200));
            ByteBuf expected = Unpooled.wrappedBuffer(own.buf().slice(1000, 100).retain(),
                    other.buf().slice(7, 1000).retain(), own.buf().slice(10, 3).retain(),
                    own.buf().slice(0, 200).retain());
            MessagePair.write(pair.client, new RdmaSend(list));
            MessagePair.write(pair.client, new RdmaSendImm(list, 8));
            MessagePair.write(pair.client, new RdmaWrite(list, remote, 0));
            MessagePair.write(pair.client, new RdmaWriteImm(list, remote, 2000, 9));
            for (int immediate : new int[] { 0, 8 }) {
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.immediate()).isEqualTo(immediate);
                assertThat(message.content()).isEqualTo(expected);
                message.release();
            }
            RdmaReceive written = pair.serverEvents.message();
            assertThat(written.length()).isEqualTo(1303);
            written.release();
            assertThat(memory.buf().slice(0, 1303)).isEqualTo(expected);
            assertThat(memory.buf().slice(2000, 1303)).isEqualTo(expected);

            MessagePair.write(pair.client, new RdmaRead(List.of(other.slice(30000, 1300), own.slice(60000, 3)), remote,
                    2000));
            assertThat(other.buf().slice(30000, 1300)).isEqualTo(expected.slice(0, 1300));
            assertThat(own.buf().slice(60000, 3)).isEqualTo(expected.slice(1300, 3));
            MessagePair.write(pair.client, new RdmaWrite(List.<RegisteredSlice>of(), remote, 0));

            int most = TestTimeouts.sync(pair.client.info()).getNow().maxSendSges();
            assertThat(MessagePair.failure(pair.client,
                    new RdmaSend(Collections.nCopies(most + 1, own.slice(0, 1)))))
                    .isInstanceOf(RdmaOperationException.class).hasMessageContaining("MAX_SEND_SGES");
            assertThatThrownBy(() -> new RdmaSend(Collections.nCopies(1 << 16, own.slice(0, SIZE))))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("4294967296");
            MessagePair.write(pair.client, Unpooled.copyInt(1));
            pair.serverEvents.message().release();
            assertThat(own.refCnt()).as("nothing is in flight").isEqualTo(1);
            expected.release();
        }
    }

    @Test
    void peersUseMemoryOfAFileDescriptorAsItsPermissionsAllow() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            assumeTrue(pair.server.capabilities().supportsDmabuf(), "the device has no dma-bufs");
            try (MemoryFile file = new MemoryFile(SIZE);
                 RegisteredMemory memory = RegisteredMemory.ofDmabuf(file.fd(), PAGE, PAGE, ALL);
                 RegisteredMemory readable = RegisteredMemory.ofDmabuf(file.fd(), PAGE, PAGE,
                         EnumSet.of(REMOTE_READ))) {
                ByteBuffer mapped = file.map().order(ByteOrder.nativeOrder());
                RemoteMemory remote = pair.server.export(memory);
                assertThat(remote.length()).isEqualTo(PAGE);
                byte[] bytes = new byte[PAGE];
                new Random(3).nextBytes(bytes);
                MessagePair.write(pair.client, new RdmaWrite(Unpooled.wrappedBuffer(bytes), remote, 0));
                ByteBuf destination = pair.client.alloc().buffer(PAGE, PAGE);
                MessagePair.write(pair.client, new RdmaRead(destination, remote, 0));
                assertThat(destination).isEqualTo(Unpooled.wrappedBuffer(bytes));
                destination.release();
                byte[] there = new byte[PAGE];
                mapped.get(PAGE, there);
                assertThat(there).isEqualTo(bytes);
                assertThat(mapped.get(PAGE - 1)).isZero();
                assertThat(mapped.get(2 * PAGE)).isZero();

                mapped.putLong(PAGE + 8, 40);
                RdmaFetchAndAdd add = new RdmaFetchAndAdd(remote, 8, 2);
                MessagePair.write(pair.client, add);
                assertThat(add.oldValue()).isEqualTo(40);
                MessagePair.write(pair.client, new RdmaCompareAndSwap(remote, 8, 42, 43));
                assertThat(mapped.getLong(PAGE + 8)).isEqualTo(43);

                RemoteMemory onlyReadable = pair.server.export(readable);
                assertThat(onlyReadable.permissions()).containsExactly(REMOTE_READ);
                assertStatus(MessagePair.failure(pair.client, new RdmaWrite(Unpooled.buffer(8).writeLong(1),
                        onlyReadable, 0)), WorkCompletionStatus.REMOTE_ACCESS_ERROR, false);
                // As one who makes permissions up.
                RemoteMemory forged = new RemoteMemory(onlyReadable.address(), PAGE, onlyReadable.key(),
                        EnumSet.of(REMOTE_WRITE, REMOTE_ATOMIC));
                assertStatus(MessagePair.failure(pair.client, new RdmaFetchAndAdd(forged, 0, 1)),
                        WorkCompletionStatus.REMOTE_ACCESS_ERROR, true);
            }
        }
    }

    @Test
    void memoryOfAFileDescriptorThatWasClosedIsRefused() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            assumeTrue(pair.server.capabilities().supportsDmabuf(), "the device has no dma-bufs");
            try (MemoryFile file = new MemoryFile(SIZE)) {
                RegisteredMemory memory = RegisteredMemory.ofDmabuf(file.fd(), 0, SIZE, ALL);
                RemoteMemory remote = pair.server.export(memory);
                MessagePair.write(pair.client, new RdmaWrite(Unpooled.buffer(8).writeLong(1), remote, SIZE - 8));
                memory.close();
                assertThatThrownBy(() -> pair.server.export(memory)).isInstanceOf(IllegalReferenceCountException.class);
                assertStatus(MessagePair.failure(pair.client, new RdmaWrite(Unpooled.buffer(8).writeLong(1), remote,
                        0)), WorkCompletionStatus.REMOTE_ACCESS_ERROR, true);
            }
        }
    }

    @Test
    void whatIsNoSuchFileOrRangeIsRefusedAndTheConnectionGoesOn() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory notOpen = RegisteredMemory.ofDmabuf(1_000_000, 0, PAGE, ALL)) {
            String reason = pair.client.capabilities().supportsDmabuf() ? "Bad file descriptor" : "has no dma-bufs";
            assertThatThrownBy(() -> pair.server.export(notOpen)).isInstanceOf(IOException.class)
                    .hasMessageContaining("file descriptor 1000000").hasMessageContaining(reason);
            assertThat(MessagePair.failure(pair.client, new RdmaSend(notOpen.slice(0, 8))))
                    .isInstanceOf(IOException.class).hasMessageContaining(reason);
            if (pair.client.capabilities().supportsDmabuf()) {
                try (MemoryFile file = new MemoryFile(SIZE);
                     RegisteredMemory beyond = RegisteredMemory.ofDmabuf(file.fd(), PAGE, SIZE, ALL)) {
                    assertThatThrownBy(() -> pair.server.export(beyond)).isInstanceOf(IOException.class);
                }
            }
            MessagePair.write(pair.client, Unpooled.copyInt(1));
            pair.serverEvents.message().release();
        }
    }

    @Test
    void rangesAndPermissionsAreChecked() throws Exception {
        assertThatThrownBy(() -> RegisteredMemory.ofDmabuf(-1, 0, 1, ALL)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RegisteredMemory.ofDmabuf(0, -1, 1, ALL)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RegisteredMemory.ofDmabuf(0, 0, 0, ALL)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RegisteredMemory.ofDmabuf(0, 2, Long.MAX_VALUE - 1, ALL))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RegisteredMemory.ofDmabuf(0, 0, 1, EnumSet.of(REMOTE_ATOMIC)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("LOCAL_WRITE");
        for (long[] range : new long[][] { { 0, 1 }, { -1, 1 }, { 1, 0 }, { 1, -1 }, { 2, Long.MAX_VALUE - 1 } }) {
            assertThatThrownBy(() -> RegisteredMemory.ofAddress(range[0], range[1], ALL))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        try (RegisteredMemory huge = RegisteredMemory.ofDmabuf(0, 0, Long.MAX_VALUE, ALL)) {
            RegisteredSlice slice = huge.slice(Long.MAX_VALUE - 5, 5);
            assertThat(slice.address()).isEqualTo(huge.address() + Long.MAX_VALUE - 5);
            for (long[] outside : new long[][] { { -1, 1 }, { 0, -1 }, { Long.MAX_VALUE, 1 }, { 1 - 2, 0 } }) {
                assertThatThrownBy(() -> huge.slice(outside[0], (int) outside[1]))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
        }
    }

    @Test
    void sliceOfClosedMemoryFailsAndTheConnectionGoesOn() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            RegisteredMemory own = RegisteredMemory.allocate(100, ALL);
            RegisteredSlice slice = own.slice(0, 100);
            own.close();
            assertThat(MessagePair.failure(pair.client, new RdmaSend(slice)))
                    .isInstanceOf(IllegalReferenceCountException.class);
            MessagePair.write(pair.client, Unpooled.copyInt(1));
            pair.serverEvents.message().release();
        }
    }

    @Test
    void readIntoASliceWithoutLocalWriteEndsTheConnection() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(100, ALL);
             RegisteredMemory own = RegisteredMemory.allocate(100, EnumSet.noneOf(RdmaPermission.class))) {
            RemoteMemory remote = pair.server.export(memory);
            assertStatus(MessagePair.failure(pair.client, new RdmaRead(own.slice(0, 100), remote, 0)),
                    WorkCompletionStatus.LOCAL_PROTECTION_ERROR, true);
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void copiesOfAnOperationHaveTheSameSlice() throws Exception {
        try (RegisteredMemory own = RegisteredMemory.allocate(100, ALL)) {
            RdmaSend send = (RdmaSend) new RdmaSend(own.slice(1, 9)).unsignalled();
            RdmaOperation copy = send.replace(Unpooled.buffer(5));
            assertThat(copy).isInstanceOf(RdmaSend.class).isNotSameAs(send);
            assertThat(copy.local()).isEqualTo(send.local()).hasSize(1);
            assertThat(copy.length()).isEqualTo(9);
            assertThat(copy.isUnsignalled()).isTrue();
            assertThat(copy.toString()).contains("9 bytes");
        }
    }

    private static byte[] fill(ByteBuffer buffer, int seed) {
        byte[] bytes = new byte[SIZE];
        new Random(seed).nextBytes(bytes);
        buffer.put(0, bytes);
        return bytes;
    }

    private static void assertStatus(Throwable cause, int status, boolean posted) {
        assertThat(cause).isInstanceOfSatisfying(RdmaOperationException.class, e -> {
            assertThat(e.status()).isEqualTo(status);
            assertThat(e.isPosted()).isEqualTo(posted);
        });
    }
}
