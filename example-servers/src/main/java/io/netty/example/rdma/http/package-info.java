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
 *    HttpRequestHandler  answers one request after the other: limits, errors, back pressure
 *       HttpServerHandler   the resources of this example; the files example has its own
 * HttpConnection         the client's side: sends requests, checks responses
 * </pre>
 *
 * <p>For each connection, a server holds no more than the transport's buffers and the outbound buffer up to its water
 * mark. {@code autoRead} is off while an answer is being sent, and while the client does not take it. Meanwhile the
 * {@code FlowControlHandler} holds back requests that are decoded already. Large answers are made piece by piece while
 * the channel is writable. Request bodies are processed as they arrive, and never aggregated.
 */
package io.netty.example.rdma.http;
