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

import io.netty.channel.rdma.leakcheck.LeakError;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Writes to the file of the system property {@code test.report} what became of each test class, while the tests run,
 * so that the end of the process loses nothing: {@code scripts/programs.sh} reads it. Prints failures. Found by the
 * service loader; does nothing without the property. A class in a suite belongs to the suite. A class with tests of two
 * engines has a beginning and an end for each.
 *
 * <pre>
 * begin CLASS
 * fail CLASS final|again        each failure; "final": a leak, which is not run again
 * end CLASS PASSED FAILED SKIPPED MILLISECONDS
 * end                           the end of all
 * </pre>
 */
public final class TestReport implements TestExecutionListener {
    private static final String FILE = System.getProperty("test.report");

    private final Map<TestIdentifier, Counts> running = new HashMap<>();
    private TestPlan plan;

    @Override
    public void testPlanExecutionStarted(TestPlan testPlan) {
        plan = testPlan;
    }

    @Override
    public void testPlanExecutionFinished(TestPlan testPlan) {
        write("end");
    }

    @Override
    public synchronized void executionStarted(TestIdentifier test) {
        if (test.equals(testClass(test))) {
            running.put(test, new Counts());
            write("begin " + name(test));
        }
    }

    @Override
    public synchronized void executionSkipped(TestIdentifier test, String reason) {
        TestIdentifier testClass = testClass(test);
        if (testClass == null) {
            return;
        }
        executionStarted(test);
        running.get(testClass).skipped += Math.max(1, plan.getDescendants(test).stream()
                .filter(TestIdentifier::isTest).count());
        if (test.equals(testClass)) {
            finish(testClass);
        }
    }

    @Override
    public synchronized void executionFinished(TestIdentifier test, TestExecutionResult result) {
        TestIdentifier testClass = testClass(test);
        if (testClass == null) {
            return;
        }
        Counts counts = running.get(testClass);
        switch (result.getStatus()) {
            case SUCCESSFUL:
                counts.passed += test.isTest() ? 1 : 0;
                break;
            case ABORTED:
                counts.skipped++;
                break;
            default:
                counts.failed++;
                fail(test, testClass, result.getThrowable().orElse(null));
        }
        if (test.equals(testClass)) {
            finish(testClass);
        }
    }

    private void fail(TestIdentifier test, TestIdentifier testClass, Throwable cause) {
        write("fail " + name(testClass) + (cause instanceof LeakError ? " final" : " again"));
        String method = test.getSource().orElse(null) instanceof MethodSource source ? source.getMethodName() : "";
        String display = test.getDisplayName();
        // A parameterized test displays its arguments only.
        System.out.println("FAILED " + name(testClass) + ": " + (display.startsWith(method) ? "" : method + ' ')
                + display);
        if (cause != null) {
            cause.printStackTrace(System.out);
        }
    }

    private void finish(TestIdentifier testClass) {
        Counts counts = running.remove(testClass);
        write("end " + name(testClass) + ' ' + counts.passed + ' ' + counts.failed + ' ' + counts.skipped + ' '
                + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - counts.started));
    }

    /** The outermost class around a test, or null for an engine. */
    private TestIdentifier testClass(TestIdentifier test) {
        TestIdentifier outermost = null;
        for (TestIdentifier each = test; each != null; each = plan.getParent(each).orElse(null)) {
            if (each.getSource().orElse(null) instanceof ClassSource) {
                outermost = each;
            }
        }
        return outermost;
    }

    private static String name(TestIdentifier testClass) {
        return ((ClassSource) testClass.getSource().orElseThrow()).getClassName();
    }

    private static void write(String line) {
        if (FILE == null) {
            return;
        }
        try {
            Files.writeString(Path.of(FILE), line + '\n', StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class Counts {
        private final long started = System.nanoTime();
        private int passed;
        private int failed;
        private long skipped;
    }
}
