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
package io.netty.example.rdma.verbs;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.message.RdmaEndpoint;
import io.netty.channel.rdma.message.RemoteMemory;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The descriptors of both ends, in files that both can reach. A key opens memory to any process that has it, and a
 * forged descriptor leads to a wrong peer. So files are readable by their owner only, and a file of another user is
 * refused. Closing the object deletes the files that it has written, so that no later run reads them.
 */
final class DescriptorFiles implements AutoCloseable {
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> OF_OTHERS = PosixFilePermissions.fromString("---rw-rw-");
    /** A file that belongs to the user of this process (proc(5)). */
    private static final Path PROCESS = Path.of("/proc/self");
    /** Interval of looks: a network file system does not report files that another host makes. */
    private static final long LOOK_MILLIS = 100;

    private final Set<Path> written = ConcurrentHashMap.newKeySet();
    /** Shutdown hook that deletes the files if a signal ends the process. */
    private final Thread onExit = new Thread(this::deleteWritten);

    DescriptorFiles() {
        Runtime.getRuntime().addShutdownHook(onExit);
    }

    /**
     * Writes a file. A process that waits for it sees all of it or nothing.
     *
     * @param contents writes at most {@link Descriptor#MAX_LENGTH} bytes
     */
    void write(Path file, Consumer<ByteBuf> contents) throws IOException {
        ByteBuf bytes = Unpooled.buffer(Descriptor.MAX_LENGTH);
        contents.accept(bytes);
        Path incomplete = Files.createTempFile(folder(file), "descriptor", ".incomplete",
                PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        try {
            Files.write(incomplete, ByteBufUtil.getBytes(bytes));
            written.add(file);
            // Because of rename(2), another process never finds a part of the file.
            Files.move(incomplete, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(incomplete);
        }
    }

    /**
     * Waits for a file of the other end.
     *
     * @param contents reads the file, and checks all of its fields
     * @throws IOException if there is none in time, or another user may have changed it
     * @throws IllegalArgumentException if the file is wrong; the message says why
     */
    <T> T await(Path file, Duration bound, Function<ByteBuf, T> contents) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + bound.toNanos();
        try (WatchService watch = file.getFileSystem().newWatchService()) {
            folder(file).register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            while (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                if (System.nanoTime() - deadline > 0) {
                    throw new IOException("no " + file + " within " + bound.toSeconds() + " s: is the other end running"
                            + " with the same --descriptors, or -ld and -re exchanged?");
                }
                watch.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            }
        }
        checkOwner(file);
        return read(file, contents);
    }

    private static Path folder(Path file) {
        return file.toAbsolutePath().getParent();
    }

    private static void checkOwner(Path file) throws IOException {
        PosixFileAttributes attributes =
                Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        boolean open = attributes.permissions().stream().anyMatch(OF_OTHERS::contains);
        if (!attributes.isRegularFile() || open || !attributes.owner().equals(Files.getOwner(PROCESS))) {
            throw new IOException(file + ": owner " + attributes.owner() + ", "
                    + PosixFilePermissions.toString(attributes.permissions())
                    + " (expected: a file of this user that nobody else may read or write)");
        }
    }

    private static <T> T read(Path file, Function<ByteBuf, T> contents) throws IOException {
        byte[] bytes;
        try (InputStream input = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            bytes = input.readNBytes(Descriptor.MAX_LENGTH + 1);
        }
        try {
            return contents.apply(Unpooled.wrappedBuffer(bytes));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        deleteWritten();
        try {
            Runtime.getRuntime().removeShutdownHook(onExit);
        } catch (IllegalStateException ignored) {
            // The process is ending: the hook runs anyway and finds nothing to delete.
        }
    }

    private void deleteWritten() {
        for (Path file : written) {
            file.toFile().delete();
        }
    }

    /**
     * Contents of a file from one end to the other: the blob of its queue pair, and then its {@link Introduction}.
     */
    record Descriptor(RdmaEndpoint endpoint, Introduction introduction) {
        static final int MAX_LENGTH = RdmaEndpoint.BLOB_LENGTH + Introduction.MAX_LENGTH;

        /**
         * Reads a descriptor, and checks all of its fields.
         *
         * @throws IllegalArgumentException if the descriptor is wrong; the message says why
         */
        static Descriptor read(ByteBuf from) {
            return new Descriptor(RdmaEndpoint.read(from), Introduction.read(from));
        }

        /** Returns the same descriptor with other memory. */
        Descriptor with(List<RemoteMemory> memory) {
            return new Descriptor(endpoint, introduction.with(memory));
        }

        void write(ByteBuf to) {
            endpoint.write(to);
            introduction.write(to);
        }
    }
}
