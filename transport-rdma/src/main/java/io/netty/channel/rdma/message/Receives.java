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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBufHolder;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.io.IOException;

/**
 * The receives in which the messages of one channel arrive. On the loop of the channel.
 */
interface Receives {
    /** Posts the receives, before the peer can send. */
    void postAll() throws IOException;

    /** A receive has completed. */
    void completed(WorkCompletions completions, int index);

    /** Number of messages that have arrived and were not taken. */
    int count();

    /**
     * Takes the first message. Its receive is to be posted again with {@link #repost()}.
     *
     * @return {@code null} if it is not for the pipeline.
     */
    ByteBufHolder take() throws VerbsException;

    /** Posts the receives of the taken messages again. */
    void repost() throws VerbsException;

    /** Returns whether every receive has come back, so that nothing more can arrive. */
    boolean isFlushed();

    /** The queue pair is gone. */
    void release();
}
