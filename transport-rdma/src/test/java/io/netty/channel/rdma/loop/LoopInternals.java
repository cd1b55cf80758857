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
package io.netty.channel.rdma.loop;

import io.netty.channel.rdma.verbs.VerbsApi;

import java.io.IOException;

/**
 * Access of other packages' tests to an event loop. On that loop.
 */
public final class LoopInternals {
    private LoopInternals() {
    }

    /** The loop's part of its first device. */
    public static LoopDevice device(LoopHandler handler) {
        return handler.devices[0];
    }

    /** Number of completion queues of the device. */
    public static int queues(LoopDevice device) {
        return device.queues.length;
    }

    /** The most completions that a queue of the device can have room for. */
    public static int maxCompletions(LoopDevice device) {
        return device.context.attributes.maxCompletions();
    }

    /** The device does not work any more. */
    public static void fail(LoopHandler handler, IOException cause) {
        device(handler).fail(cause);
    }

    /** Handles what the connection manager has to report. */
    public static void process(LoopHandler handler) throws Exception {
        for (VerbsApi verbs : VerbsApi.usable()) {
            handler.events(verbs).process();
        }
    }
}
