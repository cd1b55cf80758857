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
 * A Netty transport over RDMA verbs. To change an application from the epoll transport, use {@link
 * io.netty.channel.rdma.RdmaIoHandler} for {@code EpollIoHandler}, {@link
 * io.netty.channel.rdma.RdmaServerSocketChannel} for {@code EpollServerSocketChannel} and {@link
 * io.netty.channel.rdma.RdmaSocketChannel} for {@code EpollSocketChannel}. Handlers stay as they are.
 *
 * <h2>Who does what</h2>
 * <pre>
 *   RdmaServerSocketChannel      RdmaSocketChannel ─── StreamReadLoop: gives arrived bytes to the pipeline (a ReadLoop)
 *            │                     │           │
 *            └──── RdmaAcceptor ───┤           │         makes an incoming connection
 *                  RdmaConnector ──┘           │         makes an outgoing connection
 *                                     RdmaSocketUnsafe ── LingeringEnd: a close that waits
 *                                     called by the pipeline, and by the connection
 *
 *   AbstractRdmaChannel ── AbstractRdmaServerChannel, AbstractRdmaConnectedChannel: common to all protocols
 *          │               AbstractRdmaSocketChannel: RdmaSocketChannel without its protocol
 *          └── LoopChange           moves a channel from one event loop to another one
 *   ChannelQueuePair: the queue pair of message and datagram channels
 *
 *   RdmaByteBufAllocator: registered memory for the application, from slabs; RegisteredMemory: registers other buffers
 * </pre>
 * The packages below this one, which docs/design.md lists, do not know channels. The packages {@code loop} and {@code
 * connection} describe a turn of the event loop.
 *
 * <h2>Sending</h2>
 * Messages stay in the {@link io.netty.channel.ChannelOutboundBuffer} until the device has sent them, or until their
 * bytes are copied into a posted work request ({@link io.netty.channel.rdma.RdmaChannelOption#MAX_INLINE}). The promise
 * of a write succeeds then, and not before. Nobody waits for the completion of a request with copied bytes. So the
 * transport asks for none, and the loop is not woken for it. Bytes in registered memory (from {@link
 * io.netty.channel.rdma.RdmaByteBufAllocator}, or received ones) are sent in place, short ones inside of the work
 * request. All others are copied once into staging memory: heap buffers, buffers of other allocators, and file regions.
 * {@link io.netty.channel.rdma.RdmaMetrics} counts the bytes of each kind. Work requests carry numbers. A completion
 * stands for all requests up to its own.
 *
 * <h2>Receiving</h2>
 * The peer writes into the connection's {@code ReceiveMemory}, segment by segment, and nowhere else. The memory begins
 * with one {@code ReceiveBuffer} and gets more while the peer has to wait for memory; the class has the rules. The
 * pipeline gets slices of the memory. A segment goes back to the peer when the last slice is released, by any thread.
 * The pipeline gets copies of short arrivals, and of all arrivals while the application holds half of the memory. A
 * handler that does not read stops the peer, because segments fill up and nothing is buffered elsewhere.
 *
 * <h2>Memory in flight</h2>
 * A work request owns the memory that it reads or writes ({@code MemoryInFlight}). It has a reference, which only its
 * completion or the end of the queue pair releases. So the message and its buffers may change meanwhile. Netty discards
 * messages when a channel is closed, when its output is shut down, or when a write fails. A buffer moves to other
 * memory when it grows beyond its {@code Cell}, even if slices of it are in flight. A composite buffer releases its
 * components when it is consolidated. Bytes that are not posted yet are read from the buffer's new memory.
 * <p>
 * A reference keeps the allocator from using the memory again. It does not keep an application with a reference of its
 * own from changing the bytes, which is allowed once the promise is done. So no promise is done while a work request
 * reads bytes in place to which others have a reference (see the next section).
 *
 * <h2>The end of a connection</h2>
 * <table>
 * <caption>What is sent to the peer, and what its application sees</caption>
 * <tr><th>what happens</th><th>on the wire</th><th>the peer's channel</th></tr>
 * <tr><td>{@code shutdownOutput()}</td><td>SHUTDOWN, behind the bytes</td><td>end of input</td></tr>
 * <tr><td>{@code close()}</td><td>DISCONNECT, behind the bytes; then the connection manager's disconnect</td>
 *     <td>end of input</td></tr>
 * <tr><td>{@code close()} with {@code SO_LINGER} 0</td><td>the connection manager's disconnect alone</td>
 *     <td>{@code IOException: Connection reset by peer}, from the flushed writes or in {@code exceptionCaught}; then
 *     inactive</td></tr>
 * <tr><td>the process dies, or the network fails</td><td>nothing: the device or the connection manager gives up</td>
 *     <td>as above</td></tr>
 * <tr><td>the peer breaks the protocol</td><td>the connection manager's disconnect alone</td><td>reset; here the
 *     {@link io.netty.channel.rdma.stream.StreamProtocolException} is given to {@code exceptionCaught}</td></tr>
 * </table>
 * {@code close()} and {@code shutdownOutput()} wait until the bytes that were flushed before have arrived, so that the
 * promises of these writes can succeed. Meanwhile the channel is active and not writable. A close waits for 3 seconds
 * at most, or for {@code SO_LINGER} seconds. Then the channel is closed, and the remaining promises fail with a {@code
 * ClosedChannelException}.
 * <p>After that the transport still sends the first {@code SO_SNDBUF} bytes of the rest, by default 4 MiB, as Linux
 * does for TCP: a kernel continues to send the bytes that a closed socket has left in its buffer. The transport drops
 * further bytes, as epoll's channels do. So a close, also by an {@code IdleStateHandler} or {@code
 * WriteTimeoutHandler}, frees the memory of bytes that were flushed to a peer that does not read. Bytes that are still
 * to be sent are copied before the promises fail. Bytes in a buffer of ours with a single reference are not copied,
 * because nobody else can change them. If other buffers are in flight in place, the promises wait until these bytes
 * have arrived. Nothing more is posted meanwhile, and the peer has room for the bytes, so this takes no longer than the
 * devices need. After 3 seconds, or when the loop ends, the connection is reset instead.
 * <p>The transport gives the peer up if the peer takes nothing for a minute ({@code USER_TIMEOUT_MILLIS}) or does not
 * take all bytes within five minutes. It also does so if the peer closes too, or if the event loop ends; a process
 * should give its loops a quiet period. Bytes that arrive after a close are dropped.
 * <p>When the connection manager reports the end of the connection, the queue pair is stopped and its receives are
 * flushed. When the last receive is back, it is known whether the peer had ended its stream. {@code RdmaSocketUnsafe}
 * then does what the epoll transport does. If the peer had not ended its stream, flushed writes that have not arrived
 * fail with the cause, and the channel is closed. Without such writes, the bytes that had arrived are read, whether the
 * pipeline reads or not. Then {@code exceptionCaught} gets the cause, and the input ends, which closes the channel
 * unless half closure is allowed. If the peer had ended its stream, there is no exception. The bytes that it sent
 * before are read first. Then writes since its end fail, and close the channel as with epoll.
 * <p>
 * If the loop catches an exception while it works for a connection (its completions, an event of the connection
 * manager, a task, a timer), that one connection ends with this cause, and no other. The loop cannot know what was left
 * undone, so it waits for nothing and reads no more bytes.
 * <p>
 * The connection manager may take over a minute to report that nobody answers a disconnect. No connection waits for
 * that. Its queue pair is destroyed, and its memory given back, at the latest 3 seconds after the last byte was sent.
 * After a DISCONNECT of the peer the queue pair is kept for these 3 seconds, or until the peer disconnects, with the
 * channel closed. Its device may still owe the acknowledgement of that message, for which librdmacm waits.
 *
 * <h2>Peers that do not answer</h2>
 * A device repeats what is not acknowledged and then gives up, within seconds or minutes depending on its options. So
 * it does not find a dead peer on an idle connection, or a living peer that takes nothing. {@code Liveness} finds them,
 * with {@code SO_KEEPALIVE} and {@link io.netty.channel.rdma.RdmaChannelOption#USER_TIMEOUT_MILLIS}. {@code
 * CONNECT_TIMEOUT_MILLIS} limits an outgoing connection, from the address to the answer. It limits an incoming
 * connection too, whose peer then counts as gone. A peer of the embedded provider, which is on this host, must confirm
 * an accepted connection within 5 seconds. If a peer vanishes before that, the channel is registered, never active, and
 * closed, and the log tells of it at debug level only. The same happens if something on this side fails. The listener
 * warns of that once a minute at most, because peers can cause it at any rate.
 *
 * <h2>Connecting</h2>
 * A connect has four steps: address, route, queue pair, request. The local address chooses the device, and the device
 * limits the options: {@code QueuePairOptions} and {@code QueuePairResources}. The connection data of the stream
 * protocol travels in the private data of request and answer. An incoming request becomes a channel that waits in the
 * backlog of the listener until the listener reads. The channel is then registered with a loop of its own, to which the
 * connection id migrates. The registration, and with it {@code channelActive}, is complete when the peer has answered.
 * If the listener does not read, the request is accepted anyway, so that a client can connect and send, as with TCP. If
 * the backlog is full, the request is rejected.
 * <p>
 * Until the peer has answered, the application does not know of the connection and can't count it, and the peer needs
 * next to nothing for it. So connections count against {@code SO_BACKLOG} from the request until they are established
 * and read. Half-open ones may take an eighth of the registered memory of the process; further requests wait for
 * memory. Of both, a peer may use as much as is left ({@code PeerShares}), so that other peers always find some. A peer
 * is an address or, with the embedded provider, a process of this user or all processes of another user. A request that
 * is not of the protocol is rejected too. The exception on the other side has the reason of each rejection.
 *
 * <h2>Threads</h2>
 * Everything of a channel happens on its event loop, as in any Netty transport. Any thread may release received
 * buffers, and allocate.
 *
 * <p>A channel may be deregistered and registered with another event loop, connected or not ({@code LoopChange}). The
 * package {@code loop.move} moves its connection. Between two loops the channel still belongs to the loop that it left.
 * Events of a connection or of a connect wait there. Requests go into the backlog of a listener, which takes them
 * along. If that loop ends, the channel ends, and its next registration fails with a {@code ClosedChannelException}
 * that says so. (A TCP channel does not end, because its socket belongs to the kernel.) If a close waits, a
 * deregistration waits until the channel is closed. The close of a channel that is registered with no loop does not
 * wait for flushed bytes. A channel on its way to another loop is closed when it arrives.
 *
 * <h2>System properties</h2>
 * <ul>
 * <li>{@code io.netty.rdma.maxPinnedMemory}: the most bytes of memory that the process may register; default half of
 *     the maximum direct memory. They are for slabs of {@link io.netty.channel.rdma.RdmaByteBufAllocator#DEFAULT} (16
 *     MiB each), staging memory, receive memory, and {@link io.netty.channel.rdma.RegisteredMemory} of other buffers.
 *     The last eighth is for the latter, the first receive buffer of each connection and the first slab of staging
 *     memory. {@link io.netty.channel.rdma.RdmaMetrics#pinnedMemory()} returns the bytes in use.</li>
 * <li>{@code io.netty.rdma.maxStagingMemory}: bytes, for the process, of registered memory for bytes that can't be sent
 *     in place; default 64 MiB, at least 16 MiB. One connection holds no more than a 64th of it.</li>
 * <li>{@code io.netty.rdma.provider}, {@code io.netty.rdma.embedded.folder}, {@code io.netty.rdma.embedded.users} and
 *     {@code io.netty.rdma.embedded.groups}: see {@link io.netty.channel.rdma.verbs.VerbsApi}</li>
 * </ul>
 *
 * <h2>Differences from TCP</h2>
 * <ul>
 * <li>Port numbers are a space of their own: TCP port 8080 and RDMA port 8080 have nothing to do with each other.</li>
 * <li>Each connection has its own registered receive memory (64 KiB to {@code SO_RCVBUF}, by default 1 MiB, and 4 KiB
 *     of tables). With many busy connections make it smaller, and watch the limit of locked memory.</li>
 * <li>A write is complete when the peer's device has the bytes, not when a local socket buffer took them. So the water
 *     marks are higher.</li>
 * <li>Connect timeouts are exact, but an unreachable address usually fails at once.</li>
 * </ul>
 */
package io.netty.channel.rdma;
