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

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Fails the test run if a reference counted object was not released. Found by the service loader.
 */
public final class FailOnLeaks implements LauncherSessionListener {
    // The collector may need more than one cycle to clear the references of objects that survived some.
    private static final int CYCLES = 3;
    private static final long REFERENCE_HANDLER_MILLIS = 50;

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        ResourceLeakDetector<Object> detector =
                ResourceLeakDetectorFactory.instance().newResourceLeakDetector(Object.class);
        if (!(detector instanceof RecordingLeakDetector)) {
            throw new IllegalStateException("leaks would go unnoticed; run with -Dio.netty.customResourceLeakDetector="
                    + RecordingLeakDetector.class.getName());
        }
    }

    @Override
    public void launcherSessionClosed(LauncherSession session) {
        for (int i = 0; i < CYCLES; i++) {
            System.gc();
            try {
                Thread.sleep(REFERENCE_HANDLER_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                break;
            }
            RecordingLeakDetector.poll();
        }
        if (!RecordingLeakDetector.reports().isEmpty()) {
            throw new LeakError(RecordingLeakDetector.reports().size() + " LEAK(s):\n"
                    + String.join("\n", RecordingLeakDetector.reports()));
        }
    }
}
