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

import io.netty.util.Version;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The versions of Netty's jars. What an older one has not is an error of linking in the middle of anything, which tells
 * nobody what to do.
 */
final class NettyVersion {
    /** The oldest one that the tests run with. */
    static final String OLDEST = "4.2.9.Final";

    /** The artifacts of Netty that the transport is built on. Each one may call those before it. */
    private static final List<String> ARTIFACTS = List.of("netty-common", "netty-buffer", "netty-resolver",
            "netty-transport", "netty-transport-native-unix-common", "netty-transport-classes-epoll",
            "netty-transport-native-epoll");
    private static final Pattern NUMBERS = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)\\b.*");
    private static final String ADVICE = ": all of Netty's jars have to be of one version. Import netty-bom, before " +
            "the BOMs of other libraries";

    private NettyVersion() { }

    /** The reason why the transport can't be used, and what to do about it, or {@code null}. */
    static String problem() {
        return problem(Version.identify(NettyVersion.class.getClassLoader()).values());
    }

    /** @param jars that have a version: one that others were packed into may have that of one of them. */
    static String problem(Collection<Version> jars) {
        List<Version> known = jars.stream().filter(jar -> ARTIFACTS.contains(jar.artifactId()) &&
                NUMBERS.matcher(jar.artifactVersion()).matches()).toList();
        TreeMap<String, String> old = known.stream().filter(jar -> isOlder(jar.artifactVersion(), OLDEST)).collect(
                Collectors.groupingBy(Version::artifactVersion, TreeMap::new,
                        Collectors.mapping(Version::artifactId, Collectors.joining(", "))));
        if (!old.isEmpty()) {
            return "Netty " + old.entrySet().stream().map(each -> each.getKey() + " (" + each.getValue() + ')')
                    .collect(Collectors.joining(" and ")) + " is on the class path, the RDMA transport needs " +
                    OLDEST + " or later" + ADVICE;
        }
        for (Version jar : known) {
            for (Version below : known) {
                if (ARTIFACTS.indexOf(below.artifactId()) < ARTIFACTS.indexOf(jar.artifactId()) &&
                        isOlder(below.artifactVersion(), jar.artifactVersion())) {
                    return below.artifactId() + ' ' + below.artifactVersion() + " is on the class path with " +
                            jar.artifactId() + ' ' + jar.artifactVersion() + ", which may call what that has not" +
                            ADVICE;
                }
            }
        }
        return null;
    }

    private static boolean isOlder(String version, String than) {
        return Arrays.compare(numbers(version), numbers(than)) < 0;
    }

    private static int[] numbers(String version) {
        Matcher numbers = NUMBERS.matcher(version);
        return numbers.matches() ? new int[] {Integer.parseInt(numbers.group(1)), Integer.parseInt(numbers.group(2)),
                Integer.parseInt(numbers.group(3))} : new int[0];
    }
}
