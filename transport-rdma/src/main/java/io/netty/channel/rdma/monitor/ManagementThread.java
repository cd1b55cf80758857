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
 * The thread on which MBeans are registered. The platform's MBean server takes a tenth of a second of a processor,
 * which a program that starts has not. Any thread.
 */
public final class ManagementThread {
    private static final int DELAY_MILLIS = 1000;
    /** Tasks of the thread that sleeps; there is no such thread if there are none. */
    private static final List<Runnable> WAITING = new ArrayList<>();

    private ManagementThread() { }

    /** Runs a task in the background, at most a second from now. */
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
