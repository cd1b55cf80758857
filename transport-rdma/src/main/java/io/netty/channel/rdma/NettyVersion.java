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

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The versions of Netty's jars. A call of a method that an older jar does not have fails to link, at any place, and the
 * error does not tell what to do.
 */
final class NettyVersion {
    /** The oldest version that the tests run with. */
    static final String OLDEST = "4.2.9.Final";

    /** The artifacts of Netty that the transport is built on. Each one may call those before it. */
    private static final List<String> ARTIFACTS = List.of("netty-common", "netty-buffer", "netty-resolver",
            "netty-transport", "netty-transport-native-unix-common", "netty-transport-classes-epoll",
            "netty-transport-native-epoll");
    private static final Pattern NUMBERS = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)");
    private static final String ADVICE = ": all of Netty's jars have to be of one version. Import netty-bom, before " +
            "the BOMs of other libraries";

    private NettyVersion() { }

    /** The reason why the transport can't be used, and what to do about it, or {@code null}. */
    static String problem() {
        try {
            return problem(NettyVersion.class.getClassLoader());
        } catch (IOException e) {
            // The versions are not known.
            return null;
        }
    }

    /** @param loader of Netty. */
    static String problem(ClassLoader loader) throws IOException {
        Map<String, String> known = known(loader);
        Map<String, String> old = new TreeMap<>();
        for (Map.Entry<String, String> jar : known.entrySet()) {
            if (isOlder(jar.getValue(), OLDEST)) {
                old.merge(jar.getValue(), jar.getKey(), (some, another) -> some + ", " + another);
            }
        }
        if (!old.isEmpty()) {
            String versions = old.entrySet().stream().map(each -> each.getKey() + " (" + each.getValue() + ')')
                    .collect(Collectors.joining(" and "));
            return "Netty " + versions + " is on the class path, the RDMA transport needs " + OLDEST + " or later" +
                    ADVICE;
        }
        for (String jar : known.keySet()) {
            for (String below : known.keySet()) {
                if (ARTIFACTS.indexOf(below) < ARTIFACTS.indexOf(jar) && isOlder(known.get(below), known.get(jar))) {
                    return below + ' ' + known.get(below) + " is on the class path with " + jar + ' ' +
                            known.get(jar) + ", which may call what that has not" + ADVICE;
                }
            }
        }
        return null;
    }

    /**
     * The artifacts with a known version. (A jar that others were packed into may have the version of only one of
     * them.) {@code io.netty.util.Version} reads these files too, but parses their dates, for which the JDK loads its
     * calendars: 50 ms.
     */
    private static Map<String, String> known(ClassLoader loader) throws IOException {
        Properties all = new Properties();
        for (URL url : Collections.list(loader.getResources("META-INF/io.netty.versions.properties"))) {
            try (InputStream in = url.openStream()) {
                all.load(in);
            }
        }
        Map<String, String> known = new LinkedHashMap<>();
        for (String artifact : ARTIFACTS) {
            String version = all.getProperty(artifact + ".version");
            if (version != null && numbers(version) != null) {
                known.put(artifact, version);
            }
        }
        return known;
    }

    private static boolean isOlder(String version, String than) {
        return Arrays.compare(numbers(version), numbers(than)) < 0;
    }

    /** The numbers at the beginning of a version, or {@code null}. */
    private static int[] numbers(String version) {
        Matcher matcher = NUMBERS.matcher(version);
        return matcher.lookingAt() ?
                IntStream.rangeClosed(1, 3).map(i -> Integer.parseInt(matcher.group(i))).toArray() : null;
    }
}
