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
import io.netty.util.ResourceLeakTracker;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A leak detector that remembers what it reported.
 *
 * @param <T> the type of the tracked objects
 */
public final class RecordingLeakDetector<T> extends ResourceLeakDetector<T> {
    private static final List<RecordingLeakDetector<?>> DETECTORS = new CopyOnWriteArrayList<>();
    private static final List<String> REPORTS = new CopyOnWriteArrayList<>();

    public RecordingLeakDetector(Class<?> resourceType, int samplingInterval) {
        super(resourceType, samplingInterval);
        DETECTORS.add(this);
    }

    // Netty's factory logs an error where this deprecated signature is missing.
    public RecordingLeakDetector(Class<?> resourceType, int samplingInterval, long maxActive) {
        this(resourceType, samplingInterval);
    }

    /**
     * Makes every detector look at what the garbage collector has found since.
     */
    static void poll() {
        DETECTORS.forEach(RecordingLeakDetector::pollOne);
    }

    static List<String> reports() {
        return REPORTS;
    }

    // A detector reports earlier leaks when it is asked to track something. The type is erased, any object will do.
    @SuppressWarnings("unchecked")
    private void pollOne() {
        T probe = (T) new Object();
        ResourceLeakTracker<T> tracker = trackForcibly(probe);
        tracker.close(probe);
    }

    @Override
    protected boolean needReport() {
        return true;
    }

    @Override
    protected void reportTracedLeak(String resourceType, String records) {
        super.reportTracedLeak(resourceType, records);
        REPORTS.add(resourceType + records);
    }

    @Override
    protected void reportUntracedLeak(String resourceType) {
        super.reportUntracedLeak(resourceType);
        REPORTS.add(resourceType);
    }
}
