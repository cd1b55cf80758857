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
package io.netty.channel.rdma.leakcheck;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The open file descriptors of this process, by kind: {@code socket}, {@code pipe}, {@code memfd:<name>},
 * {@code [eventfd]} and the like, or the path of a file.
 */
final class Descriptors {
    private static final Path OWN = Path.of("/proc/self/fd");
    private static final Path NET = Path.of("/proc/self/net");
    private static final Pattern TARGET = Pattern.compile(
            "(?<name>socket|pipe):\\[(?<inode>\\d+)]|anon_inode:(?<anonymous>.*)|/(?<memory>memfd:[^ ]*).*|" +
            "(?<path>.*)");
    /**
     * Not counted. JARs: class loaders keep them. Random numbers: the JDK and OpenSSL keep the source of their seeds.
     * {@code /proc}: the folder that is being listed. InfiniBand: devices and channels of kernel verbs, which are
     * counted as native objects; the connection manager opens each device once and never closes it. The embedded
     * provider's list of the members of multicast groups, which it keeps once one was joined, until it has no users;
     * and its arenas, which it keeps for some seconds after their last queue pair, as it does links.
     */
    private static final Pattern IGNORED = Pattern.compile(
            ".*\\.jar|/usr/share/fonts/.*|/dev/u?random|/proc/\\d+/fd|/dev/infiniband/.*|\\[infinibandevent]|" +
            "memfd:rdma-mcast|memfd:rdma-arena");
    private static final Pattern INODE = Pattern.compile("socket:\\[(\\d+)]");
    /** Type of {@code unix(7)} in hexadecimal digits. */
    private static final String SOCK_SEQPACKET = "0005";

    private Descriptors() {
    }

    /**
     * Identities of descriptors (number and target), by kind.
     *
     * @param kept numbers of descriptors not to count.
     */
    static Map<String, Set<String>> open(Set<Integer> kept) {
        Set<String> links = linksOfEmbeddedProvider();
        Map<String, Set<String>> kinds = new TreeMap<>();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(OWN)) {
            for (Path descriptor : descriptors) {
                String number = descriptor.getFileName().toString();
                Matcher target = target(descriptor);
                if (target == null || kept.contains(Integer.valueOf(number)) || links.contains(target.group("inode"))) {
                    continue;
                }
                String kind = kind(target);
                if (!IGNORED.matcher(kind).matches()) {
                    kinds.computeIfAbsent(kind, ignore -> new TreeSet<>()).add(number + ' ' + target.group());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return kinds;
    }

    /** Where it leads, or {@code null} if it was closed meanwhile. */
    private static Matcher target(Path descriptor) {
        try {
            Matcher target = TARGET.matcher(Files.readSymbolicLink(descriptor).toString());
            if (!target.matches()) {
                throw new IllegalStateException(target.toString());
            }
            return target;
        } catch (IOException ignore) {
            return null;
        }
    }

    private static String kind(Matcher target) {
        for (String group : List.of("name", "anonymous", "memory")) {
            if (target.group(group) != null) {
                return target.group(group);
            }
        }
        return target.group("path");
    }

    /**
     * The inodes of the sockets between processes that the embedded provider keeps for some seconds in case that there
     * is another connection. Nobody else here has Unix sockets of their type.
     */
    private static Set<String> linksOfEmbeddedProvider() {
        Set<String> inodes = new HashSet<>();
        for (String line : lines("unix")) {
            // Num: RefCount Protocol Flags Type St Inode Path
            String[] columns = line.trim().split(" +");
            // A line break in the path of some other process's socket makes a line that has none of these.
            if (columns.length > 6 && columns[4].equals(SOCK_SEQPACKET)) {
                inodes.add(columns[6]);
            }
        }
        return inodes;
    }

    /** With what the kernel says about it, if it is a socket of TCP, UDP or a Unix socket. */
    static String describe(String descriptor) {
        Matcher inode = INODE.matcher(descriptor);
        if (inode.find()) {
            for (String protocol : List.of("tcp", "tcp6", "udp", "udp6", "unix")) {
                for (String line : lines(protocol)) {
                    if (List.of(line.split(" ")).contains(inode.group(1))) {
                        return descriptor + " (" + protocol + ' ' + line.trim() + ')';
                    }
                }
            }
        }
        return descriptor;
    }

    /** None if the kernel does without the protocol. Names of Unix sockets may have any bytes. */
    private static List<String> lines(String protocol) {
        Path table = NET.resolve(protocol);
        try {
            return Files.exists(table) ? Files.readAllLines(table, StandardCharsets.ISO_8859_1) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
