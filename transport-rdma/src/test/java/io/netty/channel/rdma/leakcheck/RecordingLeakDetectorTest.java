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

import io.netty.util.ResourceLeakTracker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("quick")
class RecordingLeakDetectorTest {
    private static final String TYPE = Forgotten.class.getSimpleName();

    private final RecordingLeakDetector<Object> detector = new RecordingLeakDetector<>(Forgotten.class, 1);

    @AfterEach
    void forgetTheLeaksOfThisTest() {
        RecordingLeakDetector.reports().removeIf(report -> report.contains(TYPE));
    }

    @Test
    @Timeout(30)
    void reportsAnObjectThatWasCollectedBeforeItsTrackerWasClosed() throws Exception {
        ResourceLeakTracker<Object> tracker = detector.trackForcibly(new Forgotten());
        while (RecordingLeakDetector.reports().stream().noneMatch(report -> report.contains(TYPE))) {
            System.gc();
            Thread.sleep(1);
            RecordingLeakDetector.poll();
        }
        assertThat(tracker).isNotNull();
    }

    @Test
    @Timeout(30)
    void reportsNothingOfAnObjectWhoseTrackerWasClosed() throws Exception {
        ReferenceQueue<Forgotten> collected = new ReferenceQueue<>();
        WeakReference<Forgotten> closed = new WeakReference<>(trackedAndClosed(), collected);
        while (collected.remove(1) != closed) {
            System.gc();
        }
        RecordingLeakDetector.poll();
        assertThat(RecordingLeakDetector.reports()).noneMatch(report -> report.contains(TYPE));
    }

    private Forgotten trackedAndClosed() {
        Forgotten object = new Forgotten();
        assertThat(detector.trackForcibly(object).close(object)).isTrue();
        return object;
    }

    private static final class Forgotten {
    }
}
