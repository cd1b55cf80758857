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
/**
 * An HTTP/2 server and client on Netty's {@code Http2FrameCodec} and {@code Http2MultiplexHandler}, and the same
 * requests by HTTP/1.1 for clients that do not ask for more.
 *
 * <pre>
 *   connection:  [SslHandler, Alpn | Upgrade, PriorKnowledge]  Http2FrameCodec  Http2MultiplexHandler  ConnectionTail
 *                                                                                      │
 *   stream:      Http2StreamFrameToHttpObjectCodec  HttpServerInitializer.behindCodec() with HttpServerHandler
 * </pre>
 *
 * <h2>Back pressure</h2>
 * HTTP/2 has a window for each stream and one for the connection. A stream that is not read from keeps its window and
 * costs the peer nothing but that; Netty renews the window when a frame is delivered to the stream's handlers. A stream
 * that is not writable is one whose peer does not renew the window, or whose connection is not writable: nothing is
 * made for it until it is.
 *
 * <h2>The transport</h2>
 * Nothing here knows the transport: the event loop group and the channel class are the caller's. Bodies that are made
 * here are in buffers of {@code ctx.alloc()}, so RDMA sends them in place; received ones are sent back as they came.
 */
package io.netty.example.rdma.http2;
