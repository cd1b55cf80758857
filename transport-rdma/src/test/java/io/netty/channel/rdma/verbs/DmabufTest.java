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

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

import static io.netty.channel.rdma.verbs.TestSupport.completion;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Memory regions of a file descriptor. Java cannot make a file that stands in for a dma-buf, so a script does, and this
 * process opens it again by its name in /proc.
 */
@Timeout(60)
@ExtendWith(LiveObjectsExtension.class)
class DmabufTest {
    private static final String NAME = "netty-rdma-dmabuf-test";
    private static final int ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;
    private static final int SIZE = 65536;

    /** F_ADD_SEALS is 1033, F_SEAL_SHRINK 2; memfd_create with MFD_ALLOW_SEALING. */
    private static final String SCRIPT = """
            my $number = `uname -m` =~ /aarch64/ ? 279 : 319;
            my $name = '%s';
            my $fd = syscall($number, $name, 2);
            die "memfd_create: $!" if $fd < 0;
            open(my $file, '+<&=', $fd) or die $!;
            truncate($file, %d) or die $!;
            fcntl($file, 1033, 2) or die $!;
            $| = 1;
            print "$$ $fd\\n";
            <STDIN>;
            """.formatted(NAME, SIZE);

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
    void aDeviceWithoutItSaysSo() {
        assumeTrue(pair.server.isSoftRoce(), "a device without dma-bufs");
        assertThatThrownBy(() -> pair.server.domain.registerDmabuf(0, 0, SIZE, 0, ACCESS))
                .isInstanceOf(VerbsException.class).hasMessageContaining("ibv_reg_dmabuf_mr")
                .satisfies(e -> assertThat(((VerbsException) e).errno()).isEqualTo(Errno.EOPNOTSUPP));
    }

    @Test
    void aPeerWritesAndReadsTheFile() throws Exception {
        assumeTrue(Verbs.provider() == VerbsProvider.EMBEDDED, "a memfd instead of a dma-buf");
        Process script = new ProcessBuilder("perl", "-e", SCRIPT).redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = new BufferedReader(new InputStreamReader(script.getInputStream()))) {
            String[] place = output.readLine().split(" ");
            try (RandomAccessFile file = new RandomAccessFile("/proc/" + place[0] + "/fd/" + place[1], "rw")) {
                exchange(descriptor(), file.getChannel().map(MapMode.READ_WRITE, 0, SIZE));
            }
        } finally {
            script.destroy();
            script.waitFor();
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

    /** The number under which this process has the file open. */
    private static int descriptor() throws Exception {
        try (DirectoryStream<Path> fds = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path fd : fds) {
                try {
                    if (Files.readSymbolicLink(fd).toString().contains(NAME)) {
                        return Integer.parseInt(fd.getFileName().toString());
                    }
                } catch (NoSuchFileException e) {
                    // Closed meanwhile.
                }
            }
        }
        throw new AssertionError("the file is not open");
    }
}
