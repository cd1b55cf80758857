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

import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.verbs.WorkCompletions;

/** Passes all that happens to a queue pair on to its owner. */
class DelegatingHandler extends CompletionHandler {
    private final CompletionHandler owner;

    DelegatingHandler(CompletionHandler owner) {
        this.owner = owner;
    }

    @Override
    public void completed(WorkCompletions completions, int index) {
        owner.completed(completions, index);
    }

    @Override
    public void completionsDone() {
        owner.completionsDone();
    }

    @Override
    public void failed(Throwable cause) {
        owner.failed(cause);
    }

    @Override
    public void unexpected(Throwable cause) {
        owner.unexpected(cause);
    }

    @Override
    public void destroy() {
        owner.destroy();
    }
}
