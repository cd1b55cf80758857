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
package io.netty.channel.rdma.stream;

import java.net.ProtocolException;

/**
 * The peer sent something that the rsockets protocol does not allow, or that this side never offered. The connection
 * must end, because the position in the byte stream or the state of its buffers is unknown. Other connections are not
 * affected. The message says in plain words, for a reader of logs, what arrived and what was allowed.
 */
public final class StreamProtocolException extends ProtocolException {
    private static final long serialVersionUID = 5176049871354278153L;

    public StreamProtocolException(String message) {
        super(message);
    }
}
