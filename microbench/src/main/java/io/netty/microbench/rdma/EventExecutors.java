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
package io.netty.microbench.rdma;

import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.DefaultThreadFactory;

/**
 * The threads that JMH runs benchmarks on. Netty's allocators and {@code Recycler} keep objects for the threads of
 * event executors only, so they must be measured there.
 */
public final class EventExecutors extends DefaultEventExecutorGroup {

    /** The signature that JMH's {@code jmh.executor.class} asks for. */
    public EventExecutors(int threads, String prefix) {
        super(threads, new DefaultThreadFactory(prefix));
    }
}
