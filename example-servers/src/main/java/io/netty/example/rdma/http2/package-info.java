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
 * An HTTP/2 server and client on Netty's {@code Http2FrameCodec} and {@code Http2MultiplexHandler}. Clients that do not
 * ask for HTTP/2 get the same resources by HTTP/1.1.
 *
 * <pre>
 *   connection:  [SslHandler, Alpn | Upgrade, PriorKnowledge]  Http2FrameCodec  Http2MultiplexHandler  ConnectionTail
 *                                                                                      │
 *   stream:      Http2StreamFrameToHttpObjectCodec  HttpServerInitializer.behindCodec() with HttpServerHandler
 * </pre>
 *
 * <h2>Back pressure</h2>
 * HTTP/2 has a window for each stream and one for the connection. Netty renews the window when a frame is delivered to
 * the stream's handlers. A stream that is not read keeps its window, and costs the peer nothing else. A stream is not
 * writable while its peer does not renew the window, or while its connection is not writable. Meanwhile nothing is made
 * for this stream.
 *
 * <h2>The transport</h2>
 * The code here does not depend on the transport: the caller passes the event loop group and the channel class. Bodies
 * are made in buffers of {@code ctx.alloc()}, so RDMA sends them without a copy. Received bodies are sent back in the
 * buffers in which they came.
 */
package io.netty.example.rdma.http2;
