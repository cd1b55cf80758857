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
package io.netty.channel.rdma.monitor;

import java.util.ArrayList;
import java.util.List;

/**
 * The thread on which MBeans are registered. Starting the platform's MBean server takes 0.1 s of processor time, which
 * would delay the start of a program. Any thread.
 */
public final class ManagementThread {
    private static final int DELAY_MILLIS = 1000;
    /** Tasks of the sleeping thread. If there are none, there is no such thread. */
    private static final List<Runnable> WAITING = new ArrayList<>();

    private ManagementThread() { }

    /** Runs a task in the background, within a second. */
    public static void runLater(Runnable task) {
        synchronized (WAITING) {
            if (WAITING.isEmpty()) {
                run(ManagementThread::sleepAndRun);
            }
            WAITING.add(task);
        }
    }

    /** Runs a task in the background, now. */
    public static void run(Runnable task) {
        Thread thread = new Thread(task, "rdma-management");
        thread.setDaemon(true);
        thread.start();
    }

    private static void sleepAndRun() {
        try {
            Thread.sleep(DELAY_MILLIS);
        } catch (InterruptedException e) {
            // An interrupt only ends the delay.
        }
        List<Runnable> tasks;
        synchronized (WAITING) {
            tasks = new ArrayList<>(WAITING);
            WAITING.clear();
        }
        tasks.forEach(Runnable::run);
    }
}
