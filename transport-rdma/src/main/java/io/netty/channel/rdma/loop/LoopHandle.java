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

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoRegistration;

/**
 * A handle of this package that is registered with a {@link LoopHandler}. Events reach it through the resources that it
 * takes from the handler, not as {@link IoEvent}s, so that a completion costs no object.
 */
public interface LoopHandle extends IoHandle {
    /** Does nothing, and is never called, as there are no events. */
    @Override
    default void handle(IoRegistration registration, IoEvent ioEvent) {
        throw new UnsupportedOperationException();
    }

    @Override
    void close();
}
