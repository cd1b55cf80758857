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

import io.netty.channel.rdma.loop.KeptResources;
import io.netty.channel.rdma.TestTimeouts;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Fails a test class that leaves behind more native objects, pinned memory or file descriptors than there were, except
 * for those that are kept on purpose. Found by the service loader.
 */
public final class CheckResources implements BeforeAllCallback, AfterAllCallback {
    /**
     * A configuration parameter of JUnit: how long, in milliseconds, a class may take until it has given back
     * everything. By default long enough for the end of a connection whose peer is gone.
     */
    static final String SETTLE_MILLIS = "io.netty.channel.rdma.leakcheck.settleMillis";
    /**
     * With the simple name of a class of tests behind it, a configuration parameter of JUnit: a regular expression of
     * the kinds of descriptors that are not looked at, as the class itself leaves some of these open.
     */
    static final String LEFT_BY = "io.netty.channel.rdma.leakcheck.leftBy.";
    private static final Namespace NAMESPACE = Namespace.create(CheckResources.class);
    private static final long DEFAULT_SETTLE_MILLIS = TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS);
    private static final long POLL_MILLIS = 10;

    @Override
    public void beforeAll(ExtensionContext context) {
        if (isNested(context)) {
            return;
        }
        OpenedOnce.open(context);
        context.getStore(NAMESPACE).put(context.getUniqueId(), Resources.count(left(context)));
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        if (isNested(context)) {
            return;
        }
        Resources before = (Resources) context.getStore(NAMESPACE).remove(context.getUniqueId());
        KeptResources.closeChannels();
        LeftChannels.close();
        long millis = context.getConfigurationParameter(SETTLE_MILLIS, Long::valueOf).orElse(DEFAULT_SETTLE_MILLIS);
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        Pattern left = left(context);
        for (Resources now; (now = Resources.count(left)).isMoreThan(before);) {
            if (System.nanoTime() - deadline >= 0) {
                throw new LeakError(context.getDisplayName() + " leaves behind, " + millis +
                        " ms after its end: " + now.excess(before));
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    private static Pattern left(ExtensionContext context) {
        String name = context.getRequiredTestClass().getSimpleName();
        return Pattern.compile(context.getConfigurationParameter(LEFT_BY + name).orElse(""));
    }

    /** The class around it is checked. */
    private static boolean isNested(ExtensionContext context) {
        return context.getParent().flatMap(ExtensionContext::getTestClass).isPresent();
    }
}
