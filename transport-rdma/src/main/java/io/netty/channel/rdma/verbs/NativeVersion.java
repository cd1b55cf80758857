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

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Check that the native library belongs to the build of these classes. It compares a version and a hash of the native
 * methods, which differs between snapshots. Both sides get these from the build of the library.
 */
final class NativeVersion {
    private static final String RESOURCE = "META-INF/netty-rdma.version";

    private NativeVersion() { }

    /**
     * Checks that the library is of the same build as the classes. To be called when it is loaded, before any other
     * native method.
     *
     * @throws UnsatisfiedLinkError that names both versions and says what to do.
     */
    static void check() throws IOException {
        String library;
        try {
            library = version0();
        } catch (UnsatisfiedLinkError e) {
            // The library is older than this class.
            library = "unknown";
        }
        String problem = problem(ofClasses(), library);
        if (problem != null) {
            throw new UnsatisfiedLinkError(problem);
        }
        String unregistered = unregistered0();
        if (unregistered != null) {
            throw new UnsatisfiedLinkError("the native methods of " + unregistered + " can't be registered");
        }
    }

    private static String ofClasses() throws IOException {
        try (InputStream resource = NativeVersion.class.getClassLoader().getResourceAsStream(RESOURCE)) {
            return resource == null ? "unknown" :
                    new String(resource.readAllBytes(), StandardCharsets.US_ASCII).trim();
        }
    }

    /**
     * The difference of the two versions as a text for a person, or {@code null} if they are equal.
     *
     * @param classes the version of the classes: version, a space, hash.
     * @param library the version of the library, in the same form.
     */
    static String problem(String classes, String library) {
        if (classes.equals(library)) {
            return null;
        }
        boolean sameVersion = version(classes).equals(version(library));
        return "the native library does not match these classes: netty-transport-rdma is of version " +
                (sameVersion ? classes : version(classes)) + ", netty-transport-native-rdma of " +
                (sameVersion ? library : version(library)) + ". Both have to be of one " +
                (sameVersion ? "build" : "version: import netty-transport-rdma-bom") +
                ". There may be a second copy in a fat jar, or on java.library.path";
    }

    private static String version(String build) {
        int space = build.indexOf(' ');
        return space < 0 ? build : build.substring(0, space);
    }

    private static native String version0();

    /** The class whose native methods this library has not registered, or {@code null}. */
    private static native String unregistered0();
}
