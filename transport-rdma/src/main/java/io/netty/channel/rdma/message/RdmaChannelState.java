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
 * Where a {@link RdmaMessageChannel} is; also the user event that its pipeline gets when that has changed. The package
 * description tells what is possible in which state.
 */
public enum RdmaChannelState {
    /** Not connected: either not yet, or not any more, and then the channel is closed too. */
    IDLE,
    /** A connection is being made: the channel is connecting, or has a request that is not answered yet. */
    STARTING,
    /** Connected: operations are posted and messages received. */
    RUNNING,
    /** The connection ends, and what is in flight comes back: after a close, a disconnect of the peer or an error. */
    STOPPING
}
