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
 * An HTTP/1.1 server and its client, of Netty's codecs and handlers.
 *
 * <pre>
 * HttpServer             main: the options, and where the server listens
 * HttpServerInitializer  the pipeline: TLS, codec, keep-alive, flow control, body limit, lingering close
 *    HttpRequestHandler  one request after the other, limits, errors, back pressure
 *       HttpServerHandler   the resources of this example; files has others
 * HttpConnection         the client's side: requests out, checked responses in
 * </pre>
 *
 * <p>A server holds no more of a connection than the transport's buffers and its water marks: while an answer is on its
 * way, or the client does not take it, {@code autoRead} is off, and the {@code FlowControlHandler} holds back what is
 * decoded already. Large answers are made piece by piece as the channel is writable. Bodies of requests are taken as
 * they come and never aggregated.
 */
package io.netty.example.rdma.http;
