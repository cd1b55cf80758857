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
package io.netty.channel.rdma.connection;

import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.VerbsException;

import java.io.IOException;

/**
 * The local end of a requested connection that is not answered yet: the queue pair, with the id. On the loop of its
 * channel.
 */
public interface OutgoingConnection {
    /** The parameters of the request to the peer. */
    ConnectionParameters parameters() throws VerbsException;

    /** The reason why the connection can't be made, if it broke on this side; else {@code null}. */
    IOException failure();

    /** Releases everything, because the connection can't be made. */
    void discard();
}
