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
package io.netty.channel.rdma.verbs;

import io.netty.channel.rdma.FakeGpu;
import io.netty.channel.rdma.MemoryFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.MappedByteBuffer;

import static io.netty.channel.rdma.verbs.TestSupport.completion;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Memory regions of a file descriptor.
 */
@Tag("quick")
@ExtendWith(LiveObjectsExtension.class)
class DmabufTest {
    private static final int ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;
    private static final int SIZE = 65536;

    private ConnectedPair pair;

    @BeforeEach
    void connect() throws Exception {
        pair = new ConnectedPair();
    }

    @AfterEach
    void close() {
        pair.close();
    }

    @Test
    void aDeviceWithoutItSaysSo() throws Exception {
        assertThat(pair.server.domain.device().supportsDmabuf())
                .isEqualTo(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED);
        assumeTrue(pair.server.isSoftRoce(), "a device without dma-bufs");
        assertThatThrownBy(() -> pair.server.domain.registerDmabuf(0, 0, SIZE, 0, ACCESS))
                .isInstanceOf(VerbsException.class).hasMessageContaining("ibv_reg_dmabuf_mr")
                .satisfies(e -> assertThat(((VerbsException) e).errno()).isEqualTo(Errno.EOPNOTSUPP));
    }

    @Test
    void aPeerWritesAndReadsTheFile() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "a memfd instead of a dma-buf");
        try (MemoryFile file = new MemoryFile(SIZE)) {
            exchange(file.fd(), file.map());
        }
    }

    /** Each way in which memory of a graphics processor is registered, from an address in the middle of a page on. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void memoryOfAGraphicsProcessorIsRegisteredByItsDmabufOrItsAddress(boolean dmabuf) throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "a device asks its driver");
        Endpoint client = pair.client;
        int exports = FakeGpu.exports();
        try (FakeGpu gpu = new FakeGpu(SIZE); MemoryRegion region = pair.server.domain.registerCuda(
                gpu.pointer() + 100, 8192, ACCESS, dmabuf)) {
            assertThat(FakeGpu.exports() - exports).isEqualTo(dmabuf ? 1 : 0);
            assertThat(region.memoryAddress()).isEqualTo(gpu.pointer() + 100);
            client.fill(5, 8192);
            client.post(new SendWorkRequests(1, 1).write(1, SendFlags.SIGNALED, gpu.pointer() + 100, region.rkey())
                    .addSge(client.at(0), 8192, client.region.lkey()));
            completion(client.queue, WorkCompletionStatus.SUCCESS);
            for (int i = 0; i < 8192; i++) {
                assertThat(gpu.bytes().get(100 + i)).isEqualTo(client.buffer.get(i));
            }
            assertThat(gpu.bytes().get(99)).isZero();
            assertThat(gpu.bytes().get(100 + 8192)).isZero();
            ProtectionDomain domain = pair.server.domain;
            assertThatThrownBy(() -> domain.registerCuda(gpu.pointer() + 100, SIZE, ACCESS, dmabuf))
                    .isInstanceOf(VerbsException.class).hasMessageContaining("CUDA memory")
                    .satisfies(e -> assertThat(((VerbsException) e).errno()).isEqualTo(Errno.EFAULT));
        }
    }

    private void exchange(int fd, MappedByteBuffer file) throws Exception {
        long address = 0x123456000L;
        Endpoint client = pair.client;
        try (MemoryRegion region = pair.server.domain.registerDmabuf(fd, 4096, 8192, address, ACCESS)) {
            assertThat(region.memoryAddress()).isEqualTo(address);
            assertThat(region.length()).isEqualTo(8192);
            client.fill(5, 8192);
            client.post(new SendWorkRequests(1, 1).write(1, SendFlags.SIGNALED, address, region.rkey())
                    .addSge(client.at(0), 8192, client.region.lkey()));
            completion(client.queue, WorkCompletionStatus.SUCCESS);
            for (int i = 0; i < 8192; i++) {
                assertThat(file.get(4096 + i)).isEqualTo(client.buffer.get(i));
            }
            assertThat(file.get(4095)).isZero();
            client.post(new SendWorkRequests(1, 1).read(2, SendFlags.SIGNALED, address + 100, region.rkey())
                    .addSge(client.at(16384), 1000, client.region.lkey()));
            completion(client.queue, WorkCompletionStatus.SUCCESS);
            assertThat(client.buffer.slice(16384, 1000)).isEqualTo(client.buffer.slice(100, 1000));
            client.post(new SendWorkRequests(1, 1).write(3, SendFlags.SIGNALED, address + 8192, region.rkey())
                    .addSge(client.at(0), 1, client.region.lkey()));
            completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
        ProtectionDomain domain = pair.server.domain;
        assertThatThrownBy(() -> domain.registerDmabuf(fd, 0, SIZE + 1, 0, ACCESS)).isInstanceOf(VerbsException.class);
        assertThatThrownBy(() -> domain.registerDmabuf(fd, 0, SIZE, 1, ACCESS)).isInstanceOf(VerbsException.class);
        assertThatThrownBy(() -> domain.registerDmabuf(-1, 0, SIZE, 0, ACCESS)).isInstanceOf(VerbsException.class)
                .satisfies(e -> assertThat(((VerbsException) e).errno()).isEqualTo(Errno.EBADF));
        assertThatThrownBy(() -> domain.registerDmabuf(fd, 0, 0, 0, ACCESS))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
