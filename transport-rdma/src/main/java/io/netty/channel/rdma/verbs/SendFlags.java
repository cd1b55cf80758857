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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.UnstableApi;

/**
 * Flags of a send work request, to be or-ed ({@code enum ibv_send_flags}, ibv_post_send(3)).
 */
@UnstableApi
public final class SendFlags {
    /** Wait for all earlier RDMA reads and atomics of the queue pair. */
    public static final int FENCE = 1;
    /** Generate a completion. Errors always generate one. */
    public static final int SIGNALED = 1 << 1;
    /** Raise an event at a peer that armed its completion queue for solicited events only. */
    public static final int SOLICITED = 1 << 2;
    /** Copy the data during the post. The memory may be reused at once, and its lkey is not checked. */
    public static final int INLINE = 1 << 3;

    private SendFlags() { }
}
