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

import io.netty.channel.rdma.KeptResources;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Fails a test class that leaves behind more native objects or file descriptors than there were, except for those that
 * are kept on purpose. Found by the service loader.
 */
public final class CheckResources implements BeforeAllCallback, AfterAllCallback {
    private static final Namespace NAMESPACE = Namespace.create(CheckResources.class);
    private static final long POLL_MILLIS = 10;
    /**
     * What connections use. No sockets: tests of TCP leave some open, and the embedded provider keeps its links for the
     * next connection.
     */
    private static final Pattern CONNECTION_DESCRIPTOR = Pattern.compile("/(memfd:[^ ]*).*|(pipe):.*");
    /** The embedded provider shows this to its peers as long as the process lives. */
    private static final String BOARD = "memfd:rdma-board";

    @Override
    public void beforeAll(ExtensionContext context) {
        if (isTopLevel(context)) {
            context.getStore(NAMESPACE).put(context.getUniqueId(), count());
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public void afterAll(ExtensionContext context) throws InterruptedException {
        if (!isTopLevel(context)) {
            return;
        }
        Map<String, Integer> before =
                (Map<String, Integer>) context.getStore(NAMESPACE).remove(context.getUniqueId());
        KeptResources.closeChannels();
        // The end of a connection may take its time, if the peer is gone.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
        Map<String, Integer> more;
        while (!(more = excess(before, count())).isEmpty()) {
            if (System.nanoTime() - deadline >= 0) {
                throw new AssertionError(context.getDisplayName() + " leaves behind, " + TestTimeouts.SECONDS +
                        " s after its end: " + more);
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    private static boolean isTopLevel(ExtensionContext context) {
        return context.getRequiredTestClass().getEnclosingClass() == null;
    }

    private static Map<String, Integer> excess(Map<String, Integer> before, Map<String, Integer> after) {
        Map<String, Integer> excess = new TreeMap<>();
        after.forEach((what, count) -> {
            int more = count - Math.max(before.getOrDefault(what, 0), BOARD.equals(what) ? 1 : 0);
            if (more > 0) {
                excess.put(what, more);
            }
        });
        return excess;
    }

    private static Map<String, Integer> count() {
        Map<String, Integer> counts = new TreeMap<>();
        for (VerbsResource kind : VerbsResource.values()) {
            counts.put(kind.toString(), kind.live() - KeptResources.count(kind));
        }
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                countDescriptor(descriptor, counts);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return counts;
    }

    private static void countDescriptor(Path descriptor, Map<String, Integer> counts) {
        try {
            Matcher target = CONNECTION_DESCRIPTOR.matcher(Files.readSymbolicLink(descriptor).toString());
            if (target.matches()) {
                counts.merge(target.group(target.group(1) != null ? 1 : 2), 1, Integer::sum);
            }
        } catch (IOException ignore) {
            // Closed meanwhile, as the one of the directory itself.
        }
    }
}
