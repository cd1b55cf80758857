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

import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Event loops for RDMA channels: in a static field for all tests of the class, in another for each test anew.
 */
public final class LoopGroupExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private final int size;
    private boolean ofClass;
    private EventLoopGroup group;

    /**
     * @param size the number of event loops.
     */
    public LoopGroupExtension(int size) {
        this.size = size;
    }

    public EventLoopGroup group() {
        return group;
    }

    /** For tests that look at what is left then; otherwise it happens by itself. */
    public void shutdown() throws InterruptedException {
        TestTimeouts.shutdown(group);
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        ofClass = true;
        group = new RdmaEventLoopGroup(size);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        if (!ofClass) {
            group = new RdmaEventLoopGroup(size);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) throws InterruptedException {
        if (!ofClass) {
            shutdown();
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        shutdown();
    }
}
