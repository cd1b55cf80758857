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

/**
 * The state of a {@link RdmaMessageChannel}, which is also the user event of its pipeline after a change. The package
 * description has the possible operations in each state.
 */
public enum RdmaChannelState {
    /** Not connected: not yet, or not any more; then the channel is closed, too. */
    IDLE,
    /** A connection is being made: the channel is connecting, or has a request that is not answered yet. */
    STARTING,
    /** Connected: operations are posted and messages received. */
    RUNNING,
    /** The connection ends, after a close, a disconnect of the peer or an error. Requests in flight come back. */
    STOPPING
}
