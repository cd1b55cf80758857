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
 * Requester and responder: one RDMA operation after the other, and its effect at each end.
 *
 * <pre>
 *  RequesterEnd                                ResponderEnd
 *    Requests: 16 of them     ---------------&gt;   its memory, or its receives
 *    "so many are made"       ---------------&gt;   Responses: were they right? prepare the next ones
 *                             &lt;----------------   "so many were wrong"
 *    Requests: were they right?
 *    ... the next round
 * </pre>
 * The requests of a round are unsignalled: the completion of the message behind them stands for all. The responder
 * looks at its memory when it has this message, because all earlier writes have arrived by then. After requests that
 * read, the message is fenced, because the responder changes the memory when it gets the message. Sync events need no
 * messages ({@code SyncEventEnd}), and a text is moved only once ({@code TextEnd}), so these have classes of their own.
 */
package io.netty.example.rdma.requests;
