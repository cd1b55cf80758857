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
package io.netty.channel.rdma;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A file that stands in for a dma-buf with the embedded provider. Java cannot make one, so a script does, and this
 * process opens it again by its name in /proc.
 */
public final class MemoryFile implements AutoCloseable {
    private static final String NAME = "netty-rdma-dmabuf-test";

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
            """;

    private final RandomAccessFile file;

    /** @param size in bytes. */
    public MemoryFile(int size) throws Exception {
        Process script = new ProcessBuilder("perl", "-e", SCRIPT.formatted(NAME, size))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = new BufferedReader(new InputStreamReader(script.getInputStream()))) {
            String[] place = output.readLine().split(" ");
            file = new RandomAccessFile("/proc/" + place[0] + "/fd/" + place[1], "rw");
        } finally {
            script.destroy();
            script.waitFor();
        }
    }

    /** All of it. */
    public MappedByteBuffer map() throws IOException {
        return file.getChannel().map(MapMode.READ_WRITE, 0, file.length());
    }

    /** The number under which this process has the file open; only one of these may be at a time. */
    public int fd() throws IOException {
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

    @Override
    public void close() throws IOException {
        file.close();
    }
}
