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

import java.io.IOException;
import java.net.InetAddress;

/**
 * A multicast group could not be joined, was sent to without a join, or was lost: the channel is not a member any more,
 * and may join again. A loss goes to {@code exceptionCaught}; the others fail a future.
 */
public final class RdmaMulticastException extends IOException {
    private static final long serialVersionUID = 1784620394475180232L;

    private final InetAddress group;

    RdmaMulticastException(InetAddress group, String message) {
        super(message);
        this.group = group;
    }

    public InetAddress group() {
        return group;
    }
}
